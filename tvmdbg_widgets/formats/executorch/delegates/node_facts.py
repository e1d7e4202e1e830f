"""What the nodes of a graph tell of the delegate's operators that computed them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.formats.executorch.delegates.graph import layouts_of, node_attrs
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.delegate_graph import (
    Alignment,
    DelegateEdges,
    DelegateGraph,
    DelegateNode,
    EdgeNode,
    Inside,
    Insides,
)
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.model.executorch.etrecord import ExportedProgram, event_title
from tvmdbg_widgets.model.executorch.event_nodes import Facts
from tvmdbg_widgets.model.graph.graph import Graph

#: Attributes of an operator that its edge node has in words of its own, or that say nothing there.
_OF_EDGES: Final = ("debug_handle", "inserted")
#: Events of one operator that are told by name: a shader is dispatched as often as it takes.
_MOST_EVENTS: Final = 12


def with_delegate_nodes(graph: Graph, insides: Insides, method: str, dump: ETDump | None) -> Graph:
    """Return a run's graph whose nodes tell what the delegate made of them."""
    told: dict[int, dict[str, str]] = defaultdict(dict)
    own = {each.instruction: each for each in insides.of(method).values() if each.graph is not None}
    facts = {at: run_facts(each, *first_alignment(insides, each, dump)) for at, each in own.items()}
    if insides.edges is None:
        for at, by_index in facts.items():
            for index, each in by_index.items():
                for node in insides.placed.get((at, index), ()):
                    told[node] |= each
    else:
        _on_edges(insides.edges, own, facts, told)
    texts = {
        (str(chain), str(at)): each.payload
        for (chain, at), each in insides.of(method).items()
        if each.graph is None
    }
    for node, own_attrs in enumerate(graph.attrs if texts else ()):
        at_ = own_attrs.get("chain", ""), own_attrs.get("instruction", "")
        if "backend" in own_attrs and at_ in texts:
            told[node]["payload"] = texts[at_]
    if not told:
        return graph
    attrs = tuple(
        MappingProxyType({**each, **told[node]}) if node in told else each
        for node, each in enumerate(graph.attrs)
    )
    return replace(graph, attrs=attrs)


def _on_edges(
    edges: DelegateEdges,
    own: Mapping[int, Inside],
    facts: Mapping[int, Mapping[int, Mapping[str, str]]],
    told: dict[int, dict[str, str]],
) -> None:
    graphs = {at: each.graph for at, each in own.items() if each.graph is not None}
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
            told[edge.node] |= {name: mine[name] for name in mine if name not in _OF_EDGES}
            told[edge.node] |= facts[at][node.index]
            if edge.alternatives > 1:
                alike = counted(edge.alternatives, "identical operator")
                told[edge.node]["came from"] = f"one of {alike}: not sure which"
            if around[node.index]:
                told[edge.node]["inserted for it"] = "; ".join(around[node.index])
    for place, owners in (*edges.part_of.items(), *edges.beside.items()):
        names = [graphs[at].nodes[index].name for at, index in owners if at in graphs]
        if names:
            at, index = owners[0]
            told[place] |= {"delegate_node": f"in {listed(names)}", **facts[at][index]}


def first_alignment(
    insides: Insides, inside: Inside, dump: ETDump | None
) -> tuple[Alignment | None, tuple[str, ...]]:
    """Return how the events of the first call of a delegate are aligned, and their names."""
    call = insides.first_calls.get((inside.method, *inside.at))
    if call is None or dump is None:
        return None, ()
    return call.alignment, tuple(dump.delegate_id_str[event] for event in call.events)


def run_facts(
    inside: Inside, alignment: Alignment | None, names: tuple[str, ...]
) -> dict[int, dict[str, str]]:
    """Return what each operator of a delegate ran as, by its number."""
    graph = inside.graph
    found: dict[int, dict[str, str]] = {node.index: {} for node in graph.nodes} if graph else {}
    if alignment is None or graph is None:
        return found
    for index, each in found.items():
        if events := alignment.events_of.get(index, ()):
            each.update(_ran(inside, alignment, names, events))
        elif index in alignment.taken_in:
            mains = alignment.taken_in[index]
            each["runs in"] = listed([graph.nodes[main].name for main in mains])
        elif index in alignment.idle:
            each["runs as"] = "no operator at run time"
        elif index in alignment.missing:
            each["match"] = "none: no event of this call is its"
    for match in alignment.events:
        for index in match.candidates:
            found[index].setdefault("match", f"{match.match}: {match.reason}")
    return found


def match_facts(graph: DelegateGraph, alignment: Alignment) -> tuple[Facts, ...]:
    """Return what is told of each event of a call: its operators, and how it was matched."""
    served = graph.inserted_for
    called = [node.name for node in graph.nodes]
    found: list[Facts] = []
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
        found.append(tuple(facts))
    return tuple(found)


def _ran(
    inside: Inside, alignment: Alignment, names: tuple[str, ...], events: tuple[int, ...]
) -> dict[str, str]:
    """Return what some events tell of the operator that they are of."""
    first = alignment.events[events[0]]
    told = {
        "runs as": ", ".join(event_title(names[event]) for event in events[:_MOST_EVENTS])
        + (f" and {len(events) - _MOST_EVENTS} more" if len(events) > _MOST_EVENTS else ""),
        "match": first.match + (f": {first.reason}" if first.reason else ""),
    }
    family = family_of(inside.delegate.id)
    if family is not None and family.explain is not None:
        parts = family.explain(names[events[0]])
        told["kernel"] = "; ".join(f"{part}: {text}" for part, text in parts)
    return told


Told = tuple[dict[int, EdgeNode], dict[int, int]]


def mapped_nodes(
    graph: DelegateGraph,
    program: ExportedProgram,
    inside: Sequence[int],
    told: Mapping[str, Sequence[int]],
) -> Told:
    """Return the edge node of each operator by its number, and what it took in besides."""
    places = _places(graph, program, inside, told)
    return _by_names(graph, program, inside) if places is None else _by_map(graph, program, places)


def _operator(node: DelegateNode) -> str:
    """Return ``convolution`` of ``aten.convolution.default``."""
    parts = node.type.split(".")
    return parts[1] if len(parts) > 1 else node.type


def _places(
    graph: DelegateGraph,
    program: ExportedProgram,
    inside: Sequence[int],
    told: Mapping[str, Sequence[int]],
) -> dict[int, tuple[int, ...]] | None:
    """Return the edge nodes of each operator by the map, None where some of it does not fit."""
    ids = Counter(str(node.fields.get("node_id")) for node in graph.nodes)
    own = set(inside)
    operators = {program.nodes[at].operator for at in inside}
    found: dict[int, tuple[int, ...]] = {}
    for node in graph.nodes:
        identifier = str(node.fields.get("node_id"))
        handles = told.get(identifier, ())
        if not handles:
            continue
        held = [[at for at in program.by_handle.get(handle, ()) if at in own] for handle in handles]
        places = tuple(sorted({at for each in held for at in each}))
        named = {program.nodes[at].operator for at in places}
        operator = _operator(node)
        fits = operator in named or operator not in operators
        if ids[identifier] > 1 or not all(held) or not fits:
            return None
        found[node.index] = places
    return found or None


def _by_map(
    graph: DelegateGraph, program: ExportedProgram, places: Mapping[int, tuple[int, ...]]
) -> Told:
    of: dict[int, EdgeNode] = {}
    taken_in: dict[int, int] = {}
    for index, own in places.items():
        operator = _operator(graph.nodes[index])
        fitting = [at for at in own if program.nodes[at].operator == operator] or list(own)
        free = [at for at in fitting if at not in taken_in] or fitting
        of[index] = EdgeNode(free[0], len(free))
        taken_in.update(dict.fromkeys((at for at in own if at not in taken_in), index))
    for edge in of.values():
        taken_in.pop(edge.node, None)
    return of, taken_in


def _by_names(graph: DelegateGraph, program: ExportedProgram, inside: Sequence[int]) -> Told:
    edges: dict[str, list[int]] = {}
    for at in inside:
        edges.setdefault(program.nodes[at].operator, []).append(at)
    nodes: dict[str, list[int]] = {}
    for node in graph.nodes:
        nodes.setdefault(_operator(node), []).append(node.index)
    of: dict[int, EdgeNode] = {}
    for operator, own in nodes.items():
        held = edges.get(operator, [])
        if len(held) == len(own):
            of.update((index, EdgeNode(at, len(own))) for index, at in zip(own, held, strict=True))
    return of, {}
