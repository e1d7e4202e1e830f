"""Sets of debug handles found by their handles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Handles: TypeAlias = tuple[int, ...]


class HandleIndex:
    """Tuples of handles, each once, in their order."""

    def __init__(self, keys: Iterable[Handles]) -> None:
        self._order = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        self._having: dict[int, list[Handles]] = {}
        for key in self._order:
            for handle in set(key):
                self._having.setdefault(handle, []).append(key)

    def overlapping(self, handles: Iterable[int]) -> list[Handles]:
        """Return the keys with any of these handles."""
        found = {key for handle in handles for key in self._having.get(handle, ())}
        return sorted(found, key=self._order.__getitem__)

    def within(self, handles: Iterable[int]) -> list[Handles]:
        """Return the keys all of whose handles are among these."""
        wanted = set(handles)
        return [key for key in self.overlapping(wanted) if wanted.issuperset(key)]
