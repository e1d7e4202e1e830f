"""The Inspector's table of events: one row an event, the columns in its order.

``Event.asdict``, ``EventBlock.to_dataframe``, ``_prepare_dataframe`` in
devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

import csv
import html
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

from tvmdbg_widgets.analysis.executorch.events import Event
from tvmdbg_widgets.analysis.executorch.time_scale import TimeScale
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

#: Columns that print_data_tabular and save_data_to_tsv leave out, and rows by part of their name.
_NOT_PRINTED: Final = frozenset(
    {"raw", "delegate_debug_identifier", "stack_traces", "module_hierarchy", "debug_data"}
)
_NAME_NOT_PRINTED: Final = "OPERATOR_CALL"
_STATISTICS: Final = ("p10", "p50", "p90", "avg", "min", "max")
_METADATA: Final = "delegate_debug_metadata"
_MISSING: Final = float("nan")
_LISTED = 5

_FIELDS: Final[dict[str, Callable[[Event], Any]]] = {
    "op_types": lambda event: _shortened(event.op_types),
    "delegate_debug_identifier": lambda event: event.delegate_debug_identifier,
    "stack_traces": lambda event: event.stack_traces,
    "module_hierarchy": lambda event: event.module_hierarchy,
    "is_delegated_op": lambda event: event.is_delegated_op,
    "delegate_backend_name": lambda event: event.delegate_backend_name,
    "debug_data": lambda event: event.debug_data,
    "start_time": lambda event: event.start_time,
}


@dataclass(frozen=True, eq=False)
class EventTable:
    """Columns of one length, by name."""

    names: tuple[Any, ...]
    columns: tuple[list[Any], ...]

    def to_dataframe(self) -> Any:
        """Return the table as a ``pandas.DataFrame`` with the Inspector's columns and types."""
        frame = data_frame({str(at): _typed(column) for at, column in enumerate(self.columns)})
        frame.columns = list(self.names)
        return frame

    def printed(self) -> EventTable:
        """Return the columns and rows that the Inspector prints."""
        event_names = self.columns[self.names.index("event_name")]
        rows = [at for at, name in enumerate(event_names) if _NAME_NOT_PRINTED not in name]
        kept = [
            (name, [column[row] for row in rows])
            for name, column in zip(self.names, self.columns, strict=True)
            if name not in _NOT_PRINTED
        ]
        return EventTable(tuple(name for name, _ in kept), tuple(column for _, column in kept))

    def text(self) -> str:
        """Return the table as text in frames, rows numbered from 0."""
        import tabulate

        rows: list[list[Any]] = [
            [number, *(one_line(cell) if isinstance(cell, str) else cell for cell in row)]
            for number, row in enumerate(zip(*self.columns, strict=True))
        ]
        names = [one_line(str(name)) for name in self.names]
        text: str = tabulate.tabulate(rows, ["", *names] if rows else names, tablefmt="fancy_grid")
        return text

    def html(self, most: int) -> str:
        """Return the first rows as an HTML table, every text in it escaped."""
        rows = list(zip(*self.columns, strict=True))
        head = "".join(f"<th>{html.escape(str(name))}</th>" for name in ("", *self.names))
        body = "".join(
            f"<tr><th>{number}</th>"
            + "".join(f"<td>{html.escape(str(_blank(value)))}</td>" for value in row)
            + "</tr>"
            for number, row in enumerate(rows[:most])
        )
        more = f"<p>… and {counted(len(rows) - most, 'more row')}</p>" if len(rows) > most else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    def write_tsv(self, file: IO[str]) -> None:
        """Write the table as tab-separated values, rows numbered from 0."""
        writer = csv.writer(file, delimiter="\t", lineterminator=os.linesep)
        writer.writerow(["", *self.names])
        blanked = [[_blank(value) for value in column] for column in self.columns]
        writer.writerows([number, *row] for number, row in enumerate(zip(*blanked, strict=True)))


def event_table(
    blocks: Sequence[tuple[str, Sequence[Event]]],
    units: TimeScale | None,
    *,
    metadata: bool = False,
    printed: bool = False,
) -> EventTable:
    """Return the events of some blocks as a table."""
    events = [event for _, own in blocks for event in own]
    unit = f" ({units.value})" if units else ""
    columns: dict[Any, list[Any]] = {
        "event_block_name": [name for name, own in blocks for _ in own],
        "event_name": [event.name for event in events],
        "raw": [event.perf_data.raw if event.perf_data else None for event in events],
    }
    for name in _STATISTICS:
        times = [getattr(event.perf_data, name) if event.perf_data else None for event in events]
        columns[name + unit] = _numbers(times)
    for name, of in _FIELDS.items():
        if not (printed and name in _NOT_PRINTED):
            columns[name] = [of(event) for event in events]
    named = list(columns.items())
    if metadata:
        named += _metadata_columns(events)
    table = EventTable(tuple(name for name, _ in named), tuple(column for _, column in named))
    return table.printed() if printed else table


def _shortened(types: list[str]) -> list[str] | str:
    if len(types) < _LISTED:
        return types
    return f"['{types[0]}', '{types[1]}' ... '{types[-1]}'] ({len(types)} total)"


def _metadata_columns(events: Sequence[Event]) -> list[tuple[Any, list[Any]]]:
    columns: dict[Any, list[Any]] = {}
    for row, event in enumerate(events):
        found = event.delegate_debug_metadatas
        if found is None or not len(found):
            continue
        if isinstance(found, list):
            found = {_METADATA: found}
        elif not isinstance(found, dict):
            raise ValueError(f"Unexpected type for delegate_debug_metadata: {type(found)}")  # noqa: TRY004
        for key, value in found.items():
            columns.setdefault(key, [_MISSING] * len(events))[row] = value
    return [(key, _completed(column)) for key, column in columns.items()]


def _completed(column: list[Any]) -> list[Any]:
    """Return a column in which None among numbers is NaN, as pandas has it."""
    there = [value for value in column if value is not None]
    if all(type(value) in (int, float) for value in there):
        return _numbers([_MISSING if value is None else value for value in column])
    return column


def _numbers(column: list[Any]) -> list[Any]:
    """Return a column of numbers as floats where one of them is one."""
    kinds = {type(value) for value in column}
    return [float(value) for value in column] if kinds == {int, float} else column


def _typed(column: list[Any]) -> Any:
    """Return a column whose type pandas infers as the Inspector's table has it."""
    import pandas as pd

    kinds = {type(value) for value in column}
    mixed = len(kinds) > 1 and kinds != {str, float}
    return pd.Series(column, dtype=object if mixed or kinds == {type(None)} else None)


def _blank(value: Any) -> Any:
    return "" if value is None or value != value else value  # noqa: PLR0124 (NaN)
