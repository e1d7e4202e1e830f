"""Fields of a JSON object from a file, each checked before it is used."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.text import paired

if TYPE_CHECKING:
    import numpy.typing as npt

    from tvmdbg_widgets.sources.byte_source import ByteSource

_SHOWN = 60


class Fields:
    """One JSON object of a file; every method raises FormatError that names file and field."""

    def __init__(self, value: object, file: str, path: str = "") -> None:
        self.file = file
        self.path = path
        if not isinstance(value, dict):
            self._wrong("", "an object", value)
        self._value: dict[str, Any] = value

    @classmethod
    def of(cls, source: ByteSource) -> Fields:
        """Parse a whole file; numbers that JSON does not know (NaN, Infinity) are refused."""
        try:
            with collector_paused():
                value = json.loads(source.read(0, source.size), parse_constant=_no_constant)
        except json.JSONDecodeError as problem:
            raise FormatError(
                "this is not JSON",
                file=source.name,
                offset=problem.pos,
                expected="one JSON object",
                found=problem.msg,
                hint="The file may be cut off: copy or write it again.",
            ) from None
        except (ValueError, RecursionError) as problem:
            raise FormatError(
                "this JSON cannot be read: a number too long, or lists too deep",
                file=source.name,
                expected="one JSON object",
                found=problem,
            ) from None
        return cls(value, source.name)

    def names(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(self._value)

    def has(self, name: str) -> bool:
        """Whether the field is there and is not null."""
        return self._value.get(name) is not None

    def text(self, name: str) -> str:
        """Return a string; halves of surrogate pairs are U+FFFD."""
        return paired(self._text(name))

    def _text(self, name: str) -> str:
        value = self._get(name)
        if not isinstance(value, str):
            self._wrong(name, "a string", value)
        return value

    def encoded(self, name: str) -> bytes:
        """Return a string as UTF-8; bytes that were no UTF-8 when it was written come back."""
        text = self._text(name)
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            self._wrong(name, "text that UTF-8 can hold", text)

    def integer(self, name: str, *, negative: bool = False) -> int:
        """Return a whole number; below 0 only where that may be."""
        value = self._get(name)
        if type(value) is not int or (value < 0 and not negative):
            self._wrong(name, "a whole number" + ("" if negative else ", 0 or more"), value)
        return value

    def boolean(self, name: str) -> bool:
        """Return true or false."""
        value = self._get(name)
        if not isinstance(value, bool):
            self._wrong(name, "true or false", value)
        return value

    def items(self, name: str) -> list[Any]:
        """Return a list."""
        value = self._get(name)
        if not isinstance(value, list):
            self._wrong(name, "a list", value)
        return value

    def texts(self, name: str) -> list[str]:
        """Return a list of strings."""
        return [
            paired(each) if isinstance(each, str) else self._wrong(f"{name}[{i}]", "a string", each)
            for i, each in enumerate(self.items(name))
        ]

    def objects(self, name: str) -> list[Fields]:
        """Return a list of objects."""
        return [
            Fields(each, self.file, self._at(f"{name}[{i}]"))
            for i, each in enumerate(self.items(name))
        ]

    def inner(self, name: str) -> Fields:
        """Return an object."""
        return Fields(self._get(name), self.file, self._at(name))

    def plain(self, name: str) -> dict[str, Any]:
        """Return an object as it was parsed."""
        return self.inner(name)._value  # noqa: SLF001 (of the same class)

    def numbers(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return a list of numbers as an array; null is NaN where the type has it."""
        return self._numbers(self.items(name), name, np.dtype(dtype))

    def ragged(
        self, name: str, dtype: npt.DTypeLike
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Return a list of lists of numbers as offsets (int64 [n + 1]) and one array."""
        rows: list[list[Any]] = [
            each if isinstance(each, list) else self._wrong(f"{name}[{i}]", "a list", each)
            for i, each in enumerate(self.items(name))
        ]
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        flat = [value for row in rows for value in row]
        return offsets, self._numbers(flat, name, np.dtype(dtype))

    def _numbers(self, values: list[Any], name: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        whole = dtype.kind != "f"
        known = {int} if whole else {int, float}
        for i, value in enumerate(values):
            if type(value) not in known and (whole or value is not None):
                self._wrong(f"{name}[{i}]", "a whole number" if whole else "a number", value)
        try:
            return np.array([math.nan if each is None else each for each in values], dtype)
        except OverflowError:
            self._wrong(name, f"numbers that {dtype} holds", "a larger one")

    def _get(self, name: str) -> Any:
        if name not in self._value:
            self._wrong(name, "this field", "none")
        return self._value[name]

    def _at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path and name else name or self.path

    def _wrong(self, name: str, expected: str, found: Any) -> NoReturn:
        text = found if isinstance(found, str) and found == "none" else repr(found)
        raise FormatError(
            "this field cannot be read",
            file=self.file,
            field=self._at(name) or "document",
            expected=expected,
            found=text if len(text) <= _SHOWN else text[:_SHOWN] + "…",
        )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name}, which is no JSON number")
