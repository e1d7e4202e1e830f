"""Identity of workloads and targets, and the record that TVM would apply."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from tvmdbg_widgets.analysis.tuning.curves import TaskLike, task_meant, tasks_named
from tvmdbg_widgets.analysis.tuning.trial_queries import best_rows
from tvmdbg_widgets.formats.tuning.record import read_record
from tvmdbg_widgets.model.base.numbers import as_float, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import Record
from tvmdbg_widgets.model.tuning.parts import Target, Task, TuningParts, Workload

#: Name and flat arguments; None for a key without arguments.
Identity: TypeAlias = tuple[str, tuple[Any, ...] | None]

#: Keys of a target whose string has none (``set_default_keys``, src/target/target_kind.cc).
_DEFAULT_KEYS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("llvm", "c", "stackvm"), ("cpu",)),
    **{kind: (kind, "gpu") for kind in ("cuda", "rocm", "opencl", "metal", "vulkan", "webgpu")},
    **dict.fromkeys(("ext_dev", "hybrid", "composite"), ()),
    "hexagon": ("hexagon", "cpu"),
    "nvptx": ("cuda", "gpu"),
    "sdaccel": ("sdaccel", "hls"),
    **dict.fromkeys(("aocl", "aocl_sw_emu"), ("aocl", "hls")),
}


def target_keys(target: Target) -> tuple[str, ...] | None:
    """Return ``target.keys`` (src/target/target.cc); None for an unknown kind, as of a tag."""
    device = target.attrs.get("device", "")
    keys = (*target.keys, device) if device else target.keys
    if not target.keys:
        defaults = _DEFAULT_KEYS.get(target.kind)
        if defaults is None:
            return None
        keys += defaults
    return tuple(dict.fromkeys(keys))


def identity(workload: Workload, tuner: str) -> Identity:
    """Return the key by which ``ApplyHistoryBest`` finds a workload, with flat arguments."""
    if tuner != "ansor":
        return workload.key, None
    args = None if workload.args is None else tuple(_flat(workload.args))
    return workload.name, args


def _flat(values: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the items of nested lists, iteratively since nesting may exceed the recursion limit."""
    waiting = list(reversed(values))
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += reversed(item)
        else:
            yield str(item) if isinstance(item, dict) else item


def distance(wanted: Identity, logged: Identity) -> float:
    """Return TVM's cost factor for a compatible workload, inf for an incompatible one."""
    ours, theirs = wanted[1] or (), logged[1] or ()
    if wanted[0] != logged[0] or len(ours) != len(theirs):
        return math.inf
    factor = 1.0
    for our, their in zip(ours, theirs, strict=True):
        if not isinstance(our, int) or not isinstance(their, int) or not our or not their:
            if our != their:
                return math.inf
        elif our % their:
            return math.inf
        else:
            factor *= as_float(our // their)
    return factor


@dataclass(frozen=True)
class Candidate:
    """The result of one of TVM's lookups.

    Attributes
    ----------
    record : Record
    found_by : str
        ``"model t4"``, ``"key cuda"``; ``"the workload"`` in MetaSchedule's database.
    factor : float
        1 for the workload itself; for a compatible one TVM's factor of its cost.
    """

    record: Record
    found_by: str
    factor: float


@dataclass(frozen=True)
class Applied:
    """The record that TVM applies.

    Attributes
    ----------
    record : Record or None
        None where the log has none for this target: TVM uses its default schedule.
    why : tuple of str
        Sentences.
    candidates : tuple of Candidate
        Results of the lookups, in TVM's order; the first one is applied.
    """

    record: Record | None
    why: tuple[str, ...]
    candidates: tuple[Candidate, ...]

    def __repr__(self) -> str:
        head = "no record" if self.record is None else f"row {self.record.row}"
        return "\n  ".join([f"Applied: {head}", *map(one_line, self.why)])


def applied(
    parts: TuningParts,
    task: TaskLike,
    target: Target | str | None = None,
    *,
    include_compatible: bool = False,
) -> Applied:
    """Return the record that TVM would apply for a workload, and why.

    Parameters
    ----------
    task : int, Task or str
        Index, task, or workload key, which the log need not have where a target is given.
    target : Target or str, optional
        Target of TVM: ``"cuda -keys=cuda,gpu -model=t4"``; the task's own by default.
    include_compatible : bool
        Include workloads whose arguments divide those asked for, as ``ApplyHistoryBest`` can.

    Raises
    ------
    IndexError, KeyError
        There is no such task, or several are of this workload key and no target is given.
    """
    asked = _wanted_workload(parts, task, target, include_compatible)
    lookup = _TrialLookup(parts, asked.tuner)
    if asked.tuner == "metaschedule":
        hit = lookup.anywhere(asked.identity)
        hits = [] if hit is None else [hit]
    else:
        hits = list(
            lookup.hits(asked.target, asked.identity, include_compatible=asked.include_compatible)
        )
    records = {hit.row: read_record(parts, hit.row) for hit in hits}
    candidates = tuple(Candidate(records[hit.row], hit.of, hit.factor) for hit in hits)
    why = tuple(reasons(parts, asked, lookup, hits))
    return Applied(candidates[0].record if candidates else None, why, candidates)


def _wanted_workload(
    parts: TuningParts, task: TaskLike, target: Target | str | None, include_compatible: bool
) -> _WantedWorkload:
    wanted = Target.parse(target) if isinstance(target, str) else target
    if isinstance(task, str) and wanted is not None:
        named = tasks_named(parts, task)
        if not named:
            return _WantedWorkload(_decoded(task), parts.tuner, wanted, include_compatible)
        meant = named[0]
    else:
        meant = task_meant(parts, task)
    return _WantedWorkload(meant.workload, meant.tuner, wanted or meant.target, include_compatible)


def _decoded(key: str) -> Workload:
    try:
        return Workload.of(key, json.loads(key))
    except (ValueError, RecursionError):
        return Workload.of(key, None)


_DEFAULT = "TVM uses its default schedule, which may be slow, or fail to compile on a GPU"
_SHOWN = 4


@dataclass(frozen=True)
class _WantedWorkload:
    """A workload, and the target TVM compiles it for."""

    workload: Workload
    tuner: str
    target: Target
    include_compatible: bool

    @property
    def identity(self) -> Identity:
        return identity(self.workload, self.tuner)


def reasons(
    parts: TuningParts, asked: _WantedWorkload, lookup: _TrialLookup, hits: Sequence[_Hit]
) -> Iterator[str]:
    """Yield sentences about the lookups' results."""
    if asked.tuner == "metaschedule":
        yield "MetaSchedule's database looks up the workload alone, for whatever target."
    else:
        yield from _order(asked.target)
    if hits:
        yield from _lookup_sentences(parts, hits)
    else:
        yield f"There is nothing there: {_DEFAULT}."
    yield from _target_sentences(parts, asked, hits)
    if asked.tuner == "ansor":
        yield from _apply_best_note(parts, asked, lookup, hits)
        if asked.workload.is_hash and asked.workload.args == ():
            yield (
                "The workload key has no shapes, as before January 2021: TVM 0.8 and later look "
                "up keys with shapes and do not find it."
            )
    if asked.tuner == "autotvm" and hits and parts.trials.version[hits[0].row] == "0.1":
        yield "The record is of version 0.1, which TVM 0.7 and later refuse to load."


def _order(target: Target) -> Iterator[str]:
    keys = target_keys(target)
    if keys is None:
        kind = one_line(target.kind)
        yield f"Keys of a target {kind!r} are not known here: write them out, as -keys=cuda,gpu."
    model = [f"model {target.model}"] if target.model else []
    looked_up = ", then ".join([*model, *(f"key {key}" for key in keys or ())]) or "nothing"
    yield (
        f"ApplyHistoryBest looks up {one_line(looked_up)}: the first that has the workload counts."
    )


def _lookup_sentences(parts: TuningParts, hits: Sequence[_Hit]) -> Iterator[str]:
    trials, first = parts.trials, hits[0]
    cost = trials.cost[first.row]
    rivals = np.isin(trials.task, first.tasks) & ~trials.failed
    claim = one_line(f"{first.of[0].upper()}{first.of[1:]} finds row {first.row}, {_ms(cost)}")
    if first.factor == 1:
        count = int(rivals.sum())
        among = (
            "the only valid trial"
            if count == 1
            else f"the lowest mean of {counted(count, 'valid trial')}"
        )
        yield f"{claim}: {among}."
    else:
        task = parts.tasks[trials.task[first.row]]
        scaled = f"{_ms(cost)} × {first.factor:g} = {_ms(cost * first.factor)}"
        yield (
            f"{claim}, of a compatible workload, {one_line(task.name)}: by size that is {scaled}, "
            "the lowest of those compatible."
        )
    ties = int((rivals & (trials.cost == cost)).sum()) - 1
    if ties and first.factor == 1:
        yield f"{counted(ties, 'later trial')} took as long: TVM keeps the first."
    for hit in hits[1:]:
        if hit.row != first.row:
            cost = trials.cost[hit.row]
            yield f"Only {one_line(hit.of)} would find row {hit.row}, {_ms(cost)}."


def _target_sentences(
    parts: TuningParts, asked: _WantedWorkload, hits: Sequence[_Hit]
) -> Iterator[str]:
    same = [
        task
        for task in parts.tasks
        if task.tuner == asked.tuner and identity(task.workload, task.tuner) == asked.identity
    ]
    if hits:
        measured_for = parts.tasks[parts.trials.task[hits[0].row]].target
        if measured_for.text != asked.target.text:
            target = one_line(measured_for.text)
            yield f"The row was measured for another target: {target}."
    if len(same) > 1 or (same and not hits):
        targets = "; ".join(one_line(task.target.text) for task in same[:_SHOWN])
        more = f"; and {len(same) - _SHOWN:,} more" if len(same) > _SHOWN else ""
        yield f"The log has this workload for {counted(len(same), 'target')}: {targets}{more}."


def _apply_best_note(
    parts: TuningParts, asked: _WantedWorkload, lookup: _TrialLookup, hits: Sequence[_Hit]
) -> Iterator[str]:
    row = hits[0].row if hits else None
    for hit, how in (
        (lookup.anywhere(asked.identity), "task.apply_best(log) looks at no target"),
        (
            lookup.anywhere(asked.identity, asked.target.kind),
            f"load_best_record(log, key, target) looks at the kind {asked.target.kind} alone",
        ),
    ):
        if hit is not None and hit.row != row:
            row = hit.row
            cost = parts.trials.cost[row]
            yield f"{one_line(how)}: it takes row {row}, {_ms(cost)}."


def _ms(seconds: float) -> str:
    return duration_text(float(seconds) * 1e9)


@dataclass(frozen=True)
class _Hit:
    row: int
    of: str
    tasks: tuple[int, ...]
    factor: float = 1.0


class _TrialLookup:
    """The valid trials of one tuner's tasks, as ``ApplyHistoryBest`` keeps them (dispatcher.py)."""

    def __init__(self, parts: TuningParts, tuner: str) -> None:
        trials = parts.trials
        best = best_rows(trials, len(parts.tasks)).tolist()
        first = np.full(len(parts.tasks), len(trials))
        valid = np.flatnonzero(~trials.failed)
        np.minimum.at(first, trials.task[valid], valid)
        self._first = first.tolist()
        self._best = best
        self._costs = trials.cost
        self._tasks = [
            (task, identity(task.workload, task.tuner))
            for task in parts.tasks
            if task.tuner == tuner and best[task.index] >= 0
        ]

    def hits(
        self, target: Target, wanted: Identity, *, include_compatible: bool = False
    ) -> Iterator[_Hit]:
        """Yield the lookups' results in TVM's order: it applies the first."""
        held: dict[str, list[tuple[Task, Identity]]] = {}
        if target.model:
            held[f"model {target.model}"] = [
                task for task in self._tasks if task[0].target.model == target.model
            ]
        for key in target_keys(target) or ():
            held[f"key {key}"] = [
                task for task in self._tasks if key in (target_keys(task[0].target) or ())
            ]
        for of, tasks in held.items():
            hit = self._same(of, tasks, wanted)
            if hit is None and include_compatible:
                hit = self._compatible(of, tasks, wanted)
            if hit is not None:
                yield hit

    def anywhere(self, wanted: Identity, kind: str | None = None) -> _Hit | None:
        """Return the choice of ``load_best_record``, which checks at most the target's kind."""
        tasks = [task for task in self._tasks if kind in (None, task[0].target.kind)]
        return self._same("the workload", tasks, wanted)

    def _same(self, of: str, tasks: list[tuple[Task, Identity]], wanted: Identity) -> _Hit | None:
        same = tuple(task.index for task, identity_of in tasks if identity_of == wanted)
        if not same:
            return None
        rows = [self._best[index] for index in same]
        return _Hit(min(rows, key=lambda row: (float(self._costs[row]), row)), of, same)

    def _compatible(
        self, of: str, tasks: list[tuple[Task, Identity]], wanted: Identity
    ) -> _Hit | None:
        factors = [(distance(wanted, logged), task.index) for task, logged in tasks]
        scaled = [
            (float(self._costs[self._best[index]]) * factor, self._first[index], index, factor)
            for factor, index in factors
            if math.isfinite(factor)
        ]
        if not scaled:
            return None
        _, _, index, factor = min(scaled)
        return _Hit(self._best[index], of, tuple(candidate[2] for candidate in scaled), factor)
