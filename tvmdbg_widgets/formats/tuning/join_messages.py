"""Measurements of verbose output joined to the records of the log."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tuning.console import Measurement
from tvmdbg_widgets.model.tuning.parts import ConsoleMessage
from tvmdbg_widgets.model.tuning.trials import Trials

Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

#: Records of one second that are looked at for one measurement.
_MOST = 4096
_DIGITS = re.compile(r"[0-9]+(?:\.([0-9]*))?(?:e([+-]?[0-9]{1,3}))?")


def join_messages(
    measurements: Sequence[Measurement], trials: Trials
) -> tuple[ConsoleMessage, ...]:
    """Join what the output says of measurements to records.

    They are the same where error number, costs, all_cost and timestamp agree in the digits that
    are printed; the log has whole seconds. Where several of one fit several of the other, they are
    joined in order if they are as many, and else left alone (row -1).
    """
    fitting: dict[tuple[object, ...], tuple[int, ...]] = {}
    order = np.argsort(trials.timestamp, kind="stable")
    times = trials.timestamp[order]
    alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for i, each in enumerate(measurements):
        key = each.error, each.costs, each.all_cost, each.timestamp
        if key not in fitting:
            fitting[key] = _fitting(each, trials, order, times)
        alike[fitting[key]].append(i)
    rows = [-1] * len(measurements)
    taken: set[int] = set()
    for candidates, which in sorted(alike.items(), key=lambda item: len(item[0])):
        left = [row for row in candidates if row not in taken]
        if len(left) == len(which):
            taken.update(left)
            for i, row in zip(which, left, strict=True):
                rows[i] = row
    return tuple(
        ConsoleMessage(each.number, row, each.error, each.message, each.glyphs)
        for each, row in zip(measurements, rows, strict=True)
    )


def _fitting(each: Measurement, trials: Trials, order: Rows, times: Floats) -> tuple[int, ...]:
    """Return the rows that a measurement may be, ascending."""
    printed, half = _value(each.timestamp), _half_digit(each.timestamp)
    if not math.isfinite(printed):
        return ()
    # The log has the seconds without their fraction.
    begin, end = np.searchsorted(times, [math.floor(printed - half), printed + half])
    if not 0 < end - begin <= _MOST:
        return ()
    rows = order[begin:end]
    rows = rows[trials.error[rows] == each.error]
    rows = rows[_agree(trials.all_cost[rows], each.all_cost)]
    if each.error == 0:
        starts, counts = trials.run_offsets[rows], np.diff(trials.run_offsets)[rows]
        same = counts == len(each.costs)
        rows, starts = rows[same], starts[same]
        for i, text in enumerate(each.costs):
            same = _agree(trials.run_costs[starts + i], text)
            rows, starts = rows[same], starts[same]
    return tuple(np.sort(rows).tolist())


def _agree(values: Floats, text: str) -> npt.NDArray[np.bool_]:
    """Whether numbers of the log, which have 6 digits, may be printed as this text."""
    slack = _half_digit(text) * (1 + 1e-9) + np.abs(values) * 1e-6
    return np.asarray(np.abs(values - _value(text)) <= slack)


def _value(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _half_digit(text: str) -> float:
    """Return half of what the last printed digit stands for."""
    found = _DIGITS.fullmatch(text)
    if found is None:
        return 0.0
    exponent = int(found[2] or 0) - len(found[1] or "")
    return 0.5 * 10.0**exponent
