"""A program as ``torch.export`` and ExecuTorch's edge dialect keep it in an ETRecord."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tensors.dtypes import DataType

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
