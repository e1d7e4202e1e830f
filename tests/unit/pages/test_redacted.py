"""The figure and the findings of a page tell no more of parameters than its data do."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document, null, operator
from tests.make.params import write_params
from tvmdbg_widgets.engine import STATIC
from tvmdbg_widgets.export.page.stored_page import store
from tvmdbg_widgets.export.private_parameters import private_parameters
from tvmdbg_widgets.run import DebugRun

RANDOM = np.random.default_rng(5)
VALUES: dict[str, np.ndarray[Any, Any]] = {
    "data": np.linspace(-1, 1, 12, dtype=np.float32),
    "encoder.query.weight": RANDOM.standard_normal((8, 16)).astype(np.float32),
    "input_norm.alpha": RANDOM.standard_normal(40).astype(np.float32),
    "p0": np.array([7.6543212e37, -3.1234567e-7] * 6, np.float32),
    "p1": np.array([np.nan, 0.98765435, 0.51234567], np.float32),
    "p2": np.full(4, 4.567891, np.float32),
    "p3": RANDOM.standard_normal((16, 16)).astype(np.float32),
}
SMALL = ["7.65432", "3.12345", "0.98765", "4.567891"]
RESHAPED, FUSED = len(VALUES), len(VALUES) + 1


@pytest.fixture
def run(tmp_path: Path) -> DebugRun:
    """A dump whose small parameters are worth findings, and a reshaped one."""
    inputs: list[list[int]] = [[6], [*range(len(VALUES))], [5]]
    names = ["reshape", "fused", "flatten"]
    values = {
        **VALUES,
        "reshape": VALUES["p3"].reshape(-1),
        "fused": np.linspace(0, 1, 50, dtype=np.float32),
        "flatten": VALUES["p2"].reshape(2, 2),
    }
    nodes = [{**null(name), "attrs": {}} for name in VALUES]
    nodes += [operator(name, name, read) for name, read in zip(names, inputs, strict=True)]
    graph = document(nodes, heads=[FUSED], shapes=[each.shape for each in values.values()])
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "graph.json").write_text(json.dumps(graph))
    keys = {
        f"{name}____topo-index:{i}____output-num:0": each
        for i, (name, each) in enumerate(values.items())
    }
    write_params(folder / "output_tensors.params", keys)
    return tvmdbg.open(folder)


@pytest.fixture(autouse=True)
def _bundles() -> None:
    if not (STATIC / "page.js").is_file():
        pytest.skip("the front ends were not built: `make bundle`")


def shown(text: str) -> str:
    """What a page shows without its script, the figure's own text included."""
    start = text.index('id="tvmdbg-static"')
    return unquote(text[start : text.index('<script type="application/json"')])


@pytest.mark.parametrize("share", ["statistics", "pictures", "tensors"])
@pytest.mark.parametrize("node", [6, 5, RESHAPED])
def test_the_figure_shows_no_parameter(
    run: DebugRun, tmp_path: Path, share: Any, node: int
) -> None:
    run.session.entry = [node, 0]
    inspector = tvmdbg.TensorInspector(run, entry=(node, 0))
    pages = [
        run.save_html(tmp_path / "run.html", share=share).read_text("utf-8"),
        run.save_html(tmp_path / "node.html", share=share, node=node).read_text("utf-8"),
        inspector.save_html(tmp_path / "tensor.html", share=share).read_text("utf-8"),
    ]
    for text in map(shown, pages):
        assert "columns: " not in text
        assert "not in this page" in text or "would give values away" in text
    embedded = run.embed(share=share)
    assert "columns: " not in embedded.figure.svg
    asked = run.save_html(tmp_path / "asked.html", share=share, parameters=True, node=node)
    text = shown(asked.read_text("utf-8"))
    assert ("columns: " in text) == (share != "statistics")
    assert ("Values of parameters are not" in text) == (share == "statistics")


def test_figure_has_no_picture_when_sharing_statistics(run: DebugRun, tmp_path: Path) -> None:
    run.session.entry = [FUSED, 0]
    bare = shown(run.save_html(tmp_path / "run.html", share="statistics").read_text("utf-8"))
    assert "columns: " not in bare
    assert ">min<" in bare
    assert "columns: " in shown(run.save_html(tmp_path / "run.html").read_text("utf-8"))


def test_page_figure_shows_requested_node(run: DebugRun, tmp_path: Path) -> None:
    text = shown(run.save_html(tmp_path / "run.html", node="fused").read_text("utf-8"))
    assert f"#{FUSED} fused" in text


def test_page_findings_contain_no_small_parameter_value(run: DebugRun, tmp_path: Path) -> None:
    own = json.dumps([[each.title, *each.evidence] for each in run.findings()])
    assert all(each in own for each in SMALL if each != "3.12345")
    page = run.save_html(tmp_path / "run.html")
    texts = [shown(page.read_text("utf-8"))]
    texts += [
        store(run.facts, budget=5_000_000, share=share).data.decode("latin-1")
        for share in ("statistics", "pictures", "tensors")
    ]
    for text in texts:
        assert [each for each in SMALL if each in text] == []
    assert re.search("bounds, mean and histogram of 4 tensors", page.read_text("utf-8"))
    asked = store(run.facts, budget=5_000_000, parameters=True).data.decode("latin-1")
    assert "4.567891" in asked


@pytest.mark.filterwarnings("error")
def test_the_least_integer_has_bounds_too(tmp_path: Path) -> None:
    least = {"w": np.full(4, -128, np.int8)}
    write_params(tmp_path / "model.params", least)
    stored = store(tvmdbg.open(tmp_path / "model.params").facts, budget=5_000_000)
    limits = b'"limits":[-128.0,127.0]'  # of the type
    assert limits in stored.data
    assert b"-128" not in stored.data.replace(limits, b"")


def test_weight_named_like_an_input_stays_private(run: DebugRun) -> None:
    secret = private_parameters(run.parts)
    assert (1, 0) in secret
    assert (2, 0) in secret
    assert (0, 0) not in secret


def test_extracted_run_contains_no_reshaped_weight(run: DebugRun, tmp_path: Path) -> None:
    made = run.extract([RESHAPED, FUSED], tmp_path / "part")
    assert set(made.parameters_left_out) == {1, 2, 3, 4, 5, 6, RESHAPED}
    part = tvmdbg.open(tmp_path / "part")
    raw = b"".join(path.read_bytes() for path in (tmp_path / "part").rglob("*") if path.is_file())
    assert VALUES["p3"].tobytes()[:64] not in raw
    assert (made.nodes[FUSED], 0) in (part.tensors or {})
    run.extract([RESHAPED], tmp_path / "whole", parameters=True)
    raw = b"".join(path.read_bytes() for path in (tmp_path / "whole").rglob("*") if path.is_file())
    assert VALUES["p3"].tobytes() in raw


def test_the_page_of_a_part_shows_its_activations(tmp_path: Path) -> None:
    whole = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    whole.extract([38], tmp_path / "part", hops=1)
    part = tvmdbg.open(tmp_path / "part")
    secret = private_parameters(part.parts)
    assert [entry for entry in part.tensors or {} if entry in secret] == []


def test_report_neither_shows_nor_draws_small_parameters(run: DebugRun) -> None:
    for node in (None, 3, 5, FUSED, RESHAPED):
        report = run.report(node)
        told = f"{report}{unquote(report.figure.svg)}{report.figure.text}"
        assert [each for each in SMALL if each in told] == [], node
        drawn = report.figure.description.get("tensor", {}).get("entry")
        assert drawn in ([0, 0], [2, 0], [FUSED, 0], None)
