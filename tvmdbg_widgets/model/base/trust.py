"""How far a joined item is to be trusted."""

from __future__ import annotations

import enum


class Trust(enum.IntEnum):
    """Grade of one joined item; the lower, the surer.

    The values are what trust columns (``uint8``) hold.
    """

    EXACT = 0
    BY_ORDER = 1
    BY_NAME = 2
    AMBIGUOUS = 3
    ABSENT = 4

    @property
    def label(self) -> str:
        """The grade in words: ``exact``, ``by order``, ``by name``, ``ambiguous``, ``absent``."""
        return self.name.lower().replace("_", " ")
