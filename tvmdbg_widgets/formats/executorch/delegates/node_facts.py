"""What the nodes of a graph tell of the delegate's operators that computed them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.formats.executorch.delegates.graph import layouts_of, node_attrs
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.delegate_alignment import Alignment
from tvmdbg_widgets.model.executorch.delegate_edges import DelegateEdges
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.model.executorch.event_nodes import Facts
from tvmdbg_widgets.model.executorch.insides import Inside, Insides
from tvmdbg_widgets.model.executorch.vulkan_names import event_title
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
