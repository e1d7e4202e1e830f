"""Bodies of operations as expression trees, as far as bounds and reads need them."""

from __future__ import annotations


class Expression:
    """Any expression."""
