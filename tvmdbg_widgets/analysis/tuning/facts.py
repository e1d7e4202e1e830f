"""Facts of a log: its parts, its weights, and everything derived from them, computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tvmdbg_widgets.analysis.tuning.curves import (
    Curve,
    Gains,
    TaskLike,
    curve,
    task_meant,
)
from tvmdbg_widgets.analysis.tuning.links import TaskTable, task_table
from tvmdbg_widgets.analysis.tuning.schedules.replaying import Replay
from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
from tvmdbg_widgets.analysis.tuning.schedules.tensors import clean_name
from tvmdbg_widgets.analysis.tuning.schedules.working import LARGEST_FACTOR, ReplayError
from tvmdbg_widgets.analysis.tuning.workloads import assumed_dag
from tvmdbg_widgets.formats.tuning.dag_text import hashes_of, parse_dag
from tvmdbg_widgets.formats.tuning.extents import with_extents
from tvmdbg_widgets.formats.tuning.record import read_record, read_steps
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.tuning.measure_errors import Record
from tvmdbg_widgets.model.tuning.parts import Task, TuningParts, Workload
from tvmdbg_widgets.model.tuning.steps import AnyStep, CacheWriteStep, Iterator, SplitStep, Stage
from tvmdbg_widgets.model.tuning.trials import Axis, ComputeDag, DagSource, Operation, Trials


class LogFacts:
    """Facts of one log."""

    def __init__(self, parts: TuningParts, weights: tuple[float, ...] | None = None) -> None:
        self.parts = parts
        self.weights = weights
        self._dags: dict[int, tuple[ComputeDag | None, tuple[str, ...]]] = {}

    def __len__(self) -> int:
        return len(self.parts.trials)

    def __repr__(self) -> str:
        from tvmdbg_widgets.analysis.tuning.writing import described

        return "\n  ".join([f"TuningLog {self.title!r}", *described(self.parts)])

    @property
    def title(self) -> str:
        """Title of the log."""
        return self.parts.title

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, by first appearance."""
        return self.parts.tasks

    @property
    def trials(self) -> Trials:
        """The records as columns."""
        return self.parts.trials

    @cached_property
    def known_tasks(self) -> TaskTable:
        """The task table for the log's own weights."""
        return self.task_table()

    def task_table(self, weights: Sequence[float] | None = None) -> TaskTable:
        """Return trials, errors, best cost, share and expected gain per task.

        `weights`, one per task, replace the log's; ValueError where they do not fit.
        """
        return task_table(self.parts, self.weights if weights is None else weights)

    def gains(self, weights: Sequence[float] | None = None) -> Gains:
        """Return the task scheduler's expected gain of every task's next round."""
        return self.task_table(weights).gains

    def schedule(self, row: int | Record) -> Schedule:
        """Return a record's schedule: steps in words, loop nest, tiles, Python.

        Parameters
        ----------
        row : int or Record
            A trial's number, negative ones from the end, or its record, as ``log.best(3)`` gives.

        Raises
        ------
        IndexError, FormatError
            There is no such row; the file changed since it was opened.
        """
        record = row if isinstance(row, Record) else read_record(self.parts, row)
        dag, problems = self._dag_and_problem(record.task.index)
        schedule = Schedule(record, dag, problems)
        if not schedule.refused or dag is None or dag.source.is_assumption:
            return schedule
        assumed = assumed_for(self.parts, record.task)
        why = f"The given DAG does not fit: {schedule.refused}"
        other = Schedule(record, assumed, (*problems, why))
        return schedule if assumed is None or other.refused else other

    def dag(self, task: TaskLike) -> ComputeDag | None:
        """Return the compute DAG of a task, None where it is unknown.

        Its ``source`` says where it is from, and whether that is an assumption.
        """
        return self._dag_and_problem(task_meant(self.parts, task).index)[0]

    def flop_count(self, task: TaskLike) -> float | None:
        """Return the floating-point operations of a task as TVM counts them, None where unknown."""
        from tvmdbg_widgets.analysis.tuning.step_words import flop_count

        known = self.dag(task)
        return None if known is None else flop_count(known)

    def curve(self, task: TaskLike | None = None, weights: Sequence[float] | None = None) -> Curve:
        """Return the best cost over trials and over time.

        Parameters
        ----------
        task : int, str or Task, optional
            Index or name of the task; the weighted total of all where it is left out.
        weights : sequence of float, optional
            One per task, instead of the log's own; an unweighted sum where there are none.

        Raises
        ------
        IndexError, KeyError, TypeError, ValueError
            There is no such task; the weights do not fit the tasks.
        """
        return curve(self.parts, task, self.weights if weights is None else weights)

    def _dag_and_problem(self, task: int) -> tuple[ComputeDag | None, tuple[str, ...]]:
        if task not in self._dags:
            self._dags[task] = self._found_dag(self.tasks[task])
        return self._dags[task]

    def _found_dag(self, task: Task) -> tuple[ComputeDag | None, tuple[str, ...]]:
        """Return the DAG of a task, and why a DAG given for it could not be used."""
        assumed = assumed_for(self.parts, task)
        try:
            parsed = self._from_text(task) if task.tuner == "ansor" else None
        except FormatError as problem:
            return assumed, (str(problem),)
        if parsed is None:
            return assumed, ()
        return with_assumed(_with_recorded(parsed, self.parts, task), assumed)

    def _from_text(self, task: Task) -> ComputeDag | None:
        workload, dags = task.workload, self.parts.dags
        if workload.key in dags:
            return _parsed_dag(dags[workload.key], DagSource.DUMP, workload)
        text = self._texts_by_hash.get(workload.name) if workload.is_hash else None
        return None if text is None else _parsed_dag(text, DagSource.TEXT, workload)

    @cached_property
    def _texts_by_hash(self) -> dict[str, str]:
        return texts_by_hash(self.parts.dags)


_RECORDS_READ = 8  # records searched for extents that a DAG's text lacks
_LISTED = 3
#: 2022-01-04, Unix time: topi's convolutions got the names of v0.9 (pull request 9832).
_CONVOLUTIONS_NAMED = 1_641_254_400


def texts_by_hash(dags: Mapping[str, str]) -> dict[str, str]:
    """Return the DAG texts by every hash that may name them; exact keys have precedence."""
    texts: dict[str, str] = {}
    for text in dict.fromkeys(dags.values()):
        for digest in hashes_of(text):
            texts[digest] = dags[digest] if dags.get(digest) == text else texts.get(digest, text)
    return texts


def assumed_for(parts: TuningParts, task: Task) -> ComputeDag | None:
    """Return the built-in DAG for a task's function name."""
    args = task.workload.args
    if task.tuner != "ansor" or args is None or task.workload.is_hash:
        return None
    return assumed_dag(task.workload.name, args, _release(parts, task))


def with_assumed(dag: ComputeDag, assumed: ComputeDag | None) -> tuple[ComputeDag, tuple[str, ...]]:
    """Return a DAG completed with extents of an agreeing known one, and a note on it."""
    if assumed is None or _names(dag) != _names(assumed):
        return dag, ()
    pairs = [
        (operation.name, axis, other)
        for operation, known in zip(dag.operations, assumed.operations, strict=True)
        for axis, other in zip(_axes(operation), _axes(known), strict=True)
    ]
    differing = [
        f"axis {axis.name} of {name}: {axis.extent:,} and {other.extent:,}"
        for name, axis, other in pairs
        if axis.extent is not None and other.extent is not None and axis.extent != other.extent
    ]
    if differing:
        differences = "; ".join(differing[:_LISTED])
        return dag, (f"The given DAG differs from TVM's workload of this name: {differences}",)
    if not lacks_extents(dag):
        return dag, ()
    filled = tuple(map(_with_extents, dag.operations, assumed.operations))
    return replace(dag, operations=filled), (f"Extents that it lacks are {assumed.source}",)


def _with_extents(operation: Operation, known: Operation) -> Operation:
    pairs = zip(_axes(operation), _axes(known), strict=True)
    return _with_axes(operation, [other if _is_open(axis) else axis for axis, other in pairs])


def _with_axes(operation: Operation, axes: Sequence[Axis]) -> Operation:
    own = len(operation.axes)
    return replace(operation, axes=tuple(axes[:own]), reduce_axes=tuple(axes[own:]))


def _is_open(axis: Axis) -> bool:
    return axis.extent is None and not axis.symbol


def _axes(operation: Operation) -> tuple[Axis, ...]:
    return (*operation.axes, *operation.reduce_axes)


def _names(dag: ComputeDag) -> list[tuple[object, ...]]:
    return [
        (
            operation.name,
            operation.kind,
            tuple(axis.name for axis in operation.axes),
            tuple(axis.name for axis in operation.reduce_axes),
        )
        for operation in dag.operations
    ]


def _parsed_dag(text: str, source: DagSource, workload: Workload) -> ComputeDag:
    if workload.shapes or not workload.is_hash or not workload.args:
        return parse_dag(text, source=source, shapes=workload.shapes)
    dag = parse_dag(text, source=source)
    inputs = [operation.shape for operation in dag.operations if operation.is_placeholder]
    rest = _rest_behind(workload.args, [size for shape in inputs for size in shape])
    if rest is None:
        return dag
    shapes = [[size or 0 for size in shape] for shape in inputs]
    return parse_dag(text, source=source, shapes=[*shapes, rest])


def _rest_behind(args: Sequence[Any], sizes: Sequence[int | None]) -> list[int] | None:
    if not all(isinstance(arg, int) for arg in args) or list(args[: len(sizes)]) != list(sizes):
        return None
    return list(args[len(sizes) :])


def _with_recorded(dag: ComputeDag, parts: TuningParts, task: Task) -> ComputeDag:
    for row in parts.trials.of_task(task.index)[:_RECORDS_READ].tolist():
        if not lacks_extents(dag):
            break
        try:
            dag = with_recorded_extents(dag, read_steps(parts, row))
        except FormatError:  # the file is being rewritten
            break
    return dag


def _release(parts: TuningParts, task: Task) -> tuple[int, int]:
    attrs = task.target.attrs
    is_late = task.fields >= 6 and "link-params" not in attrs
    if task.target.kind == "cuda":
        is_late = is_late and "arch" in attrs
    times = parts.trials.timestamp[parts.trials.of_task(task.index)]
    return (0, 10) if is_late and not (times < _CONVOLUTIONS_NAMED).any() else (0, 8)


def lacks_extents(dag: ComputeDag) -> bool:
    """Whether an axis has neither an extent nor an expression for it."""
    return any(_is_open(axis) for operation in dag.operations for axis in _axes(operation))


def with_recorded_extents(dag: ComputeDag, steps: Sequence[AnyStep]) -> ComputeDag:
    """Return a DAG with the extents recorded by a schedule's splits, and derived ones."""
    extents: dict[tuple[int, str], int] = {}
    try:
        replaying = Replay(dag, steps)
        for step in steps:
            if isinstance(step, SplitStep) and 0 < step.extent <= LARGEST_FACTOR:
                stage = replaying.stage(step.stage_id)
                axis = _unknown_axis(stage, step.iter_id, dag, steps)
                if axis is not None:
                    extents.setdefault((stage.operation, axis.name), step.extent)
            replaying.advance()
    except ReplayError:
        pass
    if not extents:
        return dag
    operations = []
    for number, operation in enumerate(dag.operations):
        axes = [
            replace(axis, extent=extents.get((number, axis.name), axis.extent))
            for axis in _axes(operation)
        ]
        operations.append(_with_axes(operation, axes))
    return replace(dag, operations=with_extents(tuple(operations)))


def _unknown_axis(
    stage: Stage, place: int, dag: ComputeDag, steps: Sequence[AnyStep]
) -> Axis | None:
    is_own = stage.made_by < 0 or isinstance(steps[stage.made_by], CacheWriteStep)
    if not is_own or stage.placed_by >= 0 or not 0 <= place < len(stage.iterators):
        return None
    loop = stage.iterators[place]
    if len(loop.parts) != 1 or loop.made_by != stage.made_by:
        return None
    axes = _axes(dag.operations[stage.operation])
    axes = tuple(axis for axis in axes if _is_open(axis) and _covers(loop, axis, stage))
    return axes[0] if len(axes) == 1 else None


def _covers(loop: Iterator, axis: Axis, stage: Stage) -> bool:
    names = [axis.name, f"{axis.name}.c"] if stage.role == "cache write" else [axis.name]
    return loop.name in map(clean_name, names)
