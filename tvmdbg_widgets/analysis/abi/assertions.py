"""C++ that tells at compile time where a layout of ``DLDataType`` is not what the code assumes."""

from __future__ import annotations

from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.abi.struct_layout import Machine
from tvmdbg_widgets.model.abi.structs import struct_layout
from tvmdbg_widgets.model.base.numbers import counted

_STRUCTS = ("DLDataType", "DLTensor", "DLManagedTensor")
#: Was called ``ctx`` up to dlpack v0.3, and never moves.
_RENAMED = "device"


def static_assertions(layout: DTypeLayout, machine: Machine | None = None) -> str:
    """Return ``static_assert``s for the layout, to be put behind ``#include <dlpack/dlpack.h>``.

    They fail to compile where ``DLDataType`` or a struct that contains it lies otherwise. C++11.
    """
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


#: By the id of the place.
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
    """Return forms that take the widths from the struct, so that they cannot be forgotten."""
    return "\n".join(DECLTYPE_FORMS.values())
