"""The models in the kernel: what they take, what they send, what they free."""

import dataclasses
import gc
import math
import re
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anywidget
import numpy as np
import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tvmdbg_widgets.answers import question_scheduler as scheduler
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.widgets.run_model import RunModel, model_of
from tvmdbg_widgets.widgets.view import View

LIMIT = 120.0
DATA = Path(__file__).parents[2] / "data"
VIEWS = [
    *(tvmdbg.Debugger, tvmdbg.GraphView, tvmdbg.TensorInspector),
    *(tvmdbg.Flamechart, tvmdbg.MemoryView),
]
TENSOR = {"axes": [0, 1], "index": [0] * 4, "rows": 4, "cols": 4}

pytestmark = pytest.mark.usefixtures("bundles_or_skip")


@pytest.fixture(scope="module")
def bundles_or_skip() -> None:
    from tvmdbg_widgets.engine import STATIC

    if not (STATIC / "debugger.js").is_file():
        pytest.skip("the front ends were not built: `make bundle`")


@pytest.fixture
def run() -> DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


class Page:
    """Stands for the front end: sends questions, collects what comes back."""

    def __init__(self, model: RunModel, monkeypatch: pytest.MonkeyPatch) -> None:
        self.model = model
        self.answers: dict[str | None, tuple[dict[str, Any], list[bytes]]] = {}
        self.came = threading.Condition()
        monkeypatch.setattr(model, "send", self._receive)

    def _receive(self, content: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        with self.came:
            assert content["id"] not in self.answers or content["id"] is None
            self.answers[content["id"]] = (content, buffers or [])
            self.came.notify_all()

    def ask(self, message: object) -> None:
        self.model._handle_custom_msg(message, [])

    def wait(self, *ids: str | None) -> list[dict[str, Any]]:
        with self.came:
            assert self.came.wait_for(lambda: set(ids) <= set(self.answers), LIMIT)
        return [self.answers[each][0] for each in ids]


@pytest.fixture
def page(run: DebugRun, monkeypatch: pytest.MonkeyPatch) -> Page:
    return Page(model_of(run.facts), monkeypatch)


def hold(monkeypatch: pytest.MonkeyPatch, count: int) -> Callable[[], None]:
    """Keep the first answers waiting, and with them the workers; the result lets them go."""
    free, started = threading.Event(), threading.Semaphore(0)
    real = Answers.reply

    def held(answers: Answers, question: Question, *rest: Any) -> Any:
        if question.flag("hold"):
            started.release()
            assert free.wait(LIMIT)
        return real(answers, question, *rest)

    monkeypatch.setattr(Answers, "reply", held)

    def release() -> None:
        for _ in range(count):
            assert started.acquire(timeout=LIMIT)
        free.set()

    return release


def test_errors_are_returned_as_answers(page: Page) -> None:
    page.ask({"id": "a", "kind": "nonsense"})
    page.ask({"id": "b", "kind": "node", "node": 10**6})
    page.ask({"id": "c", "kind": 5})
    page.ask({"id": "d", "kind": "tensor", **TENSOR, "entry": [10**6, 0]})
    a, b, c, d = page.wait("a", "b", "c", "d")
    assert "unknown question 'nonsense'" in a["error"]
    assert "1000000" in b["error"]
    assert "kind" in c["error"]
    assert "1000000" in d["error"]


def test_bug_in_answer_is_reported_and_logged(
    page: Page, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("x")

    monkeypatch.setattr(Answers, "reply", broken)
    page.ask({"id": "a", "kind": "graph"})
    assert page.wait("a")[0]["error"] == "ZeroDivisionError: x"
    assert "answering graph failed" in caplog.text


@pytest.mark.parametrize("message", [None, 5, "x", [], {}, {"kind": None}, {"id": 5, "kind": 5}])
def test_malformed_question_does_not_block_next_one(page: Page, message: object) -> None:
    page.ask(message)
    page.ask({"id": "after", "kind": "node", "node": 1})
    assert page.wait("after")[0]["result"]["id"] == 1


def test_answers_are_computed_off_the_main_thread(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    real = Answers.reply
    monkeypatch.setattr(
        Answers,
        "reply",
        lambda *asked: (names.append(threading.current_thread().name), real(*asked))[1],
    )
    page.ask({"id": "a", "kind": "graph"})
    page.wait("a")
    monkeypatch.setattr(scheduler, "HAS_THREADS", False)
    page.ask({"id": "b", "kind": "graph"})
    assert "b" in page.answers
    assert [name.startswith("tvmdbg") for name in names] == [True, False]
    assert page.answers["a"] == page.answers["b"] or page.answers["a"][1] == page.answers["b"][1]


def test_cancelled_findings_scan_resumes_on_request(page: Page) -> None:
    page.ask({"id": "stop", "kind": "cancelFindings"})
    assert page.wait("stop")[0]["result"]["state"] == "cancelled"
    for i, go_on in enumerate((None, False, "true", 1)):
        page.ask({"id": f"not{i}", "kind": "findings", "goOn": go_on})
        assert page.wait(f"not{i}")[0]["result"]["state"] == "cancelled"
    page.ask({"id": "on", "kind": "findings", "goOn": True})
    assert page.wait("on")[0]["result"]["state"] in ("scanning", "done")
    page.model._run.search.run()
    page.ask({"id": "end", "kind": "findings"})
    answer = page.wait("end")[0]["result"]
    assert (answer["state"], answer["done"]) == ("done", len(page.model._run.tensors))


def test_close_frees_model_and_workers(
    run: DebugRun, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_WORKERS", 2)
    release = hold(monkeypatch, 2)
    for i in range(8):
        page.ask({"id": f"q{i}", "kind": "graph", "hold": True})
    pool = model_of(run.facts)._scheduler._pool
    model_of(run.facts).close()
    release()
    pool.shutdown(wait=True)
    assert set(page.answers) <= {"q0", "q1"}
    assert model_of(run.facts).comm is None
    assert model_of(run.facts)._scheduler._pool is None


def test_closing_the_widgets_releases_the_run() -> None:
    before = set(anywidget_instances())
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    tensors = weakref.ref(run.tensors)
    debugger = run.debugger()
    for widget in (debugger, run.session, model_of(run.facts)):
        widget.close()
    assert set(anywidget_instances()) <= before
    del run, debugger, widget
    gc.collect()
    assert tensors() is None


def anywidget_instances() -> list[str]:
    from ipywidgets.widgets.widget import _instances

    return [key for key, each in _instances.items() if isinstance(each, anywidget.AnyWidget)]


def test_run_has_one_debugger_until_it_is_closed(run: DebugRun) -> None:
    first = run.debugger()
    assert run.debugger() is first
    assert first.session is run.session
    assert first.run is model_of(run.facts)
    first.close()
    assert run.debugger() is not first
    other = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    assert other.debugger() is not run.debugger()
    assert other.session is not run.session


def test_view_can_have_a_separate_session(run: DebugRun) -> None:
    own = tvmdbg.Session(run)
    view = tvmdbg.GraphView(run, session=own)
    own.selected = [3]
    assert view.session is own
    assert run.session.selected == []


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: kind.__name__)
def test_view_mimebundle_contains_static_figure(run: DebugRun, kind: type[View]) -> None:
    data, _ = kind(run)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert run.title in data["text/plain"]
    assert data["image/svg+xml"].startswith("<svg")
    (image,) = re.findall(r'src="data:image/svg\+xml,([^"]*)">$', data["text/html"])
    assert unquote(image).replace("'", '"') == data["image/svg+xml"]
    assert data["text/html"].startswith("<img ")
    assert sum(len(str(each).encode()) for each in data.values()) <= 100_000


def test_a_run_shows_itself_as_its_debugger(run: DebugRun) -> None:
    data, _ = run._repr_mimebundle_()
    shown = data["application/vnd.jupyter.widget-view+json"]
    assert shown["model_id"] == run.debugger().model_id


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: kind.__name__)
def test_view_requires_a_run_and_names_it_in_repr(run: DebugRun, kind: type[View]) -> None:
    with pytest.raises(TypeError, match=f"{kind.__name__} shows a run, not str: pass"):
        kind("dump")  # type: ignore[arg-type]
    assert repr(kind(run)).startswith(f"<{kind.__name__} of {run.title!r}, live in a notebook")


def test_run_offers_public_methods_and_hides_internals(run: DebugRun) -> None:
    offered = {name for name in dir(run) if not name.startswith("_")}
    assert {"select", "groups", "to_dot", "memory_plan"} <= offered
    assert not offered & {"facts", "known_findings", "model", "search"}


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: kind.__name__)
def test_an_unknown_argument_is_named(run: DebugRun, kind: type[View]) -> None:
    with pytest.raises(TypeError, match=r"no argument 'color'; did you mean"):
        kind(run, color="red")
    with pytest.raises(TypeError, match="_esm"):
        kind(run, _esm="alert(1)")
    with pytest.raises(traitlets.TraitError):
        kind(run, height=3)


SHOWN = {
    "color_range": ["plane", "robust", (0.0, 2.5)],
    "color_scale": ["log", "symlog"],
    "entry": [(3, 0), None],
    "axes": [(0, 1), (None, 1), None],
    "index": [[0, 1], None],
    "color_map": ["sequential", "diverging"],
    "data_layout": ["", "NCHW8c", "OIHW4i8o", None],
    "data_sizes": [{"C": 3}, {"C": 3, "W": 2**53}, {}, None],
    "cells": ["least", "largest", "extreme", "mean"],
    "along": [0, 3, None],
    "reading": ["packed", None],
    "region": [(0, 2, 3, 4), None],
    "value_format": ["hex", "bits", "dequantized"],
    "scale": [0.125],
    "zero_point": [-128],
}
NO_SUCH = {
    "color_range": ["all", (1.0, 0.0), (0.0, float("nan")), (0.0,), None],
    "color_scale": ["cubic"],
    "entry": [(1,), (1, "a"), 10**6],
    "axes": [(0, 1, 2), ("a", 1), 4],
    "index": ["01", [0.5], 3],
    "color_map": ["jet", None],
    "data_layout": ["N<b>", 7],
    "data_sizes": [
        *({"C": each} for each in (0, -1, 2**53 + 1, 1.0, True, None, "3", [3], float("nan"))),
        *({each: 3} for each in ("c", "CC", "", "Ä", "1", 5, None)),
        *([("C", 3)], "C=3", 3, {"C": {"C": 3}}),
    ],
    "cells": ["median", None, 0],
    "along": [-1, 0.5, "1"],
    "reading": [1],
    "region": [(0, 0, 0, 1), (-1, 0, 1, 1), (0, 0, 1)],
    "value_format": ["octal"],
    "scale": [float("inf"), "1"],
    "zero_point": [0.5, 2**60],
}


def _odd_types(value: Any, place: str) -> list[str]:
    if type(value) is dict:
        keys = [f"a key of {place}: {type(key).__name__}" for key in value if type(key) is not str]
        return keys + [each for key in value for each in _odd_types(value[key], f"{place}.{key}")]
    if type(value) in (list, tuple):
        return [each for i, item in enumerate(value) for each in _odd_types(item, f"{place}[{i}]")]
    known = type(value) in (str, int, float, bool, type(None), bytes, memoryview)
    return [] if known else [f"{place}: {type(value).__name__}"]


def test_model_state_contains_only_plain_values(run: DebugRun) -> None:
    """Jupyter's encoder takes what is derived from texts and numbers; marimo's does not."""
    views: list[Any] = [kind(run) for kind in VIEWS]
    views.append(tvmdbg.ComparisonView(run, tvmdbg.open(tvmdbg.samples.resnet20_cifar)))
    for graph in views[:2]:
        graph.color_by(np.arange(float(run.graph.num_nodes)), name="rank", range=(np.int64(1), 5))
        if isinstance(graph, tvmdbg.GraphView):
            graph.bookmark("now")
    for view in views:
        for model in (view, view.run, view.session):
            assert _odd_types(model.get_state(), type(model).__name__) == []


@pytest.mark.parametrize("kind", [tvmdbg.TensorInspector, tvmdbg.Debugger])
def test_tensor_display_options_can_be_set_and_read_back(run: DebugRun, kind: type[View]) -> None:
    for name, choices in SHOWN.items():
        for choice in choices:
            view = kind(run, **{name: choice})
            assert getattr(view, name) == choice
            assert view.get_state()[name] == choice
            view.close()
    view = kind(run)
    for name, choices in NO_SUCH.items():
        for choice in choices:
            with pytest.raises(traitlets.TraitError):
                setattr(view, name, choice)


@pytest.mark.parametrize("kind", [tvmdbg.TensorInspector, tvmdbg.Debugger])
def test_invalid_trait_error_shows_allowed_values(run: DebugRun, kind: type[View]) -> None:
    view = kind(run, data_layout="NCHW8c", data_sizes={"C": 3})
    for name, bad, says in [
        ("data_sizes", {"c": 3}, "upper-case letter, such as {\"C\": 3}, found {'c': 3}"),
        ("data_sizes", {"C": 0}, "from 1 on"),
        ("data_sizes", {"D": 3}, "D is not an axis of NCHW8c, which has N, C, H, W"),
        ("data_layout", "8c?", "NCHW or NCHW8c"),
        ("cells", "median", "'mean', 'least', 'largest', 'extreme'"),
        ("color_scale", "cubic", "'linear', 'log', 'symlog'"),
        ("color_map", "jet", "'auto', 'sequential', 'diverging'"),
        ("color_range", (2.0, 1.0), "(low, high) in values, both finite"),
        ("value_format", "octal", "'number', 'hex', 'bits', 'dequantized'"),
        ("scale", float("nan"), "expected a finite number"),
        ("along", -1, "expected at least 0"),
        ("region", (0, 0, 0, 1), "expected at least 1"),
    ]:
        with pytest.raises(traitlets.TraitError) as refused:
            setattr(view, name, bad)
        assert says in str(refused.value)
    assert (view.data_layout, view.data_sizes) == ("NCHW8c", {"C": 3})
    with pytest.raises(traitlets.TraitError, match="D is not an axis of NCHW8c"):
        kind(run, data_sizes={"D": 3}, data_layout="NCHW8c")


def test_data_sizes_are_copied_by_the_view(run: DebugRun) -> None:
    given = {"C": 3}
    view = tvmdbg.TensorInspector(run, data_sizes=given)
    given["C"] = 99
    assert view.data_sizes == {"C": 3}
    with view.hold_trait_notifications():
        view.data_sizes = {"I": 2}
        view.data_layout = "OIHW"
    view.data_layout = "NHWC"
    assert view.data_sizes == {"I": 2}


def test_debugger_has_separate_show_and_tensor_show(run: DebugRun) -> None:
    assert tvmdbg.TensorInspector(run, show="line plot").show == "line plot"
    debugger = tvmdbg.Debugger(run, tensor_show="channels", show="table")
    assert (debugger.tensor_show, debugger.show) == ("channels", "table")
    with pytest.raises(traitlets.TraitError):
        tvmdbg.TensorInspector(run, show="table")


@pytest.mark.parametrize(
    ("earlier", "now"), [("picture", "heatmap"), ("profile", "line plot"), ("Profile", "line plot")]
)
def test_earlier_names_of_tensor_views_are_taken(run: DebugRun, earlier: str, now: str) -> None:
    view, debugger = tvmdbg.TensorInspector(run, show=earlier), tvmdbg.Debugger(run)
    assert view.show == now
    debugger.tensor_show = earlier
    assert debugger.tensor_show == now
    view.set_state({"show": earlier})
    assert view.show == now
    assert run.figure("tensor", show=earlier).text == run.figure("tensor", show=now).text


def test_earlier_spelling_of_a_value_format_is_taken(run: DebugRun) -> None:
    view = tvmdbg.TensorInspector(run, value_format="dequantised", scale=0.5)
    assert view.value_format == "dequantized"
    view.value_format = "hex"
    view.set_state({"value_format": "dequantised"})
    assert view.value_format == "dequantized"


def test_entry_without_graph_is_a_tensor_of_the_run(tmp_path: Path) -> None:
    named = {f"{k}____topo-index:{k}____output-num:0": np.ones(3) for k in range(2)}
    write_params(tmp_path / "output_tensors.params", named)
    run = tvmdbg.open(tmp_path / "output_tensors.params")
    assert tvmdbg.TensorInspector(run, entry=1).entry == (1, 0)
    for bad, why in (
        (999, "ids are 0 to 1"),
        ((1, 5), "its outputs are"),
    ):
        with pytest.raises(traitlets.TraitError, match=why):
            tvmdbg.TensorInspector(run, entry=bad)
        with pytest.raises(KeyError, match=why):
            run.figure("tensor", entry=bad)


def test_session_rejects_nodes_missing_from_run(run: DebugRun) -> None:
    session, last = run.session, run.graph.num_nodes - 1
    for bad in ([-1], [last + 1], [0, 10**9], ["a"], [1.5], None, "a", {}):
        with pytest.raises(traitlets.TraitError):
            session.selected = bad
    session.selected = [last]
    assert session.node.id == last
    for name, bad in (("entry", (1,)), ("entry", "12"), ("slice", (1, "a")), ("time_range", 5)):
        with pytest.raises(traitlets.TraitError):
            setattr(session, name, bad)


def test_session_accepts_nodes_in_many_forms(run: DebugRun) -> None:
    session, graph = run.session, run.graph
    group = run.groups[1]
    for given, ids in (
        *((4, [4]), (graph.nodes[4], [4]), ([graph.nodes[4], np.int64(1)], [4, 1])),
        *((np.array([4, 1]), [4, 1]), (group, group.nodes.tolist())),
        *((graph.subgraph([4, 1]), [1, 4]), (run.select("#4"), [4])),
    ):
        session.selected = given
        assert session.selected == ids
        assert all(type(each) is int for each in session.selected)


def test_select_by_id_and_name_notifies_once(run: DebugRun) -> None:
    session = run.session
    told: list[str] = []
    session.observe(lambda change: told.append(change["name"]))
    name = run.graph.names[4]
    session.select(1, name)
    assert (session.selected, session.entry, session.source) == ([1, 4], (4, 0), "python")
    assert session.tensor is run.tensors[4, 0]
    session.select()
    assert (session.selected, session.entry, session.tensor) == ([], None, None)
    with pytest.raises(KeyError):
        session.select("no such node")
    with pytest.raises(IndexError):
        session.select(10**6)
    with pytest.raises(IndexError):
        session.select(4, output=9)
    assert session.selected == []
    assert told.count("selected") == 2


def test_entry_and_slice_belong_to_selected_node(run: DebugRun) -> None:
    session = run.session
    session.select(57)
    session.slice = (57, 0)
    session.selected = [13]
    assert (session.entry, session.slice) == ((13, 0), None)
    assert session.tensor is run.tensors.get((13, 0))
    session.selected = [13, 57]
    assert session.entry == (13, 0), "still selected"
    session.entry = (1, 0)
    assert session.selected == [1], "what is looked at becomes selected"
    session.slice = (57, 0)
    assert (session.selected, session.entry) == ([57], (57, 0))
    session.selected = []
    assert (session.entry, session.slice, session.tensor) == (None, None, None)
    for bad in (-1, run.graph.num_nodes):
        for name in ("entry", "slice"):
            with pytest.raises(traitlets.TraitError, match=f"{name}: .*{bad}"):
                setattr(session, name, (bad, 0))


def test_page_sets_selection_and_entry_together() -> None:
    run = tvmdbg.open(DATA / "graph/split_multi_v0.19")
    node = next(each.id for each in run.graph.nodes if each.num_outputs > 1)
    session = run.session
    session.set_state({"selected": [node], "entry": [node, 1], "slice": None})
    assert (session.selected, session.entry) == ([node], (node, 1))
    session.set_state({"selected": [node, 0]})
    assert session.entry == (node, 1)
    session.set_state({"selected": [0]})
    assert session.entry == (0, 0)
    assert tvmdbg.Session(run, selected=[node]).entry == (node, 0)


def test_models_do_not_shadow_ipywidgets_names() -> None:
    class Plain(anywidget.AnyWidget):
        """What traitlets itself adds to every class."""

    meant = {"open", "close", "_repr_mimebundle_", "_view_name", "_esm", "_css", *vars(Plain)}
    for kind in (*VIEWS, RunModel, tvmdbg.Session, View):
        own = {name for name in vars(kind) if not name.startswith("__")}
        assert own & set(dir(anywidget.AnyWidget)) <= meant, kind


@pytest.mark.parametrize(
    ("part", "collapsed"),
    [
        ({"graph"}, ["tensor", "timeline"]),
        ({"timeline"}, ["graph", "tensor"]),
        ({"graph", "tensors"}, ["timeline"]),
        ({"graph", "tensors", "timeline"}, []),
        (set(), []),
    ],
)
def test_views_without_their_part_are_folded_away(
    run: DebugRun, part: set[str], collapsed: list[str]
) -> None:
    left_out = {name: None for name in ("graph", "tensors", "timeline") if name not in part}
    partial = tvmdbg.DebugRun(dataclasses.replace(run.parts, **left_out))
    assert tvmdbg.Debugger(partial).collapsed == collapsed
    assert tvmdbg.Debugger(partial, collapsed=[]).collapsed == []
    assert tvmdbg.Debugger(partial, collapsed=["graph"]).collapsed == ["graph"]


@pytest.mark.parametrize("wrong", [(5.0, 1.0), (3.0, 3.0), (float("nan"), 1.0), (0.0, math.inf)])
def test_time_range_must_end_after_it_starts(wrong: tuple[float, float], data: Path) -> None:
    run = tvmdbg.open(data / "times/split_multi_v0.19")
    holders: tuple[Any, ...] = (run.session, tvmdbg.Flamechart(run))
    for held in holders:
        with pytest.raises(traitlets.TraitError, match="start < end"):
            held.time_range = wrong
        held.time_range = (1, 2.5)
        assert held.time_range == (1.0, 2.5)
        held.time_range = None
