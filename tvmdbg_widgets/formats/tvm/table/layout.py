"""Where the columns of a printed table of node times stand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

TITLES: dict[str, tuple[str, ...]] = {
    "v0.5": (
        "Node Name",
        "Ops",
        "Time(us)",
        "Time(%)",
        "Start Time",
        "End Time",
        "Shape",
        "Inputs",
        "Outputs",
    ),
    "v0.6": ("Node Name", "Ops", "Time(us)", "Time(%)", "Shape", "Inputs", "Outputs"),
    "v0.9": (
        "Node Name",
        "Ops",
        "Time(us)",
        "Time(%)",
        "Shape",
        "Inputs",
        "Outputs",
        "Measurements(us)",
    ),
}
"""Column titles by style, the first release that prints them."""

#: What each line of a table begins with in a document, a comment, a quotation.
_INDENT = re.compile(r"[ \t#>/*|;%-]{0,100}(?=Node Name  )")

DECIMALS = {"v0.5": 2, "v0.6": 3, "v0.9": 3}
"""Decimals the times are rounded to."""


def dashes(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cells of the second line: one row of dashes as long as each title."""
    return tuple("-" * len(title) for title in columns)


@dataclass(frozen=True, slots=True)
class TableLayout:
    """Columns of one table."""

    style: str
    indent: str
    starts: tuple[int, ...]
    length: int | None
    newline: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Titles of the columns."""
        return TITLES[self.style]

    def content(self, line: str) -> str | None:
        """Return a line without indent and line end; None if it is not indented alike."""
        if self.newline == "\r\n":
            line = line.removesuffix("\r")
        return line[len(self.indent) :] if line.startswith(self.indent) else None

    def join(self, cells: Sequence[str]) -> str:
        """Write one line, without its line end; the inverse of :meth:`split`."""
        line = _padded(self.starts, self.length or 0) % tuple(cells)
        return self.indent + (line if self.length is not None else line.rstrip(" "))

    def split(self, line: str) -> tuple[str, ...] | None:
        """Cut a line into cells, blanks behind each removed; None if it does not fit.

        Two blanks stand before each column: a column is as wide as its longest cell plus two.
        A line shorter than the header, where lines are padded, was cut off and does not fit.
        """
        text = self.content(line)
        if text is None or (self.length is not None and len(text) != self.length):
            return None
        found = _cells(self.starts, self.length is not None).fullmatch(text)
        return None if found is None else tuple([cell.rstrip(" ") for cell in found.groups()])


@lru_cache(maxsize=64)
def _padded(starts: tuple[int, ...], length: int) -> str:
    """Return the format of a line: each cell as wide as its column."""
    ends = (*starts[1:], max(length, starts[-1]))
    return "".join(f"%-{end - start}s" for start, end in zip(starts, ends, strict=True))


@lru_cache(maxsize=64)
def _cells(starts: tuple[int, ...], padded: bool) -> re.Pattern[str]:
    """Return what each line of columns that start there is: cells, two blanks between them."""
    widths = (end - start - 2 for start, end in itertools.pairwise(starts))
    last = "(.*)  " if padded else "(.+)"
    return re.compile("".join(f"(.{{{width}}})  " for width in widths) + last, re.DOTALL)


def canonical_layout(style: str, lines: Iterable[Sequence[str]]) -> TableLayout:
    """Lay out cells as TVM does: each column two wider than its longest cell or title."""
    widths = [len(title) for title in TITLES[style]]
    for column, cells in enumerate(zip(*lines, strict=True)):
        widths[column] = max(widths[column], *map(len, cells))
    edges = [0, *accumulate(width + 2 for width in widths)]
    return TableLayout(style, "", tuple(edges[:-1]), edges[-1], "\n")


def find_layout(line: str) -> TableLayout | None:
    """Recognise a header line; None if it is none."""
    newline = "\r\n" if line.endswith("\r") else "\n"
    line = line.removesuffix("\r")
    found = _INDENT.match(line)
    if found is None:
        return None
    indent, text = line[: found.end()], line[found.end() :]
    for style, titles in TITLES.items():
        starts = _starts(text, titles)
        if starts is not None:
            padded = len(text) - len(text.rstrip(" ")) >= 2
            return TableLayout(style, indent, starts, len(text) if padded else None, newline)
    return None


def _starts(text: str, titles: tuple[str, ...]) -> tuple[int, ...] | None:
    starts: list[int] = []
    position = 0
    for title in titles:
        rest = text[position:]
        start = position + len(rest) - len(rest.lstrip(" "))
        if not text.startswith(title, start) or (starts and start - position < 2):
            return None
        starts.append(start)
        position = start + len(title)
    return tuple(starts) if not text[position:].strip(" ") else None
