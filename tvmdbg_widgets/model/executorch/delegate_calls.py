"""Which call each event of a delegate was logged in, and whether its clock is the runtime's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbering import first_rows, numbered
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind
from tvmdbg_widgets.model.executorch.xnnpack_names import xnnpack_family

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

CALL: Final = "DELEGATE_CALL"
EXECUTE: Final = "Method::execute"
LOADING: Final = ("Program::load_method", "Method::init")
_XNNPACK: Final = "XnnpackBackend"
_SPELLED: Final = {"Xnnpack": "XNNPACK", "Qnn": "QNN"}
#: XNNPACK counts in whole microseconds (``XNNProfiler.cpp`` @ v1.4.1): its events may end so many
#: ticks after their call, and those that take less are of no length.
_ROUNDING = 1000
#: Vulkan's phases are timed by the runtime, its dispatches by the GPU (``VulkanBackend.cpp``).
_BY_THE_RUNTIME = "ETVK_"


@dataclass(frozen=True, eq=False)
class DelegateCalls:
    """The calls of delegates in a dump of E events."""

    call: Ints
    foreign: Bools
    shift: npt.NDArray[np.float64]

    @classmethod
    def of(cls, dump: ETDump) -> DelegateCalls:
        """Find the calls; an event belongs to the next one of its instruction in its run."""
        count = dump.num_events
        profile = dump.kind == EventKind.PROFILE
        inner = np.flatnonzero(profile & is_of_delegate(dump))
        calls = np.flatnonzero(profile & named(dump, CALL))
        key = instruction_keys(dump)
        width = count + 1
        ends = np.sort(key[calls] * width + calls)
        at = np.searchsorted(ends, key[inner] * width + inner)
        found = at < len(ends)
        found[found] = ends[at[found]] // width == key[inner][found]
        call = np.full(count, -1, np.int64)
        call[inner[found]] = ends[at[found]] % width
        foreign = _foreign(dump, inner, call)
        return cls(call, foreign, _shift(dump, call, foreign))


def is_of_delegate(dump: ETDump) -> Bools:
    """Return the events that have a delegate debug identifier."""
    unnamed = [not each for each in dump.delegate_id_str.unique] or [True]
    without = np.array(unnamed, np.bool_)[dump.delegate_id_str.codes]
    found: Bools = (dump.delegate_id_int != -1) | ~without
    return found


def named(dump: ETDump, name: str) -> Bools:
    """Return the events of a name that have no delegate debug identifier."""
    alike = np.array([each == name for each in dump.names.unique] or [False], np.bool_)
    return alike[dump.names.codes] & ~is_of_delegate(dump)


def rounding_ns(
    dump: ETDump, calls: DelegateCalls, backends: Mapping[tuple[int, int], str]
) -> float:
    """Return what XNNPACK counted whole units of where it logged events; 0 where it did not.

    An event is XNNPACK's by its delegate's id, or its name where no file tells the id.
    """
    profile = dump.kind == EventKind.PROFILE
    told = dump.delegate_id_str
    rows = numbered(dump.chain_index, dump.instruction_id, told.codes)
    first = first_rows(rows)
    own = np.zeros(len(first), np.bool_)
    for at, event in enumerate(first.tolist()):
        place = int(dump.chain_index[event]), int(dump.instruction_id[event])
        own[at] = (
            backends[place] == _XNNPACK
            if backends.get(place)
            else xnnpack_family(told[event]) is not None
        )
    found = own[rows] & profile & is_of_delegate(dump) & ~calls.foreign
    backwards = profile & (dump.end < dump.start)
    whole = (dump.end - dump.start)[found] % np.uint64(_ROUNDING) == 0
    return float(_ROUNDING) if len(whole) and whole.all() and not backwards.any() else 0.0


def run_of(dump: ETDump) -> Ints:
    """Return the run of each event."""
    return np.repeat(np.arange(dump.num_runs), np.diff(dump.run_offsets))


def instruction_keys(dump: ETDump) -> Ints:
    """Number the pairs of run and instruction; return the number of each event."""
    return numbered(run_of(dump), dump.chain_index, dump.instruction_id)


def _foreign(dump: ETDump, inner: Ints, call: Ints) -> Bools:
    """Return the events of the instructions one of whose events leaves its call."""
    known = inner[call[inner] >= 0]
    of = call[known]
    late = dump.end[known] > dump.end[of] + np.uint64(_ROUNDING)
    outside = (dump.start[known] + np.uint64(_ROUNDING) < dump.start[of]) | late
    # A delegate has one clock in all runs.
    instruction = dump.chain_index * (1 << 32) + dump.instruction_id
    wrong = np.unique(instruction[known[outside]])
    found = np.zeros(dump.num_events, np.bool_)
    found[inner] = np.isin(instruction[inner], wrong)
    told = dump.delegate_id_str
    runtime = [each.startswith(_BY_THE_RUNTIME) for each in told.unique] or [False]
    return found & ~np.array(runtime, np.bool_)[told.codes]


def _shift(dump: ETDump, call: Ints, foreign: Bools) -> npt.NDArray[np.float64]:
    shift = np.zeros(dump.num_events)
    rows = np.flatnonzero(foreign & (call >= 0))
    if len(rows):
        of, number = np.unique(call[rows], return_inverse=True)
        first = np.full(len(of), np.iinfo(np.uint64).max, np.uint64)
        np.minimum.at(first, number, dump.start[rows])
        begin = dump.start[of].astype(np.float64)
        shift[rows] = (begin - first.astype(np.float64))[number]
    return shift


def backend_title(backend: str) -> str:
    """Return what a backend is called: ``"XNNPACK"`` of ``"XnnpackBackend"``."""
    name = one_line(backend).removesuffix("Backend")
    return _SPELLED.get(name, name) or "delegate"
