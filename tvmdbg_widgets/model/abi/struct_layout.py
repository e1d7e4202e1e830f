"""Where the members of a C struct lie: offsets, sizes, alignment, padding.

The rules are those of the System V, ARM and Microsoft ABIs: a member lies at the next multiple of
its alignment; a struct is as aligned as its most aligned member, and its size a multiple of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["int", "uint", "float", "pointer"]
ByteOrder = Literal["little", "big"]


@dataclass(frozen=True, slots=True)
class Machine:
    """What the sizes and alignments of C types depend on.

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
    """One value of a struct, members of members included."""

    path: str
    type: ScalarType
    offset: int

    @property
    def end(self) -> int:
        """Offset of the first byte after it."""
        return self.offset + self.type.size


@dataclass(frozen=True, slots=True)
class StructLayout:
    """A struct or union with everything placed.

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
        """Bytes that no value has, as (offset, length); those of members included."""
        if self.is_union:
            return ()
        found = []
        at = 0
        for leaf in self.leaves():
            if leaf.offset > at:
                found.append((at, leaf.offset - at))
            at = max(at, leaf.end)
        if at < self.size:
            found.append((at, self.size - at))
        return tuple(found)

    def leaves(self) -> Iterator[ScalarMember]:
        """Yield every value, members of members in their place."""
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
