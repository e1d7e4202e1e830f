"""The state while it is replayed, and the checks every step needs."""

from __future__ import annotations

from typing import Any, NoReturn

from tvmdbg_widgets.analysis.tuning.replay.attachments import Attachments
from tvmdbg_widgets.analysis.tuning.replay.changed import changed
from tvmdbg_widgets.analysis.tuning.replay.errors import ReplayError
from tvmdbg_widgets.analysis.tuning.replay.limits import (
    LARGEST_EXTENT,
    LONGEST_NAME,
    MOST_LOOPS,
    MOST_STAGES,
)
from tvmdbg_widgets.analysis.tuning.replay.names import clean_name
from tvmdbg_widgets.analysis.tuning.replay.tensors import Computation, Dataflow, TensorAxis
from tvmdbg_widgets.model.tuning.dag import ComputeDag
from tvmdbg_widgets.model.tuning.state import Iterator, IteratorKind, Stage, State
from tvmdbg_widgets.model.tuning.steps import AnyStep


class Working:
    """Stages, attachments and computations between two steps."""

    def __init__(self, dag: ComputeDag, steps: tuple[AnyStep, ...], *, wraps: bool) -> None:
        self.dag = dag
        self.steps = steps
        self.index = 0
        self.wraps = wraps
        self.attachments = Attachments()
        self.dataflow = Dataflow(dag)
        self.stages: list[Stage] = [
            self.fresh_stage(each, made_by=-1) for each in self.dataflow.computations
        ]

    def state(self) -> State:
        """Return what there is as a value."""
        attached = {loop: tuple(each) for loop, each in self.attachments.stages.items()}
        return State(
            self.dag, self.steps, tuple(self.stages), attached, dict(self.attachments.loops)
        )

    def fresh_stage(self, computation: Computation, made_by: int, **marks: Any) -> Stage:
        """Return a computation's stage, with its axes as loops."""
        if len(computation.name) > LONGEST_NAME:
            self.refuse(f"a stage's name is longer than {LONGEST_NAME:,} characters")
        axes = () if computation.is_placeholder else computation.axes
        kinds = [IteratorKind.SPATIAL] * len(axes)
        kinds += [IteratorKind.REDUCTION] * len(computation.reduce_axes)
        made = [
            _loop(axis, kind, (made_by, place))
            for place, (axis, kind) in enumerate(
                zip((*axes, *computation.reduce_axes), kinds, strict=True)
            )
        ]
        steps = () if made_by < 0 else (made_by,)
        return Stage(
            computation.name,
            computation.operation,
            computation.is_placeholder,
            tuple(made),
            made_by=made_by,
            steps=steps,
            **marks,
        )

    def insert(self, at: int, stage: Stage) -> None:
        """Add a stage, and give later ones their new numbers."""
        if len(self.stages) >= MOST_STAGES:
            self.refuse(f"more than {MOST_STAGES:,} stages")
        self.stages.insert(at, stage)
        self.attachments.insert(at)

    def stage(self, index: int, field: str = "stage_id") -> Stage:
        """Return a stage, or refuse a number that none has."""
        if not 0 <= index < len(self.stages):
            self.refuse(f"there is no stage {index} among {len(self.stages)}", field)
        return self.stages[index]

    def iterator(self, stage: int, place: int, field: str = "iter_id") -> Iterator:
        """Return a loop of a stage, or refuse a place that none has."""
        iterators = self.stage(stage).iterators
        if not 0 <= place < len(iterators):
            name = self.stages[stage].name
            of = f"stage {stage} ({name!r})" if name else f"stage {stage}"
            self.refuse(f"there is no loop {place} among the {len(iterators)} of {of}", field)
        return iterators[place]

    def prepare(self, step: AnyStep) -> None:
        """Make loops that a step names, where they only come to be by that."""

    def iterator_to_split(self, stage: int, place: int, recorded: int = 0) -> Iterator:
        """Return a loop to split; `recorded` is the extent that a SP step has for it."""
        del recorded  # TVM does not look at it
        return self.iterator(stage, place)

    def knows_parts(self, stage: int) -> bool:
        """Whether parts of a loop of unknown extent are as long as the factors."""
        del stage
        return False

    def set_iterators(self, stage: int, iterators: tuple[Iterator, ...], **marks: Any) -> None:
        """Give a stage other loops."""
        if len(iterators) > MOST_LOOPS:
            self.refuse(f"stage {stage} gets more than {MOST_LOOPS:,} loops")
        for each in iterators:
            if len(each.name) > LONGEST_NAME:
                self.refuse(f"a loop's name is longer than {LONGEST_NAME:,} characters")
            if each.extent is not None and each.extent > LARGEST_EXTENT:
                self.refuse("a loop's extent does not fit into 64 bits")
        self.mark(stage, iterators=iterators, **marks)

    def mark(self, stage: int, **marks: Any) -> None:
        """Change a stage, and note that the current step did."""
        old = self.stages[stage]
        self.stages[stage] = changed(old, steps=(*old.steps, self.index), **marks)

    def check_numbers(self, step: AnyStep) -> None:
        """Refuse numbers that no schedule has."""
        for name, value in vars(step).items():
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, int) and abs(number) > LARGEST_EXTENT:
                    self.refuse("a number does not fit into 64 bits", name)

    def refuse(self, problem: str, field: str = "") -> NoReturn:
        """Raise `ReplayError` for the current step."""
        code = self.steps[self.index].code if self.index < len(self.steps) else ""
        raise ReplayError(problem, step=self.index, code=code, field=field)


def _loop(axis: TensorAxis, kind: IteratorKind, part: tuple[int, int]) -> Iterator:
    made_by = part[0]
    return Iterator(
        clean_name(axis.name),
        axis.extent,
        kind,
        made_by=made_by,
        factor=axis.factor,
        symbol=axis.symbol,
        steps=() if made_by < 0 else (made_by,),
        parts=(part,),
    )
