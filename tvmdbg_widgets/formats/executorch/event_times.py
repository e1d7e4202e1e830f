"""What nodes took by the events of a dump: alone, and several of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.executorch.delegate_calls import (
    instruction_keys,
    is_of_delegate,
    run_of,
)
from tvmdbg_widgets.model.executorch.etdump import EventKind

if TYPE_CHECKING:
    from tvmdbg_widgets.model.executorch.delegate_calls import DelegateCalls
    from tvmdbg_widgets.model.executorch.etdump import ETDump
    from tvmdbg_widgets.model.executorch.event_nodes import EventNodes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EventTimes:
    """Times per execution: of each node that has some of its own, and of each set of nodes.

    Attributes
    ----------
    offsets : int64 [N + 1]
    repeats_ns : float64
        One for each execution in which the node ran.
    node_ns : float64 [N]
        Their mean; NaN where the node has no time of its own.
    set_ns : float64 [sets]
        Mean time of each set per execution; NaN where it has none.
    """

    offsets: Ints
    repeats_ns: Floats
    node_ns: Floats
    set_ns: Floats


def event_times(
    dump: ETDump, joined: EventNodes, calls: DelegateCalls, num_nodes: int
) -> EventTimes:
    """Sum up the events of each execution.

    A call of a kernel counts with its dispatch (``OPERATOR_CALL``), not its kernel again. What a
    delegate logged of some of its nodes is taken off the time of the whole call, unless it logged
    times of a clock of its own.
    """
    duration = np.where(dump.end >= dump.start, dump.end - dump.start, np.uint64(0))
    took = duration.astype(np.float64)
    call = calls.call
    call_set = np.where(call >= 0, joined.set_of[call], -1)
    apart = (call >= 0) & ~calls.foreign & (joined.set_of != call_set)
    counted = (joined.set_of >= 0) & (outermost(dump) | apart)
    inner = np.flatnonzero(counted & apart & (call_set >= 0))
    outer = np.flatnonzero(counted)
    which = np.concatenate((joined.set_of[outer], call_set[inner])).astype(np.int64)
    took = np.concatenate((took[outer], -took[inner]))
    run = run_of(dump)[np.concatenate((outer, inner))]
    pairs, number = np.unique(which * dump.num_runs + run, return_inverse=True)
    sums = np.maximum(np.bincount(number, took, len(pairs)), 0.0)
    return _by_node(pairs // max(1, dump.num_runs), sums, joined, num_nodes)


def outermost(dump: ETDump) -> npt.NDArray[np.bool_]:
    """Return the events that are the whole of a call of an instruction."""
    within = (dump.kind == EventKind.PROFILE) & (dump.chain_index >= 0) & ~is_of_delegate(dump)
    kernels = np.array([each.startswith("native_call_") for each in dump.names.unique] or [False])
    kernel = kernels[dump.names.codes]
    key = instruction_keys(dump)
    dispatched = np.isin(key, key[within & ~kernel])
    found: npt.NDArray[np.bool_] = within & (~kernel | ~dispatched)
    return found


def _by_node(set_: Ints, sums: Floats, joined: EventNodes, num_nodes: int) -> EventTimes:
    """Return repeats and means from the sums of each set and execution, which come by set."""
    sizes = np.array([len(each) for each in joined.sets], np.int64)
    counts = np.bincount(set_, minlength=len(sizes))
    with np.errstate(invalid="ignore"):
        set_ns = np.bincount(set_, sums, len(sizes)) / np.where(counts, counts, np.nan)
    alone = np.flatnonzero(sizes == 1)
    node = np.array([joined.sets[each][0] for each in alone.tolist()], np.int64)
    of = np.full(len(sizes), -1, np.int64)
    of[alone] = node
    node_ns = np.full(num_nodes, np.nan)
    node_ns[node] = set_ns[alone]
    rows = np.flatnonzero(of[set_] >= 0) if len(sizes) else np.zeros(0, np.int64)
    rows = rows[np.argsort(of[set_[rows]], kind="stable")]
    repeats = np.bincount(of[set_[rows]], minlength=num_nodes)
    return EventTimes(np.concatenate(([0], np.cumsum(repeats))), sums[rows], node_ns, set_ns)
