"""Pictures of the whole graph and of what a view sees, made without a browser."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from tests.unit.figures.figure_checks import assert_legible, assert_sound, root_of, texts


def said(path: Path) -> str:
    root = ET.fromstring(path.read_text("utf-8"))  # noqa: S314 (our own)
    return "\n".join(
        "".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")
    )


def test_whole_figure_has_every_node_but_parameters(run: tvmdbg.DebugRun) -> None:
    figure = run.figure("graph", whole=True, width=400)
    assert_sound(figure, 400 * 1024)
    words = "\n".join(texts(figure))
    for node in run.graph.nodes:
        assert bool(re.search(rf"#{node.id}\b", words)) == (node.kind.name != "PARAMETER")


def test_a_graph_that_would_be_condensed_is_drawn_box_by_box() -> None:
    run = tvmdbg.open(network(900).encode())
    figure = run.figure("graph", whole=True)
    assert "condensed" not in figure.description
    assert_legible(root_of(figure))
    assert len(re.findall(r"#\d+ ", "\n".join(texts(figure)))) > 400


def test_saved_graph_matches_view_state(run: tvmdbg.DebugRun, tmp_path: Path) -> None:
    view = tvmdbg.GraphView(run, color_by="dtype", hidden=["op:softmax"], label="{op} #{id}")
    words = said(view.save(tmp_path / "whole.svg"))
    assert "softmax #71" not in words
    assert "global_avg_pool2d #66" in words
    closed = tvmdbg.GraphView(run, open_groups=[])
    words = said(closed.save(tmp_path / "closed.svg"))
    assert "residual block × 3" in words
    assert "#6 " not in words
    part = tvmdbg.GraphView(run, isolate={"kind": "downstream", "nodes": [66]})
    assert "#65" not in said(part.save(tmp_path / "part.svg"))


def test_saved_view_follows_camera(run: tvmdbg.DebugRun, tmp_path: Path) -> None:
    view = tvmdbg.GraphView(run, height=300)
    assert view.save(tmp_path / "a.svg", what="view").read_bytes() == (
        view.save(tmp_path / "b.svg").read_bytes()
    )
    view.camera = {"node": 62, "dx": 0, "dy": 0, "scale": 2}
    path = view.save(tmp_path / "view.svg", what="view", width=500)
    root = ET.fromstring(path.read_text("utf-8"))  # noqa: S314 (our own)
    assert root.attrib["viewBox"] == "0 0 500 300"
    assert (root.attrib["width"], root.attrib["height"]) == ("500", "300")
    spot = next(
        each
        for each in root.iter("{http://www.w3.org/2000/svg}rect")
        if each.findtext("{http://www.w3.org/2000/svg}title", "").startswith("#62 ")
    )
    x, y, wide, high = (float(spot.attrib[name]) for name in ("x", "y", "width", "height"))
    assert (x + wide / 2, y + high / 2) == pytest.approx((250, 150), abs=1)
    assert high == 80  # twice that of a box


def test_saved_png_of_view_has_requested_size(run: tvmdbg.DebugRun, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    view = tvmdbg.GraphView(run, height=200, camera={"node": 3, "dx": 5, "dy": 0, "scale": 1})
    data = view.save(tmp_path / "x.png", what="view", width=400, scale=1).read_bytes()
    assert [int.from_bytes(data[at : at + 4], "big") for at in (16, 20)] == [400, 200]


def test_unknown_choices_are_refused(run: tvmdbg.DebugRun, tmp_path: Path) -> None:
    view = tvmdbg.GraphView(run)
    with pytest.raises(ValueError, match="no part to save 'all'; known: 'whole', 'view'"):
        view.save(tmp_path / "x.svg", what="all")
    with pytest.raises(ValueError, match=r"saved as \.svg or \.png"):
        view.save(tmp_path / "x.pdf")
