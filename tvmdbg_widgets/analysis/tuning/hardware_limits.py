"""Hardware limits that schedules of a log exceed, and threads per block."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.identity import target_keys
from tvmdbg_widgets.analysis.tuning.schedules.replaying import Replay
from tvmdbg_widgets.analysis.tuning.schedules.working import ReplayError
from tvmdbg_widgets.formats.tuning.record import read_steps
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.measure_errors import Record
from tvmdbg_widgets.model.tuning.parts import (
    HARDWARE_NAMES,
    UNCHECKED,
    HardwareParams,
    Target,
    TuningParts,
)
from tvmdbg_widgets.model.tuning.steps import Annotation, AnyStep, SplitStep, Stage

#: Limits that TVM assumes for these GPUs on any device (``GetDefaultHardwareParams``,
#: src/auto_scheduler/search_task.cc); it queries the device for other targets.
_FIXED = {
    "metal": (-1, 16, 64, 32768, UNCHECKED, 1024, 2, 8),
    "mali": (-1, 16, 64, 32768, UNCHECKED, 256, 1, 1),
    "adreno": (-1, 16, 64, 32768, 32768, 256, 1, 1),
}
_MEMORY = ("max_shared_memory_per_block", "max_local_memory_per_block")
_MOST_ROWS = 8


def known_hardware(target: Target) -> dict[str, int]:
    """Return TVM's hardware parameters for a target; empty where TVM queries the device."""
    fixed = _FIXED.get(target.attrs.get("device", "")) or _FIXED.get(target.kind)
    return {} if fixed is None else dict(zip(HARDWARE_NAMES, fixed, strict=True))


def limit_warnings(records: Sequence[Record], new: Mapping[str, int]) -> list[str]:
    """Return limits that shrink, and schedules whose steps exceed them."""
    warnings = []
    for name, after in new.items():
        before = [(_limit(record.task.hardware, name), record) for record in records]
        smaller = [(value, was) for value, was in before if value > 0 and value > after]
        if smaller:
            largest = max(value for value, _ in smaller)
            consequence = _consequence([need for _, need in smaller], name, after)
            warnings.append(f"{name}: {largest:,} → {after:,}; {consequence}")
    return warnings


def gpu_warnings(records: Sequence[Record], target: Target) -> list[str]:
    """Return schedules that cannot be built because the known target is, or is not, a GPU."""
    keys = target_keys(target) or ()
    is_gpu = "gpu" in keys
    if not is_gpu and "cpu" not in keys:
        return []
    wrong = [record.row for record in records if bool(threads_per_block(record.steps)) != is_gpu]
    if not wrong:
        return []
    how = "no loop is bound" if is_gpu else "loops are bound"
    return [f"{how} to GPU threads, so {target.kind} cannot build: {_schedules_text(wrong)}"]


def _limit(hardware: HardwareParams | None, name: str) -> int:
    return int(getattr(hardware, name, 0) or 0)


def _consequence(records: Sequence[Record], name: str, after: int) -> str:
    if name in _MEMORY:
        return "how much of it the schedules use is not in the log: some may fail"
    if name != "max_threads_per_block":
        return "schedules still run, but were chosen for the larger value"
    threads = {record.row: threads_per_block(record.steps) for record in records}
    over = [row for row, need in threads.items() if need > after]
    unknown = sum(need == UNKNOWN for need in threads.values())
    exceeding = "no schedule is known to have more threads"
    if over:
        most = counted(max(threads.values()), "thread")
        exceeding = f"exceeded by {_schedules_text(over)}, with up to {most}"
    return f"{exceeding}; unknown for {counted(unknown, 'schedule')}" if unknown else exceeding


def _schedules_text(rows: Iterable[int]) -> str:
    every = sorted(rows)
    named = ", ".join(map(str, every[:_MOST_ROWS]))
    more = f" and {len(every) - _MOST_ROWS} more" if len(every) > _MOST_ROWS else ""
    return f"{counted(len(every), 'schedule')} (row{'s' * (len(every) > 1)} {named}{more})"


UNKNOWN = -1
_THREADS = (Annotation.THREAD_X, Annotation.THREAD_Y, Annotation.THREAD_Z)
_MOST_SHAPES = 1_000


def threads_per_block(steps: Sequence[AnyStep]) -> int:
    """Return the threads per block; of several kernels, the most."""
    # Most schedules of a task differ only in factors.
    shape = [
        SplitStep(step.stage_id, step.iter_id, 0, (1,) * len(step.lengths), step.inner_to_outer)
        if isinstance(step, SplitStep)
        else step
        for step in steps
    ]
    blocks = _block_factors(tuple(shape))
    if blocks is None:
        return UNKNOWN
    lengths = {at: step.lengths for at, step in enumerate(steps) if isinstance(step, SplitStep)}
    most = 0
    for block in blocks:
        threads = math.prod([lengths[at][place] for at, place in block])
        if threads >= 2**31:
            return UNKNOWN
        most = max(most, threads)
    return most


@lru_cache(_MOST_SHAPES)
def _block_factors(shape: tuple[AnyStep, ...]) -> tuple[tuple[tuple[int, int], ...], ...] | None:
    try:
        replaying = Replay(None, shape)
        for _ in shape:
            replaying.advance()
    except ReplayError:
        return None
    blocks = [_block(stage) for stage in replaying.state().stages]
    known = [block for block in blocks if block is not None]
    return tuple(filter(None, known)) if len(known) == len(blocks) else None


def _block(stage: Stage) -> tuple[tuple[int, int], ...] | None:
    bound = [loop.product for loop in stage.iterators if loop.annotation in _THREADS]
    known = [factors for factors in bound if factors is not None]
    return (
        tuple(factor for factors in known for factor in factors)
        if len(known) == len(bound)
        else None
    )


def threads_of(
    parts: TuningParts, rows: npt.NDArray[np.intp], *, progress: bool = True
) -> npt.NDArray[np.int32]:
    """Return the threads per block of some rows, read from their steps."""
    from tqdm.auto import tqdm

    on_gpu = np.array([task.tuner == "ansor" and task.target.is_gpu for task in parts.tasks], bool)
    places = np.flatnonzero(on_gpu[parts.trials.task[rows]])
    threads = np.zeros(len(rows), np.int32)
    look = {"unit": " records", "delay": 1, "leave": False, "disable": not progress}
    for place in tqdm(places.tolist(), desc="reading steps", **look):
        threads[place] = threads_per_block(read_steps(parts, int(rows[place])))
    return threads
