"""One delegate of a program as a run of its own: its graph, its constants, its events."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.graph import graph_of
from tvmdbg_widgets.formats.executorch.delegates.matches import with_matches
from tvmdbg_widgets.formats.executorch.delegates.node_facts import first_alignment, run_facts
from tvmdbg_widgets.formats.executorch.delegates.tensors import delegate_tensors
from tvmdbg_widgets.formats.executorch.event_timeline import timeline_of
from tvmdbg_widgets.model.base.issues import Issue, Issues
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind
from tvmdbg_widgets.model.executorch.event_nodes import WHOLE_INSTRUCTION, EventNodes
from tvmdbg_widgets.model.executorch.files import ExecuTorchFiles
from tvmdbg_widgets.model.executorch.insides import Inside, Insides
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import Provenance, RunParts
from tvmdbg_widgets.model.tensors.tensor import Tensor
from tvmdbg_widgets.model.tensors.tensors import Tensors
from tvmdbg_widgets.model.timeline.timeline import Timeline


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
