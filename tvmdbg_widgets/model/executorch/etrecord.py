"""What an ETRecord holds: programs and maps of ids; what names of Vulkan's events say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import Issues, listed, paired_json
from tvmdbg_widgets.model.tensors.dtypes import DataType

_SHOWN = 20

#: Instruction id (as text) to its handle, or to those of all nodes of a lowered subgraph.
HandlesByInstruction: TypeAlias = Mapping[str, int | Sequence[int]]


@dataclass(frozen=True, slots=True)
class DelegateCall:
    """One item of the ``delegate_map``: what a backend said of one of its calls.

    Attributes
    ----------
    name : str or None
        Id of the backend.
    identifiers : Mapping of str to tuple of int, or None
        Debug handles by delegate debug identifier. Int identifiers have become text in the file.
        Empty where the backend gave an empty map, None where it gave none.
    """

    name: str | None
    identifiers: Mapping[str, tuple[int, ...]] | None


@dataclass(frozen=True, eq=False)
class ETRecord:
    """An ETRecord as read; every member but the identifier may be missing.

    Attributes
    ----------
    file : str
    edge_programs : Mapping of str to ExportedProgram
        Edge-dialect programs by method. A file up to 1.1 names none: ``"forward"``.
    exported_program : ExportedProgram or None
        The ATen program of ``torch.export``.
    graph_map : Mapping of str to ExportedProgram
        Further programs by the full name of their member.
    export_graph_id : int or None
    debug_handle_map : Mapping of str to HandlesByInstruction, or None
        By method.
    delegate_map : Mapping of str to Mapping of str to DelegateCall, or None
        By method and instruction id.
    num_outputs : Mapping of str to Mapping of str to int, or None
        ``instruction_id_to_num_outs_map``: outputs of delegate calls, by method and instruction.
    reference_outputs : Mapping of str to sequence of sequences of arrays, or None
        By method, case of the bundle, output. Arrays are ``TorchTensor``; scalars stay as they are.
    representative_inputs : sequence or None
    unread : Mapping of str to str
        Members that were not read, and why.
    issues : Issues
    """

    file: str
    edge_programs: Mapping[str, ExportedProgram] = field(default_factory=dict)
    exported_program: ExportedProgram | None = None
    graph_map: Mapping[str, ExportedProgram] = field(default_factory=dict)
    export_graph_id: int | None = None
    debug_handle_map: Mapping[str, HandlesByInstruction] | None = None
    delegate_map: Mapping[str, Mapping[str, DelegateCall]] | None = None
    num_outputs: Mapping[str, Mapping[str, int]] | None = None
    reference_outputs: Mapping[str, Sequence[Sequence[Any]]] | None = None
    representative_inputs: Sequence[Any] | None = None
    unread: Mapping[str, str] = field(default_factory=dict)
    issues: Issues = field(default_factory=Issues)

    @property
    def methods(self) -> tuple[str, ...]:
        """Every method that any member names."""
        named = [self.edge_programs, self.debug_handle_map or {}, self.delegate_map or {}]
        return tuple(dict.fromkeys(method for each in named for method in each))

    def __repr__(self) -> str:
        lines = [f"ETRecord({self.file!r}, methods {listed(self.methods) or 'none'})"]
        shown = list(self.edge_programs.values())[:_SHOWN]
        lines += [f"  {program!r}" for program in shown]
        if len(self.edge_programs) > _SHOWN:
            lines.append(f"  … and {len(self.edge_programs) - _SHOWN:,} more")
        return "\n".join(lines)


#: Longer texts are not read; an operator of 20 tensors has 3,000 letters.
_LONGEST: Final = 200_000
_SHOWN_vulkan_names, _MOST_ARGUMENTS, _MOST_SIZES = 120, 12, 8
#: A double that is not finite is written as C++ prints it, which JSON has no word for.
_NOT_FINITE: Final = re.compile(r'("value": )-?(?:inf|nan)(?=[,}])')
_SHADER: Final = re.compile(r"(?P<kernel>[A-Za-z]\w{0,199})_(?P<id>\d{1,9})")

#: What the runtime times around the dispatches: the first holds the others.
PHASES: Final = {
    "ETVK_EXECUTE": "the whole call, which holds the other phases",
    "ETVK_COPY_INPUTS": "inputs are copied to where the GPU reads them",
    "ETVK_RESIZE": "sizes of tensors are set anew",
    "ETVK_COMPUTE_GRAPH_EXECUTE": "the GPU runs the graph, and the CPU waits for it",
    "ETVK_COPY_OUTPUTS": "outputs are copied from where the GPU wrote them",
}


class Dispatch(NamedTuple):
    """What the name of an event says of a dispatch; None for what it does not say.

    The operator of a staging dispatch, which copies inputs or outputs, is the last one before it.
    """

    kernel: str
    operator: str | None
    node_id: int | None
    operator_id: int | None
    dispatch_id: int | None

    @property
    def stages(self) -> bool:
        """Whether the shader copies between the GPU's tensors and the program's."""
        return _stages(self.kernel)


def read_name(name: str) -> Dispatch | None:
    """Return what the JSON text of an event says, None where it is no such text."""
    found = _decoded(name)
    return None if found is None else found[0]


def is_shader(name: str) -> bool:
    """Whether a name is of a release before 1.1: a shader and a number, without an operator."""
    return _SHADER.fullmatch(name) is not None


def event_title(name: str) -> str:
    """Return what an event of a delegate is called on screen; other names stay as they are.

    ``"aten.convolution.default · conv2d_dw_output_tile #12"`` is a dispatch of Vulkan.
    """
    found = read_name(name)
    if found is None:
        return name
    title = _cut(found.kernel)
    if _stages(found.kernel):
        title = f"staging · {title}"
    elif found.operator is not None:
        title = f"{_cut(found.operator)} · {title}"
    return title if found.dispatch_id is None else f"{title} #{found.dispatch_id}"


def explain_name(name: str) -> tuple[tuple[str, str], ...]:
    """Return the parts of an event's name, each with what it means."""
    if name in PHASES:
        return ((name, PHASES[name]),)
    found = _decoded(name)
    if found is None:
        shader = _SHADER.fullmatch(name)
        if shader is None:
            return ()
        return ((shader["kernel"], "shader"), (shader["id"], "number of the dispatch"))
    dispatch, arguments = found
    parts = [(_cut(dispatch.kernel), "shader")]
    if dispatch.stages:
        parts = [(parts[0][0], "shader that copies an input or output of the delegate")]
    elif dispatch.operator is not None:
        parts.insert(0, (_cut(dispatch.operator), "operator of the delegate's graph"))
        if told := _arguments(arguments):
            parts.append(("arguments", told))
    if dispatch.dispatch_id is not None:
        parts.append((f"#{dispatch.dispatch_id}", "number of the dispatch in the delegate"))
    return tuple(parts)


def _decoded(name: str) -> tuple[Dispatch, list[Any]] | None:
    """Return what a JSON text says and the arguments of its operator, None where it is none."""
    if not name.startswith("{") or len(name) > _LONGEST:
        return None
    try:
        told = json.loads(_NOT_FINITE.sub(r"\1null", paired_json(name)[0]))
    except (ValueError, RecursionError):
        return None
    kernel, operator = told.get("kernel_name"), told.get("operator")
    ids = _number(told, "operator_id"), _number(told, "dispatch_id")
    if not isinstance(kernel, str) or -1 in ids:
        return None
    if operator is None:
        return Dispatch(kernel, None, None, *ids), []
    if not isinstance(operator, dict) or not isinstance(operator.get("name"), str):
        return None
    node = _number(operator, "delegate_node_id")
    arguments = operator.get("args")
    if node == -1:
        return None
    return Dispatch(kernel, operator["name"], node, *ids), (
        arguments if isinstance(arguments, list) else []
    )


def _number(told: dict[str, Any], name: str) -> int | None:
    """Return an unsigned number of 32 bits, None where there is none, -1 where it is another."""
    found = told.get(name)
    if found is None:
        return None
    return found if type(found) is int and 0 <= found < 1 << 32 else -1


def _arguments(found: list[Any]) -> str:
    """Return tensors and numbers among the arguments of an operator, in short."""
    if not all(isinstance(each, dict) for each in found):
        return ""
    told = [_argument(each) for each in found[:_MOST_ARGUMENTS]]
    more = len(found) - len(told)
    return ", ".join([*told, f"{more} more"] if more else told)


def _argument(each: dict[str, Any]) -> str:
    sizes, values, value = each.get("sizes"), each.get("values"), each.get("value")
    if isinstance(sizes, list):
        where = f" in {_cut(str(each['storage']))}" if each.get("storage") else ""
        return f"{_cut(str(each.get('dtype', '')))} {_listed(sizes)}{where}"
    if isinstance(values, list):
        return _listed(values)
    return _cut(str(each.get("type", "") if value is None else value))


def _listed(numbers: list[Any]) -> str:
    more = ", …" if len(numbers) > _MOST_SIZES else ""
    return f"[{', '.join(_cut(str(each)) for each in numbers[:_MOST_SIZES])}{more}]"


def _stages(kernel: str) -> bool:
    return "nchw_to_" in kernel or "_to_nchw" in kernel


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_vulkan_names else text[: _SHOWN_vulkan_names - 1] + "…"


#: A size: a number, or the expression of a dynamic one (``"s77"``).
Size: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class ProgramValue:
    """One value of a program: a tensor, or a symbolic number.

    Attributes
    ----------
    name : str
    dtype : DataType or None
        None where the file gives none that is known.
    sizes : tuple of Size or None
        None for what is no tensor.
    strides : tuple of Size or None
    """

    name: str
    dtype: DataType | None = None
    sizes: tuple[Size, ...] | None = None
    strides: tuple[Size, ...] | None = None


@dataclass(frozen=True, slots=True)
class ModuleFrame:
    """One module around a node: an item of ``nn_module_stack``."""

    key: str
    path: str
    type: str


@dataclass(frozen=True, slots=True)
class ProgramNode:
    """One node of a program: an input, or one call of an operator.

    Attributes
    ----------
    name : str
        Name of the fx node: ``aten_addmm_default``.
    op : str
        ``"placeholder"`` or ``"call_function"``.
    target : str
        As in the file: ``executorch.exir.dialects.edge.ops.aten.addmm.default``; the name of a
        placeholder.
    op_type : str
        As the Inspector names it: ``aten.addmm.default``; empty for placeholders.
    inputs : tuple of (str, str)
        Values read, in order: name of the argument in the operator's schema, name of the value.
    outputs : tuple of ProgramValue
        Values written. An operator that returns a list or a tuple has several.
    constants : Mapping of str to str
        Arguments that are no values, as text, by name: ``{"dim": "[1]"}``.
    debug_handle : int or tuple of int or None
    stack_trace : str or None
    module_stack : tuple of ModuleFrame
        Outermost first.
    kind : str
        Of a placeholder: ``"user_input"``, ``"parameter"``, ``"buffer"``, ``"tensor_constant"``, …;
        else empty.
    qualified_name : str
        Of a parameter, buffer or constant: its name in the module (``a.weight``); else empty.
    metadata : Mapping of str to str
        All of the node's metadata as in the file.
    """

    name: str
    op: str
    target: str
    op_type: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[ProgramValue, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
    debug_handle: int | tuple[int, ...] | None = None
    stack_trace: str | None = None
    module_stack: tuple[ModuleFrame, ...] = ()
    kind: str = ""
    qualified_name: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def operator(self) -> str:
        """The operator without name space and overload: ``addmm`` of ``aten.addmm.default``."""
        parts = self.op_type.split(".")
        return parts[-2] if len(parts) > 1 else self.op_type

    @property
    def handles(self) -> tuple[int, ...]:
        """Its debug handles, none or one or several, each once."""
        held = self.debug_handle
        return (held,) if isinstance(held, int) else tuple(dict.fromkeys(held or ()))

    @property
    def meta(self) -> Mapping[str, Any]:
        """The metadata as a node of torch.fx has it: the debug handle is a number, or None."""
        return {**self.metadata, "debug_handle": self.debug_handle}


@dataclass(frozen=True, eq=False)
class ExportedProgram:
    """One program: its nodes in order, and the values it returns.

    Attributes
    ----------
    name : str
        Member of the ETRecord: ``edge_dialect_exported_program/forward``.
    nodes : tuple of ProgramNode
        Placeholders first, then calls in the order of the program.
    results : tuple of str
        Names of the values returned, in order.
    """

    name: str
    nodes: tuple[ProgramNode, ...]
    results: tuple[str, ...]

    @cached_property
    def producers(self) -> Mapping[str, tuple[int, int]]:
        """Which node and which of its outputs writes a value, by the value's name."""
        return {
            value.name: (at, output)
            for at, node in enumerate(self.nodes)
            for output, value in enumerate(node.outputs)
        }

    @cached_property
    def by_handle(self) -> Mapping[int, tuple[int, ...]]:
        """Positions of the call nodes that have a debug handle, in program order."""
        found: dict[int, list[int]] = {}
        for at, node in enumerate(self.nodes):
            for handle in node.handles if node.op == "call_function" else ():
                found.setdefault(handle, []).append(at)
        return {handle: tuple(nodes) for handle, nodes in found.items()}

    def __repr__(self) -> str:
        calls = sum(node.op == "call_function" for node in self.nodes)
        return (
            f"ExportedProgram({self.name!r}: {counted(calls, 'operator')}, "
            f"{counted(len(self.nodes) - calls, 'input')})"
        )
