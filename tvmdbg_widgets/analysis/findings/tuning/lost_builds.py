"""Builds that timed out: counts, the likely cause, and thresholds of rules.

One log has one cause here, so that no two rules explain the same timeouts. Causes are tried from
the most particular sign to the least.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import percent
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.trials import Trials

Bools = npt.NDArray[np.bool_]

TIMEOUTS = {"ansor": 15.0, "autotvm": 10.0}  # seconds: default ``timeout`` of ``LocalBuilder``


#: Likely causes of build timeouts.
Cause = enum.Enum("Cause", "NONE DEAD_WORKERS BURST UNROLL SLOW_TASK STARVATION UNCLEAR")


class LostBuilds:
    """Builds that timed out, by task, round and unroll setting."""

    def __init__(self, trials: Trials, rounds: npt.NDArray[np.int32], tuner: str) -> None:
        self.trials = trials
        self.rounds = rounds
        self.lost: Bools = np.asarray(trials.error == MeasureError.BUILD_TIMEOUT)
        known = trials.all_cost[self.lost & ~np.isnan(trials.all_cost)]
        costs, counts = np.unique(known, return_counts=True)
        default = TIMEOUTS.get(tuner, np.nan)
        self.timeout = float(costs[np.argmax(counts)]) if len(costs) else default
        # Ansor logs a build whose process died so; AutoTVM logs RuntimeDeviceError.
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
        """Tasks with enough trials for a share (bool [T])."""
        return np.asarray(self.by_task.trials >= FEW)

    @cached_property
    def high(self) -> Bools:
        """Judged tasks that lose a tenth or more (bool [T])."""
        return np.asarray(self.judged & (self.by_task.share >= HIGH))

    @cached_property
    def bad_rounds(self) -> Bools:
        """Rounds that lost a quarter or more (bool [R])."""
        enough = self.by_round.trials >= HALF_ROUND
        return np.asarray(enough & (self.by_round.share >= BAD_ROUND))

    @cached_property
    def concerned(self) -> Bools:
        """Trials of the tasks with high losses, or all if there are none (bool [N])."""
        if not self.high.any():
            return np.ones(len(self.trials), bool)
        return np.isin(self.trials.task, self.by_task.keys[self.high])

    def low_unroll(self, rows: Bools) -> tuple[int, int]:
        """Return lost and total trials with little or no unrolling."""
        unroll = self.trials.unroll
        chosen = rows & (unroll >= 0) & (unroll <= LOW_UNROLL)
        return int(np.count_nonzero(self.lost & chosen)), int(np.count_nonzero(chosen))

    def high_unroll(self, rows: Bools) -> tuple[int, int]:
        """Return lost and total trials with much unrolling."""
        chosen = rows & (self.trials.unroll >= HIGH_UNROLL)
        return int(np.count_nonzero(self.lost & chosen)), int(np.count_nonzero(chosen))

    @cached_property
    def cause(self) -> Cause:
        """The most likely cause of the timeouts."""
        dead = int(np.count_nonzero(self.dead))
        if dead >= DEAD and dead >= DEAD_SHARE * (dead + self.count):
            return Cause.DEAD_WORKERS
        if self._in_a_burst:
            return Cause.BURST
        if self._of_unrolling:
            return Cause.UNROLL
        if self._of_few_tasks:
            return Cause.SLOW_TASK
        if self._everywhere:
            return Cause.STARVATION
        much = self.share >= NORMAL and len(self.trials) >= FEW
        return Cause.UNCLEAR if much else Cause.NONE

    @property
    def _in_a_burst(self) -> bool:
        bad = self.bad_rounds
        if len(bad) < MIN_ROUNDS or not 0 < bad.mean() <= BURST:
            return False
        if share_of(self.by_round.within(~bad)) >= NORMAL:
            return False
        if not self._fine_before:
            return False
        low = self.low_unroll(bad[self.rounds])
        return low[1] < HALF_ROUND or share_of(low) >= HIGH

    @property
    def _fine_before(self) -> bool:
        starts = np.flatnonzero(np.diff(self.rounds, prepend=-1))
        task = self.trials.task[starts]
        judged = self.by_round.trials >= HALF_ROUND
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
            min(high[1], low[1]) >= FEW
            and share_of(high) >= HIGH
            and share_of(low) < OTHERS
            and high[0] >= UNROLLED * all_lost
        )

    @property
    def _of_few_tasks(self) -> bool:
        judged, high = int(self.judged.sum()), int(self.high.sum())
        others = self.by_task.share[self.judged & ~self.high]
        few = high == 1 or high < judged / 2
        return 0 < high < judged and few and bool((others < OTHERS).all())

    @property
    def _everywhere(self) -> bool:
        judged, high = int(self.judged.sum()), int(self.high.sum())
        if self.share < HIGH or high < max(2, judged / 2):
            return False
        low = self.low_unroll(np.ones(len(self.trials), bool))
        return low[1] < FEW or share_of(low) >= HIGH


@dataclass(frozen=True, eq=False)
class Shares:
    """Lost trials of G groups."""

    keys: npt.NDArray[np.int64]
    lost: npt.NDArray[np.int64]
    trials: npt.NDArray[np.int64]

    @classmethod
    def of(cls, lost: npt.NDArray[np.bool_], groups: npt.NDArray[np.signedinteger[Any]]) -> Shares:
        """Count by group: both are columns of the same rows."""
        keys, of_row = np.unique(groups, return_inverse=True)
        return cls(
            keys.astype(np.int64),
            np.bincount(of_row[lost], minlength=len(keys)),
            np.bincount(of_row, minlength=len(keys)),
        )

    @property
    def share(self) -> npt.NDArray[np.float64]:
        """Lost over total (float64 [G])."""
        return np.asarray(self.lost / self.trials)

    def within(self, chosen: npt.NDArray[np.bool_]) -> tuple[int, int]:
        """Return lost and total trials of some groups together."""
        return int(self.lost[chosen].sum()), int(self.trials[chosen].sum())

    def words(self, names: Iterable[str]) -> list[str]:
        """Return ``"36 of 1,088 (3.31 %) in task 0"`` per group."""
        return [
            f"{lost:,} of {trials:,} ({percent(lost / trials)}) {name}"
            for lost, trials, name in zip(
                self.lost.tolist(), self.trials.tolist(), names, strict=True
            )
        ]


def share_of(counts: tuple[int, int]) -> float:
    """Return lost over total; 0 for no trials."""
    lost, trials = counts
    return lost / trials if trials else 0.0


# Build timeouts.

NORMAL: Final = 0.03
"""Below this share timeouts are the few programs that any search finds too long to compile."""

HIGH: Final = 0.10
"""From this share on the search misses what it needs: every tenth program it chose is unknown."""

OTHERS: Final = 0.05
"""Where one task, or large unrolling, is said to be the reason, all else stays below this."""

FEW: Final = 24
"""Trials a share is taken of at least: of 24 with 3 % timeouts, 3 or more (over 10 %) are lost by
chance once in 29 times."""

LOW_UNROLL: Final = 16
HIGH_UNROLL: Final = 512
"""``auto_unroll_max_step`` is one of 0, 16, 64, 512 on CPUs, and 1024 on GPUs: up to 16 hardly
lengthens a program, from 512 on a loop body may be repeated hundreds of times. 64 is neither."""

UNROLLED: Final = 0.80
"""Unrolling is the reason where at least this share of the timeouts is at 512 or more."""

BAD_ROUND: Final = 0.25
"""A round that lost this share, 16 of 64, is far above what a search loses by itself."""

BURST: Final = 0.25
"""At most this share of the rounds may be bad for a burst; more is how the tuning went."""

MIN_ROUNDS: Final = 8
"""Fewer rounds have no usual one to compare a bad one with."""

HALF_ROUND: Final = 16
"""Trials a round needs to be judged: cut ones and those of small search spaces say too little."""

DEAD: Final = 3
DEAD_SHARE: Final = 0.10
"""Build workers that died: at least 3, and a tenth of all builds that gave no program. Single ones
happen, and many timeouts beside them need another remedy first."""

# All errors.

FREQUENT: Final = 0.10
"""From this share on any other error is worth a look."""

RUN_TIMEOUTS: Final = 0.05
"""Each costs the whole run timeout: at 5 % and 10 s that is half a second a trial."""

# Other.

NOISY: Final = 0.10
"""Median of (highest - lowest) / mean over the repeats of a trial: differences between good
schedules are smaller than a tenth."""

REPEATS: Final = 3
"""Repeats from which on their spread is looked at."""

DISTILLED: Final = 1.25
"""Records a task, at most, and none failed: chosen records, not the course of a tuning."""
