"""Roofline of a run: operations and bytes per second of nodes against the machine's peaks.

Operations and bytes are counted from the graph (:mod:`tvmdbg_widgets.analysis.work`), times are
measured. Inputs and outputs count once, even if cached, so a small node that is run repeatedly may
seem to exceed the memory's bandwidth.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.timeline.longest_path import no_times
from tvmdbg_widgets.analysis.work import Work
from tvmdbg_widgets.model.base.numbers import (
    counted,
    duration_text,
    html_table,
    percent,
    rate_text,
    significant,
    text_lines,
)
from tvmdbg_widgets.model.base.ranges import MadeSequence, frozen
from tvmdbg_widgets.model.base.slips import public_class
from tvmdbg_widgets.model.base.text import columns_of, cut, data_frame, more_text, one_line
from tvmdbg_widgets.model.graph.graph import node_op_kinds
from tvmdbg_widgets.model.graph.operators import label
from tvmdbg_widgets.model.parts import RunParts

if TYPE_CHECKING:
    import pandas as pd


Floats = npt.NDArray[np.float64]

_LINES_SHOWN = 40
_SHORT = 50
_HEAD = ("node", "operator", "time", "work", "FLOP/B", "computed", "moved", "bound by, or unknown")

CONVENTION = (
    "counted from shapes: 1 multiply–add is 2 operations, also at padded positions; bytes are "
    "inputs and outputs once each, ignoring cache hits"
)


@dataclass(frozen=True)
class Point:
    """One node of a roofline; NaN unknown.

    Attributes
    ----------
    node : int
    name, op_kind : str
    time_ns : float
    flops, bytes : float
    exact : bool
        False where ``flops`` may be off by 1 %.
    dtype : str
        Type of the computation; operations on integers count as operations.
    intensity : float
        Operations a byte.
    flops_per_s, bytes_per_s : float
        Achieved rates.
    bound : str
        ``"memory"`` or ``"compute"``, the lower ceiling; ``"unknown"`` without ceilings.
    of_ceiling : float
        Achieved rate over the lower ceiling; NaN without ceilings.
    why : tuple of str
        Why something is unknown.
    """

    node: int
    name: str
    op_kind: str
    time_ns: float
    flops: float
    bytes: float
    exact: bool
    dtype: str
    intensity: float
    flops_per_s: float
    bytes_per_s: float
    bound: str
    of_ceiling: float
    why: tuple[str, ...]


@public_class
class Roofline(MadeSequence[Point]):
    """The operators of a run as points, in the order of ids.

    Attributes
    ----------
    work : Work
    times_ns : float64 [N]
    peak_flops, bandwidth : float or None
        The ceilings that were given.
    flops_per_s, bytes_per_s, intensity : float64 [N]
        NaN unknown.
    rounding_ns : float
        As of the timeline: a time of 0 is less than this.
    """

    def __init__(
        self,
        work: Work,
        times_ns: Floats,
        peak_flops: float | None,
        bandwidth: float | None,
        rounding_ns: float = 0.0,
    ) -> None:
        self.work = work
        self.times_ns = times_ns
        self.rounding_ns = rounding_ns
        self.peak_flops = _above_zero("peak_flops", peak_flops)
        self.bandwidth = _above_zero("bandwidth", bandwidth)
        seconds = np.where(times_ns > 0, times_ns, np.nan) * 1e-9
        self.flops_per_s = frozen(work.flops / seconds)
        self.bytes_per_s = frozen(work.bytes / seconds)
        self.intensity = frozen(work.flops / np.where(work.bytes > 0, work.bytes, np.nan))
        self._nodes = work.operators
        self._kinds = node_op_kinds(work.graph)

    def __len__(self) -> int:
        return len(self._nodes)

    def _item(self, at: int) -> Point:
        return self.node(int(self._nodes[at]))

    def node(self, node: int) -> Point:
        """Return the point of a node; IndexError beyond the graph."""
        own = self.work[node]
        why = own.why
        if not self.times_ns[node] > 0:
            why = (*why, "no time above zero")
        bound, share = self._bound(node)
        return Point(
            node,
            self.work.graph.names[node],
            self._kinds[node],
            float(self.times_ns[node]),
            own.flops,
            own.bytes,
            own.exact,
            own.dtype,
            float(self.intensity[node]),
            float(self.flops_per_s[node]),
            float(self.bytes_per_s[node]),
            bound,
            share,
            why,
        )

    def _bound(self, node: int) -> tuple[str, float]:
        intensity = float(self.intensity[node])
        if self.peak_flops is None or self.bandwidth is None or np.isnan(intensity):
            return UNKNOWN, float("nan")
        if intensity * self.bandwidth < self.peak_flops:
            return MEMORY, float(self.bytes_per_s[node]) / self.bandwidth
        return COMPUTE, float(self.flops_per_s[node]) / self.peak_flops

    @property
    def highest_flops(self) -> float:
        """The most operations per second of any node; NaN without any."""
        return float(np.fmax.reduce(self.flops_per_s, initial=np.nan))

    @property
    def highest_bytes(self) -> float:
        """The most bytes per second of any node; NaN without any."""
        return float(np.fmax.reduce(self.bytes_per_s, initial=np.nan))

    @cached_property
    def unknown(self) -> tuple[Point, ...]:
        """Nodes with unknown operations, bytes or time, the slowest first."""
        missing = np.isnan(self.flops_per_s) | np.isnan(self.bytes_per_s)
        nodes = self._nodes[missing[self._nodes]]
        times = np.nan_to_num(self.times_ns[nodes])
        return tuple(self.node(int(node)) for node in nodes[np.argsort(-times, kind="stable")])

    @cached_property
    def totals(self) -> tuple[KindTotal, ...]:
        """Sums by op kind, the slowest first."""
        kinds = np.array([self._kinds[node] for node in self._nodes.tolist()])
        totals = []
        for kind in dict.fromkeys(kinds.tolist()):
            nodes = self._nodes[kinds == kind]
            times, flops, size = (
                column[nodes] for column in (self.times_ns, self.work.flops, self.work.bytes)
            )
            timed = np.nan_to_num(times)
            totals.append(
                KindTotal(
                    kind,
                    len(nodes),
                    float(timed.sum()),
                    float(np.nansum(flops)),
                    float(np.nansum(size)),
                    float(timed[~np.isnan(flops)].sum()),
                    float(timed[~np.isnan(size)].sum()),
                )
            )
        return tuple(sorted(totals, key=lambda each: -each.time_ns))

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The roofline in some sentences, the most important first."""
        return tuple(_sentences(self))

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per operator (needs pandas)."""
        rows = list(self)
        reasons = {"why": ["; ".join(row.why) for row in rows]}
        return data_frame(columns_of(rows, Point.__dataclass_fields__) | reasons)

    def __repr__(self) -> str:
        rows = _rows(self)
        lines = text_lines([_HEAD, *rows[:_LINES_SHOWN]])
        return "\n".join([*self.said, *lines, *more_text(len(rows), _LINES_SHOWN)])

    def _repr_html_(self) -> str:
        rows = _rows(self)
        more = more_text(len(rows), _LINES_SHOWN)
        table = html_table(_HEAD, rows[:_LINES_SHOWN], below=more)
        return f"<p>{'<br>'.join(map(html.escape, self.said))}</p>{table}"


def _sentences(roofline: Roofline) -> list[str]:
    graph_nodes = roofline.work.operators
    times = np.nan_to_num(roofline.times_ns[graph_nodes])
    total = float(times.sum())
    flops = roofline.work.flops[graph_nodes]
    known = ~np.isnan(flops)
    seconds = float(times[known].sum()) * 1e-9
    rate = float(np.nansum(flops)) / seconds if seconds > 0 else math.nan
    share = float(times[known].sum()) / total if total else math.nan
    operations = rate_text(float(np.nansum(flops)), "FLOP")
    over = f"{rate_text(rate, 'FLOP/s')} over their time; {percent(share)} of the total time"
    whole = f"{operations} in {counted(int(known.sum()), 'operator')}, {over}"
    sentences = [whole, _ceilings(roofline)]
    if roofline.unknown:
        slow = sum(point.time_ns for point in roofline.unknown if point.time_ns > 0)
        sentences.append(
            f"{counted(len(roofline.unknown), 'operator')} with unknown operations or bytes, "
            f"{percent(slow / total if total else math.nan)} of the time; each row says why"
        )
    integers = {point.dtype for point in roofline if "int" in point.dtype and point.flops > 0}
    if integers:
        sentences.append(f"operations on integers ({', '.join(sorted(integers))}) count the same")
    return [*sentences, CONVENTION]


def _ceilings(roofline: Roofline) -> str:
    if roofline.peak_flops is not None and roofline.bandwidth is not None:
        ridge = roofline.peak_flops / roofline.bandwidth
        slow = [point for point in roofline if point.bound == MEMORY]
        return (
            f"ceilings given: {rate_text(roofline.peak_flops, 'FLOP/s')} and "
            f"{rate_text(roofline.bandwidth, 'B/s')}; they meet at {significant(ridge)} FLOP/B, "
            f"below which memory is the bound: {counted(len(slow), 'operator')}"
        )
    return (
        f"best measured: {rate_text(roofline.highest_flops, 'FLOP/s')} and "
        f"{rate_text(roofline.highest_bytes, 'B/s')}; the hardware peak is unknown: "
        "roofline(peak_flops=…, bandwidth=…)"
    )


def _rows(roofline: Roofline) -> list[tuple[str, ...]]:
    points = sorted(roofline, key=lambda point: -np.nan_to_num(point.time_ns))
    return [_row(roofline, point) for point in points]


def _row(roofline: Roofline, point: Point) -> tuple[str, ...]:
    name = one_line(label(roofline.work.graph.func_names[point.node]) or point.name)
    bound = "" if point.bound == UNKNOWN else f"{point.bound}, {percent(point.of_ceiling)}"
    return (
        f"#{point.node}",
        cut(name, _SHORT),
        duration_text(point.time_ns, roofline.rounding_ns),
        ("" if point.exact else "≈ ") + rate_text(point.flops, "FLOP"),
        "-" if math.isnan(point.intensity) else significant(point.intensity),
        rate_text(point.flops_per_s, "FLOP/s"),
        rate_text(point.bytes_per_s, "B/s"),
        "; ".join(point.why) or bound,
    )


def roofline_of(
    parts: RunParts, work: Callable[[], Work], peak_flops: float | None, bandwidth: float | None
) -> Roofline:
    """Return the roofline of a run."""
    counted = work()
    timeline = parts.timeline
    if timeline is None or np.isnan(timeline.node_ns).all():
        raise ValueError(no_times(parts, "roofline"))
    return Roofline(counted, timeline.node_ns, peak_flops, bandwidth, timeline.rounding_ns)


def _above_zero(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    number = float(value)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be a number above zero, found {value!r}")
    return number


MEMORY, COMPUTE, UNKNOWN = "memory", "compute", "unknown"


@dataclass(frozen=True)
class KindTotal:
    """All nodes of one op kind; sums are over nodes with known numbers.

    Attributes
    ----------
    op_kind : str
    nodes : int
    time_ns : float
    flops, bytes : float
    flops_ns, bytes_ns : float
        Time of the nodes whose operations (bytes) are known.
    """

    op_kind: str
    nodes: int
    time_ns: float
    flops: float
    bytes: float
    flops_ns: float
    bytes_ns: float

    @property
    def flops_per_s(self) -> float:
        """Operations over the time of the nodes whose operations are known."""
        return 1e9 * self.flops / self.flops_ns if self.flops_ns > 0 else float("nan")

    @property
    def bytes_per_s(self) -> float:
        """Bytes over the time of the nodes whose bytes are known."""
        return 1e9 * self.bytes / self.bytes_ns if self.bytes_ns > 0 else float("nan")
