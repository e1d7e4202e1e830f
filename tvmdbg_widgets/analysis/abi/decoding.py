"""A piece of memory read as a struct, under one layout of ``DLDataType`` after the other."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvmdbg_widgets.analysis.abi.plausible import dtype_of, in_words, problems_of
from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.abi.struct_layout import (
    ByteOrder,
    Machine,
    ScalarMember,
    ScalarType,
    StructLayout,
)
from tvmdbg_widgets.model.abi.structs import struct_layout
from tvmdbg_widgets.model.base.byte_map import ByteField

_LETTERS = {("uint", 1): "B", ("uint", 2): "H", ("uint", 4): "I", ("uint", 8): "Q"}
_LETTERS |= {("int", 1): "b", ("int", 2): "h", ("int", 4): "i", ("int", 8): "q"}
_LETTERS |= {("pointer", 4): "I", ("pointer", 8): "Q"}
UNKNOWN = "unknown"
_ORDERS = {"little": "<", "big": ">"}


@dataclass(frozen=True)
class DecodedMember:
    """One member as it was read."""

    leaf: ScalarMember
    text: str
    problem: str


@dataclass(frozen=True)
class Decoding:
    """A piece of memory under one layout.

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
        """Members whose value cannot be."""
        return tuple(each for each in self.values if each.problem)

    @property
    def makes_sense(self) -> bool:
        """Whether every value that is known can be."""
        return not self.problems

    @property
    def name(self) -> str:
        """Layout and machine: ``"narrow, 64-bit"``."""
        return f"{self.dtype_layout.name}, {self.machine}"

    @property
    def fields(self) -> ByteField:
        """The members as nested fields of bytes, padding among them."""
        told = {value.leaf.path: value for value in self.values}
        return _field("", self.struct.name, self.struct, 0, told)


def decode(
    data: bytes,
    name: str,
    layouts: Sequence[DTypeLayout],
    machines: Sequence[Machine] = (Machine(),),
    *,
    order: ByteOrder = "little",
) -> tuple[Decoding, ...]:
    """Read bytes as a struct, under every layout and machine."""
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
        found = numbers.get(leaf.path)
        text = UNKNOWN if found is None else _text(leaf.path, found, whole)
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


def _text(path: str, value: float, values: Mapping[str, int]) -> str:
    return in_words(path, value, values) if isinstance(value, int) else repr(value)


def _summary(values: Mapping[str, int]) -> str:
    paths = [path for path in values if path.endswith("code")]
    prefix = paths[0].rpartition(".")[0] if paths else ""
    dtype = dtype_of(values, prefix)
    told = [] if dtype is None else [str(dtype)]
    outer = prefix.rpartition(".")[0]
    ndim = values.get(f"{outer}.ndim" if outer else "ndim")
    if ndim is not None and dtype is not None:
        told.append(f"ndim {ndim}")
    return ", ".join(told)


def _field(
    path: str, name: str, kind: StructLayout, offset: int, told: Mapping[str, DecodedMember]
) -> ByteField:
    children: list[ByteField] = []
    at = 0
    for member in kind.members:
        if member.offset > at and not kind.is_union:
            children.append(_padding(offset + at, member.offset - at))
        inner = f"{path}.{member.name}" if path else member.name
        where = offset + member.offset
        if isinstance(member.type, ScalarType):
            value = told[inner]
            shown = "pointer" if member.type.kind == "pointer" else "number"
            children.append(
                ByteField(
                    member.name,
                    where,
                    member.size,
                    "unknown" if value.text == UNKNOWN else shown,  # type: ignore[arg-type]
                    value.text,
                    value.problem,
                )
            )
        else:
            children.append(_field(inner, member.name, member.type, where, told))
        at = max(at, member.end)
    if at < kind.size:
        children.append(_padding(offset + at, kind.size - at))
    return ByteField(name, offset, kind.size, "group", "", "", tuple(children))


def _padding(offset: int, size: int) -> ByteField:
    return ByteField("padding", offset, size, "padding")


def verdict(decodings: Sequence[Decoding]) -> str:
    """Say which layout makes sense of the bytes, and why the others do not."""
    machines = {each.machine for each in decodings}
    names = {id(each): _name(each, several=len(machines) > 1) for each in decodings}
    sensible = [each for each in decodings if each.makes_sense]
    wrong = [each for each in decodings if not each.makes_sense]
    against = "; ".join(f"{names[id(each)]}: {_why_not(each)}" for each in wrong)
    if len(sensible) == 1:
        only = sensible[0]
        what = f": {only.summary}" if only.summary else ""
        text = f"{names[id(only)]} makes sense{what}"
        return f"{text}. Not {against}" if against else text
    if not sensible:
        return f"no layout makes sense. {against}"
    alike = " and ".join(names[id(each)] for each in sensible)
    text = f"{alike} make sense: the bytes do not tell them apart"
    return f"{text}. Not {against}" if against else text


def _name(decoding: Decoding, *, several: bool) -> str:
    return decoding.name if several else decoding.dtype_layout.name


def _why_not(decoding: Decoding) -> str:
    first = decoding.problems[0]
    more = len(decoding.problems) - 1
    also = f", and {more} more" if more else ""
    return f"{first.leaf.path} is {first.text} ({first.problem}{also})"
