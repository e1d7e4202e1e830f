"""LLVM IR as text: how its structs lie, and what is read of a ``DLTensor``.

``CodeGenCPU::Init`` and ``CreateStructRefPtr``, src/target/llvm/codegen_cpu.cc @ v0.19.0: DLTensor
is ``{ptr, {i32, i32}, i32, {i8, i8, i16}, ptr, ptr, i64}``, an unnamed type of the module. Typed
pointers (``i8*``, ``i64*``) up to LLVM 14, ``ptr`` from 15 on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tvmdbg_widgets.model.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_NAME = r'%(?:"[^"\n]{1,200}"|[-\w.$]{1,200})'
_TYPE = re.compile(rf"\s*({_NAME})\s*=\s*type\s*(<?)\{{([^\n]*)\}}(>?)\s*$")
_GEP = re.compile(
    rf"\s*({_NAME})\s*=\s*getelementptr\s+(?:inbounds\s+|nuw\s+|nusw\s+)*({_NAME})\s*,"
)
_INDEX = re.compile(r"i(?:32|64)\s+(-?\d{1,10})")
_LOAD = re.compile(rf"\s*({_NAME})\s*=\s*load\s+i(\d{{1,4}})\s*,\s*\S{{1,260}}\s+({_NAME})")
_COMPARE = re.compile(rf"=\s*icmp\s+eq\s+i(\d{{1,4}})\s+({_NAME})\s*,\s*(-?\d{{1,20}})")
_INTEGER = re.compile(r"i(\d{1,4})")
_DTYPE_MEMBER = 3
_FIELDS = ("code", "bits", "lanes")
_LONGEST_LINE = 20_000


class IrStruct(NamedTuple):
    """One struct type of a module.

    Attributes
    ----------
    name : str
        Such as ``"%0"``.
    members : tuple of str
        As they are written.
    packed : bool
    line : int
        Counted from 1.
    """

    name: str
    members: tuple[str, ...]
    packed: bool
    line: int


class IrRead(NamedTuple):
    """A field of a data type that compiled code reads and compares.

    Attributes
    ----------
    field : str
        ``"code"``, ``"bits"`` or ``"lanes"``.
    width : int
        Bits that are read.
    value : int
        What they are compared with.
    line : int
    """

    field: str
    width: int
    value: int
    line: int


@dataclass(frozen=True)
class IrTensor:
    """A struct of a module that can only be ``DLTensor``.

    Attributes
    ----------
    struct : IrStruct
    dtype : IrStruct
        Its ``DLDataType``.
    widths : tuple of int
        Bits of the three integers in it.
    reads : tuple of IrRead
        What compiled code compares of them.
    """

    struct: IrStruct
    dtype: IrStruct
    widths: tuple[int, int, int]
    reads: tuple[IrRead, ...]


def read_tensor_types(text: str | bytes, name: str = "the module") -> tuple[IrTensor, ...]:
    """Return the structs of a module that can only be ``DLTensor``.

    Parameters
    ----------
    text : str or bytes
        ``lib.get_source("ll")``, or a ``.ll`` file.

    Raises
    ------
    FormatError
        The text is LLVM bitcode.
    """
    if isinstance(text, bytes):
        if text[:4] in _BITCODE:
            raise FormatError(
                "this is LLVM bitcode, not its text",
                file=name,
                offset=0,
                expected="text such as `%0 = type { ptr, %1, i32, %2, ptr, ptr, i64 }`",
                found=text[:4].hex(" "),
                hint="Turn it into text: llvm-dis module.bc -o module.ll",
            )
        text = text.decode("utf-8", "replace")
    lines = text.splitlines()
    structs = {each.name: each for each in _structs(lines)}
    found = []
    for struct in structs.values():
        dtype = _dtype_of(struct, structs)
        if dtype is not None:
            bits = [_INTEGER.fullmatch(each) for each in dtype.members]
            code, width, lanes = (int(each[1]) for each in bits if each is not None)
            reads = tuple(_reads(lines, struct.name))
            found.append(IrTensor(struct, dtype, (code, width, lanes), reads))
    return tuple(found)


def _structs(lines: Iterable[str]) -> Iterable[IrStruct]:
    for number, line in enumerate(lines, 1):
        match = _TYPE.match(line) if len(line) <= _LONGEST_LINE and "= type" in line else None
        if match is not None:
            members = tuple(each.strip() for each in match[3].split(","))
            yield IrStruct(match[1], members, bool(match[2]), number)


def _dtype_of(struct: IrStruct, structs: Mapping[str, IrStruct]) -> IrStruct | None:
    """Return the data type of a struct whose members are those of DLTensor, None of another."""
    if len(struct.members) != 7:
        return None
    data, device, ndim, dtype, shape, strides, offset = struct.members
    pointers = all(each == "ptr" or each.endswith("*") for each in (data, shape, strides))
    if not pointers or ndim != "i32" or offset != "i64":
        return None
    found, where = structs.get(dtype), structs.get(device)
    if found is None or where is None or where.members != ("i32", "i32"):
        return None
    three = len(found.members) == 3 and all(map(_INTEGER.fullmatch, found.members))
    return found if three else None


def _reads(lines: Iterable[str], tensor: str) -> Iterable[IrRead]:
    """Follow pointers to the data type through loads to comparisons, function by function."""
    pointers: dict[str, str] = {}
    loaded: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE:
            continue
        if line.startswith("define"):
            pointers.clear()
            loaded.clear()
        elif "getelementptr" in line:
            match = _GEP.match(line)
            field = _field(line[match.end() :]) if match and match[2] == tensor else None
            if match and field:
                pointers[match[1]] = field
        elif " load " in line:
            match = _LOAD.match(line)
            if match and match[3] in pointers:
                loaded[match[1]] = (pointers[match[3]], int(match[2]))
        elif "icmp eq" in line:
            match = _COMPARE.search(line)
            if match and match[2] in loaded:
                field, _ = loaded[match[2]]
                yield IrRead(field, int(match[1]), int(match[3]), number)


def _field(rest: str) -> str | None:
    """Return the field that the indices of a pointer lead to."""
    indices = [int(each) for each in _INDEX.findall(rest)][-2:]
    if len(indices) == 2 and indices[0] == _DTYPE_MEMBER and 0 <= indices[1] < len(_FIELDS):
        return _FIELDS[indices[1]]
    return None
