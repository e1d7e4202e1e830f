"""The operators of delegates on the nodes of a run's graph, and the events that are theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.edge_nodes import edge_nodes
from tvmdbg_widgets.formats.executorch.delegates.graph import delegate_tensors, graph_of
from tvmdbg_widgets.formats.executorch.delegates.node_facts import (
    first_alignment,
    match_facts,
    run_facts,
)
from tvmdbg_widgets.formats.executorch.event_timeline import timeline_of
from tvmdbg_widgets.model.base.text import Issue, Issues
from tvmdbg_widgets.model.executorch.delegate_graph import (
    EXACT,
    ORDER,
    CallEvents,
    DelegateGraph,
    EventMatch,
    Inside,
    Insides,
)
from tvmdbg_widgets.model.executorch.etdump import DelegateCalls, ETDump, EventKind
from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram
from tvmdbg_widgets.model.executorch.event_nodes import (
    MATCHED,
    MATCHED_BY_ORDER,
    MATCHED_UNSURE,
    WHOLE_INSTRUCTION,
    EventNodes,
    ExecuTorchFiles,
    Facts,
)
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import Provenance, RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensor, Tensors
from tvmdbg_widgets.model.timeline.timeline import Timeline

Instruction = tuple[int, int]

_SURE: Final = (EXACT, ORDER)
#: What lowering inserted, by the type of the operator.
_INSERTED: Final = {
    "StaticTranspose": "layout conversion",
    "StaticReshape": "reshaping",
    "Convert": "type conversion",
}


def placed_on_edges(
    insides: Insides, record: ETRecord, method: str, program: ExportedProgram
) -> Insides:
    """Return the same with the operators of a method's delegates placed on the edge graph."""
    graphs = {
        at[1]: each.graph for at, each in insides.of(method).items() if at[0] == 0 and each.graph
    }
    calls = (record.delegate_map or {}).get(method, {})
    told = {
        at: each.identifiers for at in graphs if (each := calls.get(str(at))) and each.identifiers
    }
    handles = (record.debug_handle_map or {}).get(method, {})
    edges = edge_nodes(graphs, program, handles, told)
    placed = {
        (at, node.index): edges.nodes_of(at, node.index)
        for at, graph in graphs.items()
        for node in graph.nodes
    }
    return replace(insides, edges=edges, placed=placed)


def placed_in_program(
    insides: Insides, method: str, opened: Mapping[Instruction, tuple[int, ...]]
) -> Insides:
    """Return the same with the operators of a method's delegates placed on its opened graph."""
    placed = {
        (at[1], node.index): (place,)
        for at, inside in insides.of(method).items()
        if inside.graph is not None
        for node, place in zip(inside.graph.nodes, opened.get(at, ()), strict=False)
    }
    return replace(insides, placed=placed)


def with_matches(joined: EventNodes, dump: ETDump, insides: Insides, method: str) -> EventNodes:
    """Return the nodes of events, of matched ones those of the delegate's operators.

    What is left of a call is a set apart, and so is the time of what lowering inserted and no node
    of the graph stands for. A call whose events are those of another program has no nodes, nor has
    one whose delegate is of another export than the edge graph.
    """
    made = _Matches(joined, dump, insides, method)
    for call, each in insides.calls.items():
        if each.inside is not None and each.inside.method != method:
            made.elsewhere |= dict.fromkeys((call, *each.events), each.inside.method)
        elif joined.set_of[call] >= 0:
            made.add(call, each)
    return made.result()


class _Matches:
    """Sets of nodes under construction."""

    def __init__(self, joined: EventNodes, dump: ETDump, insides: Insides, method: str) -> None:
        self._joined, self._dump, self._insides, self._method = joined, dump, insides, method
        self._foreign = DelegateCalls.of(dump).foreign
        self._set_of, self._how = joined.set_of.copy(), joined.how.copy()
        self._sets = list(joined.sets)
        self._numbers = {nodes: number for number, nodes in enumerate(self._sets)}
        self._titles: dict[int, str] = {}
        self._apart: dict[tuple[Instruction, str], int] = {}
        self._unmatched: set[int] = set()
        self._known: dict[int, tuple[Facts, ...]] = {}
        self._about: dict[int, Facts] = {}
        self.elsewhere: dict[int, str] = {}

    def add(self, call: int, each: CallEvents) -> None:
        """Take the events of a call of the graph's method."""
        inside, alignment = each.inside, each.alignment
        if inside is None or inside.graph is None or alignment is None:
            return
        if not self._belongs(each):
            self._set_of[[call, *each.events]] = -1
            return
        if not any(match.match in _SURE for match in alignment.events):
            return
        whole = self._joined.sets[int(self._joined.set_of[call])]
        rest = int(self._joined.set_of[call])
        if not any(self._foreign[event] for event in each.events):
            # Times of another clock are no part of the call's.
            rest = self._set_apart(inside.at, whole, "")
        self._set_of[call] = rest
        if id(alignment) not in self._known:
            self._known[id(alignment)] = match_facts(inside.graph, alignment)
        self._about |= dict(zip(each.events, self._known[id(alignment)], strict=True))
        for event, match in zip(each.events, alignment.events, strict=True):
            if match.match not in _SURE:
                self._set_of[event], self._how[event] = rest, WHOLE_INSTRUCTION
                self._unmatched.add(rest)
                continue
            nodes, self._how[event] = _placed(self._insides, inside, match)
            self._set_of[event] = (
                self._set(nodes)
                if nodes
                else self._set_apart(inside.at, whole, _title(inside.graph, match))
            )

    def _belongs(self, each: CallEvents) -> bool:
        """Whether events, program and graph may be of the same export."""
        edges, inside = self._insides.edges, each.inside
        foreign = frozenset[int]() if edges is None else edges.contradicted
        return each.fits and (inside is None or inside.instruction not in foreign)

    def _set(self, nodes: tuple[int, ...]) -> int:
        if nodes not in self._numbers:
            self._numbers[nodes] = len(self._sets)
            self._sets.append(nodes)
        return self._numbers[nodes]

    def _set_apart(self, at: Instruction, nodes: tuple[int, ...], title: str) -> int:
        """Return the number of a set of a call's nodes; without a title of what is left of it."""
        if (at, title) not in self._apart:
            self._apart[at, title] = len(self._sets)
            if title:
                self._titles[len(self._sets)] = title
            self._sets.append(nodes)
        return self._apart[at, title]

    def result(self) -> EventNodes:
        """Return the nodes of all events."""
        insides, own = self._insides, self._insides.of(self._method)
        fitting = {
            each.inside.at for each in insides.calls.values() if each.inside and self._belongs(each)
        }
        calls = {
            at: number
            for at, number in self._joined.calls.items()
            if at in fitting or not insides.calls or at not in own
        }
        # What is left of a call stands for its unmatched events too, but for the call of one node.
        apart = {
            number
            for number in self._apart.values()
            if number not in self._unmatched or len(self._sets[number]) == 1
        }
        return replace(
            self._joined,
            set_of=self._set_of,
            sets=tuple(self._sets),
            how=self._how,
            calls=calls,
            titles=self._titles,
            apart=frozenset(apart),
            elsewhere=self.elsewhere,
            about=self._about,
        )


def _title(graph: DelegateGraph, match: EventMatch) -> str:
    """Return what an event is spent on whose operators no node of the graph stands for."""
    node = graph.nodes[match.nodes[0] if match.main is None else match.main]
    if not node.inserted:
        return "operators that no node of the graph stands for"
    return f"{_INSERTED.get(node.type, 'operators')} inserted by lowering"


def _placed(insides: Insides, inside: Inside, match: EventMatch) -> tuple[tuple[int, ...], int]:
    """Return the nodes of a matched event, and how sure they are."""
    at = inside.instruction
    nodes = {
        node
        for index in match.nodes
        for node in (*insides.placed.get((at, index), ()), *insides.beside.get((at, index), ()))
    }
    how = MATCHED if match.match == EXACT else MATCHED_BY_ORDER
    if insides.edges is not None:
        of = insides.edges.of
        if any((at, n) in of and of[at, n].alternatives > 1 for n in match.nodes):
            how = MATCHED_UNSURE
    return tuple(sorted(nodes)), how


def graph_alone(files: ExecuTorchFiles, inside: Inside) -> Graph:
    """Return the graph of a delegate, whose operators tell what they ran as."""
    if inside.graph is None:
        raise ValueError(f"no graph of {inside.delegate.id} can be read: {inside.payload}")
    graph = graph_of(inside.graph)
    facts = run_facts(inside, *first_alignment(files.insides, inside, files.dump))
    operators = _operators(graph)
    told = dict(zip(operators, facts.values(), strict=True))
    attrs = tuple(
        MappingProxyType({**each, **told[node]}) if node in told else each
        for node, each in enumerate(graph.attrs)
    )
    return replace(graph, attrs=attrs)


def parts_alone(files: ExecuTorchFiles, inside: Inside) -> RunParts:
    """Return a delegate as a run: its times are those of all its calls in the dump."""
    graph = graph_alone(files, inside)
    tensors: list[Tensor] = []
    issues: list[Issue] = []
    if files.program is not None and files.program_source is not None and inside.graph is not None:
        graphs = {"": inside.graph}
        tensors, issues = delegate_tensors(
            graph, graphs, files.program, files.program_source, files.named_data
        )
    title = f"{inside.delegate.id}, instruction {inside.instruction} of {inside.method}"
    evidence = (f"{graph.file} holds the delegate's payload: {inside.payload}",)
    timeline = None if files.dump is None else _timeline(files.dump, files.insides, inside, graph)
    return RunParts(
        title,
        graph,
        Tensors(tensors) if tensors else None,
        timeline,
        Issues([*graph.issues, *issues, *(() if timeline is None else timeline.issues)]),
        Provenance("ExecuTorch", evidence),
    )


def _operators(graph: Graph) -> tuple[int, ...]:
    found: list[int] = np.flatnonzero(graph.kinds == NodeKind.OPERATOR).tolist()
    return tuple(found)


def _timeline(dump: ETDump, insides: Insides, inside: Inside, graph: Graph) -> Timeline | None:
    calls = {call: each for call, each in insides.calls.items() if each.inside is inside}
    if not calls:
        return None
    rows = [event for call, each in calls.items() for event in (call, *each.events)]
    own = np.zeros(dump.num_events, np.bool_)
    own[rows] = True
    kind = np.where(own, dump.kind, np.uint8(EventKind.ALLOCATION))
    chain = np.where(own, dump.chain_index, -1)
    alone = replace(dump, kind=kind, chain_index=chain, values={}, allocations={})
    operators = _operators(graph)
    placed = {(inside.instruction, index): (node,) for index, node in enumerate(operators)}
    joined = EventNodes(
        np.where(own, 0, -1).astype(np.int32),
        (operators,),
        np.full(dump.num_events, WHOLE_INSTRUCTION, np.uint8),
        {inside.at: 0},
        {inside.at: inside.delegate.id},
    )
    nodes = with_matches(joined, alone, Insides((inside,), calls, placed=placed), inside.method)
    return timeline_of(alone, nodes, graph)
