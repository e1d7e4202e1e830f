"""Builds that timed out: where they are, and which cause that speaks for.

One log has one cause here, so that no two rules explain the same timeouts. The order in which
causes are looked for goes from the most particular sign to the least.
"""

from __future__ import annotations

import enum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.tuning import thresholds
from tvmdbg_widgets.analysis.findings.tuning.shares import Shares, share_of
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.trials import Trials

Bools = npt.NDArray[np.bool_]

#: Seconds: ``LocalBuilder(timeout=…)`` where nothing else is said.
TIMEOUTS = {"ansor": 15.0, "autotvm": 10.0}


class Cause(enum.Enum):
    """What timeouts of builds point to."""

    NONE = enum.auto()
    DEAD_WORKERS = enum.auto()
    BURST = enum.auto()
    UNROLL = enum.auto()
    SLOW_TASK = enum.auto()
    STARVATION = enum.auto()
    UNCLEAR = enum.auto()


class LostBuilds:
    """Builds that timed out, by task, round and unroll setting."""

    def __init__(self, trials: Trials, rounds: npt.NDArray[np.int32], tuner: str) -> None:
        self.trials = trials
        self.rounds = rounds
        self.lost: Bools = np.asarray(trials.error == MeasureError.BUILD_TIMEOUT)
        self.timeout = _most_common(trials.all_cost[self.lost], TIMEOUTS.get(tuner, np.nan))
        # Ansor writes a build whose process died so; AutoTVM writes RuntimeDeviceError.
        self.dead: Bools = np.asarray(
            (trials.error == MeasureError.COMPILE_HOST) & (trials.all_cost == self.timeout)
        ) & (tuner != "autotvm")
        self.count = int(np.count_nonzero(self.lost))
        self.share = share_of((self.count, len(trials)))
        self.by_task = Shares.of(self.lost, trials.task)
        self.by_unroll = Shares.of(self.lost, trials.unroll)
        self.by_round = Shares.of(self.lost, rounds)

    @cached_property
    def judged(self) -> Bools:
        """Which tasks have trials enough for a share (bool [T])."""
        return np.asarray(self.by_task.trials >= thresholds.FEW)

    @cached_property
    def high(self) -> Bools:
        """Which of these lose a tenth or more (bool [T])."""
        return np.asarray(self.judged & (self.by_task.share >= thresholds.HIGH))

    @cached_property
    def bad_rounds(self) -> Bools:
        """Which rounds lost a quarter or more (bool [R])."""
        enough = self.by_round.trials >= thresholds.HALF_ROUND
        return np.asarray(enough & (self.by_round.share >= thresholds.BAD_ROUND))

    @cached_property
    def concerned(self) -> Bools:
        """Trials of the tasks that lose much, or all trials where no task does (bool [N])."""
        if not self.high.any():
            return np.ones(len(self.trials), bool)
        return np.isin(self.trials.task, self.by_task.keys[self.high])

    def low_unroll(self, rows: Bools) -> tuple[int, int]:
        """Return lost and all of some trials with little or no unrolling."""
        unroll = self.trials.unroll
        chosen = rows & (unroll >= 0) & (unroll <= thresholds.LOW_UNROLL)
        return int(np.count_nonzero(self.lost & chosen)), int(np.count_nonzero(chosen))

    def high_unroll(self, rows: Bools) -> tuple[int, int]:
        """Return lost and all of some trials with much unrolling."""
        chosen = rows & (self.trials.unroll >= thresholds.HIGH_UNROLL)
        return int(np.count_nonzero(self.lost & chosen)), int(np.count_nonzero(chosen))

    @cached_property
    def cause(self) -> Cause:
        """What the timeouts point to."""
        if self._workers_died:
            return Cause.DEAD_WORKERS
        if self._in_a_burst:
            return Cause.BURST
        if self._of_unrolling:
            return Cause.UNROLL
        if self._of_few_tasks:
            return Cause.SLOW_TASK
        if self._everywhere:
            return Cause.STARVATION
        much = self.share >= thresholds.NORMAL and len(self.trials) >= thresholds.FEW
        return Cause.UNCLEAR if much else Cause.NONE

    @property
    def _workers_died(self) -> bool:
        dead = int(np.count_nonzero(self.dead))
        return dead >= thresholds.DEAD and dead >= thresholds.DEAD_SHARE * (dead + self.count)

    @property
    def _in_a_burst(self) -> bool:
        """A few bad rounds, sound ones around them, of a task that had been fine before."""
        bad = self.bad_rounds
        if len(bad) < thresholds.MIN_ROUNDS or not 0 < bad.mean() <= thresholds.BURST:
            return False
        if share_of(self.by_round.within(~bad)) >= thresholds.NORMAL:
            return False
        if not self._fine_before:
            return False
        low = self.low_unroll(bad[self.rounds])
        return low[1] < thresholds.HALF_ROUND or share_of(low) >= thresholds.HIGH

    @property
    def _fine_before(self) -> bool:
        """Whether a bad round follows a better one of its task.

        The first round of a task is random: bad first rounds show what the search learned to
        leave out, not that anything else changed.
        """
        starts = np.flatnonzero(np.diff(self.rounds, prepend=-1))
        task = self.trials.task[starts]
        judged = self.by_round.trials >= thresholds.HALF_ROUND
        fine: set[int] = set()
        for of_task, bad, counts in zip(task.tolist(), self.bad_rounds, judged, strict=True):
            if bad and of_task in fine:
                return True
            if counts and not bad:
                fine.add(of_task)
        return False

    @property
    def _of_unrolling(self) -> bool:
        high, low = self.high_unroll(self.concerned), self.low_unroll(self.concerned)
        all_lost = int(np.count_nonzero(self.lost & self.concerned))
        return (
            min(high[1], low[1]) >= thresholds.FEW
            and share_of(high) >= thresholds.HIGH
            and share_of(low) < thresholds.OTHERS
            and high[0] >= thresholds.UNROLLED * all_lost
        )

    @property
    def _of_few_tasks(self) -> bool:
        judged, high = int(self.judged.sum()), int(self.high.sum())
        others = self.by_task.share[self.judged & ~self.high]
        few = high == 1 or high < judged / 2
        return 0 < high < judged and few and bool((others < thresholds.OTHERS).all())

    @property
    def _everywhere(self) -> bool:
        judged, high = int(self.judged.sum()), int(self.high.sum())
        if self.share < thresholds.HIGH or high < max(2, judged / 2):
            return False
        low = self.low_unroll(np.ones(len(self.trials), bool))
        return low[1] < thresholds.FEW or share_of(low) >= thresholds.HIGH


def _most_common(values: npt.NDArray[np.float64], otherwise: float) -> float:
    found, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return float(found[np.argmax(counts)]) if len(found) else otherwise
