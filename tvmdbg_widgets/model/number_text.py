"""Single values as text that is exact in their own type."""

from __future__ import annotations

import math

import numpy as np

_MOST_EXACT = 1e16


def number_text(value: object) -> str:
    """Write a scalar with the fewest digits that give it back in its own type.

    >>> number_text(np.float32(0.1)), number_text(np.float64(np.float32(0.1)))
    ('0.1', '0.10000000149011612')

    Whole numbers keep all their digits: the largest float16 is ``65504.0``, though ``65500`` would
    give it back. NaN and infinities are ``nan``, ``inf``, ``-inf``; negative zero is ``-0.0``.
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, complex | np.complexfloating):
        return str(value)
    number = float(value)  # type: ignore[arg-type]
    if math.isfinite(number) and number.is_integer() and abs(number) < _MOST_EXACT:
        return str(int(number)) if _has_only_integers(value) else repr(number)
    return str(value)


def _has_only_integers(value: object) -> bool:
    """Whether the type is one of ml_dtypes' small integers, which numpy does not know as such."""
    return type(value).__name__.startswith(("int", "uint"))
