"""What the next round of a task may gain, as TVM's task scheduler estimates it.

``TaskScheduler.tune`` with the strategy ``"gradient"`` (python/tvm/auto_scheduler/
task_scheduler.py), alpha 0.2 and a backward window of 3 rounds:

* backward: how much the best cost fell in each of the last three rounds;
* forward: the cost after ``t`` rounds cannot fall by more than ``best / t`` in the next one;
* gradient: weight × (0.2 × backward + 0.8 × forward), the lowest is tuned next.

Its second bound, by the speed of similar tasks, needs a tag in the attributes of TVM's operators,
which no file has; without one TVM leaves the bound out too. Tasks whose search space is exhausted
get no more rounds there: a log does not tell which these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.curves import best_so_far, known_weights
from tvmdbg_widgets.analysis.tuning.rounds import round_of, round_starts
from tvmdbg_widgets.model.tuning.measure_errors import ANSOR_FAILED_COST
from tvmdbg_widgets.model.tuning.trials import Trials

_ALPHA = 0.2
_WINDOW = 3


@dataclass(frozen=True, eq=False)
class Gains:
    """The estimate for each of T tasks.

    Attributes
    ----------
    gradient : float64 [T]
        Seconds of the weighted total by the next round, 0 or negative. As in TVM the best cost
        is 1e10 s while a task has no valid measurement.
    gain : float64 [T]
        The same as a positive number; NaN where 1e10 s take part, which are no time.
    rounds : int64 [T]
        Rounds each task had.
    order : intp [T]
        The tasks as the scheduler would choose them; equal ones in their own order.
    """

    gradient: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    rounds: npt.NDArray[np.int64]
    order: npt.NDArray[np.intp]


def gains(trials: Trials, num_tasks: int, weights: Sequence[float] | None = None) -> Gains:
    """Estimate what each task has left to gain."""
    weight = known_weights(weights, num_tasks)
    starts = round_starts(round_of(trials))
    ends = np.append(starts[1:], len(trials)) - 1 if len(starts) else starts
    costs = np.nan_to_num(best_so_far(trials)[ends], nan=ANSOR_FAILED_COST)
    of_round = trials.task[ends]
    order = np.argsort(of_round, kind="stable")
    history = costs[order]
    count = np.bincount(of_round, minlength=num_tasks)
    last = np.cumsum(count) - 1
    gradient = np.zeros(num_tasks)
    slowed = np.zeros(num_tasks, bool)
    for task in np.flatnonzero(count):
        own = history[last[task] + 1 - count[task] : last[task] + 1]
        best, rounds = float(own[-1]), len(own)
        backward = (best - float(own[-1 - _WINDOW])) / _WINDOW if rounds > _WINDOW else 0.0
        forward = (best - best / rounds) - best
        gradient[task] = float(weight[task]) * (_ALPHA * backward + (1 - _ALPHA) * forward)
        looked_at = own[-1 - _WINDOW :: _WINDOW] if rounds > _WINDOW else own[-1:]
        slowed[task] = (looked_at == ANSOR_FAILED_COST).any()
    gain = np.where(slowed, np.nan, -gradient)
    return Gains(gradient, gain, count, np.argsort(gradient, kind="stable"))
