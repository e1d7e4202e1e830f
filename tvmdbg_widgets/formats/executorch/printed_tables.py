"""Tables as pandas and tabulate write them: frames, Markdown, CSV, TSV, HTML, JSON, or blanks.

Column edges come from the heading, so that cells may hold blanks and commas.
"""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from tvmdbg_widgets.model.base.text import paired_json

_FRAMES: Final = "│|"
_JOINTS: Final = frozenset("│├┼┤╞╪╡╘╧╛╒╤╕")
_RULE: Final = re.compile(r"[│|├┼┤╞╪╡╘╧╛╒╤╕+=\-:─═ ]+")
_DASHES: Final = re.compile(r" *-{2,}(?: +-{2,})* *")
_DELIMITERS: Final = (",", "\t", ";")
#: A heading of pandas or tabulate: words, and a unit in parentheses behind one blank.
_WORD: Final = re.compile(r"\S+(?: \(\w{1,9}\))?")
_NUMBER: Final = re.compile(r" {0,40}(?:\d+|\.{2,3})(?= )")
_SIZE: Final = re.compile(r"\[\d+ rows x \d+ columns\]")
_TAG: Final = re.compile(r"<(/?)(table|tr|td|th)\b[^<>]{0,400}>")
_ANY_TAG: Final = re.compile(r"<[^<>]{0,400}>")
_CELL_BYTES: Final = 64 << 20
#: Characters of a heading aligned by blanks, and blocks that pandas wraps it to.
_MOST_HEADING: Final = 20_000
_MOST_BLOCKS: Final = 32


@dataclass
class PrintedTable:
    """A table as text."""

    columns: tuple[str, ...]
    line: int
    rows: list[dict[str, str]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    elided: bool = False
    breaks: set[int] = field(default_factory=set)

    def add(self, cells: Sequence[str], line: int) -> bool:
        """Add a row; False if it does not fit the heading."""
        cells = [cell.strip() for cell in cells]
        if len(cells) == len(self.columns) + 1 and self.columns[0] and not self.rows:
            self.columns = ("", *self.columns)
        if len(cells) != len(self.columns):
            self.left.append(line)
            return False
        if all(cell in ("", "...", "..", "…") for cell in cells):
            self.elided = True
            self.breaks.add(len(self.rows))
        else:
            self.rows.append(dict(zip(self.columns, cells, strict=True)))
        return True


def printed_tables(text: str, wanted: Sequence[str]) -> list[PrintedTable]:
    """Return the tables of a text whose heading has the wanted columns, in that order."""
    if text.lstrip()[:1] in ("[", "{") and (document := _document(text)) is not None:
        return list(_of_json(document, wanted))
    if "<table" in text and (tables := list(_of_html(text, wanted))):
        return tables
    lines = _rejoined_lines([line.rstrip("\r") for line in text.split("\n")])
    tables = []
    at = 0
    while at < len(lines):
        # pandas wraps columns to blocks, and marks lines that go on in the next.
        words = wanted[:1] if lines[at].rstrip().endswith("\\") else wanted
        if all(word in lines[at] for word in words) and (read := _table(lines, at, wanted)):
            table, at = read
            tables.append(table)
        else:
            at += 1
    return tables


def _rejoined_lines(lines: list[str]) -> list[str]:
    """Rejoin lines of a frame that a terminal wrapped, by the joints of its first rule."""
    rejoined: list[str] = []
    joints = 0
    for line in lines:
        last = rejoined[-1] if rejoined else ""
        if joints and last[:1] in _JOINTS and 0 < _joints(last) < joints:
            rejoined[-1] = last + line
        else:
            rejoined.append(line)
        if rejoined[-1].startswith("╒") and rejoined[-1].rstrip().endswith("╕"):
            joints = _joints(rejoined[-1])
        elif rejoined[-1].startswith("╒"):
            joints = _joints(rejoined[-1]) + 1
    return rejoined


def _joints(line: str) -> int:
    return sum(letter in _JOINTS for letter in line)


def _table(lines: Sequence[str], at: int, wanted: Sequence[str]) -> tuple[PrintedTable, int] | None:
    """Read the table whose heading may stand in a line; also return the line behind it."""
    heading = lines[at]
    for frame in _FRAMES:
        cells = _framed(heading, frame)
        if set(wanted) <= set(cells):
            return _read_framed(lines, at, frame, cells)
    for delimiter in _DELIMITERS:
        cells = _cut(heading, delimiter)
        if set(wanted) <= set(cells):
            return _read_delimited(lines, at, delimiter, cells)
    words = _WORD.findall(heading, 0, _MOST_HEADING)
    if words[-1:] == ["\\"] and wanted[0] in words:
        read = _read_aligned(lines, at)
        return read if set(wanted) <= set(read[0].columns) else None
    return _read_aligned(lines, at) if set(wanted) <= set(words) else None


def _framed(line: str, frame: str) -> list[str]:
    text = line.strip()
    if frame not in text:
        return []
    return [cell.strip() for cell in text.removeprefix(frame).removesuffix(frame).split(frame)]


def _read_framed(
    lines: Sequence[str], at: int, frame: str, columns: Sequence[str]
) -> tuple[PrintedTable, int]:
    table = PrintedTable(tuple(columns), at + 1)
    ruled = False
    end = at + 1
    for end in range(at + 1, len(lines) + 1):
        line = lines[end].strip() if end < len(lines) else ""
        if frame not in line and not (line and _RULE.fullmatch(line)):
            break
        if _RULE.fullmatch(line):
            # Between rows of a grid there is a rule; a cell of several lines has none inside.
            ruled = ruled or bool(table.rows)
            fresh = True
            continue
        cells = _framed(line, frame)
        if cells == list(columns):
            break
        if ruled and not fresh and table.rows and len(cells) == len(table.columns):
            for name, cell in zip(table.columns, cells, strict=True):
                table.rows[-1][name] = f"{table.rows[-1][name]}\n{cell}".strip("\n")
        else:
            table.add(cells, end + 1)
        fresh = False
    return table, end


def _cut(line: str, delimiter: str) -> list[str]:
    if delimiter not in line:
        return []
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _read_delimited(
    lines: Sequence[str], at: int, delimiter: str, columns: Sequence[str]
) -> tuple[PrintedTable, int]:
    table = PrintedTable(tuple(columns), at + 1)
    heading = table.columns
    limit = csv.field_size_limit(_CELL_BYTES)
    try:
        reader = csv.reader((f"{line}\n" for line in lines[at + 1 :]), delimiter=delimiter)
        used, misfits = 0, 0
        for cells in reader:
            if tuple(cell.strip() for cell in cells) == heading:
                break
            if cells and delimiter in "".join(lines[at + 1 + used : at + 1 + reader.line_num]):
                misfits = 0 if table.add(cells, at + 2 + used) else misfits + 1
            elif any(cell.strip() for cell in cells) or table.rows:
                break
            used = reader.line_num
    except csv.Error:
        table.left.append(at + 2 + used)
    finally:
        csv.field_size_limit(limit)
    # What follows a table without fitting it is other text.
    if misfits > 1:
        del table.left[len(table.left) - misfits :]
    return table, at + 1 + max(used, 0)


def _read_aligned(lines: Sequence[str], at: int) -> tuple[PrintedTable, int]:
    """Read a table of tabulate's plain forms, or of pandas, which may continue below."""
    under = lines[at + 1] if at + 1 < len(lines) else ""
    if _DASHES.fullmatch(under):
        spans = [match.span() for match in re.finditer(r"-+", under)]
        names = [lines[at][slice(*span)].strip() for span in spans]
        table = PrintedTable(tuple(names), at + 1)
        end = at + 2
        while end < len(lines) and lines[end].strip() and not _DASHES.fullmatch(lines[end]):
            table.add(_spanned(lines[end], spans), end + 1)
            end += 1
        return table, end
    first, end = _block(lines, at)
    blocks = [first]
    while lines[blocks[-1].line - 1].rstrip().endswith("\\") and len(blocks) < _MOST_BLOCKS:
        start = next((n for n in range(end, len(lines)) if lines[n].strip()), len(lines))
        if start == len(lines):
            break
        block, end = _block(lines, start)
        if [row[""] for row in block.rows] != [row[""] for row in first.rows]:
            first.left.append(start + 1)
            break
        blocks.append(block)
    merged = PrintedTable(
        tuple(dict.fromkeys(name for block in blocks for name in block.columns)), at + 1
    )
    merged.left = first.left
    merged.elided = any(block.elided for block in blocks)
    merged.breaks = first.breaks
    merged.rows = [
        {name: cell for row in rows for name, cell in row.items()}
        for rows in zip(*(block.rows for block in blocks), strict=False)
    ]
    return merged, end


def _block(lines: Sequence[str], at: int) -> tuple[PrintedTable, int]:
    heading = lines[at][:_MOST_HEADING].rstrip().removesuffix("\\")
    words = list(_WORD.finditer(heading))
    ends = [0, *(match.end() for match in words)]
    table = PrintedTable(("", *(match.group() for match in words)), at + 1)
    end = at + 1
    # No line is tried more than a few times.
    joins = 4 * (len(lines) - at)
    while end < len(lines) and lines[end].strip() and not _SIZE.fullmatch(lines[end].strip()):
        last, pieces = end, [_bare(lines[end])]
        size = len(pieces[0])
        # Line ends in a cell stand as they are, and count as one character.
        while size < ends[-1] and last + 1 < len(lines) and joins:
            last, joins = last + 1, joins - 1
            pieces.append(_bare(lines[last]))
            size += 1 + len(pieces[-1])
        number = _NUMBER.match(pieces[0])
        if number is not None and size == ends[-1]:
            line, width = "\n".join(pieces), number.end()
            spans = [(0, width), (width, ends[1]), *pairwise(ends[1:])]
            if all(line[cut : cut + 1] in ("", " ") for _, cut in spans[1:]):
                table.add(_spanned(line, spans), end + 1)
                end = last + 1
                continue
        if number is not None:
            table.left.append(end + 1)
        end += 1
    if "..." in table.columns:
        table.elided = True
    return table, end


def _bare(line: str) -> str:
    return line.rstrip().removesuffix("\\").rstrip()


def _spanned(line: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    return [line[begin:end] for begin, end in spans]


def _of_html(text: str, wanted: Sequence[str]) -> Iterator[PrintedTable]:
    table: PrintedTable | None = None
    cells: list[str] = []
    begin, line, counted_to = -1, 1, 0
    for tag in _TAG.finditer(text):
        closes, name = tag[1], tag[2]
        if begin >= 0:
            cells.append(html.unescape(_ANY_TAG.sub("", text[begin : tag.start()])))
            begin = -1
        if name in ("td", "th") and not closes:
            begin = tag.end()
        elif name == "table":
            table = None
        elif name == "tr" and not closes:
            cells = []
        elif name == "tr":
            line += text.count("\n", counted_to, tag.start())
            counted_to = tag.start()
            if table is not None:
                table.add(cells, line)
            elif set(wanted) <= {cell.strip() for cell in cells}:
                table = PrintedTable(tuple(cell.strip() for cell in cells), line)
                yield table


def _document(text: str) -> Any:
    try:
        return json.loads(paired_json(text)[0])
    except (ValueError, RecursionError):
        return None


def _of_json(document: Any, wanted: Sequence[str]) -> Iterator[PrintedTable]:
    if isinstance(document, dict) and all(isinstance(entry, dict) for entry in document.values()):
        numbers = dict.fromkeys(key for column in document.values() for key in column)
        records = [
            {"": number, **{name: column.get(number) for name, column in document.items()}}
            for number in numbers
        ]
    elif isinstance(document, list) and all(isinstance(entry, dict) for entry in document):
        records = document
    else:
        return
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    if not set(wanted) <= set(columns):
        return
    table = PrintedTable(columns, 1)
    for record in records:
        cells = ((name, record.get(name)) for name in columns)
        table.rows.append(
            {
                name: value or "" if isinstance(value, str | None) else json.dumps(value)
                for name, value in cells
            }
        )
    yield table
