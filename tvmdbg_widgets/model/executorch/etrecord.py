"""Contents of an ETRecord: programs and maps of ids."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import Issues, listed
from tvmdbg_widgets.model.tensors.dtypes import DataType

_SHOWN = 20

#: Instruction id (as text) to its handle, or to those of all nodes of a lowered subgraph.
HandlesByInstruction: TypeAlias = Mapping[str, int | Sequence[int]]


@dataclass(frozen=True, slots=True)
class DelegateCall:
    """One item of the ``delegate_map``: a backend's facts on one of its calls.

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
        return tuple(dict.fromkeys(method for names in named for method in names))

    def __repr__(self) -> str:
        lines = [f"ETRecord({self.file!r}, methods {listed(self.methods) or 'none'})"]
        shown = list(self.edge_programs.values())[:_SHOWN]
        lines += [f"  {program!r}" for program in shown]
        if len(self.edge_programs) > _SHOWN:
            lines.append(f"  … and {len(self.edge_programs) - _SHOWN:,} more")
        return "\n".join(lines)


#: Of an ETDump: 32 bits, at most ten digits.
_INSTRUCTION: Final = re.compile(r"0|[1-9]\d{0,9}", re.ASCII)


class MethodMaps(NamedTuple):
    """The maps of an ETRecord for one method, by instruction."""

    handles: Mapping[int, int | Sequence[int]]
    calls: Mapping[int, DelegateCall]
    outputs: Mapping[int, int]


def maps_of(record: ETRecord | None, method: str) -> MethodMaps:
    """Return the maps of a method without keys that are no instruction."""
    maps: list[Any] = [None, None, None]
    if record is not None:
        maps = [record.debug_handle_map, record.delegate_map, record.num_outputs]
    own = [(each or {}).get(method, {}).items() for each in maps]
    return MethodMaps(
        *({int(key): value for key, value in each if _INSTRUCTION.fullmatch(key)} for each in own)
    )


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
        """Its distinct debug handles."""
        held = self.debug_handle
        return (held,) if isinstance(held, int) else tuple(dict.fromkeys(held or ()))

    @property
    def meta(self) -> Mapping[str, Any]:
        """The metadata like that of a node of torch.fx: the debug handle is a number, or None."""
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
        """Node and output that write a value, by the value's name."""
        return {
            value.name: (at, output)
            for at, node in enumerate(self.nodes)
            for output, value in enumerate(node.outputs)
        }

    @cached_property
    def by_handle(self) -> Mapping[int, tuple[int, ...]]:
        """Positions of call nodes by debug handle, in program order."""
        positions: dict[int, list[int]] = {}
        for at, node in enumerate(self.nodes):
            for handle in node.handles if node.op == "call_function" else ():
                positions.setdefault(handle, []).append(at)
        return {handle: tuple(nodes) for handle, nodes in positions.items()}

    def __repr__(self) -> str:
        calls = sum(node.op == "call_function" for node in self.nodes)
        return (
            f"ExportedProgram({self.name!r}: {counted(calls, 'operator')}, "
            f"{counted(len(self.nodes) - calls, 'input')})"
        )
