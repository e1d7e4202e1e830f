"""Nanoseconds as microseconds in decimal, every digit of them."""

from __future__ import annotations

from decimal import Context, Decimal

import numpy as np
import numpy.typing as npt

_ALL_DIGITS = Context(prec=400)


def microseconds(ns: npt.NDArray[np.float64]) -> list[str]:
    """Write times as JSON; what reads them as decimals gets the same doubles again.

    They are numbers, but text where a number would be another nanosecond for Perfetto, which
    takes a number as a double times 1,000, cut off, and a text as a decimal
    (``CoerceToTs`` in ``src/trace_processor/importers/json``): one in a hundred slices would
    reach into the next, and be dropped.
    """
    whole = np.floor(ns)
    if np.array_equal(whole, ns) and (not len(ns) or 0 <= ns.min() <= ns.max() < 2.0**62):
        every = whole.astype(np.int64)
        count, rest = np.divmod(every, 1000)
        same = (((every / 1e3) * 1e3).astype(np.int64) == every) & (every < 1 << 53)
        return [
            (f"{q}.{r:03d}" if r else str(q)) if plain else f'"{q}.{r:03d}"'
            for q, r, plain in zip(
                count.tolist(), rest.tolist(), (same | (rest == 0)).tolist(), strict=True
            )
        ]
    return [_text(value) for value in ns.tolist()]


def _text(ns: float) -> str:
    exact = _decimal(ns)
    text = f"{_ALL_DIGITS.scaleb(exact, -3):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if exact < 0 or int(float(text) * 1e3) == int(exact) else f'"{text}"'


def _decimal(ns: float) -> Decimal:
    """The shortest decimal that reads as whole nanoseconds and a rest that give the double."""
    short = Decimal(repr(ns))
    whole = int(short.to_integral_value("ROUND_FLOOR"))
    rest = float(short - whole)
    return short if float(whole) + rest == ns else Decimal(ns)
