"""Differences between layouts of a struct: by member, as C++ checks, in LLVM IR."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvmdbg_widgets.formats.llvm_ir import IrTensor
from tvmdbg_widgets.formats.llvm_ir_reads import IrRead
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.struct_layout import Machine, ScalarMember, StructLayout, struct_layout


@dataclass(frozen=True, slots=True)
class LayoutChanges:
    """Differences between two layouts of one struct."""

    moved: Mapping[str, int]
    retyped: Mapping[str, tuple[ScalarMember, ScalarMember]]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    size: tuple[int, int]
    align: tuple[int, int]

    def mark(self, path: str) -> str:
        """Return a value's change in a few letters: ``"+8"``, ``"1→2 B"``."""
        marks = []
        if path in self.added:
            marks.append("new")
        if path in self.retyped:
            was, now = (leaf.type for leaf in self.retyped[path])
            resized = was.size != now.size
            marks.append(f"{was.size}→{now.size} B" if resized else f"was {was.name}")
        if path in self.moved:
            marks.append(f"{self.moved[path]:+d}")
        return ", ".join(marks)

    def lines(self) -> list[str]:
        """Return the differences as sentences."""
        lines = [
            f"{path}: {now.type.name} at {now.offset}, was {was.type.name} at {was.offset}"
            for path, (was, now) in self.retyped.items()
        ]
        by_shift: defaultdict[int, list[str]] = defaultdict(list)
        for path, shift in self.moved.items():
            if path not in self.retyped:
                by_shift[shift].append(path)
        for shift, paths in by_shift.items():
            where = "later" if shift > 0 else "earlier"
            lines.append(f"{counted(abs(shift), 'byte')} {where}: {', '.join(paths)}")
        lines += [f"only here: {path}" for path in self.added]
        lines += [f"not here: {path}" for path in self.gone]
        for name, (before, after) in (("size", self.size), ("alignment", self.align)):
            if before != after:
                lines.append(f"{name}: {counted(after, 'byte')}, was {before}")
        return lines


def layout_changes(before: StructLayout, after: StructLayout) -> LayoutChanges:
    """Compare two layouts of one struct, value by value."""
    old = {leaf.path: leaf for leaf in before.leaves()}
    new = {leaf.path: leaf for leaf in after.leaves()}
    both = {path: (old[path], new[path]) for path in new if path in old}
    return LayoutChanges(
        moved={
            path: now.offset - was.offset
            for path, (was, now) in both.items()
            if now.offset != was.offset
        },
        retyped={
            path: (was, now)
            for path, (was, now) in both.items()
            if (now.type.name, now.type.size) != (was.type.name, was.type.size)
        },
        added=tuple(path for path in new if path not in old),
        gone=tuple(path for path in old if path not in new),
        size=(before.size, after.size),
        align=(before.align, after.align),
    )


_STRUCTS = ("DLDataType", "DLTensor", "DLManagedTensor")
_RENAMED = "device"  # was called ``ctx`` up to dlpack v0.3, and never moves


def static_assertions(layout: DTypeLayout, machine: Machine | None = None) -> str:
    """Return C++11 that compiles only where ``DLDataType`` and structs with it lie so."""
    machine = machine or Machine()
    lines = [
        f"// DLDataType as {layout.declaration}, {machine}.",
        "#include <cstddef>",
        "#include <cstdint>",
        "#include <type_traits>",
    ]
    for field in layout.fields:
        kind = f"{'u' if field.kind[0] == 'u' else ''}int{field.kind[1:]}_t"
        lines.append(
            f"static_assert(std::is_same<decltype(DLDataType::{field.name}), {kind}>::value,\n"
            f'              "DLDataType::{field.name} is not {kind}");'
        )
    for name in _STRUCTS:
        placed = struct_layout(name, layout, machine)
        lines.append(
            f'static_assert(sizeof({name}) == {placed.size}, "{name} has not '
            f'{counted(placed.size, "byte")}");'
        )
        lines += [
            f"static_assert(offsetof({name}, {member.name}) == {member.offset}, "
            f'"{name}::{member.name} is not at {member.offset}");'
            for member in placed.members
            if member.name != _RENAMED
        ]
    return "\n".join(lines) + "\n"


#: By id of the place.
DECLTYPE_FORMS = {
    "serializer": """\
// serializer.h: the handler of whatever type the field has (Serializer from v0.25 on).
Handler<decltype(dtype.code)>::Write(strm, dtype.code);
Handler<decltype(dtype.bits)>::Write(strm, dtype.bits);
Handler<decltype(dtype.lanes)>::Write(strm, dtype.lanes);
""",
    "data_type": """\
// data_type.h, dtype.cc, stackvm.cc, ndarray.cc: no cast to a type that is named.
data_.code = static_cast<decltype(data_.code)>(code);
data_.bits = static_cast<decltype(data_.bits)>(bits);
data_.lanes = static_cast<decltype(data_.lanes)>(lanes);
""",
    "arg_binder": """\
// arg_binder.cc, lower_tvm_builtin.cc: the width and the sign of the field.
template <typename T>
DataType FieldType() {
  return std::is_signed<T>::value ? DataType::Int(8 * sizeof(T)) : DataType::UInt(8 * sizeof(T));
}
TVMArrayGet(FieldType<decltype(DLDataType::code)>(), handle, builtin::kArrTypeCode) ==
    IntImm(FieldType<decltype(DLDataType::code)>(), buffer->dtype.code());
""",
    "codegen_cpu": """\
// codegen_cpu.cc: integers as wide as the fields.
auto integer = [&](size_t size) { return llvm::Type::getIntNTy(*ctx, 8 * size); };
t_tvm_type_ = llvm::StructType::create({integer(sizeof(DLDataType::code)),
                                        integer(sizeof(DLDataType::bits)),
                                        integer(sizeof(DLDataType::lanes))});
""",
    "rpc_padding": """\
// rpc_reference.h: as much padding as fills a data type up to 8 bytes; Read skips as much.
static_assert(sizeof(DLDataType) <= 8, "the packets of the RPC hold data types of up to 8 bytes");
for (size_t i = sizeof(DLDataType); i < 8; ++i) channel->template Write<uint8_t>(0);
""",
}


def decltype_forms() -> str:
    """Return forms that take widths from the struct, so that they cannot be forgotten."""
    return "\n".join(DECLTYPE_FORMS.values())


_FIELDS = ("code", "bits", "lanes")
_READS_LISTED = 6
_NONE = (
    "No struct of this module is a DLTensor, and no pointer is read like one: its functions take "
    "none, or check no data type (int1, int4 and uint4 are not checked), or it is code of a "
    "device. Look at the host module: lib.get_source('ll'), in TVM v0.25 and later "
    "lib.mod.inspect_source('ll')."
)


@dataclass(frozen=True)
class IrLayout:
    """Layout of ``DLDataType`` in a module of LLVM IR.

    Attributes
    ----------
    tensors : tuple of IrTensor
        Layouts that it uses for DLTensor.
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
    """State which layout a module was compiled for."""
    if not tensors:
        return IrLayout((), None, (), _NONE)
    known = [
        next((layout for layout in layouts if _is(layout, tensor)), None) for tensor in tensors
    ]
    lines = []
    for tensor in tensors:
        shown = tensor.conflicts[:_READS_LISTED]
        lines += [f"Line {read.line}: {_conflict(tensor, read)}" for read in shown]
        if more := tensor.conflict_count - len(shown):
            lines.append(f"and {more:,} more.")
    if len({tensor.places for tensor in tensors}) > 1:
        lines.append(
            "The module has more than one DLDataType: it was linked from different builds."
        )
    for tensor, layout in zip(tensors, known, strict=True):
        lines += _layout_lines(tensor, layout)
    conflicts = tuple(read for tensor in tensors for read in tensor.conflicts)
    agreed = known[0] if len(set(known)) == 1 else None
    return IrLayout(tuple(tensors), agreed, conflicts, "\n".join(lines))


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
        line = f"code reads {tensor.text} of {name}, a DLTensor: compiled for {called}."
    else:
        line = f"DLDataType is {one_line(tensor.text)} in {name}, the module's DLTensor: compiled "
        line += f"for {called}."
    lines = [f"Line {tensor.line}: {line}"]
    agreeing = tensor.read_count - tensor.conflict_count
    if agreeing:
        verb = agree(agreeing, "has")
        lines.append(f"{counted(agreeing, 'use')} of its fields {verb} these widths.")
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
