"""Which layout of ``DLDataType`` a module of LLVM IR was compiled for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.abi.dtype_layout import NARROW, WIDE
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.formats.llvm_ir import IrRead, IrTensor
    from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout

_FIELDS = ("code", "bits", "lanes")
_READS_TOLD = 6


@dataclass(frozen=True)
class IrLayout:
    """How a module sees ``DLDataType``.

    Attributes
    ----------
    tensors : tuple of IrTensor
        Its structs that can only be DLTensor.
    layout : DTypeLayout or None
        The known one whose widths they have; IR does not tell signs.
    conflicts : tuple of IrRead
        Comparisons that read another width than the struct has.
    text : str
        All of it in sentences.
    """

    tensors: tuple[IrTensor, ...]
    layout: DTypeLayout | None
    conflicts: tuple[IrRead, ...]
    text: str

    def __repr__(self) -> str:
        return self.text


def layout_of_tensors(
    tensors: Sequence[IrTensor], layouts: Sequence[DTypeLayout] = (NARROW, WIDE)
) -> IrLayout:
    """Say which layout the structs of a module have.

    Parameters
    ----------
    tensors : sequence of IrTensor
        As :func:`tvmdbg_widgets.formats.llvm_ir.read_tensor_types` finds them.
    layouts : sequence of DTypeLayout
        Those to be recognised.
    """
    if not tensors:
        return IrLayout(
            (), None, (),
            "No struct of this module is a DLTensor: its functions take none, or it is code of a "
            "device. Look at the host module: lib.get_source('ll').",
        )  # fmt: skip
    lines: list[str] = []
    conflicts: list[IrRead] = []
    known: set[DTypeLayout | None] = set()
    for tensor in tensors:
        layout = next((each for each in layouts if _has(each, tensor.widths)), None)
        known.add(layout)
        lines.append(_struct_line(tensor, layout))
        wrong = [read for read in tensor.reads if read.width != _width(tensor, read.field)]
        conflicts += wrong
        lines += _read_lines(tensor, wrong)
    if len(known) > 1:
        lines.append("The structs do not agree: the module was linked from different builds.")
    found = known.pop() if len(known) == 1 else None
    return IrLayout(tuple(tensors), found, tuple(conflicts), "\n".join(lines))


def _has(layout: DTypeLayout, widths: tuple[int, int, int]) -> bool:
    ordered = tuple(field.name for field in layout.fields) == _FIELDS
    return ordered and tuple(8 * field.size for field in layout.fields) == widths


def _width(tensor: IrTensor, field: str) -> int:
    return tensor.widths[_FIELDS.index(field)]


def _struct_line(tensor: IrTensor, layout: DTypeLayout | None) -> str:
    members = ", ".join(tensor.dtype.members)
    name = "a layout that is not known here" if layout is None else f"the {layout.name} layout"
    struct = one_line(tensor.struct.name)
    return (
        f"Line {tensor.dtype.line}: DLDataType is {{ {members} }} in {struct}, the module's "
        f"DLTensor: compiled for {name}."
    )


def _read_lines(tensor: IrTensor, wrong: Sequence[IrRead]) -> list[str]:
    lines = [
        f"Line {read.line}: {read.field} is compared as i{read.width} with {read.value}, but the "
        f"struct has i{_width(tensor, read.field)} there: arg_binder.cc and codegen_cpu.cc were "
        "not changed together."
        for read in wrong[:_READS_TOLD]
    ]
    more = len(wrong) - _READS_TOLD
    if more > 0:
        lines.append(f"and {more} more comparisons.")
    if tensor.reads and not wrong:
        lines.append(f"{len(tensor.reads)} comparisons of data types read the same widths.")
    return lines
