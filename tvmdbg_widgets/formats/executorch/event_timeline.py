"""The profile events of a dump as a timeline: blocks, instructions, delegates.

Ticks are nanoseconds of a steady clock (``runtime/platform/default/posix.cpp`` @ v1.4.1) unless
the port or the delegate took another; the file does not record it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.file_notes import event_facts
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.ranges import first_rows, numbered
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity, listed
from tvmdbg_widgets.model.executorch.etdump import (
    CALL,
    EXECUTE,
    LOADING,
    DelegateCalls,
    ETDump,
    EventKind,
    instruction_keys,
    is_of_delegate,
    named,
    rounding_ns,
    run_of,
)
from tvmdbg_widgets.model.executorch.event_nodes import (
    BY_NAME,
    BY_ORDER,
    EXACT,
    MATCHED,
    MATCHED_BY_ORDER,
    MATCHED_UNSURE,
    REORDERED,
    WHOLE_INSTRUCTION,
    EventNodes,
    kernel_operator,
    of_kernels,
    recorded_titles,
    with_operators,
)
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind
from tvmdbg_widgets.model.timeline.builders import occurrences, per_node
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.node_sets import NodeSets
from tvmdbg_widgets.model.timeline.timeline import WALL, Timeline

_TRUST = {
    EXACT: Trust.EXACT,
    BY_NAME: Trust.BY_NAME,
    BY_ORDER: Trust.BY_ORDER,
    REORDERED: Trust.AMBIGUOUS,
    WHOLE_INSTRUCTION: Trust.AMBIGUOUS,
    MATCHED: Trust.EXACT,
    MATCHED_BY_ORDER: Trust.BY_ORDER,
    MATCHED_UNSURE: Trust.AMBIGUOUS,
}
_GRADES = np.full(256, Trust.ABSENT, np.uint8)
_GRADES[list(_TRUST)] = list(_TRUST.values())
RUNTIME_TRACK = "runtime"


def timeline_of(dump: ETDump, joined: EventNodes, graph: Graph | None) -> Timeline | None:
    """Return the slices of a dump, or None if it has no profile events."""
    events = np.flatnonzero(dump.kind == EventKind.PROFILE)
    num_nodes = 0 if graph is None else graph.num_nodes
    if not len(events):
        return None
    calls = DelegateCalls.of(dump)
    foreign = calls.foreign[events]
    ticks = dump.start[events]
    origin = int(ticks[~foreign].min() if not foreign.all() else ticks.min())
    first, end = np.uint64(origin), dump.end[events]
    since = np.where(
        ticks < first, -((first - ticks).astype(np.float64)), (ticks - first).astype(np.float64)
    )
    duration = np.where(end >= ticks, (end - ticks).astype(np.float64), 0.0)
    issues = _issues(dump, calls, events)
    tracks, track = _tracks(dump, calls, events, joined)
    owners = event_owners(dump, joined, calls)
    set_of = owners.of[events]
    only = np.array([nodes_[0] if nodes_ else 0 for nodes_ in owners.sets] or [0])
    single = (set_of >= 0) & np.append(owners.single, False)[set_of]
    node = np.where(single, only[set_of], -1).astype(np.int64)
    trust = _GRADES[joined.how[events]]
    # An instruction of one node leaves no doubt.
    trust[single & (joined.how[events] == WHOLE_INSTRUCTION)] = Trust.EXACT
    # What a delegate logged in the call of one node and under an unknown identifier.
    trust[single & (joined.set_of[events] < 0)] = Trust.AMBIGUOUS
    executions = int(np.count_nonzero(named(dump, EXECUTE)[events]))
    _, node_trust = per_node(node, trust, num_nodes)
    drawn = Timeline(
        slice_node=node.astype(np.int32),
        slice_start_ns=since + calls.shift[events],
        slice_duration_ns=duration,
        slice_track=track,
        slice_names=_names(dump, events),
        slice_trust=trust,
        slice_occurrence=occurrences(node),
        tracks=tracks,
        repeats_offsets=np.zeros(num_nodes + 1, np.int64),
        repeats_ns=np.zeros(0),
        node_ns=np.full(num_nodes, np.nan),
        node_trust=node_trust,
        synthetic=False,
        clock=WALL,
        sources=(dump.file,),
        issues=Issues(issues),
        origin_ns=origin,
        slice_about=event_facts(dump, joined, graph, events),
        slice_role=_roles(dump, calls, events),
        executions=executions or len(np.unique(run_of(dump)[events])),
        whole=EXECUTE if executions else "",
        rounding_ns=rounding_ns(dump, calls, joined.backends),
    )
    own = np.full(dump.num_events, np.nan)
    own[events] = drawn.rows.self_ns
    times = event_times(dump, owners, calls, own, num_nodes)
    node_trust[np.isnan(times.node_ns)] = Trust.ABSENT
    return replace(
        drawn,
        repeats_offsets=times.offsets,
        repeats_ns=times.repeats_ns,
        node_ns=times.node_ns,
        node_trust=node_trust,
        shared=_shared(owners, set_of, times),
    )


def _roles(
    dump: ETDump, calls: DelegateCalls, events: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint8]:
    """Return the role of each event; everything that a program logs while loading is loading."""
    loading = np.zeros(dump.num_events, np.bool_)
    for name in LOADING:
        loading |= named(dump, name)
    run = run_of(dump)
    executes = np.zeros(dump.num_runs, np.bool_)
    executes[run[named(dump, EXECUTE)]] = True
    loads = np.zeros(dump.num_runs, np.bool_)
    loads[run[loading]] = True
    # A run holds either; events of one that holds both are loading where they lie within it.
    within = (loads & ~executes)[run] & (dump.chain_index < 0)
    for both in np.flatnonzero(loads & executes).tolist():
        own = slice(*dump.run_offsets[both : both + 2])
        start, end = dump.start[own], dump.end[own]
        outer = np.flatnonzero(loading[own])
        outer = outer[np.argsort(start[outer], kind="stable")]
        # The latest end of loading that began before.
        ends = np.concatenate((np.zeros(1, np.uint64), np.maximum.accumulate(end[outer])))
        begun = np.searchsorted(start[outer], start, "right")
        within[own] |= (begun > 0) & (end <= ends[begun]) & (dump.chain_index[own] < 0)
    roles = np.where(loading | within, SliceRole.LOADING, SliceRole.WORK)
    return np.where(calls.foreign, SliceRole.OTHER_CLOCK, roles)[events].astype(np.uint8)


def _names(dump: ETDump, events: npt.NDArray[np.int64]) -> StringColumn:
    """Name delegate events by their identifier, as the Inspector does, or by its readable form."""
    own, delegate = dump.names, dump.delegate_names
    unique = [*own.unique, *delegate.unique]
    codes = own.codes[events].astype(np.int64)
    of_delegate = is_of_delegate(dump)[events]
    codes[of_delegate] = delegate.codes[events][of_delegate] + len(own.unique)
    numbers = dump.delegate_id_int[events]
    has_int = np.flatnonzero(numbers != -1)
    number = numbered(numbers[has_int])
    codes[has_int] = number + len(unique)
    unique += [str(item) for item in numbers[has_int[first_rows(number)]].tolist()]
    kept = numbered(codes)
    return StringColumn([unique[item] for item in codes[first_rows(kept)].tolist()], kept)


def _tracks(
    dump: ETDump, calls: DelegateCalls, events: npt.NDArray[np.int64], joined: EventNodes
) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    numbers = {RUNTIME_TRACK: 0}
    track = np.zeros(len(events), np.int32)
    for row in np.flatnonzero(calls.foreign[events]).tolist():
        backend = joined.backends.get(dump.place(events[row])) or "delegate"
        track[row] = numbers.setdefault(f"{backend} (its own clock)", len(numbers))
    return tuple(numbers), track


def _shared(
    owners: EventOwners, set_of: npt.NDArray[np.int64], times: EventTimes
) -> NodeSets | None:
    sets = owners.sets
    # A call whose events are all of operators has a set apart, and none besides.
    used = np.isin(np.arange(len(sets)), set_of)
    kept = np.flatnonzero(~owners.single & used).tolist()
    if not kept:
        return None
    number = np.full(len(sets) + 1, -1, np.int32)
    number[kept] = np.arange(len(kept))
    repeats = [
        times.set_repeats[times.set_offsets[row] : times.set_offsets[row + 1]] for row in kept
    ]
    return NodeSets(
        slice_set=number[set_of],
        offsets=np.cumsum([0, *(len(sets[row]) for row in kept)]),
        nodes=np.array([node for row in kept for node in sets[row]], np.int32),
        own_ns=times.set_ns[kept],
        names=tuple(owners.names[row] for row in kept),
        kinds=tuple(owners.kinds[row] for row in kept),
        apart=np.array([row in owners.apart for row in kept], np.bool_),
        repeats_offsets=np.cumsum([0, *map(len, repeats)]),
        repeats_ns=np.concatenate(repeats),
    )


def _issues(dump: ETDump, calls: DelegateCalls, events: npt.NDArray[np.int64]) -> list[Issue]:
    issues = []
    backwards = int(np.count_nonzero(dump.end[events] < dump.start[events]))
    if backwards:
        text = (
            f"{counted(backwards, 'event')} "
            f"{agree(backwards, 'ends before it starts and is', 'end before they start and are')} "
            "drawn without a duration: a counter that overflowed? The Inspector adds 2**32 - 1 to "
            "ends below that"
        )
        issues.append(Issue("event-ends-early", IssueSeverity.WARNING, text, file=dump.file))
    shared = _sharing(dump, calls)
    if shared:
        text = (
            f"{counted(shared, 'event')} of a delegate {agree(shared, 'shares', 'share')} time "
            "with one that began before, or lasted longer than the call: that time counts once, to "
            "the one that began first"
        )
        issues.append(Issue("delegate-overlap", IssueSeverity.NOTE, text, file=dump.file))
    if calls.foreign.any():
        instructions = np.unique(dump.instruction_id[calls.foreign]).tolist()
        text = (
            f"the delegate called by {dump.call_word} {', '.join(map(str, instructions[:5]))}"
            f"{' and others' if len(instructions) > 5 else ''} logs times outside of its call: it "
            "has a clock of its own, in a unit that the file does not tell. Its events have a "
            "track of their own, where ticks are drawn as nanoseconds, and count in no sum"
        )
        issues.append(Issue("delegate-clock", IssueSeverity.NOTE, text, file=dump.file))
    return issues


def _sharing(dump: ETDump, calls: DelegateCalls) -> int:
    """Count delegate events that begin while another of their call runs, or outlast the call."""
    inner = np.flatnonzero((calls.call >= 0) & ~calls.foreign & (dump.end > dump.start))
    call = calls.call[inner]
    order = np.lexsort((dump.start[inner], call))
    inner, call = inner[order], call[order]
    past = dump.end[inner] > dump.end[call]
    past[1:] |= (call[1:] == call[:-1]) & (dump.start[inner[1:]] < dump.end[inner[:-1]])
    return int(np.count_nonzero(past))


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

DELEGATE: Final = "delegate"


@dataclass(frozen=True, eq=False)
class EventOwners:
    """The set of nodes that owns each of E events."""

    of: Ints
    sets: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    apart: frozenset[int] = frozenset()

    @property
    def single(self) -> npt.NDArray[np.bool_]:
        """Sets with the time of one node (bool [sets])."""
        is_single = np.array([len(nodes) == 1 for nodes in self.sets], np.bool_)
        is_single[list(self.apart)] = False
        return is_single


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
    """Return titles and op kinds of sets; a divided call shares its time with other nodes."""
    names, kinds = [""] * len(sets), ["other"] * len(sets)
    owned = np.flatnonzero(of >= 0)
    order = owned[np.argsort(of[owned], kind="stable")]
    numbers, begins = np.unique(of[order], return_index=True)
    call = named(dump, CALL)
    by_nodes: dict[tuple[int, ...], str] = {}
    titles: dict[str, dict[tuple[int, int], str]] = {}
    of_call = set(of[owned[call[owned]]].tolist())
    identifiers = _identifiers(dump, of, order)
    groups = np.split(order, begins[1:]) if len(begins) else []
    for number, events in zip(numbers.tolist(), groups, strict=True):
        event = int(events[0])
        at = dump.place(event)
        if number in of_call:
            methods = sorted(
                {repr(method) for method in map(joined.elsewhere.get, events.tolist()) if method}
            )
            method = joined.elsewhere.get(event, "")
            if method not in titles:
                titles[method] = recorded_titles(dump, joined, method)
            names[number] = titles[method][at]
            names[number] += f" of {' or '.join(methods)}" if methods else ""
            by_nodes[sets[number]] = names[number]
            kinds[number] = DELEGATE
            continue
        name = listed(identifiers.get(number, [])) or kernel_operator(dump.names[event])
        numeric = int(dump.delegate_id_int[event])
        names[number] = name or (f"event {numeric}" if numeric != -1 else dump.call_word)
        kinds[number] = op_kind(dump.delegate_names[event] or dump.names[event], NodeKind.OPERATOR)
        if not sets[number]:
            names[number] += f", {dump.place_text(at)}"
    for number, title in joined.titles.items():
        names[number] = f"{title} ({by_nodes.get(sets[number], 'delegate')})"
    for number, nodes in enumerate(sets):
        if number in joined.apart:
            names[number] += "" if number in joined.titles else ", outside its operators"
            continue
        if names[number]:
            names[number] = with_operators(names[number], len(nodes))
        if number in divided:
            names[number] = f"rest of {names[number]}"
    return tuple(names), tuple(kinds)


def _identifiers(dump: ETDump, of: Ints, order: Ints) -> dict[int, list[str]]:
    codes = dump.delegate_names.codes[order].astype(np.int64)
    width = len(dump.delegate_names.unique) + 1
    pairs, first = np.unique(of[order] * width + codes, return_index=True)
    texts: dict[int, list[str]] = {}
    for pair in pairs[np.argsort(first)].tolist():
        if text := dump.delegate_names.unique[pair % width]:
            texts.setdefault(pair // width, []).append(text)
    return texts


@dataclass(frozen=True, eq=False)
class EventTimes:
    """Times per execution: of each node with some of its own, and of each set of nodes."""

    offsets: Ints
    repeats_ns: Floats
    node_ns: Floats
    set_ns: Floats
    set_offsets: Ints
    set_repeats: Floats


def event_times(
    dump: ETDump, owners: EventOwners, calls: DelegateCalls, own_ns: Floats, num_nodes: int
) -> EventTimes:
    """Sum up the events of each execution: repeats and means of sets, and of single nodes."""
    counts = np.flatnonzero((owners.of >= 0) & ~calls.foreign & ~np.isnan(own_ns))
    which = owners.of[counts] * dump.num_runs + run_of(dump)[counts]
    pairs, number = np.unique(which, return_inverse=True)
    sums = np.bincount(number, own_ns[counts], len(pairs)).astype(np.float64)
    set_ = pairs // max(1, dump.num_runs)
    count = len(owners.sets)
    repeats_of = np.bincount(set_, minlength=count)
    with np.errstate(invalid="ignore"):
        set_ns = np.bincount(set_, sums, count) / np.where(repeats_of, repeats_of, np.nan)
    alone = np.flatnonzero(owners.single)
    node = np.array([owners.sets[row][0] for row in alone.tolist()], np.int64)
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
        np.concatenate(([0], np.cumsum(repeats_of))),
        sums,
    )


def outermost(dump: ETDump) -> npt.NDArray[np.bool_]:
    """Return the events that span an entire call of an instruction."""
    within = (dump.kind == EventKind.PROFILE) & (dump.chain_index >= 0) & ~is_of_delegate(dump)
    kernel = of_kernels(dump.names)
    key = instruction_keys(dump)
    dispatched = np.isin(key, key[within & ~kernel])
    outer: npt.NDArray[np.bool_] = within & (~kernel | ~dispatched)
    return outer
