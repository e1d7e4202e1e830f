"""What part of the graph a view shows, its steps and bookmarks, from Python; and its figure."""

import json
from typing import Any

import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.export.page.options import PageOptions
from tvmdbg_widgets.export.page.save import models
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.widgets import graph_navigation

#: The operators of the sample's last residual block, by node id: two convolutions in a row.
FIRST, SECOND, LAST = 56, 59, 62


@pytest.fixture
def view(run: DebugRun) -> tvmdbg.GraphView:
    return tvmdbg.GraphView(run)


def test_parts_by_id_and_name(view: tvmdbg.GraphView, run: DebugRun) -> None:
    view.upstream(run.graph.names[LAST])
    assert view.isolate == {"kind": "upstream", "nodes": [LAST], "hops": None}
    view.downstream([FIRST, SECOND])
    assert view.isolate == {"kind": "downstream", "nodes": [FIRST, SECOND], "hops": None}
    view.around(LAST, hops=2)
    assert view.isolate == {"kind": "around", "nodes": [LAST], "hops": 2}
    view.path(LAST, FIRST)
    assert view.isolate == {"kind": "path", "nodes": [LAST, FIRST], "hops": None}
    view.upstream(run.groups[3])
    assert view.isolate["nodes"] == run.groups[3].nodes.tolist()
    view.around(run.select("op:conv time>1ms"))
    assert view.isolate["nodes"] == list(run.select("op:conv time>1ms"))
    view.everything()
    assert view.isolate is None


def test_hiding_a_selection_stores_its_query(view: tvmdbg.GraphView, run: DebugRun) -> None:
    view.hide(run.select("op:softmax"), "kind=parameter")
    assert view.hidden == ["op:softmax", "kind=parameter"]


def test_upstream_without_node_uses_selection(run: DebugRun) -> None:
    view = tvmdbg.GraphView(run, session=tvmdbg.Session(run))
    with pytest.raises(ValueError, match="nothing is selected; name a node"):
        view.upstream()
    view.session.select(FIRST, LAST)
    view.upstream()
    assert view.isolate["nodes"] == [FIRST, LAST]


@pytest.mark.parametrize(
    ("wrong", "error", "told"),
    [
        (lambda view: view.path(0, 0), ValueError, "path takes two nodes, found 1"),
        (lambda view: view.path(1, 2), ValueError, "no path between #1 'p0' and #2 'p1', in"),
        (lambda view: view.upstream("p00"), KeyError, "no node is named 'p00'; did you mean 'p0'"),
        (lambda view: view.around(99), IndexError, "no node 99; ids are 0 to 71"),
        (lambda view: view.around(3, hops=-1), ValueError, "hops is an integer from 0"),
        (lambda view: view.hide("kind=convolutoin"), ValueError, "did you mean 'kind=convolution'"),
        (lambda view: view.hide("tmie>1ms"), ValueError, "time"),
        (lambda view: view.hide(""), ValueError, "a query of nothing"),
        (lambda view: view.show("kind=input"), ValueError, "no hidden query 'kind=input'"),
        (lambda view: view.go("first"), KeyError, "no bookmark 'first'; known: none"),
        (lambda view: view.forget("first"), KeyError, "no bookmark 'first'"),
        (lambda view: view.bookmark(" "), ValueError, "name must have 1 to 200 characters"),
        (lambda view: view.back(), IndexError, "nothing to go back to"),
        (lambda view: view.forward(), IndexError, "nothing to go forward to"),
    ],
)
def test_invalid_moves_raise_and_change_nothing(
    view: tvmdbg.GraphView, wrong: Any, error: type[Exception], told: str
) -> None:
    with pytest.raises(error) as raised:
        wrong(view)
    assert told in str(raised.value)
    assert (view.isolate, view.hidden, view.history, view.bookmarks) == (None, [], {}, {})


@pytest.mark.parametrize(
    ("trait", "value", "told"),
    [
        (
            "isolate",
            {"kind": "upstrem", "nodes": [1]},
            "no kind 'upstrem'; did you mean 'upstream'",
        ),
        ("isolate", {"kind": "upstream", "node": [1]}, "no field 'node'; did you mean 'nodes'"),
        ("isolate", {"kind": "path", "nodes": [1]}, "isolate: path takes two nodes, found 1"),
        ("isolate", {"kind": "upstream", "nodes": [1], "hops": 1}, "only around takes hops"),
        ("hidden", ["shape:("], "hidden: "),
        ("camera", {"node": 99}, "camera: "),
        ("camera", {"node": 1, "scale": float("nan")}, "scale of a camera must be finite"),
        ("camera", {"node": 1, "zoom": 2}, "camera: no field 'zoom'"),
        ("history", {"steps": [], "at": 3}, "history: there is no step 3 among 0"),
        ("history", {"steps": [{"isolate": {"kind": "x", "nodes": [1]}}]}, "no kind 'x'"),
        ("bookmarks", {"a": {"hiden": []}}, "bookmark 'a': no field 'hiden'; did you mean"),
        ("bookmarks", {"a": {"camera": {"node": -1}}}, "bookmark 'a': "),
    ],
)
def test_traits_reject_invalid_values(
    view: tvmdbg.GraphView, trait: str, value: object, told: str
) -> None:
    with pytest.raises(traitlets.TraitError) as raised:
        setattr(view, trait, value)
    assert told in str(raised.value)


def test_history_moves_back_and_forward_and_new_step_truncates_it(view: tvmdbg.GraphView) -> None:
    view.upstream(LAST)
    view.hide("kind=parameter")
    view.back()
    assert (view.isolate["kind"], view.hidden) == ("upstream", [])
    view.back()
    assert view.isolate is None
    view.forward()
    view.forward()
    assert (view.isolate["kind"], view.hidden) == ("upstream", ["kind=parameter"])
    view.back()
    view.downstream(FIRST)
    with pytest.raises(IndexError):
        view.forward()
    view.back()
    assert (view.isolate["kind"], view.hidden) == ("upstream", [])


def test_back_and_forward_cover_direct_trait_assignments(view: tvmdbg.GraphView) -> None:
    view.upstream(LAST)
    view.direction = "right"
    view.hidden = ["kind=input"]
    view.back()
    assert (view.isolate["kind"], view.hidden, view.direction) == ("upstream", [], "down")
    view.forward()
    assert (view.hidden, view.direction) == (["kind=input"], "right")


def test_history_restores_selection_and_is_limited(run: DebugRun) -> None:
    view = tvmdbg.GraphView(run, session=tvmdbg.Session(run))
    view.session.select(FIRST)
    view.around(FIRST)
    view.session.select(LAST)
    view.around(LAST, 2)
    view.back()
    view.back()
    assert view.session.selected == [FIRST]
    for hops in range(2 * graph_navigation.MOST_STEPS):
        view.around(FIRST, hops)
    assert len(view.history["steps"]) == graph_navigation.MOST_STEPS
    for _ in range(graph_navigation.MOST_STEPS - 1):
        view.back()
    assert view.isolate["hops"] == graph_navigation.MOST_STEPS
    found = graph_navigation.resolved(view.history["steps"], 0)
    assert found.keys() > {"isolate", "hidden", "direction"}


def test_bookmarks_restore_view_state_and_are_plain_json(
    view: tvmdbg.GraphView, run: DebugRun
) -> None:
    view.upstream(LAST)
    view.hide("op:conv2d")
    view.camera = {"node": LAST, "dy": 40}
    view.direction = "right"
    view.color_by = "kind"
    view.bookmark("convolutions")
    view.everything()
    view.direction = "down"
    view.color_by = "time"
    view.go("convolutions")
    assert (view.isolate["nodes"], view.hidden) == ([LAST], ["op:conv2d"])
    assert (view.direction, view.color_by) == ("right", "kind")
    assert view.camera == {"node": LAST, "dx": 0.0, "dy": 40.0, "scale": 1.0}
    kept = json.loads(json.dumps(view.bookmarks))
    assert tvmdbg.GraphView(run, bookmarks=kept).bookmarks == view.bookmarks
    view.forget("convolutions")
    assert view.bookmarks == {}


def test_page_starts_with_isolation_history_and_bookmarks(view: tvmdbg.GraphView) -> None:
    view.path(FIRST, LAST)
    view.hide("kind=input")
    view.bookmark("here")
    state = models(view, PageOptions(budget=10**6))["view"]
    for name in ("isolate", "hidden", "history", "bookmarks", "camera"):
        assert state[name] == getattr(view, name)


def test_debugger_graph_navigates_like_a_graph_view(run: DebugRun) -> None:
    debugger = tvmdbg.Debugger(run, session=tvmdbg.Session(run))
    graph = debugger.graph
    graph.hide("kind=parameter")
    graph.path(FIRST, LAST)
    graph.bookmark("block")
    assert (debugger.hidden, debugger.isolate["kind"]) == (["kind=parameter"], "path")
    graph.everything()
    assert (debugger.hidden, debugger.isolate) == ([], None)
    graph.back()
    debugger.graph.go("block")
    assert debugger.isolate["nodes"] == [FIRST, LAST]
    graph.show()
    graph.collapse()
    assert debugger.open_groups == []
    graph.expand(run.groups[0])
    assert debugger.open_groups == [0]
    debugger.session.select(LAST)
    graph.upstream()
    assert debugger.isolate == {"kind": "upstream", "nodes": [LAST], "hops": None}
    moves = {name for name in dir(graph) if not name.startswith("_")}
    assert moves == {name for name in moves if callable(getattr(tvmdbg.GraphView, name))}
    assert all(name in tvmdbg.Debugger.graph.__doc__ for name in moves)


def drawn(figure: Any) -> set[int]:
    return {node["id"] for node in figure.description["nodes"]}


def test_figure_shows_only_the_isolated_part(view: tvmdbg.GraphView, run: DebugRun) -> None:
    view.path(FIRST, LAST)
    assert drawn(view.figure()) == {FIRST, SECOND, LAST}
    told = "Only what lies between #56 conv2d + add + relu and #62 conv2d"
    assert told in view.figure().svg
    assert told in view.figure().text
    view.around(LAST, 1)
    assert drawn(view.figure()) == {SECOND, LAST, 65}
    assert drawn(run.figure("graph", isolate={"kind": "downstream", "nodes": [66]})) == {
        *(66, 67, 70, 71)
    }
    with pytest.raises(KeyError, match="no node is named 'x'"):
        run.figure("debugger", isolate={"kind": "upstream", "nodes": ["x"]})


def test_figure_draws_bridges_over_hidden_nodes(run: DebugRun) -> None:
    whole = drawn(run.figure("graph"))
    figure = run.figure("graph", hidden=["op:conv2d"])
    convolutions = {node.id for node in run.graph.nodes if "conv2d" in node.func_name}
    assert drawn(figure) == whole - convolutions
    bridges = [each for each in figure.description["edges"] if each["style"] == "bridge"]
    assert bridges
    assert bridges[-1] == {"source": 53, "target": 66, "through": 4, "style": "bridge"}
    assert "through hidden nodes" in figure.svg
    kinds = {run.graph.kinds[node] for node in drawn(figure)}
    assert 1 not in kinds  # parameters go with what reads them


def test_debugger_figure_shows_the_isolated_part(run: DebugRun) -> None:
    debugger = tvmdbg.Debugger(run, isolate={"kind": "path", "nodes": [FIRST, LAST]})
    assert "Only what lies between" in debugger.figure(width=900).svg
