"""Matrix of operators by repeats, which shows warm-up and noise; and all repeats folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.analysis.timeline.merged import Called
from tvmdbg_widgets.model.base.numbers import counted, duration_text, fixed
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.warm_up import WarmUp, warm_up
from tvmdbg_widgets.model.timeline.words import FOLDED, timeline_words

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SHOWN = 8
_TOTALS = 10
_REPEATS_ARE_OF = (
    "Repeats are those of the graph debugger's table or of time_list (open(…, "
    "times='time_list.json'))."
)
_EXECUTE = "execute the method several times with one event tracer."
_MOST_CELLS = 20_000_000
_MOST_EMPTY = 4  # cells per repeat in larger tables


@dataclass(frozen=True, eq=False, repr=False)
class Folded:
    """Folded repeats: one bar per operator, medians back to back.

    Attributes
    ----------
    nodes : int64 [K]
    names : sequence of str
    start_ns : float64 [K]
        Sum of the medians before it.
    p10, p50, p90 : float64 [K]
        Of its repeats, nanoseconds.
    said : str
        Meaning and limits of the bars.
    rounding_ns : float
        As of the timeline: a time of 0 is less than this.
    """

    nodes: Ints
    names: Sequence[str]
    start_ns: Floats
    p10: Floats
    p50: Floats
    p90: Floats
    said: str = FOLDED
    rounding_ns: float = 0.0

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def total_ns(self) -> float:
        """Sum of all medians; the median of the sums is another number."""
        return float(self.start_ns[-1] + self.p50[-1]) if len(self) else 0.0

    def to_dataframe(self) -> Any:
        """Return one row per operator as a ``pandas.DataFrame``; times in nanoseconds."""
        return data_frame(
            {
                "node": self.nodes,
                "name": list(self.names),
                "start_ns": self.start_ns,
                "p10_ns": self.p10,
                "p50_ns": self.p50,
                "p90_ns": self.p90,
            }
        )

    def __repr__(self) -> str:
        lines = [f"Folded: {counted(len(self), 'operator')}, {duration_text(self.total_ns)}"]
        for i in np.argsort(-self.p50, kind="stable")[:_SHOWN].tolist():
            spread = " … ".join(duration_text(x[i], self.rounding_ns) for x in (self.p10, self.p90))
            id_ = f" #{self.nodes[i]}" if self.nodes[i] >= 0 else ""
            median = duration_text(self.p50[i], self.rounding_ns)
            lines.append(f"  {one_line(self.names[i])}{id_}: {median} ({spread})")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class RepeatMatrix:
    """Repeats of K operators, R per operator, in the order of execution.

    Attributes
    ----------
    title : str
    nodes : int64 [K]
        Nodes that take time and have measured repeats; -1 where slices have no node.
    names : sequence of str
        Their operators, or the names of slices.
    ns : float64 [K, R]
        Nanoseconds; NaN where a node has fewer repeats, or one is no finite number.
    warm_up : WarmUp
        How many of the first repeats are warm-up. None is left out here; see :meth:`steady`.
    of_slices : bool
        Without known repeats rows are slices of a node or name by start, columns are no passes.
    rounding_ns : float
        As of the timeline: a time of 0 is less than this.
    """

    title: str
    nodes: Ints
    names: Sequence[str]
    ns: Floats
    warm_up: WarmUp
    of_slices: bool = False
    rounding_ns: float = 0.0

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def repeats(self) -> int:
        """Number of repeats, R."""
        return int(self.ns.shape[1])

    @property
    def median(self) -> Floats:
        """Median per operator, nanoseconds (float64 [K])."""
        return np.asarray(np.nanmedian(self.ns, axis=1), np.float64)

    @property
    def relative(self) -> Floats:
        """Repeats over the median of their operator (float64 [K, R]); NaN where that is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios: Floats = self.ns / self.median[:, None]
        ratios[~np.isfinite(ratios)] = np.nan
        return ratios

    @property
    def totals(self) -> Floats:
        """Sum per repeat over operators that have all repeats (float64 [R]); empty for a trace."""
        return self.warm_up.totals

    def steady(self) -> RepeatMatrix:
        """Return the repeats without warm-up; an operator that has no others keeps them."""
        cut = self.warm_up.cut
        if not cut:
            return self
        kept = self.ns[:, cut:].copy()
        short = ~np.isfinite(kept).any(axis=1)
        kept[short] = self.ns[short, : kept.shape[1]]
        offsets = np.arange(0, kept.size + 1, kept.shape[1])
        return replace(self, ns=kept, warm_up=warm_up(offsets, kept.ravel()))

    def folded(self) -> Folded:
        """Return p10, median and p90 per operator, medians back to back."""
        p10, p50, p90 = np.nanpercentile(self.ns, (10, 50, 90), axis=1)
        start = np.cumsum(p50) - p50
        return Folded(self.nodes, self.names, start, p10, p50, p90, rounding_ns=self.rounding_ns)

    def to_dataframe(self) -> Any:
        """Return one row per operator as a ``pandas.DataFrame``, with a column per repeat."""
        columns: dict[str, Any] = {"node": self.nodes, "name": list(self.names)}
        return data_frame(columns | {f"repeat_{i}_ns": self.ns[:, i] for i in range(self.repeats)})

    def __repr__(self) -> str:
        totals = ", ".join(duration_text(float(total)) for total in self.totals[:_TOTALS])
        more = " …" if self.repeats > _TOTALS else ""
        if self.of_slices:
            most = counted(self.repeats, "slice")
            size = f"{counted(len(self), 'name')} with up to {most} each, by start"
            lines = [f"{self.title}: {size}; no repeats are known"]
        else:
            size = f"{counted(len(self), 'operator')} in {counted(self.repeats, 'repeat')}"
            lines = [
                f"{self.title}: {size}",
                f"  total by repeat: {totals}{more}",
                f"  {self.warm_up.why}",
            ]
        with np.errstate(invalid="ignore"):
            spread = np.nanmax(self.ns, axis=1) - np.nanmin(self.ns, axis=1)
        widest = np.argsort(-spread, kind="stable")[:_SHOWN]
        lines.append("  largest differences between repeats, over the median of each:")
        for i in widest.tolist():
            row = " ".join(
                "?" if np.isnan(each) else fixed(float(each), 2)
                for each in self.relative[i, :_TOTALS]
            )
            id_ = f" #{self.nodes[i]}" if self.nodes[i] >= 0 else ""
            lines.append(f"    {one_line(self.names[i])}{id_}: {row}{more}")
        return "\n".join(lines)


def why_no_repeats(run: RunParts) -> str:
    """Return why a run has no repeats and how to get them; empty where it has."""
    timeline = run.timeline
    if timeline is None:
        return how_to_get("timeline", run)
    if not timeline.num_slices and not len(timeline.repeats_ns):
        return f"No times are in {', '.join(timeline.sources)}. {_REPEATS_ARE_OF}"
    words = timeline_words(timeline, run.graph is not None)
    if words.repeats and len(measured := _measured_nodes(timeline)):
        counts = np.diff(timeline.repeats_offsets)[measured]
        most = int(counts.max())
        if len(measured) * most > max(_MOST_CELLS, _MOST_EMPTY * int(counts.sum())):
            return (
                f"{counted(len(measured), 'operator')} of up to {counted(most, 'repeat')}: too "
                "many for a table; run.timeline.statistics() tells how each varies."
            )
        if most > 1:
            return ""
        more = "measure several with repeat=." if run.executorch is None else _EXECUTE
        return f"Each operator was measured once, so how its time varies is unknown: {more}"
    if timeline.synthetic:
        return words.no_repeats
    rows, size = _slices_per_key(timeline)
    if not len(rows) or int(size.max()) < 2:
        return "Each name occurs once in this trace, so how its time varies is unknown. " + (
            _REPEATS_ARE_OF if run.executorch is None else _EXECUTE.capitalize()
        )
    if len(rows) * int(size.max()) > _MOST_CELLS:
        return (
            f"{counted(len(rows), 'name')} of up to {counted(int(size.max()), 'slice')}: too many "
            "for a table; run.times(by='name') tells how each varies."
        )
    return ""


def repeat_matrix(run: RunParts) -> RepeatMatrix:
    """Return the repeats of a run, or a trace's slices by name; see :class:`RepeatMatrix`."""
    why = why_no_repeats(run)
    timeline = run.timeline
    if why or timeline is None:
        raise ValueError(why)
    nodes = _measured_nodes(timeline)
    words = timeline_words(timeline, run.graph is not None)
    if not words.repeats or not len(nodes):
        return _of_slices(run, timeline)
    counts = np.diff(timeline.repeats_offsets)
    most = int(counts[nodes].max())
    ns = np.full((len(nodes), most), np.nan)
    for size in np.unique(counts[nodes]).tolist():
        rows = np.flatnonzero(counts[nodes] == size)
        at = timeline.repeats_offsets[nodes[rows]][:, None] + np.arange(size)
        known = np.isfinite(timeline.repeats_ns[at])
        ns[rows, :size] = np.where(known, timeline.repeats_ns[at], np.nan)
    called = Called(timeline, run.graph, _no_groups)
    return RepeatMatrix(
        run.title,
        nodes,
        list(called.labels(nodes)),
        ns,
        # Nodes without a time may have more repeats.
        timeline.warm_up
        if most == counts.max()
        else warm_up(np.arange(0, ns.size + 1, most), ns.ravel()),
        rounding_ns=timeline.rounding_ns,
    )


def _no_groups() -> Groups:
    return Groups(np.zeros(0, np.int32))


def _measured_nodes(timeline: Timeline) -> Ints:
    known = np.isfinite(timeline.repeats_ns)
    finite = np.concatenate(([0], np.cumsum(known)))[timeline.repeats_offsets]
    return np.flatnonzero((np.diff(finite) > 0) & (timeline.node_ns > 0))


def _slices_per_key(timeline: Timeline) -> tuple[Ints, Ints]:
    keys = _keys(timeline, _slices_with_duration(timeline))
    size = np.bincount(keys, minlength=1)
    return np.flatnonzero(size), size[size > 0]


def _slices_with_duration(timeline: Timeline) -> Ints:
    slices = np.flatnonzero(np.isfinite(timeline.rows.self_ns) & (timeline.slice_duration_ns > 0))
    return slices[np.argsort(timeline.slice_start_ns[slices], kind="stable")]


def _keys(timeline: Timeline, slices: Ints) -> Ints:
    node = timeline.slice_node[slices].astype(np.int64)
    return np.where(node >= 0, node, timeline.num_nodes + timeline.slice_names.codes[slices])


def _of_slices(run: RunParts, timeline: Timeline) -> RepeatMatrix:
    slices = _slices_with_duration(timeline)
    keys = _keys(timeline, slices)
    order = np.argsort(keys, kind="stable")
    distinct, first, size = np.unique(keys[order], return_index=True, return_counts=True)
    row = np.repeat(np.arange(len(distinct)), size)
    ns = np.full((len(distinct), int(size.max())), np.nan)
    ns[row, np.arange(len(order)) - first[row]] = timeline.slice_duration_ns[slices[order]]
    start = timeline.slice_start_ns[slices[order[first]]]
    by_start = np.argsort(start, kind="stable")
    called = Called(timeline, run.graph, _no_groups)
    return RepeatMatrix(
        title=run.title,
        nodes=called.node(distinct)[by_start],
        names=list(called.labels(distinct[by_start])),
        ns=ns[by_start],
        warm_up=timeline.warm_up,
        of_slices=True,
        rounding_ns=timeline.rounding_ns,
    )
