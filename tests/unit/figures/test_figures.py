"""Figures of real runs: sound, legible, and true to TVM's own files and to the live views."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.conftest import corpus_path
from tests.unit.figures.figure_checks import assert_sound, drawn, lines_of, texts
from tvmdbg_widgets.analysis.summary import HOW_TO_GET
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.numbers import duration_text
from tvmdbg_widgets.run import DebugRun

CORPUS = corpus_path()
FOLDERS = (
    sorted(each.parent for each in CORPUS.glob("tvm/**/tvmdbg") if each.is_dir()) if CORPUS else []
)
NETWORKS = [each for each in FOLDERS if "edge_cases" not in each.parts]
RESNETS = [each for each in FOLDERS if each.name.startswith("resnet20")]


def figures(run: DebugRun) -> dict[str, Figure]:
    return {
        "kind": drawn(run.facts, "graph"),
        "time": drawn(run.facts, "graph", color_by="time"),
        "unfolded": drawn(run.facts, "graph", fold_parameters=False),
        "right": drawn(run.facts, "graph", direction="right", color_by="time"),
        "near": drawn(run.facts, "graph", focus=0, hops=1),
        "tensor": drawn(run.facts, "tensor"),
        "timeline": drawn(run.facts, "timeline"),
    }


@pytest.fixture(params=FOLDERS, ids=lambda each: f"{each.parent.name}-{each.name}")
def folder(request: pytest.FixtureRequest, corpus: Path) -> Path:
    del corpus
    return request.param


@pytest.fixture
def run(folder: Path) -> DebugRun:
    return tvmdbg.open(folder)


def test_figures_of_every_dump_are_sound(run: DebugRun) -> None:
    for figure in figures(run).values():
        assert_sound(figure, 80 * 1024)
    assert_sound(drawn(run.facts, "debugger", saved=True), 48 * 1024)


def test_every_operator_is_drawn_with_its_time(run: DebugRun, folder: Path) -> None:
    """Times as TVM returned them to its caller, one list a node."""
    file = folder / "time_list.json"
    if not file.exists() or run.graph is None or run.timeline is None:
        pytest.skip("no times were kept beside this dump")
    figure = drawn(run.facts, "graph", color_by="time")
    known = {node["id"]: node for node in figure.description["nodes"]}
    measured = [float(np.mean(repeats)) * 1e9 for repeats in json.loads(file.read_text())]
    for node, facts in known.items():
        if measured[node]:
            assert facts["time_ns"] == pytest.approx(measured[node], rel=1e-3, abs=1.0)
    total = sum(measured)
    if not total:
        assert figure.description["total_ns"] is None
        return
    assert figure.description["total_ns"] == pytest.approx(total, rel=1e-3, abs=10)


@pytest.mark.parametrize("folder", NETWORKS, ids=lambda each: each.name)
def test_node_counts_match_the_generator(folder: Path, corpus: Path) -> None:
    del corpus
    run = tvmdbg.open(folder)
    meta = json.loads((folder / "meta.json").read_text())
    facts = drawn(run.facts, "graph", fold_parameters=False).description
    assert len(facts["nodes"]) == meta["nodes"]
    assert sum(each["nodes"] for each in facts["legend"]) == meta["nodes"]
    heads = [node["name"] for node in facts["nodes"] if node["mark"].startswith("output")]
    slowest = [node["name"] for node in facts["nodes"] if node["mark"] == "slowest"]
    assert set(meta["heads"]) <= set(heads + slowest)


@pytest.mark.parametrize("folder", RESNETS, ids=lambda each: each.name)
def test_resnet_fits_into_notebook_output(folder: Path, corpus: Path) -> None:
    del corpus
    run = tvmdbg.open(folder)
    figure = drawn(run.facts, "debugger", saved=True)
    assert_sound(figure, 48 * 1024)
    graph = drawn(run.facts, "graph")
    root = ET.fromstring(graph.svg)  # noqa: S314 (our own)
    assert float(root.attrib["width"]) <= 720
    if len(figure.description["graph"]["nodes"]) <= 32:
        first = min(line.y for line in lines_of(graph) if line.text.startswith("#"))
        assert first <= 150
        assert float(root.attrib["height"]) - first <= 1200
    shown = " ".join(texts(graph))
    assert "drawn" not in shown
    for node in figure.description["graph"]["nodes"]:
        assert f"#{node['id']}" in shown


def test_timeline_names_slowest_nodes_and_synthetic_clock(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar")
    figure = drawn(run.facts, "timeline")
    measured = json.loads((corpus / "tvm/resnet20_cifar/time_list.json").read_text())
    means = {node: float(np.mean(each)) * 1e9 for node, each in enumerate(measured)}
    slowest = sorted(means, key=lambda node: -means[node])[:10]
    assert [row["node"] for row in figure.description["top"]] == slowest
    shown = texts(figure)
    assert duration_text(means[slowest[0]]) in shown
    assert any(text.startswith("synthetic") for text in shown)
    assert repr(run.top(10)) in figure.text


@pytest.mark.parametrize("missing", ["graph", "tensors", "timeline"])
def test_a_part_that_is_missing_is_named_with_how_to_get_it(data: Path, missing: str) -> None:
    folder = data / "times/split_multi_v0.19"
    files = {
        "graph": [folder / "_tvmdbg_execution_trace.json"],
        "tensors": [folder / "graph.json", folder / "_tvmdbg_execution_trace.json"],
        "timeline": [folder / "graph.json"],
    }[missing]
    run = tvmdbg.open(*files)
    figure = drawn(run.facts, missing.removesuffix("s"))
    assert_sound(figure)
    assert figure.description["missing"] == HOW_TO_GET[missing]
    assert HOW_TO_GET[missing] in figure.text
    assert HOW_TO_GET[missing].split(".")[0] in " ".join(texts(figure))
    assert_sound(drawn(run.facts, "debugger", saved=True), 48 * 1024)


def test_a_figure_is_saved_whole(data: Path, tmp_path: Path) -> None:
    figure = drawn(tvmdbg.open(data / "times/split_multi_v0.19").facts, "timeline")
    target = tmp_path / "run.svg"
    target.write_text("before")
    assert figure.save(target) == target
    assert ET.parse(target).getroot().tag.endswith("svg")  # noqa: S314 (our own)
    assert [each.name for each in tmp_path.iterdir()] == ["run.svg"]
    with pytest.raises(ValueError, match=r"run\.pdf"):
        figure.save(tmp_path / "run.pdf")
    with pytest.raises(ValueError, match="any size"):
        figure.save(target, scale=2)
    assert set(figure._repr_mimebundle_()) == {"text/plain", "text/html", "image/svg+xml"}
    assert "KiB" in repr(figure)
