"""Charts people take with them: their columns hold what the run answers itself."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import bokeh
import numpy as np
import pytest
from bokeh.embed import file_html
from bokeh.layouts import row as side_by_side
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure as new_figure
from bokeh.resources import INLINE

import tvmdbg_widgets as tvmdbg
from tests.graph_json import chain
from tests.make.params import write_params
from tvmdbg_widgets import plots
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.widgets import outputs

OVERFLOW = 38  # of the overflow sample: its output holds +Inf


@pytest.fixture(scope="module")
def broken() -> DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)


def columns(figure: Any) -> dict[str, Any]:
    """The columns of the one data source that a figure draws its glyphs from."""
    sources = {
        each.data_source for each in figure.renderers if "_text" in str(each.data_source.data)
    }
    (source,) = sources
    return {name: list(column) for name, column in source.data.items()}


def notes(figure: Any) -> str:
    return " ".join(each.text for each in figure.above if hasattr(each, "text"))


def graph_alone(**others: bytes) -> DebugRun:
    """Three operators, without tensors, and without times but for those given."""
    names = ["x", "n1", "n2", "n3"]
    return tvmdbg.open(chain(names, shapes=(1, 256), storage=[0, 1, 2, 1]), **others)


def test_times_chart_matches_table(run: DebugRun) -> None:
    found = columns(plots.times(run))
    table = run.table().to_dataframe().sort_values("time_ns", ascending=False, kind="stable")
    for name in table.columns:
        known = table[name].tolist()
        if name in ("time_ns", "share", "p10_ns", "p90_ns", "within_ns"):
            np.testing.assert_array_equal(found[name], known)
        else:
            assert found[name] == known, name
    assert found["operator"][0] == "#62 conv2d + add + relu"
    assert found["time_text"][0] == "2.571 ms"


def test_long_names_keep_their_ids_and_ends(run: DebugRun) -> None:
    names = columns(plots.times(run, width=400))["operator"]
    nodes = columns(plots.times(run))["node"]
    assert all(name.startswith(f"#{node} ") for name, node in zip(names, nodes, strict=True))
    assert "#65 conv2d + … + relu" in names
    assert "#62 conv2d + add + relu" in columns(plots.times(run))["operator"]


def test_times_chart_draws_slowest_operators_with_a_note(run: DebugRun) -> None:
    figure = plots.times(run, 5)
    assert columns(figure)["node"] == [row.node for row in run.top(5)]
    assert figure.y_range.factors[::-1] == columns(figure)["operator"]
    assert "the 5 slowest of 27 operators" in notes(figure)


def test_repeats_chart_matches_matrix(run: DebugRun) -> None:
    matrix = run.repeats()
    found = columns(plots.repeats(run, 100))
    assert len(found["node"]) == matrix.ns.size
    place = {node: row for row, node in enumerate(matrix.nodes.tolist())}
    assert {"node", "name", "time_ns"} <= set(run.table().to_dataframe().columns) & set(found)
    for node, repeat, ns, relative in zip(
        found["node"], found["repeat"], found["time_ns"], found["relative"], strict=True
    ):
        assert ns == matrix.ns[place[node], repeat]
        assert relative == matrix.relative[place[node], repeat]


def test_many_repeats_are_thinned_out_with_a_note() -> None:
    seconds = [[0.0] * 900, *([1e-3 * (1 + repeat % 7) for repeat in range(900)] for _ in range(3))]
    run = graph_alone(times=json.dumps(seconds).encode())
    figure = plots.repeats(run, 2)
    assert "the 2 slowest of 3 operators" in notes(figure)
    assert "300 of 900 repeats are drawn, evenly spaced" in notes(figure)
    assert columns(figure)["repeat"][:3] == [0, 3, 6]
    assert columns(figure)["time_ns"][:3] == pytest.approx([1e6, 4e6, 7e6])


def test_repeats_that_were_not_made_are_no_missing_numbers() -> None:
    run = graph_alone(times=json.dumps([[0.0], [1e-3], [1e-3, 2e-3], [1e-3] * 9]).encode())
    assert "not a number" not in notes(plots.repeats(run))
    assert len(columns(plots.repeats(run))["node"]) == 12
    events = [{"ph": "X", "name": "a", "ts": 9 * k, "dur": 2, "pid": 1, "tid": 1} for k in range(3)]
    trace = tvmdbg.open(json.dumps({"traceEvents": events}).encode())
    assert columns(plots.repeats(trace))["node"] == [-1] * 3


def test_roofline_figure_matches_run_roofline(run: DebugRun) -> None:
    roofline = run.roofline(5e9, 1e8)
    figure = plots.roofline(run, 5e9, 1e8)
    found = columns(figure)
    assert len(found["node"]) == 26  # a reshape computes nothing
    for row, node in enumerate(found["node"]):
        point = roofline.node(node)
        for name in ("name", "time_ns", "flops", "bytes", "intensity", "flops_per_s", "bound"):
            assert found[name][row] == getattr(point, name)
    assert "1 operator not drawn" in notes(figure)
    assert "node" in figure.renderers[0].data_source.data
    (ceilings,) = [each for each in figure.renderers if "x" in each.data_source.data]
    assert max(ceilings.data_source.data["y"]) == 5e9


def test_histogram_matches_tensor_and_separates_zeros(broken: DebugRun) -> None:
    tensor = broken.tensors[OVERFLOW]  # type: ignore[index]
    values = tensor.numpy().astype(np.float64)
    values = values[np.isfinite(values)]
    figure = plots.histogram(broken, OVERFLOW, bins=20)
    bins, zeros = (each.data_source.data for each in figure.renderers)
    edges = [*bins["low"], bins["high"][-1]]
    assert edges == tensor.histogram(20).edges.tolist()
    assert list(bins["count"]) == np.histogram(values[values != 0], edges)[0].tolist()
    assert zeros["count"] == [np.count_nonzero(values == 0)]
    assert (
        figure.legend[0].items[0].label.value
        == f"{zeros['count'][0]:,} zeros (48.1 %), shown separately"
    )
    assert figure.y_range.end < zeros["count"][0]
    assert zeros["left"][0] > edges[-1]
    assert f"left out: {tensor.statistics().pos_inf} +Inf" in notes(figure)
    assert set(bins["node"]) == {OVERFLOW}
    assert figure.title.text == "#38 conv2d + add + add + relu: values"


def test_a_few_far_values_do_not_set_the_range(tmp_path: Path) -> None:
    bulk = np.random.default_rng(1).normal(size=10_000).astype(np.float32)
    array = np.append(bulk, np.float32([1e8, -3e7]))
    write_params(tmp_path / "a.params", {"a": array})
    run = tvmdbg.open(tmp_path / "a.params")
    figure = plots.histogram(run, "a", bins=50)
    found = columns(figure)
    assert max(found["high"]) < 10
    assert sum(found["count"]) == len(bulk)
    assert (
        "2 of 10,002 values beyond this range; range=(-30000000.0, 100000000.0) shows all"
        in notes(figure)
    )
    every = columns(plots.histogram(run, "a", 50, (-3e7, 1e8)))
    assert sum(every["count"]) == len(array)


def test_histogram_of_only_zeros_and_of_one_value(tmp_path: Path) -> None:
    arrays = {"zeros": np.zeros(1000, np.float32), "one": np.float32([2])}
    write_params(tmp_path / "a.params", arrays)
    run = tvmdbg.open(tmp_path / "a.params")
    figure = plots.histogram(run, "zeros")
    assert len(figure.renderers) == 1
    assert sum(columns(figure)["count"]) == 1000
    assert "1000 values" in " ".join(columns(figure)["count_text"]).replace(",", "")
    assert "1 value, 2 … 2" in notes(plots.histogram(run, "one"))


def test_small_channel_values_are_not_shown_as_zero(tmp_path: Path) -> None:
    values = np.float16([[[1e-5, -1e-5], [0.1, 0.1]]])
    write_params(tmp_path / "a.params", {"a": values})
    found = columns(plots.channels(tvmdbg.open(tmp_path / "a.params"), "a", axis=1))
    assert found["values_text"] == ["−1e−5 … 1e−5, mean 0", "0.1 … 0.1, mean 0.0999756"]


def test_channels_chart_matches_numpy(broken: DebugRun) -> None:
    values = broken.tensors[OVERFLOW].numpy().astype(np.float64)  # type: ignore[index]
    found = columns(plots.channels(broken, OVERFLOW))
    finite = np.where(np.isfinite(values), values, np.nan)
    np.testing.assert_array_equal(found["maximum"], np.nanmax(finite, axis=(0, 2, 3)))
    np.testing.assert_array_equal(found["minimum"], np.nanmin(finite, axis=(0, 2, 3)))
    np.testing.assert_allclose(found["mean"], np.nanmean(finite, axis=(0, 2, 3)), rtol=1e-6)
    assert found["pos_inf"] == np.isposinf(values).any(axis=(0, 2, 3)).tolist()
    assert columns(plots.channels(broken, OVERFLOW, axis=-1))["last"][-1] == 15


def test_memory_figure_matches_memory_plan(run: DebugRun) -> None:
    plan = run.memory_plan()
    figure = plots.memory(run)
    found = columns(figure)
    assert found["node"] == plan.order.tolist()
    assert found["value"] == plan.live.tolist()
    assert found["ns"][1:] == found["end_ns"][:-1]
    assert "peak 204.0 KiB (208,896), while #9 conv2d + add + add + relu" in notes(figure)


def test_memory_without_times_is_plotted_by_step() -> None:
    run = graph_alone()
    found = columns(plots.memory(run))
    assert found["step"] == [0, 1, 2]
    assert found["value"] == run.memory_plan().live.tolist()


def test_compare_times_figure_matches_its_table(run: DebugRun, broken: DebugRun) -> None:
    comparison = run.compare_times(broken)
    found = columns(plots.compare_times(run, broken))
    for name in ("label", "ns_a", "ns_b", "change_ns"):
        assert found[name] == [getattr(row, name) for row in comparison]
    assert found["a"] == [list(row.a) for row in comparison]
    assert found["verdict"] == [row.verdict.label for row in comparison]


def test_labels_of_many_nodes_keep_both_runs(corpus: Path) -> None:
    a, b = (tvmdbg.open(corpus / "tvm" / f"resnet20_cifar{each}") for each in ("_unfused", ""))
    for width in (400, 720):
        found = columns(plots.compare_times(a, b, width=width))
        for name, one, other in zip(found["operator"], found["a"], found["b"], strict=True):
            first, *_, last = (*one, one[-1])
            assert name.startswith(f"#{first}")
            assert f"#{last} ~ #{other[0]}" in name
        assert len(set(found["operator"])) == len(found["operator"])


DRAWN: list[Callable[..., Any]] = [
    lambda run, theme, **how: plots.times(run, theme=theme, **how),
    lambda run, theme, **how: plots.repeats(run, theme=theme, **how),
    lambda run, theme, **how: plots.roofline(run, theme=theme, **how),
    lambda run, theme, **how: plots.histogram(run, 60, theme=theme, **how),
    lambda run, theme, **how: plots.channels(run, 60, theme=theme, **how),
    lambda run, theme, **how: plots.memory(run, theme=theme, **how),
    lambda run, theme, **how: plots.compare_times(run, run, theme=theme, **how),
]


@pytest.mark.parametrize("draw", DRAWN)
def test_both_themes_and_no_others(run: DebugRun, draw: Callable[..., Any]) -> None:
    light, dark = draw(run, "light"), draw(run, "dark")
    assert light.background_fill_color == "#ffffff"
    assert dark.background_fill_color == "#16191d"
    assert columns(light).keys() == columns(dark).keys()
    assert draw(run, "auto").background_fill_color == "#ffffff"
    with pytest.raises(ValueError, match="no theme 'drak'; did you mean 'dark'"):
        draw(run, "drak")


@pytest.mark.parametrize("draw", DRAWN)
def test_narrow_figure_keeps_full_title_and_has_fewer_ticks(
    run: DebugRun, draw: Callable[..., Any]
) -> None:
    wide, narrow = (draw(run, "light", width=width) for width in (720, 400))
    assert narrow.title.text.replace("\n", " ") == wide.title.text
    told = [
        each.text for figure in (wide, narrow) for each in figure.above if hasattr(each, "text")
    ]
    assert not [line for line in (narrow.title.text, *told) if re.search(r"\S…$", line)]
    assert narrow.xaxis.ticker.desired_num_ticks < wide.xaxis.ticker.desired_num_ticks
    added = [figure.height - 18 * figure.title.text.count("\n") for figure in (wide, narrow)]
    assert added[1] >= added[0]


def test_plot_of_missing_data_raises_error_with_reason() -> None:
    run = graph_alone()
    for draw in (plots.times, plots.repeats):
        with pytest.raises(ValueError, match=r"This dump has no trace: .*_execution_trace\.json"):
            draw(run)
    with pytest.raises(ValueError, match="roofline"):
        plots.roofline(run)
    for draw in (plots.histogram, plots.channels):
        with pytest.raises(ValueError, match=r"no tensors.*output_tensors\.params"):
            draw(run, 1)
    with pytest.raises(ValueError, match="This dump has no trace"):
        plots.compare_times(run, run)


def test_plots_reject_argument_that_is_not_a_run() -> None:
    for draw in (plots.times, plots.repeats, plots.roofline, plots.memory):
        with pytest.raises(TypeError, match=r"takes a run, not str: pass tvmdbg_widgets\.open"):
            draw("a dump")  # type: ignore[operator]


def test_plots_reject_invalid_arguments(run: DebugRun, broken: DebugRun) -> None:
    with pytest.raises(ValueError, match="top"):
        plots.times(run, 0)
    with pytest.raises(KeyError):
        plots.histogram(run, 4000)
    with pytest.raises(ValueError, match="no axis 7"):
        plots.channels(run, 60, axis=7)
    with pytest.raises(ValueError, match=r"none of its .* values is finite"):
        plots.histogram(broken, 73)
    with pytest.raises(ValueError, match="scale"):
        plots.histogram(run, 60, scale="symlog")  # type: ignore[arg-type]


def test_times_of_a_trace_without_nodes_are_by_name() -> None:
    events = [
        {
            "ph": "X",
            "name": f"kernel {at % 3}",
            "ts": at * 10,
            "dur": 1 + at % 3,
            "pid": 1,
            "tid": 1,
        }
        for at in range(9)
    ]
    run = tvmdbg.open(json.dumps({"traceEvents": events}).encode())
    found = columns(plots.times(run))
    assert found["operator"] == ["kernel 2", "kernel 1", "kernel 0"]
    assert found["node"] == [-1, -1, -1]


def test_unknown_times_are_left_out_with_a_note() -> None:
    events = [
        {"ph": "X", "name": f"n{at}", "ts": at, "dur": at, "pid": 1, "tid": 1} for at in (1, 2)
    ]
    run = graph_alone(trace=json.dumps({"traceEvents": events}).encode())
    figure = plots.times(run)
    assert columns(figure)["node"] == [2, 1]
    assert "1 of 3 is left out: its time is unknown" in notes(figure)


def test_any_figure_with_a_column_of_nodes_is_linked(run: DebugRun) -> None:
    own = new_figure()
    table = {name: run.to_dataframe()[name].to_numpy() for name in ("node", "time_ns", "share")}
    own.scatter("time_ns", "share", source=ColumnDataSource(table))
    assert plots.link(own, run).nodes == "node"
    uneven = new_figure()
    with pytest.warns(bokeh.util.warnings.BokehUserWarning, match="same length"):
        uneven.scatter("node", "y", source=ColumnDataSource({"node": [1, 2, 3], "y": [5]}))
    assert plots.link(uneven, run)._figure_data()["text/plain"].startswith("1: 5\n")
    with pytest.raises(ValueError, match=r"has a column 'ids'.*'node', 'share', 'time_ns'"):
        plots.link(own, run, nodes="ids")
    with pytest.raises(TypeError, match="link takes a bokeh figure, not DebugRun"):
        plots.link(run, run)


def test_plot_answers_only_figure_and_library_questions(run: DebugRun) -> None:
    plot = plots.link(plots.times(run), run)
    content, (library,) = plot.answer({"id": "a", "kind": "bokeh"})
    assert content == {"id": "a", "result": None}
    assert b"export default Bokeh" in gzip.decompress(library)
    _, (item,) = plot.answer({"id": "b", "kind": "figure"})
    assert json.loads(gzip.decompress(item))["version"] == bokeh.__version__
    for message in ({"id": "c", "kind": "values"}, {"id": "c"}, None):
        content, buffers = plot.answer(message)
        assert content["error"]
        assert buffers == []


def saved(figure: Any, run: DebugRun) -> dict[str, str]:
    """What a saved notebook keeps of a plot."""
    nodes = "a" if "a" in figure.renderers[0].data_source.data else "node"
    return plots.link(figure, run, nodes=nodes)._figure_data()


def picture(figure: Any, run: DebugRun) -> str:
    return saved(figure, run)["image/svg+xml"]


@pytest.mark.parametrize("draw", DRAWN)
def test_saved_notebook_keeps_a_picture_in_both_themes(
    run: DebugRun, draw: Callable[..., Any]
) -> None:
    svg = picture(draw(run, "auto"), run)
    image = re.search(
        r'src="data:image/svg\+xml,([^"]*)"', saved(draw(run, "auto"), run)["text/html"]
    )
    assert image
    ET.fromstring(unquote(image[1]))  # noqa: S314 (made by this package)
    root = ET.fromstring(svg)  # noqa: S314 (made by this package)
    assert len(svg) < 30_000
    texts = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    figure = draw(run, "auto")
    assert figure.title.text.splitlines()[0] in texts
    assert figure.xaxis.axis_label in texts
    for factor in getattr(figure.y_range, "factors", []):
        assert factor in texts
    assert "prefers-color-scheme:dark" in svg
    for theme in ("light", "dark"):
        assert "prefers-color-scheme" not in picture(draw(run, theme), run)
    assert "#16191d" in picture(draw(run, "dark"), run)


def test_picture_has_a_mark_per_row(run: DebugRun, broken: DebugRun) -> None:
    svg = picture(plots.times(run), run)
    bars = re.findall(r'<path d="([^"]+)" fill="(#[0-9a-f]{6})"', svg)
    assert sum(path.count("z") for path, _ in bars) == 27
    svg = picture(plots.channels(broken, OVERFLOW), broken)
    crosses = re.search(r'<path d="([^"]+)" fill="[^"]+" stroke="#b3261e"', svg)
    assert crosses
    held = columns(plots.channels(broken, OVERFLOW))["pos_inf"]
    assert crosses[1].count("M") == sum(held)


def test_picture_shows_what_was_changed(run: DebugRun) -> None:
    figure = plots.memory(run)
    figure.title.text = "<b>mine</b>"
    figure.border_fill_color = "red"
    svg = picture(figure, run)
    assert "&lt;b>mine&lt;/b>" in svg or "&lt;b&gt;mine" in svg
    assert 'fill="red"' in svg
    figure.scatter([1, 2], [3, 4])
    assert picture(figure, run).count("<path") == svg.count("<path") + 1
    figure.wedge(1, 1, radius=1, start_angle=0, end_angle=1)
    data = plots.link(figure, run)._figure_data()
    assert "image/svg+xml" not in data
    assert "<table>" in data["text/html"]


def test_text_form_keeps_notes_and_first_rows(run: DebugRun) -> None:
    told = plots.link(plots.times(run), run)._figure_data()["text/plain"].splitlines()
    assert told[:2] == ["resnet20_cifar: time by operator", "total 39.88 ms, summed over nodes"]
    assert told[2].startswith("#62 conv2d + add + relu: 2.571 ms, 6.45 %")
    assert told[-1] == "… and 15 more"


def test_a_saved_notebook_keeps_rows_of_layouts_as_a_table(run: DebugRun) -> None:
    own = new_figure(title="<b>mine</b>")
    frame = run.to_dataframe()[["node", "time_ns", "name", "share", "trust"]][:2]
    own.scatter("node", "time_ns", source=ColumnDataSource({**frame, "name": ["<img>", "b"]}))
    data = plots.link(side_by_side(own, plots.memory(run)), run)._figure_data()
    told = data["text/plain"].splitlines()
    assert "<b>mine</b>" in told
    assert "resnet20_cifar: memory in use" in told
    assert "3: 523400, <img>, 0.01312" in told
    assert "<td>&lt;img&gt;</td>" in data["text/html"]
    assert "<img" not in data["text/html"]
    assert "<b>" not in data["text/html"]


@pytest.mark.parametrize("draw", DRAWN)
def test_a_chart_at_the_end_of_a_cell_shows_itself(
    run: DebugRun, draw: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[dict[str, Any]] = []
    monkeypatch.setattr(outputs, "_publish", lambda data, **_: published.append(data))
    figure = draw(run, "auto")
    figure._ipython_display_()
    live, saved = published
    assert "application/vnd.jupyter.widget-view+json" in live
    assert "<svg" in saved["image/svg+xml"]
    assert len(json.dumps(published)) < 90_000
    data, _ = figure._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert file_html(figure, INLINE).count("<script") > 1


def item_of(figure: Any, run: DebugRun, *, dark: bool) -> str:
    _, (item,) = plots.link(figure, run).answer({"id": "b", "kind": "figure", "dark": dark})
    return gzip.decompress(item).decode()


def test_figure_has_the_colors_of_the_page(run: DebugRun) -> None:
    light, dark = (item_of(plots.times(run), run, dark=dark) for dark in (False, True))
    assert "#16191d" not in light
    assert "#16191d" in dark
    assert not set(re.findall("#[0-9a-f]{6}", dark)) & {"#ffffff", "#1f2328", "#2f6db5"}
    chosen = item_of(plots.times(run, theme="light"), run, dark=True)
    assert "#1f2328" in chosen
    assert "#16191d" not in chosen
    own = new_figure()
    own.scatter("node", "y", source=ColumnDataSource({"node": [1], "y": [2]}))
    assert "#20262B" in item_of(own, run, dark=True)
    assert "#20262B" not in item_of(own, run, dark=False)


def test_bokeh_is_imported_with_the_first_figure() -> None:
    code = (
        "import sys, tvmdbg_widgets as t; run = t.open(t.samples.resnet20_cifar);"
        "t.plots; print('bokeh' in sys.modules); t.plots.times(run); print('bokeh' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True"]
