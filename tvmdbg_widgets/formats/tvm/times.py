"""The times of a run joined to one timeline: trace, table, list of repeats, report, Chrome trace.

The first existing source makes the slices: the debugger's trace, a list of repeats, the printed
table, a Chrome trace, a profiling report. A node's time (``node_ns``) is the trace's, else the
list's mean, else the table's. Repeats are the list's, which are exact, else the table's, rounded to
1 ns. Disagreements beyond rounding are issues. A report beside ``run()``'s times is another
measurement and never mixed with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.chrome.trace import ChromeTrace, chrome_timeline
from tvmdbg_widgets.formats.tvm.layout import DECIMALS, TableRow
from tvmdbg_widgets.formats.tvm.table import DebuggerTable
from tvmdbg_widgets.formats.tvm.times_text import TimeList
from tvmdbg_widgets.formats.tvm.trace import Trace
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity, listed
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.refs import (
    KnownTimes,
    NodeJoin,
    by_device,
    join_pairs,
    join_rows,
    shapes_with_rows,
)
from tvmdbg_widgets.model.timeline.builders import from_report, from_table, from_trace
from tvmdbg_widgets.model.timeline.kinds import apart, combine, from_list, join_list, with_list
from tvmdbg_widgets.model.timeline.report import Report
from tvmdbg_widgets.model.timeline.timeline import Timeline


def choose_table(
    logs: Sequence[tuple[DebuggerTable, ...]],
    trace: Trace | None,
    graph: Graph | None = None,
    *,
    with_tensors: bool = False,
) -> tuple[DebuggerTable | None, list[Issue]]:
    """Take the last table that names the graph's nodes, preferably with the trace's times."""
    last = [
        next((one for one in reversed(own) if len(own) == 1 or fits(one, graph)), own[-1])
        for own in logs
        if own
    ]
    issues = [
        _several_tables(tables, used, with_tensors)
        for tables, used in zip(filter(None, logs), last, strict=True)
        if len(tables) > 1
    ]
    issues += [issue for tables in logs for issue in _cut(tables)]
    if len(last) < 2:
        return (last[0] if last else None), issues
    last.sort(key=lambda one: (trace is not None and not _agrees(one, trace), one.is_sorted))
    rows = [Counter(map(_key, table.rows)) for table in last]
    issues += [
        _other_run(table, last[0]) for table, own in zip(last, rows, strict=True) if own != rows[0]
    ]
    return last[0], issues


def fits(table: DebuggerTable, graph: Graph | None) -> bool:
    """Return whether the rows name nodes of the graph, with their shapes."""
    if graph is None:
        return True
    shapes: dict[str, set[tuple[int, ...] | None]] = {}
    for name, own in zip(graph.names, shapes_with_rows(graph), strict=True):
        shapes.setdefault(name, set()).update(own)
    return all(
        row.shape in node_shapes or None in node_shapes
        for row in table.rows
        for node_shapes in [shapes.get(row.name, set())]
    )


def _nodes(table: DebuggerTable) -> Counter[tuple[str, str, tuple[int, ...]]]:
    return Counter((row.name, row.ops, row.shape) for row in table.rows)


def _other_run(table: DebuggerTable, used: DebuggerTable) -> Issue:
    if _nodes(table) != _nodes(used):
        message = (
            f"this table is of other nodes than the one in {used.file}, which is used: "
            "run.tables has each"
        )
        return Issue("more-than-one", IssueSeverity.WARNING, message, file=table.file)
    text = (
        f"this table tells other times than the one in {used.file}, which is used: they are of "
        "different runs, and TVM keeps the tensors of a module's first"
    )
    return Issue("tables-disagree", IssueSeverity.WARNING, text, file=table.file)


def _key(row: TableRow) -> tuple[str, str]:
    return row.name, f"{row.time_us:.3f}"


def _agrees(table: DebuggerTable, trace: Trace) -> bool:
    """Return whether the trace has the rows' times, within the table's digits."""
    times = set(map(_key, table.rows))
    digits = DECIMALS[table.style]
    pairs = zip(trace.names, (trace.end_us - trace.start_us).tolist(), strict=True)
    steps = (-1, 0, 1)
    unit = 10.0**-digits
    return times <= {
        (name, f"{round(time + step * unit, digits):.3f}") for name, time in pairs for step in steps
    }


def _cut(tables: tuple[DebuggerTable, ...]) -> list[Issue]:
    """Name the tables of a log that lack their last line, unless all do."""
    lack = [at for at, table in enumerate(tables, 1) if table.total_us is None]
    if not lack or len(lack) == len(tables):
        return []
    which = listed(lack)
    text = (
        f"{agree(len(lack), 'table', 'tables')} {which} of {len(tables):,} in the log "
        f"{agree(len(lack), 'ends', 'end')} without Total_time, which the others have: rows are "
        "probably missing"
    )
    return [Issue("table-cut", IssueSeverity.WARNING, text, file=tables[0].file)]


def _several_tables(
    tables: tuple[DebuggerTable, ...], used: DebuggerTable, with_tensors: bool
) -> Issue:
    which = f"table {tables.index(used) + 1} of {len(tables)} is used, run.tables has each"
    if any(_nodes(table) != _nodes(tables[0]) for table in tables):
        message = f"the log holds {len(tables):,} tables of different nodes: {which}"
        return Issue("more-than-one", IssueSeverity.NOTE, message, file=tables[0].file)
    if not with_tensors:
        message = f"the log holds {len(tables):,} tables of the same nodes: {which}"
        return Issue("more-than-one", IssueSeverity.NOTE, message, file=tables[0].file)
    text = (
        f"the log holds {len(tables):,} tables, so run() was called more than once: TVM "
        f"keeps the tensors of the first call and the times of the last; {which}"
    )
    return Issue("stale-tensors", IssueSeverity.WARNING, text, file=tables[0].file)


def join_timeline(
    graph: Graph | None,
    trace: Trace | None,
    table: DebuggerTable | None,
    device: str,
    *,
    times: Sequence[TimeList] = (),
    chrome: ChromeTrace | None = None,
    reports: Sequence[Report] = (),
) -> Timeline | None:
    """Join the sources of times to the nodes; slices of no known device are on ``device``."""
    if trace is None and table is None and not times:
        if chrome is not None:
            return chrome_timeline(chrome, graph)
        return from_report(reports[0], device=device) if reports else None
    names = _node_names(graph, trace, table, times)
    from_pairs = _trace_timeline(names, trace) if trace is not None else None
    from_rows = _table_timeline(graph, names, table, from_pairs) if table is not None else None
    timeline = from_rows if from_pairs is None else from_pairs
    rounding = table.rounding_ns if table is not None else 0.0
    if from_pairs is not None and from_rows is not None:
        timeline = combine(from_pairs, from_rows, rounding_ns=rounding)
    if times:
        exact = _choose_list([_list_timeline(names, item) for item in times], timeline, rounding)
        timeline = _with_list(timeline, exact, rounding, from_pairs, from_rows)
    if timeline is None or graph is None:
        return timeline
    return by_device(timeline, graph, device)


def beside_chrome(timeline: Timeline, chrome: ChromeTrace) -> tuple[Timeline, list[Issue]]:
    """Add a Chrome trace's extras to a recorded timeline, or report that they differ."""
    if chrome.file in timeline.sources:
        return (
            replace(timeline, extras=chrome.extras) if timeline.extras is None else timeline
        ), []
    text = (
        f"the Chrome trace ({counted(len(chrome), 'slice')} on "
        f"{counted(len(chrome.tracks), 'track')}) is not shown: the timeline is of "
        f"{listed(timeline.sources)}. Open the trace with the graph alone to see it"
    )
    left_out = Issue("chrome-left-out", IssueSeverity.NOTE, text, file=chrome.file)
    return timeline, [left_out]


def _choose_list(lists: list[Timeline], timeline: Timeline | None, rounding: float) -> Timeline:
    """Take the list of the same run as the other times, else the first."""
    best = 0
    if timeline is not None and len(lists) > 1:
        counts = [len(apart(timeline, item, rounding)) for item in lists]
        best = counts.index(min(counts))
    if len(lists) == 1:
        return lists[0]
    others = listed([item.sources[0] for i, item in enumerate(lists) if i != best])
    why = "which fits the other times best" if timeline is not None else "the first"
    text = f"{counted(len(lists), 'file')} are each a list of node times; {lists[best].sources[0]} "
    note = Issue(
        "more-than-one", IssueSeverity.WARNING, f"{text}is used, {why}; left out: {others}"
    )
    return replace(lists[best], issues=Issues((*lists[best].issues, note)))


def _with_list(
    timeline: Timeline | None,
    exact: Timeline,
    rounding: float,
    from_pairs: Timeline | None,
    from_rows: Timeline | None,
) -> Timeline:
    """Take the list's repeats; its slices too, unless a trace or observed starts are better."""
    if timeline is None:
        return exact
    slack = 0.0 if from_pairs is not None else rounding
    joined = with_list(
        timeline, exact, rounding_ns=slack, table=from_rows, table_rounding_ns=rounding
    )
    if from_pairs is not None or not exact.num_slices:
        return joined
    unknown = np.isnan(exact.node_ns)
    node_ns = np.where(unknown, timeline.node_ns, exact.node_ns)
    if not timeline.synthetic:
        return replace(joined, node_ns=node_ns)
    return replace(
        exact,
        repeats_offsets=joined.repeats_offsets,
        repeats_ns=joined.repeats_ns,
        node_ns=node_ns,
        node_trust=np.where(unknown, timeline.node_trust, exact.node_trust),
        sources=joined.sources,
        issues=joined.issues,
    )


def _list_timeline(names: StringColumn, times: TimeList) -> Timeline:
    join = join_list(names, times.names, len(times), file=times.file)
    return from_list(names, times.offsets, times.ns, join, source=times.file, issues=times.issues)


def _node_names(
    graph: Graph | None, trace: Trace | None, table: DebuggerTable | None, times: Sequence[TimeList]
) -> StringColumn:
    if graph is not None:
        return graph.names
    if trace is not None:
        return trace.names
    if table is not None:
        return StringColumn.from_strings(row.name for row in table.rows if row.output == 0)
    if times[0].names:
        return StringColumn.from_strings(times[0].names)
    count = len(times[0])
    return StringColumn(tuple(f"node {i}" for i in range(count)), np.arange(count))


def _trace_timeline(names: StringColumn, trace: Trace) -> Timeline:
    join = join_pairs(names, trace.names, file=trace.file)
    return from_trace(
        trace.names,
        trace.start_ns,
        trace.duration_ns,
        nodes=join.nodes,
        trust=join.trust,
        num_nodes=len(names),
        source=trace.file,
        issues=(*trace.issues, *join.issues),
    )


def _table_timeline(
    graph: Graph | None, names: StringColumn, table: DebuggerTable, trace: Timeline | None
) -> Timeline:
    shapes: Sequence[Sequence[tuple[int, ...] | None]]
    if graph is not None:
        shapes = shapes_with_rows(graph)
    elif trace is not None:
        shapes = [[None]] * len(names)
    else:
        calls = np.cumsum([row.output == 0 for row in table.rows])
        grouped: list[list[tuple[int, ...] | None]] = [[] for _ in range(len(names))]
        for row, call in zip(table.rows, calls, strict=True):
            grouped[call - 1].append(row.shape)
        shapes = grouped
    alone = graph is None and trace is None
    join = join_rows(
        names,
        shapes,
        [row.name for row in table.rows],
        [row.shape for row in table.rows],
        in_node_order=alone or not table.is_sorted,
        times=None
        if trace is None
        else KnownTimes(trace.node_ns, table.time_ns, table.rounding_ns),
        file=table.file,
    )
    table, nodes, trust = _one_row_where_unknown(table, join)
    offsets, repeats = table.repeats()
    timeline = from_table(
        table.names,
        table.time_ns,
        offsets,
        repeats,
        nodes=nodes,
        trust=trust,
        num_nodes=len(names),
        source=table.file,
        start_ns=table.start_ns,
        end_ns=table.end_ns,
        issues=(*table.issues, *join.issues),
    )
    if alone and table.is_sorted:
        text = (
            "the table is sorted by time and no graph is given: nodes are numbered by row, not by "
            "their place in the graph"
        )
        note = Issue("order-unknown", IssueSeverity.NOTE, text, file=table.file)
        timeline = replace(timeline, issues=Issues((*timeline.issues, note)))
    return timeline


def _one_row_where_unknown(
    table: DebuggerTable, join: NodeJoin
) -> tuple[DebuggerTable, npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Leave out further rows of calls with unknown nodes: they are one slice."""
    kept = [i for i, row in enumerate(table.rows) if join.nodes[i] >= 0 or row.output == 0]
    starts, ends = table.start_ns, table.end_ns
    shorter = replace(
        table,
        rows=tuple(table.rows[i] for i in kept),
        start_ns=None if starts is None else starts[kept],
        end_ns=None if ends is None else ends[kept],
    )
    return shorter, join.nodes[kept], join.trust[kept]
