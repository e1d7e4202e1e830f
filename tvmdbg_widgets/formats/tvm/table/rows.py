"""Rows of a printed table of node times."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

TOTAL_NAME = "Total_time"

_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?|nan|inf)")
_LIST = re.compile(rf"\[(?:{_NUMBER.pattern}(?:, {_NUMBER.pattern})*)?\]")
_COUNT = re.compile(r"[0-9]{1,18}")
_SHAPE = re.compile(r"\(\)|\([0-9]{1,18},\)|\([0-9]{1,18}(?:, [0-9]{1,18})+\)")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{6}))?")


class TableRow(NamedTuple):
    """One row: one output of one node."""

    name: str
    ops: str
    time_us: float
    percent: float
    shape: tuple[int, ...]
    inputs: int
    outputs: int
    measurements_us: tuple[float, ...]
    start: str
    end: str
    output: int
    cells: tuple[str, ...]


def parse_row(columns: tuple[str, ...], cells: tuple[str, ...]) -> TableRow | None:
    """Read the cells of one row; None if a cell is not of its column's kind."""
    name, ops, time, percent, *clock, shape_text, inputs_text, outputs_text = (
        cells if columns[-1] == "Outputs" else cells[:-1]
    )
    if not (_NUMBER.fullmatch(time) and _NUMBER.fullmatch(percent)):
        return None
    inputs, outputs, shape = _count(inputs_text), _count(outputs_text), _shape(shape_text)
    measurements = () if columns[-1] == "Outputs" else _measurements(cells[-1])
    if inputs is None or outputs is None or shape is None or measurements is None:
        return None
    if any(math.isnan(clock_ns(each)) for each in clock):
        return None
    start, end = clock or ("", "")
    return TableRow(
        name,
        ops,
        float(time),
        float(percent),
        shape,
        inputs,
        outputs,
        measurements,
        start,
        end,
        0,
        cells,
    )


@lru_cache(maxsize=4096)
def _count(text: str) -> int | None:
    return int(text) if _COUNT.fullmatch(text) else None


@lru_cache(maxsize=4096)
def _shape(text: str) -> tuple[int, ...] | None:
    if not _SHAPE.fullmatch(text):
        return None
    return tuple(int(size) for size in re.findall("[0-9]+", text))


def parse_total(cells: tuple[str, ...]) -> float | None:
    """Return the total in microseconds if the cells are those of the ``Total_time`` row."""
    others = (*cells[1:2], *cells[3:])
    if cells[0] != TOTAL_NAME or any(cell != "-" for cell in others):
        return None
    return float(cells[2]) if _NUMBER.fullmatch(cells[2]) else None


def clock_ns(text: str) -> float:
    """Return a time of day such as ``15:24:44.177475`` as nanoseconds since midnight.

    Python leaves the fraction out where it is zero. NaN for any other text.
    """
    match = _CLOCK.fullmatch(text)
    if match is None:
        return math.nan
    hours, minutes, seconds, micros = (int(part or 0) for part in match.groups())
    return ((hours * 60 + minutes) * 60 + seconds) * 1e9 + micros * 1e3


def _measurements(text: str) -> tuple[float, ...] | None:
    if not _LIST.fullmatch(text):
        return None
    return tuple([float(part) for part in text[1:-1].split(", ")]) if len(text) > 2 else ()
