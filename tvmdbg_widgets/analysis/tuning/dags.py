"""The compute DAG of a task, wherever it is known from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tvmdbg_widgets.analysis.tuning.recorded_extents import lacks_extents, with_recorded_extents
from tvmdbg_widgets.analysis.tuning.workloads import assumed_dag
from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.formats.tuning.dags.hashes import hashes_of
from tvmdbg_widgets.formats.tuning.record import read_steps
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.tuning.dag import Axis, ComputeDag, DagSource, Operation
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.task import Task
from tvmdbg_widgets.model.tuning.workload import Workload

#: Records that are looked at for extents which a DAG's text lacks.
_RECORDS_READ = 8
_TOLD = 3
#: 2022-01-04, Unix time: topi's convolutions got the names of v0.9 (pull request 9832).
_CONVOLUTIONS_NAMED = 1_641_254_400


def find_dag(
    parts: TuningParts, task: Task, by_hash: Callable[[], Mapping[str, str]]
) -> tuple[ComputeDag | None, tuple[str, ...]]:
    """Return the DAG of a task, and why what was given for it could not be used.

    `by_hash` returns what :func:`texts_by_hash` does, which most logs need not know.
    """
    problems: tuple[str, ...] = ()
    if task.tuner == "ansor":
        try:
            found = _from_text(parts, task, by_hash)
        except FormatError as problem:
            found, problems = None, (str(problem),)
        if found is not None:
            return with_assumed(_completed(found, parts, task), assumed_for(parts, task))
        return assumed_for(parts, task), problems
    return None, ()


def texts_by_hash(dags: Mapping[str, str]) -> dict[str, str]:
    """Return the DAG texts by each hash that may name them, of several that which has it as key."""
    found: dict[str, str] = {}
    for text in dict.fromkeys(dags.values()):
        for digest in hashes_of(text):
            found[digest] = dags[digest] if dags.get(digest) == text else found.get(digest, text)
    return found


def assumed_for(parts: TuningParts, task: Task) -> ComputeDag | None:
    """Return the DAG that is known where nobody gives one, from the name of the function alone."""
    args = task.workload.args
    if task.tuner != "ansor" or args is None or task.workload.is_hash:
        return None
    return assumed_dag(task.workload.name, args, _release(parts, task))


def with_assumed(dag: ComputeDag, assumed: ComputeDag | None) -> tuple[ComputeDag, tuple[str, ...]]:
    """Return a DAG with the extents that it lacks from a known one, and what to say of it.

    They are taken where operations and axes have the same names, and both know no other extent.
    """
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
        told = "; ".join(differing[:_TOLD])
        return dag, (f"The given DAG differs from TVM's workload of this name: {told}",)
    if not lacks_extents(dag):
        return dag, ()
    filled = tuple(map(_with_extents, dag.operations, assumed.operations))
    return replace(dag, operations=filled), (f"Extents that it lacks are {assumed.source}",)


def _with_extents(operation: Operation, known: Operation) -> Operation:
    def of(axis: Axis, other: Axis) -> Axis:
        return axis if axis.extent is not None or axis.symbol else other

    return replace(
        operation,
        axes=tuple(map(of, operation.axes, known.axes)),
        reduce_axes=tuple(map(of, operation.reduce_axes, known.reduce_axes)),
    )


def _axes(operation: Operation) -> tuple[Axis, ...]:
    return (*operation.axes, *operation.reduce_axes)


def _names(dag: ComputeDag) -> list[tuple[object, ...]]:
    return [
        (
            each.name,
            each.kind,
            tuple(axis.name for axis in each.axes),
            tuple(axis.name for axis in each.reduce_axes),
        )
        for each in dag.operations
    ]


def _from_text(
    parts: TuningParts, task: Task, by_hash: Callable[[], Mapping[str, str]]
) -> ComputeDag | None:
    key = task.workload_key
    if key in parts.dags:
        return _parsed(parts.dags[key], DagSource.DUMP, task.workload)
    if not task.workload.is_hash:
        return None
    text = by_hash().get(task.workload.name)
    return None if text is None else _parsed(text, DagSource.TEXT, task.workload)


def _parsed(text: str, source: DagSource, workload: Workload) -> ComputeDag:
    """Read a text with the shapes of the key; flattened ones follow those of the inputs."""
    if workload.shapes or not workload.is_hash or not workload.args:
        return parse_dag(text, source=source, shapes=workload.shapes)
    dag = parse_dag(text, source=source)
    inputs = [each.shape for each in dag.operations if each.is_placeholder]
    rest = _without(workload.args, [size for shape in inputs for size in shape])
    if rest is None:
        return dag
    shapes = [[size or 0 for size in shape] for shape in inputs]
    return parse_dag(text, source=source, shapes=[*shapes, rest])


def _without(args: Sequence[Any], sizes: Sequence[int | None]) -> list[int] | None:
    """Return what follows some sizes in a flat list, None where it begins with others."""
    if not all(isinstance(each, int) for each in args) or list(args[: len(sizes)]) != list(sizes):
        return None
    return list(args[len(sizes) :])


def _completed(dag: ComputeDag, parts: TuningParts, task: Task) -> ComputeDag:
    """Return a DAG with the extents that it lacks and the task's first records have."""
    for row in parts.trials.of_task(task.index)[:_RECORDS_READ].tolist():
        if not lacks_extents(dag):
            break
        try:
            dag = with_recorded_extents(dag, read_steps(parts, row))
        except FormatError:  # the file is just being written again
            break
    return dag


def _release(parts: TuningParts, task: Task) -> tuple[int, int]:
    """Return the TVM whose names of topi's stages are meant.

    Tasks have six fields since v0.8. Targets had the option ``-link-params`` up to v0.9, those of
    CUDA have ``-arch`` since v0.9.
    """
    attrs = task.target.attrs
    is_late = task.fields >= 6 and "link-params" not in attrs
    if task.target.kind == "cuda":
        is_late = is_late and "arch" in attrs
    times = parts.trials.timestamp[parts.trials.of_task(task.index)]
    return (0, 10) if is_late and not (times < _CONVOLUTIONS_NAMED).any() else (0, 8)
