"""Operators of delegates on the nodes of a run's graph, with their events and attributes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.edge_nodes import edge_nodes
from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.formats.executorch.delegates.graph import (
    delegate_tensors,
    graph_of,
    layouts_of,
    node_attrs,
)
from tvmdbg_widgets.formats.executorch.event_timeline import timeline_of
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import Issue, Issues, listed
from tvmdbg_widgets.model.executorch.delegate_graph import (
    EXACT,
    ORDER,
    Alignment,
    CallEvents,
    DelegateEdges,
    DelegateGraph,
    EventMatch,
    Inside,
    Insides,
)
from tvmdbg_widgets.model.executorch.etdump import DelegateCalls, ETDump, EventKind
from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram, maps_of
from tvmdbg_widgets.model.executorch.event_nodes import (
    MATCHED,
    MATCHED_BY_ORDER,
    MATCHED_UNSURE,
    WHOLE_INSTRUCTION,
    EventNodes,
    ExecuTorchFiles,
    Facts,
    call_titles,
)
from tvmdbg_widgets.model.executorch.vulkan_names import event_title
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import Provenance, RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensor, Tensors
from tvmdbg_widgets.model.timeline.timeline import Timeline

Instruction = tuple[int, int]

_SURE: Final = (EXACT, ORDER)
_INSERTED: Final = {
    "StaticTranspose": "layout conversion",
    "StaticReshape": "reshaping",
    "Convert": "type conversion",
}


#: Attributes of an operator that mean nothing on its edge node.
_OF_EDGES: Final = ("debug_handle", "inserted")
#: Events of one operator that are listed by name: a shader is dispatched many times.
_MOST_EVENTS: Final = 12


def placed_on_edges(
    insides: Insides, record: ETRecord, method: str, program: ExportedProgram
) -> Insides:
    """Place the operators of a method's delegates on the edge graph."""
    graphs = {
        at[1]: call.graph for at, call in insides.of(method).items() if at[0] == 0 and call.graph
    }
    maps = maps_of(record, method)
    ids = {at: call.identifiers for at, call in maps.calls.items() if call.identifiers}
    edges = edge_nodes(graphs, program, maps.handles, ids)
    placed = {
        (at, node.index): edges.nodes_of(at, node.index)
        for at, graph in graphs.items()
        for node in graph.nodes
    }
    return replace(insides, edges=edges, placed=placed)


def placed_in_program(
    insides: Insides, method: str, opened: Mapping[Instruction, tuple[int, ...]]
) -> Insides:
    """Place the operators of a method's delegates on its opened graph."""
    placed = {
        (at[1], node.index): (place,)
        for at, inside in insides.of(method).items()
        if inside.graph is not None
        for node, place in zip(inside.graph.nodes, opened.get(at, ()), strict=False)
    }
    return replace(insides, placed=placed)


def with_matches(joined: EventNodes, dump: ETDump, insides: Insides, method: str) -> EventNodes:
    """Return the nodes of events; matched ones get nodes of the delegate, the rest is apart."""
    matches = _Matches(joined, dump, insides, method)
    for call, events in insides.calls.items():
        if events.inside is not None and events.inside.method != method:
            matches.elsewhere |= dict.fromkeys((call, *events.events), events.inside.method)
        elif joined.set_of[call] >= 0:
            matches.add(call, events)
    return matches.result()


class _Matches:
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

    def add(self, call: int, call_events: CallEvents) -> None:
        inside, alignment = call_events.inside, call_events.alignment
        if inside is None or inside.graph is None or alignment is None:
            return
        if not self._belongs(call_events):
            self._set_of[[call, *call_events.events]] = -1
            return
        if not any(match.match in _SURE for match in alignment.events):
            return
        nodes_of_call = self._joined.sets[int(self._joined.set_of[call])]
        rest = int(self._joined.set_of[call])
        if not any(self._foreign[event] for event in call_events.events):
            # Times of another clock are no part of the call's.
            rest = self._set_apart(inside.at, nodes_of_call, "")
        self._set_of[call] = rest
        if id(alignment) not in self._known:
            self._known[id(alignment)] = match_facts(inside.graph, alignment)
        self._about |= dict(zip(call_events.events, self._known[id(alignment)], strict=True))
        for event, match in zip(call_events.events, alignment.events, strict=True):
            if match.match not in _SURE:
                self._set_of[event], self._how[event] = rest, WHOLE_INSTRUCTION
                self._unmatched.add(rest)
                continue
            nodes, self._how[event] = _placed(self._insides, inside, match)
            if nodes and nodes not in self._numbers:
                self._numbers[nodes] = len(self._sets)
                self._sets.append(nodes)
            self._set_of[event] = (
                self._numbers[nodes]
                if nodes
                else self._set_apart(inside.at, nodes_of_call, _title(inside.graph, match))
            )

    def _belongs(self, events: CallEvents) -> bool:
        """Return whether events, program and graph may be of the same export."""
        edges, inside = self._insides.edges, events.inside
        foreign = frozenset[int]() if edges is None else edges.contradicted
        return events.fits and (inside is None or inside.instruction not in foreign)

    def _set_apart(self, at: Instruction, nodes: tuple[int, ...], title: str) -> int:
        """Return the number of a set of a call's nodes; the rest of the call has no title."""
        if (at, title) not in self._apart:
            self._apart[at, title] = len(self._sets)
            if title:
                self._titles[len(self._sets)] = title
            self._sets.append(nodes)
        return self._apart[at, title]

    def result(self) -> EventNodes:
        insides, own = self._insides, self._insides.of(self._method)
        fitting = {
            events.inside.at
            for events in insides.calls.values()
            if events.inside and self._belongs(events)
        }
        calls = {
            at: number
            for at, number in self._joined.calls.items()
            if at in fitting or not insides.calls or at not in own
        }
        # The rest of a call includes its unmatched events, except for a call of one node.
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
    """Return the title of an event whose operators have no node in the graph."""
    node = graph.nodes[match.nodes[0] if match.main is None else match.main]
    if not node.inserted:
        return "operators that no node of the graph stands for"
    return f"{_INSERTED.get(node.type, 'operators')} inserted by lowering"


def _placed(insides: Insides, inside: Inside, match: EventMatch) -> tuple[tuple[int, ...], int]:
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


def with_delegate_nodes(graph: Graph, insides: Insides, method: str, dump: ETDump | None) -> Graph:
    """Add the delegate's facts to the nodes of a run's graph."""
    attrs: dict[int, dict[str, str]] = defaultdict(dict)
    own = {fact.instruction: fact for fact in insides.of(method).values() if fact.graph is not None}
    facts = {at: _run_facts(insides, fact, dump) for at, fact in own.items()}
    if insides.edges is None:
        for at, by_index in facts.items():
            for index, fact in by_index.items():
                for node in insides.placed.get((at, index), ()):
                    attrs[node] |= fact
    else:
        _on_edges(insides.edges, own, facts, attrs)
    texts = {
        (str(chain), str(at)): fact.payload
        for (chain, at), fact in insides.of(method).items()
        if fact.graph is None
    }
    for node, own_attrs in enumerate(graph.attrs if texts else ()):
        at_ = own_attrs.get("chain", ""), own_attrs.get("instruction", "")
        if "backend" in own_attrs and at_ in texts:
            attrs[node]["payload"] = texts[at_]
    return with_attrs(graph, attrs)


def with_attrs(graph: Graph, more: Mapping[int, Mapping[str, str]]) -> Graph:
    """Return a graph with more attributes of some nodes."""
    if not more:
        return graph
    attrs = tuple(
        MappingProxyType({**each, **more[node]}) if node in more else each
        for node, each in enumerate(graph.attrs)
    )
    return replace(graph, attrs=attrs)


def _on_edges(
    edges: DelegateEdges,
    own: Mapping[int, Inside],
    facts: Mapping[int, Mapping[int, Mapping[str, str]]],
    attrs: dict[int, dict[str, str]],
) -> None:
    graphs = {at: item.graph for at, item in own.items() if item.graph is not None}
    for at, graph in graphs.items():
        layouts = layouts_of(graph)
        around: dict[int, list[str]] = defaultdict(list)
        for index, served in graph.inserted_for.items():
            runs = facts[at][index].get("runs as", "")
            around[served].append(f"{graph.nodes[index].name}{runs and ', '}{runs}")
        for node in graph.nodes:
            if (edge := edges.of.get((at, node.index))) is None:
                continue
            mine = node_attrs(graph, node, layouts)
            attrs[edge.node] |= {name: mine[name] for name in mine if name not in _OF_EDGES}
            attrs[edge.node] |= facts[at][node.index]
            if edge.alternatives > 1:
                same = counted(edge.alternatives, "identical operator")
                attrs[edge.node]["came from"] = f"one of {same}: not sure which"
            if around[node.index]:
                attrs[edge.node]["inserted for it"] = "; ".join(around[node.index])
    for place, owners in (*edges.part_of.items(), *edges.beside.items()):
        names = [graphs[at].nodes[index].name for at, index in owners if at in graphs]
        if names:
            at, index = owners[0]
            attrs[place] |= {"delegate_node": f"in {listed(names)}", **facts[at][index]}


def _run_facts(insides: Insides, inside: Inside, dump: ETDump | None) -> dict[int, dict[str, str]]:
    """Return the kernels of each operator in its delegate's first call, by its number."""
    graph, call = inside.graph, insides.first_calls.get((inside.method, *inside.at))
    facts: dict[int, dict[str, str]] = {node.index: {} for node in graph.nodes} if graph else {}
    if graph is None or call is None or call.alignment is None or dump is None:
        return facts
    alignment = call.alignment
    names = tuple(dump.delegate_id_str[event] for event in call.events)
    for index, fact in facts.items():
        if events := alignment.events_of.get(index, ()):
            fact.update(_ran(inside, alignment.events[events[0]], [names[at] for at in events]))
        elif index in alignment.taken_in:
            fact["runs in"] = listed([graph.nodes[at].name for at in alignment.taken_in[index]])
        elif index in alignment.idle:
            fact["runs as"] = "no operator at run time"
        elif index in alignment.missing:
            fact["match"] = "none: no event of this call is its"
    for match in alignment.events:
        for index in match.candidates:
            facts[index].setdefault("match", f"{match.match}: {match.reason}")
    return facts


def match_facts(graph: DelegateGraph, alignment: Alignment) -> tuple[Facts, ...]:
    """Return the facts of each event of a call: its operators, and how it was matched."""
    served = graph.inserted_for
    called = [node.name for node in graph.nodes]
    facts_of: list[Facts] = []
    for match in alignment.events:
        facts: list[tuple[str, str]] = []
        if match.nodes:
            main = match.nodes[0] if match.main is None else match.main
            others = [called[node] for node in match.nodes if node != main]
            facts.append(
                ("operator", called[main] + (f", with {listed(others)}" if others else ""))
            )
            if graph.nodes[main].inserted:
                for_ = f" for {called[served[main]]}" if main in served else ""
                facts.append(("inserted", f"by lowering{for_}"))
        elif match.candidates:
            facts.append(("operator", f"one of {listed([called[n] for n in match.candidates])}"))
        facts.append(("match", match.match + (f": {match.reason}" if match.reason else "")))
        facts_of.append(tuple(facts))
    return tuple(facts_of)


def _ran(inside: Inside, first: EventMatch, names: list[str]) -> dict[str, str]:
    """Return the facts in the names of an operator's events, and the match of the first."""
    more = len(names) - _MOST_EVENTS
    facts = {
        "runs as": ", ".join(map(event_title, names[:_MOST_EVENTS]))
        + (f" and {more} more" if more > 0 else ""),
        "match": first.match + (f": {first.reason}" if first.reason else ""),
    }
    family = family_of(inside.delegate.id)
    if family is not None and family.explain is not None:
        facts["kernel"] = "; ".join(f"{part}: {text}" for part, text in family.explain(names[0]))
    return facts


def graph_alone(files: ExecuTorchFiles, inside: Inside) -> Graph:
    """Return the graph of a delegate with the kernels of its operators."""
    if inside.graph is None:
        raise ValueError(f"no graph of {inside.delegate.id} can be read: {inside.payload}")
    graph = graph_of(inside.graph)
    facts = _run_facts(files.insides, inside, files.dump)
    return with_attrs(graph, dict(zip(_operators(graph), facts.values(), strict=True)))


def parts_alone(files: ExecuTorchFiles, inside: Inside) -> RunParts:
    """Return a delegate as a run with the times of all its calls in the dump."""
    graph = graph_alone(files, inside)
    tensors: list[Tensor] = []
    issues: list[Issue] = []
    if files.program is not None and files.program_source is not None and inside.graph is not None:
        graphs = {"": inside.graph}
        tensors, issues = delegate_tensors(
            graph, graphs, files.program, files.program_source, files.named_data
        )
    calls = {at: call.delegate.id for at, call in files.insides.of(inside.method).items()}
    title = f"{call_titles(calls)[inside.at]} of {inside.method}"
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
    return tuple(np.flatnonzero(graph.kinds == NodeKind.OPERATOR).tolist())


def _timeline(dump: ETDump, insides: Insides, inside: Inside, graph: Graph) -> Timeline | None:
    calls = {call: events for call, events in insides.calls.items() if events.inside is inside}
    if not calls:
        return None
    rows = [event for call, events in calls.items() for event in (call, *events.events)]
    own = np.zeros(dump.num_events, np.bool_)
    own[rows] = True
    kind = np.where(own, dump.kind, np.uint8(EventKind.ALLOCATION))
    chain = np.where(own, dump.chain_index, -1)
    alone = replace(dump, kind=kind, chain_index=chain, values={})
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
