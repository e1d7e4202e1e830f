"""Nanoseconds as microseconds in decimal, every digit of them."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_ALL_DIGITS = Context(prec=400)


def microseconds(ns: npt.NDArray[np.float64], origin_ns: int = 0) -> list[str]:
    """Write times; what reads them as decimals gets the same doubles again.

    Parameters
    ----------
    ns : float64[N]
        Finite.
    origin_ns : int
        Added to each, as a whole number.
    """
    whole = np.floor(ns)
    if np.array_equal(whole, ns) and (not len(ns) or np.abs(ns).max() < 2.0**62 - abs(origin_ns)):
        count, rest = np.divmod(whole.astype(np.int64) + origin_ns, 1000)
        if not len(ns) or count.min() >= 0:
            return [
                f"{q}.{r:03d}" if r else str(q)
                for q, r in zip(count.tolist(), rest.tolist(), strict=True)
            ]
    return [_text(value, origin_ns) for value in ns.tolist()]


def _text(ns: float, origin_ns: int) -> str:
    exact = _ALL_DIGITS.add(_decimal(ns), Decimal(origin_ns))
    text = f"{_ALL_DIGITS.scaleb(exact, -3):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimal(ns: float) -> Decimal:
    """The shortest decimal that reads as whole nanoseconds and a rest that give the double."""
    short = Decimal(repr(ns))
    whole = int(short.to_integral_value("ROUND_FLOOR"))
    rest = float(short - whole)
    return short if float(whole) + rest == ns else Decimal(ns)
