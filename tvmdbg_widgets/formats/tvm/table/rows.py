"""Rows of a printed table of node times."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

TOTAL_NAME = "Total_time"

_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?|nan|inf)")
_COUNT = re.compile(r"[0-9]{1,18}")
_SHAPE = re.compile(r"\(\)|\([0-9]{1,18},\)|\([0-9]{1,18}(?:, [0-9]{1,18})+\)")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{6}))?")


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: one output of one node.

    Attributes
    ----------
    name, ops : str
        Node name and function name. Blanks at their ends are lost in print.
    time_us, percent : float
        Time of the whole node and its share as printed; nan where TVM divided 0 by 0.
    shape : tuple of int
        Shape of this row's output.
    inputs, outputs : int
        Numbers of inputs and outputs of the node.
    measurements_us : tuple of float
        Repeats (v0.9 and later); empty in older tables.
    start, end : str
        Time of day (v0.5 only), else empty.
    output : int
        Which of the node's consecutive rows this is, from 0.
    cells : tuple of str
        The cells as printed.
    """

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
    """Read the cells of one row; None if a cell is not of its column's kind.

    Parameters
    ----------
    columns, cells : tuple of str
        Titles and texts, of one length.
    """
    cell = dict(zip(columns, cells, strict=True))
    time, percent = cell["Time(us)"], cell["Time(%)"]
    if not (_NUMBER.fullmatch(time) and _NUMBER.fullmatch(percent)):
        return None
    if not (_COUNT.fullmatch(cell["Inputs"]) and _COUNT.fullmatch(cell["Outputs"])):
        return None
    measurements = _measurements(cell.get("Measurements(us)", "[]"))
    if measurements is None or not _SHAPE.fullmatch(cell["Shape"]):
        return None
    start, end = cell.get("Start Time", ""), cell.get("End Time", "")
    if "Start Time" in cell and (math.isnan(clock_ns(start)) or math.isnan(clock_ns(end))):
        return None
    return TableRow(
        name=cell["Node Name"],
        ops=cell["Ops"],
        time_us=float(time),
        percent=float(percent),
        shape=tuple(int(size) for size in re.findall("[0-9]+", cell["Shape"])),
        inputs=int(cell["Inputs"]),
        outputs=int(cell["Outputs"]),
        measurements_us=measurements,
        start=start,
        end=end,
        output=0,
        cells=cells,
    )


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
    if not (text.startswith("[") and text.endswith("]")):
        return None
    parts = text[1:-1].split(", ") if len(text) > 2 else []
    if not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    return tuple(float(part) for part in parts)
