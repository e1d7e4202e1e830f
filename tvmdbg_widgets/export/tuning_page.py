"""The view of a tuning log as a page without a kernel."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.export.page.pack import LEVEL, base64_size, code, data_element, document
from tvmdbg_widgets.figures.texts import escape
from tvmdbg_widgets.figures.tiles import tiles
from tvmdbg_widgets.figures.tuning import (
    ERRORS_BY,
    Overview,
    best_trials,
    error_table,
    overview,
    schedule_answer,
    tuning_figure,
)
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.writing import replacing

#: Records up to which all steps are read for the page.
_MOST_STEPS = 20_000


#: Trials per task with tile sizes on the page.
_MOST_LINES = 500


#: zlib's window (4 kB) and memory for estimates of size, whose setup takes most of the time.
_WINDOW, _MEMORY = 12, 5


_THEMES = ("auto", "light", "dark")


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
    one_of("theme", theme, _THEMES)
    log = view.tuning_log.facts
    name = title or log.title
    known = overview(log)
    data, left_out = _stored(log, known, view.trial, budget)
    states = {
        "log": {"content": 0},
        "view": view.options
        | {"query": "", "log": "anywidget:log", "session": None, "height": 640, "_is_saved": True},
    }
    page = document(
        title=name,
        theme=theme,
        code=code("tuning"),
        figure=tuning_figure(log, view.options, theme=theme, given=known),
        about=_about(log, left_out),
        settings={"view": "tuning", "models": states},
        data=data,
    )
    with replacing(path, ".html", ".htm") as file:
        file.write(page.encode())
    return Path(path)


def _stored(log: LogFacts, known: Overview, shown: int | None, budget: int) -> tuple[str, int]:
    """Return the page's data element, and the number of tasks without a schedule."""
    best = best_trials(log)
    table = log.known_tasks
    order = sorted(best, key=lambda task: -(table.weights[task] * table.best[task]))
    schedules: dict[str, bytes] = {}
    parallel: dict[str, bytes] = {}
    if shown is not None:
        schedules[str(shown)] = _json(schedule_answer(log, shown))
    errors: dict[str, bytes] = {
        by: _json(error_table(log, by))
        for by in ERRORS_BY
        if by != "threads" or len(log) <= _MOST_STEPS
    }
    answer = _json(_packed("tuning", *known))

    def stored() -> str:
        parts = (("schedules", schedules), ("tiles", parallel), ("errors", errors))
        objects = {name: _object(part) for name, part in parts}
        return data_element("tvmdbg-data", _object({"tuning": answer} | objects))

    left = budget - len(stored())
    for task in tqdm(order, desc="schedules", unit=" tasks", delay=1, leave=False):
        schedule = _json(schedule_answer(log, best[task]))
        tile = _json(_packed("tuningTiles", *tiles(log, task, _MOST_LINES)))
        left -= _size(b"[%b,%b]" % (schedule, tile))
        if left < 0:
            break
        schedules[str(best[task])] = schedule
        parallel[str(task)] = tile
    return stored(), len(order) - len(parallel)


def _size(data: bytes) -> int:
    """Return an upper estimate of a part's characters in the page."""
    packing = zlib.compressobj(LEVEL, wbits=_WINDOW, memLevel=_MEMORY)
    return base64_size(len(packing.compress(data)) + len(packing.flush()))


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def _object(values: Mapping[str, bytes]) -> bytes:
    """Return a JSON object of encoded values."""
    return b"{%b}" % b",".join(b"%b:%b" % (_json(name), json) for name, json in values.items())


def _packed(answer: str, info: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    headers, buffer = pack(columns, answer)
    return {"info": info, "columns": headers, "buffer": base64.b64encode(buffer).decode()}


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
