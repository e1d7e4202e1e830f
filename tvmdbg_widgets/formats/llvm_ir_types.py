"""Struct types of LLVM IR as text, and which of them can only be ``DLTensor``.

``CodeGenCPU::Init``, src/target/llvm/codegen_cpu.cc @ v0.19.0: DLTensor is
``{ptr, {i32, i32}, i32, {i8, i8, i16}, ptr, ptr, i64}``, an unnamed type of the module. Typed
pointers (``i8*``, ``i64*``) up to LLVM 14, ``ptr`` from 15 on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

NAME = r'%(?:"[^"\n]{1,200}"|[-\w.$]{1,200})'
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
    """How code, bits and lanes lie in a ``DLDataType``."""

    widths: tuple[int, int, int]
    offsets: tuple[int, int, int]


def struct_type(line: str, number: int) -> IrStruct | None:
    """Return the struct that a line of IR defines, None where it defines none."""
    match = _TYPE.match(line)
    return _struct(match[1], match[2], number) if match else None


def dtype_of(struct: IrStruct, structs: Mapping[str, IrStruct]) -> IrStruct | None:
    """Return the data type of a struct whose members are those of DLTensor, None of another."""
    if len(struct.members) != 7:
        return None
    data, device, ndim, dtype, shape, strides, offset = struct.members
    pointers = all(each == "ptr" or each.endswith("*") for each in (data, shape, strides))
    if not pointers or ndim != "i32" or offset != "i64":
        return None
    where = _named(device, structs, struct.line)
    found = _named(dtype, structs, struct.line)
    if found is None or where is None or where.members != ("i32", "i32"):
        return None
    three = len(found.members) == 3 and all(map(_INTEGER.fullmatch, found.members))
    return found if three else None


def places_of(dtype: IrStruct) -> IrPlaces:
    """Return how three integers lie in a struct."""
    code, bits, lanes = (int(each[1:]) for each in dtype.members)
    return placed((code, bits, lanes), packed=dtype.packed)


def placed(widths: tuple[int, int, int], *, packed: bool = False) -> IrPlaces:
    """Return where integers lie one after the other, each aligned unless packed."""
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
    """Return a struct by its name, or one that is written out."""
    if text.startswith(("{", "<{")):
        return _struct("", text, line)
    return structs.get(text)


def _split(text: str) -> tuple[str, ...]:
    """Split at commas that are in no bracket."""
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
