"""Whose the time of each event of a dump is: a node's, a call's, or that of several nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbering import first_rows, numbered
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.delegate_calls import (
    CALL,
    DelegateCalls,
    backend_title,
    instruction_keys,
    is_of_delegate,
    named,
    run_of,
)
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind
from tvmdbg_widgets.model.executorch.event_nodes import EventNodes, kernel_operator
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Op kind of the calls of delegates.
DELEGATE: Final = "delegate"


@dataclass(frozen=True, eq=False)
class EventOwners:
    """Whose each of E events is."""

    of: Ints
    sets: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    apart: frozenset[int] = frozenset()

    @property
    def single(self) -> npt.NDArray[np.bool_]:
        """The sets whose time is that of one node (bool [sets])."""
        found = np.array([len(each) == 1 for each in self.sets], np.bool_)
        found[list(self.apart)] = False
        return found


def event_owners(dump: ETDump, joined: EventNodes, calls: DelegateCalls) -> EventOwners:
    """Find the owner of each event: its nodes, else the call it was logged in."""
    of = joined.set_of.astype(np.int64)
    inner = np.flatnonzero(calls.call >= 0)
    lost = inner[of[inner] < 0]
    of[lost] = of[calls.call[lost]]
    unknown = np.flatnonzero(outermost(dump) & (of < 0))
    number = numbered(dump.chain_index[unknown], dump.instruction_id[unknown])
    first = unknown[first_rows(number)]
    of[unknown] = len(joined.sets) + number
    lost = np.flatnonzero((of < 0) & (dump.kind == EventKind.PROFILE) & (dump.chain_index >= 0))
    # Kernels inside a dispatch that no file names, and events inside a call of that kind.
    key = instruction_keys(dump)
    by_key = np.full(int(key.max(initial=-1)) + 1, -1, np.int64)
    by_key[key[unknown]] = of[unknown]
    of[lost] = by_key[key[lost]]
    sets = (*joined.sets, *((),) * len(first))
    call_of = of[calls.call[inner]]
    divided = set(call_of[(of[inner] != call_of) & ~calls.foreign[inner]].tolist())
    names, kinds = _words(dump, joined, of, sets, divided)
    return EventOwners(of, sets, names, kinds, joined.apart)


def _words(
    dump: ETDump, joined: EventNodes, of: Ints, sets: tuple[tuple[int, ...], ...], divided: set[int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what sets are called, and of which op kind they are.

    Some of the time of a divided call is of the nodes of its events.
    """
    names, kinds = [""] * len(sets), ["other"] * len(sets)
    owned = np.flatnonzero(of >= 0)
    order = owned[np.argsort(of[owned], kind="stable")]
    numbers, begins = np.unique(of[order], return_index=True)
    call = named(dump, CALL)
    by_nodes: dict[tuple[int, ...], str] = {}
    of_call = set(of[owned[call[owned]]].tolist())
    told_as = _identifiers(dump, of, order)
    each = np.split(order, begins[1:]) if len(begins) else []
    for number, events in zip(numbers.tolist(), each, strict=True):
        event = int(events[0])
        at = (int(dump.chain_index[event]), int(dump.instruction_id[event]))
        if number in of_call:
            methods = sorted(
                {repr(method) for method in map(joined.elsewhere.get, events.tolist()) if method}
            )
            names[number] = backend_title(joined.backends.get(at, "")) + _place(dump, at)
            names[number] += f" of {' or '.join(methods)}" if methods else ""
            by_nodes[sets[number]] = names[number]
            kinds[number] = DELEGATE
            continue
        told = listed(told_as.get(number, [])) or kernel_operator(dump.names[event])
        numeric = int(dump.delegate_id_int[event])
        names[number] = told or (f"event {numeric}" if numeric != -1 else dump.call_word)
        kinds[number] = op_kind(dump.delegate_names[event] or dump.names[event], NodeKind.OPERATOR)
        if not sets[number]:
            names[number] += _place(dump, at)
    for number, title in joined.titles.items():
        names[number] = f"{title} ({by_nodes.get(sets[number], 'delegate')})"
    for number, nodes in enumerate(sets):
        names[number] = _whole_name(joined, number, names[number], nodes, divided)
    return tuple(names), tuple(kinds)


def _place(dump: ETDump, at: tuple[int, int]) -> str:
    """Return ``", instruction 2"``, with its chain beyond the first."""
    return f", {dump.call_word} {at[1]}" + (f" of chain {at[0]}" if at[0] else "")


def _identifiers(dump: ETDump, of: Ints, order: Ints) -> dict[int, list[str]]:
    """Return what the events of each set are called by their delegate, in the order of events."""
    codes = dump.delegate_names.codes[order].astype(np.int64)
    width = len(dump.delegate_names.unique) + 1
    pairs, first = np.unique(of[order] * width + codes, return_index=True)
    found: dict[int, list[str]] = {}
    for pair in pairs[np.argsort(first)].tolist():
        if text := dump.delegate_names.unique[pair % width]:
            found.setdefault(pair // width, []).append(text)
    return found


def _whole_name(
    joined: EventNodes, number: int, name: str, nodes: tuple[int, ...], divided: set[int]
) -> str:
    """Return the name of a set with how many nodes it has, or what of a call it is."""
    if number in joined.apart:
        return name if number in joined.titles else f"{name}, outside its operators"
    if len(nodes) > 1 and name:
        name += f" · {counted(len(nodes), 'operator')}"
    return f"rest of {name}" if number in divided else name


@dataclass(frozen=True, eq=False)
class EventTimes:
    """Times per execution: of each node that has some of its own, and of each set of nodes."""

    offsets: Ints
    repeats_ns: Floats
    node_ns: Floats
    set_ns: Floats
    set_offsets: Ints
    set_repeats: Floats


def event_times(
    dump: ETDump, owners: EventOwners, calls: DelegateCalls, own_ns: Floats, num_nodes: int
) -> EventTimes:
    """Sum up the events of each execution."""
    counts = np.flatnonzero((owners.of >= 0) & ~calls.foreign & ~np.isnan(own_ns))
    which = owners.of[counts]
    run = run_of(dump)[counts]
    pairs, number = np.unique(which * dump.num_runs + run, return_inverse=True)
    sums = np.bincount(number, own_ns[counts], len(pairs)).astype(np.float64)
    return _by_node(pairs // max(1, dump.num_runs), sums, owners, num_nodes)


def outermost(dump: ETDump) -> npt.NDArray[np.bool_]:
    """Return the events that are the whole of a call of an instruction."""
    within = (dump.kind == EventKind.PROFILE) & (dump.chain_index >= 0) & ~is_of_delegate(dump)
    kernels = np.array([each.startswith("native_call_") for each in dump.names.unique] or [False])
    kernel = kernels[dump.names.codes]
    key = instruction_keys(dump)
    dispatched = np.isin(key, key[within & ~kernel])
    found: npt.NDArray[np.bool_] = within & (~kernel | ~dispatched)
    return found


def _by_node(set_: Ints, sums: Floats, owners: EventOwners, num_nodes: int) -> EventTimes:
    """Return repeats and means from the sums of each set and execution, which come by set."""
    count = len(owners.sets)
    counts = np.bincount(set_, minlength=count)
    with np.errstate(invalid="ignore"):
        set_ns = np.bincount(set_, sums, count) / np.where(counts, counts, np.nan)
    alone = np.flatnonzero(owners.single)
    node = np.array([owners.sets[each][0] for each in alone.tolist()], np.int64)
    of = np.full(count, -1, np.int64)
    of[alone] = node
    node_ns = np.full(num_nodes, np.nan)
    node_ns[node] = set_ns[alone]
    rows = np.flatnonzero(of[set_] >= 0) if count else np.zeros(0, np.int64)
    rows = rows[np.argsort(of[set_[rows]], kind="stable")]
    repeats = np.bincount(of[set_[rows]], minlength=num_nodes)
    return EventTimes(
        np.concatenate(([0], np.cumsum(repeats))),
        sums[rows],
        node_ns,
        set_ns,
        np.concatenate(([0], np.cumsum(counts))),
        sums,
    )
