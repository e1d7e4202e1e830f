"""A file as lines, in blocks, and why a line cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Bytes of the longest line that is read. Records take about 1 kB; a MetaSchedule workload holds
#: the constants of its function.
LONGEST = 32 << 20
BOM = b"\xef\xbb\xbf"
#: What a line begins with that is no record.
COMMENT = b"# "
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})+[A-Za-z0-9+/]{2}[A-Za-z0-9+/=]{2}")
_PICKLED = range(1, 4)
_COLUMNS = frozenset((4, 6))
#: Small enough that its lines stay in the processor's cache until they are read.
_CHUNK, _CHUNK_FAR = 256 << 10, 4 << 20
_SHOWN = 60


class LineProblem(ValueError):  # noqa: N818 (it is told of a line, and the others are read)
    """Why a line is no record."""

    def __init__(
        self, field: str, expected: str, found: object, *, unfinished: bool = False
    ) -> None:
        super().__init__()
        self.field = field
        self.expected = expected
        self.unfinished = unfinished
        self._found = found

    @property
    def found(self) -> InWords:
        """What was found, in words: logs of millions of other lines are told of a few."""
        return self._found if isinstance(self._found, InWords) else InWords(shown(self._found))

    def __str__(self) -> str:
        where = "" if self.field == "line" else f"field {one_line(self.field)}: "
        return f"{where}expected {self.expected}; found {self.found}"


class InWords(str):
    """What was found, already in words."""

    __slots__ = ()


def shown(value: object) -> str:
    """Say in short what a value of JSON is."""
    if isinstance(value, list):
        return f"an array of {len(value):,}"
    if isinstance(value, dict):
        return f"an object of {len(value):,}"
    if isinstance(value, str):
        text = repr(value[:_SHOWN])
        return one_line(text if len(value) <= _SHOWN else f"{text[:-1]}…{text[-1]}")
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def whole(value: Any, field: str, low: int, high: int) -> int:
    """Return a whole number of a range, both ends included."""
    if type(value) is not int or not low <= value <= high:
        raise LineProblem(field, f"a whole number from {low} to {high}", value)
    return value


def text(value: Any, field: str) -> str:
    """Return a string."""
    if type(value) is not str:
        raise LineProblem(field, "a string", value)
    return value


def array(value: Any, field: str, *lengths: int) -> list[Any]:
    """Return an array, of one of the lengths where there are any."""
    if type(value) is not list or (lengths and len(value) not in lengths):
        wanted = " or ".join(map(str, lengths))
        raise LineProblem(field, f"an array of {wanted}" if lengths else "an array", value)
    return value


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines that follow each other."""

    number: int
    offset: int
    lines: list[bytes]
    ended: bool = True
    too_long: int = 0


def blocks(source: ByteSource, offset: int = 0, number: int = 1) -> Iterator[LineBlock]:
    """Yield the lines of a file from an offset on; at most one chunk and one line are held."""
    size = _CHUNK_FAR if source.far else _CHUNK
    at, begin = offset, offset
    pieces: list[bytes] = []
    while at < source.size:
        chunk = source.read(at, min(size, source.size - at))
        at += len(chunk)
        pieces.append(chunk)
        if b"\n" in chunk:
            lines = b"".join(pieces).split(b"\n")
            pieces = [lines.pop()]
            yield LineBlock(number, begin, lines)
            begin, number = at - len(pieces[0]), number + len(lines)
        elif at - begin > LONGEST:
            end = _line_end(source, at)
            yield LineBlock(number, begin, [], end < source.size, too_long=end - begin)
            at = begin = min(end + 1, source.size)
            pieces, number = [], number + 1
    if at > begin:
        yield LineBlock(number, begin, [b"".join(pieces)], ended=False)


def _line_end(source: ByteSource, at: int) -> int:
    """Return where the line feed is that ends the line at ``at``, or the file."""
    while at < source.size:
        chunk = source.read(at, min(_CHUNK_FAR, source.size - at))
        if (found := chunk.find(b"\n")) >= 0:
            return at + found
        at += len(chunk)
    return at


def pickled(line: bytes) -> str | None:
    """Say what a line of the pickle protocol is of; None for any other line.

    ``target, base64 of pickles of task, config and result, version, TVM's version``, parted by
    tabs; the last two are missing in 0.1.
    """
    columns = line.split(b"\t")
    if len(columns) not in _COLUMNS or not all(_BASE64.fullmatch(columns[i]) for i in _PICKLED):
        return None
    target = columns[0].decode("utf-8", "replace")[:_SHOWN]
    version = columns[4].decode("utf-8", "replace")[:_SHOWN] if len(columns) > 4 else "0.1"
    return one_line(f"AutoTVM pickle line {version} for {target}")
