"""Names and attributes of the nodes that stand for values and instructions of a method."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from tvmdbg_widgets.formats.executorch.program.instruction_steps import InstructionStep
from tvmdbg_widgets.model.executorch.program import CompileSpec, OperatorName, Plan
from tvmdbg_widgets.model.executorch.program_instructions import (
    CallDelegate,
    FreeCall,
    JumpFalseCall,
    KernelCall,
    MoveCall,
)
from tvmdbg_widgets.model.executorch.program_values import (
    ListValue,
    NoValue,
    ScalarValue,
    TensorValue,
)
from tvmdbg_widgets.model.graph.nodes import NodeKind

_OTHER_CALLS = {MoveCall: "move", JumpFalseCall: "jump_false", FreeCall: "free"}
#: Longest list, and longest name or text, that is written out.
_MOST_ITEMS, _MOST_LETTERS = 16, 200


class NodeText(NamedTuple):
    """What a node is called and what it says of itself; `doubt` tells what is not sure."""

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
    attrs = {"chain": str(step.chain), "instruction": str(step.index), "kind": type(call).__name__}
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
    """Return what the backend was told as it compiled: text as it is, other bytes in hex."""
    told: dict[str, str] = {}
    for spec in specs[:_MOST_ITEMS]:
        key = f"compile spec {spec.key[:_MOST_LETTERS]}"
        while key in told:
            key += " (again)"
        told[key] = spec.text()
    if len(specs) > _MOST_ITEMS:
        told["more compile specs"] = f"{len(specs) - _MOST_ITEMS:,}"
    return told


def spelled(plan: Plan, index: int) -> str:
    """Return an argument in short: ``%3`` for a tensor by its index, a literal as it is."""
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
