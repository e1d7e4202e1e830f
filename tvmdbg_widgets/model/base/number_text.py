"""Single values as text; ``js/src/shared/number_text.ts`` writes the same texts."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.bits import float_type
from tvmdbg_widgets.model.base.numbers import fixed

#: Whole float64 have all their digits up to here in JavaScript, too.
_MOST_DIGITS = 15
#: Digits of numbers that were computed: means, spreads, percentiles between two values.
_COMPUTED = Context(prec=6, rounding=ROUND_HALF_UP)
_SHORT = Context(prec=4, rounding=ROUND_HALF_UP)
#: Letters of an exact text that finds room wherever a short one does.
_SHORT_LETTERS = 7
_FLOAT64 = np.dtype(np.float64)


def number_text(value: object) -> str:
    """Write a scalar with the fewest digits that give it back in its own type.

    >>> number_text(np.float32(0.1)), number_text(np.float64(np.float32(0.1)))
    ('0.1', '0.10000000149011612')

    At most 4 digits for bfloat16, 5 for float16, 9 for float32, 17 for float64. Whole numbers
    of so many digits keep them all: the largest float16 is ``65504``, though ``65500`` would give
    it back. NaN and infinities are ``nan``, ``inf``, ``-inf``; negative zero is ``-0``.
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, complex | np.complexfloating):
        return str(value)
    dtype: np.dtype[Any] = getattr(value, "dtype", _FLOAT64)
    most = most_digits(dtype)
    number = float(value)  # type: ignore[arg-type]
    if most is None:  # one of ml_dtypes' small integers
        return str(int(number))
    if not math.isfinite(number):
        return str(number)
    size = abs(number)
    sign = "-" if math.copysign(1, number) < 0 else ""
    if size.is_integer() and size < 10 ** min(most, _MOST_DIGITS):
        return f"{sign}{int(size)}"
    return sign + _written(_fewest_digits(size, dtype, most), min(most, _MOST_DIGITS))


def computed_text(value: float) -> str:
    """Write a number that was computed with six digits, and all of those before the point.

    >>> computed_text(54137.60000000009), computed_text(0.1000000277068466)
    ('54137.6', '0.1')
    """
    if not math.isfinite(value):
        return str(value)
    if 10**_COMPUTED.prec <= abs(value) < 10**_MOST_DIGITS:
        return fixed(value, 0)
    rounded = float(_COMPUTED.create_decimal_from_float(value))
    return "0" if rounded == 0 else number_text(rounded)


def percentile_text(value: float, dtype: np.dtype[Any]) -> str:
    """Write a percentile: as a value of bool or a short float type, else as computed."""
    if dtype.kind == "b" and value in (0, 1):
        return str(value == 1)
    if dtype == _FLOAT64 or float_type(dtype) is None or not is_held(value, dtype):
        return computed_text(value)
    return value_text(value, dtype)


def value_text(value: float, dtype: np.dtype[Any]) -> str:
    """Write a number in a type that holds it; as a float64 in another."""
    return number_text(dtype.type(value) if is_held(value, dtype) else np.float64(value))


def screen_text(text: str) -> str:
    """Return a number's text as figures and views show it: ``"−1.5"``, ``"NaN"``, ``"+Inf"``.

    >>> screen_text("-inf"), screen_text("(1-2j)")
    ('−Inf', '1−2j')
    """
    plain = re.sub(r"^\((.*)\)$", r"\1", text).replace("nan", "NaN").replace("inf", "Inf")
    return ("+Inf" if plain == "Inf" else plain).replace("-", "−")


def is_held(value: float, dtype: np.dtype[Any]) -> bool:
    """Whether a number is one of the values of a type."""
    try:
        with np.errstate(all="ignore"):
            return float(dtype.type(value)) == value
    except (OverflowError, ValueError):
        return False


def _nearest(value: float, dtype: np.dtype[Any]) -> float:
    """Return the value of a type that a number is read as."""
    with np.errstate(all="ignore"):
        return float(dtype.type(value)) if float_type(dtype) is not None else value


def short_text(value: float) -> str:
    """At most four significant digits, with a true minus sign: ``"1.5e-7"``, ``"−2"``."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "−Inf"
    if value == 0:
        return "0"
    rounded = _SHORT.create_decimal_from_float(value)
    if Decimal("1e-3") <= abs(rounded) < 10**6:
        text = f"{float(rounded):.10g}"
    else:
        mantissa, exponent = f"{rounded:.3e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "−")


def about_text(value: float, dtype: np.dtype[Any] = _FLOAT64) -> str:
    """Return a number as it is in its type where that is short, else four digits marked ``≈``."""
    if not math.isfinite(value):
        return short_text(value)
    text = value_text(value, dtype)
    if len(text) <= _SHORT_LETTERS:
        return "0" if text == "-0" else screen_text(text)
    rounded = float(_SHORT.create_decimal_from_float(value))
    exact = rounded == value or (is_held(value, dtype) and _nearest(rounded, dtype) == value)
    return short_text(value) if exact else f"≈ {short_text(value)}"


@lru_cache(maxsize=256)
def most_digits(dtype: np.dtype[Any]) -> int | None:
    """Return how many digits tell any two values of a type apart; None of other than floats."""
    found = float_type(dtype)
    return None if found is None else math.ceil(1 + (found.mantissa + 1) * math.log10(2))


@lru_cache(maxsize=1 << 17)
def _fewest_digits(size: float, dtype: np.dtype[Any], most: int) -> str:
    """Return a positive number in scientific notation, rounded as far as its type allows."""
    if dtype.kind == "f" and dtype.isbuiltin == 1:
        return np.format_float_scientific(dtype.type(size), trim="-", exp_digits=1)
    for digits in range(most):
        text = f"{size:.{digits}e}"
        # A power of two has more room above than below, where the nearest decimal may be.
        above = f"{float(text) + 10.0 ** (int(text.split('e')[1]) - digits):.{digits}e}"
        for each in (text, above):
            if float(dtype.type(float(each))) == size:
                return each
    return f"{size:.{most - 1}e}"


def _written(scientific: str, most: int) -> str:
    """Write ``"1.25e-01"`` as ``"0.125"``, and with an exponent what would be long."""
    mantissa, exponent = scientific.split("e")
    digits, power = mantissa.replace(".", "").rstrip("0"), int(exponent)
    if power >= most or power < -4:
        return f"{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}e{power}"
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    whole, rest = digits[: power + 1].ljust(power + 1, "0"), digits[power + 1 :]
    return f"{whole}.{rest}" if rest else whole
