"""Histograms of figures: those of the live view, and true to numpy."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.spread import PATH, answers
from tests.unit.figures.figure_checks import assert_sound, lines_of, texts
from tests.unit.figures.test_figures_tensor import run_of
from tvmdbg_widgets.figures.options import Redaction

RANDOM = np.random.default_rng(21)


#: What the recorded histograms were made of by numpy, not by what draws them.
RECORDED = ("health", "adapted", "spreads")


def golden() -> dict[str, dict[str, Any]]:
    return {each["why"]: each for each in json.loads(PATH.read_text("utf-8"))}


def test_answers_match_the_recorded_ones() -> None:
    found = {each["why"]: each for each in json.loads(json.dumps(answers()))}
    assert found.keys() == golden().keys()
    for why, each in golden().items():
        for name in RECORDED:
            each.pop(name)
        assert found[why] == each, why


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, ml_dtypes.bfloat16])
def test_zeros_have_their_own_bar_and_do_not_flatten_the_histogram(
    tmp_path: Path, dtype: Any
) -> None:
    values = np.maximum(RANDOM.standard_normal((40, 30)), 0).astype(dtype)
    values[0, :4] = np.nan, np.inf, -np.inf, -0.0
    figure = run_of(tmp_path, a=values).figure("tensor")
    assert_sound(figure)
    spread = figure.description["spread"]
    plain = values.astype(np.float64).ravel()
    zeros = int((plain == 0).sum())
    assert spread["slots"] == [
        {"name": "zero", "count": zeros},
        *({"name": name, "count": 1} for name in ("nan", "negInf", "posInf")),
    ]
    edges = [spread["bars"][0]["from"], *(bar["to"] for bar in spread["bars"])]
    rest = plain[np.isfinite(plain) & (plain != 0)]
    expected, _ = np.histogram(rest, edges)
    assert [bar["likely"] for bar in spread["bars"]] == expected.tolist()
    assert spread["top"] == expected.max()
    shown = texts(figure)
    assert {"zero", f"{zeros:,}", "NaN", "+Inf", "−Inf"} <= set(shown)
    assert f"max count: {expected.max()}" in " ".join(shown)
    lines = figure.text.splitlines()
    assert any(re.fullmatch(rf" +zero \|#+> {zeros}", line) for line in lines)
    assert not any(re.fullmatch(rf".*\|#+ {zeros}", line) for line in lines)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.array(-7.5e-12, np.float32), "1 value of −7.5e−12"),
        (np.full((4, 5), 0.25, np.float32), "20 values of 0.25"),
        (np.full(3, 7, np.int32), "3 values of 7"),
        (np.full(3, 7, np.int8), "3 values of 7"),
        (np.ones(3, np.bool_), "3 values of True"),
    ],
)
def test_constant_tensor_shows_single_value_without_range(
    tmp_path: Path, values: Any, said: str
) -> None:
    figure = run_of(tmp_path, a=values).figure("tensor")
    assert_sound(figure)
    lines = lines_of(figure)
    caption = next(line for line in lines if line.text == f"histogram: {said}")
    below = [line.text for line in lines if line.y > caption.y and line.x >= caption.x]
    number = said.split(" of ")[1]
    below = [text for text in below if not text.startswith("max count: ")]
    assert below == [number]
    assert [
        line.split("|")[0].strip() for line in figure.text.splitlines() if "|#" in line
    ] == below


def test_integers_and_bools_do_not_mention_nan_or_inf(tmp_path: Path) -> None:
    for dtype in (np.bool_, np.int8, np.uint8, np.int32, np.uint64, ml_dtypes.int4):
        run = run_of(tmp_path, a=np.arange(6).astype(dtype))
        figure = run.figure("tensor")
        for said in (figure.text, " ".join(texts(figure)), figure.svg):
            assert not re.search(r"NaN|Inf", said), dtype
        assert not re.search(r"NaN|Inf", repr(run.tensors[0, 0].statistics())), dtype
    for dtype, said in (
        (np.float32, "0 NaN; 0 +Inf; 0 −Inf; "),
        (ml_dtypes.float8_e4m3fn, "all finite; 0 NaN; 1 zero"),
        (np.complex64, "0 NaN; 0 +Inf; 0 −Inf; "),
    ):
        assert said in run_of(tmp_path, a=np.arange(6).astype(dtype)).figure("tensor").text
    counts = run_of(tmp_path, a=np.arange(6, dtype=np.int8)).figure("tensor").description["counts"]
    assert (counts["nan"], counts["posInf"], counts["negInf"]) == (0, 0, 0)


def test_limits_of_the_type_are_marked(tmp_path: Path) -> None:
    values = np.array([-128, -128, 5, 90, 127], np.int8)
    shown = texts(run_of(tmp_path, a=values).figure("tensor"))
    assert {"2 saturated (−128)", "1 saturated (127)"} <= set(shown)


def test_withheld_tensor_keeps_bins_only_when_allowed() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    view = tvmdbg.TensorInspector(run, entry=(38, 0))
    whole = view.figure().description["spread"]
    bare = view.redacted_figure(Redaction(lambda _: ("they stay here", False))).description
    assert [each["likely"] for each in bare["spread"]["bars"]] == [
        each["likely"] for each in whole["bars"]
    ]
    few = view.redacted_figure(Redaction(lambda _: ("they stay here", True)))
    assert few.description["spread"] is None
