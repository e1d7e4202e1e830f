"""Replay of a schedule's steps over its compute DAG (``State::ApplySteps``, loop_state.cc)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import is_not
from typing import Any, TypeAlias

from tvmdbg_widgets.analysis.tuning.schedules import placing, working
from tvmdbg_widgets.analysis.tuning.schedules.placing import split_before
from tvmdbg_widgets.analysis.tuning.schedules.tensors import RewriteError, TensorAxis
from tvmdbg_widgets.analysis.tuning.schedules.working import (
    LARGEST_FACTOR,
    LONGEST_NAME,
    MOST_LINES,
    MOST_LOOPS,
    MOST_STAGES,
    MOST_STEPS,
    ReplayError,
    Working,
    changed,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.steps import (
    AnyStep,
    CacheReadStep,
    CacheWriteStep,
    ComputeAtStep,
    Iterator,
    IteratorKind,
    PragmaStep,
    RfactorStep,
    SplitStep,
    Stage,
    State,
    StorageAlignStep,
)
from tvmdbg_widgets.model.tuning.trials import ComputeDag, DagSource

#: Steps by code, which take the working state and the step.
_Apply: TypeAlias = dict[str, Callable[[Any, Any], None]]
_APPLY: _Apply = {
    "AN": working.annotate,
    "FU": working.fuse,
    "PR": working.mark,
    "RE": working.reorder,
    "SP": working.split,
    "FSP": working.follow_split,
    "FFSP": working.follow_fused_split,
    "SA": working.align,
    "CA": placing.compute_at,
    "CI": placing.compute_inline,
    "CR": placing.compute_root,
    "CHR": placing.cache_read,
    "CHW": placing.cache_write,
    "RF": placing.rfactor,
}


@dataclass
class _StageAxes:
    extents: dict[int, int] = field(default_factory=dict)
    named: int = 0
    trusted: int = MOST_LOOPS


class WorkingWithoutDag(Working):
    """Stages without a DAG, which grow as steps name them and their loops."""

    def __init__(self, steps: tuple[AnyStep, ...]) -> None:
        super().__init__(ComputeDag((), DagSource.NONE), steps)
        self.known: list[_StageAxes] = []
        self._operations = 0
        #: Stages as last seen, by number, and the same with names.
        self._seen: tuple[Stage, ...] = ()
        self._named: list[Stage] = []

    def stage(self, index: int, field: str = "stage_id") -> Stage:
        """Return a stage, making all missing ones up to it."""
        if not 0 <= index < MOST_STAGES:
            self.refuse(f"there is no stage {index}", field)
        while len(self.stages) <= index:
            self.stages.append(Stage("", self._operations, False, (), is_open=True))
            self.known.append(_StageAxes())
            self._operations += 1
        return self.stages[index]

    def iterator(self, stage: int, place: int, field: str = "iter_id") -> Iterator:
        """Return a loop, making all missing ones up to it if the stage may have more."""
        grown = self.stage(stage)
        if 0 <= place < len(grown.iterators):
            return grown.iterators[place]
        missing = place + 1 - len(grown.iterators)
        if grown.is_open and missing > 0 and place < MOST_LOOPS:
            known = self.known[stage]
            extents = known.extents if self.knows_parts(stage) else {}
            numbers = range(known.named, known.named + missing)
            more = tuple(
                working.loop_of(
                    TensorAxis(f"axis{number}", extents.get(number)),
                    IteratorKind.SPATIAL,
                    (grown.made_by, number),
                )
                for number in numbers
            )
            known.named += missing
            self.stages[stage] = changed(grown, iterators=grown.iterators + more)
        return super().iterator(stage, place, field)

    def prepare(self, step: AnyStep) -> None:
        """Make the loops that a step names."""
        fields = vars(step)
        places = (*fields.get("fused_ids", ()), *fields.get("after_ids", ()))
        for place in (*places, fields.get("iter_id")):
            if place is not None and not isinstance(step, PragmaStep | StorageAlignStep):
                self.iterator(step.stage_id, place)
        if isinstance(step, ComputeAtStep):
            self.iterator(step.target_stage_id, step.target_iter_id, "target_iter_id")
        if isinstance(step, SplitStep):
            loop = self.iterator_to_split(step.stage_id, step.iter_id, step.extent)
            stage, place = self.stages[step.stage_id], step.iter_id
            iterators = (*stage.iterators[:place], loop, *stage.iterators[place + 1 :])
            self.stages[step.stage_id] = changed(stage, iterators=iterators)

    def iterator_to_split(self, stage: int, place: int, recorded: int = 0) -> Iterator:
        """Return a loop, with the recorded extent if that can be trusted."""
        loop = self.iterator(stage, place)
        axis = loop.parts[0][1]
        if loop.extent is not None or loop.parts != ((self.stages[stage].made_by, axis),):
            return loop
        known = self.known[stage]
        if not self.knows_parts(stage) or loop.made_by != self.stages[stage].made_by:
            return loop
        if 0 < recorded <= LARGEST_FACTOR and axis < known.trusted:
            known.extents.setdefault(axis, recorded)
        return changed(loop, extent=known.extents.get(axis))

    def knows_parts(self, stage: int) -> bool:
        """Whether the stage was never placed: inner parts of its loops are as long as factors."""
        return self.stages[stage].placed_by < 0

    def add(self, at: int, stage: Stage, known: _StageAxes) -> None:
        """Add a stage and renumber later ones."""
        self.insert(at, stage)
        self.known.insert(at, known)

    def state(self) -> State:
        """Return the current state; stages are named by number."""
        state = super().state()
        seen, stages = self._seen, state.stages  # a step changes few stages and removes none
        others = compress(range(len(seen)), map(is_not, seen, stages))
        for index in (*others, *range(len(seen), len(stages))):
            named = changed(stages[index], name=_name(index, stages[index]))
            self._named[index : index + 1] = (named,)
        self._seen = stages
        return changed(state, stages=tuple(self._named))


def compute_at(working: WorkingWithoutDag, step: ComputeAtStep) -> None:
    """CA: from here on the stage's recorded extents are ignored."""
    working.iterator(step.target_stage_id, step.target_iter_id, "target_iter_id")
    placing.compute_at(working, step)


def cache_read(working: WorkingWithoutDag, step: CacheReadStep) -> None:
    """CHR: add a stage behind this one."""
    source = working.stage(step.stage_id)
    for reader in step.reader_stage_ids:
        working.stage(reader, "reader_stage_ids")
        if reader <= step.stage_id:
            working.refuse(
                f"stage {reader} does not read stage {step.stage_id}", "reader_stage_ids"
            )
    made = _fresh(working, source, role="cache read", scope=step.scope_name)
    working.mark(step.stage_id)
    known = working.known[step.stage_id]
    working.add(step.stage_id + 1, made, _StageAxes(known.extents, trusted=known.trusted))


def cache_write(working: WorkingWithoutDag, step: CacheWriteStep) -> None:
    """CHW: add a stage before this one, which starts afresh."""
    source, known = working.stage(step.stage_id), working.known[step.stage_id]
    made = _fresh(working, source, role="cache write", scope=step.scope_name)
    working.stages[step.stage_id] = _fresh(working, source)
    known.named = 0
    working.add(step.stage_id, made, _StageAxes(known.extents, trusted=known.trusted))


def rfactor(working: WorkingWithoutDag, step: RfactorStep) -> None:
    """RF: add a stage before this one, which starts afresh."""
    source, known = working.stage(step.stage_id), working.known[step.stage_id]
    split_before(working, step)
    factored, place = working.iterator(step.stage_id, step.iter_id), step.factor_iter_id
    is_plain = _is_only_split(working, step.stage_id)
    trusted = min(known.trusted, max(place, 0))
    own = {axis: extent for axis, extent in known.extents.items() if axis < trusted}
    working.known[step.stage_id] = _StageAxes(own, trusted=trusted)
    made = _fresh(working, source, role="rfactor")
    working.stages[step.stage_id] = changed(_fresh(working, source), compute_at=source.compute_at)
    working.add(step.stage_id, made, _StageAxes(dict(own), trusted=trusted))
    if is_plain and place >= 0:
        axis = working.iterator(step.stage_id, place, "factor_iter_id")
        axis = changed(axis, extent=factored.extent, factor=factored.factor)
        made = working.stages[step.stage_id]
        working.stages[step.stage_id] = changed(made, iterators=(*made.iterators[:-1], axis))


def _is_only_split(working: WorkingWithoutDag, index: int) -> bool:
    stage = working.stages[index]
    if any(step != stage.made_by for step in stage.steps):
        return False
    recent = (stage.made_by, working.index - 1, working.index - 2)
    return all(step in recent for loop in working.stages[index].iterators for step in loop.steps)


def _fresh(working: Working, source: Stage, role: str = "", scope: str = "") -> Stage:
    index = working.index
    if len(scope) > LONGEST_NAME:
        working.refuse(f"a scope is longer than {LONGEST_NAME:,} characters", "scope_name")
    return Stage(
        "",
        source.operation,
        False,
        (),
        made_by=index,
        role=role,
        scope=scope,
        steps=(index,),
        is_open=True,
    )


def _name(index: int, stage: Stage) -> str:
    role = ", ".join(filter(None, (stage.role, stage.scope)))
    return f"stage {index} ({role})" if stage.role else f"stage {index}"


#: Steps that work otherwise without a DAG.
_WITHOUT_DAG: _Apply = {"CA": compute_at, "CHR": cache_read, "CHW": cache_write, "RF": rfactor}


class Replay:
    """A replay step by step."""

    def __init__(self, dag: ComputeDag | None, steps: Sequence[AnyStep]) -> None:
        if len(steps) > MOST_STEPS:
            raise ReplayError(
                f"{counted(len(steps), 'step')}: more than the {MOST_STEPS:,} replayed"
            )
        if dag is None:
            self._working: Working = WorkingWithoutDag(tuple(steps))
            self._apply = _APPLY | _WITHOUT_DAG
        else:
            self._working = Working(dag, tuple(steps))
            self._apply = _APPLY
        self._prepared = -1

    @property
    def next_step(self) -> int:
        """Index of the step that `advance` applies."""
        return self._working.index

    def advance(self) -> None:
        """Apply one step; raises `ReplayError`."""
        step = self._working.steps[self._working.index]
        if self._prepared < self._working.index:
            self._working.check_numbers(step)
        try:
            self._apply[step.code](self._working, step)
        except RewriteError as problem:
            self._working.refuse(str(problem), problem.field)
        self._working.index += 1

    def state(self) -> State:
        """Return the current state; without a DAG, with the loops that the next step names."""
        self._prepare()
        return self._working.state()

    def stage(self, number: int) -> Stage:
        """Return one current stage; without a DAG it has no name."""
        self._prepare()
        return self._working.stage(number)

    def end(self) -> State:
        """Return the final state, or refuse one that no printer can end with."""
        state = self.state()
        _refuse_endless_nest(state)
        return state

    def _prepare(self) -> None:
        if self._prepared < self.next_step < len(self._working.steps):
            step = self._working.steps[self.next_step]
            self._working.check_numbers(step)
            self._working.prepare(step)
            self._prepared = self.next_step


def replay(dag: ComputeDag | None, steps: Sequence[AnyStep]) -> State:
    """Replay all steps; raises `ReplayError` where TVM refuses one."""
    replaying = Replay(dag, steps)
    for _ in steps:
        replaying.advance()
    return replaying.end()


def _refuse_endless_nest(state: State) -> None:
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
