"""Rows of a memory chart that are offsets in planned buffers, whose bytes overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tvmdbg_widgets.analysis.memory.plan import MemoryPlan

#: Opacity of what another row holds.
FAINT = "0.3"


def in_place_order(plan: MemoryPlan, slots: list[int]) -> list[int]:
    """Return slots by buffer and offset; as they are where there are no planned buffers."""
    if plan.ranges is None:
        return slots
    return sorted(slots, key=lambda slot: (plan.slot_buffers[slot], plan.slot_offsets[slot], slot))


def held_elsewhere(plan: MemoryPlan, slot: int) -> list[tuple[int, int]]:
    """Return the lives (first and last step) of what holds bytes of a slot from other offsets."""
    if plan.ranges is None:
        return []
    own = np.flatnonzero(plan.entry_slot == slot)
    largest = int(own[np.argmax(plan.entry_bytes[own])])
    other = np.flatnonzero(plan.ranges.sharing(largest) & (plan.entry_slot != slot))
    return list(zip(plan.first[other].tolist(), plan.last[other].tolist(), strict=True))


def spans(
    lives: Iterable[tuple[int, int]], x: Callable[[float], float], apart: float
) -> list[tuple[float, float]]:
    """Return where lives are drawn, those less than so many px apart as one."""
    found: list[tuple[float, float]] = []
    for first, last in sorted(lives):
        left, right = x(first), x(last + 1)
        if found and left - found[-1][1] < apart:
            found[-1] = (found[-1][0], max(found[-1][1], right))
        elif right > left:
            found.append((left, right))
    return found
