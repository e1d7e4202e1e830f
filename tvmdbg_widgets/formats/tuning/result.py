"""What a measurement gave: ``[costs, error_no, all_cost, timestamp]``.

Order and meaning: ``MeasureResult``, src/auto_scheduler/measure_record.cc and
python/tvm/autotvm/record.py.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from msgspec import Meta

from tvmdbg_widgets.formats.tuning.lines import LineProblem, array, whole
from tvmdbg_widgets.model.tuning.measure_errors import ANSOR_FAILED_COST, MeasureError

_LAST_ERROR = max(MeasureError)


#: As it is in a record whose numbers are as they mostly are.
Usual = tuple[
    list[Annotated[float, Meta(ge=0, le=ANSOR_FAILED_COST)]],
    Annotated[int, Meta(ge=0, le=int(_LAST_ERROR))],
    Annotated[float, Meta(ge=0, lt=2**63)],
    Annotated[float, Meta(ge=0, lt=2**63)],
]


class Result(NamedTuple):
    """One result; numbers are columns of :class:`~.Trials` of the same name."""

    costs: list[float]
    odd: str = ""
    cost: float = math.nan
    error: int = 0
    all_cost: float = math.nan
    timestamp: float = math.nan


MEASURED = Result._fields[2:]
_NUMBERS = MEASURED[2:]


def read_result(value: Any, field: str, failed_cost: float) -> Result:
    """Check a result as it stands in a record."""
    costs, error, *numbers = array(value, field, 2 + len(_NUMBERS))
    costs = read_seconds(costs, f"{field}[0]")
    error = whole(error, f"{field}[1]", 0, _LAST_ERROR)
    numbers = [_number(each, f"{field}[{i}]") for i, each in enumerate(numbers, 2)]
    return result_of((costs, error, *numbers), field, failed_cost)


def result_of(
    checked: tuple[list[float], int, *tuple[float, ...]], field: str, failed_cost: float
) -> Result:
    """Tell a failed trial from a measured one; each number alone is checked already."""
    costs, error, *numbers = checked
    if error:
        odd = "" if costs == [failed_cost] else f"error {error} with costs {costs[:3]}"
        return Result([], odd, math.nan, error, *numbers)
    if not costs:
        raise LineProblem(f"{field}[0]", "a cost, as there is no error", costs)
    cost = sum(costs) / len(costs)
    if not math.isfinite(cost):
        raise LineProblem(f"{field}[0]", "costs whose mean is finite", cost)
    odd = "no error with the cost of a failed trial" if costs == [failed_cost] else ""
    return Result(costs, odd, cost, 0, *numbers)


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
