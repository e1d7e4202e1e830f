"""Which runs of a dump are of which method of an ETRecord: the dump does not say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tvmdbg_widgets.model.executorch.delegate_calls import CALL
from tvmdbg_widgets.model.executorch.etdump import UNSET_CHAIN, ETDump
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.model.executorch.event_nodes import kernel_operator


def runs_of_others(dump: ETDump, record: ETRecord | None, method: str) -> frozenset[int]:
    """Return the runs whose kernels and delegate calls fit another method better than this one."""
    if record is None or len(record.edge_programs) < 2:
        return frozenset()
    methods = {name: _operators(record, name) for name in record.edge_programs}
    found = set()
    for run in range(dump.num_runs):
        ran = _ran(dump, run)
        differ = {
            name: sum(
                operator not in expected.get(instruction, ())
                for instruction, operator in ran.items()
            )
            + len(expected.keys() - ran.keys())
            for name, expected in methods.items()
        }
        if ran and min(differ.values()) < differ.get(method, 0):
            found.add(run)
    return frozenset(found)


def without_runs(dump: ETDump, runs: frozenset[int]) -> ETDump:
    """Return a dump in which the events of some runs are of no instruction."""
    if not runs:
        return dump
    chain = dump.chain_index.copy()
    for run in runs:
        events = dump.events_of(run)
        chain[events.start : events.stop] = UNSET_CHAIN
    return replace(dump, chain_index=chain)


def _operators(record: ETRecord, method: str) -> dict[int, frozenset[str]]:
    nodes, by_handle = record.edge_programs[method].nodes, record.edge_programs[method].by_handle
    found = {}
    for key, handle in (record.debug_handle_map or {}).get(method, {}).items():
        if not key.isdecimal():
            continue
        names = {CALL}
        if isinstance(handle, int):
            types = (nodes[at].op_type.split(".") for at in by_handle.get(handle, ()))
            names = {parts[-2] if len(parts) > 1 else parts[0] for parts in types}
        found[int(key)] = frozenset(names)
    return found


def _ran(dump: ETDump, run: int) -> dict[int, str]:
    """Return what each instruction of a run called: a kernel's operator, or a delegate."""
    found = {}
    events = np.array(dump.events_of(run), np.int64)
    for event in events[dump.chain_index[events] == 0].tolist():
        name = dump.names[event]
        if name == CALL or name.startswith("native_call_"):
            found[int(dump.instruction_id[event])] = kernel_operator(name)
    return found
