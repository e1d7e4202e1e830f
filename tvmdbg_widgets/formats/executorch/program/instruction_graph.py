"""The graph of a method, from its instructions and the plan of its memory alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.program.instruction_sources import (
    Source,
    Sources,
    Writing,
    sources_of,
    states_of,
)
from tvmdbg_widgets.formats.executorch.program.instruction_steps import (
    Externals,
    InstructionStep,
    steps_of,
)
from tvmdbg_widgets.formats.executorch.program.opened_calls import OpenedCall, opened
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.executorch.program import (
    CompileSpec,
    ListValue,
    NoValue,
    OperatorName,
    Plan,
    PlannedPlace,
    ScalarValue,
    ShapeDynamism,
    TensorValue,
    ValueKind,
)
from tvmdbg_widgets.model.executorch.program_instructions import (
    CallDelegate,
    FreeCall,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    kind_of,
)
from tvmdbg_widgets.model.graph.columns import PlannedMemory
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
    num_outputs: Mapping[int, int] | None = None,
    externals: Mapping[int, Externals] | None = None,
    insides: Mapping[tuple[int, int], Graph] | None = None,
) -> InstructionGraph:
    """Return the graph of a method: its instructions, and the values that they read."""
    steps = steps_of(plan, num_outputs, file, externals)
    sources = sources_of(plan, steps, file)
    # Nodes of their own: the inputs first, the other values that nothing writes by index.
    every = [*(each for reads in sources.reads for each in reads), *sources.outputs]
    given = {index for source in every for position, index in source.writings if position < 0}
    leaves = [*dict.fromkeys(plan.inputs), *sorted(given.difference(plan.inputs))]
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
    result = opened(made.graph, calls)
    new = result.new_ids.tolist()
    return InstructionGraph(
        result.graph,
        MappingProxyType({at: new[node] for at, node in made.node_of.items()}),
        MappingProxyType({new[node]: text for node, text in made.uncertain.items()}),
        MappingProxyType(
            {at: result.nodes[node] for at, node in made.node_of.items() if node in result.nodes}
        ),
    )


def _edges(
    reads: Sequence[Sequence[Source]], entry: Callable[[Writing], tuple[int, int]], first: int
) -> tuple[npt.NDArray[np.int64], dict[int, tuple[int, ...]]]:
    """Return source, output, target, position, trust of edges (int64 [M, 5]), and candidates."""
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


_SCALARS = {ValueKind.INT: "int64", ValueKind.BOOL: "bool", ValueKind.DOUBLE: "float64"}
#: ``DLDeviceType`` by ``DeviceType``.
_DEVICES = {0: 1, 1: 2}


def entry_columns(
    plan: Plan, held: Sequence[Sequence[int]], placed: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """Return the columns of a graph by entry."""
    values = [plan.values[index] for group in held for index in group]
    places = [plan.values[index] for group in placed for index in group]
    shapes = [_shape(value) for value in values]
    numbers: dict[Hashable, int] = {}
    keys = [_place(value) for value in places]
    dims = [dim for shape in shapes for dim in shape or ()]
    of_buffer = {group.buffer_idx: group.device_type for group in plan.buffer_devices}
    devices = []
    for value in places:
        device = 0
        if isinstance(value, TensorValue):
            device = 0 if value.extra is None else value.extra.device_type
            if value.allocation is not None:
                device = of_buffer.get(value.allocation.memory_id, device)
        devices.append(_DEVICES.get(device, -1))
    return {
        "entry_offsets": _offsets([len(group) for group in held]),
        "shape_offsets": _offsets([len(shape or ()) for shape in shapes]),
        "shape_dims": np.array(dims, np.int64),
        "shape_known": np.array([shape is not None for shape in shapes], np.bool_),
        "dtypes": StringColumn.from_strings(map(_dtype, values)),
        "storage_ids": np.array(
            [-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys], np.int32
        ),
        "device_types": np.array(devices, np.int32),
    }


def _offsets(counts: list[int]) -> Any:
    return np.concatenate(([0], np.cumsum(np.array(counts, np.int64))))


def _shape(value: object) -> tuple[int, ...] | None:
    if isinstance(value, TensorValue):
        unbound = value.shape_dynamism == ShapeDynamism.DYNAMIC_UNBOUND
        return None if unbound else value.sizes
    return () if isinstance(value, ScalarValue) and value.kind in _SCALARS else None


def _dtype(value: object) -> str:
    if isinstance(value, TensorValue):
        return "" if value.dtype is None else str(value.dtype)
    return _SCALARS.get(value.kind, "") if isinstance(value, ScalarValue) else ""


def _place(value: object) -> Hashable | None:
    if not isinstance(value, TensorValue):
        return None
    if value.allocation is not None:
        return value.allocation
    if value.is_constant:
        return value.name if value.is_external else value.data_buffer_idx
    return None


def planned_memory(
    plan: Plan,
    leaves: Sequence[int],
    steps: Sequence[InstructionStep],
    placed: Sequence[Sequence[int]],
) -> PlannedMemory:
    """Return the places of a graph's entries in the method's planned buffers."""
    places = [_place_instruction_memory(plan, index) for group in placed for index in group]
    states, inputs = states_of(plan), set(plan.inputs)
    kept = [node for node, index in enumerate(leaves) if index in states]
    scratch = [
        node
        for node, index in enumerate(leaves)
        if index not in states
        and index not in inputs
        and _place_instruction_memory(plan, index) is not None
    ]
    loops = [
        (len(leaves) + at - step.index + step.instruction.destination_instruction, len(leaves) + at)
        for at, step in enumerate(steps)
        if isinstance(step.instruction, JumpFalseCall)
        if step.instruction.destination_instruction <= step.index
    ]
    return PlannedMemory(
        buffer_sizes=tuple(max(0, size) for size in plan.buffer_sizes),
        buffers=np.array([-1 if group is None else group.memory_id for group in places], np.int32),
        offsets=np.array([0 if group is None else group.offset for group in places], np.int64),
        kept=np.array(kept, np.int32),
        scratch=np.array(scratch, np.int32),
        loops=np.array(loops, np.int32).reshape(-1, 2),
    )


def _place_instruction_memory(plan: Plan, index: int) -> PlannedPlace | None:
    value = plan.values[index]
    return value.allocation if isinstance(value, TensorValue) else None


_OTHER_CALLS = {MoveCall: "move", JumpFalseCall: "jump_false", FreeCall: "free"}
#: Longest list, and longest name or text, in full.
_MOST_ITEMS, _MOST_LETTERS = 16, 200


class NodeText(NamedTuple):
    """Name and attributes of a node; `doubt` says why it is uncertain."""

    name: str
    func_name: str
    kind: NodeKind
    attrs: Mapping[str, str]
    doubt: str


def value_node(
    plan: Plan, index: int, inputs: Mapping[int, int], states: Collection[int]
) -> NodeText:
    """Return the node of a value that no instruction writes before it is read."""
    value = plan.values[index]
    attrs, doubt = {"value": str(index)}, ""
    name, kind = f"constant_{index}", NodeKind.PARAMETER
    if index in inputs:
        name, kind, attrs["role"] = f"input_{inputs[index]}", NodeKind.INPUT, "input"
    elif not isinstance(value, TensorValue):
        attrs["role"] = f"constant {spelled(plan, index)}"
    elif value.is_constant:
        name = value.name or name
        attrs["role"] = "external constant" if value.is_external else "constant"
    else:
        name, kind = value.name or f"buffer_{index}", NodeKind.INPUT
        attrs["role"] = "mutable buffer"
        if index not in states:
            attrs["role"] = doubt = "mutable buffer without a start value, or scratch memory"
    if isinstance(value, TensorValue) and value.data_buffer_idx and not value.is_external:
        attrs["data_buffer_idx"] = str(value.data_buffer_idx)
    return NodeText(name, "", kind, attrs, doubt)


def step_node(plan: Plan, step: InstructionStep) -> NodeText:
    """Return the node of an instruction."""
    call, kind = step.instruction, NodeKind.OPERATOR
    attrs = {"chain": str(step.chain), "instruction": str(step.index), "kind": kind_of(call)}
    match call:
        case KernelCall(op_index, args):
            operator = OperatorName(*(part[:_MOST_LETTERS] for part in plan.operators[op_index]))
            func_name, short = operator.full_name, operator.name.rpartition("::")[2]
            attrs["args"] = ", ".join(spelled(plan, index) for index in args)
        case CallDelegate(delegate_index, args):
            func_name = short = plan.delegates[delegate_index].id[:_MOST_LETTERS]
            attrs |= {"delegate_index": str(delegate_index), "backend": func_name}
            attrs |= _compile_specs(plan.delegates[delegate_index].compile_specs)
            attrs["args"] = ", ".join(spelled(plan, index) for index in args)
        case _:
            func_name = short = _OTHER_CALLS.get(type(call), "unknown")
    if isinstance(call, MoveCall):
        kind = NodeKind.NOP
    if isinstance(call, JumpFalseCall):
        attrs["destination"] = str(call.destination_instruction)
    traces = plan.chains[step.chain].stacktraces
    if traces:
        attrs["stacktrace"] = "\n".join(
            f'File "{frame.filename[-_MOST_LETTERS:]}", line {frame.lineno}, in '
            f"{frame.name[:_MOST_LETTERS]}\n    {frame.context[:_MOST_LETTERS]}"
            for frame in traces[step.index]
        )
    return NodeText(f"{short}_{step.index}", func_name, kind, attrs, step.doubt)


def _compile_specs(specs: Sequence[CompileSpec]) -> dict[str, str]:
    """Return the backend's compile specs: text, or bytes in hex."""
    attrs: dict[str, str] = {}
    for spec in specs[:_MOST_ITEMS]:
        key = f"compile spec {spec.key[:_MOST_LETTERS]}"
        while key in attrs:
            key += " (again)"
        attrs[key] = spec.text()
    if len(specs) > _MOST_ITEMS:
        attrs["more compile specs"] = f"{len(specs) - _MOST_ITEMS:,}"
    return attrs


def spelled(plan: Plan, index: int) -> str:
    """Return an argument in short: ``%3`` for a tensor by its index, a literal as text."""
    match plan.values[index]:
        case TensorValue():
            return f"%{index}"
        case ScalarValue(_, value):
            return repr(value[:_MOST_LETTERS] if isinstance(value, str) else value)
        case NoValue(kind):
            return "None" if kind == 1 else f"<kind {kind}>"
        case ListValue() as found:
            shown = found.items[:_MOST_ITEMS]
            refers = bool(found.value_indexes)
            texts = [_item(plan, int(each)) if refers else repr(each) for each in shown]
            more = ["…"] if len(found.items) > len(shown) else []
            return f"[{', '.join(texts + more)}]"


def _item(plan: Plan, index: int) -> str:
    if index < 0:
        return "None"
    nested = isinstance(plan.values[index], ListValue)
    return f"%{index}" if nested else spelled(plan, index)
