"""Tensor computations behind the stages, as ``te.Schedule`` rewrites them.

Cache and rfactor stages get names, loops and extents from here
(src/te/schedule/schedule_dataflow_rewrite.cc). Names are TE's: ``k.outer``, ``i.c``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeAlias

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.trials import ComputeDag, Operation
from tvmdbg_widgets.model.tuning.trials import reads as reads_in


class RewriteError(Exception):
    """Refusal by TE; `field` is the step's field at fault."""

    def __init__(self, problem: str, field: str = "") -> None:
        super().__init__(problem)
        self.field = field


@dataclass(frozen=True)
class TensorAxis:
    """An axis; `factor` is that of its split."""

    name: str
    extent: int | None
    symbol: str = ""
    factor: int | None = None


@dataclass(frozen=True)
class Computation:
    """Computation of one stage."""

    key: int
    name: str
    origin: str
    operation: int
    is_placeholder: bool
    axes: tuple[TensorAxis, ...]
    reduce_axes: tuple[TensorAxis, ...]
    outputs: int
    reads: frozenset[tuple[int, int]] | None


@dataclass(frozen=True)
class _LeafLoop:
    axis: TensorAxis
    roots: frozenset[int]


class Dataflow:
    """Computations by stage, in the order of the stages."""

    def __init__(self, dag: ComputeDag) -> None:
        self.computations = [_computation(each, at) for at, each in enumerate(dag.operations)]
        self._keys = count(len(self.computations))

    def cache_read(self, stage: int, scope: str, readers: Iterable[int]) -> Computation:
        """Add a computation behind `stage` that copies it for its readers."""
        source = self.computations[stage]
        name = source.origin if source.outputs == 1 else f"{source.origin}.v0"
        taken = {computation.name for computation in self.computations}
        while f"{name}.{scope}" in taken:  # TVM's own name of a third copy is not stable
            name += ".d"
        key, read = next(self._keys), (source.key, 0)
        for reader in readers:
            self._redirect(reader, stage, read, (key, 0))
        axes = _numbered(source.axes)
        name = f"{name}.{scope}"
        copy = Computation(key, name, name, source.operation, False, axes, (), 1, frozenset({read}))
        self.computations.insert(stage + 1, copy)
        return copy

    def cache_write(self, stage: int, scope: str) -> tuple[Computation, Computation]:
        """Add a computation before `stage`, which then only copies."""
        source = self.computations[stage]
        if source.is_placeholder:
            raise RewriteError("a placeholder is not computed, so it has no cache to write")
        name, key = f"{source.name}.{scope}", next(self._keys)
        axes = tuple(replace(axis, name=f"{axis.name}.c") for axis in source.axes)
        cache = replace(source, key=key, name=name, origin=name, axes=axes)
        copied = frozenset((key, output) for output in range(source.outputs))
        copy = replace(source, reduce_axes=(), reads=copied)
        self.computations[stage : stage + 1] = [cache, copy]
        return cache, copy

    def rfactor(
        self, stage: int, leaves: Leaves, iterator: int, position: int
    ) -> tuple[Computation, Computation]:
        """Add a computation before `stage` with one of its reduction loops as an axis."""
        source = self.computations[stage]
        factored, others = leaves.factored(iterator)
        axes = list(source.axes)
        place = position if position >= 0 else len(axes) + 1 + position
        if not 0 <= place <= len(axes):
            raise RewriteError(
                f"there is no place {position} among {counted(len(axes), 'axis')}", "factor_iter_id"
            )
        axes.insert(place, factored)
        key = next(self._keys)
        name, kept = f"{source.name}.rf", f"{source.name}.repl"
        partial = replace(
            source, key=key, name=name, origin=name, axes=tuple(axes), reduce_axes=others
        )
        combined = replace(
            source,
            name=kept,
            axes=_numbered(source.axes),
            reduce_axes=(replace(factored, name=f"{factored.name}.v"),),
            reads=frozenset((key, output) for output in range(source.outputs)),
        )
        self.computations[stage : stage + 1] = [partial, combined]
        return partial, combined

    def _redirect(
        self, reader: int, stage: int, old: tuple[int, int], new: tuple[int, int]
    ) -> None:
        reads = self.computations[reader].reads
        is_reader = reader > stage if reads is None else old in reads
        if not is_reader or self.computations[reader].is_placeholder:
            raise RewriteError(
                f"stage {reader} does not read stage {stage} ({self.computations[stage].name!r})",
                "reader_stage_ids",
            )
        if reads is not None:
            changed = replace(self.computations[reader], reads=reads - {old} | {new})
            self.computations[reader] = changed


class Leaves:
    """Loops of one stage as TE has them for an rfactor: fused, then split."""

    def __init__(self, computation: Computation) -> None:
        self._computation = computation
        roots = (*computation.axes, *computation.reduce_axes)
        self._leaves = [_LeafLoop(axis, frozenset({index})) for index, axis in enumerate(roots)]

    def fuse(self, places: tuple[int, ...]) -> None:
        """Fuse loops; fusing none makes a loop that replaces all."""
        chosen = [self._leaf(place, "fused_ids") for place in places]
        if not chosen:
            self._leaves = [_LeafLoop(TensorAxis("singleton", 1), frozenset({-1}))]
            return
        fused = chosen[0]
        for leaf in chosen[1:]:
            fused = _LeafLoop(_fused(fused.axis, leaf.axis), fused.roots | leaf.roots)
        self._leaves[places[0] : places[-1] + 1] = [fused]

    def split(self, place: int, lengths: tuple[int, ...], inner_to_outer: bool) -> None:
        """Split a loop repeatedly, its outer part or its inner part again."""
        leaf = self._leaf(place, "iter_id")
        rest, parts = leaf.axis, []
        for length in reversed(lengths) if inner_to_outer else lengths:
            outer, inner = f"{rest.name}.outer", f"{rest.name}.inner"
            left = None if rest.extent is None else -(-rest.extent // length)
            part = TensorAxis(inner if inner_to_outer else outer, length, factor=length)
            rest = TensorAxis(outer if inner_to_outer else inner, left)
            parts.append(part)
        parts.append(rest)
        ordered = reversed(parts) if inner_to_outer else parts
        self._leaves[place : place + 1] = [_LeafLoop(axis, leaf.roots) for axis in ordered]

    def factored(self, place: int) -> tuple[TensorAxis, tuple[TensorAxis, ...]]:
        """Return a loop, and the rest of the reduction when it becomes an axis."""
        leaf = self._leaf(place, "iter_id")
        spatial = len(self._computation.axes)
        if not any(root >= spatial for root in leaf.roots):
            raise RewriteError(f"{leaf.axis.name!r} is no reduction axis", "iter_id")
        if any(root < spatial for root in leaf.roots):
            raise RewriteError(f"{leaf.axis.name!r} comes from a spatial axis too", "iter_id")
        untouched = tuple(
            axis
            for index, axis in enumerate(self._computation.reduce_axes, spatial)
            if index not in leaf.roots
        )
        touched = tuple(
            other.axis
            for index, other in enumerate(self._leaves)
            if index != place and other.roots & leaf.roots
        )
        return leaf.axis, untouched + touched

    def _leaf(self, place: int, field: str) -> _LeafLoop:
        if not 0 <= place < len(self._leaves):
            raise RewriteError(
                f"there is no loop {place} among the {len(self._leaves)} that the stage has for "
                "an rfactor",
                field,
            )
        return self._leaves[place]


def _numbered(axes: Iterable[TensorAxis]) -> tuple[TensorAxis, ...]:
    return tuple(TensorAxis(f"ax{k}", axis.extent, axis.symbol) for k, axis in enumerate(axes))


def _computation(operation: Operation, index: int) -> Computation:
    axes = tuple(TensorAxis(axis.name, axis.extent, axis.symbol) for axis in operation.axes)
    if operation.is_placeholder:
        axes = tuple(TensorAxis("", extent) for extent in operation.shape)
    reduce_axes = tuple(
        TensorAxis(axis.name, axis.extent, axis.symbol) for axis in operation.reduce_axes
    )
    return Computation(
        index,
        operation.name,
        operation.name,
        index,
        operation.is_placeholder,
        axes,
        reduce_axes,
        operation.outputs,
        _reads(operation),
    )


def _reads(operation: Operation) -> frozenset[tuple[int, int]] | None:
    if not operation.bodies and not operation.is_placeholder:
        return None
    body_reads = [read for body in operation.bodies for read in reads_in(body)]
    if any(read.operation < 0 for read in body_reads):
        return None
    return frozenset((read.operation, read.output) for read in body_reads)


def _fused(outer: TensorAxis, inner: TensorAxis) -> TensorAxis:
    known = outer.extent is not None and inner.extent is not None
    extent = outer.extent * inner.extent if known else None  # type: ignore[operator]
    return TensorAxis(f"{outer.name}.{inner.name}.fused", extent)


Loop: TypeAlias = tuple[int, int]  # A stage and the place of one of its loops


class Attachments:
    """Attached stages by loop, and loops by stage."""

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
        """Renumber for an inserted stage: numbers from `at` on grow by one."""

        def after(stage: int) -> int:
            return stage + (stage >= at)

        self.stages = {
            (after(stage), place): [after(other) for other in attached]
            for (stage, place), attached in self.stages.items()
        }
        self.loops = {
            after(stage): (after(target), place) for stage, (target, place) in self.loops.items()
        }


_REPLACED = ((".", "_"), ("@", "_"), ("outer", "o"), ("inner", "i"))


def clean_name(name: str) -> str:
    """Return the loop name of an axis (``CleanName``, src/auto_scheduler/utils.h).

    >>> clean_name("k.inner@router")

    'k_i_ro'
    """
    for old, new in _REPLACED:
        name = name.replace(old, new)
    return name
