"""Layout of C structs: offsets, sizes, alignment, padding of members.

The rules are those of the System V, ARM and Microsoft ABIs: a member lies at the next multiple of
its alignment; a struct is as aligned as its most aligned member, and its size a multiple of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tvmdbg_widgets.model.base.slips import meant, public_class
from tvmdbg_widgets.model.dtype_layout import DTypeLayout

Kind = Literal["int", "uint", "float", "pointer"]
ByteOrder = Literal["little", "big"]


@dataclass(frozen=True, slots=True)
class Machine:
    """Properties that determine sizes and alignments of C types.

    Attributes
    ----------
    pointer_bits : int
        64 or 32.
    int64_align : int
        Bytes: 8, but 4 for i386 on Linux (System V ABI, Intel386 supplement).
    """

    pointer_bits: int = 64
    int64_align: int = 8

    def __post_init__(self) -> None:
        if self.pointer_bits not in (32, 64):
            raise ValueError(f"pointers have 64 or 32 bits, not {self.pointer_bits!r}")
        if self.int64_align not in (4, 8) or self.int64_align * 8 < self.pointer_bits:
            raise ValueError(
                f"int64_t is aligned to 8 bytes, or to 4 with pointers of 32 bits, "
                f"not to {self.int64_align!r}"
            )

    def __str__(self) -> str:
        odd = ", int64_t aligned to 4" if self.int64_align == 4 else ""
        return f"{self.pointer_bits}-bit{odd}"


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A type without members."""

    name: str
    kind: Kind
    size: int
    align: int


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a struct, at its place."""

    name: str
    type: ScalarType | StructLayout
    offset: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.type.size

    @property
    def end(self) -> int:
        """Offset of the first byte after it."""
        return self.offset + self.size


@dataclass(frozen=True, slots=True)
class ScalarMember:
    """One value of a struct, nested members included."""

    path: str
    type: ScalarType
    offset: int

    @property
    def end(self) -> int:
        """Offset of the first byte after it."""
        return self.offset + self.type.size


@public_class
@dataclass(frozen=True, slots=True)
class StructLayout:
    """Byte layout of a struct or union.

    Attributes
    ----------
    name : str
    members : tuple of Member
        In the order of their declaration.
    size, align : int
        Bytes, as ``sizeof`` and ``alignof`` give them.
    is_union : bool
        Whether all members lie at 0.
    """

    name: str
    members: tuple[Member, ...]
    size: int
    align: int
    is_union: bool = False

    @property
    def padding(self) -> tuple[tuple[int, int], ...]:
        """Unused bytes as (offset, length), those of nested members included."""
        if self.is_union:
            return ()
        holes = []
        at = 0
        for leaf in self.leaves():
            if leaf.offset > at:
                holes.append((at, leaf.offset - at))
            at = max(at, leaf.end)
        if at < self.size:
            holes.append((at, self.size - at))
        return tuple(holes)

    def leaves(self) -> Iterator[ScalarMember]:
        """Yield every value with nested members in their place."""
        for member in self.members:
            if isinstance(member.type, ScalarType):
                yield ScalarMember(member.name, member.type, member.offset)
                continue
            for leaf in member.type.leaves():
                path = f"{member.name}.{leaf.path}"
                yield ScalarMember(path, leaf.type, member.offset + leaf.offset)


def place(
    name: str, members: Sequence[tuple[str, ScalarType | StructLayout]], *, is_union: bool = False
) -> StructLayout:
    """Place members one after the other, as a C compiler does."""
    placed = []
    end = 0
    for label, kind in members:
        offset = 0 if is_union else _aligned(end, kind.align)
        placed.append(Member(label, kind, offset))
        end = max(end, offset + kind.size)
    align = max(kind.align for _, kind in members)
    return StructLayout(name, tuple(placed), _aligned(end, align), align, is_union)


def _aligned(offset: int, align: int) -> int:
    return -(-offset // align) * align


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
    "TVMArgs": (("values", "const TVMValue *"), ("type_codes", "const int *"), ("num_args", "i32")),
}
_UNIONS = frozenset({"TVMValue"})

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
    """Return the layout of a struct of TVM."""
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
