"""Whether a value can be what a member of a struct holds, as far as one can know."""

from __future__ import annotations

from collections.abc import Mapping

from tvmdbg_widgets.model.abi.struct_layout import Machine
from tvmdbg_widgets.model.graph.devices import device_name
from tvmdbg_widgets.model.rpc.values import SESSION_MASK
from tvmdbg_widgets.model.tensors.dtypes import FIRST_CUSTOM, HANDLE, STORABLE_BITS, DataType

#: kDLCPU to kDLMAIA, include/dlpack/dlpack.h @ v1.1.
_DEVICES = range(1, 18)
_CODES = range(18)
_HIGHEST_CODE = 255
_MOST_DEVICES = 1024
_MOST_DIMS = 64
_MOST_ARGUMENTS = 1 << 16
_MOST_VERSION = 100
_LARGEST_OFFSET = 1 << 40
_FIRST_PAGE = 4096
#: User space ends there on x86-64 and on 64-bit ARM with 48-bit addresses.
_USER_SPACE = {64: 1 << 48, 32: 1 << 32}


def problems_of(values: Mapping[str, int], machine: Machine) -> dict[str, str]:
    """Return what cannot be, by the path of the member."""
    found: dict[str, str] = {}
    for path, value in values.items():
        prefix, _, name = path.rpartition(".")
        problem = _problem(name, value, values, prefix, machine)
        if problem:
            found[path] = problem
    return found


def _problem(
    name: str, value: int, values: Mapping[str, int], prefix: str, machine: Machine
) -> str:
    if name in _RANGES:
        lowest, highest = _RANGES[name]
        return "" if lowest <= value <= highest else f"expected {lowest:,} to {highest:,}"
    match name:
        case "device_type":
            known = value % SESSION_MASK in _DEVICES and 0 < value < SESSION_MASK * 64
            return "" if known else "no device has this type"
        case "code":
            known = value in _CODES or FIRST_CUSTOM <= value <= _HIGHEST_CODE
            return "" if known else "no data type has this code"
        case "bits":
            void = value == 0 and values.get(_beside(prefix, "code")) == HANDLE
            return "" if value in STORABLE_BITS or void else f"no data type has {value} bits"
        case "lanes":
            void = value == 0 and values.get(_beside(prefix, "bits")) == 0
            return "" if value >= 1 or void else "a data type has one lane or more"
    if name in _POINTERS:
        return _pointer_problem(name, value, values, prefix, machine)
    return ""


_RANGES = {
    "device_id": (0, _MOST_DEVICES),
    "ndim": (0, _MOST_DIMS),
    "byte_offset": (0, _LARGEST_OFFSET),
    "num_args": (0, _MOST_ARGUMENTS),
    "major": (0, _MOST_VERSION),
    "minor": (0, _MOST_VERSION),
    "flags": (0, 0xFFFF),
}
_POINTERS = frozenset(
    {"data", "shape", "strides", "manager_ctx", "deleter", "values", "type_codes"}
)


def _pointer_problem(
    name: str, value: int, values: Mapping[str, int], prefix: str, machine: Machine
) -> str:
    if value == 0:
        wanted = name == "shape" and values.get(_beside(prefix, "ndim"), 0) > 0
        return "null, though ndim is not 0" if wanted else ""
    if not _FIRST_PAGE <= value < _USER_SPACE[machine.pointer_bits]:
        return "no address of a program"
    align = {"shape": machine.int64_align, "strides": machine.int64_align, "type_codes": 4}
    if value % align.get(name, 1):
        return f"not a multiple of {align[name]}, as its target is aligned"
    return ""


def _beside(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def in_words(path: str, value: int, values: Mapping[str, int]) -> str:
    """Return a value as it is read: a device by its name, an address in hex."""
    prefix, _, name = path.rpartition(".")
    if name == "device_type":
        session, kind = divmod(value, SESSION_MASK)
        where = f", session {session}" if session > 0 else ""
        return f"{value} ({device_name(kind)}{where})"
    if name in _POINTERS or name.startswith(("v_handle", "v_str")):
        return f"{value:#x}" if value else "null"
    if name == "code" and _beside(prefix, "bits") in values:
        dtype = dtype_of(values, prefix)
        return f"{value} ({dtype})" if dtype is not None else str(value)
    return f"{value:,}" if name == "byte_offset" else str(value)


def dtype_of(values: Mapping[str, int], prefix: str) -> DataType | None:
    """Return the data type whose members have a path, None where it cannot be one."""
    found = [values.get(_beside(prefix, name)) for name in ("code", "bits", "lanes")]
    code, bits, lanes = found
    if code is None or bits is None or lanes is None:
        return None
    sound = 0 <= code <= _HIGHEST_CODE and bits in STORABLE_BITS and lanes >= 1
    return DataType(code, bits, lanes) if sound else None
