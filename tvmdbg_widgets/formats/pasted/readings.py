"""What a text may have been before it was pasted.

What stands around it is taken off, and told: prefixes of logs, marks of quotes and comments,
colors, HTML, fences. Tables are put in place again, JSON is found in what surrounds it, joined
where a terminal cut its lines, and read as Python or a string literal prints it. What is nearly of
a known format is named.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tvmdbg_widgets.formats.pasted.documents import (
    documents,
    literal_in,
    nearly_json,
    open_ends,
    records,
    said_in,
    unwrapped,
    whole_json,
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

#: Larger files are not pasted.
_MOST_BYTES: Final = 8 << 20
_MOST_BLANKS: Final = 20
_MOSTLY: Final = 0.8
_MOST_PREFIXES: Final = 6

#: Of what tunings and ExecuTorch print, where lines have no one heading.
_PRINTED: Final = re.compile(
    r"\|[ \t]*ID[ \t]*\|(?=.{0,400}Latency \(ms\))|\bID[ \t]*\|(?=.{0,400}Latency \(us\))"
    r"|(?:Estimated total|Total) latency: "
    r"|\bNo: \d{1,9}\s+\wFLOPS: |\bGet \d{1,9} programs (?:to|for) measure"
    r"|\[Task [ \d]{1,6}/|Current/Best: |\bElapsedTime\(s\)\s|(?<!=)={5,} Task \d{1,9} "
    r"|(?<![^\s(=])[^\s(=]{1,200} = PLACEHOLDER\b"
    r"|(?:│[^│\n]{0,40}){0,3}\bevent_block_name\b|,event_block_name,"
    r"|(?:│[^│\n]{0,40}){0,3}\bop_type\b(?=.{1,200}occurrences_in_)|Total +delegated +subgraphs: "
)
_WHAT_PRINTED: Final = "what a tuning or ExecuTorch's tools print"
_TASKS: Final = re.compile(r"[ \t]{0,9}\|?[ \t]{0,9}ID[ \t]{0,9}\|")
_TASKS_WHOLE: Final = re.compile(
    _TASKS.pattern
    + r".{0,900}(?:Trials[ \t]{0,99}\||\|[ \t]{0,99}(?:Terminated|Done)[ \t]*+\|?)[ \t]*+"
)
_MOST_CUT: Final = 8
_LONGEST_LINE: Final = 20_000


def readings(source: ByteSource, known: str = "") -> Iterator[tuple[ByteSource, Cleaned]]:
    """Yield what a source may have been before it was pasted, the likeliest first."""
    text = _text(source)
    if text is None:
        return
    if UNMARKED in text.taken:
        known = ""
    seen = set() if text.taken else {text.text}
    for found in _known(text, known) if known else _texts(text):
        if found.text not in seen and found.text.strip():
            seen.add(found.text)
            yield BytesSource(found.text.encode("utf-8", "replace"), source.name), found


def nearly(source: ByteSource, *, tables_only: bool = False) -> str:
    """Name what a text has of a known format and why it cannot be read; empty for nothing."""
    text = _text(source)
    if text is None:
        return ""
    if tables_only and stands_as_printed(text.text.replace("\r\n", "\n")):
        return ""
    bare = plain(text)
    found = tables(bare.text)
    if tables_only and (not found or any(each.text or each.why == EMPTY for each in found)):
        return ""
    for each in _plain_texts(text):
        found = found or tables(each.text)
    for number, line in enumerate(bare.text.split("\n"), 1):
        if found:
            break
        if _PRINTED.search(line[:_LONGEST_LINE]) or _TASKS.match(line):
            what = "the table of a tuning" if _TASKS.match(line) else _WHAT_PRINTED
            said = f"A line of {what} stands in line {number:,}"
            return f"{said}, but lines below it are cut."
        if "Duration (us)" in line:
            return f"Part of a heading of a profiling report stands in line {number:,}: it is cut."
    if found:
        said = why(next((each for each in found if not each.text), found[0]))
        return f"{said[:1].upper()}{said[1:]}."
    return nearly_json(bare.text)


def _text(source: ByteSource) -> Cleaned | None:
    """Decode a text: UTF-8, or what Windows writes; None for bytes that are none, or too many."""
    if not 0 < source.size <= _MOST_BYTES:
        return None
    data = bytes(source.read(0, source.size))
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
        return Cleaned(data.decode("cp1252", "replace"), {"Windows-1252": 1})


def _known(text: Cleaned, part: str) -> Iterator[Cleaned]:
    """Yield a text that a reader takes, where it would read it wrongly or in part."""
    if _is_log(text.text) if part == "tuning-records" else _is_document(text.text):
        return
    if part in ("table", "report") and stands_as_printed(text.text.replace("\r\n", "\n")):
        return
    bare = plain(text)
    is_json = text.text.lstrip()[:1] in ("{", "[", '"')
    is_html = "&quot;" in text.text and '"' not in text.text
    if part == "tuning-output":
        for each in _plain_texts(text):
            if each.text != bare.text:
                yield each
            yield from _printed(each, only_prefixed=True)
            yield from _rejoined(each)
    elif part in ("table", "report") and text.text.lstrip()[:1] != "{":
        yield from _known_tables(text)
        return
    elif not is_json or is_html:
        yield from _texts(text)
    else:
        for each in (*unwrapped(bare), *([bare] if part == "times" else [])):
            yield from whole_json(each)
    # No-break blanks stand in strings too, but not in place of all blanks.
    marked = set(bare.taken) - {"odd blanks"} or " " not in text.text
    if marked or not is_json:
        yield bare


def _is_log(text: str) -> bool:
    """Whether a text is a log of records as it stands, whatever damage some lines have."""
    begins = [line.lstrip()[:3] for line in text.split("\n") if line.strip()]
    own = sum(each.startswith(("{", "[")) for each in begins)
    return own >= _MOSTLY * len(begins) and not {"```", "~~~"} & set(begins)


def _is_document(text: str) -> bool:
    """Whether a text is one document of JSON as it stands, whatever its strings hold."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _known_tables(text: Cleaned) -> Iterator[Cleaned]:
    as_read = text.text.replace("\r\n", "\n")
    for each, found in _tables(text):
        clean = each.text == as_read and all(map(_is_clean, found))
        table = None if clean else cleaned(each, found)
        if table is not None:
            yield table


def _tables(text: Cleaned) -> Iterator[tuple[Cleaned, list[PastedTable]]]:
    """Yield the tables of each reading of a text; of the text as it stands alone, if all are whole.

    Names may hold what looks like HTML or like an escape.
    """
    *others, bare = _plain_texts(text)
    stands = tables(bare.text)
    if not stands or not all(
        each.text and each.complete and not each.left and "<" not in each.prefix for each in stands
    ):
        yield from ((each, tables(each.text)) for each in others)
    yield bare, stands


def _is_clean(table: PastedTable) -> bool:
    """Whether its reader reads a table as it stands: that of the debugger knows comment marks."""
    own = " \t#>/*|;%-" if table.kind == "debugger" else ""
    clean = table.whole and not table.doubts and not table.prefix.strip(own)
    return bool(table.text) and clean


def _texts(text: Cleaned) -> Iterator[Cleaned]:
    bare = plain(text)
    if bare.text.lstrip()[:1] in ("{", "["):
        yield from whole_json(bare)
    yield bare
    for each, found in _tables(text):
        if (table := cleaned(each, found)) is not None:
            yield table
    all_texts = list(_plain_texts(text))
    for each in all_texts:
        yield from _printed(each)
        yield from _rejoined(each)
    for each in all_texts:
        yield from documents(each)
    for each in all_texts:
        if (log := records(each, whole=False)) is not None:
            yield log


def _plain_texts(text: Cleaned) -> Iterator[Cleaned]:
    """Yield a text without HTML, what its JSON or string literals say, and as it stands."""
    if (other := without_html(text)) is not None:
        yield other
    bare = plain(text)
    is_said = "\\n" in bare.text or bare.text.lstrip()[:1] == "{"
    if is_said and (said := "".join(said_in(bare.text)) or literal_in(bare.text)):
        yield plain(Cleaned(said, {**bare.taken, "string literals": 1}))
    yield bare


def _printed(given: Cleaned, *, only_prefixed: bool = False) -> Iterator[Cleaned]:
    """Yield what a tuning prints without the prefixes of its lines."""
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
        count = sum(each is not None for each in split)
        what = f"prefixes like {prefix.strip()[:40]!r}" if prefix.strip() else "indentation"
        told = {**given.taken, what: count}
        texts = [each[1] if each else line for line, each in zip(lines, split, strict=True)]
        bare = Cleaned("\n".join(texts), told)
        yield from _rejoined(bare)
        yield bare
        if len(tried) >= _MOST_PREFIXES:
            return
    if not only_prefixed:
        yield Cleaned("\n".join(line.strip() for line in lines), {**given.taken, "indentation": 1})


def _rejoined(given: Cleaned) -> Iterator[Cleaned]:
    """Yield a tuning's tables whose lines a terminal cut, each row joined of as many."""
    lines = given.text.split("\n")
    for at in (at for at, line in enumerate(lines) if _TASKS.match(line)):
        if _TASKS_WHOLE.fullmatch(lines[at]):
            return
        wide = max(map(len, lines[at : at + _MOST_CUT]))
        for height in range(2, _MOST_CUT):
            rows = [
                "".join(line.ljust(wide) for line in lines[first : first + height]).rstrip()
                for first in range(at, len(lines), height)
            ]
            if _TASKS_WHOLE.fullmatch(rows[0]):
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
            said = {**given.taken, f"line ends at column {wide}": len(good) * (height - 1)}
            yield Cleaned("\n".join([*lines[:at], *good, *rest]), said)
        return


def cut_line(source: ByteSource) -> int:
    """Return the number of the first line of JSON that ends inside of a string, 0 for none."""
    text = _text(source)
    if text is None or '"' not in text.text or _is_document(text.text):
        return 0
    ends = open_ends(text.text.split("\n"))
    return ends.index(True) + 1 if any(ends[:-1]) else 0


_MOST_TABLES: Final = 64
#: Of a heading that is cut.
_MOST_LINES: Final = 8
_LONGEST: Final = 20_000
#: What may stand between the cells of a heading.
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
_WHAT: Final = {
    "debugger": "the table of TVM's debugger",
    "vm": "the table of TVM's VM profiler",
    "report": "the table of a profiling report",
    "csv": "the CSV of a profiling report",
}


def tables(text: str) -> list[PastedTable]:
    """Return the tables of a text in their order, those that cannot be read too."""
    if _ESCAPED_TITLE.search(text) is not None:
        text = _ESCAPE.sub(r"\1", text)
    lines = text.replace("`", "").replace("**", "").split("\n")
    found = [
        (at, match)
        for at, line in enumerate(lines)
        if (match := _ANCHOR.search(line[:_LONGEST])) is not None
        and (match["csv"] is None or DURATION in "".join(lines[at : at + _MOST_LINES]))
    ]
    ends = [at for at, _ in found[1:_MOST_TABLES]] + [len(lines)]
    out = []
    tries = Tries()
    for (at, match), end in zip(found[:_MOST_TABLES], ends, strict=False):
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
        body = table.text.split("\n\n")[0].splitlines()
        stands = [line.rstrip() for line in lines[at : at + len(body)]] == [
            line.rstrip() for line in body
        ]
        table.whole = stands or (table.whole and given is heard and heard.marked != 1)
        out.append(table)
    if any(not (each.text and each.complete) for each in out) and len(out) > 1:
        for each in out:
            if each.others:
                each.text = ""
                each.why = "lines of several processes or devices are mixed: keep those of one"
    return out


def cleaned(given: Cleaned, found: Sequence[PastedTable]) -> Cleaned | None:
    """Return the text of tables of one kind, None where none can be read."""
    good = [each for each in found if each.text]
    same = [each for each in good if each.kind == good[0].kind]
    if not same:
        return None
    taken = dict(given.taken)
    marked = sum(each.marked for each in same)
    if marked and same[0].prefix.strip(" \t|│┃║"):
        taken[f"prefixes like {same[0].prefix.strip()[:40]!r}"] = marked
    if put := sum(not each.whole for each in same):
        taken["columns put in place"] = put
    left = [number for each in same for number in each.left]
    others = sum(each.others for each in same)
    without = f"{counted(others, 'line')} without that prefix {agree(others, 'is')} left out"
    doubts = [without] if others and marked else []
    doubts += [doubt for each in same for doubt in each.doubts]
    doubts += [why(each) for each in found if not each.text]
    return Cleaned("".join(each.text for each in same), taken, left, doubts)


def why(table: PastedTable) -> str:
    """Say what stands in a text and why it cannot be read."""
    rest = table.why or "no row below it can be read"
    return f"a heading of {_WHAT[table.kind]} stands in line {table.line:,}, but {rest}"
