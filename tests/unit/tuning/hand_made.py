"""Trials made by hand: columns without a file."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.tuning.parts import Target, Task, TuningParts, Workload
from tvmdbg_widgets.model.tuning.trials import Trials


class Row(NamedTuple):
    """One trial; a cost of None is a failure."""

    task: int = 0
    cost: float | tuple[float, ...] | None = 1e-3
    error: int = 0
    all_cost: float = 2.0
    unroll: int = -1
    timestamp: float | None = None
    schedule: int | None = None
    source: int = 0


def failed(task: int = 0, error: int = 6, all_cost: float = 15.0, **more: Any) -> Row:
    return Row(task, None, error, all_cost, **more)


def trials_of(rows: Sequence[Row]) -> Trials:
    """Rows as columns; one second between trials where no timestamps are given."""
    costs = [
        () if row.cost is None else row.cost if isinstance(row.cost, tuple) else (row.cost,)
        for row in rows
    ]
    count = len(rows)
    stamps = [
        1_600_000_000.0 + place if row.timestamp is None else row.timestamp
        for place, row in enumerate(rows)
    ]
    return Trials(
        task=np.array([row.task for row in rows], np.int32),
        cost=np.array([np.mean(each) if each else np.nan for each in costs], np.float64),
        run_costs=np.array([cost for each in costs for cost in each], np.float64),
        run_offsets=np.cumsum([0, *map(len, costs)]).astype(np.int64),
        error=np.array([row.error for row in rows], np.int8),
        all_cost=np.array([row.all_cost for row in rows], np.float64),
        timestamp=np.array(stamps, np.float64),
        version=StringColumn(["v0.6"], np.zeros(count, np.int32)),
        unroll=np.array([row.unroll for row in rows], np.int32),
        schedule=np.array(
            [place if row.schedule is None else row.schedule for place, row in enumerate(rows)],
            np.int64,
        ),
        source=np.array([row.source for row in rows], np.int16),
        offset=np.arange(count, dtype=np.int64),
        length=np.ones(count, np.int32),
        line=np.arange(1, count + 1, dtype=np.int32),
    )


def parts_of(
    rows: Sequence[Row], *, tuner: str = "ansor", target: str = "llvm -keys=cpu", **more: Any
) -> TuningParts:
    trials = trials_of(rows)
    tasks = tuple(
        Task(index, tuner, Workload(f'["work", {index}]', "work", (index,)), Target.parse(target))  # type: ignore[arg-type]
        for index in range(1 + max((row.task for row in rows), default=-1))
    )
    return TuningParts("hand made", tuner, tasks, trials, **more)
