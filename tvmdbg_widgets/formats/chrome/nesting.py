"""Begin and end events paired by nesting, per thread or per asynchronous id."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.chrome.columns import ChromeColumns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class BeginEndPairs:
    """Rows of begin events and of the end events that close them, and what was left over."""

    begin: list[int]
    end: list[int]
    lone_begins: list[int]
    lone_ends: list[int]
    differing: list[int]


def pair(
    columns: ChromeColumns,
    rows: npt.NDArray[np.int64],
    begins: npt.NDArray[np.bool_],
    keys: Sequence[Hashable],
    *,
    unnamed: int | None,
) -> BeginEndPairs:
    """Pair events: an end closes the last begin of its key that is still open.

    Events need not stand in the order of time; those of one time are taken in file order.
    """
    order = columns.by_time(rows).tolist()
    own, begun, name = rows.tolist(), begins.tolist(), columns.name
    found = BeginEndPairs([], [], [], [], [])
    stacks: dict[Hashable, list[int]] = {}
    for place in order:
        row = own[place]
        stack = stacks.setdefault(keys[place], [])
        if begun[place]:
            stack.append(row)
        elif stack:
            start = stack.pop()
            found.begin.append(start)
            found.end.append(row)
            if name[row] not in (name[start], unnamed):
                found.differing.append(row)
        else:
            found.lone_ends.append(row)
    for stack in stacks.values():
        found.lone_begins.extend(stack)
    return found
