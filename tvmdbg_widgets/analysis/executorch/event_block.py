"""Blocks of events as the Inspector shows them: columns, table, and runs of equal events."""

from __future__ import annotations

import csv
import html
import numbers
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, Final

from tvmdbg_widgets.analysis.executorch.events import (
    NOTHING_LOGGED,
    Event,
    LoggedValues,
    notes_on_values,
)
from tvmdbg_widgets.analysis.executorch.handle_index import handles_of
from tvmdbg_widgets.analysis.executorch.time_scale import TimeScale
from tvmdbg_widgets.formats.executorch.debug_buffer import Inflated
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import meant, public_class
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.executorch.event_nodes import HOW
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, classed, node_column
from tvmdbg_widgets.model.parts import RunParts

if TYPE_CHECKING:
    import pandas as pd


@public_class
@dataclass(eq=False)
class EventBlock:
    """Runs that logged the same events in the same order.

    Attributes
    ----------
    name : str
        ``"Default"`` for loading, ``"Execute"`` for running a method.
    events : list of Event
        In the order they first appear in a run.
    source_time_scale, target_time_scale : TimeScale
    bundled_input_index : int
        -1 where it is not set.
    runs : tuple of int
        Which runs of the dump these are.
    outputs : LoggedValues
        Outputs of the program, by run.
    reference_output : list of arrays and scalars, or None
    noted : list of str
        The :attr:`deviations` known without comparing values.
    compat : bool
        Whether this is the Inspector's own answer.
    """

    name: str
    events: list[Event] = field(default_factory=list)
    source_time_scale: TimeScale = TimeScale.NS
    target_time_scale: TimeScale = TimeScale.MS
    bundled_input_index: int = -1
    runs: tuple[int, ...] = ()
    outputs: LoggedValues = field(default=NOTHING_LOGGED, repr=False)
    reference_output: list[Any] | None = field(default=None, repr=False)
    noted: list[str] = field(default_factory=list, repr=False)
    compat: bool = field(default=False, repr=False)

    @property
    def run_output(self) -> list[Inflated]:
        """Outputs of the program in the first run of the block."""
        return self.outputs.first

    @property
    def run_output_by_run(self) -> list[list[Inflated]]:
        """Outputs of the program by run of the block."""
        return [self.outputs.of_run(run) for run in range(len(self.outputs.runs))]

    @cached_property
    def deviations(self) -> tuple[str, ...]:
        """Where this differs from what ExecuTorch's Inspector says, in words.

        Logged values are compared over the runs the first time this is asked for.

        Raises
        ------
        FormatError
            The debug buffer does not hold them.
        """
        if self.compat:
            return tuple(self.noted)
        logged = [event.logged for event in self.events]
        return (*self.noted, *notes_on_values(self.outputs, logged, len(self.runs)))

    def to_dataframe(
        self, include_units: bool = False, include_delegate_debug_data: bool = False
    ) -> pd.DataFrame:
        """Return one row per event.

        Parameters
        ----------
        include_units
            Whether the names of time columns include the unit.
        include_delegate_debug_data
            Whether to add columns of :attr:`Event.delegate_debug_metadatas`, by key for dicts.

        Raises
        ------
        ValueError
            A metadata parser returned neither a list nor a dict.
        ImportError
            pandas is not installed.
        """
        units = self.target_time_scale if include_units else None
        return event_table(
            [(self.name, self.events)], units, metadata=include_delegate_debug_data
        ).to_dataframe()


#: Prefix of columns from an Inspector's metadata parser: ``"metadata:kernel"``.
METADATA: Final = "metadata:"
EXECUTORCH_COLUMNS: Final = ("backend", "mapping")  # columns of every ExecuTorch run


def executorch_column(parts: RunParts, name: str) -> NodeColumn:
    """Return the ``"backend"`` of operators, or the ``"mapping"`` that ties events to them."""
    graph, executorch = parts.graph, parts.executorch
    if graph is None or executorch is None:
        raise ValueError(f"{name!r} is known of runs of ExecuTorch with a graph")
    texts: list[str | None] = [None] * graph.num_nodes
    if name == "backend":
        for node in range(graph.num_nodes):
            backend = graph.attrs[node].get("delegate") or graph.attrs[node].get("backend")
            if graph.func_names[node]:
                texts[node] = backend.partition(",")[0] if backend else "not delegated"
        return classed(name, "nodes", texts)
    joined = executorch.event_nodes
    worst: dict[int, int] = {}
    pairs = {*zip(joined.set_of.tolist(), joined.how.tolist(), strict=True)} if joined else ()
    for number, how in pairs:
        if joined is None or number < 0 or number in joined.apart:
            continue
        for node in joined.sets[number]:
            worst[node] = max(worst.get(node, 0), how)
    for node, how in worst.items():
        texts[node] = HOW[how]
    return classed(name, "nodes", texts)


def metadata_column(graph: Graph, blocks: Iterable[EventBlock], key: str) -> NodeColumn:
    """Return a metadata parser's values for a key, by operator; the last event counts."""
    nodes: dict[int, list[int]] = defaultdict(list)
    for node, attrs in enumerate(graph.attrs):
        for text in attrs.get("debug_handle", "").split(","):
            if text.strip().isdecimal():
                nodes[int(text)].append(node)
    values: dict[int, Any] = {}
    known: dict[str, None] = {}
    for event in (event for block in blocks for event in block.events):
        parsed = event.delegate_debug_metadatas if event.is_delegated_op else None
        if not isinstance(parsed, dict):
            continue
        known |= dict.fromkeys(map(str, parsed))
        for handle in handles_of(event):
            for node in nodes[handle] if key in parsed else ():
                values[node] = parsed[key]
    if not values:
        parsed = meant(key, known) if known else "; give the Inspector a delegate_metadata_parser"
        raise LookupError(f"no metadata under {key!r} of an event with operators{parsed}")
    if not all(isinstance(value, numbers.Real) for value in values.values()):
        values = {node: str(value) for node, value in values.items()}
    return node_column(graph, values, name=METADATA + key)


#: Columns that print_data_tabular and save_data_to_tsv omit, and rows by part of their name.
_NOT_PRINTED: Final = frozenset(
    {"raw", "delegate_debug_identifier", "stack_traces", "module_hierarchy", "debug_data"}
)
_NAME_NOT_PRINTED: Final = "OPERATOR_CALL"
_STATISTICS: Final = ("p10", "p50", "p90", "avg", "min", "max")
_METADATA: Final = "delegate_debug_metadata"
_MISSING: Final = float("nan")
_LISTED = 5

_FIELDS: Final = (
    *("delegate_debug_identifier", "stack_traces", "module_hierarchy", "is_delegated_op"),
    *("delegate_backend_name", "debug_data", "start_time"),
)


@dataclass(frozen=True, eq=False)
class EventTable:
    """Columns of one length, by name."""

    names: tuple[Any, ...]
    columns: tuple[list[Any], ...]

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` with the Inspector's columns and types."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for at, column in enumerate(self.columns):
            kinds = {type(value) for value in column}
            mixed = len(kinds) > 1 and kinds != {str, float}
            dtype = object if mixed or kinds == {type(None)} else None
            columns[str(at)] = pd.Series(column, dtype=dtype)
        frame = data_frame(columns)
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
        """Return the first rows as an HTML table, with all text escaped."""
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
    columns["op_types"] = [_shortened(event.op_types) for event in events]
    for name in _FIELDS:
        if not (printed and name in _NOT_PRINTED):
            columns[name] = [getattr(event, name) for event in events]
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
        parsed = event.delegate_debug_metadatas
        if parsed is None or not len(parsed):
            continue
        if isinstance(parsed, list):
            parsed = {_METADATA: parsed}
        elif not isinstance(parsed, dict):
            raise ValueError(f"Unexpected type for delegate_debug_metadata: {type(parsed)}")  # noqa: TRY004
        for key, value in parsed.items():
            columns.setdefault(key, [_MISSING] * len(events))[row] = value
    for key, column in columns.items():
        # None among numbers becomes NaN, as in pandas.
        if all(value is None or type(value) in (int, float) for value in column):
            columns[key] = _numbers([_MISSING if value is None else value for value in column])
    return [*columns.items()]


def _numbers(column: list[Any]) -> list[Any]:
    kinds = {type(value) for value in column}
    return [float(value) for value in column] if kinds == {int, float} else column


def _blank(value: Any) -> Any:
    return "" if value is None or value != value else value  # noqa: PLR0124 (NaN)
