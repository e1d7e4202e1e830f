"""Notes and tours: what the session takes, what it refuses and how it says so."""

from typing import Any

import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.run import DebugRun

LAST = 71  # of the 72 nodes in the graph.json of the sample
MIDDLE = 38


@pytest.fixture
def run() -> DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


def step(text: str, **fields: Any) -> dict[str, Any]:
    plain = {"nodes": [], "entry": None, "slice": None, "time_range": None, "view": None}
    return {"text": text, **plain, **fields}


def test_a_note_is_written_replaced_and_taken_away(run: DebugRun) -> None:
    view = tvmdbg.GraphView(run)
    name = run.graph.names[4]
    view.note(MIDDLE, "  overflows here\n<b>not markup</b> ")
    view.note(name, "by name")
    assert run.session.notes == {"4": "by name", "38": "overflows here\n<b>not markup</b>"}
    tvmdbg.Flamechart(run).note(4, "again")
    assert run.session.notes["4"] == "again"
    for nothing in ("", "  \n", None):
        run.session.note(4, "x")
        view.note(4, nothing)
        assert list(run.session.notes) == ["38"]
    run.session.notes = {4: "an int will do", name: "and a name", "5": ""}
    assert run.session.notes == {"4": "and a name"}


def test_a_note_needs_a_node_and_a_text(run: DebugRun) -> None:
    note = run.session.note
    with pytest.raises(IndexError, match=f"no node {LAST + 1}; ids are 0 to {LAST}"):
        note(LAST + 1, "x")
    with pytest.raises(IndexError):
        note(-1, "x")
    with pytest.raises(KeyError, match="no node is named 'conv9'"):
        note("conv9", "x")
    with pytest.raises(TypeError, match="must be a str, not int"):
        note(1, 5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="id or name"):
        note(True, "x")
    with pytest.raises(ValueError, match="at most 2,000 characters, this one has 2,001"):
        note(1, "x" * 2001)
    assert run.session.notes == {}


@pytest.mark.parametrize(
    "hostile",
    [5, None, [], {"1": 5}, {"x": "y"}, {"-1": "x"}, {"72": "x"}, {"1": "x" * 2001}, {"1.5": "x"}],
)
def test_notes_from_a_page_are_checked(run: DebugRun, hostile: object) -> None:
    with pytest.raises(traitlets.TraitError):
        run.session.notes = hostile


def test_every_form_of_a_step(run: DebugRun) -> None:
    name = run.graph.names[62]
    shown = run.tour(
        [
            "Look at this network.",
            (MIDDLE, "a node"),
            (name, " by name \n\nsecond paragraph "),
            ([35, MIDDLE], "two nodes"),
            ((MIDDLE, 0), "an output"),
            {"text": "all", "node": 35, "entry": (MIDDLE, 0), "view": "tensor"},
            {"text": "when", "slice": (62, 0), "time_range": (0, 5e6), "view": "timeline"},
        ]
    )
    assert shown is run.debugger()
    assert run.session.tour == [
        step("Look at this network."),
        step("a node", nodes=[38], entry=[38, 0]),
        step("by name \n\nsecond paragraph", nodes=[62], entry=[62, 0]),
        step("two nodes", nodes=[35, 38], entry=[38, 0]),
        step("an output", nodes=[38], entry=[38, 0]),
        step("all", nodes=[35, 38], entry=[38, 0], view="tensor"),
        step(
            "when", nodes=[62], entry=[62, 0], slice=[62, 0], time_range=[0.0, 5e6], view="timeline"
        ),
    ]
    assert run.session.tour_step == 0


def test_tour_step_selects_its_nodes_and_ranges(run: DebugRun) -> None:
    session = run.session
    run.tour([(MIDDLE, "one"), {"text": "two", "slice": (62, 0), "time_range": (1, 2)}, "three"])
    assert (session.selected, session.entry, session.source) == ([38], (38, 0), "tour")
    session.tour_step = 1
    assert (session.selected, session.slice, session.time_range) == ([62], (62, 0), (1.0, 2.0))
    session.tour_step = 2
    assert (session.selected, session.entry, session.time_range) == ([], None, None)
    session.tour_step = None
    session.selected = [4]
    session.tour_step = 0
    assert session.selected == [38]
    for beyond in (-1, 3, "1", 0.5):
        with pytest.raises(traitlets.TraitError):
            session.tour_step = beyond
    session.tour = session.tour[:1]
    session.tour_step = 0
    session.tour = []
    assert session.tour_step is None


def test_new_tour_resets_step_and_selection(run: DebugRun) -> None:
    run.tour([(MIDDLE, "one"), (4, "two")])
    run.session.tour_step = 1
    run.session.selected = [9]
    run.tour([(5, "other")])
    assert (run.session.tour_step, run.session.selected) == (0, [5])


@pytest.mark.parametrize(
    ("bad", "kind", "told"),
    [
        ((10**6, "x"), IndexError, "step 2 of 2: no node 1000000; ids are 0 to 71"),
        (("conv9", "x"), KeyError, "step 2 of 2: no node is named 'conv9'"),
        (((4, 9), "x"), IndexError, "step 2 of 2: no output 9 of node 4; it has one, 0"),
        ((4, 5), TypeError, "step 2 of 2: a text must be a str, not int"),
        ((4,), TypeError, r"step 2 of 2: \(4,\) is not a step; write"),
        (4, TypeError, "step 2 of 2: 4 is not a step"),
        ({"node": 4}, TypeError, "step 2 of 2: no text"),
        ({"text": "x", "nod": 4}, TypeError, "no field 'nod'; did you mean 'node' or 'nodes'"),
        ({"text": "x", "view": "map"}, ValueError, "no view 'map'; known: 'findings', 'graph'"),
        ({"text": "x", "slice": (4, 99)}, IndexError, "no slice 99 of node 4, which has"),
        ({"text": "x", "time_range": (5, 5)}, ValueError, "start < end"),
        ({"text": "x", "time_range": (5, 10**400)}, ValueError, "both finite"),
        ({"text": "x", "time_range": ("a", 5)}, ValueError, "start, end.* in nanoseconds"),
        ({"text": "x", "entry": (4,)}, TypeError, r"entry must be \(node, output\), not \(4,\)"),
        ({"text": "x" * 10_001}, ValueError, "at most 10,000 characters"),
    ],
)
def test_invalid_tour_step_is_refused_with_reason(
    run: DebugRun, bad: object, kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told):
        run.tour([(MIDDLE, "fine"), bad])  # type: ignore[list-item]
    assert (run.session.tour, run.session.tour_step) == ([], None)
    with pytest.raises(traitlets.TraitError, match="tour: "):
        run.session.tour = [bad]


def test_tour_requires_a_list_of_steps(run: DebugRun) -> None:
    with pytest.raises(ValueError, match="at least one step"):
        run.tour([])
    with pytest.raises(TypeError, match="a tour is a list of steps"):
        run.tour("abc")


def test_a_tour_of_a_run_without_a_graph() -> None:
    dump = tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0"
    run = tvmdbg.open(dump / "output_tensors.params")
    run.tour([((4, 0), "by id")])
    assert run.session.tensor is run.tensors[4, 0]
    with pytest.raises(KeyError, match="no tensor of a node named 'a'"):
        run.tour([("a", "by name")])
