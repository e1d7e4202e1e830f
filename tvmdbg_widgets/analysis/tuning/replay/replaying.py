"""The replay of a schedule's steps over its compute DAG (``State::ApplySteps``, loop_state.cc)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tvmdbg_widgets.analysis.tuning.replay import loops, placing, stages, without_dag
from tvmdbg_widgets.analysis.tuning.replay.errors import ReplayError
from tvmdbg_widgets.analysis.tuning.replay.limits import MOST_LINES, MOST_STEPS
from tvmdbg_widgets.analysis.tuning.replay.without_dag import WorkingWithoutDag
from tvmdbg_widgets.analysis.tuning.replay.working import Working
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.dag import ComputeDag
from tvmdbg_widgets.model.tuning.state import Stage, State
from tvmdbg_widgets.model.tuning.steps import (
    AnnotationStep,
    AnyStep,
    CacheReadStep,
    CacheWriteStep,
    ComputeAtStep,
    ComputeInlineStep,
    ComputeRootStep,
    FollowFusedSplitStep,
    FollowSplitStep,
    FuseStep,
    PragmaStep,
    ReorderStep,
    RfactorStep,
    SplitStep,
    StorageAlignStep,
)

_APPLY: dict[type[AnyStep], Callable[[Any, Any], None]] = {
    AnnotationStep: loops.annotate,
    FuseStep: loops.fuse,
    PragmaStep: loops.mark,
    ReorderStep: loops.reorder,
    SplitStep: loops.split,
    FollowSplitStep: loops.follow_split,
    FollowFusedSplitStep: loops.follow_fused_split,
    StorageAlignStep: loops.align,
    ComputeAtStep: placing.compute_at,
    ComputeInlineStep: placing.compute_inline,
    ComputeRootStep: placing.compute_root,
    CacheReadStep: stages.cache_read,
    CacheWriteStep: stages.cache_write,
    RfactorStep: stages.rfactor,
}


#: What differs where no DAG is known.
_WITHOUT_DAG: dict[type[AnyStep], Callable[[Any, Any], None]] = {
    ComputeAtStep: without_dag.compute_at,
    CacheReadStep: without_dag.cache_read,
    CacheWriteStep: without_dag.cache_write,
    RfactorStep: without_dag.rfactor,
}


class Replay:
    """A replay step by step."""

    def __init__(
        self, dag: ComputeDag | None, steps: Sequence[AnyStep], release: tuple[int, int] = (0, 8)
    ) -> None:
        if len(steps) > MOST_STEPS:
            raise ReplayError(
                f"{counted(len(steps), 'step')}: more than the {MOST_STEPS:,} replayed"
            )
        if dag is None:
            self._working: Working = WorkingWithoutDag(tuple(steps))
            self._apply = _APPLY | _WITHOUT_DAG
        else:
            self._working = Working(dag, tuple(steps), wraps=release >= (0, 10))
            self._apply = _APPLY
        self._prepared = -1

    @property
    def next_step(self) -> int:
        """Index of the step that `advance` applies."""
        return self._working.index

    def advance(self) -> None:
        """Apply one step, or raise `ReplayError`."""
        step = self._working.steps[self._working.index]
        if self._prepared < self._working.index:
            self._working.check_numbers(step)
        self._apply[type(step)](self._working, step)
        self._working.index += 1

    def state(self) -> State:
        """Return the state as it is now; without a DAG, with the loops that the next step names."""
        self._prepare()
        return self._working.state()

    def stage(self, number: int) -> Stage:
        """Return one stage as it is now, as in `state` but for its name without a DAG."""
        self._prepare()
        return self._working.stage(number)

    def end(self) -> State:
        """Return the state after the last step, or refuse one that no printer ends with."""
        state = self.state()
        _check_printable(state)
        return state

    def _prepare(self) -> None:
        if self._prepared < self.next_step < len(self._working.steps):
            step = self._working.steps[self.next_step]
            self._working.check_numbers(step)
            self._working.prepare(step)
            self._prepared = self.next_step


def replay(
    dag: ComputeDag | None, steps: Sequence[AnyStep], release: tuple[int, int] = (0, 8)
) -> State:
    """Replay all steps; raise `ReplayError` where TVM refuses one."""
    replaying = Replay(dag, steps, release)
    for _ in steps:
        replaying.advance()
    return replaying.end()


def _check_printable(state: State) -> None:
    """Refuse stages that are attached inside themselves, over which TVM's printer never ends."""
    waiting = [index for index, stage in enumerate(state.stages) if stage.is_printed]
    lines = 0
    while waiting:
        index = waiting.pop()
        lines += len(state.stages[index].iterators) + 3
        if lines > MOST_LINES:
            raise ReplayError(
                f"the loop nest has more than {MOST_LINES:,} lines, or a stage is attached inside "
                "itself"
            )
        for place in range(len(state.stages[index].iterators)):
            waiting += state.attached.get((index, place), ())
