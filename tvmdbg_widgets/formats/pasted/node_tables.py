"""Pasted tables of TVM's debugger and VM profiler, reconstructed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tvmdbg_widgets.formats.pasted.lines import (
    RULE,
    LineStream,
    PastedTable,
    Tries,
    delimiter_of,
    filled,
    parted,
    single,
    squashed,
    too_wide,
    why_no_row,
)
from tvmdbg_widgets.formats.tvm.layout import (
    TITLES,
    TOTAL_NAME,
    TableLayout,
    canonical_layout,
    dashes,
    find_layout,
    parse_row,
    parse_total,
)

_HEADING: Final = "Node Name  "
_MOST_JOINED: Final = 8
_MOST_STRANGERS: Final = 300
#: Limit of ways to join lines.
_MOST_KEPT: Final = 200
#: Fixed cost of reading a text.
_FIXED_COST: Final = 100
_MANY: Final = 1 << 30
_SEAMS: Final = ("", " ")
#: Cells with blanks in a row of the debugger, with one blank between cells; what they hold is
#: checked by its reader.
_CELLS: Final = {"Shape": r"(\([\d, ]*\))", "Measurements(us)": r"(\[[^\[\]]*\])"}
_ROWS: Final = {
    style: re.compile(" ".join(_CELLS.get(title, r"(\S+)") for title in titles))
    for style, titles in TITLES.items()
}
_SQUASHED: Final = {style: re.sub(r"\s", "", "".join(titles)) for style, titles in TITLES.items()}
_DIGITS: Final = re.compile(r"[\d./e+-]{1,60}")
_LAST: Final = "Measurements(us)"
_VALUE: Final = r"[+-]?(?:[\d.]{1,40}(?:e[+-]?\d{1,5})?|nan|inf)"
_TOTALS: Final = re.compile(rf"{TOTAL_NAME} - (-?(?:\d[\d.e+-]*|nan|inf))(?: -)+")
_VM_ROW: Final = re.compile(rf"(\S.*?) (\d{{1,18}}) ({_VALUE}(?:/{_VALUE}){{3}})")
_VM_TOTAL: Final = re.compile(
    r"Total Duration:? [^\s/]{1,40} us\.?(?: Total Packed Functions: \d{1,18})?"
)


@dataclass
class _PastedRows:
    """The rows below a heading."""

    heard: LineStream
    one: Callable[[str, bool], list[str] | None]
    wraps: bool
    number_last: bool
    blanks: Callable[[str], tuple[int, int]]
    tries: Tries
    left: list[int] = field(default_factory=list)
    _known: dict[int, list[str] | None] = field(default_factory=dict)
    _ways: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    _known_rows: dict[tuple[int, int], list[list[str]]] = field(default_factory=dict)

    def read(self, start: int, ends: Callable[[list[str]], bool]) -> list[list[str]]:
        """Return the rows; unreadable lines are counted as left."""
        rows: list[list[str]] = []
        left: list[int] = []
        at, last = start, start
        while at < len(self.heard.texts) and at - last < _MOST_STRANGERS:
            if RULE.fullmatch(self.heard.texts[at]):
                at += 1
                continue
            cells, size = self._row(at)
            at += size
            if cells is None:
                left.append(self.heard.numbers[at - 1])
                continue
            rows.append(cells)
            last = at
            if ends(cells):
                break
        inside = self.heard.numbers[last - 1]
        self.left = [n for n in left if n <= inside or _is_like_row(self.heard, n)]
        return rows

    def _row(self, at: int) -> tuple[list[str] | None, int]:
        """Return the row that begins in a line, and its number of lines."""
        texts, size = self.heard.texts, 1
        cells = self._alone(at)
        tries = self.tries.left
        while cells is None and self.wraps and size < _MOST_JOINED and at + size < len(texts):
            if RULE.fullmatch(texts[at + size]) or self._alone(at + size):
                return None, 1
            size += 1
            if self.tries.left <= 0 or not self._joined(at, size):
                return None, 1
            rows = self._together(at, size)
            inner = (self._together(at + less, size - less) for less in range(1, size - 1))
            if len(rows) > 1 or any(inner):
                return None, 1
            cells = rows[0] if rows else None
        after = texts[at + size].strip() if at + size < len(texts) else ""
        if cells is None or (self.number_last and _DIGITS.fullmatch(after)):
            return None, 1  # the last number may go on in the next line
        self.tries.left = tries
        return cells, size

    def _alone(self, at: int) -> list[str] | None:
        if at not in self._known:
            self._known[at] = self.one(self.heard.texts[at], True)
        return self._known[at]

    def _together(self, at: int, size: int) -> list[list[str]]:
        """Return the distinct rows that lines may be."""
        if (at, size) not in self._known_rows:
            if len(self._known_rows) >= _MOST_KEPT:
                self._known_rows.clear()
            ways = self._joined(at, size)
            fewest = self.blanks(ways[0])[0] if ways else 0
            ways = [way for way in ways if way.count(" ") >= fewest]
            self.tries.left -= sum(map(len, ways)) + _FIXED_COST * len(ways)
            rows = [cells for way in ways if (cells := self.one(way, False)) is not None]
            self._known_rows[at, size] = [
                cells for place, cells in enumerate(rows) if cells not in rows[:place]
            ]
        return self._known_rows[at, size]

    def _joined(self, at: int, size: int) -> list[str]:
        """Return the ways to join lines, with a blank or none at their ends."""
        if (at, size) not in self._ways:
            if len(self._ways) >= _MOST_KEPT:
                self._ways.clear()
            last = single(self.heard.texts[at + size - 1])
            ways = [last]
            if size > 1:
                ways = [way + seam + last for way in self._joined(at, size - 1) for seam in _SEAMS]
                self.tries.left -= _FIXED_COST * len(ways)
            self._ways[at, size] = [
                way for way in ways if way.count(" ") - way.count(", ") <= self.blanks(way)[1]
            ]
        return self._ways[at, size]


def _is_like_row(heard: LineStream, number: int) -> bool:
    line = heard.texts[bisect_left(heard.numbers, number)]
    return re.search(r"\d\.\d", line) is not None and "(" in line and line.count("  ") > 2


@dataclass
class _NodeRow:
    """Reads rows of the debugger's table: by columns, by marks, or by contents of cells."""

    style: str
    layout: TableLayout | None
    delimiter: str
    is_cut: bool
    placed: int = 0

    def __call__(self, line: str, is_line: bool) -> list[str] | None:
        titles = TITLES[self.style]
        if is_line and self.layout is not None:
            split = self.layout.split(line)
            if split and self._fits(split):
                self.placed += 1
                return list(split)
        cells = tuple(parted(line, self.delimiter)) if is_line else ()
        if self.is_cut:
            cells = cells[: len(titles)]
        # Where columns have places, other lines may stand before a name that is out of its own.
        is_doubtful = self.layout is not None and " " in "".join(cells[:2])
        if self._fits(cells) and not is_doubtful:
            return list(cells)
        words = single(line)
        if self.is_cut:
            words = re.sub(r"(?<=\d) \[.*", "", words)
        if total := _TOTALS.fullmatch(words):
            return [TOTAL_NAME, "-", total[1], *["-"] * (len(titles) - 3)]
        match = _ROWS[self.style].fullmatch(words)
        return list(match.groups()) if match and self._fits(match.groups()) else None

    def blanks(self, begun: str) -> tuple[int, int]:
        """Return the least and largest number of blanks of a row with this start."""
        between = len(TITLES[self.style]) - 1
        if begun.startswith(TOTAL_NAME[0]) or self.is_cut:
            return 0, _MANY
        return between, between

    def _fits(self, cells: tuple[str, ...]) -> bool:
        titles = TITLES[self.style]
        if len(cells) != len(titles):
            return False
        return parse_row(titles, cells) is not None or parse_total(cells) is not None


def read_debugger(table: PastedTable, given: LineStream) -> None:
    """Reconstruct a table of the debugger."""
    heard = filled(given)
    heading = _debugger_heading(heard.texts)
    if isinstance(heading, str):
        table.why = heading
        return
    style, height, is_cut = heading
    titles = TITLES[style]
    layout = find_layout(heard.texts[0]) if height == 1 else None
    row = _NodeRow(style, layout, delimiter_of(heard.texts[0], titles[0]), is_cut)
    goes_on = height > 1 and style != "v0.9"
    wraps = height > 1 or style == "v0.9"
    reader = _PastedRows(heard, row, wraps, goes_on, row.blanks, table.tries)
    rows = reader.read(height, lambda cells: cells[0] == TOTAL_NAME)
    table.left = reader.left
    is_total = bool(rows) and rows[-1][0] == TOTAL_NAME
    if not rows or (is_total and len(rows) == 1 and table.left):
        table.why = why_no_row(heard, height)
        return
    table.complete = is_total or style == "v0.5"
    below = given.texts[1] if len(given.texts) > 1 else ""
    ruled = layout is not None and layout.split(below) == dashes(titles)
    table.intact = row.placed == len(rows) and ruled and not is_cut
    if is_cut:
        table.doubts.append(f"the lines end inside of {_LAST!r}, which is left out")
    body = [titles, dashes(titles), *map(tuple, rows)]
    canonical = canonical_layout(style, body)
    if wide := too_wide(canonical.length or 0, body):
        table.why = wide
        return
    table.text = "".join(f"{canonical.join(line)}\n" for line in body)


def _debugger_heading(texts: Sequence[str]) -> tuple[str, int, bool] | str:
    """Return the style of a heading, its number of lines, and whether it is cut."""
    got = ""
    for height, text in enumerate(texts[: _MOST_JOINED * 2], 1):
        got += squashed(text)
        style = next((s for s in ("v0.9", "v0.6", "v0.5") if got.startswith(_SQUASHED[s])), "")
        if style:
            rest = got[len(_SQUASHED[style]) :]
            following = squashed(texts[height]) if height < len(texts) else ""
            goes_on = rest + following
            if style == "v0.6" and following and (
                goes_on.startswith(_LAST) or _LAST.startswith(goes_on)
            ):  # fmt: skip
                continue
            return style, height, style == "v0.6" and len(rest) > 1 and _LAST.startswith(rest)
        if not any(full.startswith(got) for full in _SQUASHED.values()):
            break
    squashed_heading = squashed(texts[0])
    missing = min(
        (
            [title for title in titles if re.sub(r"\s", "", title) not in squashed_heading]
            for style, titles in TITLES.items()
            if style != "v0.9"
        ),
        key=len,
    )
    if missing:
        return f"the columns {', '.join(missing)} are missing or cut"
    return "its columns are not in TVM's order"


def read_vm(table: PastedTable, given: LineStream) -> None:
    """Reconstruct a table of the VM profiler."""
    heard = filled(given)
    full = "#InvokeCount#Duration(us):Sum/Mean/Min/Max"
    got, height = "", 0
    while height < min(len(heard.texts), _MOST_JOINED):
        got += squashed(heard.texts[height])
        height += 1
        opens = got.removeprefix("#OpNameNShape").removeprefix("#OpName")
        if opens.startswith(full) or not full.startswith(opens):
            break
    shaped = got.startswith("#OpNameNShape")
    if not got.endswith(full):
        table.why = "its columns #InvokeCount and #Duration(us) are missing or cut"
        return
    delimiter = delimiter_of(heard.texts[0], "#OpNameNShape" if shaped else "#OpName")

    def one(line: str, is_line: bool) -> list[str] | None:
        marks = delimiter if delimiter in "|│┃║" and is_line else " "
        words = single(line.strip().strip(marks).replace(marks, " "))
        if _VM_TOTAL.fullmatch(words):
            return [words]
        match = _VM_ROW.fullmatch(words)
        if match is None or (" " in match[1] and not (shaped and is_line)):
            return None
        return [match[1], match[2], match[3]]

    def blanks(begun: str) -> tuple[int, int]:
        return (2, 6) if begun.startswith("T") else (2, 2)

    reader = _PastedRows(heard, one, True, True, blanks, table.tries)
    rows = reader.read(height, lambda cells: len(cells) == 1)
    table.left = reader.left
    if not [row for row in rows if len(row) == 3]:
        table.why = why_no_row(heard, height)
        return
    table.complete = len(rows[-1]) == 1
    name = "#OpNameNShape" if shaped else "#OpName"
    head = f"{name:<80}\t{'#InvokeCount':<10}\t#Duration(us): Sum/Mean/Min/Max"
    lines = [f"{row[0]:<80}\t{row[1]:<10}\t{row[2]}" if len(row) == 3 else row[0] for row in rows]
    table.text = "\n".join([head, *lines]) + "\n"


def stands_as_printed(text: str) -> bool:
    """Return whether a text's one table is as TVM prints it: seven times faster than parsing."""
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines) if _HEADING in line), len(lines))
    if at == len(lines) or not lines[at].startswith(_HEADING):
        return False
    heading = lines[at]
    titles = tuple(re.split(" {2,}", heading.rstrip()))
    if titles not in TITLES.values():
        return False
    cuts = [heading.index(title) - 1 for title in titles[1:]]
    end = at + 1
    while end < len(lines) and len(lines[end]) == len(heading):
        if any(lines[end][cut] != " " for cut in cuts):
            return False
        end += 1
    rest = lines[end : end + 1]
    last = not rest or not rest[0].strip()
    return last and end > at + 2 and not any(_HEADING in line for line in lines[end:])
