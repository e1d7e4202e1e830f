"""Graphs that nobody should write: told as far as they are true, soon, by all that reads graphs."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from xml.etree import ElementTree as ET

import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import graph_json, null, operator

_SECONDS = 40
#: What goes up with the square of the last takes far longer than `_SECONDS`.
_FEW, _MANY = 2_000, 100_000


def document(
    names: list[str], reads: dict[int, list[int]], outputs: dict[int, int], *, each: bool = False
) -> bytes:
    """Return the graph JSON in which each node reads what `reads` says.

    With `each`, its nth operand is the nth output.
    """
    nodes = []
    for at, name in enumerate(names):
        inputs = [[source, place * each, 0] for place, source in enumerate(reads.get(at, []))]
        one = operator(name, name, inputs, outputs.get(at, 1)) if inputs else null(name)
        nodes.append(one)
    return graph_json(nodes)


def chain(count: int, name: Callable[[int], str] = lambda at: f"op{at}") -> bytes:
    names = [name(at) for at in range(count)]
    return document(names, {at: [at - 1] for at in range(1, count)}, {})


ODD = ["\x00\x1b[31m", "\u202eabc\u2066", "<b onload=1>&amp;", "\\", '"', "\ud800", "a\nb", ""]

BAD: dict[str, Callable[[int], bytes]] = {
    "empty": lambda _: document([], {}, {}),
    "one node": lambda _: document(["alone"], {}, {}),
    "cycle": lambda _: document(["x", "a", "b", "c"], {1: [3, 0], 2: [1], 3: [2]}, {}),
    "self loop": lambda _: document(["x", "a"], {1: [1, 0]}, {}),
    "dangling": lambda _: document(["x", "a", "b"], {1: [0, 99], 2: [2**31 - 1, 1]}, {}),
    "all alike": lambda many: chain(many // 5, lambda _: "same"),
    "very many operands": lambda many: document(["x", "hub"], {1: [0] * many}, {}),
    "many readers": lambda many: document(
        ["x", *["f"] * (many // 2)], {at: [0] for at in range(1, many // 2 + 1)}, {}
    ),
    "very many outputs": lambda many: document(["x", "many"], {1: [0]}, {1: many}),
    "very many tensors": lambda many: document(
        ["x", "many", "hub"], {1: [0], 2: [1] * many}, {1: many}, each=True
    ),
    "long names": lambda _: chain(4, lambda at: "n" * 1_000_000 if at == 2 else f"op{at}"),
    "odd names": lambda _: chain(len(ODD), lambda at: ODD[at]),
}


@contextmanager
def soon() -> Iterator[None]:
    """Fail what takes the processor longer."""

    def late(*_: object) -> None:
        raise TimeoutError(f"this took more than {_SECONDS} s of a processor")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.fixture(scope="module")
def opened() -> dict[tuple[str, int], tvmdbg.DebugRun]:
    return {}


SIZED = [pytest.param((name, _FEW), id=name) for name in BAD] + [
    pytest.param((name, _MANY), id=f"{name}, many", marks=pytest.mark.slow) for name in BAD
]


@pytest.fixture(params=SIZED)
def run(
    request: pytest.FixtureRequest, opened: dict[tuple[str, int], tvmdbg.DebugRun]
) -> tvmdbg.DebugRun:
    key = name, many = request.param
    if key not in opened:
        with soon():
            opened[key] = tvmdbg.open(BAD[name](many))
    return opened[key]


def test_groups_and_checks(run: tvmdbg.DebugRun) -> None:
    with soon():
        assert sorted(run.groups.order.tolist()) == list(range(run.graph.num_nodes))
        repr(run.groups).encode()
        repr(run.check()).encode()
        run.summary().encode()


def test_queries(run: tvmdbg.DebugRun) -> None:
    with soon():
        for query in ("op:same", "op*->op*", "inputs>1", "x ->> f", "/n+n+z/", "outputs>5"):
            assert all(0 <= node < len(run.graph.nodes) for node in run.select(query))  # type: ignore[union-attr]


def test_matching(run: tvmdbg.DebugRun) -> None:
    with soon():
        found = run.match(run)
        repr(found).encode()
        if run.graph.num_nodes:
            assert 0 in found.b_of(0)


def test_memory_plan(run: tvmdbg.DebugRun) -> None:
    with soon():
        assert run.graph is not None
        plan = run.memory_plan()
        assert plan.allocated >= plan.peak.bytes or plan.unplaced


def test_figure(run: tvmdbg.DebugRun) -> None:
    with soon():
        figure = run.figure("graph")
        ET.fromstring(figure.svg)  # noqa: S314 (our own)
        assert len(figure.svg) < 500_000
        figure.text.encode()
        assert figure.text.count(", #") < 1_000


def test_figure_reports_number_of_undrawn_edges() -> None:
    for reads in (200, 201):
        run = tvmdbg.open(document(["x", "hub"], {1: [0] * reads}, {}))
        figure = run.figure("graph")
        assert ("200 of 201 edges drawn" in figure.svg) == (reads > 200)
        assert ("and 1 more" in figure.text) == (reads > 200)


def test_whole_figure(run: tvmdbg.DebugRun) -> None:
    with soon():
        figure = run.figure("graph", whole=True)
        ET.fromstring(figure.svg)  # noqa: S314 (our own)


def test_dot(run: tvmdbg.DebugRun) -> None:
    with soon():
        text = run.to_dot(edge_labels=False)
        text.encode()
        assert text.count(" -> ") <= run.graph.num_edges


def test_model_explorer(run: tvmdbg.DebugRun) -> None:
    with soon():
        made = run.to_model_explorer()
        json.dumps(made.graph, allow_nan=False).encode("ascii")
        assert len(made.graph["graphs"][0]["nodes"]) == run.graph.num_nodes


def test_networkx(run: tvmdbg.DebugRun) -> None:
    with soon():
        known = int((run.graph.edge_source >= 0).sum())
        assert run.to_networkx().number_of_edges() == known
