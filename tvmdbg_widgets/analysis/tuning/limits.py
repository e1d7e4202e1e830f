"""Where another machine's hardware parameters are smaller than those schedules were made for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tvmdbg_widgets.analysis.tuning.records.identity import target_keys
from tvmdbg_widgets.analysis.tuning.threads import UNKNOWN, threads_per_block
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.hardware import HARDWARE_NAMES, UNCHECKED, HardwareParams
from tvmdbg_widgets.model.tuning.record import Record
from tvmdbg_widgets.model.tuning.target import Target

#: What TVM takes for these GPUs whatever the device (``GetDefaultHardwareParams``,
#: src/auto_scheduler/search_task.cc); of others it asks the device.
_FIXED = {
    "metal": (-1, 16, 64, 32768, UNCHECKED, 1024, 2, 8),
    "mali": (-1, 16, 64, 32768, UNCHECKED, 256, 1, 1),
    "adreno": (-1, 16, 64, 32768, 32768, 256, 1, 1),
}
_MEMORY = ("max_shared_memory_per_block", "max_local_memory_per_block")
_MOST_ROWS = 8


def known_hardware(target: Target) -> dict[str, int]:
    """Return the hardware parameters TVM gives every device of a target; empty where it asks."""
    fixed = _FIXED.get(target.attrs.get("device", "")) or _FIXED.get(target.kind)
    return {} if fixed is None else dict(zip(HARDWARE_NAMES, fixed, strict=True))


def limit_warnings(records: Sequence[Record], new: Mapping[str, int]) -> list[str]:
    """Return what gets smaller, and which schedules need more, as far as their steps tell."""
    found = []
    for name, after in new.items():
        before = [(_value(each.task.hardware, name), each) for each in records]
        smaller = [(value, each) for value, each in before if value > 0 and value > after]
        if smaller:
            largest = max(value for value, _ in smaller)
            told = _consequence([each for _, each in smaller], name, after)
            found.append(f"{name}: {largest:,} → {after:,}; {told}")
    return found


def gpu_warnings(records: Sequence[Record], target: Target) -> list[str]:
    """Return which schedules cannot be built for a target, as it is a GPU or is none.

    Nothing is said of targets whose kind is not known, as tags.
    """
    keys = target_keys(target) or ()
    is_gpu = "gpu" in keys
    if not is_gpu and "cpu" not in keys:
        return []
    wrong = [each.row for each in records if bool(threads_per_block(each.steps)) != is_gpu]
    if not wrong:
        return []
    how = "no loop is bound" if is_gpu else "loops are bound"
    return [f"{how} to GPU threads, so {target.kind} cannot build: {_schedules(wrong)}"]


def _value(hardware: HardwareParams | None, name: str) -> int:
    """Return a parameter; 0, which limits nothing, where the log does not have it."""
    if hardware is None:
        return 0
    if name == "max_local_memory_per_block":
        return hardware.max_local_memory_per_block or 0
    return int(getattr(hardware, name))


def _consequence(records: Sequence[Record], name: str, after: int) -> str:
    if name in _MEMORY:
        return "how much of it the schedules use is not in the log: some may fail"
    if name != "max_threads_per_block":
        return "schedules run all the same, but were chosen for the larger value"
    threads = {each.row: threads_per_block(each.steps) for each in records}
    over = [row for row, need in threads.items() if need > after]
    unknown = sum(need == UNKNOWN for need in threads.values())
    told = "no schedule is known to have more threads"
    if over:
        told = (
            f"exceeded by {_schedules(over)}, with up to {counted(max(threads.values()), 'thread')}"
        )
    return f"{told}; unknown for {counted(unknown, 'schedule')}" if unknown else told


def _schedules(rows: Iterable[int]) -> str:
    """Name schedules by rows: ``"3 schedules (rows 12, 40, 77)"``."""
    every = sorted(rows)
    named = ", ".join(map(str, every[:_MOST_ROWS]))
    more = f" and {len(every) - _MOST_ROWS} more" if len(every) > _MOST_ROWS else ""
    return f"{counted(len(every), 'schedule')} (row{'s' * (len(every) > 1)} {named}{more})"
