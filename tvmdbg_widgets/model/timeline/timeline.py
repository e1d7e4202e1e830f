"""The timeline of a run: slices in time, and the time and measured repeats of nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import Trust, agree, counted, duration_text, time_share
from tvmdbg_widgets.model.base.slips import public_class
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.graph.operators import label_of, number_at_end, parts
from tvmdbg_widgets.model.timeline.columns import Account, TimelineColumns
from tvmdbg_widgets.model.timeline.measured import Flows, Gaps, TimeMeaning, flows, gaps
from tvmdbg_widgets.model.timeline.node_sets import NodeStatistics, NodeTimes, node_statistics
from tvmdbg_widgets.model.timeline.rows import Nesting, TimelineRows, nesting, rows
from tvmdbg_widgets.model.timeline.warm_up import WarmUp, warm_up, without_first

SYNTHETIC = "synthetic"
WALL = "wall"

_EXACT_TO = 2.0**53

_LAID = {TimeMeaning.MEAN: "nodes", TimeMeaning.CALL: "calls", TimeMeaning.SUM: "rows"}


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Timeline(TimelineColumns):
    """Times of a run as columns, those of :class:`TimelineColumns`, and what follows from them.

    All times are float64 nanoseconds. Whole nanoseconds are exact up to 2**53 (104 days), and
    means below one nanosecond, which a time evaluator gives, are kept.
    """

    @cached_property
    def account(self) -> Account:
        """The time by owner: nodes, calls of several nodes, loading; computed once."""
        return Account.of(self, self.nesting.self_ns)

    @property
    def total_ns(self) -> float:
        """What every share is of: all work of one execution, without loading; NaN if unknown.

        Of a run that ExecuTorch recorded the mean of ``Method::execute``; else the sum of what all
        slices took, each stretch of time once, and of nodes that have a time and no slice.
        """
        account = self.account
        if not self.num_nodes and self.shared is None and not self.executions:
            return float("nan")
        return account.whole_ns if account.operators.any() else float("nan")

    @property
    def span_ns(self) -> float:
        """From the first start to the last end, gaps included; 0 without slices."""
        if not self.num_slices:
            return 0.0
        ends = self.slice_start_ns + self.slice_duration_ns
        return float(ends.max() - self.slice_start_ns.min())

    @cached_property
    def _slices_by_node(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        order = np.lexsort((self.slice_occurrence, self.slice_node)).astype(np.int64)
        offsets = np.searchsorted(self.slice_node[order], np.arange(self.num_nodes + 1))
        return order, offsets.astype(np.int64)

    def slice(self, index: int) -> Slice:
        """One slice by its position; IndexError beyond the ends."""
        if not -self.num_slices <= index < self.num_slices:
            raise IndexError(
                f"slice {index} of a timeline with {counted(self.num_slices, 'slice')}"
            )
        index %= self.num_slices
        return Slice(
            index,
            self.slice_names[index],
            int(self.slice_node[index]),
            int(self.slice_occurrence[index]),
            float(self.slice_start_ns[index]),
            float(self.slice_duration_ns[index]),
            self.tracks[int(self.slice_track[index])],
            Trust(int(self.slice_trust[index])),
            self.rounding_ns,
        )

    def nodes_of(self, index: int) -> tuple[int, ...]:
        """Nodes of a slice: one, several that share it, or none."""
        node = self.slice(index).node
        together = -1 if self.shared is None else int(self.shared.slice_set[index])
        if self.shared is not None and together >= 0:
            return self.shared.of(together)
        return (node,) if node >= 0 else ()

    def slices_of(self, node: int) -> npt.NDArray[np.int64]:
        """Positions of the slices of a node alone, by occurrence (int64)."""
        self._check_node(node)
        order, offsets = self._slices_by_node
        return order[offsets[node] : offsets[node + 1]]

    def between(self, start_ns: float, end_ns: float) -> list[Slice]:
        """Slices that a range of time touches, in nanoseconds, in the order of the source."""
        starts, ends = self.slice_start_ns, self.slice_start_ns + self.slice_duration_ns
        inside = (starts < end_ns) & (ends > start_ns)
        inside |= (starts == ends) & (starts >= start_ns) & (starts <= end_ns)
        return [self.slice(int(index)) for index in np.flatnonzero(inside)]

    def gaps(
        self,
        track: int | str | None = None,
        at_least_ns: float = 0.0,
        within: tuple[float, float] | None = None,
    ) -> Gaps:
        """Stretches in which nothing runs on a track, from its run's first start to its last end.

        None where the timeline is synthetic: slices back to back have no gaps.

        ::

            run.timeline.gaps(at_least_ns=1e6).longest(5)

        Parameters
        ----------
        track : int or str, optional
            Number or name of a track; all where left out.
        at_least_ns : float
            Shorter ones are left out; so are those below 0.01 ns, which rounding makes.
        within : tuple of float, optional
            Only what lies in this range (ns) of each gap.

        Raises
        ------
        IndexError, ValueError
            There is no such track, or ``within`` or ``at_least_ns`` is no time.
        """
        return gaps(self, self.rows, track, at_least_ns, within)

    def repeats(self, node: int) -> npt.NDArray[np.float64]:
        """Measured repeats of a node, nanoseconds in file order; empty where unknown."""
        self._check_node(node)
        return self.repeats_ns[self.repeats_offsets[node] : self.repeats_offsets[node + 1]]

    def node(self, node: int) -> NodeTimes:
        """Statistics of one node's repeats; IndexError for an id outside the graph."""
        self._check_node(node)
        return self.statistics()[node]

    @cached_property
    def _statistics(self) -> NodeStatistics:
        return node_statistics(
            self.repeats_offsets, self.repeats_ns, self.node_ns, self.rounding_ns
        )

    @property
    def measured(self) -> TimeMeaning:
        """The meaning of a node's time: a mean of repeats, one call, or a sum over calls."""
        if self.issues.by_rule("rows-merged") or self.issues.by_rule("report-sums"):
            return TimeMeaning.SUM
        return TimeMeaning.CALL if self.issues.by_rule("report-one-pass") else TimeMeaning.MEAN

    @cached_property
    def rows(self) -> TimelineRows:
        """The rows that the slices are drawn in; computed once."""
        return rows(self)

    @cached_property
    def flows(self) -> Flows:
        """Arrows between slices from a trace's flow events; joined once."""
        return flows(self, self.rows, self.nesting)

    @cached_property
    def slice_labels(self) -> dict[str, str]:
        """The drawn text of each distinct slice name."""
        names = self.slice_names.unique
        return dict(zip(names, slice_labels(names), strict=True))

    @cached_property
    def exact(self) -> bool:
        """Whether all starts and durations are exact integers of nanoseconds."""
        columns = (self.slice_start_ns, self.slice_duration_ns)
        return all(bool(((ns == np.rint(ns)) & (np.abs(ns) <= _EXACT_TO)).all()) for ns in columns)

    @cached_property
    def nesting(self) -> Nesting:
        """The nesting and the self times of the slices; computed once."""
        return nesting(self, self.rows)

    def statistics(self) -> NodeStatistics:
        """Statistics of the repeats of every node, as columns; computed once."""
        return self._statistics

    @cached_property
    def warm_up(self) -> WarmUp:
        """How many of the first repeats are warm-up, and why; they stay in the statistics."""
        return warm_up(self.repeats_offsets, self.repeats_ns)

    @cached_property
    def _steady(self) -> NodeStatistics:
        return node_statistics(
            *without_first(self.repeats_offsets, self.repeats_ns, self.warm_up.cut),
            self.node_ns,
            self.rounding_ns,
        )

    def steady(self) -> NodeStatistics:
        """Statistics of the repeats without those that :attr:`warm_up` cuts; computed once."""
        return self._steady if self.warm_up else self._statistics

    def top(self, k: int | None = 10) -> Ranking:
        """The k longest nodes, or calls of several, with their share of :attr:`total_ns`.

        Names of slices are ranked if neither is known.
        """
        return rank(self.account, self, k)

    def _check_node(self, node: int) -> None:
        if not 0 <= node < self.num_nodes:
            raise IndexError(f"no node {node}; ids are 0 to {self.num_nodes - 1}")

    def to_dataframe(self) -> Any:
        """One row per slice (``pandas.DataFrame``); ImportError without pandas."""
        return data_frame(
            {
                "name": list(self.slice_names),
                "node": self.slice_node,
                "occurrence": self.slice_occurrence,
                "start_ns": self.slice_start_ns,
                "duration_ns": self.slice_duration_ns,
                "track": [self.tracks[i] for i in self.slice_track.tolist()],
                "trust": [Trust(i).label for i in self.slice_trust.tolist()],
            }
        )

    def __repr__(self) -> str:
        laid = _LAID[self.measured]
        tracks, slices = counted(len(self.tracks), "track"), counted(self.num_slices, "slice")
        how = f"synthetic ({laid} back to back)" if self.synthetic else f"{self.clock} clock"
        if any(self.nesting.nested):
            how += ", slices nested"
        issues = f"; {self.issues.summary()}" if len(self.issues) else ""
        total = self.total_ns
        took = f"{duration_text(total)} summed over {laid}"
        if self.whole:
            took = f"{duration_text(total)} in {self.whole}"
            if self.executions > 1:
                took += f", the mean of {counted(self.executions, 'execution')}"
        if np.isnan(total) and self.num_slices:
            took = f"{duration_text(self.span_ns)} from first to last"
        return f"Timeline: {slices} on {tracks}, {took}; {how}; {self._repeats_text()}{issues}"

    def _repeats_text(self) -> str:
        if self.measured is TimeMeaning.CALL:
            return "each call once"
        if self.measured is TimeMeaning.SUM:
            return "each a sum over calls"
        counts = np.diff(self.repeats_offsets)
        counts = counts[counts > 0]
        if not len(counts):
            return "no repeats"
        low, high = int(counts.min()), int(counts.max())
        number = str(low) if low == high else f"{low} to {high}"
        return f"{number} {agree(high, 'repeat', 'repeats')} per operator"


@dataclass(frozen=True, eq=False)
class Ranking:
    """Nodes, and calls of several nodes, by time, longest first."""

    nodes: npt.NDArray[np.int64]
    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    ns: npt.NDArray[np.float64]
    share: npt.NDArray[np.float64]
    rounding_ns: float = 0.0

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        lines = [f"Ranking: {len(self)} by time"]
        for node, name, ns, share in zip(
            self.nodes[:10], self.names, self.ns, self.share, strict=False
        ):
            called = f"node {node}" if node >= 0 else one_line(name)
            lines.append(f"  {called}: {time_share(float(ns), float(share), self.rounding_ns)}")
        if len(self) > 10:
            lines.append(f"  … {len(self) - 10} more")
        return "\n".join(lines)


def rank(account: Account, timeline: TimelineColumns, k: int | None = None) -> Ranking:
    """Rank the rows of an account; keep the k longest, all by default."""
    if k is not None and k < 0:
        raise ValueError(f"k must not be negative, found {k}")
    sets = timeline.shared
    rows = account.ranked[:k]
    names, members = [], []
    for row in rows.tolist():
        node, call, name = (
            int(column[row]) for column in (account.node, account.call, account.name)
        )
        first = int(account.first[row])
        if sets is not None and call >= 0:
            names.append(sets.names[call])
            members.append(sets.of(call))
        else:
            code = int(timeline.slice_names.codes[first]) if name < 0 <= first else name
            names.append(timeline.slice_names.unique[code] if code >= 0 else f"node {node}")
            members.append((node,) if node >= 0 else ())
    return Ranking(
        account.node[rows],
        tuple(names),
        tuple(members),
        account.ns[rows],
        account.share[rows],
        timeline.rounding_ns,
    )


@dataclass(frozen=True, slots=True)
class Slice:
    """One timed interval. Times in nanoseconds; ``node`` is -1 where it is unknown."""

    index: int
    name: str
    node: int
    occurrence: int
    start_ns: float
    duration_ns: float
    track: str
    trust: Trust
    rounding_ns: float = 0.0

    @property
    def end_ns(self) -> float:
        """``start_ns + duration_ns``."""
        return self.start_ns + self.duration_ns

    def __repr__(self) -> str:
        node = "no node" if self.node < 0 else f"node {self.node} ({self.trust.label})"
        took = duration_text(self.duration_ns, self.rounding_ns)
        return (
            f"Slice {self.index}: {self.name!r}, {took} from {duration_text(self.start_ns)} "
            f"on {self.track}; {node}"
        )


_WORD_END = re.compile(r".*[_./:]", re.DOTALL)
#: Shorter common prefixes are kept.
_LEAST_PREFIX = 6


def slice_labels(names: Sequence[str]) -> list[str]:
    """Return the drawn texts of distinct names."""
    split = list(map(parts, names))
    functions = [bool(name) and ops != (name,) for name, ops in zip(names, split, strict=True)]
    short = [
        label_of(ops) if isa else name
        for name, isa, ops in zip(names, functions, split, strict=True)
    ]
    often = Counter(short)
    for i, name in enumerate(names):
        if functions[i] and often[short[i]] > 1:
            short[i] += number_at_end(name)
    if not any(functions):
        cut = _shared(names)
        short = [name[cut:] for name in names]
    often = Counter(short)
    return [s if often[s] == 1 else name for s, name in zip(short, names, strict=True)]


def _shared(names: Sequence[str]) -> int:
    """Return the length of the common prefix of all names, up to the end of a word."""
    if len(names) < 2:
        return 0
    first, last = min(names), max(names)
    common = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    words = _WORD_END.match("".join(letter for letter, _ in common))
    cut = words.end() if words else 0
    return cut if cut >= _LEAST_PREFIX and len(min(names, key=len)) > cut else 0
