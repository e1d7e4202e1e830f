"""Columns as colors: what they are made of, what is refused, and what each side says of them."""

import dataclasses
import gc
import json
import math
import re
import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from tests.graph_json import chain
from tests.unit.findings.findings_dump import Op, plant
from tvmdbg_widgets.analysis.memory.sizes import known_sizes
from tvmdbg_widgets.analysis.node_columns import (
    KNOWN_COLUMNS,
    OutputErrors,
    _difference,
    known_column,
)
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.answers.node_columns import column_reply
from tvmdbg_widgets.engine import unpack
from tvmdbg_widgets.model.graph.node_columns import checked_template, node_column
from tvmdbg_widgets.run import DebugRun

LABELS = json.loads((Path(__file__).parents[2] / "data/color/labels.json").read_text("utf-8"))
GRAPH = Path(__file__).parents[2] / "data" / "graph" / "split_multi_v0.19"


@pytest.fixture(scope="module")
def small() -> DebugRun:
    return tvmdbg.open(GRAPH)


@pytest.fixture(scope="module")
def resnet(corpus: Path) -> DebugRun:
    return tvmdbg.open(corpus / "tvm" / "resnet20_two_devices")


@pytest.mark.parametrize("case", LABELS, ids=lambda case: case["template"])
def test_valid_label_templates_are_accepted(case: dict[str, Any]) -> None:
    assert checked_template(case["template"]) == case["template"]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        *(("{shpe}", "did you mean '{shape}'"), ("a {", "'{' at 2 stands alone")),
        *(("}", "'}' at 0"), ("{}", "unknown field {}"), ("{id.__class__}", "unknown field")),
        *(("{id!r}", "unknown field"), ("a\nb\nc", "found 3"), ("x" * 401, "found 401")),
    ],
)
def test_invalid_label_templates_are_rejected(template: str, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("{", r"\{").replace("}", r"\}")):
        checked_template(template)


def test_column_accepts_rows_of_nodes_and_entries(small: DebugRun) -> None:
    graph = small.graph
    assert graph.num_entries > graph.num_nodes
    for count, of in ((graph.num_nodes, "nodes"), (graph.num_entries, "entries")):
        for data in (
            np.arange(count),
            list(range(count)),
            tuple(map(float, range(count))),
            np.arange(count).astype(ml_dtypes.bfloat16),
            np.arange(count).astype(ml_dtypes.int4) if count < 8 else np.arange(count, dtype="i1"),
        ):
            column = node_column(graph, data)
            assert (column.of, column.values.tolist()) == (of, [float(each) for each in data])


def test_texts_and_bools_are_classes(small: DebugRun) -> None:
    graph = small.graph
    count = graph.num_nodes
    column = node_column(graph, ["b", *["a"] * (count - 2), None])
    assert (column.classes, column.codes.tolist()) == (("a", "b"), [1, *[0] * (count - 2), -1])
    assert node_column(graph, np.ones(count, bool)).classes == ("true",)
    hostile = "<script>alert(1)</script>" * 10
    long = node_column(graph, np.array([hostile] * count)).classes[0]
    assert len(long) == 120
    assert long.endswith("…")


def test_masked_values_are_unknown(small: DebugRun) -> None:
    count = small.graph.num_nodes
    gone = np.arange(count) == 1
    for data in (np.arange(count) * 2, np.arange(count) * 2.0):
        values = node_column(small.graph, np.ma.masked_array(data, gone)).values
        np.testing.assert_array_equal(values, np.where(gone, np.nan, data))
    codes = node_column(small.graph, np.ma.masked_array(np.ones(count, bool), gone)).codes
    np.testing.assert_array_equal(codes, np.where(gone, -1, 0))


def test_a_series_is_read_by_its_index(small: DebugRun) -> None:
    pd = pytest.importorskip("pandas")
    graph = small.graph
    count = graph.num_nodes
    rows = pd.Series(np.arange(count) * 1.5)
    for series in (rows, rows.sort_values(ascending=False), rows.set_axis(list(graph.names))):
        values = node_column(graph, series).values
        np.testing.assert_array_equal(values, np.arange(count) * 1.5)
    some = node_column(graph, pd.Series({2: True, 1: None}, dtype="boolean"))
    assert (some.classes, some.codes.tolist()) == (("true",), [-1, -1, 0, -1])
    of_entries = node_column(graph, rows.set_axis([(1, 0), (0, 0), (1, 1), (1, 2)]))
    assert of_entries.of == "entries"
    with pytest.raises(ValueError, match="names a node twice"):
        node_column(graph, rows.set_axis([0, 0, 1, 2]))
    with pytest.raises(IndexError, match="node 9"):
        node_column(graph, rows.set_axis([0, 9, 1, 2]))


def test_long_classes_with_a_common_prefix_stay_distinct(small: DebugRun) -> None:
    texts = [f"{'module.' * 40}{each % 2}" for each in range(small.graph.num_nodes)]
    column = node_column(small.graph, texts)
    assert (column.codes.tolist(), len(set(column.classes))) == ([0, 1, 0, 1], 2)
    assert max(map(len, column.classes)) <= 120


def test_lone_surrogates_can_be_sent(small: DebugRun) -> None:
    column = node_column(small.graph, ["\udcff"] * small.graph.num_nodes)
    assert json.dumps(column_reply(column).result["info"], ensure_ascii=False).encode()


def test_a_mapping_names_nodes_and_entries(small: DebugRun) -> None:
    graph = small.graph
    name = graph.names[1]
    column = node_column(graph, {0: 1.5, name: None, np.int64(2): np.float32(2.5)})
    assert (column.of, column.values[0], column.values[2]) == ("nodes", 1.5, 2.5)
    assert np.isnan(column.values[1])
    of_entries = node_column(graph, {(0, 0): 3})
    assert of_entries.of == "entries"
    assert of_entries.values is not None
    assert np.nansum(of_entries.values) == 3


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        *((np.zeros(3), ValueError, "found 3 values"), (np.zeros((2, 2)), ValueError, "one axis")),
        *(("dtype", TypeError, "name of a column"), (7, TypeError, "not from int")),
        ({0: "a", 1: 2}, TypeError, "classes are texts"),
        *(({0: [1]}, TypeError, "numbers or texts"), ({0: 1j}, TypeError, "numbers or texts")),
        *(({1.5: 1}, TypeError, "keys are"), ({True: 1}, TypeError, "keys are")),
        ({(0, 0, 0): 1}, TypeError, "an entry is"),
        ({"nothing like it": 1}, KeyError, "no node is named"),
        *(({999_999: 1}, IndexError, "999999"), ({(0, 9): 1}, IndexError, "output 9")),
    ],
)
def test_invalid_column_data_is_rejected(
    small: DebugRun, data: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        node_column(small.graph, data)


def test_column_refuses_complex_rows_and_invalid_options(small: DebugRun) -> None:
    graph = small.graph
    zeros = np.zeros(graph.num_nodes)
    with pytest.raises(TypeError, match="complex"):
        node_column(graph, zeros.astype(complex))
    with pytest.raises(TypeError, match="datetime"):
        node_column(graph, zeros.astype("datetime64[s]"))
    with pytest.raises(ValueError, match="did you mean 'linear'"):
        node_column(graph, zeros, scale="linar")
    with pytest.raises(ValueError, match="together"):
        node_column(graph, zeros, together="median")
    with pytest.raises(ValueError, match="name"):
        node_column(graph, zeros, name=" ")
    for bad in ((1, 1), (2, 1), (0, math.inf), 3, "ab"):
        with pytest.raises(ValueError, match="range of colors"):
            node_column(graph, zeros, range=bad)  # type: ignore[arg-type]


def test_known_columns_match_graph_file(resnet: DebugRun) -> None:
    graph = resnet.graph
    found = {name: known_column(resnet.parts, name) for name in KNOWN_COLUMNS}
    assert {"NCHW", "OIHW"} <= set(found["layout"].classes)
    devices = resnet.figure("graph", color_by="device").description["colors"]["classes"]
    assert {row["label"] for row in devices} == {"cpu", "cuda"}
    sizes = known_sizes(graph)
    for node in range(graph.num_nodes):
        shape = graph.shape(node)
        assert shape is not None
        assert sizes[graph.entry_id(node)] == 4 * math.prod(shape)


def test_errors_against_arrays_and_runs(resnet: DebugRun) -> None:
    (node, _), tensor = list(resnet.tensors.items())[5]
    values = tensor.numpy().astype(np.float64)
    errors = OutputErrors(resnet.parts, {node: values + 0.25})
    errors.run()
    assert errors.values[resnet.graph.entry_id(node)] == pytest.approx(0.25)
    assert np.count_nonzero(~np.isnan(errors.values)) == 1
    relative = OutputErrors(resnet.parts, {node: values * 2}, "relative")
    relative.run()
    assert relative.values[resnet.graph.entry_id(node)] == pytest.approx(0.5)
    next_to = np.nextafter(tensor.numpy(), np.float32(np.inf), dtype=np.float32)
    steps = OutputErrors(resnet.parts, {resnet.graph.names[node]: next_to}, "ulp")
    steps.run()
    assert np.nanmax(steps.values) == 1
    itself = OutputErrors(resnet.parts, resnet)
    itself.run()
    assert itself.done == itself.total == len(resnet.tensors)
    assert np.nanmax(itself.values) == 0


def test_complex_values_differ_in_both_of_their_parts() -> None:
    mine, theirs = np.array([1 + 2j, 3]), np.array([1 + 5j, 3 + 4j])
    assert _difference(mine, theirs) == 4


def test_incomparable_outputs_have_no_finite_error(resnet: DebugRun) -> None:
    (node, _), tensor = next(iter(resnet.tensors.items()))
    array = tensor.numpy()
    poisoned = array.copy()
    poisoned.flat[0] = np.nan
    for reference, measure, expected in (
        (array.reshape(-1)[:-1], "absolute", math.nan),
        (array.astype(np.float64), "ulp", math.nan),
        (poisoned, "absolute", math.inf),
        (poisoned, "ulp", math.inf),
    ):
        errors = OutputErrors(resnet.parts, {node: reference}, measure)
        errors.run()
        found = errors.values[node]
        assert found == expected or (math.isnan(expected) and math.isnan(found))
    with pytest.raises(ValueError, match="known: 'absolute'"):
        OutputErrors(resnet.parts, {}, "rms")
    with pytest.raises(TypeError, match="another run"):
        OutputErrors(resnet.parts, 5)


def test_reference_with_another_graph_is_refused(resnet: DebugRun, small: DebugRun) -> None:
    with pytest.raises(ValueError, match="another graph"):
        OutputErrors(resnet.parts, small)


def asked(view: tvmdbg.GraphView, name: str) -> dict[str, Any]:
    """The columns of the answer that a view gets for one of its colors."""
    question = {"kind": "nodeColumn", "number": view._color_columns[name]["number"]}
    reply = answer(view.shown, question)
    return unpack(reply.result["columns"], reply.buffers[0])


def test_a_replaced_column_is_not_answered(small: DebugRun) -> None:
    view = tvmdbg.GraphView(small, color_by=np.zeros(small.graph.num_nodes))
    old = view._color_columns["values"]["number"]
    view.color_by = np.ones(small.graph.num_nodes)
    gc.collect()
    assert asked(view, "values")["values"].all()
    with pytest.raises(LookupError, match="replaced by a newer"):
        answer(small.facts, {"kind": "nodeColumn", "number": old})


def _without_reason(_node: object) -> None:
    raise KeyError


def test_color_by_is_both_a_name_and_callable(small: DebugRun) -> None:
    view = tvmdbg.GraphView(small)
    assert view.color_by == "kind"
    with pytest.raises(ValueError, match="no column 'dtpye'; did you mean 'dtype'"):
        view.color_by("dtpye")
    with pytest.raises(ValueError, match=r"reference=other_run\), found referenc"):
        view.color_by("error", referenc=small)
    view.color_by("dtype")
    assert (view.color_by, json.dumps(view.color_by)) == ("dtype", '"dtype"')
    view.color_by = "storage"
    assert view.color_by == "storage"
    graph = small.graph
    data = np.arange(graph.num_nodes, dtype=float)
    view.color_by = data
    assert view.color_by == "values"
    view.color_by(data, name="PSNR", unit="dB", range=(1, 3))
    assert (view.color_by, view.color_limits) == ("PSNR", (1.0, 3.0))
    assert np.array_equal(asked(view, "PSNR")["values"], data)
    view.color_by("values")
    assert view.color_limits is None
    view.color_by(lambda node: node.op_kind, name="mine")
    assert set(asked(view, "mine")) == {"codes"}
    assert tvmdbg.GraphView(small, color_by=data, color_limits=(0, 2)).color_limits == (0.0, 2.0)
    with pytest.raises(traitlets.TraitError, match="did you mean 'dtype'"):
        view.color_by = "dtyp"
    with pytest.raises(traitlets.TraitError, match="reference"):
        view.color_by = "error"
    with pytest.raises(ValueError, match="name of a built-in column"):
        view.color_by(data, name="time")
    column = dataclasses.replace(node_column(graph, data), name="health")
    with pytest.raises(traitlets.TraitError, match="name of a built-in column"):
        view.color_by = column
    with pytest.raises(ValueError, match="name of a built-in column"):
        small.figure("graph", color_by=column)
    with pytest.raises(TypeError, match="'values' takes no unit"):
        view.color_by(node_column(graph, data), unit="dB")
    with pytest.raises(traitlets.TraitError, match="color_by: KeyError"):
        view.color_by = _without_reason
    view.color_by(data, name="\udcff", unit="\udcff")
    assert str(view.color_by).encode()
    with pytest.raises(traitlets.TraitError, match="found 1 value "):
        tvmdbg.GraphView(small, color_by=[1])
    with pytest.raises(traitlets.TraitError, match="did you mean"):
        view.label = "{shap}"


def test_a_page_cannot_forge_columns(small: DebugRun) -> None:
    view = tvmdbg.GraphView(small)
    view.set_state({"_color_columns": {"evil": {"data": "x"}}})
    assert "evil" not in view._color_columns
    with pytest.raises(traitlets.TraitError):
        view.set_state({"color_by": {"0": 1}, "color_limits": [2, 1]})


@pytest.mark.parametrize(
    ("mine", "theirs", "away"),
    [
        (np.array([2**53 + 1]), np.array([2**53]), 1),
        (np.array([-128], np.int8), np.array([127], np.int8), 255),
        (np.array([0, 7], np.uint8), np.array([255, 7], np.uint8), 255),
        (np.array([2**64 - 1], np.uint64), np.array([2**64 - 3], np.uint64), 2),
    ],
)
def test_errors_of_integers_are_exact(mine: Any, theirs: Any, away: int) -> None:
    assert _difference(mine, theirs) == _difference(theirs, mine) == away


def test_errors_are_computed_in_background_and_can_be_stopped(resnet: DebugRun) -> None:
    view = tvmdbg.GraphView(resnet)
    view.color_by("error", reference=resnet)
    assert view.color_by.wait(60)
    work = view._color_columns["error"]["work"]
    assert (work["state"], work["done"]) == ("done", work["total"])
    held = threading.Event()

    class Slow(dict[Any, Any]):
        def __getitem__(self, key: Any) -> Any:
            held.wait(0.05)
            return super().__getitem__(key)

    errors = OutputErrors(resnet.parts, resnet)
    errors._tensors = Slow(resnet.tensors or {})
    view._columns._begin_errors(errors)
    view.color_by.stop()
    assert view.color_by.wait(30)
    stopped = view._color_columns["error"]["work"]
    assert stopped["state"] == "cancelled"
    assert stopped["done"] < stopped["total"]
    assert "not yet compared" in view.color_by.column.note
    held.set()
    view.color_by.go_on()
    assert view.color_by.wait(60)
    assert view._color_columns["error"]["work"]["state"] == "done"
    assert "not yet compared" not in view.color_by.column.note


def test_stopped_colors_go_on_when_they_are_chosen_again(resnet: DebugRun) -> None:
    view = tvmdbg.GraphView(resnet)
    view.color_by("error", reference=resnet, range=(0, 1))
    assert view.color_limits == (0, 1)
    view.color_by.stop()
    assert view.color_by.wait(60)
    view.color_by = "kind"
    view.color_by = "error"
    assert view.color_by.wait(60)
    assert view._color_columns["error"]["work"]["state"] == "done"


def test_replaced_work_ends_before_the_next_begins(resnet: DebugRun) -> None:
    view = tvmdbg.GraphView(resnet)
    columns = view._columns
    held, steps = threading.Event(), list[str]()

    def work(watch: Any) -> None:
        steps.append("begun")
        held.wait(60)
        steps.append("ended")
        watch(1)

    columns._begin("layout", work, lambda state, _done: steps.append(state))
    columns._begin("layout", lambda _watch: steps.append("next"), lambda _state, _done: None)
    held.set()
    assert columns.wait("layout", 60)
    assert steps == ["begun", "ended", "cancelled", "next"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_work_that_fails_is_said_to_have_ended(resnet: DebugRun) -> None:
    told: list[str] = []
    columns = tvmdbg.GraphView(resnet)._columns

    def fails(_watch: Any) -> None:
        raise SystemExit

    columns._begin("layout", fails, lambda state, _done: told.append(state))
    assert columns.wait("layout", 60)
    assert told == ["cancelled"]


def test_colors_are_computed_where_no_thread_starts(
    resnet: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tvmdbg_widgets.widgets.color_columns.HAS_THREADS", False)
    view = tvmdbg.GraphView(resnet)
    view.color_by("error", reference=resnet)
    assert view.color_by.wait(0)
    assert view._color_columns["error"]["work"]["state"] == "done"


@pytest.mark.parametrize("key", [True, (1,), (0, 0, 0), ("x", 0), 1.5, -1, 10**6, (0, 9)])
def test_references_name_entries(resnet: DebugRun, key: Any) -> None:
    with pytest.raises((TypeError, LookupError), match=r"node|entry|output"):
        OutputErrors(resnet.parts, {key: np.zeros(3)})


def test_arrays_without_numbers_have_no_error(resnet: DebugRun) -> None:
    (node, _), tensor = next(iter(resnet.tensors.items()))
    errors = OutputErrors(resnet.parts, {node: np.full(tensor.view_shape, object())})
    errors.run()
    assert np.isnan(errors.values).all()


def test_limits_that_a_page_sets_with_a_color_are_kept(small: DebugRun) -> None:
    for names in (("color_by", "color_limits"), ("color_limits", "color_by")):
        view = tvmdbg.GraphView(small, color_by="kind")
        state = {"color_by": "bytes", "color_limits": [0, 2]}
        view.set_state({name: state[name] for name in names})
        assert (view.color_by, view.color_limits) == ("bytes", (0, 2))
        view.set_state({"color_by": "dtype"})
        assert view.color_limits is None


def test_figure_and_page_show_the_column(small: DebugRun, tmp_path: Path) -> None:
    graph = small.graph
    view = tvmdbg.GraphView(small)
    name = "<b>drift</b>"
    view.color_by({0: -1.0, 1: 2.0}, name=name, unit="dB")
    view.label = "{name} of {value}"
    figure = view.figure()
    assert f"{name}: −1 dB" in figure.text
    assert figure.description["colors"]["unknown"] == graph.num_nodes - 2
    assert name not in figure.svg
    assert "&lt;b&gt;drift" in figure.svg
    page = view.save_html(tmp_path / "page.html").read_text("utf-8")
    assert name not in page
    assert re.search(r'"_color_columns": ?\{"[^"]*drift[^"]*": ?\{"number": ?0', page)


def test_figure_shows_color_classes(resnet: DebugRun) -> None:
    figure = resnet.figure("graph", color_by="device")
    assert figure.description["colors"]["classes"][0]["label"] == "cuda"
    assert "device: cpu" in figure.text
    about = {"focus": 3, "hops": 1, "label": "{op}\n{device} {layout}"}
    figure = resnet.figure("graph", color_by={0: "mine"}, **about)
    assert "cuda NCHW" in figure.svg
    figure = resnet.figure("graph", color_by=lambda node: node.op_kind)
    assert figure.description["color_by"] == "lambda"
    changed = resnet.compare_times(resnet)
    assert resnet.figure("graph", color_by=changed).description["color_by"] == "time change"


def test_figure_shows_unlisted_devices_as_unknown() -> None:
    run = tvmdbg.open(chain(["x", "a", "b"]))
    assert run.graph.device_types is None
    figure = run.figure("graph", color_by="device")
    assert "missing" not in figure.description
    assert figure.description["colors"]["unknown"] == run.graph.num_nodes
    assert "device unknown" in figure.text


def test_figure_has_no_scale_without_known_values(small: DebugRun) -> None:
    figure = small.figure("graph", color_by=[math.nan] * small.graph.num_nodes)
    colors = figure.description["colors"]
    assert (colors["low"], colors["high"]) == (None, None)
    assert colors["unknown"] == small.graph.num_nodes
    assert re.search(r">no known [^<]+</text>", figure.svg)


def test_limits_of_times_are_not_called_the_slowest() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    assert "2.571 ms (slowest)</text>" in run.figure("graph", color_by="time").svg
    svg = run.figure("graph", color_by="time", color_limits=(0, 1000)).svg
    assert ">1.000 µs</text>" in svg
    assert re.search(r">\d+ above</text>", svg)


def test_values_in_labels_are_spelled_as_given(small: DebugRun) -> None:
    values = {0: "US$$", 1: "$& more"}
    figure = small.figure("graph", color_by=values, label="{value}!")
    assert ">US$$!</text>" in figure.svg
    assert ">$&amp; more!</text>" in figure.svg


def test_slack_and_work_are_colors_of_a_run_with_times(resnet: DebugRun) -> None:
    path = resnet.critical_path()
    slack = known_column(resnet.parts, "slack")
    np.testing.assert_array_equal(slack.rows, path.slack_ns)
    critical = known_column(resnet.parts, "critical")
    assert critical.codes is not None
    on_path = critical.classes.index("critical path")
    assert set(np.flatnonzero(critical.codes == on_path)) == set(path.nodes.tolist())
    roofline = resnet.roofline()
    for name, values in (("intensity", roofline.intensity), ("flops", roofline.flops_per_s)):
        np.testing.assert_array_equal(known_column(resnet.parts, name).rows, values)
    view = tvmdbg.GraphView(resnet)
    assert view._color_columns["slack"] is None
    view.color_by("slack")
    np.testing.assert_array_equal(asked(view, "slack")["values"], path.slack_ns)
    bare = dataclasses.replace(resnet.parts, timeline=None)
    assert np.isnan(known_column(bare, "slack").rows).all()
    assert "open the dump folder" in known_column(bare, "flops").note
    assert "slack" not in tvmdbg.GraphView(tvmdbg.DebugRun(bare))._color_columns


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("mine", "theirs", "apart"),
    [
        (np.int64(-1), np.uint64(2**64 - 1), 2.0**64),
        (np.int64(-(2**63)), np.uint64(2**64 - 1), 2.0**64 + 2.0**63),
        (np.int64(2**63 - 1), np.uint64(2**63), 1.0),
        (np.int64(-(2**63)), np.int64(2**63 - 1), 2.0**64),
        (np.uint64(0), np.uint64(2**64 - 1), 2.0**64),
    ],
)
def test_differences_of_large_integers_are_exact(
    mine: np.integer, theirs: np.integer, apart: float, turned: bool
) -> None:
    pair = (
        [np.array([theirs]), np.array([mine])] if turned else [np.array([mine]), np.array([theirs])]
    )
    run = plant(Op("x", pair[0]))
    for measure in ("absolute", "ulp"):
        if measure == "ulp" and pair[0].dtype != pair[1].dtype:
            continue
        errors = OutputErrors(run.parts, {0: pair[1]}, measure)
        errors.run()
        assert errors.values.tolist() == [apart]
