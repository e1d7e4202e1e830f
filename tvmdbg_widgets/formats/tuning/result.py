"""What a measurement gave: ``[costs, error_no, all_cost, timestamp]``.

Order and meaning: ``MeasureResult``, src/auto_scheduler/measure_record.cc and
python/tvm/autotvm/record.py.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tvmdbg_widgets.formats.tuning.lines import LineProblem, array, whole
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

_LAST_ERROR = max(MeasureError)


class Result(NamedTuple):
    """One result."""

    costs: list[float]
    cost: float
    error: int
    all_cost: float
    timestamp: float
    odd: str = ""


def read_result(value: Any, field: str, failed_cost: float) -> Result:
    """Check a result as it stands in a record."""
    costs, error, all_cost, timestamp = array(value, field, 4)
    checked = (
        read_seconds(costs, f"{field}[0]"),
        whole(error, f"{field}[1]", 0, _LAST_ERROR),
        _number(all_cost, f"{field}[2]"),
        _number(timestamp, f"{field}[3]"),
    )
    return result_of(checked, field, failed_cost)


def result_of(
    numbers: tuple[list[float], int, float, float], field: str, failed_cost: float
) -> Result:
    """Tell a failed trial from a measured one; each number alone is checked already."""
    costs, error, all_cost, timestamp = numbers
    if error:
        odd = "" if costs == [failed_cost] else f"error {error} with costs {costs[:3]}"
        return Result([], math.nan, error, all_cost, timestamp, odd)
    if not costs:
        raise LineProblem(f"{field}[0]", "a cost, as there is no error", costs)
    cost = sum(costs) / len(costs)
    if not math.isfinite(cost):
        raise LineProblem(f"{field}[0]", "costs whose mean is finite", cost)
    odd = "no error with the cost of a failed trial" if costs == [failed_cost] else ""
    return Result(costs, cost, 0, all_cost, timestamp, odd)


def read_seconds(value: Any, field: str) -> list[float]:
    """Return an array of seconds, none of them negative."""
    numbers = [_number(each, f"{field}[{i}]") for i, each in enumerate(array(value, field))]
    for i, number in enumerate(numbers):
        if number < 0:
            raise LineProblem(f"{field}[{i}]", "seconds, 0 or more", number)
    return numbers


def _number(value: Any, field: str) -> float:
    if type(value) not in (int, float):
        raise LineProblem(field, "a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise LineProblem(field, "a finite number", value)
    return number
