"""The different schedules of a log, and what their trials came to."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import msgspec
import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from tvmdbg_widgets.formats.tuning.json_line import decode
from tvmdbg_widgets.formats.tuning.record import read_line
from tvmdbg_widgets.model.tuning.parts import TuningParts


class _Ansor(msgspec.Struct):
    """The steps of a record as they are written, without making objects of the line."""

    i: tuple[msgspec.Raw, tuple[msgspec.Raw, msgspec.Raw]]


_READ_ANSOR = msgspec.json.Decoder(_Ansor).decode


@dataclass(frozen=True, eq=False)
class MeasuredSchedules:
    """S schedules, each with all its trials."""

    places: dict[int, dict[bytes, int]]
    task: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    cost: npt.NDArray[np.float64]
    error: npt.NDArray[np.int64]


def measured(
    parts: TuningParts, tasks: set[int], name: str, *, progress: bool = True
) -> MeasuredSchedules:
    """Return the schedules of some tasks, in the order of their first trials."""
    trials = parts.trials
    rows = np.flatnonzero(np.isin(trials.task, list(tasks)))
    # Trials of one log with the same digest are of one schedule: one line is read for all.
    _, first, group = np.unique(trials.schedule[rows], return_index=True, return_inverse=True)
    places: dict[int, dict[bytes, int]] = {task: {} for task in tasks}
    place_of = np.zeros(len(first), np.int64)
    found: list[int] = []
    look = {"desc": f"matching, {name}", "unit": " schedules", "delay": 1, "leave": False}
    for at in tqdm(np.argsort(first).tolist(), disable=not progress, **look):
        row = int(rows[first[at]])
        known = places[int(trials.task[row])]
        place_of[at] = known.setdefault(_digest(parts, row), len(found))
        if place_of[at] == len(found):
            found.append(row)
    place, size = place_of[group], len(found)
    valid = ~trials.failed[rows]
    count = np.bincount(place[valid], minlength=size)
    cost = np.bincount(place[valid], trials.cost[rows[valid]], minlength=size)
    error = np.zeros(size, np.int64)
    error[place] = trials.error[rows]  # of equal places the last one stays
    error[count > 0] = 0
    with np.errstate(invalid="ignore"):
        mean = cost / count
    row_of = np.array(found, np.int64)
    all_of = np.bincount(place, minlength=size)
    return MeasuredSchedules(
        places, trials.task[row_of].astype(np.int64), row_of, all_of, mean, error
    )


def _digest(parts: TuningParts, row: int) -> bytes:
    """Digest the steps of a record, or what other tuners call a schedule, without spacing."""
    line = read_line(parts, row)
    if parts.tasks[parts.trials.task[row]].tuner == "ansor":
        try:
            raw = bytes(_READ_ANSOR(line).i[1][1])
        except msgspec.DecodeError:
            raw = msgspec.json.encode(decode(line)["i"][1][1])
    else:
        document = decode(line)
        if isinstance(document, list):
            document = document[1][0]
        else:
            document = document["config"] if "config" in document else document["i"][5]
        raw = msgspec.json.encode(document)
    return blake2b(raw.translate(None, b" \t\r\n"), digest_size=16).digest()
