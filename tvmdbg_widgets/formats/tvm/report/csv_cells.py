r"""Where the cells of a report's CSV begin and end.

Strings stand in double quotes and are not escaped, so that a cell that opens with a quote may end
at any later quote with a comma behind it. A row whose quotes all open or close a cell is cut in one
way. Of any other, the places are followed where each column may begin, from the left and then from
the right; a cell is known where one place is left for its begin and one for its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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

Range = tuple[int, int]
Cells = list[Range | None]

_NUMBERS = (DURATION, PERCENT, COUNT)
_TEXTS = (NAME, DEVICE, SHAPES, HASH)
_MOST_LINES = 64
_MOST_QUOTES = 200
#: Of reports whose rows are cut in more than one way; TVM's have fewer than 50.
_MOST_COLUMNS = 1_000
#: Lines that are joined with those below them in vain, until none is any more.
_MOST_IN_VAIN = 64
_BARE = re.compile(r"[^,\"\s]{0,400}(?=,|\Z)")
_CLOSING = re.compile(r'"(?=,|\Z)')


class Cutter:
    """Cuts texts into as many cells as there are columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self._last = len(columns) - 1

    def cut(self, text: str) -> Cells | None:
        """Return each column's cell, None where it has several ways; None if it cannot be cut."""
        plain = self._plain(text)
        if plain is not None:
            return list(plain)
        if '"' not in text or text.count('"') > _MOST_QUOTES or self._last >= _MOST_COLUMNS:
            return None
        closed = {match.end() for match in _CLOSING.finditer(text)}
        starts: list[set[int]] = [{0}]
        for column in self.columns:
            strings = (s for s in starts[-1] if text.startswith('"', s) and column not in _NUMBERS)
            first = min(strings, default=len(text))
            bare = (_bare_end(text, start, column) for start in starts[-1])
            after = {end + 1 for end in closed if end > first + 1}
            starts.append(after.union(end + 1 for end in bare if end is not None))
        live = {len(text) + 1} & starts.pop()
        cells: Cells = []
        for column in reversed(self.columns):
            after = live
            last = max((start - 1 for start in after if start - 1 in closed), default=-1)
            live = set()
            for start in starts.pop():
                if text.startswith('"', start):
                    if column not in _NUMBERS and last > start + 1:
                        live.add(start)
                elif (end := _bare_end(text, start, column)) is not None and end + 1 in after:
                    live.add(start)
            is_known = len(live) == len(after) == 1
            cells.append((min(live), min(after) - 1) if is_known else None)
        return cells[::-1] if live else None

    def rows(
        self, lines: Sequence[str], newline: str = "\n"
    ) -> Iterator[tuple[int, str, Cells | None]]:
        """Yield the lines, the text and the cells of each row; None for a line that is in no row.

        A line that cannot be cut is read together with the next ones, as a string may hold line
        feeds; one that is a row of its own belongs to no other.
        """
        at = in_vain = 0
        while at < len(lines):
            text, taken = lines[at], 1
            cells = self.cut(text)
            if cells is None and '"' in text and in_vain < _MOST_IN_VAIN:
                for line in lines[at + 1 : at + _MOST_LINES]:
                    if self.cut(line) is not None:
                        break
                    text, taken = text + newline + line, taken + 1
                    if (cells := self.cut(text) if '"' in line else None) is not None:
                        break
                if cells is None:
                    text, taken = lines[at], 1
                    in_vain += 1
            yield taken, text, cells
            at += taken

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


def _bare_end(text: str, start: int, column: str) -> int | None:
    """Return where a cell without quotes ends: an empty one, or a number."""
    found = _BARE.match(text, start) if start <= len(text) else None
    return found.end() if found is not None and _allowed(found[0], column) else None


def _allowed(cell: str, column: str) -> bool:
    if not cell:
        return True
    if cell.startswith('"'):
        return len(cell) > 1 and column not in _NUMBERS
    return column not in _TEXTS and '"' not in cell and parse_number(cell) is not None
