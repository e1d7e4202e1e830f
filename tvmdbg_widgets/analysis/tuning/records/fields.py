"""The fields of a trial: of each its values, its column of the data frame, and what asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query.vocabulary import TIMES, Units, Vocabulary
from tvmdbg_widgets.analysis.tuning.curves import best_so_far
from tvmdbg_widgets.analysis.tuning.records.columns import extremes, num_repeats, spread
from tvmdbg_widgets.analysis.tuning.rounds import round_of
from tvmdbg_widgets.analysis.tuning.sessions import elapsed
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.task import Task
from tvmdbg_widgets.model.tuning.trials import FIELDS as RECORDED

Values: TypeAlias = Callable[["TuningParts"], npt.NDArray[Any]]
#: A code a trial, and the texts of each code.
Texts: TypeAlias = Callable[["TuningParts"], tuple[npt.NDArray[Any], Sequence[tuple[str, ...]]]]

_RUN_TIME: Final = Units(TIMES, "ns, us, ms or s", needed=True)
_WALL_TIME: Final = Units(
    {**TIMES, "min": 60e9, "h": 3600e9}, "ns, us, ms, s, min or h", needed=True
)
_UNITS: Final = {"run time": _RUN_TIME, "wall time": _WALL_TIME}


@dataclass(frozen=True)
class TrialField:
    """A field: empty `name` where no query asks for it, empty `column` where no data frame has it.

    Values are seconds where `units` are those of a time; `unknown` stands for none.
    """

    name: str
    column: str
    text: str
    values: Values | None = None
    texts: Texts | None = None
    units: Units | None = None
    unknown: int | None = None

    def compared(self, parts: TuningParts) -> npt.NDArray[np.float64]:
        """Return the values, NaN where there is none."""
        values = np.asarray(self.values and self.values(parts))
        known = np.ones(len(values), bool) if self.unknown is None else values != self.unknown
        return np.where(known, values, np.nan)

    def in_its_unit(self, value: float) -> float:
        """Return a number of a query in the unit of the values: its times are nanoseconds."""
        return value / 1e9 if self.units in (_RUN_TIME, _WALL_TIME) else value

    def of_frame(self, parts: TuningParts) -> Any:
        """Return the column of a data frame; equal texts are one category."""
        if self.texts is None or self.values is not None:
            return self.values and self.values(parts)
        import pandas as pd

        codes, texts = self.texts(parts)
        place = {text: at for at, text in enumerate(dict.fromkeys(first for first, *_ in texts))}
        places = np.array([place[first] for first, *_ in texts], np.int64)
        return pd.Categorical.from_codes(places[codes], categories=list(place))


def _recorded(name: str) -> TrialField:
    field = RECORDED[name]
    column = f"{name}_{field.unit}" if field.unit else name
    units = _UNITS.get(field.query)
    return TrialField(
        name, column, field.text, lambda parts: np.asarray(getattr(parts.trials, name)), None, units
    )


def _of_task(texts: Callable[[Task], tuple[str, ...]]) -> Texts:
    return lambda parts: (parts.trials.task, list(map(texts, parts.tasks)))


def names(task: Task) -> tuple[str, ...]:
    """Return what a task is called."""
    return task.name, task.workload.name, task.workload_key


def _errors(parts: TuningParts) -> tuple[npt.NDArray[Any], list[tuple[str, ...]]]:
    codes = np.array(MeasureError)
    return codes.searchsorted(parts.trials.error), [
        (each.label, each.name) for each in MeasureError
    ]


#: In the order of the data frame.
TRIAL_FIELDS: Final = (
    TrialField(
        "task",
        "task",
        "index of the task, or part of its name, function or key",
        lambda parts: parts.trials.task,
        _of_task(names),
    ),
    TrialField("name", "name", "name of the task", texts=_of_task(names)),
    TrialField(
        "target", "target", "text of the target", texts=_of_task(lambda task: (task.target.text,))
    ),
    TrialField("kind", "", "its kind, `cuda`", texts=_of_task(lambda task: (task.target.kind,))),
    TrialField("model", "", "its `-model`", texts=_of_task(lambda task: (task.target.model,))),
    TrialField(
        "tuner",
        "tuner",
        "`ansor`, `autotvm` or `metaschedule`",
        texts=_of_task(lambda task: (task.tuner,)),
    ),
    TrialField("row", "", "number in the log, from 0", lambda parts: np.arange(len(parts.trials))),
    TrialField("trial", "trial", "number in its task, from 0", lambda parts: parts.trials.number),
    TrialField(
        "round", "round", "round of the task scheduler, from 0", lambda p: round_of(p.trials)
    ),
    _recorded("cost"),
    TrialField("", "min_cost_s", "lowest of the repeats", lambda p: extremes(p.trials)[0]),
    TrialField("", "max_cost_s", "highest of the repeats", lambda p: extremes(p.trials)[1]),
    TrialField(
        "repeats", "repeats", "how many times were measured", lambda p: num_repeats(p.trials)
    ),
    TrialField(
        "spread",
        "",
        "highest minus lowest of the repeats over their mean",
        lambda parts: spread(parts.trials),
        units=Units({"%": 0.01}, "%", needed=True),
    ),
    TrialField(
        "best",
        "best_s",
        "lowest cost of the task so far",
        lambda parts: best_so_far(parts.trials),
        units=_RUN_TIME,
    ),
    TrialField(
        "error",
        "error",
        "number, name as TVM prints it (`BuildTimeoutError`) or as Python has it (`BUILD_TIMEOUT`)",
        lambda parts: parts.trials.error,
        _errors,
    ),
    TrialField("", "error_name", "name as TVM prints it", texts=_errors),
    *(_recorded(each.name) for each in RECORDED.values() if each.query and each.name != "cost"),
    TrialField(
        "time",
        "elapsed_s",
        "tuning time since the first record, without the gaps of a resumed log",
        lambda parts: elapsed(parts.trials),
        units=_WALL_TIME,
    ),
    replace(_recorded("unroll"), unknown=-1),
    TrialField(
        "version",
        "version",
        RECORDED["version"].text,
        texts=lambda p: (p.trials.version.codes, [(each,) for each in p.trials.version.unique]),
    ),
    TrialField(
        "file",
        "file",
        "the file that has the record",
        texts=lambda parts: (parts.trials.source, [(each.name,) for each in parts.sources]),
    ),
    replace(_recorded("line"), name=""),
)
BY_NAME: Final = {each.name: each for each in TRIAL_FIELDS if each.name}

STATUSES: Final = ("valid", "failed", "best", "improved", "repeated", "duplicate")
"""What a trial can be, as ``is:best`` asks for it."""

TEXTS: Final = {name: each.texts for name, each in BY_NAME.items() if each.texts}
_TEXTS: Final = (*TEXTS, "is")
_NUMBERS: Final = tuple(name for name, each in BY_NAME.items() if each.values)
TRIALS: Final = Vocabulary(
    _TEXTS,
    _NUMBERS,
    tuple(dict.fromkeys(_TEXTS + _NUMBERS)),
    "error:6 task:3",
    {name: each.units for name, each in BY_NAME.items() if each.units},
)
"""Of the trials of a tuning: durations in nanoseconds, shares of 1."""


def trials_frame(parts: TuningParts, rows: npt.NDArray[np.intp] | None = None) -> Any:
    """Return one row per trial, in the order of the log (``pandas.DataFrame``)."""
    frame = data_frame({each.column: each.of_frame(parts) for each in TRIAL_FIELDS if each.column})
    frame.index.name = "row"
    return frame if rows is None else frame.loc[rows]
