"""Answers are held to the columns that the views read."""

import threading
from pathlib import Path

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.answer_schema import is_made
from tvmdbg_widgets import engine as host
from tvmdbg_widgets import engine as wire
from tvmdbg_widgets.answers import answers
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.model.base.columns import StringColumn

FACTS = {
    "attrOffsets": np.zeros(1, np.int32),
    "attrNames": StringColumn([], np.zeros(0, np.int32)),
    "attrValues": StringColumn([], np.zeros(0, np.int32)),
    "layouts": StringColumn([], np.zeros(0, np.int32)),
}


def test_answer_with_expected_columns_is_accepted() -> None:
    assert Reply.of("facts", FACTS).result["columns"]
    assert Reply.of("cells", {"mean": np.zeros(2, np.float32)})
    assert Reply.of("cells", {"mean": np.zeros(2), "maximum": np.zeros(2)})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attrOffsets": np.zeros(1)}, "'attrOffsets' is f8, expected i4"),
        ({"attrNames": np.zeros(0, np.int32)}, "'attrNames' is i4, expected strings"),
        ({"more": np.zeros(0)}, "unknown column 'more'"),
    ],
)
def test_answer_with_wrong_columns_is_refused(change: dict[str, np.ndarray], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Reply.of("facts", FACTS | change)


def test_answer_without_required_column_is_rejected() -> None:
    with pytest.raises(TypeError, match="column 'layouts' is missing, expected strings"):
        Reply.of("facts", {name: each for name, each in FACTS.items() if name != "layouts"})


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (3, "answer 'cancel': \\$ 3 is not of type 'null'"),
        ({"columns": []}, "is not of type 'null'"),
    ],
)
def test_unexpected_answer_raises_in_tests(
    monkeypatch: pytest.MonkeyPatch, result: object, said: str
) -> None:
    if not is_made():
        pytest.skip("Node's packages are not installed")
    monkeypatch.setitem(answers._ANSWERS, "cancel", lambda *_: Reply(result))
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    with pytest.raises(TypeError, match=said):
        answers.answer(run.facts, {"kind": "cancel"})


@pytest.mark.parametrize("view", ["graph", "tensor", "timeline", "memory", "debugger"])
def test_unbuilt_checkout_shows_figures_as_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, view: str
) -> None:
    for module in (host, wire):
        monkeypatch.setattr(module, "BUNDLE", tmp_path / "engine.js")
    monkeypatch.setattr(host, "_threads", threading.local())
    wire._wire.cache_clear()
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    try:
        figure = run.figure(view)
    finally:
        wire._wire.cache_clear()
    assert "resnet20_cifar" in figure.text
    assert "`make" in figure.svg, "the line may break after it"
