"""How far the schedules of one task transfer from one machine to another."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tvmdbg_widgets.analysis.tuning.transfer.correlation import (
    LEAST_PAIRS,
    RankCorrelation,
    spearman,
)
from tvmdbg_widgets.analysis.tuning.transfer.pairs import SchedulePairs
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.task import Task

_MOST_TOP = 10


@dataclass(frozen=True, eq=False)
class TaskTransfer:
    """One workload on two machines."""

    old: Task
    new: Task
    pairs: SchedulePairs
    old_only: int
    new_only: int
    old_best: float
    new_best: float

    @cached_property
    def correlation(self) -> RankCorrelation:
        """Rank correlation of the costs of the schedules that are valid on both machines."""
        valid = self.pairs.valid
        return spearman(self.pairs.old_cost[valid], self.pairs.new_cost[valid])

    @cached_property
    def fastest(self) -> int | None:
        """Which pair was the fastest on the old machine; None where none of them was valid."""
        costs = self.pairs.old_cost
        return None if np.isnan(costs).all() else int(np.nanargmin(costs))

    @property
    def transferred(self) -> float:
        """Its cost on the new machine, seconds; NaN where it failed, or there is none."""
        return math.nan if self.fastest is None else float(self.pairs.new_cost[self.fastest])

    @property
    def regret(self) -> float:
        """How much slower that is there than the best of the new log, as a share.

        0 where it is the best there, infinite where it fails, NaN where nothing is known, as where
        the new log has no other schedule.
        """
        alone = len(self.pairs) + self.new_only < 2
        if alone or self.fastest is None or not self.new_best > 0:
            return math.nan
        return math.inf if math.isnan(self.transferred) else self.transferred / self.new_best - 1

    @property
    def ratio(self) -> float:
        """Median of new cost by old cost; NaN without a valid pair that took time on the old."""
        valid = self.pairs.valid & (self.pairs.old_cost > 0)
        ratios = self.pairs.new_cost[valid] / self.pairs.old_cost[valid]
        return float(np.median(ratios)) if len(ratios) else math.nan

    @property
    def top(self) -> tuple[int, int] | None:
        """How many of the k fastest on both machines are the same schedules, and k.

        k is 10, at most half of the valid pairs; None with fewer than 4 of these.
        """
        valid = np.flatnonzero(self.pairs.valid)
        if len(valid) < LEAST_PAIRS:
            return None
        k = min(_MOST_TOP, len(valid) // 2)
        sides = (self.pairs.old_cost[valid], self.pairs.new_cost[valid])
        one, other = (set(np.argsort(each, kind="stable")[:k].tolist()) for each in sides)
        return len(one & other), k

    @property
    def failing(self) -> Counter[MeasureError]:
        """Schedules that ran on the old machine and fail on the new one, by error."""
        lost = (self.pairs.old_error == 0) & (self.pairs.new_error != 0)
        return Counter(map(MeasureError, self.pairs.new_error[lost].tolist()))

    @property
    def rescued(self) -> int:
        """How many failed on the old machine and run on the new one."""
        return int(np.count_nonzero((self.pairs.old_error != 0) & (self.pairs.new_error == 0)))
