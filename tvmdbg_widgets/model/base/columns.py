"""Columns of strings, and element types of columns from their annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, get_args, get_origin, get_type_hints, overload

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted

_REPR_SHOWN = 6


class StringColumn(Sequence[str]):
    """An immutable column of strings: a table of distinct strings and one code per row."""

    __slots__ = ("__dict__", "codes", "unique")

    unique: tuple[str, ...]
    codes: npt.NDArray[np.int32]

    def __init__(self, unique: Sequence[str], codes: npt.ArrayLike) -> None:
        column = np.array(codes, dtype=np.int32)
        if column.ndim != 1:
            raise ValueError(f"codes must be one-dimensional, not of shape {column.shape}")
        if column.size and not (column.min() >= 0 and column.max() < len(unique)):
            raise ValueError(f"codes must lie in 0..{len(unique) - 1}")
        column.flags.writeable = False
        self.unique = tuple(unique)
        self.codes = column

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> StringColumn:
        """Return the column of the given strings; codes are numbered by first appearance."""
        table: dict[str, int] = {}
        codes = [table.setdefault(text, len(table)) for text in strings]
        return cls(tuple(table), np.asarray(codes, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> StringColumn: ...
    def __getitem__(self, index: int | slice) -> str | StringColumn:
        if isinstance(index, slice):
            return StringColumn(self.unique, self.codes[index])
        return self.unique[int(self.codes[index])]

    def __iter__(self) -> Iterator[str]:
        unique = self.unique
        return (unique[code] for code in self.codes.tolist())

    def __contains__(self, text: object) -> bool:
        return bool(self.rows(text).size) if isinstance(text, str) else False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StringColumn):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    @cached_property
    def _code_of(self) -> dict[str, list[int]]:
        codes: dict[str, list[int]] = {}
        for code, text in enumerate(self.unique):
            codes.setdefault(text, []).append(code)
        return codes

    def rows(self, text: str) -> npt.NDArray[np.intp]:
        """Return the rows that read `text`, ascending."""
        codes = self._code_of.get(text, [])
        return np.flatnonzero(np.isin(self.codes, codes))

    def __repr__(self) -> str:
        shown = ", ".join(repr(text) for text in self[:_REPR_SHOWN])
        more = ", …" if len(self) > _REPR_SHOWN else ""
        return (
            f"StringColumn({counted(len(self), 'string')}, {len(self.unique)} distinct: "
            f"[{shown}{more}])"
        )


@cache
def column_types(kind: type) -> dict[str, np.dtype[Any]]:
    """Return the element types of a class's array columns from their annotations."""
    types = {}
    for name, hint in get_type_hints(kind).items():
        for part in (hint, *get_args(hint)):
            if get_origin(part) is np.ndarray:
                types[name] = np.dtype(get_args(get_args(part)[1])[0])
    return types


def freeze(columns: Any) -> None:
    """Make the array columns of a frozen dataclass contiguous, of their types, and read-only."""
    for name, dtype in column_types(type(columns)).items():  # type: ignore[arg-type]
        given = getattr(columns, name)
        if given is not None:
            column = np.ascontiguousarray(given, dtype).view()
            column.flags.writeable = False
            object.__setattr__(columns, name, column)
