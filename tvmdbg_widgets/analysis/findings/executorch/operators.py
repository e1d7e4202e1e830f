"""Operators and identifiers that delegates logged in their calls, and a rule on conversions.

Events are matched to operators of the program's graph by the alignment in
``formats/executorch/delegates/families.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.delegate_clock import timed_calls
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    DelegateInstruction,
    RecordedDump,
    by_backend,
    sentence,
    shortened,
    spelled,
)
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.formats.executorch.delegates.graph import node_attrs
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.executorch.delegate_graph import EXACT, ORDER, DelegateNode, Inside
from tvmdbg_widgets.model.executorch.event_nodes import MATCHED_UNSURE
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind

_SHOWN = 5
_EVENTS_NAMED = 3
_INPUT = "input"
#: Reported settings of an operator, with their usual values.
_SETTINGS: Final = {
    "kernel size": "",
    "pooling window": "",
    "stride": "1 × 1",
    "dilation": "1 × 1",
    "groups": "1",
}


class LoggedOperator(NamedTuple):
    """Log of one operator in one delegate call, per execution."""

    name: str
    call: DelegateInstruction
    ns: float
    nodes: tuple[int, ...]
    events: tuple[str, ...]
    match: str = ""
    doubtful: bool = False
    inside: Inside | None = None
    operator: DelegateNode | None = None
    serves: DelegateNode | None = None

    @property
    def is_sure(self) -> bool:
        """Whether event, operator and nodes are tied without a doubt."""
        return self.match == EXACT and not self.doubtful

    @property
    def inserted(self) -> bool:
        """Whether lowering inserted the operator: the edge program does not have it."""
        return self.of_xnnpack and self.operator is not None and self.operator.handle is None

    @property
    def of_xnnpack(self) -> bool:
        """Whether the operator is XNNPACK's; other delegates use types and handles differently."""
        return self.inside is not None and self.inside.delegate.id == "XnnpackBackend"


def logged(evidence: RunEvidence) -> dict[str, list[LoggedOperator]]:
    """Return logs by backend, in the unit of the runtime's clock."""
    recorded = evidence.recorded
    if recorded is None:
        return {}
    return {
        backend: [operator for call in calls for operator in _of_call(recorded, call)]
        for backend, calls in by_backend(timed_calls(recorded)).items()
    }


class MatchedOperator(NamedTuple):
    """The operator of an event, and how it was matched."""

    inside: Inside
    operator: DelegateNode
    match: str


def _matched(recorded: RecordedDump, call: DelegateInstruction) -> dict[int, MatchedOperator]:
    matched: dict[int, MatchedOperator] = {}
    for outer in call.rows.tolist():
        contents = recorded.files.insides.calls.get(outer)
        if contents is None or contents.alignment is None or contents.inside is None:
            continue
        graph = contents.inside.graph
        for row, event in zip(contents.events, contents.alignment.events, strict=True):
            if graph is not None and event.match in (EXACT, ORDER) and event.nodes:
                main = event.nodes[0] if event.main is None else event.main
                matched[row] = MatchedOperator(contents.inside, graph.nodes[main], event.match)
    return matched


def _of_call(recorded: RecordedDump, call: DelegateInstruction) -> Iterator[LoggedOperator]:
    dump, matched = recorded.dump, _matched(recorded, call)
    of_operator: dict[int, list[int]] = {}
    of_identifier: dict[str, list[int]] = {}
    for row in call.inner.tolist():
        if row in matched:
            of_operator.setdefault(matched[row].operator.index, []).append(row)
        else:
            of_identifier.setdefault(dump.title(row), []).append(row)
    for rows in of_operator.values():
        each = _of_operator(recorded, call, rows, matched)
        inside, operator = matched[rows[0]].inside, matched[rows[0]].operator
        if each.inserted and inside.graph is not None:
            each = _served_operator(
                recorded, each, inside, inside.graph.inserted_for.get(operator.index)
            )
        yield each
    for text, rows in of_identifier.items():
        nodes = recorded.nodes.of(rows[0]) or call.nodes
        ns = recorded.per_execution(np.array(rows))
        yield LoggedOperator(shortened(text), call, ns, nodes, (text,))


def _of_operator(
    recorded: RecordedDump,
    call: DelegateInstruction,
    rows: list[int],
    matched: Mapping[int, MatchedOperator],
) -> LoggedOperator:
    inside = matched[rows[0]].inside
    operator = matched[rows[0]].operator
    events = tuple(dict.fromkeys(recorded.dump.delegate_names[row] for row in rows))
    shown = " + ".join(map(shortened, events[:_EVENTS_NAMED]))
    nodes = tuple(sorted({node for row in rows for node in recorded.nodes.of(row)}))
    return LoggedOperator(
        f"{operator.name} ({shown})",
        call,
        recorded.per_execution(np.array(rows)),
        nodes or call.nodes,
        events,
        EXACT if all(matched[row].match == EXACT for row in rows) else ORDER,
        any(int(recorded.nodes.how[row]) == MATCHED_UNSURE for row in rows),
        inside,
        operator,
    )


def _served_operator(
    recorded: RecordedDump, each: LoggedOperator, inside: Inside, served: int | None
) -> LoggedOperator:
    if served is None or inside.graph is None:
        return each
    nodes = each.nodes
    if nodes == each.call.nodes:
        nodes = recorded.files.insides.placed.get((inside.instruction, served), ()) or nodes
    return each._replace(serves=inside.graph.nodes[served], nodes=nodes)


def fact_of(each: LoggedOperator, whole: float, more: str = "") -> str:
    """Describe a log: name, call, time, share, and more."""
    fact = f"{each.name}, {each.call.place}: {duration_text(each.ns)}, {percent(each.ns / whole)}"
    return f"{fact}; {more}" if more else fact


def facts_of(some: Iterable[LoggedOperator], whole: float) -> tuple[str, ...]:
    """List the first operators and events with their calls, shares and attributes."""
    return tuple(
        fact_of(operator, whole, "; ".join([*attributes(operator), *doubts(operator)]))
        for operator in list(some)[:_SHOWN]
        if operator.ns > 0
    )


def attributes(each: LoggedOperator) -> list[str]:
    """Describe an operator's settings and output."""
    if each.inside is None or each.inside.graph is None or each.operator is None:
        return []
    graph = each.inside.graph
    attrs = node_attrs(graph, each.operator, {})
    named = [
        f"{name} {attrs[name]}"
        for name, plain in _SETTINGS.items()
        if attrs.get(name, plain) != plain
    ]
    filters = [
        graph.values.get(value) for name, value in each.operator.inputs if name == "filter_id"
    ]
    written = [graph.values.get(value) for value in each.operator.writes]
    for what, values in (("weights", filters), ("output", written)):
        named += [f"{what} {v.dtype} {list(v.shape)}" for v in values if v is not None]
    return named


def doubts(each: LoggedOperator) -> list[str]:
    """Return why an event is not surely an operator's, or a node's."""
    reasons = ["matched by order"] if each.match == ORDER else []
    return reasons + (["its node in the graph is uncertain"] if each.doubtful else [])


def certainty(some: Sequence[LoggedOperator]) -> str:
    """Describe how events were tied to operators; empty where none is."""
    if not any(operator.operator is not None for operator in some):
        return ""
    exact = sum(operator.match == EXACT for operator in some)
    ordered = sum(operator.match == ORDER for operator in some)
    counts = [f"{exact} exactly"] if exact else []
    counts += [f"{ordered} by order"] if ordered else []
    counts += [f"{len(some) - exact - ordered} not"] if exact + ordered < len(some) else []
    return f"matched to operators of the delegate's graph: {', '.join(counts)}"


def neighbors(
    evidence: RunEvidence, each: LoggedOperator
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the edge graph's nodes that an operator of a call reads, and that read it."""
    graph, recorded = evidence.parts.graph, evidence.recorded
    if graph is None or recorded is None or each.inside is None or each.operator is None:
        return (), ()
    inside, insides = each.inside, recorded.files.insides
    if inside.graph is None or not each.call.nodes:
        return (), ()
    edges = insides.edges
    operators = set(each.call.nodes if edges is None else (e.node for e in edges.of.values()))
    passed = set(each.call.nodes) - operators
    nodes: list[tuple[int, ...]] = []
    for behind, borders, own in (
        (True, inside.graph.inputs, each.operator.reads),
        (False, inside.graph.outputs, each.operator.writes),
    ):
        left = list(_nearest_nodes(recorded, inside, each.operator, behind=behind))
        reached: dict[int, None] = {}
        while left and not set(borders).isdisjoint(own):
            node = left.pop()
            nearest = (
                [read.entry[0] for read in evidence.reads(node)]
                if behind
                else graph.edge_target[graph.edge_source == node].tolist()
            )
            left += [near for near in nearest if near in passed and near not in reached]
            reached |= dict.fromkeys(nearest)
        nodes.append(
            tuple(
                node
                for node in reached
                if node not in each.call.nodes and evidence.role(node) in ("", _INPUT)
            )
        )
    return nodes[0], nodes[1]


def _nearest_nodes(
    recorded: RecordedDump, inside: Inside, operator: DelegateNode, *, behind: bool
) -> tuple[int, ...]:
    graph, insides = inside.graph, recorded.files.insides
    if graph is None or inside.method != recorded.files.method:
        return ()
    nodes: dict[int, None] = {}
    seen: set[int] = set()
    left = [operator.index]
    while left:
        index = left.pop()
        if index in seen:
            continue
        seen.add(index)
        if placed := insides.placed.get((inside.instruction, index), ()):
            nodes |= dict.fromkeys(placed)
        elif behind:
            left += [
                reader for v in graph.nodes[index].writes for reader in graph.readers.get(v, ())
            ]
        else:
            reads = graph.nodes[index].reads
            left += [graph.producers[value] for value in reads if value in graph.producers]
    return tuple(nodes)


_MATTERS = 0.05  # least share of its calls' time
_CONVERTING = frozenset({"layout/copy", "cast/quantize"})
#: Operators of delegates that compute nothing.
_TYPES: Final = frozenset({"StaticTranspose", "StaticReshape", "Convert", "Copy"})
_NAMED = 3


@rule("delegate-conversions", Basis.TIMES)
def find_delegate_conversions(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding per backend whose conversions matter."""
    recorded = evidence.recorded
    if recorded is None or not evidence.total_ns:
        return
    for backend, events in logged(evidence).items():
        some = sorted(
            (event for event in events if event.ns > 0 and converts(event)),
            key=lambda event: -event.ns,
        )
        calls = {event.call.key: event.call for event in events}
        took = sum(recorded.per_execution(call.rows) for call in calls.values())
        if some and sum(event.ns for event in some) >= _MATTERS * took:
            yield _finding(evidence, backend, some, took)


def _finding(
    evidence: RunEvidence, backend: str, some: list[LoggedOperator], took: float
) -> Finding:
    whole, ns = evidence.total_ns, sum(event.ns for event in some)
    inserted = sum(event.ns for event in some if event.inserted)
    title = (
        f"{spelled(backend)} spends {duration_text(ns)} on layout and type conversions: "
        f"{percent(ns / took)} of its calls, {percent(ns / whole)} of the time"
    )
    if inserted:
        how_much = "all" if all(event.inserted for event in some) else duration_text(inserted)
        title += f"; {how_much} of it in operators that lowering inserted"
    known = all(event.operator is not None for event in some)
    how = certainty(some) or f"{counted(len(some), 'event')} named so (transpose, copy, convert)"
    return Finding(
        Severity.HOTSPOT,
        sentence(title),
        cut([fact_of(event, whole, _purpose(evidence, event)) for event in some]),
        Confidence.HIGH
        if known and all(event.is_sure for event in some) and not evidence.inflated
        else Confidence.MEDIUM,
        f"{how}; calls took {duration_text(took)}; shares of {evidence.whole}{evidence.inflated}",
        tuple(dict.fromkeys(node for event in some for node in event.nodes)),
        next_step="Keep one memory format from end to end. Let one call hold operators whose "
        "tensors are converted back and forth between two calls.",
        weight=ns / whole / 2,
    )


def _purpose(evidence: RunEvidence, event: LoggedOperator) -> str:
    if event.operator is None:
        return ""
    serves = "" if event.serves is None else f" for {event.serves.name}"
    words = [f"inserted by lowering{serves}" if event.inserted else "part of the program"]
    sources, targets = neighbors(evidence, event)
    words += [f"its call reads {_beyond(evidence, sources)}"] if sources else []
    words += [f"{_beyond(evidence, targets)} reads from its call"] if targets else []
    return "; ".join([*words, *doubts(event)])


def _beyond(evidence: RunEvidence, nodes: tuple[int, ...]) -> str:
    recorded = evidence.recorded
    taken = () if recorded is None else recorded.taken
    named = []
    for node in nodes[:_NAMED]:
        kind = "input" if evidence.role(node) else "another call" if node in taken else "native"
        named.append(f"{evidence.name(node)} ({kind})")
    return ", ".join(named) + (f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else "")


def converts(event: LoggedOperator) -> bool:
    """Return whether an operator or event converts a layout or a type, or copies."""
    if event.of_xnnpack and event.operator is not None:
        return event.operator.type in _TYPES
    kind = op_kind(event.events[0], NodeKind.OPERATOR)
    return kind in _CONVERTING and "pad" not in event.events[0].lower()
