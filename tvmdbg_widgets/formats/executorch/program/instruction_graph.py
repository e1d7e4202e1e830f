"""The graph of a method, from its instructions and the plan of its memory alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.program.instruction_entries import entry_columns
from tvmdbg_widgets.formats.executorch.program.instruction_memory import planned_memory
from tvmdbg_widgets.formats.executorch.program.instruction_nodes import step_node, value_node
from tvmdbg_widgets.formats.executorch.program.instruction_outputs import Externals
from tvmdbg_widgets.formats.executorch.program.instruction_sources import (
    Source,
    Sources,
    sources_of,
    states_of,
)
from tvmdbg_widgets.formats.executorch.program.instruction_steps import InstructionStep, steps_of
from tvmdbg_widgets.formats.executorch.program.opened_calls import OpenedCall, opened
from tvmdbg_widgets.formats.executorch.program.reaching import Writing
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.executorch.program import Plan
from tvmdbg_widgets.model.executorch.program_instructions import MoveCall
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind


@dataclass(frozen=True, eq=False)
class InstructionGraph:
    """The graph of a method."""

    graph: Graph
    node_of: Mapping[tuple[int, int], int]
    uncertain: Mapping[int, str]
    opened: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)


def graph_of(
    plan: Plan,
    *,
    file: str = "",
    num_outputs: Mapping[str, int] | None = None,
    externals: Mapping[int, Externals] | None = None,
    insides: Mapping[tuple[int, int], Graph] | None = None,
) -> InstructionGraph:
    """Return the graph of a method.

    Its nodes are the inputs, the constants (parameters) and mutable buffers (inputs, for they lie
    in planned memory) that something reads, and every instruction. Edges go from what wrote a
    value last to what reads it:

    - ``EXACT`` where the value itself was written,
    - ``BY_ORDER`` through a view that has no instruction: another value was written last in the
      very bytes of the one that is read,
    - ``AMBIGUOUS`` where it depends on the branches taken: one edge from each that may have
      written it. So positions of operands are places among these edges.

    A storage id is one place in planned memory (``memory_id`` and offset) or one constant;
    ``planned_memory`` tells where the places lie.
    """
    steps = steps_of(plan, num_outputs, file, externals)
    sources = sources_of(plan, steps, file)
    leaves = _leaves(plan, [*(each for reads in sources.reads for each in reads), *sources.outputs])
    leaf_of = {index: node for node, index in enumerate(leaves)}
    states, inputs = states_of(plan), {index: at for at, index in enumerate(plan.inputs)}
    texts = [value_node(plan, index, inputs, states) for index in leaves]
    texts += [step_node(plan, step) for step in steps]
    held = [(index,) for index in leaves] + [step.writes for step in steps]
    placed = [(index,) for index in leaves] + [
        step.reads if isinstance(step.instruction, MoveCall) else step.writes for step in steps
    ]
    uncertain = {node: text.doubt for node, text in enumerate(texts) if text.doubt}

    def entry(writing: tuple[int, int]) -> tuple[int, int]:
        position, output = writing
        return (leaf_of[output], 0) if position < 0 else (len(leaves) + position, output)

    heads = [entry(source.writings[-1]) for source in sources.outputs]
    for head, source in zip(heads, sources.outputs, strict=True):
        if len(source.writings) > 1:
            uncertain[head[0]] = "an output of the method on some branches only"
    columns, candidates = _edges(sources.reads, entry, len(leaves))
    kinds = np.array([text.kind for text in texts], np.uint8)
    graph = Graph(
        names=StringColumn.from_strings(text.name for text in texts),
        func_names=StringColumn.from_strings(text.func_name for text in texts),
        kinds=kinds,
        parameter_trust=np.where(kinds <= NodeKind.PARAMETER, Trust.EXACT, Trust.ABSENT),
        edge_source=columns[:, 0].astype(np.int32),
        edge_output=columns[:, 1].astype(np.int32),
        edge_target=columns[:, 2].astype(np.int32),
        edge_position=columns[:, 3].astype(np.int32),
        edge_trust=columns[:, 4].astype(np.uint8),
        edge_candidates=candidates,
        heads=np.array(heads, np.int32).reshape(-1, 2),
        arg_nodes=np.arange(len(leaves), dtype=np.int32),
        attrs=tuple(MappingProxyType(dict(text.attrs)) for text in texts),
        planned_memory=planned_memory(plan, leaves, steps, placed),
        form="program",
        file=file,
        **entry_columns(plan, held, placed),
    )
    node_of = {
        (step.chain, step.index): len(leaves) + position for position, step in enumerate(steps)
    }
    made = InstructionGraph(graph, MappingProxyType(node_of), MappingProxyType(uncertain))
    return _opened(made, steps, sources, insides) if insides else made


def _opened(
    made: InstructionGraph,
    steps: Sequence[InstructionStep],
    sources: Sources,
    insides: Mapping[tuple[int, int], Graph],
) -> InstructionGraph:
    calls: dict[int, OpenedCall] = {}
    for step, reads in zip(steps, sources.reads, strict=True):
        if (inside := insides.get((step.chain, step.index))) is None:
            continue
        call = OpenedCall(inside, tuple(len(source.writings) for source in reads))
        if call.fits(len(step.writes)):
            calls[made.node_of[step.chain, step.index]] = call
    found = opened(made.graph, calls)
    new = found.new_ids.tolist()
    return InstructionGraph(
        found.graph,
        MappingProxyType({at: new[node] for at, node in made.node_of.items()}),
        MappingProxyType({new[node]: text for node, text in made.uncertain.items()}),
        MappingProxyType(
            {at: found.nodes[node] for at, node in made.node_of.items() if node in found.nodes}
        ),
    )


def _leaves(plan: Plan, sources: Sequence[Source]) -> list[int]:
    """Return the values that have nodes of their own: the inputs first, the others by index."""
    read = {index for source in sources for position, index in source.writings if position < 0}
    inputs = dict.fromkeys(plan.inputs)
    return [*inputs, *sorted(read - inputs.keys())]


def _edges(
    reads: Sequence[Sequence[Source]], entry: Callable[[Writing], tuple[int, int]], first: int
) -> tuple[npt.NDArray[np.int64], dict[int, tuple[int, ...]]]:
    """Return source, output, target, position and trust of each edge (int64 [M, 5]), candidates.

    `first` is the node of the first instruction.
    """
    rows: list[tuple[int, int, int, int, int]] = []
    candidates: dict[int, tuple[int, ...]] = {}
    for target, sources in enumerate(reads, first):
        position = 0
        for source in sources:
            entries = [entry(writing) for writing in source.writings]
            nodes = tuple(sorted({node for node, _ in entries}))
            trust = Trust.BY_ORDER if source.viewed else Trust.EXACT
            for node, output in entries:
                if len(entries) > 1:
                    candidates[len(rows)], trust = nodes, Trust.AMBIGUOUS
                rows.append((node, output, target, position, trust))
                position += 1
    return np.array(rows, np.int64).reshape(-1, 5), candidates
