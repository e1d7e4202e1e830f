"""Reads and stores of data types in a function of LLVM IR, by member or by offset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tvmdbg_widgets.model.tensors.dtypes import STORABLE_BITS

_FIELDS = ("code", "bits", "lanes")
_SPACE = r"(?:\s+addrspace\(\d{1,3}\))?"

NAME = r'%(?:"[^"\n]{1,200}"|[-\w.$]{1,200})'
_GEP = re.compile(
    rf"\s*({NAME})\s*=\s*getelementptr\s+(?:(?:inbounds|nuw|nusw)\s+)*({NAME}|i8)\s*,"
    rf"\s*\S{{1,260}}{_SPACE}\s+({NAME})"
)
_INDEX = re.compile(r"i(?:32|64)\s+(-?\d{1,10})")
_BITCAST = re.compile(rf"\s*({NAME})\s*=\s*bitcast\s+\S{{1,260}}\s+({NAME})\s+to\s+\S{{1,260}}\*")
_LOAD = re.compile(
    rf"\s*({NAME})\s*=\s*load\s+(?:volatile\s+)?i(\d{{1,4}})\s*,\s*\S{{1,260}}{_SPACE}\s+({NAME})"
)
_STORE = re.compile(
    rf"\s*store\s+i(\d{{1,4}})\s+(-?\d{{1,20}}|{NAME})\s*,\s*\S{{1,260}}{_SPACE}\s+({NAME})"
)
_OPERAND = rf"({NAME}|-?\d{{1,20}})"
_COMPARE = re.compile(
    rf"=\s*icmp\s+(?:samesign\s+)?(?:eq|ne)\s+i(\d{{1,4}})\s+{_OPERAND}\s*,"
    rf"\s*(?:i(\d{{1,4}})\s+)?{_OPERAND}"
)
_NARROW_POINTERS = re.compile(r"[\"-]p:32:")
_DTYPE_MEMBER = 3
#: Where ndim lies, by the bits of a pointer; the data type follows.
_NDIM = {64: 16, 32: 12}
#: Largest extent of a data type, with its gaps.
_REACH = 24
_MOST_READS = 64


class IrRead(NamedTuple):
    """A field of a data type that compiled code reads or stores."""

    field: str
    width: int
    line: int
    value: int | None = None
    compared: int = 0
    stored: bool = False

    def conflicts_with(self, widths: tuple[int, int, int]) -> bool:
        """Return whether the width differs from a struct's."""
        own = widths[_FIELDS.index(self.field)]
        return self.width != own or self.compared not in (0, own)


class Handle(NamedTuple):
    """A pointer that is read like a DLTensor."""

    name: str
    text: str
    places: IrPlaces
    reads: tuple[IrRead, ...]


class _Pointer(NamedTuple):
    """The target of a pointer: a field of a struct, or a byte behind another pointer."""

    owner: str
    at: int
    by_offset: bool


class _MemoryAccess(NamedTuple):
    pointer: _Pointer
    read: IrRead


class Reads:
    """Collects the reads of functions, line by line."""

    def __init__(self) -> None:
        self.keys: dict[str, tuple[str, IrPlaces]] = {}
        self._tensors: set[str] = set()
        self._dtypes: dict[str, str] = {}
        self._ndim = _NDIM[64]
        self.begin()

    def layout(self, line: str) -> None:
        """Take the size of pointers from the line ``target datalayout``."""
        if _NARROW_POINTERS.search(line):
            self._ndim = _NDIM[32]

    def know(self, tensor: str, dtype: str) -> None:
        """Register a struct that is DLTensor, and its data type."""
        self._tensors.add(tensor)
        if dtype:
            self._dtypes[dtype] = tensor

    def begin(self) -> None:
        """Begin a function with its own names."""
        self._pointers: dict[str, _Pointer] = {}
        self._accesses: list[_MemoryAccess] = []
        self._loaded: dict[str, int] = {}

    def line(self, line: str, number: int) -> None:
        """Take one line of a function."""
        if "getelementptr" in line:
            self._address(line)
        elif " load " in line:
            match = _LOAD.match(line)
            if match and match[3] in self._pointers:
                self._add(self._pointers[match[3]], int(match[2]), number)
                self._loaded[match[1]] = len(self._accesses) - 1
        elif "icmp" in line:
            self._compare(line, number)
        elif "store i" in line:
            match = _STORE.match(line)
            if match and match[3] in self._pointers:
                value = int(match[2]) if match[2][0] != "%" else None
                self._add(self._pointers[match[3]], int(match[1]), number, value, stored=True)
        elif "bitcast" in line:
            match = _BITCAST.match(line)
            if match and match[2] in self._pointers:
                self._pointers[match[1]] = self._pointers[match[2]]

    def _address(self, line: str) -> None:
        match = _GEP.match(line)
        if match is None:
            return
        indices = [int(index) for index in _INDEX.findall(line, match.end())]
        pointer = None
        if match[2] == "i8" and len(indices) == 1:
            if self._ndim <= indices[0] < self._ndim + 4 + _REACH:
                pointer = _Pointer(match[3], indices[0], by_offset=True)
        elif match[2] in self._tensors:
            inner = indices[1:]
            if inner[:1] == [_DTYPE_MEMBER] and len(inner) <= 2:
                pointer = _Pointer(match[2], (*inner, 0)[1], by_offset=False)
        elif match[2] in self._dtypes and len(indices) == 2:
            pointer = _Pointer(self._dtypes[match[2]], indices[1], by_offset=False)
        if pointer is not None and (pointer.by_offset or 0 <= pointer.at < len(_FIELDS)):
            self._pointers[match[1]] = pointer

    def _add(
        self, pointer: _Pointer, width: int, line: int, value: int | None = None, *,
        stored: bool = False,
    ) -> None:  # fmt: skip
        field = "" if pointer.by_offset else _FIELDS[pointer.at]
        self._accesses.append(_MemoryAccess(pointer, IrRead(field, width, line, value, 0, stored)))

    def _compare(self, line: str, number: int) -> None:
        match = _COMPARE.search(line)
        if match is None:
            return
        first, second = match[2], match[4]
        widths = int(match[1]), int(match[3] or match[1])
        for loaded, constant, width in ((first, second, widths[1]), (second, first, widths[0])):
            at = self._loaded.get(loaded)
            if at is None or constant[0] == "%":
                continue
            access = self._accesses[at]
            read = access.read._replace(line=number, value=int(constant), compared=width)
            self._accesses[at] = _MemoryAccess(access.pointer, read)

    def of_structs(self) -> Iterator[tuple[str, list[IrRead]]]:
        """Yield the reads of members by struct."""
        by_struct: dict[str, list[IrRead]] = {}
        for access in self._accesses:
            if not access.pointer.by_offset:
                by_struct.setdefault(access.pointer.owner, []).append(access.read)
        yield from by_struct.items()

    def of_handles(self) -> Iterator[Handle]:
        """Yield the pointers whose reads fit only a DLTensor."""
        by_pointer: dict[str, dict[int, IrRead]] = {}
        for pointer, read in self._accesses:
            if pointer.by_offset and not read.stored:
                reads = by_pointer.setdefault(pointer.owner, {})
                if len(reads) < _MOST_READS and (pointer.at not in reads or read.value is not None):
                    reads[pointer.at] = read
        for name, reads in by_pointer.items():
            handle = _handle(name, reads, self._ndim)
            if handle is not None:
                yield handle


def _handle(name: str, reads: dict[int, IrRead], ndim: int) -> Handle | None:
    """Return a pointer that reads ndim, and three compared integers behind it."""
    if ndim not in reads or reads[ndim].width != 32:
        return None
    start = ndim + 4
    three = [(at, read) for at, read in sorted(reads.items()) if at >= start][:3]
    if len(three) < 3 or any(read.width not in (8, 16, 32, 64) for _, read in three):
        return None
    code, bits, lanes = (read for _, read in three)
    places = placed((code.width, bits.width, lanes.width))
    if tuple(at - start for at, _ in three) != places.offsets:
        return None
    if code.value is None or bits.value not in STORABLE_BITS or (lanes.value or 0) < 1:
        return None
    text = ", ".join(f"i{read.width} at {at}" for at, read in three)
    named = tuple(
        read._replace(field=field) for field, read in zip(_FIELDS, (code, bits, lanes), strict=True)
    )
    return Handle(name, text, places, named)


_TYPE = re.compile(rf"\s*({NAME})\s*=\s*type\s+(<?\{{.*\}}>?)\s*$")
_INTEGER = re.compile(r"i(8|16|32|64)")
_OPENING, _CLOSING = "({[<", ")}]>"


class IrStruct(NamedTuple):
    """One struct type of a module."""

    name: str
    members: tuple[str, ...]
    packed: bool
    line: int

    def __str__(self) -> str:
        inside = f"{{ {', '.join(self.members)} }}"
        return f"<{inside}>" if self.packed else inside


class IrPlaces(NamedTuple):
    """Places of code, bits and lanes in a ``DLDataType``."""

    widths: tuple[int, int, int]
    offsets: tuple[int, int, int]


def struct_type(line: str, number: int) -> IrStruct | None:
    """Return the struct that a line of IR defines, or None."""
    match = _TYPE.match(line)
    return _struct(match[1], match[2], number) if match else None


def dtype_of(struct: IrStruct, structs: Mapping[str, IrStruct]) -> IrStruct | None:
    """Return the data type of a struct with the members of DLTensor, or None."""
    if len(struct.members) != 7:
        return None
    data, device, ndim, dtype, shape, strides, offset = struct.members
    pointers = all(member == "ptr" or member.endswith("*") for member in (data, shape, strides))
    if not pointers or ndim != "i32" or offset != "i64":
        return None
    where = _named(device, structs, struct.line)
    named = _named(dtype, structs, struct.line)
    if named is None or where is None or where.members != ("i32", "i32"):
        return None
    three = len(named.members) == 3 and all(map(_INTEGER.fullmatch, named.members))
    return named if three else None


def places_of(dtype: IrStruct) -> IrPlaces:
    """Return the places of three integers in a struct."""
    code, bits, lanes = (int(width[1:]) for width in dtype.members)
    return placed((code, bits, lanes), packed=dtype.packed)


def placed(widths: tuple[int, int, int], *, packed: bool = False) -> IrPlaces:
    """Return the places of consecutive integers, aligned unless packed."""
    offsets = []
    end = 0
    for width in widths:
        size = width // 8
        offsets.append(end if packed else -(-end // size) * size)
        end = offsets[-1] + size
    return IrPlaces(widths, (offsets[0], offsets[1], offsets[2]))


def _struct(name: str, text: str, line: int) -> IrStruct | None:
    packed = text.startswith("<")
    inside = text[2:-2] if packed else text[1:-1]
    if packed and not text.endswith("}>"):
        return None
    return IrStruct(name, _split(inside), packed, line)


def _named(text: str, structs: Mapping[str, IrStruct], line: int) -> IrStruct | None:
    """Return a struct by name or literal."""
    if text.startswith(("{", "<{")):
        return _struct("", text, line)
    return structs.get(text)


def _split(text: str) -> tuple[str, ...]:
    """Split at commas outside of brackets."""
    members = []
    depth = begin = 0
    for at, letter in enumerate(text):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == "," and depth == 0:
            members.append(text[begin:at].strip())
            begin = at + 1
    members.append(text[begin:].strip())
    return tuple(members)
