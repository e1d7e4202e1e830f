"""Columns of a run for coloring graphs: facts of entries, and their errors against a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.differences import value_pairs
from tvmdbg_widgets.analysis.layouts import best_layouts
from tvmdbg_widgets.analysis.matching import Certainty, match
from tvmdbg_widgets.analysis.timeline.longest_path import critical_path_of, why_not
from tvmdbg_widgets.analysis.timeline.roofline import roofline_of
from tvmdbg_widgets.analysis.work import work
from tvmdbg_widgets.model.base.number_text import NO_DISTANCE, distance, is_float
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, classed
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.refs import entry_ref
from tvmdbg_widgets.model.tensors.tensors import Tensor

TIMED_COLUMNS = ("slack", "critical", "intensity", "flops")  # columns computed from times of nodes
#: Columns that are computed from the run when a view asks.
KNOWN_COLUMNS = ("layout", *TIMED_COLUMNS)
#: What views color by from the graph alone.
OWN_COLORS = ("kind", "time", "health", "dtype", "device", "storage", "bytes")
#: Columns to color by that need no argument.
COLOR_NAMES = (*OWN_COLORS, *KNOWN_COLUMNS)
ERROR = "error"  # the color that a reference is given for
_ON_PATH, _BESIDE, _TIED = "critical path", "has slack", "as long as it"


def known_column(
    parts: RunParts, name: str, watch: Callable[[int], None] = lambda _done: None
) -> NodeColumn:
    """Return one of ``KNOWN_COLUMNS``: the layouts of entries, or times of nodes."""
    graph = parts.graph
    if graph is None:
        raise ValueError("the run has no graph")
    if name in TIMED_COLUMNS:
        return _timed_column(parts, graph, name)
    return classed(name, "entries", best_layouts(parts, graph, watch))


def _timed_column(parts: RunParts, graph: Graph, name: str) -> NodeColumn:
    nothing = np.full(graph.num_nodes, np.nan)
    why = why_not(parts)
    if why:
        return NodeColumn(name, "nodes", nothing, note=why)
    if name in ("slack", "critical"):
        path = critical_path_of(parts)
        if name == "slack":
            return NodeColumn(name, "nodes", path.slack_ns.copy(), unit="ns", note=path.said[0])
        names: list[str | None] = [None] * graph.num_nodes
        for node in np.flatnonzero(~np.isnan(path.slack_ns)).tolist():
            names[node] = _TIED if path.critical[node] else _BESIDE
        for node in path.nodes.tolist():
            names[node] = _ON_PATH
        return classed(name, "nodes", names)
    roofline = roofline_of(parts, lambda: work(graph), None, None)
    values = roofline.intensity if name == "intensity" else roofline.flops_per_s
    unknown = len(roofline.unknown)
    note = (
        f"unknown for {counted(unknown, 'operator')}: run.roofline() tells why" if unknown else ""
    )
    unit = "FLOP/B" if name == "intensity" else "FLOP/s"
    return NodeColumn(name, "nodes", values.copy(), unit=unit, scale="log", note=note)


Entry: TypeAlias = tuple[int, int]
Block: TypeAlias = np.ndarray[Any, Any]

MEASURES = ("absolute", "relative", "ulp")
_BLOCK = 1 << 17


class OutputErrors:
    """Largest errors of a run's outputs against a reference.

    Parameters
    ----------
    parts : RunParts
    reference : DebugRun or mapping
        A run; or arrays by node id, node name or ``(node, output)``.
    measure : str
        ``"absolute"``: the largest difference. ``"relative"``: that, as a share of the largest
        magnitude in the reference. ``"ulp"``: the most steps between values of one dtype.

    Attributes
    ----------
    values : float64 [E]
        NaN for unknown: no tensor, no sure reference, another shape, for ``"ulp"`` another dtype.
        Infinite where one side is finite and the other is not.
    done, total : int
        Entries that were compared, of how many.
    unmatched : int
        Entries with a tensor without a definite match among the outputs of the reference run.
    unread : int
        Entries whose values could not be read, in this run or the reference.

    Raises
    ------
    ValueError
        No graph, no such measure, or a run none of whose tensors is known to be of this graph.
    KeyError, IndexError, TypeError
        The mapping has a node that the graph has not.
    """

    def __init__(self, parts: RunParts, reference: Any, measure: str = "absolute") -> None:
        if parts.graph is None:
            raise ValueError("the run has no graph")
        one_of("measure", measure, MEASURES)
        self._graph = parts.graph
        self._measure = measure
        self._tensors: Mapping[Entry, Tensor] = parts.tensors or {}
        if isinstance(reference, Mapping):
            self._reference, matched = _by_entry(parts.graph, reference), None
        else:
            self._reference, matched = _values_of_run(parts.graph, reference)
        self.unmatched = (
            0 if matched is None else sum(node not in matched for node, _ in self._tensors)
        )
        self._left = [entry for entry in self._reference if entry in self._tensors]
        self.values: npt.NDArray[np.float64] = np.full(parts.graph.num_entries, np.nan)
        self.done, self.total = 0, len(self._left)
        self.unread = 0

    def run(self, watch: Callable[[int], None] = lambda _done: None) -> None:
        """Compare the remaining entries, in node order."""
        while self._left:
            entry = self._left[0]
            watch(self.done)
            try:
                error = self._error(self._tensors[entry], self._reference[entry], watch)
            except (FormatError, OSError):
                error, self.unread = np.nan, self.unread + 1
            except (TypeError, ValueError):
                error = np.nan
            self.values[self._graph.entry_id(*entry)] = error
            self._left.pop(0)
            self.done += 1

    def column(self) -> NodeColumn:
        """Return the errors known so far."""
        units = {"absolute": "", "relative": "of the largest", "ulp": "ULP"}
        notes = []
        if self.unmatched:
            of = f"{self.unmatched:,} of {counted(len(self._tensors), 'output')}"
            notes.append(f"{of} without a sure counterpart")
        if self.unread:
            notes.append(f"{self.unread:,} of {counted(self.total, 'output')} could not be read")
        if self._left:
            notes.append(f"{len(self._left):,} of {counted(self.total, 'output')} not yet compared")
        return NodeColumn(
            ERROR,
            "entries",
            self.values.copy(),
            unit=units[self._measure],
            scale="log",
            note="; ".join(notes),
        )

    def _error(self, tensor: Tensor, reference: Any, watch: Callable[[int], None]) -> float:
        shape = tuple(reference.view_shape if hasattr(reference, "chunks") else reference.shape)
        if tensor.view_shape != shape:
            return float("nan")
        worst = largest = 0.0
        for mine, theirs in zip_longest(_equal_blocks(tensor), _equal_blocks(reference)):
            watch(self.done)
            if mine is None or theirs is None or len(mine) != len(theirs):
                return float("nan")
            if self._measure == "ulp":
                if mine.dtype != theirs.dtype:
                    return float("nan")
                worst = max(worst, _steps(mine, theirs))
                continue
            worst = max(worst, _difference(mine, theirs))
            with np.errstate(invalid="ignore"):
                sizes = np.abs(_wide(theirs))
            largest = max(largest, float(np.max(sizes, initial=0, where=np.isfinite(sizes))))
        if self._measure == "relative" and worst > 0:
            return worst / largest if largest > 0 else float("inf")
        return worst


def _by_entry(graph: Graph, reference: Mapping[Any, Any]) -> dict[Entry, Any]:
    arrays: dict[Entry, Any] = {}
    for key, value in reference.items():
        array = value if hasattr(value, "chunks") else np.asarray(value)
        nodes = graph.nodes_named(key) if isinstance(key, str) else []
        arrays |= dict.fromkeys([(node.id, 0) for node in nodes] or [entry_ref(key, graph)], array)
    return dict(sorted(arrays.items()))


def _values_of_run(graph: Graph, reference: Any) -> tuple[dict[Entry, Any], set[int] | None]:
    theirs = getattr(reference, "graph", None)
    if not hasattr(reference, "tensors") or theirs is None:
        raise TypeError(
            "a reference is another run, or a mapping of nodes to arrays, not "
            f"{type(reference).__name__}"
        )
    tensors = dict(reference.tensors or {})
    same = theirs.num_nodes == graph.num_nodes and theirs.num_entries == graph.num_entries
    if same and np.array_equal(theirs.entry_offsets, graph.entry_offsets):
        return tensors, None
    matching = match(graph, theirs)
    sure = matching.certainty <= Certainty.LIKELY
    certain = set(map(tuple, matching.pairs[sure].tolist()))
    pairs = [pair for pair in value_pairs(matching) if pair in certain]
    matched = {
        (one, output): tensors[other, output]
        for one, other in pairs
        for output in range(len(graph.entry_range(one)))
        if (other, output) in tensors
    }
    if not matched:
        raise ValueError(
            f"the reference has another graph, of {counted(theirs.num_nodes, 'node')} and not "
            f"{graph.num_nodes:,}, and none of its tensors is surely of a node of this one: "
            "give a mapping of this run's nodes to its arrays"
        )
    return dict(sorted(matched.items())), {one for one, _other in pairs}


def _equal_blocks(array: Any) -> Iterator[Block]:
    if hasattr(array, "chunks"):
        waiting: list[Block] = []
        for chunk in array.chunks():
            waiting.append(chunk)
            while sum(map(len, waiting)) >= _BLOCK:
                flat = np.concatenate(waiting)
                yield flat[:_BLOCK]
                waiting = [flat[_BLOCK:]]
        rest = np.concatenate(waiting) if waiting else np.zeros(0)
        if len(rest):
            yield rest
        return
    flat = array.reshape(-1)
    for start in range(0, len(flat), _BLOCK):
        yield flat[start : start + _BLOCK]


def _wide(block: Block) -> Block:
    return block.astype(np.complex128 if block.dtype.kind == "c" else np.float64)


def _difference(mine: Block, theirs: Block) -> float:
    if mine.dtype.kind in "iu" and theirs.dtype.kind in "iu":
        # Integers beyond 2**53 are no float64; modulo 2**64 the larger minus the smaller is exact.
        a, b, more = mine.astype(np.uint64), theirs.astype(np.uint64), mine > theirs
        away, low = np.where(more, a - b, b - a), np.where(more, theirs < 0, mine < 0)
        # Only a uint64 and a negative number are farther apart.
        high = np.where(more, mine >= 0, theirs >= 0)
        far = low & high & (away < np.where(more, a, b))
        return float(np.max(away + far * 2.0**64, initial=0))
    with np.errstate(invalid="ignore", over="ignore"):
        x, y = _wide(mine), _wide(theirs)
        away = np.abs(x - y)
    away[(x == y) | (np.isnan(x) & np.isnan(y))] = 0
    away[np.isnan(away)] = np.inf
    return float(np.max(away, initial=0))


def _steps(mine: Block, theirs: Block) -> float:
    steps = distance(mine, theirs)
    if not is_float(mine.dtype):
        return float(np.max(steps, initial=0))
    with np.errstate(invalid="ignore"):
        steps[np.isnan(mine) & np.isnan(theirs)] = 0
    return float("inf") if np.any(steps == NO_DISTANCE) else float(np.max(steps, initial=0))
