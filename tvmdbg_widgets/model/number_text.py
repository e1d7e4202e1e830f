"""Single values as text that is exact in their own type."""

from __future__ import annotations

import numpy as np


def number_text(value: object) -> str:
    """Write a scalar with the fewest digits that give it back in its own type.

    >>> number_text(np.float32(0.1)), number_text(np.float64(np.float32(0.1)))
    ('0.1', '0.10000000149011612')

    NaN and infinities are ``nan``, ``inf``, ``-inf``; negative zero is ``-0.0``.
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    return str(value)
