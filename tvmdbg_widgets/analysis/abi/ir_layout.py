"""Which layout of ``DLDataType`` a module of LLVM IR was compiled for."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tvmdbg_widgets.formats.llvm_ir import IrTensor
from tvmdbg_widgets.formats.llvm_ir_reads import IrRead
from tvmdbg_widgets.model.abi.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.abi.structs import struct_layout
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import one_line

_FIELDS = ("code", "bits", "lanes")
_READS_TOLD = 6
_NONE = (
    "No struct of this module is a DLTensor, and no pointer is read like one: its functions take "
    "none, or check no data type (int1, int4 and uint4 are not checked), or it is code of a "
    "device. Look at the host module: lib.get_source('ll'), in TVM v0.25 and later "
    "lib.mod.inspect_source('ll')."
)


@dataclass(frozen=True)
class IrLayout:
    """How a module sees ``DLDataType``.

    Attributes
    ----------
    tensors : tuple of IrTensor
        What it takes for DLTensor.
    layout : DTypeLayout or None
        The known one that lies as they do; IR does not tell signs.
    conflicts : tuple of IrRead
        Reads, comparisons and stores of another width than the struct has.
    text : str
        All of it in sentences, what disagrees first.
    """

    tensors: tuple[IrTensor, ...]
    layout: DTypeLayout | None
    conflicts: tuple[IrRead, ...]
    text: str

    def to_dataframe(self) -> Any:
        """One row per read or store (``pandas.DataFrame``); ImportError without pandas."""
        from tvmdbg_widgets.model.base.frames import data_frame

        rows = [(tensor, read) for tensor in self.tensors for read in tensor.reads]
        return data_frame(
            {
                "tensor": [tensor.name for tensor, _ in rows],
                "line": [read.line for _, read in rows],
                "field": [read.field for _, read in rows],
                "width": [read.width for _, read in rows],
                "struct_width": [_width(tensor, read.field) for tensor, read in rows],
                "value": [read.value for _, read in rows],
                "stored": [read.stored for _, read in rows],
            }
        )

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def layout_of_tensors(
    tensors: Sequence[IrTensor], layouts: Sequence[DTypeLayout] = (NARROW, WIDE)
) -> IrLayout:
    """Say which layout a module was compiled for."""
    if not tensors:
        return IrLayout((), None, (), _NONE)
    known = [next((each for each in layouts if _is(each, tensor)), None) for tensor in tensors]
    lines = [line for tensor in tensors for line in _conflict_lines(tensor)]
    if len({tensor.places for tensor in tensors}) > 1:
        lines.append(
            "The module has more than one DLDataType: it was linked from different builds."
        )
    for tensor, layout in zip(tensors, known, strict=True):
        lines += _layout_lines(tensor, layout)
    conflicts = tuple(read for tensor in tensors for read in tensor.conflicts)
    found = known[0] if len(set(known)) == 1 else None
    return IrLayout(tuple(tensors), found, conflicts, "\n".join(lines))


def _is(layout: DTypeLayout, tensor: IrTensor) -> bool:
    if tuple(field.name for field in layout.fields) != _FIELDS:
        return False
    leaves = list(struct_layout("DLDataType", layout).leaves())
    return (
        tuple(8 * leaf.type.size for leaf in leaves) == tensor.places.widths
        and tuple(leaf.offset for leaf in leaves) == tensor.places.offsets
    )


def _width(tensor: IrTensor, field: str) -> int:
    return tensor.places.widths[_FIELDS.index(field)]


def _layout_lines(tensor: IrTensor, layout: DTypeLayout | None) -> list[str]:
    called = "a layout that is not known here" if layout is None else f"the {layout.name} layout"
    name = one_line(tensor.name)
    if tensor.by_offset:
        told = f"code reads {tensor.text} of {name}, a DLTensor: compiled for {called}."
    else:
        told = f"DLDataType is {one_line(tensor.text)} in {name}, the module's DLTensor: compiled "
        told += f"for {called}."
    lines = [f"Line {tensor.line}: {told}"]
    agreeing = tensor.read_count - tensor.conflict_count
    if agreeing:
        verb = agree(agreeing, "has")
        lines.append(f"{counted(agreeing, 'use')} of its fields {verb} these widths.")
    return lines


def _conflict_lines(tensor: IrTensor) -> list[str]:
    told = tensor.conflicts[:_READS_TOLD]
    lines = [f"Line {read.line}: {_conflict(tensor, read)}" for read in told]
    more = tensor.conflict_count - len(told)
    if more:
        lines.append(f"and {more:,} more.")
    return lines


def _conflict(tensor: IrTensor, read: IrRead) -> str:
    own = f"but the struct has i{_width(tensor, read.field)} there"
    if read.stored:
        return (
            f"{read.field} is stored as i{read.width}, {own}: lower_tvm_builtin.cc and "
            "codegen_cpu.cc were not changed together."
        )
    if read.value is None:
        return f"{read.field} is read as i{read.width}, {own}."
    other = read.compared if read.compared != _width(tensor, read.field) else read.width
    return (
        f"{read.field} is compared as i{other} with {read.value}, {own}: "
        "arg_binder.cc and codegen_cpu.cc were not changed together."
    )
