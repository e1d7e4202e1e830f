"""Which writings reach which readings over jumps (reaching definitions).

A location is anything that can be overwritten, by a number: a value, or a range of memory.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from tvmdbg_widgets.model.base.errors import FormatError

#: What was written last: an output of an instruction as (position, output), or a value that was
#: there before as (-1, value).
Writing: TypeAlias = tuple[int, int]
State: TypeAlias = dict[int, frozenset[Writing]]

#: Writings handed on over jumps in all; a program of 100,000 values may have 40 branches.
_MOST_STEPS = 4_000_000


class Effect(NamedTuple):
    """A location after an instruction: what was written there, None where it holds no value."""

    location: int
    writing: Writing | None


class Flow(NamedTuple):
    """Instructions in order, and where else than to the next one they lead."""

    effects: Sequence[Sequence[Effect]]
    jumps: Mapping[int, int]
    always: frozenset[int]

    def states(self, before: State, file: str) -> Iterator[State]:
        """Yield what reaches each instruction, and last what reaches the end.

        The same dictionary may be yielded again: what matters must be taken from it at once.
        """
        end = len(self.effects)
        after = {position + 1 for position in self.jumps}
        starts = sorted({0, end, *after, *self.jumps.values()})
        entries = self._entries(starts, before, file)
        for block in range(len(starts) - 1):
            state = dict(entries[block] or before)
            for position in range(starts[block], starts[block + 1]):
                yield state
                _apply(self.effects[position], state)
        yield entries[-1] or {}

    def _entries(self, starts: Sequence[int], before: State, file: str) -> list[State | None]:
        """Return what reaches each block, None where nothing leads there."""
        entries: list[State | None] = [None] * len(starts)
        entries[0] = before
        waiting, steps, end = [0], 0, len(starts) - 1
        while waiting:
            block = heapq.heappop(waiting)
            if block == end or waiting[:1] == [block]:
                continue
            state = dict(entries[block] or {})
            for position in range(starts[block], starts[block + 1]):
                _apply(self.effects[position], state)
            own = self.effects[starts[block] : starts[block + 1]]
            held = sum(map(len, own)) + len(own) + sum(map(len, state.values()))
            for position in self._successors(starts[block + 1] - 1):
                steps += held
                if steps > _MOST_STEPS:
                    raise FormatError(
                        "the program has more branches than can be followed",
                        file=file,
                        field="chains",
                        expected=f"at most {_MOST_STEPS:,} values handed on over jumps",
                        found="more",
                    )
                target = bisect_right(starts, position) - 1
                merged = _merged(entries[target], state)
                if merged is not None:
                    entries[target] = merged
                    heapq.heappush(waiting, target)
        return entries

    def _successors(self, position: int) -> set[int]:
        following = set() if position in self.always else {position + 1}
        return following | ({self.jumps[position]} if position in self.jumps else set())


def _apply(effects: Iterable[Effect], state: State) -> None:
    for location, writing in effects:
        if writing is None:
            state.pop(location, None)
        else:
            state[location] = frozenset((writing,))


def _merged(known: State | None, state: State) -> State | None:
    if known is None:
        return dict(state)
    changed = {
        location: known.get(location, frozenset()) | writings
        for location, writings in state.items()
        if not writings <= known.get(location, frozenset())
    }
    return known | changed if changed else None
