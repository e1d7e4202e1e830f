"""A tuning log as a figure: the view's own code draws it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.records.selection import select
from tvmdbg_widgets.figures.engine import draw_or_tell
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.tuning.overview import Overview, best_trials, overview
from tvmdbg_widgets.figures.tuning.schedule import schedule_answer
from tvmdbg_widgets.model.base.text import one_line


def tuning_figure(
    log: LogFacts,
    options: Mapping[str, Any],
    *,
    width: float = 720,
    theme: str = "light",
    given: Overview | None = None,
) -> Figure:
    """Draw costs over trials, the tasks, and the schedule that is looked at."""
    info, columns = given or overview(log)
    trial = shown_trial(log, options)
    schedule = None if trial is None else schedule_answer(log, trial)
    data = {"info": info, "schedule": schedule, "query": ""}
    if query := options.get("query"):
        chosen = np.zeros(len(log), np.uint8)
        try:
            found = select(log.parts, query)
            chosen[found.rows] = 1
            data["query"] = found.caption
        except (RuntimeError, MemoryError) as failed:
            data["query"] = f"“{query[:80]}” was not searched: {one_line(str(failed))}"
        columns = columns | {"chosen": chosen}
    return draw_or_tell(
        "tuning",
        {"title": log.title, **data},
        columns,
        options,
        text=repr(log),
        width=width,
        theme=theme,
    )


def shown_trial(log: LogFacts, options: Mapping[str, Any]) -> int | None:
    """Return the trial whose schedule is shown.

    The one chosen, else the best of the task chosen, or of the task that takes most of the total.
    """
    if options.get("trial") is not None:
        return int(options["trial"])
    table = log.known_tasks
    task = options.get("task")
    bests = best_trials(log)
    if task is None and bests:
        task = max(bests, key=lambda each: (table.weights[each] * table.best[each], -each))
    return None if task is None else bests.get(task)
