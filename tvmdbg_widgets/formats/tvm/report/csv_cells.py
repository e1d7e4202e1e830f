r"""Where the cells of a report's CSV begin and end, in every way that its commas and quotes allow.

Strings stand in double quotes and are not escaped, so that a cell that opens with a quote may end
at any later quote with a comma behind it. Between such a quote and the next there is one way to go
on: a *stretch* of empty cells and numbers. Sets of columns are the bits of whole numbers, so that
all ways are followed at once, in time linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.tvm.report.numbers import parse_number
from tvmdbg_widgets.formats.tvm.report.rows import (
    COUNT,
    DEVICE,
    DURATION,
    HASH,
    NAME,
    PERCENT,
    SHAPES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Range = tuple[int, int]

_NUMBERS = (DURATION, PERCENT, COUNT)
_TEXTS = (NAME, DEVICE, SHAPES, HASH)
_MOST_LINES = 64
_MOST_QUOTES = 200
#: Of reports whose rows are cut in more than one way; TVM's have fewer than 50.
_MOST_COLUMNS = 1_000
_BARE = re.compile(r"[^,\"\s]{1,400}(?=,|\Z)")
_CLOSING = re.compile(r'"(?=,)')


@dataclass(slots=True)
class _Stretch:
    """Cells one behind the other that end in one way only, and what follows them."""

    quote: int
    starts: list[int]
    first: int
    opens: int


class Cutter:
    """Cuts texts into as many cells as there are columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self._last = len(columns) - 1
        masked = columns[:_MOST_COLUMNS]
        self._numeric = sum(1 << i for i, name in enumerate(masked) if name not in _TEXTS)
        self._quoted = sum(1 << i for i, name in enumerate(masked) if name not in _NUMBERS)

    def cut(self, text: str) -> list[Range | None] | None:
        """Return each column's cell, None where it has several ways; None if it cannot be cut."""
        plain = self._plain(text)
        if plain is not None:
            return list(plain)
        stretches = self._stretches(text)
        reached, _, whole = self._follow(stretches, 0, text)
        return self._cells(stretches, reached, text) if whole else None

    def spans(self, lines: Sequence[str]) -> list[int]:
        """Return how many lines the row takes that starts at each line, 0 where none starts.

        A line that is a row of its own belongs to no other.
        """
        taken = [0] * len(lines)
        waiting: dict[int, list[int]] = {}  # starts of rows by the columns of their open strings
        oldest, quotes = 0, 0
        for here, line in enumerate(lines):
            if self._plain(line) is not None:
                taken[here] = 1
                waiting.clear()
                continue
            if '"' not in line:
                continue
            quotes += line.count('"')
            while here - oldest >= _MOST_LINES or (quotes > _MOST_QUOTES and oldest <= here):
                quotes -= lines[oldest].count('"')
                oldest += 1
            stretches = self._stretches(line)
            _, opened, whole = self._follow(stretches, 0, line)
            if whole:
                taken[here] = 1
                waiting.clear()
                continue
            later = [each for each in stretches if each.quote >= 0]
            if later or line.endswith('"'):
                waiting, ended = self._joined(waiting, later, line, oldest)
                for start in ended:
                    taken[start] = here - start + 1
            if opened and oldest <= here:
                waiting.setdefault(opened, []).append(here)
        return taken

    def _joined(
        self,
        waiting: dict[int, list[int]],
        stretches: Sequence[_Stretch],
        line: str,
        oldest: int,
    ) -> tuple[dict[int, list[int]], list[int]]:
        """Add a line to the rows that wait for their end; return which still do and which ended."""
        still: dict[int, list[int]] = {}
        ended: list[int] = []
        for opened, starts in waiting.items():
            if starts[-1] < oldest:
                continue
            _, then, whole = self._follow(stretches, opened, line)
            if whole:
                ended += [start for start in starts if start >= oldest]
            elif then in still:
                still[then] = sorted((*still[then][-_MOST_LINES:], *starts[-_MOST_LINES:]))
            else:
                still[then] = starts
        return still, ended

    def _plain(self, text: str) -> list[Range] | None:
        """Cut a text whose quotes all belong to cells: there is no other way to cut it."""
        if text.count(",") < self._last or text.count('"') % 2 or "\n" in text:
            return None
        cells: list[Range] = []
        position = 0
        for column in self.columns:
            start = position
            if text.startswith('"', start):
                end = text.find('"', start + 1) + 1
            else:
                end = text.find(",", start)
                end = len(text) if end < 0 else end
            if end < start or text[end : end + 1] not in (",", ""):
                return None
            if not _allowed(text[start:end], column):
                return None
            cells.append((start, end))
            position = end + 1
        return cells if position == len(text) + 1 else None

    def _stretches(self, text: str) -> list[_Stretch]:
        if len(self.columns) > _MOST_COLUMNS or text.count('"') > _MOST_QUOTES:
            return []
        quotes = [-1, *(match.start() for match in _CLOSING.finditer(text))]
        found = (self._stretch(text, quote) for quote in quotes)
        return [each for each in found if each is not None]

    def _stretch(self, text: str, quote: int) -> _Stretch | None:
        starts = [quote + 2 if quote >= 0 else 0]
        first = (2 << self._last) - 1
        while first and len(starts) <= len(self.columns):
            start, depth = starts[-1], len(starts) - 1
            if text.startswith('"', start):
                return _Stretch(quote, starts, first & self._quoted >> depth, start)
            end = start
            if not text.startswith(",", start) and start < len(text):
                bare = _BARE.match(text, start)
                if bare is None or parse_number(bare[0]) is None:
                    return None
                end = bare.end()
                first &= self._numeric >> depth
            if end == len(text):
                return _Stretch(quote, starts, first & 1 << self._last >> depth, -1)
            starts.append(end + 1)
        return None

    def _follow(
        self, stretches: Sequence[_Stretch], opened: int, text: str
    ) -> tuple[list[int], int, bool]:
        """Follow all ways through a text."""
        reached: list[int] = []
        whole = False
        latest, at = 0, -1  # opened by the last stretch, whose quote does not also close
        for each in stretches:
            if each.quote > at:
                opened, latest = opened | latest, 0
            columns = (opened << 1 if each.quote >= 0 else 1) & each.first
            reached.append(columns)
            if each.opens < 0:
                whole = whole or columns != 0
            else:
                opened, latest, at = opened | latest, columns << len(each.starts) - 1, each.opens
        if text.endswith('"'):
            closing = opened | latest if at < len(text) - 1 else opened
            whole = whole or bool(closing >> self._last & 1)
        return reached, opened | latest, whole

    def _cells(
        self, stretches: Sequence[_Stretch], reached: Sequence[int], text: str
    ) -> list[Range | None]:
        """Keep of the ways those that come to the end, and the cells on which they agree."""
        once = twice = 0
        starts = [0] * (len(self.columns) + 1)
        starts[-1] = len(text) + 1
        for start, columns in self._live(stretches, reached, text):
            for column in _bits(columns & ~once):
                starts[column] = start
            twice |= once & columns
            once |= columns
        return [
            None if twice >> i & 3 else (starts[i], starts[i + 1] - 1)
            for i in range(len(self.columns))
        ]

    def _live(
        self, stretches: Sequence[_Stretch], reached: Sequence[int], text: str
    ) -> Iterator[tuple[int, int]]:
        """Yield each place where cells of rows that end with the text begin, and their columns."""
        closed = 1 << self._last if text.endswith('"') else 0  # columns that may end further on
        before, nearest = 0, len(text) - 1
        for each, columns in zip(reversed(stretches), reversed(reached), strict=True):
            depth = len(each.starts) - 1
            live = columns
            if each.opens >= 0:
                live &= (closed if nearest > each.opens else before) >> depth
            for place, start in enumerate(each.starts):
                if live:
                    yield start, live << place
            before, closed, nearest = closed, closed | live >> 1, each.quote


def _allowed(cell: str, column: str) -> bool:
    if not cell:
        return True
    if cell.startswith('"'):
        return len(cell) > 1 and column not in _NUMBERS
    return column not in _TEXTS and '"' not in cell and parse_number(cell) is not None


def _bits(columns: int) -> Iterator[int]:
    while columns:
        lowest = columns & -columns
        yield lowest.bit_length() - 1
        columns ^= lowest
