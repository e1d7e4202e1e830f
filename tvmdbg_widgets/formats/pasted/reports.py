"""Pasted reports of TVM's profiler, printed or as CSV, reconstructed."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tvmdbg_widgets.formats.pasted.lines import (
    RULE,
    LineStream,
    PastedTable,
    delimiter_of,
    mostly_blanks,
    parted,
    single,
    too_wide,
    why_no_row,
)
from tvmdbg_widgets.formats.tvm.report.csv_file import is_header
from tvmdbg_widgets.formats.tvm.report.numbers import (
    COUNT,
    DEVICE,
    DURATION,
    HASH,
    NAME,
    PERCENT,
    SHAPES,
    Cutter,
    parse_number,
)
from tvmdbg_widgets.formats.tvm.report.report import SEPARATOR, TableRows, find_heading

_MOST_WRAPPED: Final = 5_000
_MOST_JOINED: Final = 8
_LONGEST_ROW: Final = 20_000
_TEXTS: Final = (NAME, DEVICE, SHAPES, HASH)
_TITLE: Final = re.compile(
    r"Duration \(us\)|Percent|Device|Count|Argument Shapes|Hash|Name|[A-Za-z_]\S*"
)
_TWO: Final = r"-?[\d,.' ]*\d[.,]\d\d|nan|-?inf"
_KINDS: Final = {
    DURATION: re.compile(_TWO),
    PERCENT: re.compile(_TWO),
    DEVICE: re.compile(r"[a-z][a-z_]*\d+"),
    COUNT: re.compile(r"\d{1,3}(?:[,.' ]?\d{3})*"),
    SHAPES: re.compile(r"\w+\[[^\[\]]*\](?:, ?\w+\[[^\[\]]*\])*"),
    HASH: re.compile(r"[0-9a-f]{16}"),
}
_TOKEN: Final = re.compile(r"\w++\[[^\[\]\n]*+\](?:, ?\w++\[[^\[\]\n]*+\])*|\S+")


def read_report(table: PastedTable, heard: LineStream) -> None:
    """Reconstruct a printed report."""
    texts = [text.rstrip() for text in heard.texts]
    last = re.split(r"\s{2,}", texts[0])[-1]
    is_cut = any(full != last and full.startswith(last) for full in (COUNT, DEVICE, HASH, SHAPES))
    if is_cut and (unwrapped := _unwrapped(texts)) is not None:
        table.text = unwrapped
        return
    if is_cut:
        table.doubts.append(f"the lines end inside of the column {last!r}, which is left out")
        texts = [text[: len(texts[0]) - len(last)].rstrip() for text in texts]
    if COUNT not in texts[0]:
        table.doubts.append(f"the column {COUNT} is missing: the lines may be cut")
    straight = _straight(texts)
    if straight is None and (straight := _unwrapped(texts)) is not None:
        table.doubts.clear()
    if straight is not None:
        table.text = straight
        return
    _read_report_cells(table, heard, texts)


def _read_report_cells(table: PastedTable, heard: LineStream, texts: Sequence[str]) -> None:
    """Reconstruct a report with misaligned columns."""
    delimiter = delimiter_of(texts[0], NAME)
    titles = parted(texts[0], delimiter) or _TITLE.findall(single(texts[0]))
    while titles and not titles[-1]:
        titles.pop()
    if titles[:3] != [NAME, DURATION, PERCENT] or len(set(titles)) != len(titles):
        table.why = f"its column titles are ambiguous: {texts[0].strip()[:80]!r}"
        return
    rows: list[dict[str, str]] = []
    unclear: set[str] = set()
    at = 0
    for at, text in enumerate(texts[1:], 1):
        if RULE.fullmatch(text) and text.strip(" |│┃║") != SEPARATOR:
            continue
        row = _report_row(text, titles, delimiter, unclear) if text.strip() else None
        if row is not None:
            rows.append(row)
        elif not re.search(r"\d", text) if rows else text.strip():
            break
        elif rows:
            table.left.append(heard.numbers[at])
    if not any(row.get(DURATION) for row in rows):
        table.why = why_no_row(heard, 1)
        return
    which = f"the column of some cells is ambiguous: {', '.join(sorted(unclear))}"
    table.doubts += [which] if unclear else []
    table.complete = any(row[NAME] == "Total" for row in rows)
    body = [titles, *([row.get(title, "") for title in titles] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*body, strict=True)]
    if wide := too_wide(sum(widths), body):
        table.why = wide
        return
    lines = ([first.ljust(widths[0]), *map(str.rjust, cells, widths[1:])] for first, *cells in body)
    printed = "".join("".join(f"{cell}  " for cell in cells) + "\n" for cells in lines)
    table.text = f"{printed}\n{_configuration(texts[at:])}"


def _configuration(texts: Sequence[str]) -> str:
    bare = [text.strip(" |│") for text in texts]
    at = next((i for i, text in enumerate(bare) if text), len(bare))
    if bare[at : at + 1] != ["Configuration"]:
        return ""
    pairs = []
    for text in bare[at + 1 :]:
        if not text or RULE.fullmatch(text):
            continue
        if ": " not in text:
            break
        pairs.append(text)
    return "\n".join(["Configuration", "-------------", *pairs]) + "\n"


def _straight(texts: Sequence[str]) -> str | None:
    """Return a report with aligned columns, or None."""
    end = next((at for at, text in enumerate(texts) if not text), len(texts))
    wide = max(map(len, texts[:end]), default=0) + 2
    if end < 2 or len(texts[0]) + 2 != wide or find_heading(texts[0].ljust(wide)) is None:
        return None
    if mostly_blanks(wide, end, sum(map(len, texts[:end]))):
        return None
    # Where the last cells are empty, lines are shorter: they have their blanks again.
    padded = [text.ljust(wide) for text in texts[:end]]
    if not _is_report(padded):
        return None
    return "\n".join(padded) + "\n\n" + _configuration(texts[end:])


def _is_report(lines: Sequence[str], *, summed: bool = False) -> bool:
    """Return whether every line below a heading is a row with its cells in their columns."""
    heading = find_heading(lines[0])
    if heading is None or len(lines) < 2:
        return False
    known = (COUNT, DEVICE, HASH, SHAPES, PERCENT)
    if any(title != column and column in title for title in heading.columns for column in known):
        return False  # two titles without a blank between them
    rows = TableRows([*lines[1:], ""], heading, "")
    wrong = {issue.rule for issue in rows.issues} - {"report-cut"}
    if summed and rows.summed is None:
        return False
    if wrong or not rows.rows or any(DURATION not in row or NAME not in row for row in rows.rows):
        return False
    kinds = {title: _KINDS[title] for title in (COUNT, DEVICE, HASH, SHAPES)}
    return all(
        kinds[title].fullmatch(row[title].text)
        for row in rows.rows
        for title in kinds
        if title in row
    )


def _unwrapped(texts: Sequence[str]) -> str | None:
    """Rejoin the lines of a report that a terminal cut, equally many a row."""
    texts = texts[:_MOST_WRAPPED]
    wide = max(map(len, texts), default=0)
    totals = [at for at, text in enumerate(texts) if text.startswith("Total")]
    heights = [
        height for height in range(2, _MOST_JOINED * 2) if any(at % height == 0 for at in totals)
    ]
    for width in range(wide, wide + 4):
        for height in heights:
            groups = (texts[at : at + height] for at in range(0, len(texts), height))
            rows = ("".join(part.ljust(width) for part in group).rstrip() for group in groups)
            heading = next(rows, "")
            second = next(rows, "")
            full = max(len(heading), len(second)) + 2
            if full > _LONGEST_ROW or NAME not in heading[:4]:
                continue
            if find_heading(heading + "  ") is None:
                continue
            body = [heading.ljust(full)]
            for row in itertools.chain([second], rows):
                ended = body[-1].startswith("Total ") and not row.startswith("Total ")
                if not row or len(row) > full - 2 or ended:
                    break
                body.append(row.ljust(full))
            if len(body) > 2 and body[-1].startswith("Total") and _is_report(body, summed=True):
                rest = texts[len(body) * height :]
                return "\n".join(body) + "\n\n" + _configuration(rest)
    return None


def _report_row(
    text: str, titles: Sequence[str], delimiter: str, unclear: set[str]
) -> dict[str, str] | None:
    """Return the unambiguous cells of a row by title."""
    cells = parted(text, delimiter)
    if delimiter in "\t|│┃║,;&" and len(cells) >= len(titles) and not any(cells[len(titles) :]):
        row = dict(zip(titles, cells, strict=False))
        fits = all(
            not cell or title not in _KINDS or _KINDS[title].fullmatch(cell)
            for title, cell in row.items()
        )
        return row if fits and _is_row(row) else None
    cells = [cell for cell in cells if cell] if cells else _TOKEN.findall(single(text))
    if not cells or len(cells) > len(titles):
        return None
    if len(cells) == 1:
        return {NAME: SEPARATOR} if cells[0].strip("-") == "" else None
    places = _places(cells, titles)
    if places is None:
        return None
    row = {}
    for cell, options in zip(cells, places, strict=True):
        if len(options) == 1:
            row[titles[options[0]]] = cell
        else:
            unclear.update(titles[place] for place in options)
    return row if _is_row(row) else None


def _is_row(row: dict[str, str]) -> bool:
    if row[NAME].strip("-") == "" and not any(row[title] for title in row if title != NAME):
        row[NAME] = SEPARATOR
        return True
    return bool(row.get(NAME)) and bool(row.get(DURATION))


def _places(cells: Sequence[str], titles: Sequence[str]) -> list[list[int]] | None:
    """Return the possible columns of the cells, which keep their order."""
    fits = [
        [title not in _KINDS or _KINDS[title].fullmatch(cell) is not None for title in titles]
        for cell in cells
    ]
    for place, cell in enumerate(cells):
        if any(_KINDS[title].fullmatch(cell) for title in (SHAPES, HASH) if title in titles):
            fits[place] = [
                fit and title in _KINDS for fit, title in zip(fits[place], titles, strict=True)
            ]
    # TVM gives every row a name and a time.
    if not fits[1][1]:
        return None
    behind: list[set[int]] = [{0}, {1}]
    for place in range(2, len(cells)):
        first = min(behind[-1], default=len(titles))
        behind.append({at for at in range(first + 1, len(titles)) if fits[place][at]})
    if not all(behind):
        return None
    last = len(titles)
    places: list[list[int]] = []
    for options in reversed(behind):
        kept = sorted(at for at in options if at < last)
        if not kept:
            return None
        last = kept[-1]
        places.insert(0, kept)
    return places


def read_csv(table: PastedTable, heard: LineStream) -> None:
    """Extract a report's CSV, and rejoin lines that a terminal cut."""
    quotes = re.findall(r'"+', "".join(heard.texts[1:]))
    if '""' in quotes and not any(len(run) % 2 for run in quotes) and ',""' not in heard.texts[0]:
        rows = [text.replace('""', '"') for text in heard.texts[1:]]  # lines were cells of CSV
        heard = replace(heard, texts=[heard.texts[0], *rows])
    lines = [text.rstrip() for text in heard.texts]
    if (other := _of_spreadsheet(table, heard)) is not None:
        table.text = other
        return
    if lines[-1][-1:].isalnum() and len(lines) > 1:
        # The text may end inside of the last number.
        table.left.append(heard.numbers[-1])
        lines[-1] = ""
    wide = max(map(len, lines))
    cutter = Cutter(lines[0].split(","))
    cut = sum(len(line) == wide and cutter.cut(line) is None for line in lines)
    if not is_header(lines[0]) or cut:
        joined = _rejoined(heard.texts, max(map(len, heard.texts))) or [""]
        cutter = Cutter(joined[0].split(","))
        rows = [line for line in joined[1:] if line] if is_header(joined[0]) else []
        while rows and '"' not in rows[-1] and not _is_csv_row(cutter, rows[-1]):
            rows.pop()
        if rows and all(_is_csv_row(cutter, row) for row in rows):
            lines = joined
        elif cut != 1 or not is_header(lines[0]):
            table.why = "its lines are cut, and no one way to join them gives rows"
            return
    cutter = Cutter(lines[0].split(","))
    rows = [line for line in lines[1:] if line]
    while rows and not cutter.cut(rows[-1]):
        rows.pop()
    if rows:
        table.text = "\n".join([lines[0], *rows]) + "\n"
    else:
        table.why = why_no_row(heard, 1)


def _of_spreadsheet(table: PastedTable, heard: LineStream) -> str | None:
    """Rewrite rows of a spreadsheet or pandas like TVM's; None if they are TVM's."""
    heading = heard.texts[0]
    mark = next(item for item in (*"|;\t,", "") if item in heading)
    titles = parted(heading.rstrip(), mark)
    if not {NAME, DURATION} <= set(titles) or len(set(titles)) < len(titles) or "" in titles:
        return None
    cutter, order = Cutter(sorted(titles)), sorted(titles)
    if mark == "," and titles == order and any(map(cutter.cut, heard.texts[1:])):
        return None
    lines, left = [], []
    for number, text in zip(heard.numbers[1:], heard.texts[1:], strict=True):
        cells = parted(text.rstrip(), mark) if text.strip() and not RULE.fullmatch(text) else []
        if not cells:
            continue
        if mark in "\t|":  # empty cells at the end of a line are lost with its blanks
            cells += [""] * (len(titles) - len(cells))
        row = dict(zip(titles, (cell.replace('""', '"') for cell in cells), strict=False))
        if row.get(NAME) in (SEPARATOR, "Sum", "Total"):
            return None  # sums of a printed table, whose rows may be calls too
        fits = len(cells) == len(titles)
        written = [_csv_cell(title, row[title]) for title in order] if fits else [None]
        line = ",".join(item or "" for item in written)
        if None in written or not _is_csv_row(cutter, line):
            left.append(number)
        else:
            lines.append(line)
            table.left += left
            left = []
    if not lines:
        return None
    if COUNT not in titles:
        table.doubts.append(f"the column {COUNT} is missing")
    table.left += [n for n in left if mark in heard.texts[bisect_left(heard.numbers, n)]]
    return "\n".join([",".join(order), *lines]) + "\n"


def _csv_cell(title: str, cell: str) -> str | None:
    """Rewrite a cell like TVM's; None if its column holds other values."""
    is_number = parse_number(cell) is not None
    if cell[:1] in ("'", '"') or "&quot;" in cell:
        return None  # quoted in another way
    if title in (DURATION, PERCENT, COUNT):
        return cell if is_number or not cell else None
    return cell if not cell or (is_number and title not in _TEXTS) else f'"{cell}"'


def _rejoined(texts: Sequence[str], wide: int) -> list[str]:
    """Join lines of full width with the next, unless a quote may end them; empty if too long."""
    joined: list[str] = []
    part, cutter = "", None
    for text in texts:
        part += text
        if len(part) > _LONGEST_ROW:
            return []
        is_row = cutter is not None and part.endswith('"') and _is_csv_row(cutter, part)
        if len(text) < wide - 1 or is_row:
            joined.append(part.rstrip())
            cutter = cutter or Cutter(joined[0].split(","))
            part = ""
        else:
            part += " " * (wide - len(text))
    return [*joined, part.rstrip()]


def _is_csv_row(cutter: Cutter, text: str) -> bool:
    """Return whether a line is an unambiguous row with a name and a time."""
    cells = cutter.cut(text)
    if cells is None or None in cells:
        return False
    named = {
        title: text[slice(*cell)]
        for title, cell in zip(cutter.columns, cells, strict=True)
        if cell is not None
    }
    return len(named.get(NAME, "")) > 2 and bool(named.get(DURATION))
