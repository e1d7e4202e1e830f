"""Candidate originals of a pasted text.

Log prefixes, marks of quotes and comments, colors, HTML and fences are removed, and reported.
Tables are realigned; JSON is extracted from its surroundings, rejoined if a terminal cut its lines,
and read from Python's or a string literal's form. Nearly known formats are named.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tvmdbg_widgets.formats.pasted.documents import (
    documents,
    is_json,
    json_values,
    literal_in,
    messages_in,
    nearly_json,
    open_ends,
    records,
    standing,
    unwrapped,
)
from tvmdbg_widgets.formats.pasted.lines import (
    EMPTY,
    UNMARKED,
    Cleaned,
    LineStream,
    PastedTable,
    Prefix,
    Tries,
    plain,
    starts,
    stream,
    without_ends,
    without_html,
)
from tvmdbg_widgets.formats.pasted.node_tables import read_debugger, read_vm, stands_as_printed
from tvmdbg_widgets.formats.pasted.reports import read_csv, read_report
from tvmdbg_widgets.formats.tvm.report.numbers import DURATION
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource

_MOST_BYTES: Final = 8 << 20
_MOST_BLANKS: Final = 20
_MOSTLY: Final = 0.8
_MOST_PREFIXES: Final = 6

#: Lines of tunings and ExecuTorch, which have no common heading.
_PRINTED: Final = re.compile(
    r"\|[ \t]*ID[ \t]*\|(?=.{0,400}Latency \(ms\))|\bID[ \t]*\|(?=.{0,400}Latency \(us\))"
    r"|(?:Estimated total|Total) latency: "
    r"|\bNo: \d{1,9}\s+\wFLOPS: |\bGet \d{1,9} programs (?:to|for) measure"
    r"|\[Task [ \d]{1,6}/|Current/Best: |\bElapsedTime\(s\)\s|(?<!=)={5,} Task \d{1,9} "
    r"|(?<![^\s(=])[^\s(=]{1,200} = PLACEHOLDER\b"
    r"|(?:│[^│\n]{0,40}){0,3}\bevent_block_name\b|,event_block_name,"
    r"|(?:│[^│\n]{0,40}){0,3}\bop_type\b(?=.{1,200}occurrences_in_)|Total +delegated +subgraphs: "
)
_PRINTED_TEXT: Final = "what a tuning or ExecuTorch's tools print"
_TASKS: Final = re.compile(r"[ \t]{0,9}\|?[ \t]{0,9}ID[ \t]{0,9}\|")
_FULL_TASKS: Final = re.compile(
    _TASKS.pattern
    + r".{0,900}(?:Trials[ \t]{0,99}\||\|[ \t]{0,99}(?:Terminated|Done)[ \t]*+\|?)[ \t]*+"
)
_MOST_CUT: Final = 8
_LONGEST_LINE: Final = 20_000
#: Windows-1252 of bytes that are no UTF-8, each by itself: other names keep their letters.
_WINDOWS: Final = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(128, 256)
}


def readings(source: ByteSource, known: str = "") -> Iterator[tuple[ByteSource, Cleaned]]:
    """Yield candidate originals of a source, likeliest first."""
    text = _text(source)
    if text is None:
        return
    if UNMARKED in text.taken:
        known = ""
    seen = set() if text.taken else {text.text}
    found = _known(text, known) if known else _texts(text)
    for reading in _better_logs(text, found) if known == "tuning-records" else found:
        if reading.text not in seen and reading.text.strip():
            seen.add(reading.text)
            yield BytesSource(reading.text.encode("utf-8", "replace"), source.name), reading


def nearly(source: ByteSource, *, tables_only: bool = False) -> str:
    """Name the known format in a text and why it is unreadable; empty if there is none."""
    text = _text(source)
    if text is None:
        return ""
    if tables_only and stands_as_printed(text.text.replace("\r\n", "\n")):
        return ""
    bare = plain(text)
    held = tables(bare.text)
    if tables_only and (not held or any(item.text or item.why == EMPTY for item in held)):
        return ""
    for item in _plain_texts(text):
        held = held or tables(item.text)
    for number, line in enumerate(bare.text.split("\n"), 1):
        if held:
            break
        if _PRINTED.search(line[:_LONGEST_LINE]) or _TASKS.match(line):
            what = "the table of a tuning" if _TASKS.match(line) else _PRINTED_TEXT
            text_line = f"A line of {what} is in line {number:,}"
            return f"{text_line}, but lines below it are cut."
        if "Duration (us)" in line:
            return f"Part of a heading of a profiling report is in line {number:,}: it is cut."
    if held:
        text_line = why(next((item for item in held if not item.text), held[0]))
        return f"{text_line[:1].upper()}{text_line[1:]}."
    return nearly_json(bare.text)


def _text(source: ByteSource) -> Cleaned | None:
    """Decode a text in UTF-8 or Windows' encodings; None for blanks, other or too many bytes."""
    if not 0 < source.size <= _MOST_BYTES:
        return None
    data = bytes(source.read(0, source.size))
    if data.isspace():
        return None
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark) and b"\0" in data:
            return Cleaned(data[2:].decode(encoding, "replace"), {"UTF-16": 1})
    if b"\0" in data:
        for at, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
            if len(data) > 3 and not data[at::2].strip(b"\0"):
                return Cleaned(data.decode(encoding, "replace"), {UNMARKED: 1})
        return None
    try:
        return Cleaned(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", "surrogateescape").translate(_WINDOWS)
        return Cleaned(text, {"Windows-1252": 1})


def _known(text: Cleaned, part: str) -> Iterator[Cleaned]:
    """Yield better readings of a text that a reader would misread."""
    if _is_log(text.text) if part == "tuning-records" else _is_document(text.text):
        return
    if part in ("table", "report") and stands_as_printed(text.text.replace("\r\n", "\n")):
        return
    bare = plain(text)
    is_json = text.text.lstrip()[:1] in ("{", "[", '"')
    is_html = "&quot;" in text.text and '"' not in text.text
    if part == "tuning-output":
        for reading in _plain_texts(text):
            if reading.text != bare.text:
                yield reading
            yield from _printed(reading, only_prefixed=True)
            yield from _rejoined(reading)
    elif part in ("table", "report") and text.text.lstrip()[:1] != "{":
        yield from _known_tables(text)
        return
    elif not is_json or is_html:
        yield from _texts(text)
    else:
        for reading in (*unwrapped(bare), *([bare] if part == "times" else [])):
            yield from json_values(reading)
    # No-break blanks stand in strings too, but not in place of all blanks.
    marked = set(bare.taken) - {"odd blanks"} or " " not in text.text
    if marked or not is_json:
        yield bare


def _is_log(text: str) -> bool:
    """Return whether a text is a log of records, even with damaged lines."""
    begins = [line.lstrip()[:3] for line in text.split("\n") if line.strip()]
    own = sum(begin.startswith(("{", "[")) for begin in begins)
    return own >= _MOSTLY * len(begins) and not {"```", "~~~"} & set(begins)


def _better_logs(text: Cleaned, found: Iterator[Cleaned]) -> Iterator[Cleaned]:
    """Yield readings with fewer lines that are no records, and all that are as they stand.

    Only for more records may these stand in other lines.
    """
    own, others = standing(text.text)
    for reading in found:
        kept, rest = standing(reading.text)
        is_moved = len(kept) > len(own) and {line for _, line in own} <= {line for _, line in kept}
        if rest < others and (own <= kept or is_moved):
            yield reading


def _is_document(text: str) -> bool:
    """Return whether a text is one JSON document."""
    return text.lstrip()[:1] in ("{", "[") and is_json(text)


def _known_tables(text: Cleaned) -> Iterator[Cleaned]:
    as_read = text.text.replace("\r\n", "\n")
    for reading, held in _tables(text):
        clean = reading.text == as_read and all(map(_is_clean, held))
        table = None if clean else cleaned(reading, held)
        if table is not None:
            yield table


def _tables(text: Cleaned) -> Iterator[tuple[Cleaned, list[PastedTable]]]:
    """Yield the tables by reading of a text; only the raw text if its tables are complete."""
    *others, bare = _plain_texts(text)
    stands = tables(bare.text)
    if not stands or not all(
        item.text and item.complete and not item.left and "<" not in item.prefix for item in stands
    ):
        yield from ((item, tables(item.text)) for item in others)
    yield bare, stands


def _is_clean(table: PastedTable) -> bool:
    """Return whether a reader takes a table as it is: the debugger's knows comment marks."""
    own = " \t#>/*|;%-" if table.kind == "debugger" else ""
    clean = table.intact and not table.doubts and not table.prefix.strip(own)
    return bool(table.text) and clean


def _texts(text: Cleaned) -> Iterator[Cleaned]:
    bare = plain(text)
    if bare.text.lstrip()[:1] in ("{", "["):
        yield from json_values(bare)
    yield bare
    for reading, held in _tables(text):
        if (table := cleaned(reading, held)) is not None:
            yield table
    all_texts = list(_plain_texts(text))
    for reading in all_texts:
        yield from _printed(reading)
        yield from _rejoined(reading)
    for reading in all_texts:
        yield from documents(reading)
    for reading in all_texts:
        if (log := records(reading, whole=False)) is not None:
            yield log


def _plain_texts(text: Cleaned) -> Iterator[Cleaned]:
    """Yield a text without HTML, the texts of its JSON or string literals, and itself."""
    if (other := without_html(text)) is not None:
        yield other
    bare = plain(text)
    is_message = "\\n" in bare.text or bare.text.lstrip()[:1] == "{"
    if is_message and (literal := "".join(messages_in(bare.text)) or literal_in(bare.text)):
        yield plain(Cleaned(literal, {**bare.taken, "string literals": 1}))
    yield bare


def _printed(given: Cleaned, *, only_prefixed: bool = False) -> Iterator[Cleaned]:
    """Yield printed output of a tuning without the prefixes of its lines."""
    lines = given.text.split("\n")
    tried: set[str] = set()
    for at, column in starts(lines, _PRINTED):
        prefix = lines[at][:column]
        if "|" in lines[at][column : column + _MOST_BLANKS]:  # its columns begin with blanks
            prefix = prefix.rstrip()
        shape = re.sub(r"\d+", "0", prefix)
        if not prefix or shape in tried:
            continue
        tried.add(shape)
        learned = Prefix(prefix)
        split = [learned.split(line) for line in lines]
        count = sum(part is not None for part in split)
        what = f"prefixes like {prefix.strip()[:40]!r}" if prefix.strip() else "indentation"
        taken = {**given.taken, what: count}
        texts = [part[1] if part else line for line, part in zip(lines, split, strict=True)]
        bare = Cleaned("\n".join(texts), taken)
        yield from _rejoined(bare)
        yield bare
        if len(tried) >= _MOST_PREFIXES:
            return
    if not only_prefixed:
        yield Cleaned("\n".join(line.strip() for line in lines), {**given.taken, "indentation": 1})


def _rejoined(given: Cleaned) -> Iterator[Cleaned]:
    """Yield a tuning's tables with rows rejoined from equally many lines."""
    lines = given.text.split("\n")
    for at in (at for at, line in enumerate(lines) if _TASKS.match(line)):
        if _FULL_TASKS.fullmatch(lines[at]):
            return
        wide = max(map(len, lines[at : at + _MOST_CUT]))
        for height in range(2, _MOST_CUT):
            rows = [
                "".join(line.ljust(wide) for line in lines[first : first + height]).rstrip()
                for first in range(at, len(lines), height)
            ]
            if _FULL_TASKS.fullmatch(rows[0]):
                break
        else:
            return
        marks = rows[0].count("|")
        fits = [row.count("|") == marks or not row.strip("- ") for row in rows]
        good = rows[: [*fits, False].index(False)]
        rest = lines[at + len(good) * height :]
        ends = ("" if len(line) == wide else "\n" for line in rest)
        rest = "".join(itertools.chain(*zip(rest, ends, strict=True))).split("\n")
        if len(good) > 1 and not any(line.count("|") > 1 for line in rest):
            taken = {**given.taken, f"line ends at column {wide}": len(good) * (height - 1)}
            yield Cleaned("\n".join([*lines[:at], *good, *rest]), taken)
        return


def cut_line(source: ByteSource) -> int:
    """Return the number of the first line of JSON that ends inside of a string, or 0."""
    text = _text(source)
    if text is None or '"' not in text.text or _is_document(text.text):
        return 0
    ends = open_ends(text.text.split("\n"))
    return ends.index(True) + 1 if any(ends[:-1]) else 0


_MOST_TABLES: Final = 1000
#: Most lines of a cut heading.
_MOST_LINES: Final = 8
_LONGEST: Final = 20_000
#: Separators of the cells of a heading.
_GAP: Final = r"[ \t|│┃║,;&\"]+"
_ANCHOR: Final = re.compile(
    rf"(?P<debugger>Node Name(?={_GAP}(?:Ops|Time|Shape|Inputs|Outputs)\b|[ \t|]*$))"
    r"|(?P<vm>#OpName(?:NShape)?(?=[\s|]|$))"
    rf"|(?P<report>\bName(?={_GAP}Duration \(us\)))"
    r"|(?P<csv>(?:Argument Shapes|Count|Device|Duration \(us\)|Hash|Name|Percent)"
    r"(?=\"? ?[,;\t|] ?\"?[\w ]{1,60}\"? ?(?:[,;\t|(]|$)))"
)
#: Markdown and LaTeX write a backslash before marks.
_ESCAPE: Final = re.compile(r"\\([_()\[\]*%#&|<>~-])")
_ESCAPED_TITLE: Final = re.compile(r"Time\\?\(us\\?\).{0,40}\\[%(]|\\#OpName|Duration \\\(us")
_READERS: Final[dict[str, Callable[[PastedTable, LineStream], None]]] = {
    "debugger": read_debugger,
    "vm": read_vm,
    "report": read_report,
    "csv": read_csv,
}
_TITLES: Final = {
    "debugger": "the table of TVM's debugger",
    "vm": "the table of TVM's VM profiler",
    "report": "the table of a profiling report",
    "csv": "the CSV of a profiling report",
}


def tables(text: str) -> list[PastedTable]:
    """Return the tables of a text in order, unreadable ones too."""
    if _ESCAPED_TITLE.search(text) is not None:
        text = _ESCAPE.sub(r"\1", text)
    lines = text.replace("`", "").replace("**", "").split("\n")
    headings = [
        (at, match)
        for at, line in enumerate(lines)
        if (match := _ANCHOR.search(line[:_LONGEST])) is not None
        and (match["csv"] is None or DURATION in "".join(lines[at : at + _MOST_LINES]))
    ]
    ends = [at for at, _ in headings[1:]] + [len(lines)]
    count = len(headings)
    out = []
    tries = Tries()
    for (at, match), end in list(zip(headings, ends, strict=False))[-_MOST_TABLES:]:
        kind = match.lastgroup or ""
        column = match.start()
        if lines[at][column - 1 : column] == '"' and '","' in lines[at]:
            column -= 1
        given = stream(lines, at, column, end)
        heard = without_ends(given)
        table = PastedTable(
            kind, at + 1, prefix=heard.prefix, marked=heard.marked, others=heard.others
        )
        table.tries = tries
        _READERS[kind](table, heard)
        # Its reader reads it as it stands.
        body = table.text.split("\n\n")[0].removesuffix("\n").split("\n")
        stands = [line.rstrip() for line in lines[at : at + len(body)]] == [
            line.rstrip() for line in body
        ]
        table.intact = stands or (table.intact and given is heard and heard.marked != 1)
        out.append(table)
    if count > len(out):
        out[0].doubts.append(f"only the last {len(out):,} of its {count:,} tables are read")
    if any(not (pasted.text and pasted.complete) for pasted in out) and len(out) > 1:
        for pasted in out:
            if pasted.others:
                pasted.text = ""
                pasted.why = "lines of several processes or devices are mixed: keep those of one"
    return out


def cleaned(given: Cleaned, given_tables: Sequence[PastedTable]) -> Cleaned | None:
    """Return the text of tables of one kind, or None."""
    good = [table for table in given_tables if table.text]
    same = [table for table in good if table.kind == good[0].kind]
    if not same:
        return None
    taken = dict(given.taken)
    marked = sum(table.marked for table in same)
    if marked and same[0].prefix.strip(" \t|│┃║"):
        taken[f"prefixes like {same[0].prefix.strip()[:40]!r}"] = marked
    if put := sum(not table.intact for table in same):
        taken["columns put in place"] = put
    left = [number for table in same for number in table.left]
    others = sum(table.others for table in same)
    without = f"{counted(others, 'line')} without that prefix {agree(others, 'is')} left out"
    doubts = [without] if others and marked else []
    doubts += [doubt for table in same for doubt in table.doubts]
    doubts += [why(table) for table in given_tables if not table.text]
    return Cleaned("".join(table.text for table in same), taken, left, doubts)


def why(table: PastedTable) -> str:
    """Name a table and why it is unreadable."""
    rest = table.why or "no row below it can be read"
    return f"a heading of {_TITLES[table.kind]} is in line {table.line:,}, but {rest}"
