"""``tvmdbg table``: operators with their times."""

from __future__ import annotations

import csv
import dataclasses
import math
import sys
import warnings
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import NamedRun, of_run, print_json
from tvmdbg_widgets.cli.common.terminal import grid, note
from tvmdbg_widgets.cli.common.verbs import UsageError, examples, flag, option
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.times.operators import OperatorRow, Operators
    from tvmdbg_widgets.analysis.times.table import TimeRow, TimeTable

EXAMPLES = examples(
    ("The ten slowest operators", "tvmdbg table /tmp/tvmdbg --top 10"),
    ("Sorted by kind of operator", "tvmdbg table /tmp/tvmdbg --sort kind"),
    ("Total time per kind", "tvmdbg table /tmp/tvmdbg --by kind"),
    ("Time of functions with a layout_transform", "tvmdbg table /tmp/tvmdbg --by part"),
    ("For a spreadsheet; times in nanoseconds", "tvmdbg table /tmp/tvmdbg --csv > times.csv"),
    ("As TVM's debugger prints it", "tvmdbg table /tmp/tvmdbg --tvm"),
    (
        "The events of an ETDump, as ExecuTorch's Inspector prints them",
        "tvmdbg table etdump.etdp etrecord.bin --inspector",
    ),
)
_HEAD = ("operator", "kind", "time", "share", "p10 … p90", "outputs")
TableBy = StrEnum("TableBy", "NODE KIND PART GROUP MODULE DEVICE NAME CALLERS TRACK")
TableSort = StrEnum("TableSort", "NODE TIME NAME KIND")


@of_run
def table(
    named: NamedRun,
    *,
    sort: Annotated[
        TableSort | None,
        typer.Option(help="Order: time (slowest first), node, name or kind.", show_default="time"),
    ] = None,
    by: Annotated[
        TableBy | None,
        typer.Option(
            help="Sum up times: by node, kind of operator, part of a fused function, group, "
            "module, device, name, or name and caller."
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(
            min=-1,
            help="Level of groups and modules: 0 is outermost, -1 innermost.",
            show_default="0 of groups, -1 of modules",
        ),
    ] = None,
    top: Annotated[int | None, option("N", "The N slowest.", min=1)] = None,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
    as_csv: Annotated[bool, flag("Write CSV.", "--csv")] = False,
    tvm: Annotated[bool, flag("Print the table as TVM's debugger does.", "--tvm")] = False,
    release: Annotated[
        str | None, option("0.N", "Of --tvm: whose columns.", show_default="as recorded")
    ] = None,
    inspector: Annotated[
        bool, flag("Print the events of an ETDump, as ExecuTorch's Inspector does.", "--inspector")
    ] = False,
) -> None:
    """List operators with time, share, spread of repeats, dtype and shape."""
    others = any(option is not None for option in (sort, by, top))
    _check_whole(
        ("--inspector", "event", inspector, as_json or as_csv or tvm or others),
        ("--tvm", "operator", tvm, as_json or as_csv or inspector or others),
    )
    _check_fit(
        (as_json and as_csv, "--json and --csv are mutually exclusive"),
        (release is not None and not tvm, "--release needs --tvm"),
        (by is not None and sort is not None, "--by sorts by time: leave out --sort"),
        (
            level is not None and by not in (TableBy.GROUP, TableBy.MODULE),
            "--level needs --by group or --by module",
        ),
    )
    run = named.open()
    if tvm:
        _as_tvm(run.table(), release)
        return
    if inspector:
        run.inspector.print_data_tabular()
        return
    if by is not None:
        _summed(run.times(by.value, level=level), top, as_json=as_json, as_csv=as_csv)
        return
    operators = run.table() if top is None else run.top(top)
    rows = _sorted(list(operators), sort or TableSort.TIME)
    if as_json:
        total = None if run.timeline is None else run.timeline.total_ns
        body = {"run": run.title, "total_ns": total, "operators": [_record(row) for row in rows]}
        print_json(body)
    elif as_csv:
        from tvmdbg_widgets.analysis.times.operators import OPERATOR_COLUMNS

        _write_csv(OPERATOR_COLUMNS, map(_record, rows))
    else:
        note(operators.caption)
        cells = [_cells(row) for row in rows]
        grid(_HEAD, cells, right=(2, 3), give=0, drop=(5, 4, 1))


def _check_whole(*printed: tuple[str, str, bool, bool]) -> None:
    """Refuse options that would shorten a table in another program's format."""
    for name, row, given, others in printed:
        if given and others:
            raise UsageError(f"{name} prints every {row}: leave out the other options")


def _check_fit(*refused: tuple[bool, str]) -> None:
    for wrong, why in refused:
        if wrong:
            raise UsageError(why)


def _as_tvm(operators: Operators, release: str | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = operators.as_tvm(release)
    for warning in caught:
        note(str(warning.message))
    print(text)


def _summed(table: TimeTable, top: int | None, *, as_json: bool, as_csv: bool) -> None:
    if as_json or as_csv:
        records = [_time_record(row) for row in table[:top]]
        if as_csv:
            _write_csv(_TIME_COLUMNS, records)
            return
        facts = {name: getattr(table, name) for name in ("by", "total_ns", "overlap", "notes")}
        print_json({"run": table.title, **facts, "rows": records})
        return
    note(table.caption)
    head, cells = table.cells(top)
    grid(head, cells, right=range(1, len(head)), give=0, drop=range(len(head) - 1, 3, -1))
    for text in table.notes:
        note(text)


_TIMES = ("minimum", "mean", "p50", "p90", "maximum", "low", "high")
_FIRST_COLUMNS = ("key", "label", "nodes", "slices", "ns", "share", "cumulative")
_TIME_COLUMNS = (*_FIRST_COLUMNS, *(f"{name}_ns" for name in _TIMES), "noisy")


def _time_record(row: TimeRow) -> dict[str, Any]:
    key = " ← ".join(row.key) if isinstance(row.key, tuple) else row.key
    times = {f"{name}_ns": getattr(row, name) for name in _TIMES}
    known = {name: getattr(row, name) for name in (*_FIRST_COLUMNS, "noisy")} | {"key": key}
    return {name: (known | times)[name] for name in _TIME_COLUMNS}


def _sorted(rows: list[OperatorRow], sort: TableSort) -> list[OperatorRow]:
    def slowest(row: OperatorRow) -> tuple[bool, bool, float, int]:
        return math.isnan(row.time_ns), math.isnan(row.share), -row.time_ns, row.node

    if sort is TableSort.TIME:
        return sorted(rows, key=slowest)
    if sort is TableSort.NAME:
        return sorted(rows, key=lambda row: (row.name, row.node))
    if sort is TableSort.KIND:
        return sorted(rows, key=lambda row: (row.op_kind, *slowest(row)))
    return sorted(rows, key=lambda row: row.node)


def _cells(row: OperatorRow) -> tuple[str, ...]:
    return (
        row.title,
        row.op_kind,
        row.time_text,
        row.share_text,
        (row.spread_text or "-") + (" noisy" if row.noisy else ""),
        row.outputs,
    )


def _record(row: OperatorRow) -> dict[str, Any]:
    record = dataclasses.asdict(row)
    del record["rounding_ns"]
    record["trust"] = row.trust.label
    return record


def _write_csv(names: Iterable[str], records: Iterable[Mapping[str, Any]]) -> None:
    """Write CSV by RFC 4180; NaN is empty, lists are separated by spaces, texts one line."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_csv_cell(record[name]) for name in names] for record in records)


def _csv_cell(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    return one_line(value) if isinstance(value, str) else value
