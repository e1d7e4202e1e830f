"""The structs that compiled code and the runtime share, for any layout of ``DLDataType``.

``DLTensor`` and its kin: include/dlpack/dlpack.h @ v1.1; ``TVMValue``: include/tvm/runtime/
c_runtime_api.h @ v0.5 to v0.20; ``TVMArgs``: include/tvm/runtime/packed_func.h @ v0.5 to v0.20.
"""

from __future__ import annotations

from functools import lru_cache

from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.abi.struct_layout import Kind, Machine, ScalarType, StructLayout, place
from tvmdbg_widgets.model.base.choice import meant

_INT_NAMES = {"u": "uint{}_t", "i": "int{}_t"}
_KINDS: dict[str, Kind] = {"u": "uint", "i": "int"}
#: Members as (name, type): another struct, ``u64`` and its kin, or a pointer as C spells it.
_MEMBERS: dict[str, tuple[tuple[str, str], ...]] = {
    "DLDevice": (("device_type", "i32"), ("device_id", "i32")),
    "DLTensor": (
        ("data", "void *"),
        ("device", "DLDevice"),
        ("ndim", "i32"),
        ("dtype", "DLDataType"),
        ("shape", "int64_t *"),
        ("strides", "int64_t *"),
        ("byte_offset", "u64"),
    ),
    "DLManagedTensor": (
        ("dl_tensor", "DLTensor"),
        ("manager_ctx", "void *"),
        ("deleter", "void (*)(DLManagedTensor *)"),
    ),
    "DLPackVersion": (("major", "u32"), ("minor", "u32")),
    "DLManagedTensorVersioned": (
        ("version", "DLPackVersion"),
        ("manager_ctx", "void *"),
        ("deleter", "void (*)(DLManagedTensorVersioned *)"),
        ("flags", "u64"),
        ("dl_tensor", "DLTensor"),
    ),
    "TVMValue": (
        ("v_int64", "i64"),
        ("v_float64", "f64"),
        ("v_handle", "void *"),
        ("v_str", "const char *"),
        ("v_type", "DLDataType"),
        ("v_device", "DLDevice"),
    ),
    "TVMArgs": (
        ("values", "const TVMValue *"),
        ("type_codes", "const int *"),
        ("num_args", "i32"),
    ),
}
_UNIONS = frozenset({"TVMValue"})

#: Names that :func:`struct_layout` knows.
STRUCTS = (
    "DLDataType",
    "DLTensor",
    "DLManagedTensor",
    "DLManagedTensorVersioned",
    "TVMValue",
    "TVMArgs",
    "DLDevice",
)


@lru_cache(maxsize=256)
def struct_layout(name: str, dtype: DTypeLayout, machine: Machine | None = None) -> StructLayout:
    """Return where the members of a struct lie."""
    machine = machine or Machine()
    if name == "DLDataType":
        fields = [(field.name, _integer(field.kind, machine)) for field in dtype.fields]
        return place(name, fields)
    if name not in _MEMBERS:
        raise ValueError(f"no struct {name!r:.80}{meant(name, STRUCTS)}")
    members = [(label, _type(kind, dtype, machine)) for label, kind in _MEMBERS[name]]
    return place(name, members, is_union=name in _UNIONS)


def _type(kind: str, dtype: DTypeLayout, machine: Machine) -> ScalarType | StructLayout:
    if kind.endswith(("*", ")")):
        size = machine.pointer_bits // 8
        return ScalarType(kind, "pointer", size, size)
    if kind == "f64":
        return ScalarType("double", "float", 8, machine.int64_align)
    if kind[0] in _KINDS:
        return _integer(kind, machine)
    return struct_layout(kind, dtype, machine)


def _integer(kind: str, machine: Machine) -> ScalarType:
    size = int(kind[1:]) // 8
    align = machine.int64_align if size == 8 else size
    return ScalarType(_INT_NAMES[kind[0]].format(kind[1:]), _KINDS[kind[0]], size, align)
