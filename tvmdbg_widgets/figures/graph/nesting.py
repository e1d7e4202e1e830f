"""Which groups of a graph are open in a figure, and the words of groups, as in the live view."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.graph.groups import GroupSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tvmdbg_widgets.figures.graph.options import GraphOptions
    from tvmdbg_widgets.figures.graph.times import Times
    from tvmdbg_widgets.model.graph.groups import Groups


@dataclass(frozen=True)
class Nesting:
    """Groups, and which of them are open.

    Attributes
    ----------
    groups : Groups
    is_open : bool [G]
    """

    groups: Groups
    is_open: npt.NDArray[np.bool_]

    @cached_property
    def closed_by(self) -> npt.NDArray[np.int64]:
        """Of each group the outermost closed one of it and those around it, -1 (int64 [G])."""
        by: list[int] = []
        for group, around in enumerate(self.groups.parent.tolist()):
            outer = by[around] if around >= 0 else -1
            by.append(outer if outer >= 0 else -1 if self.is_open[group] else group)
        return np.array(by, np.int64)

    @cached_property
    def depth(self) -> npt.NDArray[np.int64]:
        """How many groups are around each (int64 [G])."""
        depth: list[int] = []
        for around in self.groups.parent.tolist():
            depth.append(depth[around] + 1 if around >= 0 else 0)
        return np.array(depth, np.int64)

    def held(self, nodes: Sequence[int]) -> list[int]:
        """Return how many of some nodes each group holds."""
        around = self.groups.node_group[list(nodes)]
        held: list[int] = np.bincount(around[around >= 0], minlength=len(self.groups)).tolist()
        for group in range(len(self.groups) - 1, -1, -1):
            if self.groups.parent[group] >= 0:
                held[self.groups.parent[group]] += held[group]
        return held

    def boxes(self, nodes: Sequence[int]) -> int:
        """Return how many boxes some nodes take."""
        around = self.groups.node_group[list(nodes)]
        closed = np.append(self.closed_by, -1)[around]
        return int((closed < 0).sum()) + len(np.unique(closed[closed >= 0]))


def nestings(groups: Groups, options: GraphOptions) -> Iterator[Nesting]:
    """Return what is tried: the groups that are to be open, then with ever fewer depths of them.

    Where nobody has chosen all of them are, since nobody can open one in a figure.

    Raises
    ------
    ValueError
        The graph has no such group as is to be open.
    """
    count = len(groups)
    wrong = [each for each in options.open_groups or () if not 0 <= each < count]
    if wrong:
        raise ValueError(f"no group {wrong[0]}: open_groups takes ids below {count}")
    if not options.grouped or count == 0:
        return
    is_open = np.ones(count, np.bool_)
    if options.open_groups is not None:
        is_open[:] = False
        is_open[list(options.open_groups)] = True
    whole = Nesting(groups, is_open)
    yield whole
    seen = whole.closed_by >= 0
    for depth in range(int(whole.depth.max()), -1, -1):
        fewer = Nesting(groups, is_open & (whole.depth < depth))
        if ((fewer.closed_by >= 0) != seen).any():
            seen = fewer.closed_by >= 0
            yield fewer


class GroupWords:
    """What is written on closed groups and in the headers of open ones, and their colors."""

    def __init__(self, groups: Groups, times: Times) -> None:
        self._groups, self._total = groups, times.total
        known = np.where(times.ns > 0, times.ns, 0.0)[groups.order]
        self._sums = np.concatenate([[0.0], np.cumsum(known)])
        shared = times.shared
        self._together = np.zeros(len(groups)) if shared is None else shared.within_groups(groups)

    @property
    def kinds(self) -> tuple[int, ...]:
        """By group, which have blocks of one structure."""
        return self._groups.kinds

    def tag(self, group: int) -> str:
        """Return the letters that go with the color of its kind."""
        return self._groups.tag(group)

    def is_run(self, group: int) -> bool:
        """Whether it is a run of blocks, drawn as a stack of sheets."""
        return bool(self._groups.source[group] == GroupSource.REPEAT)

    def ns(self, group: int) -> float:
        """Sum of the known times of its nodes, alone and together."""
        start, end = int(self._groups.start[group]), int(self._groups.end[group])
        return float(self._sums[end] - self._sums[start] + self._together[group])

    def title(self, group: int) -> str:
        """``"residual block × 16"``."""
        return self._groups[group].title

    def time(self, group: int) -> str:
        """Sum of the known times and its share of all; empty where none is known."""
        ns = self.ns(group)
        return f"{duration_text(ns)} · {percent(ns / self._total)}" if ns > 0 else ""

    def header(self, group: int) -> str:
        """What stands in the header of its frame."""
        return " · ".join(filter(None, (self.title(group), self.time(group))))

    def shape(self, group: int, nodes: int, outside: int) -> str:
        """Second line of its box: how many nodes, outputs outside of it apart, and their time."""
        time = self.time(group).split(" · ")[0]
        return " · ".join(filter(None, (_size(nodes, outside), time)))

    def timed(self, group: int, nodes: int, outside: int) -> str:
        """Second line of its box where colors show times."""
        return self.time(group) or f"time unknown · {_size(nodes, outside)}"


def _size(nodes: int, outside: int) -> str:
    outputs = f" + {counted(outside, 'output')}" if outside else ""
    return counted(nodes, "node") + outputs
