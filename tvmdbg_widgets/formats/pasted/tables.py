"""Tables in pasted texts: headings found wherever they stand, and rows put together again.

A row is read where its cells can be told in one way: by the places of its columns, by what stands
between cells, or by what each cell may hold. Lines that a terminal cut are joined where one way to
do so gives a row. Anything else is left out, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from tvmdbg_widgets.formats.pasted.cells import PastedTable, Tries, without_ends
from tvmdbg_widgets.formats.pasted.lines import Cleaned, LineStream, stream
from tvmdbg_widgets.formats.pasted.node_tables import read_debugger, read_vm
from tvmdbg_widgets.formats.pasted.reports import read_csv, read_report
from tvmdbg_widgets.formats.tvm.report.rows import DURATION
from tvmdbg_widgets.model.base.numbers import agree, counted

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
