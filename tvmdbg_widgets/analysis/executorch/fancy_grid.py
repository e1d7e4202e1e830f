"""A table in frames, as tabulate 0.9 and 0.10 draw their ``fancy_grid``.

Numbers line up at their decimal point; a column is of numbers where every text in it reads as one.
Wide characters take two columns, as where wcwidth is installed; line ends and control characters,
which names from files may hold, are drawn as their escapes.
"""

from __future__ import annotations

import math
import re
import unicodedata
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Kinds of cells, from the least generic on: a column is of the most generic one in it.
_NOTHING, _BOOL, _INT, _FLOAT, _TEXT = range(5)
_THOUSANDS: Final = re.compile(r"(([+-]?[0-9]{1,3})(?:,([0-9]{3}))*)?(?(1)\.[0-9]*|\.[0-9]+)?")
_LEAST_PADDING = 2


def fancy_grid(headers: Sequence[str], columns: Sequence[Sequence[Any]]) -> str:
    """Return a table as text."""
    drawn = [_column(*each) for each in zip(headers, columns, strict=True)]
    widths = [_width(header) for header, _ in drawn]
    ruled = partial(_ruled, widths)
    lines = [ruled("╒═╤╕"), _row([header for header, _ in drawn])]
    for number, cells in enumerate(zip(*(cells for _, cells in drawn), strict=True)):
        lines += [ruled("├─┼┤" if number else "╞═╪╡"), _row(cells)]
    if not (columns and columns[0]):
        lines.append(ruled("╞═╪╡"))
    return "\n".join([*lines, ruled("╘═╧╛")])


def _ruled(widths: Sequence[int], parts: str) -> str:
    first, line, between, last = list(parts)
    return first + between.join(line * (width + 2) for width in widths) + last


def _row(cells: Sequence[str]) -> str:
    return "│" + "│".join(f" {cell} " for cell in cells) + "│"


def _column(header: str, values: Sequence[Any]) -> tuple[str, list[str]]:
    """Return a header and the cells below it, all of one width."""
    kind = max((_kind(value) for value in values), default=_BOOL)
    numeric = kind in (_INT, _FLOAT)
    cells = [one_line(_text(value, kind)) for value in values]
    if numeric:
        places = [_after_point(cell) for cell in cells]
        most = max(places, default=-1)
        cells = [cell + " " * (most - at) for cell, at in zip(cells, places, strict=True)]
    else:
        cells = [cell.strip() for cell in cells]
    header = one_line(header)
    width = max([_width(header) + _LEAST_PADDING, *map(_width, cells)])
    return _padded(header, width, right=numeric), [_padded(c, width, right=numeric) for c in cells]


def _kind(value: Any) -> int:
    if value is None or value in ("", b""):
        return _NOTHING
    if isinstance(value, bool) or value in ("True", "False"):
        return _BOOL
    if isinstance(value, int | float):
        return _INT if isinstance(value, int) else _FLOAT
    if not isinstance(value, str):
        return _TEXT
    if _reads_as(int, value) or (_THOUSANDS.fullmatch(value) and "." not in value):
        return _INT
    return _FLOAT if _is_number(value) or _THOUSANDS.fullmatch(value) else _TEXT


def _reads_as(kind: type[int | float], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _is_number(text: str) -> bool:
    """Tell whether a text reads as a float; not one that only overflows to infinity."""
    if not _reads_as(float, text):
        return False
    return math.isfinite(float(text)) or text.lower() in ("inf", "-inf", "nan")


def _text(value: Any, kind: int) -> str:
    if value is None:
        return ""
    if kind == _FLOAT and value != "":
        number = value.replace(",", "") if isinstance(value, str) else value
        return f"{float(number):g}" if not isinstance(number, str) or _is_number(number) else number
    if isinstance(value, bytes):
        return value.decode("ascii") if value.isascii() else str(value)
    return str(value)


def _after_point(cell: str) -> int:
    """Return how many characters follow the decimal point or the exponent's e; -1 without one."""
    if _reads_as(int, cell) or not (_is_number(cell) or _THOUSANDS.fullmatch(cell)):
        return -1
    point = cell.rfind(".")
    point = cell.lower().rfind("e") if point < 0 else point
    return len(cell) - point - 1 if point >= 0 else -1


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks
