"""What the calls of delegates took, and how much of that their events account for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.executorch.delegate_calls import CALL, DelegateCalls, named, run_of
from tvmdbg_widgets.model.executorch.etdump import EventKind
from tvmdbg_widgets.model.executorch.program_instructions import DelegateCall

if TYPE_CHECKING:
    from tvmdbg_widgets.model.executorch.files import ExecuTorchFiles

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class DelegateCallTime:
    """One call of a delegate.

    Attributes
    ----------
    execution : int
        Position of the run in the dump.
    instruction : int
    backend : str
        Empty where no file names it.
    start_ns, duration_ns : float
        The start counts from the first event of the dump.
    events : int
        Profile events that the delegate logged in it.
    inside_ns : float
        Time that some event covers; NaN where the delegate has a clock of its own.
    gaps : tuple of (float, float)
        Start and duration of each stretch that no event covers; empty where that is not known.
    compile_specs : tuple of (str, str)
        What the backend was told as it compiled, as the program has it; empty without it.
    """

    execution: int
    instruction: int
    backend: str
    start_ns: float
    duration_ns: float
    events: int
    inside_ns: float
    gaps: tuple[tuple[float, float], ...]
    compile_specs: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        name = self.backend or "delegate"
        text = f"{name}, instruction {self.instruction}, run {self.execution}: "
        text += f"{duration_text(self.duration_ns)}, {counted(self.events, 'event')}"
        if np.isnan(self.inside_ns):
            return f"{text} of a clock of its own"
        if not self.events:
            return text
        share = percent(self.inside_ns / self.duration_ns) if self.duration_ns else "all"
        return f"{text} that cover {share}, {counted(len(self.gaps), 'gap')}"


class DelegateCallTimes(Sequence[DelegateCallTime]):
    """The calls of delegates in the order of the dump."""

    def __init__(self, calls: Sequence[DelegateCallTime]) -> None:
        self._calls = tuple(calls)

    @overload
    def __getitem__(self, index: int) -> DelegateCallTime: ...
    @overload
    def __getitem__(self, index: slice) -> DelegateCallTimes: ...
    def __getitem__(self, index: int | slice) -> DelegateCallTime | DelegateCallTimes:
        if isinstance(index, slice):
            return DelegateCallTimes(self._calls[index])
        return self._calls[index]

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[DelegateCallTime]:
        return iter(self._calls)

    def to_dataframe(self) -> Any:
        """Return one row a call (``pandas.DataFrame``); ImportError without pandas."""
        columns = DelegateCallTime.__slots__
        return data_frame({name: [getattr(each, name) for each in self] for name in columns})

    def __repr__(self) -> str:
        lines = [f"{counted(len(self), 'call')} of delegates"]
        lines += [f"  {each!r}" for each in self._calls[:_SHOWN]]
        more = len(self) - _SHOWN
        return "\n".join([*lines, f"  … and {more} more"] if more > 0 else lines)


def delegate_call_times(files: ExecuTorchFiles) -> DelegateCallTimes:
    """Return the calls of delegates; none where there is no ETDump."""
    dump, joined = files.dump, files.event_nodes
    if dump is None or not dump.num_events:
        return DelegateCallTimes(())
    calls = DelegateCalls.of(dump)
    origin = int(dump.start[dump.kind == EventKind.PROFILE].min(initial=np.uint64(2**64 - 1)))
    run = run_of(dump)
    inner: dict[int, list[int]] = {}
    for event in np.flatnonzero(calls.call >= 0).tolist():
        inner.setdefault(int(calls.call[event]), []).append(event)
    found = []
    for call in np.flatnonzero(named(dump, CALL) & (dump.kind == EventKind.PROFILE)).tolist():
        events = inner.get(call, [])
        start, end = int(dump.start[call]), int(dump.end[call])
        own = any(calls.foreign[event] for event in events)
        spans = [] if own else [(int(dump.start[e]), int(dump.end[e])) for e in events]
        covered, gaps = _covered(spans, start, end)
        at = (int(dump.chain_index[call]), int(dump.instruction_id[call]))
        found.append(
            DelegateCallTime(
                int(run[call]),
                at[1],
                joined.backends.get(at, "") if joined is not None else "",
                float(start - origin),
                float(max(0, end - start)),
                len(events),
                float("nan") if own else float(covered),
                tuple((float(a - origin), float(b - a)) for a, b in gaps) if spans else (),
                _compile_specs(files, *at),
            )
        )
    return DelegateCallTimes(found)


def _compile_specs(files: ExecuTorchFiles, chain: int, index: int) -> tuple[tuple[str, str], ...]:
    plans = files.program.plans if files.program is not None else ()
    plan = next((each for each in plans if each.name == files.method), None)
    if plan is None or not 0 <= chain < len(plan.chains):
        return ()
    instructions = plan.chains[chain].instructions
    if not 0 <= index < len(instructions):
        return ()
    call = instructions[index]
    if not isinstance(call, DelegateCall) or not 0 <= call.delegate_index < len(plan.delegates):
        return ()
    specs = plan.delegates[call.delegate_index].compile_specs
    return tuple((spec.key, spec.text()) for spec in specs)


def _covered(
    spans: list[tuple[int, int]], start: int, end: int
) -> tuple[int, list[tuple[int, int]]]:
    """Return how much of a stretch some spans cover, and what lies between them."""
    at, covered = start, 0
    gaps: list[tuple[int, int]] = []
    for begun, ended in sorted(spans):
        first, last = max(begun, at), min(ended, end)
        if first > at:
            gaps.append((at, first))
        if last > first:
            covered += last - first
        at = max(at, last)
    if at < end:
        gaps.append((at, end))
    return covered, gaps
