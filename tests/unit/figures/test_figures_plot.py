"""Bokeh figures drawn without a browser: what they show, where it is, in the same colors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bokeh.layouts import row
from bokeh.models import CDSView, ColumnDataSource, IndexFilter
from bokeh.plotting import figure as new_figure
from bokeh.transform import dodge, factor_cmap

import tvmdbg_widgets as tvmdbg
from tests.unit.figures.figure_checks import assert_sound, lines_of, texts
from tvmdbg_widgets import plots
from tvmdbg_widgets.figures.plot.figure import ALONE
from tvmdbg_widgets.figures.svg import MARGIN, number
from tvmdbg_widgets.figures.theme import THEMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.run import DebugRun


@pytest.fixture(scope="module")
def run() -> DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


@pytest.fixture(scope="module")
def broken() -> DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)


def saved(run: DebugRun, made: Any, nodes: str = "node") -> Figure:
    found: Figure = plots.link(made, run, nodes=nodes)._saved_figure()
    return found


def table(run: DebugRun) -> ColumnDataSource:
    columns = run.to_dataframe()[["node", "name", "time_ns", "share"]]
    return ColumnDataSource({name: columns[name].tolist() for name in columns})


def paths(figure: Figure, **attributes: str) -> list[np.ndarray]:
    """The numbers of each mark that has these attributes, in the order of drawing."""
    found: list[np.ndarray] = []
    wanted = [f'{name.replace("_", "-")}="{value}"' for name, value in attributes.items()]
    for path in re.findall(r"<path[^>]*>", figure.svg):
        if all(each in path for each in wanted):
            marks = path.split(' d="M')[1].split("M")
            found += [np.array(re.findall(r"-?[\d.]+", mark), float) for mark in marks]
    return found


DRAWN: list[Callable[..., Any]] = [
    lambda run, theme: plots.times(run, theme=theme),
    lambda run, theme: plots.repeats(run, theme=theme),
    lambda run, theme: plots.roofline(run, theme=theme),
    lambda run, theme: plots.histogram(run, 38, theme=theme),
    lambda run, theme: plots.channels(run, 38, theme=theme),
    lambda run, theme: plots.memory(run, theme=theme),
    lambda run, theme: plots.compare_times(run, run, theme=theme),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("draw", DRAWN)
def test_every_chart_is_drawn(broken: DebugRun, draw: Callable[..., Any], theme: str) -> None:
    made = draw(broken, theme)
    nodes = "a" if "ns_a" in made.renderers[0].data_source.data else "node"
    figure = saved(broken, made, nodes)
    assert figure.description["drawn"]
    assert_sound(figure, 48 * 1024)
    assert made.title.text in texts(figure)
    assert f'fill="{THEMES["light"].background}"' in figure.svg or theme == "dark"
    assert f'fill="{THEMES[theme].background}"' in figure.svg
    for item in made.legend[0].items if made.legend and made.legend[0].visible else []:
        assert item.label.value in texts(figure)
    for factor in getattr(made.y_range, "factors", ()):
        assert factor in texts(figure)


def test_bars_are_as_long_as_their_values(run: DebugRun) -> None:
    made = plots.times(run)
    data = made.renderers[0].data_source.data
    figure = saved(run, made)
    for color in set(data["color"]):
        bars = paths(figure, fill=color)
        left = bars[0][0]
        long = np.array([x1 - x0 for x0, _, x1, *_ in bars])
        ns = np.array(data["time_ns"])[[each == color for each in data["color"]]]
        assert {bar[0] for bar in bars} == {left}
        np.testing.assert_allclose(long, ns * long.max() / ns.max(), atol=0.11)
    (first,) = [line for line in lines_of(figure) if line.text == data["operator"][0]]
    assert paths(figure, fill=data["color"][0])[0][1] == pytest.approx(first.y + 11, abs=8)


def test_dots_are_where_the_logarithms_are(run: DebugRun) -> None:
    made = plots.roofline(run)
    data = made.renderers[0].data_source.data
    figure = saved(run, made)
    x, y = [], []
    for size, color in zip(data["size"], data["color"], strict=True):
        dots = paths(figure, stroke=color, stroke_linecap="round", stroke_width=number(size - 1))
        assert dots
        x.append({dot[0] for dot in dots})
        y.append({dot[1] for dot in dots})
    alone = [at for at, each in enumerate(x) if len(each) == 1]
    for column, found, way in (("intensity", x, 1), ("flops_per_s", y, -1)):
        logs = np.log10(np.array(data[column])[alone])
        places = np.array([next(iter(found[at])) for at in alone])
        slope, start = np.polyfit(logs, places, 1)
        assert slope * way > 0
        np.testing.assert_allclose(slope * logs + start, places, atol=0.2)


def test_units_are_those_of_the_axis(run: DebugRun) -> None:
    shown = texts(saved(run, plots.memory(run)))
    assert {"0 KiB", "100 KiB", "200 KiB", "0 ms", "40 ms"} <= set(shown)
    shown = texts(saved(run, plots.roofline(run)))
    assert {"100 MFLOP/s", "1 GFLOP/s", "0.1", "1", "10"} <= set(shown)
    assert {"1×", "1.1×"} <= set(texts(saved(run, plots.repeats(run))))


def test_many_dots_and_steps_stay_small(run: DebugRun) -> None:
    own = new_figure(y_range=[f"row {at}" for at in range(30)])
    values = np.random.default_rng(1).normal(size=12_000)
    data = {"node": np.arange(12_000) % 30, "x": values}
    data["y"] = [f"row {each}" for each in data["node"].tolist()]
    own.scatter("x", "y", size=6, source=ColumnDataSource(data))
    figure = saved(run, own)
    assert figure.description["drawn"]
    assert_sound(figure, 48 * 1024)


def test_a_figure_of_ones_own_and_a_layout_are_drawn(run: DebugRun) -> None:
    own = new_figure(title="mine", x_axis_type="log", width=400)
    own.vbar(x="node", top="time_ns", width=0.5, source=table(run))
    figure = saved(run, row(own, plots.times(run)))
    assert figure.description == {"view": "plot", "title": "mine", "drawn": True, "plots": 2}
    assert_sound(figure, 48 * 1024)
    assert {"mine", "resnet20_cifar: time by operator"} <= set(texts(figure))


def test_what_is_not_drawn_is_listed_and_that_is_said(run: DebugRun) -> None:
    def labelled(made: Any, source: Any) -> None:
        made.text("node", "time_ns", text="name", source=source)

    def starred(made: Any, source: Any) -> None:
        made.scatter("node", "time_ns", marker="star", source=source)

    def named(made: Any, source: Any) -> None:
        made.scatter("name", "time_ns", source=source)

    def marked(made: Any, source: Any) -> None:
        source.data["mark"] = ["circle", "x"] * 13 + ["circle"]
        made.scatter("node", "time_ns", marker="mark", source=source)

    def moved(made: Any, source: Any) -> None:
        made.scatter(dodge("node", 0.25), "time_ns", source=source)

    def filtered(made: Any, source: Any) -> None:
        view = CDSView(filter=IndexFilter([0]))
        made.scatter("node", "time_ns", source=source, view=view)

    def colored(made: Any, source: Any) -> None:
        made.scatter("node", "time_ns", color=factor_cmap("name", "Set1_3", ["a"]), source=source)

    for draw in (labelled, starred, named, marked, moved, filtered, colored):
        made, source = new_figure(title="<b>mine</b>"), table(run)
        draw(made, source)
        figure = saved(run, made)
        assert not figure.description["drawn"]
        assert_sound(figure)
        shown = texts(figure)
        assert shown[:2] == ["<b>mine</b>", ALONE]
        first = sorted((line.y, line.text) for line in lines_of(figure) if line.x == MARGIN)
        told = ["node", *map(str, source.data["node"][:12]), "… and 15 more"]
        assert [text for _, text in first[2:]] == told


def test_a_name_from_a_file_is_text(run: DebugRun) -> None:
    name = "<img src=x onerror=alert(1)>"
    events = '{"traceEvents": [{"ph": "X", "name": "%s", "ts": 0, "dur": 5, "pid": 1, "tid": 1}]}'
    hostile = tvmdbg.open((events % name).encode())
    figure = saved(hostile, plots.times(hostile))
    assert_sound(figure)
    assert name in texts(figure)
    assert "<img" not in figure.svg
