"""The longest path through a graph by time, as a table of its nodes and in sentences."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.tables import html_table, more_text, text_lines
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_words import node_label
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    import pandas as pd


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
        The path, in the order in which its nodes wait for each other. Of several paths of the same
        length the one whose nodes have the lowest ids, seen from its end.
    times_ns : float64 [N]
        The time of each node, NaN unknown.
    length_ns : float
        Sum of the times on the path.
    slack_ns : float64 [N]
        By how much a node could take longer, or start later, before the path through it is the
        longest; 0 on the path. NaN for nodes without a time, and on or behind a cycle.
    total_ns : float
        Sum of all times.
    sequential : bool
        Nothing ran beside anything else. The length is then no time that was seen, but a lower
        bound: what the run would take at least if branches ran in parallel.
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
        """Nodes without slack (bool [N]): those of this path and of others of the same length."""
        found: npt.NDArray[np.bool_] = self.slack_ns == 0
        found.flags.writeable = False
        return found

    @property
    def operators(self) -> Ids:
        """The nodes of the path that run: without inputs and parameters."""
        return self.nodes[self.graph.kinds[self.nodes] >= NodeKind.OPERATOR]

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The path in some sentences, the most telling first."""
        return tuple(_sentences(self))

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row a node of the path, in order (needs pandas)."""
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
    """Return what is worth saying of a path, the most telling first."""
    together = duration_text(path.total_ns)
    ran = len(path.operators)
    least = "at least " if len(path.untimed) else ""
    length = (
        f"critical path: {least}{duration_text(path.length_ns)} in {counted(ran, 'operator')}, "
        f"{percent(path.share)} of the {together} of all nodes"
    )
    said = [length]
    if path.sequential:
        said.append(
            "lower bound if branches ran in parallel: here nodes ran one after the other, so every "
            "one of them delays the end, on the path or not"
        )
    if not math.isnan(path.measured_ns):
        said.append(_measured(path))
    if len(path.untimed):
        said.append(f"{counted(len(path.untimed), 'operator')} without a time: counted as zero")
    if path.ambiguous:
        said.append(
            f"{counted(path.ambiguous, 'edge')} left out, ambiguous: the tensor may come from "
            "another node"
        )
    if path.unsettled:
        said.append(f"{counted(path.unsettled, 'node')} on a cycle or behind one: on no path")
    return said


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


def _node_text(path: CriticalPath, node: int) -> str:
    """``"conv2d + add"``."""
    graph = path.graph
    said = one_line(node_label(graph, node))
    return said if len(said) <= _SHORT else said[: _SHORT - 1] + "…"


def _rows(path: CriticalPath) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for node in path.operators.tolist():
        time = float(path.times_ns[node])
        told = duration_text(time, path.rounding_ns)
        share = time / path.length_ns if path.length_ns > 0 else math.nan
        found.append((f"#{node}", _node_text(path, node), told, percent(share)))
    return found
