"""Single values as text; ``js/src/shared/number_text.ts`` writes the same texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import fixed

#: Whole float64 have all their digits up to here in JavaScript, too.
_MOST_DIGITS = 15
#: Digits of computed numbers: means, spreads, interpolated percentiles.
_COMPUTED = Context(prec=6, rounding=ROUND_HALF_UP)
_SHORT = Context(prec=4, rounding=ROUND_HALF_UP)
_FLOAT64 = np.dtype(np.float64)


def number_text(value: object) -> str:
    """Write a scalar with the fewest digits that give it back in its own type.

    >>> number_text(np.float32(0.1)), number_text(np.float64(np.float32(0.1)))
    ('0.1', '0.10000000149011612')

    At most 4 digits for bfloat16, 5 for float16, 9 for float32, 17 for float64; whole numbers up
    to that size keep all digits. NaN and infinities are ``nan``, ``inf``, ``-inf``; negative zero
    is ``-0``.
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
    """Write a computed number with six digits, and all digits before the point."""
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
    """Write a number in its type, or as a float64 if the type does not hold it."""
    return number_text(dtype.type(value) if is_held(value, dtype) else np.float64(value))


def screen_text(text: str) -> str:
    """Return a number's text as figures and views show it: ``"−1.5"``, ``"NaN"``, ``"+Inf"``."""
    plain = re.sub(r"^\((.*)\)$", r"\1", text).replace("nan", "NaN").replace("inf", "Inf")
    return ("+Inf" if plain == "Inf" else plain).replace("-", "−")


def is_held(value: float, dtype: np.dtype[Any]) -> bool:
    """Return whether a number is a value of a type."""
    try:
        with np.errstate(all="ignore"):
            return float(dtype.type(value)) == value
    except (OverflowError, ValueError):
        return False


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


@lru_cache(maxsize=256)
def most_digits(dtype: np.dtype[Any]) -> int | None:
    """Return the digits that distinguish all values of a float type; None of other types."""
    layout = float_type(dtype)
    return None if layout is None else math.ceil(1 + (layout.mantissa + 1) * math.log10(2))


@lru_cache(maxsize=1 << 17)
def _fewest_digits(size: float, dtype: np.dtype[Any], most: int) -> str:
    """Return a positive number in scientific notation, rounded as far as its type allows."""
    if dtype.kind == "f" and dtype.isbuiltin == 1:
        return np.format_float_scientific(dtype.type(size), trim="-", exp_digits=1)
    for digits in range(most):
        text = f"{size:.{digits}e}"
        # A power of two has more room above than below, where the nearest decimal may be.
        above = f"{float(text) + 10.0 ** (int(text.split('e')[1]) - digits):.{digits}e}"
        for candidate in (text, above):
            if float(dtype.type(float(candidate))) == size:
                return candidate
    return f"{size:.{most - 1}e}"


def _written(scientific: str, most: int) -> str:
    """Write ``"1.25e-01"`` as ``"0.125"``, and long numbers with an exponent."""
    mantissa, exponent = scientific.split("e")
    digits, power = mantissa.replace(".", "").rstrip("0"), int(exponent)
    if power >= most or power < -4:
        return f"{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}e{power}"
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    integer, rest = digits[: power + 1].ljust(power + 1, "0"), digits[power + 1 :]
    return f"{integer}.{rest}" if rest else integer


#: Key of a NaN: above that of any value.
NAN_KEY: Final = 2**63 - 1
#: Distance from and to a NaN: above that of any two floating-point values.
NO_DISTANCE: Final = 2**64 - 1


def ordered(values: Any) -> npt.NDArray[np.int64] | npt.NDArray[np.uint64]:
    """Return the ranks of values among all values of their type: neighbors differ by 1."""
    array = np.asarray(values)
    dtype = array.dtype
    if dtype.kind == "c":
        raise TypeError(f"{dtype} has no order")
    layout = float_type(dtype)
    if layout is None:
        if dtype.kind != "b" and not is_integer(dtype):
            raise TypeError(f"{dtype} is no type of numbers")
        return array.astype(np.uint64) if dtype == np.uint64 else array.astype(np.int64)
    code = codes(array).astype(np.uint64)
    keys: npt.NDArray[np.int64] = code.astype(np.int64)
    if layout.signed:
        sign = np.uint64(1 << (layout.bits - 1))
        magnitude = (code & (sign - np.uint64(1))).astype(np.int64)
        keys = np.where(code & sign, -magnitude, magnitude)
    return np.where(_is_nan(array), np.int64(NAN_KEY), keys)


def distance(a: Any, b: Any) -> npt.NDArray[np.uint64]:
    """Return the number of steps between values of one type."""
    first, second = np.asarray(a), np.asarray(b)
    if first.dtype != second.dtype:
        raise TypeError(f"steps lie between values of one type, not {first.dtype}, {second.dtype}")
    first, second = np.broadcast_arrays(first, second)
    low, high = ordered(first), ordered(second)
    with np.errstate(over="ignore"):  # two's complement wraps around to the right difference
        ahead = high.astype(np.uint64) - low.astype(np.uint64)
        steps = np.where(low <= high, ahead, np.uint64(0) - ahead)
    if not is_float(first.dtype):
        return steps
    unknown = _is_nan(first) | _is_nan(second)
    return np.where(unknown, np.uint64(NO_DISTANCE), steps)


def spacing(x: Any) -> npt.NDArray[np.float64]:
    """Return ``np.spacing`` as positive numbers, also finite for the largest finite value."""
    array = np.asarray(x)
    layout = float_type(array.dtype)
    if layout is None:
        return np.ones(ordered(array).shape)
    with np.errstate(invalid="ignore"):
        wide = np.abs(array.astype(np.float64))
    finite = np.isfinite(wide)
    exponent = np.frexp(np.where(finite, wide, 1.0))[1]
    exponent = np.where(wide == 0, layout.least, np.maximum(exponent, layout.least))
    steps = np.ldexp(1.0, exponent - 1 - layout.mantissa)
    return np.where(finite, steps, np.nan)


def _is_nan(values: np.ndarray[Any, Any]) -> npt.NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):  # signalling NaN of bfloat16
        nan: npt.NDArray[np.bool_] = np.isnan(values)
    return nan


_finfo: Any = ml_dtypes.finfo
_iinfo: Any = ml_dtypes.iinfo
#: Bytes of the largest scalars whose bits fit an integer of numpy's.
_LARGEST = 8
_COMPLEX = "complex numbers are two scalars each; take their real and imaginary parts"


class FloatType(NamedTuple):
    """The bit layout of a floating-point type."""

    bits: int
    mantissa: int
    signed: bool
    least: int


@lru_cache(maxsize=256)
def float_type(dtype: np.dtype[Any]) -> FloatType | None:
    """Return the layout of a dtype, or None if it is no real floating-point type."""
    if dtype.kind in "biucO" or dtype.itemsize > _LARGEST:
        return None
    try:
        info = _finfo(dtype)
    except ValueError:
        return None
    least = int(np.frexp(np.float64(info.smallest_normal))[1])
    return FloatType(int(info.bits), int(info.nmant), float(info.min) < 0, least)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether scalars of the dtype are real floating-point numbers, of any number of bits."""
    return float_type(dtype) is not None


def is_integer(dtype: np.dtype[Any]) -> bool:
    """Return whether scalars of the dtype are integers, also of 4 and fewer bits."""
    return dtype.kind in "iu" or _small_integer(dtype) is not None


def width(dtype: np.dtype[Any]) -> int:
    """Return the bits of a scalar; of both parts of a complex number."""
    if dtype.kind in "biuc":
        return dtype.itemsize * 8
    layout = float_type(dtype)
    bits = _small_integer(dtype) if layout is None else layout.bits
    if bits is None:
        raise TypeError(f"{dtype} is no type of numbers")
    return bits


def fields(dtype: np.dtype[Any]) -> tuple[int, int, int] | tuple[()]:
    """Return the bits of sign, exponent and mantissa; nothing for other types."""
    layout = float_type(dtype)
    if layout is None:
        return ()
    return int(layout.signed), layout.bits - layout.signed - layout.mantissa, layout.mantissa


def codes(values: Any) -> np.ndarray[Any, Any]:
    """Return the bits of scalars as unsigned integers of the same size and shape."""
    array = np.asarray(values)
    dtype = array.dtype.newbyteorder("=")
    if dtype.kind == "c":
        raise TypeError(_COMPLEX)
    bits = width(dtype)
    native = np.ascontiguousarray(array.astype(dtype, copy=False)).reshape(array.shape)
    integers: np.ndarray[Any, Any] = native.view(f"u{dtype.itemsize}")
    return integers & np.uint8((1 << bits) - 1) if bits < 8 else integers


def hex_text(values: Any) -> list[str]:
    """Return the bits of scalars as ``"0x3F800000"``, in C order; both parts of complex ones."""
    return _code_texts(values, " ", lambda code, bits: f"0x{code:0{-(-bits // 4)}X}")


def bit_text(values: Any) -> list[str]:
    """Return the bits of scalars as ``"0"`` and ``"1"``, highest first, in C order."""
    return _code_texts(values, "", lambda code, bits: f"{code:0{bits}b}")


def _code_texts(values: Any, between: str, write: Callable[[int, int], str]) -> list[str]:
    """Return the codes of scalars as text; parts of complex numbers are joined."""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        parts = (_code_texts(part, between, write) for part in (array.real, array.imag))
        return list(map(between.join, zip(*parts, strict=True)))
    bits = width(array.dtype)
    return [write(code, bits) for code in codes(array).ravel().tolist()]


@lru_cache(maxsize=256)
def _small_integer(dtype: np.dtype[Any]) -> int | None:
    """Bits of an integer type of ``ml_dtypes``, None for any other type."""
    try:
        return int(_iinfo(dtype).bits)
    except ValueError:
        return None
