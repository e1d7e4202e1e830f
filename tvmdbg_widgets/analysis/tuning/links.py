"""Links from tasks of a log to the nodes of a run they tuned.

A log has neither the function's name nor the calls. Links, the surest first:

* the structural hash in a node, where the workload is named by it;
* function names in the task scheduler's printed table; a compiled function has another prefix and
  suffix (``extract_tasks``, python/tvm/auto_scheduler/relay_integration.py);
* the shapes of inputs and output, where they are unique among tasks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts, facts_of
from tvmdbg_widgets.analysis.tuning.curves import Gains, best_costs, gains, known_weights
from tvmdbg_widgets.analysis.tuning.error_tables import (
    ErrorTable,
    seconds_cell,
    table_html,
    table_text,
)
from tvmdbg_widgets.analysis.tuning.selection import errors_by
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, percent
from tvmdbg_widgets.model.base.text import data_frame
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, classed
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import module_prefix, number_at_end, op_kind
from tvmdbg_widgets.model.tuning.parts import ConsoleTable, TuningParts

if TYPE_CHECKING:
    import pandas as pd


BY_HASH: Final = "by hash"
BY_NAME: Final = "by function name"
BY_SHAPES: Final = "by shapes"
#: Kinds of operators that the auto-scheduler tunes (``EXTRACT_COMPLEX_TASK_ONLY``).
_TUNED_KINDS: Final = ("convolution", "matmul")
_TUNED, _FAILED, _FALLBACK = "tuned", "no valid schedule", "fallback (no task)"
_PRINTED_MS: Final = 5e-4


@dataclass(frozen=True)
class TaskLinks:
    """Nodes linked to T tasks.

    Attributes
    ----------
    nodes : tuple of tuple of int [T]
        Node ids, ascending; may be empty.
    hows : tuple of str [T]
        ``"by hash"``, ``"by function name"``, ``"by shapes"``; empty where there is none.
    ambiguous : tuple of int
        Nodes that several tasks fit equally well: they are left out.
    """

    nodes: tuple[tuple[int, ...], ...]
    hows: tuple[str, ...]
    ambiguous: tuple[int, ...] = ()

    def nodes_of(self, task: int) -> tuple[int, ...]:
        """Return the nodes that a task tuned."""
        return self.nodes[task]

    def how(self, task: int) -> str:
        """Return how the nodes were linked to the task."""
        return self.hows[task]

    def task_of(self, node: int) -> int | None:
        """Return the task that tuned a node, None where none is known."""
        return next((task for task, nodes in enumerate(self.nodes) if node in nodes), None)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per task and node (needs pandas)."""
        rows = [(task, node) for task, nodes in enumerate(self.nodes) for node in nodes]
        columns = {
            "task": [task for task, _ in rows],
            "node": [node for _, node in rows],
            "how": [self.hows[task] for task, _ in rows],
        }
        return data_frame(columns)

    def status(self, graph: Graph, table: TaskTable) -> NodeColumn:
        """Return the tuning status of nodes, as a color of their graph.

        ``"tuned"``, ``"no valid schedule"``, or for convolutions and matrix products without a task
        ``"fallback (no task)"``.
        """
        texts: list[str | None] = [None] * graph.num_nodes
        for node in range(graph.num_nodes):
            if op_kind(graph.func_names[node], graph.kinds[node]) in _TUNED_KINDS:
                texts[node] = _FALLBACK
        for node in self.ambiguous:
            texts[node] = None
        for task, nodes in enumerate(self.nodes):
            status = _FAILED if np.isnan(table.best[task]) else _TUNED
            for node in nodes:
                texts[node] = status
        note = "operators that are not tuned, or that several tasks fit"
        return classed("tuning", "nodes", texts, note=note)

    def gain(self, graph: Graph, table: TaskTable) -> NodeColumn:
        """Return the expected gain by node, nanoseconds, as a color of the graph."""
        values = np.full(graph.num_nodes, np.nan)
        for task, nodes in enumerate(self.nodes):
            values[list(nodes)] = table.gains.gain[task] * 1e9
        return NodeColumn("tuning gain", "nodes", values=values, unit="ns", together="sum")

    def __repr__(self) -> str:
        linked = sum(map(bool, self.nodes))
        nodes = sum(map(len, self.nodes))
        words = (
            f"TaskLinks: {linked} of {counted(len(self.nodes), 'task')} {agree(linked, 'stands')} "
            f"for {counted(nodes, 'node')}"
        )
        unsure = (
            f"; {counted(len(self.ambiguous), 'node')} {agree(len(self.ambiguous), 'fits')} "
            "several tasks"
            if self.ambiguous
            else ""
        )
        return words + unsure


def graph_of(run: OpenedRun | RunFacts) -> Graph:
    """Return the graph of a run to link tasks to."""
    facts = facts_of(run)
    if facts.graph is None:
        raise ValueError(f"{facts.title} has no graph, so no task can be linked to its nodes")
    return facts.graph


def link_tasks(parts: TuningParts, graph: Graph) -> TaskLinks:
    """Link tasks to the nodes of a graph."""
    operators = np.flatnonzero(graph.kinds >= NodeKind.OPERATOR).tolist()
    names = _console_names(parts)
    task_of: dict[int, tuple[int, str]] = {}
    ambiguous: dict[int, None] = {}
    matchers: tuple[tuple[str, dict[object, list[int]], Callable[[int], object]], ...] = (
        (BY_HASH, _by_key((task.workload.name, task.index) for task in parts.tasks),
         lambda node: graph.attrs[node].get("hash")),
        (BY_NAME, _by_key((name, task) for task, names_of in names.items() for name in names_of),
         lambda node: bare_function(graph.func_names[node])),
        (BY_SHAPES, _by_key((task.workload.shapes, task.index) for task in parts.tasks),
         lambda node: _shapes(graph, node)),
    )  # fmt: skip
    for how, tasks, key_of in matchers:
        for node in operators:
            if node in task_of:
                continue
            fitting = tasks.get(key_of(node), [])
            if how != BY_SHAPES and len(fitting) > 1:
                shapes = _shapes(graph, node)
                fitting = [task for task in fitting if parts.tasks[task].workload.shapes == shapes]
            if len(fitting) == 1:
                task_of[node] = fitting[0], how
                ambiguous.pop(node, None)
            elif fitting:
                ambiguous[node] = None
    nodes: list[list[int]] = [[] for _ in parts.tasks]
    hows = [""] * len(parts.tasks)
    for node, (task, how) in sorted(task_of.items()):
        nodes[task].append(node)
        hows[task] = hows[task] or how
    return TaskLinks(tuple(map(tuple, nodes)), tuple(hows), tuple(sorted(ambiguous)))


def bare_function(name: str) -> str:
    """Return a function's name without the parts that change with every compilation."""
    bare = name.removeprefix(module_prefix(name))
    return bare.removesuffix(number_at_end(bare))


def _by_key(pairs: Iterable[tuple[object, int]]) -> dict[object, list[int]]:
    by_key: defaultdict[object, list[int]] = defaultdict(list)
    for key, task in pairs:
        if key not in ("", ()) and task not in by_key[key]:
            by_key[key].append(task)
    return by_key


def _shapes(graph: Graph, node: int) -> tuple[tuple[int, ...], ...]:
    edges = graph.in_edges(node)
    pairs = zip(graph.edge_source[edges].tolist(), graph.edge_output[edges].tolist(), strict=True)
    shapes = [graph.shape(source, output) if source >= 0 else None for source, output in pairs]
    shapes += [graph.shape(node, output) for output in range(len(graph.entry_range(node)))]
    known = [tuple(shape) for shape in shapes if shape is not None]
    return tuple(known) if len(known) == len(shapes) else ()


def _console_names(parts: TuningParts) -> dict[int, set[str]]:
    if parts.console is None:
        return {}
    best_ms = best_costs(parts.trials, len(parts.tasks)) * 1e3
    return {
        task: {bare_function(name) for name in description.split(",") if name.strip()}
        for task, description in _rows_of(parts.console, best_ms.tolist())
    }


def _rows_of(console: ConsoleTable, best_ms: list[float]) -> Iterable[tuple[int, str]]:
    for row in console.rows:
        if row.latency_ms is None or not row.description:
            continue
        fitting = [
            task for task, ms in enumerate(best_ms) if abs(ms - row.latency_ms) <= _PRINTED_MS
        ]
        if len(fitting) == 1:
            yield fitting[0], row.description


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TaskTable:
    """One row per task, in the order of ``log.tasks``: T rows.

    Attributes
    ----------
    errors : ErrorTable
        Trials, valid ones, errors and seconds by task.
    best : float64 [T]
        Lowest cost, seconds; NaN where no trial is valid.
    weights : float64 [T]
        All 1 where the caller gave none.
    weighted : bool
        Whether the caller gave them.
    share : float64 [T]
        Of the weighted costs of the tasks that have one.
    gains : Gains
        The task scheduler's expectation of the next round.
    total : float
        Weighted sum of the best costs, seconds; NaN while a task has none, as in TVM.
    """

    errors: ErrorTable
    best: Floats
    weights: Floats
    weighted: bool
    share: Floats
    gains: Gains
    total: float

    def __len__(self) -> int:
        return len(self.best)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per task (needs pandas)."""
        frame = self.errors.to_dataframe()
        frame["best"] = self.best
        frame["weight"] = self.weights
        frame["share"] = self.share
        frame["gain"] = self.gains.gain
        frame["rounds"] = self.gains.rounds
        return frame

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        heads, lines = self.errors.cells()
        heads[3:3] = ("best", "share", "expected gain")
        gains = self.gains.gain.tolist()
        for line, best, share, gain in zip(lines, self.best, self.share, gains, strict=True):
            shown = "–" if math.isnan(share) else percent(float(share))
            line[3:3] = (seconds_cell(best), shown, seconds_cell(gain))
        return heads, lines

    def _title(self) -> str:
        how = "weighted sum" if self.weighted else "unweighted sum: weights are not in the log"
        of_all = "unknown" if math.isnan(self.total) else duration_text(self.total * 1e9)
        return f"{counted(len(self), 'task')}, estimated total latency {of_all} ({how})"

    def __repr__(self) -> str:
        return f"{self._title()}\n{table_text(*self._cells())}"

    def _repr_html_(self) -> str:
        return f"<p>{self._title()}</p>{table_html(*self._cells())}"


def task_table(parts: TuningParts, weights: Sequence[float] | None = None) -> TaskTable:
    """Summarize every task."""
    size = len(parts.tasks)
    weight = known_weights(weights, size)
    best = best_costs(parts.trials, size)
    with np.errstate(over="ignore", invalid="ignore"):
        products = weight * best
        known = float(np.nansum(products))
        share = products / known if known else np.full(size, np.nan)
    return TaskTable(
        errors_by(parts, "task"),
        best,
        weight,
        weights is not None,
        share,
        gains(parts.trials, size, weights),
        float(products.cumsum()[-1]) if size else math.nan,
    )
