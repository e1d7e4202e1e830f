"""A tuning log as a figure: the view's own code draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.engine.host import EngineMissingError
from tvmdbg_widgets.figures.choices import usable_width
from tvmdbg_widgets.figures.engine import draw, text_only
from tvmdbg_widgets.figures.theme import theme_of
from tvmdbg_widgets.figures.tuning.overview import overview
from tvmdbg_widgets.figures.tuning.schedule import schedule_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tvmdbg_widgets.analysis.tuning.derived.derived import DerivedLog
    from tvmdbg_widgets.figures.figure import Figure


def tuning_figure(
    log: DerivedLog, options: Mapping[str, Any], *, width: float = 720, theme: str = "light"
) -> Figure:
    """Draw costs over trials, the tasks, and the schedule that is looked at.

    Parameters
    ----------
    options : mapping
        Traits of :class:`~tvmdbg_widgets.TuningView` by name.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.

    Raises
    ------
    ValueError
        A width or theme that is none of these.
    """
    name = theme_of(theme).name
    room = usable_width(width)
    info, columns = overview(log)
    trial = shown_trial(log, options)
    schedule = None if trial is None else schedule_answer(log, trial)
    data = {"info": info, "schedule": schedule, "query": ""}
    try:
        if options.get("query"):
            found = log.select(options["query"])
            chosen = np.zeros(len(log), np.uint8)
            chosen[found.rows] = 1
            columns["chosen"] = chosen
            data["query"] = found.caption
        return draw("tuning", data, columns, options, width=room, theme=name)
    except EngineMissingError as missing:
        return text_only("tuning", log.title, repr(log), str(missing), width=room, theme=name)


def shown_trial(log: DerivedLog, options: Mapping[str, Any]) -> int | None:
    """Return the trial whose schedule is shown.

    The one chosen, else the best of the task chosen, or of the task that takes most of the total.
    """
    if options.get("trial") is not None:
        return int(options["trial"])
    table = log.task_table()
    task = options.get("task")
    bests = {record.task.index: record.row for record in log.best()}
    if task is None and bests:
        task = max(bests, key=lambda each: (table.weights[each] * table.best[each], -each))
    return None if task is None else bests.get(task)
