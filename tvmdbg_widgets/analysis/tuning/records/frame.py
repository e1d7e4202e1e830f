"""The trials as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.curves import best_so_far
from tvmdbg_widgets.analysis.tuning.records.columns import extremes, num_repeats
from tvmdbg_widgets.analysis.tuning.rounds import round_of
from tvmdbg_widgets.analysis.tuning.sessions import elapsed
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.model.tuning.parts import TuningParts


def trials_frame(parts: TuningParts, rows: npt.NDArray[np.intp] | None = None) -> Any:
    """Return one row per trial, in the order of the log (``pandas.DataFrame``)."""
    trials, tasks = parts.trials, parts.tasks
    lowest, highest = extremes(trials)
    errors = list(MeasureError)
    columns = {
        "task": trials.task,
        "name": _categories([task.name for task in tasks], trials.task),
        "target": _categories([task.target.text for task in tasks], trials.task),
        "tuner": _categories([task.tuner for task in tasks], trials.task),
        "trial": trials.number,
        "round": round_of(trials),
        "cost_s": trials.cost,
        "min_cost_s": lowest,
        "max_cost_s": highest,
        "repeats": num_repeats(trials),
        "best_s": best_so_far(trials),
        "error": trials.error,
        "error_name": _categories(
            [each.label for each in errors], np.searchsorted(errors, trials.error)
        ),
        "all_cost_s": trials.all_cost,
        "timestamp_s": trials.timestamp,
        "elapsed_s": elapsed(trials),
        "unroll": trials.unroll,
        "version": _categories(trials.version.unique, trials.version.codes),
        "file": _categories([source.name for source in parts.sources], trials.source),
        "line": trials.line,
    }
    frame = data_frame(columns)
    frame.index.name = "row"
    return frame if rows is None else frame.loc[rows]


def _categories(texts: Sequence[str], codes: npt.NDArray[Any]) -> Any:
    """Return a column of texts; equal ones are one category."""
    import pandas as pd

    unique = list(dict.fromkeys(texts))
    place = np.array([unique.index(text) for text in texts], np.int64)
    return pd.Categorical.from_codes(place[codes], categories=unique)
