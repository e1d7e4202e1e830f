"""Memory decoded as a struct, under one layout of ``DLDataType`` after the other."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvmdbg_widgets.model.base.numbers import ByteField
from tvmdbg_widgets.model.dtype_layout import SESSION_MASK, DTypeLayout
from tvmdbg_widgets.model.graph.graph import device_name
from tvmdbg_widgets.model.struct_layout import (
    ByteOrder,
    Machine,
    ScalarMember,
    ScalarType,
    StructLayout,
    struct_layout,
)
from tvmdbg_widgets.model.tensors.dtypes import FIRST_CUSTOM, HANDLE, STORABLE_BITS, DataType

_LETTERS = {("uint", 1): "B", ("uint", 2): "H", ("uint", 4): "I", ("uint", 8): "Q"}
_LETTERS |= {("int", 1): "b", ("int", 2): "h", ("int", 4): "i", ("int", 8): "q"}
_LETTERS |= {("pointer", 4): "I", ("pointer", 8): "Q"}
UNKNOWN = "unknown"
_ORDERS = {"little": "<", "big": ">"}


@dataclass(frozen=True)
class DecodedMember:
    """One decoded member."""

    leaf: ScalarMember
    text: str
    problem: str


@dataclass(frozen=True)
class Decoding:
    """A piece of memory decoded under one layout.

    Attributes
    ----------
    dtype_layout : DTypeLayout
    machine : Machine
    struct : StructLayout
    values : tuple of Value
        Of every member, in order.
    complete : bool
        Whether the bytes reach to the end of the struct.
    summary : str
        Data type, number of dimensions and device, as far as they make sense.
    """

    dtype_layout: DTypeLayout
    machine: Machine
    struct: StructLayout
    values: tuple[DecodedMember, ...]
    complete: bool
    summary: str

    @property
    def problems(self) -> tuple[DecodedMember, ...]:
        """Members with impossible values."""
        return tuple(value for value in self.values if value.problem)

    @property
    def makes_sense(self) -> bool:
        """Whether all known values are possible."""
        return not self.problems

    @property
    def name(self) -> str:
        """Layout and machine: ``"narrow, 64-bit"``."""
        return f"{self.dtype_layout.name}, {self.machine}"

    @property
    def fields(self) -> ByteField:
        """The members as nested fields of bytes, padding among them."""
        by_path = {value.leaf.path: value for value in self.values}
        return _field("", self.struct.name, self.struct, 0, by_path)


def decode(
    data: bytes,
    name: str,
    layouts: Sequence[DTypeLayout],
    machines: Sequence[Machine] = (Machine(),),
    *,
    order: ByteOrder = "little",
) -> tuple[Decoding, ...]:
    """Decode bytes as a struct, under every layout and machine."""
    return tuple(
        _decoded(data, name, layout, machine, _ORDERS[order])
        for machine in machines
        for layout in layouts
    )


def _decoded(data: bytes, name: str, layout: DTypeLayout, machine: Machine, order: str) -> Decoding:
    placed = struct_layout(name, layout, machine)
    leaves = list(placed.leaves())
    numbers = {leaf.path: _number(data, leaf, order) for leaf in leaves if leaf.end <= len(data)}
    whole = {path: value for path, value in numbers.items() if isinstance(value, int)}
    problems = {} if placed.is_union else problems_of(whole, machine)
    values = []
    for leaf in leaves:
        number = numbers.get(leaf.path)
        text = UNKNOWN if number is None else repr(number)
        if isinstance(number, int):
            text = in_words(leaf.path, number, whole)
        values.append(DecodedMember(leaf, text, problems.get(leaf.path, "")))
    complete = len(data) >= placed.size
    return Decoding(layout, machine, placed, tuple(values), complete, _summary(whole))


def _number(data: bytes, leaf: ScalarMember, order: str) -> int | float:
    if leaf.type.kind == "float":
        value: float = struct.unpack_from(f"{order}d", data, leaf.offset)[0]
        return value
    letter = _LETTERS[leaf.type.kind, leaf.type.size]
    number: int = struct.unpack_from(f"{order}{letter}", data, leaf.offset)[0]
    return number


def _summary(values: Mapping[str, int]) -> str:
    paths = [path for path in values if path.endswith("code")]
    prefix = paths[0].rpartition(".")[0] if paths else ""
    dtype = dtype_of(values, prefix)
    known = [] if dtype is None else [str(dtype)]
    outer = prefix.rpartition(".")[0]
    ndim = values.get(f"{outer}.ndim" if outer else "ndim")
    if ndim is not None and dtype is not None:
        known.append(f"ndim {ndim}")
    return ", ".join(known)


def _field(
    path: str, name: str, kind: StructLayout, offset: int, told: Mapping[str, DecodedMember]
) -> ByteField:
    children: list[ByteField] = []
    at = 0
    for member in kind.members:
        if member.offset > at and not kind.is_union:
            padding = member.offset - at
            children.append(ByteField("padding", offset + at, padding, "padding"))
        inner = f"{path}.{member.name}" if path else member.name
        where = offset + member.offset
        if isinstance(member.type, ScalarType):
            value = told[inner]
            shown = "pointer" if member.type.kind == "pointer" else "number"
            shown = "unknown" if value.text == UNKNOWN else shown
            fields = shown, value.text, value.problem
            children.append(ByteField(member.name, where, member.size, *fields))  # type: ignore[arg-type]
        else:
            children.append(_field(inner, member.name, member.type, where, told))
        at = max(at, member.end)
    if at < kind.size:
        children.append(ByteField("padding", offset + at, kind.size - at, "padding"))
    return ByteField(name, offset, kind.size, "group", "", "", tuple(children))


def verdict(decodings: Sequence[Decoding]) -> str:
    """State which layout fits the bytes, and why the others do not."""
    several = len({decoding.machine for decoding in decodings}) > 1
    names = {
        id(decoding): decoding.name if several else decoding.dtype_layout.name
        for decoding in decodings
    }
    known = [decoding for decoding in decodings if any(v.text != UNKNOWN for v in decoding.values)]
    sensible = [decoding for decoding in known if decoding.makes_sense]
    wrong = [decoding for decoding in known if not decoding.makes_sense]
    against = "; ".join(f"{names[id(decoding)]}: {_why_not(decoding)}" for decoding in wrong)
    if len(known) < len(decodings):
        short = " and ".join(name for at, name in names.items() if at not in map(id, known))
        return f"too few bytes for any member of {short}" + (f". Not {against}" if against else "")
    if not sensible:
        return f"no layout makes sense. {against}"
    alike, summary = " and ".join(names[id(decoding)] for decoding in sensible), sensible[0].summary
    text = f"{alike} make sense: the bytes do not tell them apart"
    if len(sensible) == 1:
        text = f"{alike} makes sense: {summary}" if summary else f"{alike} makes sense"
    return f"{text}. Not {against}" if against else text


def _why_not(decoding: Decoding) -> str:
    first = decoding.problems[0]
    more = len(decoding.problems) - 1
    also = f", and {more} more" if more else ""
    return f"{first.leaf.path} is {first.text} ({first.problem}{also})"


_DEVICES = range(1, 18)  # kDLCPU to kDLMAIA, include/dlpack/dlpack.h @ v1.1
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
    """Return problems by the path of the member."""
    problems: dict[str, str] = {}
    for path, value in values.items():
        prefix, _, name = path.rpartition(".")
        problem = _problem(name, value, values, prefix, machine)
        if problem:
            problems[path] = problem
    return problems


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
    """Return a readable value: a device by name, an address in hex."""
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
    """Return the data type with members below a path, None if they form none."""
    code, bits, lanes = (values.get(_beside(prefix, name)) for name in ("code", "bits", "lanes"))
    if code is None or bits is None or lanes is None:
        return None
    sound = 0 <= code <= _HIGHEST_CODE and bits in STORABLE_BITS and lanes >= 1
    return DataType(code, bits, lanes) if sound else None
