"""What people keep of ExecuTorch's developer tools: tables of events, counts of delegated nodes.

The Inspector's ``print_data_tabular``, ``save_data_to_tsv`` and ``to_dataframe().to_csv()``, also
as pandas prints them; ``get_delegation_info``'s summary and table. They may stand in any console.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tvmdbg_widgets.formats.executorch.inspector_events import PrintedEventTable, events_of
from tvmdbg_widgets.formats.executorch.inspector_rows import HEADING
from tvmdbg_widgets.formats.executorch.printed_tables import PrintedTable, printed_tables
from tvmdbg_widgets.formats.pasted.readings import readings
from tvmdbg_widgets.formats.tvm.times_text import read_text
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.delegation import DelegationInfo
from tvmdbg_widgets.sources.byte_source import ByteSource

_COUNTS: Final = ("occurrences_in_delegated_graphs", "occurrences_in_non_delegated_graphs")
#: A report of one project names its columns so.
_SHORT: Final = ("delegated", "non_delegated")
_GROUPED: Final = r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?![\w,.]{0,9}\d)"
_SUMMARY: Final = {
    "subgraphs": re.compile(r"Total {1,3}delegated {1,3}subgraphs: {1,9}" + _GROUPED),
    "delegated": re.compile(r"Number {1,3}of {1,3}delegated {1,3}nodes: {1,9}" + _GROUPED),
    "non_delegated": re.compile(r"Number {1,3}of {1,3}non-delegated {1,3}nodes: {1,9}" + _GROUPED),
}
_COUNT: Final = re.compile(r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?:\.0)?", re.ASCII)
_BETWEEN: Final = rb"[\"']?(?:[ \t\r\n,;|]|\xe2\x94\x82|</?th>){1,200}[\"']?"
_SNIFFED: Final = re.compile(
    rb"event_block_name" + _BETWEEN + rb"(?:event_name|\.\.\.)"
    rb"|op_type" + _BETWEEN + rb"occurrences_in_(?:non_)?delegated_graphs"
    rb"|Total {1,3}delegated {1,3}subgraphs: {1,9}\d"
)
#: How a data frame begins that was written as JSON.
_JSON: Final = re.compile(
    rb"\s{0,99}(?:\[\s{0,99})?\{\s{0,99}"
    rb"\"(?:event_block_name|op_type(?=(?s:.{1,4000})occurrences_in_))\"\s{0,9}:"
)
_COLUMN: Final = "occurrences_in_"
#: Lines of logs begin with brackets too.
_OPENS: Final = re.compile(rb"\s{0,99}\[\s{0,99}[\[{\"\d]")
_HINT: Final = "Save it with save_data_to_tsv, or to_dataframe().to_csv(), and open that file."


@dataclass(frozen=True, eq=False)
class InspectorText:
    """What a text of ExecuTorch's developer tools holds."""

    tables: tuple[PrintedEventTable, ...]
    delegation: DelegationInfo | None
    issues: Issues


def sniff(head: bytes) -> bool:
    """Whether a text holds a heading of ExecuTorch's tables, or its summary of delegation."""
    if head.lstrip()[:1] == b"{" or _OPENS.match(head) is not None:
        return _JSON.match(head) is not None
    return _SNIFFED.search(head) is not None


def read_inspector_text(source: ByteSource) -> InspectorText:
    """Read the tables of a text."""
    text, issues = read_text(source)
    found = _read(text, source.name, issues)
    lost = _unread_table(text, found)
    if found is None or lost:
        for inner, cleaned in readings(source):
            said = f"pasted text: {cleaned.told or 'rows put together'}"
            told = [*issues, Issue("pasted-text", IssueSeverity.NOTE, said, file=source.name)]
            other = _read(read_text(inner)[0], source.name, told)
            if other is not None and (found is None or not _unread_table(text, other)):
                found, lost = other, ""
                break
    if found is None:
        printed = printed_tables(text, HEADING)
        line = printed[0].line if printed else _line(text)
        raise FormatError(
            "a heading of ExecuTorch's tables stands here, but no row that can be read",
            file=source.name,
            field=f"line {line}",
            expected="rows of the heading's columns, with times",
            found=_found(printed),
            hint=_HINT,
        )
    if lost:
        issue = Issue("delegation-table-unread", IssueSeverity.WARNING, lost, file=source.name)
        found = replace(found, issues=Issues([*found.issues, issue]))
    return found


def _unread_table(text: str, found: InspectorText | None) -> str:
    """Tell of a heading of operators none of which was read; empty where there is none."""
    at = text.find(_COLUMN)
    if found is None or found.delegation is None or found.delegation.operators or at < 0:
        return ""
    line = text.count("\n", 0, at) + 1
    return f"the table of operators whose heading stands in line {line:,} cannot be read: left out"


def _read(text: str, file: str, issues: list[Issue]) -> InspectorText | None:
    printed = printed_tables(text, HEADING)
    tables = [found for table in printed if (found := events_of(table, file)) is not None]
    delegation, problems = _delegation(text, file)
    if not tables and delegation is None:
        return None
    return InspectorText(tuple(tables), delegation, Issues([*issues, *problems]))


def _found(printed: Sequence[PrintedTable]) -> str:
    if not printed:
        return "a heading without event_name, or one that cannot be told from its rows"
    rows, left = counted(len(printed[0].rows), "row"), counted(len(printed[0].left), "line")
    return f"{rows} without times, and {left} unlike the heading"


def _line(text: str) -> int:
    word = next((each for each in (HEADING[0], _COUNTS[0]) if each in text), "")
    return text.count("\n", 0, text.find(word)) + 1


def _delegation(text: str, file: str) -> tuple[DelegationInfo | None, list[Issue]]:
    """Read the last summary of a text, and the last table."""
    said: dict[str, int] = {}
    for name, pattern in _SUMMARY.items():
        counts = [int(match[1].replace(",", "")) for match in pattern.finditer(text)]
        if counts:
            said[name] = counts[-1]
    names = _COUNTS
    tables = printed_tables(text, ("op_type", *names))
    if not tables and said:
        names = _SHORT
        tables = printed_tables(text, ("op_type", *names))
    if not said and not tables:
        return None, []
    operators = _operators(tables[-1], names) if tables else {}
    left = len(tables[-1].rows) - len(operators) if tables else 0
    total = operators.pop("Total", None)
    issues = []
    if left:
        text = f"{counted(left, 'row')} of the table of operators left out: without two counts, or "
        text += "of an operator that stands twice"
        issues.append(Issue("delegation-incomplete", IssueSeverity.WARNING, text, file=file))
    if len(tables) > 1:
        text = f"{len(tables)} tables of delegation; the last is shown"
        issues.append(Issue("more-than-one", IssueSeverity.NOTE, text, file=file))
    if total is not None:
        stated = (said.get("delegated", total[0]), said.get("non_delegated", total[1]))
        said["delegated"], said["non_delegated"] = stated
        if stated != total:
            text = f"the summary counts {stated[0]:,} and {stated[1]:,} nodes, the row Total of "
            text += f"its table {total[0]:,} and {total[1]:,}: are they of two programs?"
            issues.append(Issue("delegation-disagrees", IssueSeverity.WARNING, text, file=file))
    info = DelegationInfo(operators=operators, **said)
    if operators and not info.complete:
        text = "the rows of the table do not add up to the counts of nodes: rows are missing"
        issues.append(Issue("delegation-incomplete", IssueSeverity.WARNING, text, file=file))
    return info, issues


def _operators(table: PrintedTable, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for row in table.rows:
        a, b = (_COUNT.fullmatch(row[name]) for name in names)
        if a is not None and b is not None:
            found[row["op_type"]] = (int(a[1].replace(",", "")), int(b[1].replace(",", "")))
    return found
