"""Some records as a log of their own, and weights of its tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.tuning.parts import TuningParts


def subset(parts: TuningParts, rows: npt.ArrayLike, title: str) -> TuningParts:
    """Return some records in the order given, with the tasks they are of.

    Tasks are numbered by first appearance, as if a log of these records were read. What was
    found beside the records, and the count of refused lines, stays.
    """
    at = np.asarray(rows, np.intp)
    trials = parts.trials.take(at)
    found, first = np.unique(trials.task, return_index=True)
    order = found[np.argsort(first)]
    number = np.zeros(len(parts.tasks), np.int32)
    number[order] = np.arange(len(order))
    tasks = tuple(replace(parts.tasks[old], index=new) for new, old in enumerate(order.tolist()))
    place = np.full(len(parts.trials), -1)
    place[at] = np.arange(len(at))
    return replace(
        parts,
        title=title,
        tasks=tasks,
        trials=replace(trials, task=number[trials.task]),
        messages=tuple(
            replace(message, row=int(place[message.row]))
            for message in parts.messages
            if message.row >= 0 and place[message.row] >= 0
        ),
    )
