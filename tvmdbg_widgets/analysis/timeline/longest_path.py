"""Longest path through a graph by node times, and the slack of every node.

However many nodes run at once, none starts before its operands are there: the run takes at least as
long as the longest chain of dependent nodes.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.summary import how_to_get, no_graph
from tvmdbg_widgets.model.base.numbers import (
    Trust,
    counted,
    duration_text,
    html_table,
    percent,
    text_lines,
)
from tvmdbg_widgets.model.base.ranges import frozen
from tvmdbg_widgets.model.base.text import cut, data_frame, more_text, one_line
from tvmdbg_widgets.model.graph.graph import Graph, node_label
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import topological
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd


_ROUNDING = 1e-9  # slack below this share of the total is rounding

_TIMES = (
    "open the dump folder with its _tvmdbg_execution_trace.json, or open(…, times=…) a trace, a "
    "table or a report"
)


def critical_path(
    graph: Graph,
    times: Floats,
    *,
    sequential: bool = True,
    measured_ns: float = float("nan"),
    rounding_ns: float = 0.0,
) -> CriticalPath:
    """Return the longest path by node times in O(N + M), without ambiguous edges and cycles."""
    times = np.array(times, np.float64)
    if times.shape != (graph.num_nodes,):
        raise ValueError(f"expected times of shape ({graph.num_nodes},), found {times.shape}")
    if not (np.isnan(times) | ((times >= 0) & (times < np.inf))).all():
        raise ValueError("times must be finite and not negative; NaN stands for unknown")
    given = graph.kinds < NodeKind.OPERATOR
    times[given & np.isnan(times)] = 0
    known = ~np.isnan(times)
    sure = (graph.edge_source >= 0) & (graph.edge_trust != Trust.AMBIGUOUS)
    source = np.concatenate([graph.edge_source[sure], graph.control_source])
    target = np.concatenate([graph.edge_target[sure], graph.control_target])
    order = topological(source, target, graph.num_nodes)
    settled = np.zeros(graph.num_nodes, np.bool_)
    settled[order.nodes[: order.settled]] = True
    own = np.where(known & settled, times, 0.0)
    place = np.empty(graph.num_nodes, np.int64)
    place[order.nodes] = np.arange(graph.num_nodes)
    both = settled[source] & settled[target]
    start, before, after = _settle_starts(
        place[source[both]], place[target[both]], own[order.nodes]
    )
    ends = start + own[order.nodes]
    path: list[int] = []
    length = 0.0
    if order.settled:
        length = float(ends[: order.settled].max())
        longest = np.flatnonzero(ends[: order.settled] == length)
        at = int(longest[np.argmin(order.nodes[longest])])
        while at >= 0:
            path.append(int(order.nodes[at]))
            at = before[at]
    nodes = np.array(path[::-1], np.int32)
    left = np.empty(graph.num_nodes)
    left[order.nodes] = length - (ends + after)
    left[left < _ROUNDING * length] = 0
    left[nodes] = 0
    return CriticalPath(
        graph=graph,
        nodes=frozen(nodes),
        times_ns=frozen(times),
        length_ns=length,
        slack_ns=frozen(np.where(known & settled, left, np.nan)),
        total_ns=float(times[known].sum()),
        sequential=sequential,
        measured_ns=measured_ns,
        untimed=frozen(np.flatnonzero(~known).astype(np.int32)),
        ambiguous=int((graph.edge_trust == Trust.AMBIGUOUS).sum()),
        unsettled=graph.num_nodes - order.settled,
        rounding_ns=rounding_ns,
    )


def _settle_starts(
    source: npt.NDArray[np.int64], target: npt.NDArray[np.int64], own: Floats
) -> tuple[Floats, list[int], Floats]:
    count = len(own)
    takes: list[float] = own.tolist()
    start = [0.0] * count
    before = [-1] * count
    by_target = np.lexsort((source, target))
    for one, other in zip(source[by_target].tolist(), target[by_target].tolist(), strict=True):
        end = start[one] + takes[one]
        if end > start[other] or before[other] < 0:
            start[other] = end
            before[other] = one
    after = [0.0] * count
    by_source = np.argsort(-source, kind="stable")
    for one, other in zip(source[by_source].tolist(), target[by_source].tolist(), strict=True):
        behind = after[other] + takes[other]
        if behind > after[one]:  # noqa: PLR1730 (max() is called for every edge)
            after[one] = behind
    return np.array(start), before, np.array(after)


def critical_path_of(parts: RunParts) -> CriticalPath:
    """Return the critical path of a run."""
    graph, timeline = parts.graph, parts.timeline
    why = why_not(parts)
    if why or graph is None or timeline is None:
        raise ValueError(why)
    return critical_path(
        graph,
        timeline.node_ns,
        sequential=timeline.synthetic or _are_sequential(timeline),
        measured_ns=float("nan") if timeline.synthetic else _median_pass_ns(timeline),
        rounding_ns=timeline.rounding_ns,
    )


def why_not(parts: RunParts) -> str:
    """Return why a run has no critical path and how to get one; empty where it has one."""
    if parts.graph is None:
        why = "a critical path needs the graph, which tells which nodes depend on which"
        return no_graph(parts, why)
    known = parts.timeline is not None and not np.isnan(parts.timeline.node_ns).all()
    return "" if known else no_times(parts, "critical path")


def no_times(parts: RunParts, what: str) -> str:
    """Return why there is no critical path or roofline without times of nodes."""
    how = _TIMES
    if parts.executorch is not None:
        how = how_to_get("timeline", parts)
        if parts.timeline is not None:
            how = "what delegates ran was timed as a whole"
    return f"a {what} needs times of nodes, and this run has none: {how}"


def _timed_slices(timeline: Timeline) -> tuple[Floats, Floats, Ids]:
    start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
    usable = (timeline.slice_node >= 0) & np.isfinite(start) & (duration >= 0) & (duration < np.inf)
    return start[usable], (start + duration)[usable], timeline.slice_occurrence[usable]


def _are_sequential(timeline: Timeline) -> bool:
    start, end, _ = _timed_slices(timeline)
    order = np.argsort(start, kind="stable")
    latest = np.maximum.accumulate(end[order])
    return bool((start[order][1:] >= latest[:-1] - 1).all())


def _median_pass_ns(timeline: Timeline) -> float:
    start, end, occurrence = _timed_slices(timeline)
    if not len(start):
        return float("nan")
    count = int(occurrence.max()) + 1
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, occurrence, start)
    np.maximum.at(last, occurrence, end)
    spans = last - first
    return float(np.median(spans[np.isfinite(spans)]))


Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int32]

_LINES_SHOWN = 40
_SHORT = 60


@dataclass(frozen=True, eq=False, repr=False)
class CriticalPath:
    """The longest path of a graph of N nodes by time. Arrays are read-only.

    Attributes
    ----------
    graph : Graph
    nodes : int32 [K]
        The path in order of dependency; of equal lengths that with the lowest ids from its end.
    times_ns : float64 [N]
        Times of nodes, NaN unknown.
    length_ns : float
        Sum of the times on the path.
    slack_ns : float64 [N]
        Possible delay of a node before its path is the longest; NaN without a time or on cycles.
    total_ns : float
        Sum of all times.
    sequential : bool
        Nothing ran in parallel: the length is a lower bound for running branches in parallel.
    measured_ns : float
        From the first start to the last end, where a clock saw the slices; else NaN.
    untimed : int32 [U]
        Operators without a time, which count as taking none: the length is a lower bound.
    ambiguous : int
        Edges left out, since they may come from another node.
    unsettled : int
        Nodes on a cycle or behind one, which are on no path.
    rounding_ns : float
        As of the timeline: a time of 0 is less than this.
    """

    graph: Graph
    nodes: Ids
    times_ns: Floats
    length_ns: float
    slack_ns: Floats
    total_ns: float
    sequential: bool
    measured_ns: float
    untimed: Ids
    ambiguous: int
    unsettled: int
    rounding_ns: float = 0.0

    @property
    def share(self) -> float:
        """The length over the sum of all times; NaN where that is 0."""
        return self.length_ns / self.total_ns if self.total_ns > 0 else float("nan")

    @cached_property
    def critical(self) -> npt.NDArray[np.bool_]:
        """Nodes without slack (bool [N]): on this path and on others of the same length."""
        return frozen(np.asarray(self.slack_ns == 0))

    @property
    def operators(self) -> Ids:
        """Nodes of the path that run, without inputs and parameters."""
        return self.nodes[self.graph.kinds[self.nodes] >= NodeKind.OPERATOR]

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The path in some sentences, the most important first."""
        return tuple(_sentences(self))

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per node of the path, in order (needs pandas)."""
        path = self.nodes
        times = np.nan_to_num(self.times_ns[path])
        length = self.length_ns if self.length_ns > 0 else float("nan")
        return data_frame(
            {
                "node": path,
                "name": [self.graph.names[node] for node in path.tolist()],
                "func_name": [self.graph.func_names[node] for node in path.tolist()],
                "time_ns": self.times_ns[path],
                "share": times / length,
                "end_ns": np.cumsum(times),
            }
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        rows = [("node", "operator", "time", "of the path"), *_rows(self)]
        shown = rows[: _LINES_SHOWN + 1]
        return "\n".join([*self.said, *text_lines(shown), *more_text(len(rows), len(shown))])

    def _repr_html_(self) -> str:
        rows = _rows(self)
        head, more = ("node", "operator", "time", "of path"), more_text(len(rows), _LINES_SHOWN)
        table = html_table(head, rows[:_LINES_SHOWN], below=more)
        return f"<p>{'<br>'.join(map(html.escape, self.said))}</p>{table}"


def _sentences(path: CriticalPath) -> list[str]:
    least = "at least " if len(path.untimed) else ""
    ran = counted(len(path.operators), "operator")
    length = f"critical path: {least}{duration_text(path.length_ns)} in {ran}"
    sentences = [
        f"{length}, {percent(path.share)} of the {duration_text(path.total_ns)} of all nodes"
    ]
    if path.sequential:
        sentences.append(
            "lower bound if branches ran in parallel: here nodes ran one after the other, so every "
            "one of them delays the end, on the path or not"
        )
    if not math.isnan(path.measured_ns):
        sentences.append(_measured(path))
    if len(path.untimed):
        sentences.append(
            f"{counted(len(path.untimed), 'operator')} without a time: counted as zero"
        )
    if path.ambiguous:
        sentences.append(
            f"{counted(path.ambiguous, 'edge')} left out, ambiguous: the tensor may come from "
            "another node"
        )
    if path.unsettled:
        sentences.append(f"{counted(path.unsettled, 'node')} on a cycle or behind one: on no path")
    return sentences


def _measured(path: CriticalPath) -> str:
    seen = duration_text(path.measured_ns)
    rest = path.measured_ns - path.length_ns
    if rest < 0:
        return (
            f"from first start to last end {seen} were measured, less than the path: times of "
            "nodes are not of that pass alone"
        )
    return (
        f"from first start to last end {seen} were measured: {duration_text(rest)} more than the "
        "path, when nodes waited for something other than their inputs, or nothing was recorded"
    )


def _rows(path: CriticalPath) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for node in path.operators.tolist():
        time = float(path.times_ns[node])
        label = cut(one_line(node_label(path.graph, node)), _SHORT)
        share = time / path.length_ns if path.length_ns > 0 else math.nan
        rows.append((f"#{node}", label, duration_text(time, path.rounding_ns), percent(share)))
    return rows
