"""The view of a tuning log as a page without a kernel."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.answers.tuning import TuningAnswers
from tvmdbg_widgets.export.page.pack import BinaryParts, code, data_element, document
from tvmdbg_widgets.figures.texts import escape
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.writing import replacing

#: Records up to which all steps are read for the page.
_MOST_STEPS = 20_000
#: Trials per task with tile sizes on the page.
_MOST_LINES = 500


def save_page(
    view: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    theme: str = "auto",
    budget: int = 5_000_000,
) -> Path:
    """Write the page of a view; an existing file is replaced atomically.

    The page has all trials and tasks, and schedule and tile sizes of the best trials as far as the
    budget allows, slowest tasks first.
    """
    answers: TuningAnswers = view.log.answers
    figure = view.figure(theme=theme)
    data, left_out = _recorded(answers, view.trial, budget)
    states = {
        "log": {"content": 0},
        "view": view.options
        | {"query": "", "log": "anywidget:log", "session": None, "height": 560, "_is_saved": True},
    }
    page = document(
        title=title or answers.log.title,
        theme=theme,
        code=code("tuning"),
        figure=figure,
        about=_about(answers.log, left_out),
        settings={"view": "tuning", "models": states},
        data=data_element("tvmdbg-data", data),
    )
    with replacing(path, ".html", ".htm") as file:
        file.write(page.encode())
    return Path(path)


def _recorded(answers: TuningAnswers, trial: int | None, budget: int) -> tuple[bytes, int]:
    """Return the replies of the page, and the number of tasks without a schedule."""
    info = answers.overview.result["info"]
    first: list[dict[str, Any]] = [
        {"kind": "tuning"},
        *(
            {"kind": "errors", "by": by, "task": None, "trials": None, "query": ""}
            for by in info["errorsBy"]
            if by != "threads" or len(answers.log) <= _MOST_STEPS
        ),
        *([] if trial is None else [{"kind": "schedule", "trial": trial}]),
    ]
    tasks = [task for task in info["tasks"] if task["bestTrial"] is not None]
    tasks.sort(key=lambda task: -(task["weight"] * task["best"]))
    groups = [
        [
            {"kind": "schedule", "trial": task["bestTrial"]},
            {"kind": "tiles", "task": task["index"]},
        ]
        for task in tasks
    ]

    def answer(question: Mapping[str, Any]) -> Reply:
        most = {"most": _MOST_LINES} if question["kind"] == "tiles" else {}
        return answers.answer({**question, **most})

    told = tqdm(groups, desc="schedules", unit=" tasks", delay=1, leave=False)
    binary = BinaryParts()
    count = binary.record(chain([first], told), answer, budget)
    return binary.to_bytes(), len(groups) + 1 - count


def _about(log: LogFacts, left_out: int) -> str:
    files = ", ".join(PurePath(source.name).name for source in log.parts.sources)
    lines = [
        f"{counted(len(log), 'trial')} of {counted(len(log.tasks), 'task')}, from {files}",
        "Schedules and tile sizes are those of the best trial of each task.",
        "Filtering trials and comparing schedules need a kernel.",
    ]
    if left_out:
        lines.append(
            f"The schedules of {counted(left_out, 'task')} {agree(left_out, 'was')} left out to "
            "save room."
        )
    return "\n".join(f"<p>{escape(line)}</p>" for line in lines)
