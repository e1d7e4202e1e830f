"""Themes, widths, options, PNG files: what may be chosen of a figure."""

import io
import re
import struct
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.unit.figures.figure_checks import assert_sound, root_of, texts
from tests.unit.figures.test_figures_hostile import run_of
from tvmdbg_widgets.analysis.query import QueryError
from tvmdbg_widgets.figures import raster
from tvmdbg_widgets.figures.texts import clean, fit, width, wrap
from tvmdbg_widgets.figures.theme import SCHEMES
from tvmdbg_widgets.run import DebugRun

VIEWS = ("graph", "tensor", "timeline", "memory", "debugger")
WIDTHS = (300, 333, 419, 480, 619, 720, 1000, 1500, 2000)
DUMPS = ("resnet20_cifar", "resnet20_cifar_fp16_overflow", "transformer_encoder")


@pytest.fixture(params=mostly_slow(DUMPS, *DUMPS[1:2]))
def run(request: pytest.FixtureRequest, corpus: Path) -> DebugRun:
    return tvmdbg.open(corpus / "tvm" / request.param)


@pytest.mark.parametrize("view", VIEWS)
def test_every_width_is_legible(run: DebugRun, view: str) -> None:
    for wide in WIDTHS:
        figure = run.figure(view, width=wide)
        assert_sound(figure, 600 * 1024)
        assert float(root_of(figure).attrib["width"]) == wide
        shown = " ".join(texts(figure))
        assert run.title in shown
        if view in ("timeline", "debugger"):
            assert "total is not model latency" in shown
        if view == "tensor":
            assert shown.count("…") == 0


def test_themes_differ_in_color_alone(run: DebugRun) -> None:
    for view in VIEWS:
        light, dark, auto = (run.figure(view, theme=each) for each in ("light", "dark", "auto"))
        assert sorted(texts(light)) == sorted(texts(dark)) == sorted(texts(auto))
        assert light.description == dark.description == auto.description
        assert "<style" not in light.svg + dark.svg
        assert 'fill="#ffffff"' not in dark.svg.split("<text", maxsplit=1)[0]
        colors = [set(re.findall(r'(?:fill|stroke)="[^"]*"', each.svg)) for each in (light, auto)]
        assert colors[0] == colors[1]


def test_text_contrast_meets_wcag_aa() -> None:
    """WCAG AA: 4.5 : 1."""

    def luminance(color: str) -> float:
        values = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    def contrast(one: str, two: str) -> float:
        low, high = sorted((luminance(one), luminance(two)))
        return (high + 0.05) / (low + 0.05)

    for name in ("light", "dark"):
        theme = SCHEMES[name]
        for ink in (theme.text, theme.muted, theme.accent, theme.warning, theme.error):
            assert contrast(ink, theme.background) >= 4.5


@pytest.mark.parametrize(
    ("view", "options", "error", "listed"),
    [
        ("flame", {}, ValueError, "'graph', 'tensor', 'timeline', 'memory', 'debugger'"),
        ("graph", {"theme": "sepia"}, ValueError, "'light', 'dark', 'auto'"),
        ("graph", {"color": "time"}, TypeError, "'color_by', 'color_limits', 'direction', 'focus'"),
        ("graph", {"color_by": "size"}, ValueError, "'kind', 'time'"),
        ("graph", {"direction": "up"}, ValueError, "'down', 'right'"),
        ("graph", {"hops": -1}, ValueError, "at least 0"),
        ("graph", {"focus": [1]}, TypeError, "focus: expected an integer, found [1]"),
        ("graph", {"color_by": [1]}, ValueError, "color_by: found 1 value"),
        ("graph", {"isolate": {"kind": "x", "nodes": [1]}}, ValueError, "isolate: no kind 'x'"),
        ("graph", {"hidden": ["tiem>1"]}, QueryError, "hidden: unknown field 'tiem'"),
        ("tensor", {"entry": "none"}, KeyError, "entry: no node is named 'none'"),
        ("debugger", {"entry": (99, 0)}, IndexError, "entry: no node 99"),
        ("tensor", {"color_map": "jet"}, ValueError, "'sequential', 'diverging'"),
        ("tensor", {"color_scale": "cubic"}, ValueError, "'linear', 'log', 'symlog'"),
        ("timeline", {"show": "all"}, ValueError, "'both', 'chart', 'table'"),
        ("timeline", {"sort": "name"}, ValueError, "'time', 'order'"),
        ("timeline", {"bandwidth": 10**400}, ValueError, "bandwidth: expected a finite number"),
        ("timeline", {"bandwidth": 0}, ValueError, "bandwidth: expected 1e-30 to 1e+30, found 0"),
        ("timeline", {"time_range": (5.0, 1.0)}, ValueError, "start, end"),
        ("memory", {"color_by": "time"}, ValueError, "'kind', 'size'"),
        ("memory", {"step_range": (5.0, 1.0)}, ValueError, "start, end"),
        ("debugger", {"collapsed": ["all"]}, ValueError, "'timeline'"),
        ("graph", {"width": 120}, ValueError, "300 to 2000"),
        ("graph", {"width": float("nan")}, ValueError, "300 to 2000"),
        ("graph", {"width": "wide"}, ValueError, "300 to 2000"),
    ],
)
def test_invalid_option_error_lists_valid_values(
    data: Path, view: str, options: dict[str, Any], error: type[Exception], listed: str
) -> None:
    run = tvmdbg.open(data / "times/split_multi_v0.19")
    with pytest.raises(error, match=re.escape(listed)):
        run.figure(view, **options)


def test_figure_colors_nodes_by_an_array(run: tvmdbg.DebugRun) -> None:
    assert run.graph is not None
    figure = run.figure("graph", color_by=np.arange(run.graph.num_nodes))
    assert figure.description["color_by"] == "values"


def test_the_figure_of_a_view_shows_the_views_state(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar")
    node = run.top(1)[0].node
    run.session.select(node)
    graph = tvmdbg.GraphView(run, direction="right", search="pool")
    facts = graph.figure(width=900, theme="dark").description
    assert (facts["direction"], facts["search"], facts["selected"]) == ("right", "pool", [node])
    assert "pool" in " ".join(texts(graph.figure()))
    tensor = tvmdbg.TensorInspector(run, color_scale="symlog", color_map="sequential")
    facts = tensor.figure().description
    assert (facts["entry"], facts["color_scale"]) == ([node, 0], "symlog")
    assert facts["color_map"] == "sequential"
    assert "symlog" in " ".join(texts(tensor.figure()))
    assert tensor.figure().svg != tvmdbg.TensorInspector(run).figure().svg
    chart = tvmdbg.Flamechart(run, show="chart", time_range=(1e6, 9e6))
    shown = " ".join(texts(chart.figure()))
    assert "Shown: 1.000 ms to 9.000 ms" in shown
    assert "p10" not in shown
    table = tvmdbg.Flamechart(run, show="table", sort="order").figure()
    ids = [row["node"] for row in table.description["top"]]
    assert ids == [row.node for row in run.table()[:10]]
    assert "in execution order" in " ".join(texts(table))
    every = tvmdbg.Debugger(run, show="table", collapsed=["tensor"], direction="right")
    facts = every.figure(width=500).description
    assert (facts["timeline"]["show"], facts["graph"]["direction"]) == ("table", "right")
    assert "histogram" not in " ".join(texts(every.figure()))
    assert len(every.figure().svg) > 0


def test_findings_appear_in_figure_after_scan(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar_fp16_overflow")
    assert run.facts.known_findings is None
    assert "findings" not in run.figure().description
    assert run.facts.known_findings is None
    found = run.findings(progress=False)
    figure = run.figure(width=420)
    assert_sound(figure, 600 * 1024)
    assert found[0].title[:30] in " ".join(texts(figure))
    assert figure.description["findings"]["findings"][0]["rule"] == found[0].rule


def test_search_of_a_figure_says_what_it_finds() -> None:
    run = run_of(["data", "fused_nn_conv2d_add", "nn_relu"], [(0, 1), (1, 2)])
    for query, hits in (("conv2d", 1), ("1x4", 3), ("op:conv* -> relu", 2), ("", 0)):
        assert run.figure("graph", search=query).description["hits"] == hits
    shown = " ".join(texts(run.figure("graph", search="time>1ms")))
    assert "0 nodes match “time>1ms” (dashed ring). No node has a time." in shown
    svg = run.figure("graph", search="tiem>1").svg
    assert "The search “tiem" in svg
    assert "did you mean time?" in svg
    assert "in a dashed ring" not in svg


# PNG


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    wide, high = struct.unpack(">II", png[16:24])
    return wide, high


def test_a_png_has_the_figures_size_times_its_scale(run: DebugRun, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    image = pytest.importorskip("PIL.Image")
    figure = run.figure("graph", width=480, theme="dark")
    root = root_of(figure)
    wide, high = (float(root.attrib[name]) for name in ("width", "height"))
    for scale in (1, 2, 1.5):
        expected = pytest.approx((wide * scale, high * scale), abs=0.5)
        assert size_of(figure.png(scale)) == expected
    file = figure.save(tmp_path / "graph.png", scale=3)
    assert size_of(file.read_bytes()) == (round(wide * 3), round(high * 3))
    assert image.open(file).convert("RGB").getpixel((60, 12)) == (0x16, 0x19, 0x1D)
    auto = run.figure("graph", width=480, theme="auto")
    assert auto.png(1) == run.figure("graph", width=480).png(1)


def test_png_of_tensor_does_not_blend_cell_colors() -> None:
    overflow = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    figure = overflow.figure("tensor", entry=(38, 0))
    x, y, wide, high = (
        float(re.search(rf'<image [^>]*?\b{name}="([\d.]+)"', figure.svg)[1])
        for name in ("x", "y", "width", "height")
    )
    with Image.open(io.BytesIO(figure.png(2))) as picture:
        inside = (2 * x + 2, 2 * y + 2, 2 * (x + wide) - 2, 2 * (y + high) - 2)
        colors = picture.convert("RGB").crop(tuple(map(round, inside))).getcolors(1 << 20)
    assert 16 < len(colors) <= 16 * 16


def test_missing_rasteriser_error_shows_install_command(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    figure = tvmdbg.open(data / "times/split_multi_v0.19").figure("timeline")
    with pytest.raises(ImportError, match=re.escape('pip install "tvmdbg-widgets[png]"')):
        figure.png()
    with pytest.raises(ImportError, match="SVG figures need nothing"):
        figure.save(tmp_path / "x.png")
    assert not list(tmp_path.iterdir())


def test_png_without_fonts_is_refused_and_missing_glyphs_warn(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resvg = pytest.importorskip("resvg_py")
    figure = tvmdbg.open(data / "times/split_multi_v0.19").figure("timeline")
    drawn = resvg.svg_to_bytes
    unknown = run_of(["data", "\U00012345\U00012346"], [(0, 1)]).figure("graph")
    raster._has_glyph.cache_clear()
    with pytest.warns(UserWarning, match="no installed font has"):
        unknown.png()
    monkeypatch.setattr(resvg, "svg_to_bytes", lambda **k: drawn(skip_system_fonts=True, **k))
    raster._has_glyph.cache_clear()
    with pytest.raises(RuntimeError, match="fonts-dejavu-core"):
        figure.png()
    raster._has_glyph.cache_clear()


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "2", 500])
def test_invalid_png_scale_is_refused(data: Path, scale: Any) -> None:
    pytest.importorskip("resvg_py")
    figure = tvmdbg.open(data / "times/split_multi_v0.19").figure("timeline")
    with pytest.raises(ValueError, match="scale"):
        figure.png(scale)


# text of the world


@given(st.text(max_size=80), st.floats(0, 300), st.integers(1, 6))
def test_text_of_charts_is_complete_or_cut_to_a_prefix(text: str, room: float, lines: int) -> None:
    def letters(said: str) -> str:
        return re.sub(r"\s", "", said)

    whole, found = clean(text), wrap(text, room, 11, lines)
    assert len(found) <= lines
    for shown in ("".join(found), fit(text, room, 11)):
        assert letters(shown) == letters(whole) or letters(whole).startswith(
            letters(shown.removesuffix("…"))
        )
    roomy = width(text, 11) + 12
    assert fit(text, roomy, 11) == whole
    assert len(wrap(text, roomy, 11)) <= 1


def test_right_to_left_names_end_with_left_to_right_mark() -> None:
    figure = run_of(["data", "שכבה"], [(0, 1)]).figure("graph")
    line = next(each for each in texts(figure) if "שכבה" in each)
    assert line.endswith("\u200e")
    assert all(unicodedata.category(char) != "Cs" for char in line)
