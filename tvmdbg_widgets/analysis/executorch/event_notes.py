"""What of a block the Inspector answers differently, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tvmdbg_widgets.analysis.executorch.events import Event
from tvmdbg_widgets.analysis.executorch.logged_values import LoggedValues
from tvmdbg_widgets.analysis.executorch.run_patterns import RunPattern
from tvmdbg_widgets.analysis.executorch.time_scale import MOST_TICKS
from tvmdbg_widgets.formats.executorch.debug_buffer import is_known_to_inspector
from tvmdbg_widgets.formats.executorch.debug_tensors import c_order
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, ETDump, EventKind


def notes(events: Sequence[Event], patterns: Sequence[RunPattern]) -> list[str]:
    """Return what the dump alone tells, a sentence each."""
    found = []
    repeated = [event for event in events if max(event.occurrences, default=0) > 1]
    if repeated:
        most = max(max(event.occurrences) for event in repeated)
        found.append(
            f"{counted(len(repeated), 'event')} with up to {most:,} occurrences in a run, as "
            f"{one_line(repeated[0].name)!r}: every time is kept; the Inspector keeps the last"
        )
    if allocations := sum(pattern.allocations for pattern in patterns):
        found.append(
            f"{counted(allocations, 'allocation event')} left out; the Inspector refuses the dump"
        )
    backward = sum(_unknown(event) for event in events)
    if backward:
        found.append(
            f"{counted(backward, 'event')} with an end before the start: no duration (NaN); the "
            "Inspector refuses the dump"
        )
    chains = {event.chain_index for event in events} - {-1}
    if len(chains) > 1:
        found.append(
            f"instructions of {counted(len(chains), 'chain')}, kept apart; the Inspector takes "
            "those with the same number for one"
        )
    return found


def notes_on_events(dump: ETDump, runs: Sequence[int]) -> list[str]:
    """Return what clocks and debug events of some runs of a dump tell, a sentence each."""
    bounds = dump.run_offsets.tolist()
    rows = np.concatenate([np.arange(0), *(np.arange(*bounds[run : run + 2]) for run in runs)])
    start, end, kind = dump.start[rows], dump.end[rows], dump.kind[rows]
    named = np.array([text != "" for text in dump.delegate_id_str.unique], np.bool_)
    delegated = (dump.delegate_id_int != -1)[rows] | named[dump.delegate_id_str.codes[rows]]
    wrapped = (kind == EventKind.PROFILE) & (start > end) & (start <= MOST_TICKS) & delegated
    found = []
    if count := int(np.count_nonzero(wrapped)):
        found.append(
            f"{counted(count, 'event')} of delegates over which a clock of 32 bits wrapped: the "
            "duration is that of the ticks; the Inspector divides the ticks before it subtracts, "
            "which gives nonsense"
        )
    logged = rows[kind == EventKind.DEBUG].tolist()
    if count := sum(row not in dump.values for row in logged):
        found.append(
            f"{counted(count, 'debug event')} without a value: it has none here; the Inspector "
            "refuses the dump"
        )
    return found


def notes_on_values(
    outputs: LoggedValues, of_events: Sequence[LoggedValues], runs: int
) -> list[str]:
    """Return what the logged values of a block tell, a sentence each; reads all of them."""
    found = []
    logged = [outputs, *of_events]
    different = sum(bool(each.differing) for each in logged)
    if different:
        whose = "the outputs and " if outputs.differing else ""
        events = counted(different - bool(outputs.differing), "event")
        found.append(
            f"the values of {whose}{events} differ between the {counted(runs, 'run')}: each is "
            "kept; the Inspector refuses the dump"
        )
    tensors = [tensor for each in logged for tensor in each.tensors]
    if unknown := sum(not is_known_to_inspector(each) for each in tensors):
        found.append(
            f"{counted(unknown, 'logged tensor')} of types such as bfloat16 that the Inspector "
            "does not know: it refuses the dump"
        )
    if tensors and not all(each.has_buffer for each in logged if each.runs):
        found.append(
            f"{counted(len(tensors), 'logged tensor')} without values, because no debug buffer is "
            "given; the Inspector gives zeros"
        )
        return found
    if strided := sum(map(_is_strided, tensors)):
        found.append(
            f"{counted(strided, 'logged tensor')} read with other strides than those of C order; "
            "the Inspector ignores strides"
        )
    return found


def _is_strided(tensor: DebugTensor) -> bool:
    usual = c_order(tensor.sizes)
    return any(
        step != other and size > 1
        for size, step, other in zip(tensor.sizes, tensor.strides, usual, strict=False)
    )


def _unknown(event: Event) -> int:
    data = event.perf_data
    return sum(map(math.isnan, data.raw)) if data else 0
