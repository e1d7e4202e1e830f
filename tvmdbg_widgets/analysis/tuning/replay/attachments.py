"""Which stages are computed inside which loops (``AttachMap``, src/auto_scheduler/loop_state.cc).

Loops are named by their place among the stage's loops: reordering a stage does not change the map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

#: A stage and the place of one of its loops.
Loop: TypeAlias = tuple[int, int]


class Attachments:
    """The map in both directions."""

    def __init__(self) -> None:
        self.stages: dict[Loop, list[int]] = {}
        self.loops: dict[int, Loop] = {}

    def attach(self, stage: int, loop: Loop) -> None:
        """Attach a stage, behind those that are attached there."""
        self.detach(stage)
        self.loops[stage] = loop
        self.stages.setdefault(loop, []).append(stage)

    def detach(self, stage: int) -> None:
        """Forget where a stage is attached."""
        loop = self.loops.pop(stage, (-1, -1))
        attached = self.stages.get(loop, [])
        if stage in attached:
            attached.remove(stage)
        if not attached:
            self.stages.pop(loop, None)

    def move(self, stage: int, loops: int, place: Callable[[int], int]) -> None:
        """Give the first `loops` loops of a stage new places."""
        old = [loop for loop in self.stages if loop[0] == stage and loop[1] < loops]
        moved = [((stage, place(loop[1])), self.stages.pop(loop)) for loop in old]
        for loop, attached in moved:
            self.stages[loop] = attached
            self.loops.update(dict.fromkeys(attached, loop))

    def insert(self, at: int) -> None:
        """Make room for a stage: numbers from `at` on grow by one."""

        def after(stage: int) -> int:
            return stage + (stage >= at)

        self.stages = {
            (after(stage), place): [after(each) for each in attached]
            for (stage, place), attached in self.stages.items()
        }
        self.loops = {
            after(stage): (after(target), place) for stage, (target, place) in self.loops.items()
        }
