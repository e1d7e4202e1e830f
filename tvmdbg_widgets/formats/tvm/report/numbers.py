"""Numbers of a profiling report: fixed, general, with separators, or none at all."""

from __future__ import annotations

import math
import re

_PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
_NONE = re.compile(r"([+-]?)(nan|inf|infinity)(?:\([a-z0-9]*\))?", re.IGNORECASE)
_GROUPED = re.compile(
    r"(-?)([0-9]{1,3}(?:[ ,.'\u2019\u00a0\u202f\ufffd][0-9]{3})*|[0-9]+)(?:[.,]([0-9]{2}))?"
)
#: Longer ones are not read.
LONGEST = 400


def parse_number(text: str) -> int | float | None:
    """Read a number as C++ prints it; None where the text is none.

    Whole numbers stay exact. ``nan``, ``-nan``, ``inf`` and ``nan(ind)`` are accepted in any case.
    """
    if len(text) > LONGEST:
        return None
    if _PLAIN.fullmatch(text):
        digits = text.lstrip("+-")
        return int(text) if digits.isascii() and digits.isdigit() else float(text)
    match = _NONE.fullmatch(text)
    if match is None:
        return None
    value = math.nan if match[2].lower() == "nan" else math.inf
    return -value if match[1] == "-" else value


def parse_grouped(text: str, *, decimals: bool) -> int | float | None:
    """Read a number of a printed table, with the thousands separators of any locale."""
    found = _GROUPED.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        return parse_number(text) if _NONE.fullmatch(text) else None
    sign, whole, fraction = found.groups()
    if (fraction is not None) != decimals:
        return None
    digits = re.sub(r"[^0-9]", "", whole)
    if not decimals:
        return int(sign + digits)
    return float(f"{sign}{digits}.{fraction}")


def fixed_rounding(text: str) -> float:
    """Return half a unit of the last decimal; 0 where the digits give the double exactly."""
    point = text.rfind(".")
    if point < 0 or "e" in text.lower():
        return 0.0
    decimals = len(text) - point - 1
    return 0.0 if decimals not in (2, 6) else 0.5 * 10.0**-decimals


def general_rounding(value: float) -> float:
    """Return half a unit of the sixth significant digit, as ``ostream`` prints by default."""
    if not value or not math.isfinite(value):
        return 0.0
    return 0.5 * 10.0 ** (math.floor(math.log10(abs(value))) - 5)
