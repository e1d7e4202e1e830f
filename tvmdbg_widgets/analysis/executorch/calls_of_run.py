"""The calls of delegates of a run: those that its dump recorded, else those of its program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.executorch.recorded_calls import (
    DelegateEvent,
    RecordedCall,
    RecordedCalls,
)
from tvmdbg_widgets.model.executorch.delegate_graph import (
    AMBIGUOUS,
    EXACT,
    ORDER,
    CallEvents,
    Inside,
)
from tvmdbg_widgets.model.executorch.etdump import (
    CALL,
    DelegateCalls,
    ETDump,
    EventKind,
    named,
    rounding_ns,
    run_of,
)
from tvmdbg_widgets.model.executorch.event_nodes import EXACT as BY_IDENTIFIER
from tvmdbg_widgets.model.executorch.event_nodes import UNMAPPED, ExecuTorchFiles


def recorded_calls(files: ExecuTorchFiles) -> RecordedCalls:
    """Return the calls of delegates that a dump recorded; those of the method without a dump."""
    if files.dump is None or not files.dump.num_events:
        own = files.insides.of(files.method).values()
        return RecordedCalls([_unrecorded(files, each) for each in own])
    return RecordedCalls(list(_Calls(files, files.dump).every()))


def _unrecorded(files: ExecuTorchFiles, inside: Inside) -> RecordedCall:
    nan = float("nan")
    return RecordedCall(
        -1,
        inside.method,
        inside.instruction,
        inside.delegate.id,
        nan,
        nan,
        (),
        nan,
        (),
        _specs(inside),
        inside.payload,
        inside,
        files,
    )


def _specs(inside: Inside | None) -> tuple[tuple[str, str], ...]:
    specs = () if inside is None else inside.delegate.compile_specs
    return tuple((spec.key, spec.text()) for spec in specs)


class _Calls:
    """The calls of a dump under construction."""

    def __init__(self, files: ExecuTorchFiles, dump: ETDump) -> None:
        self._files, self._dump = files, dump
        self._calls = DelegateCalls.of(dump)
        profile = dump.kind == EventKind.PROFILE
        self._origin = int(dump.start[profile].min(initial=np.uint64(2**64 - 1)))
        self._shown = files.insides.of(files.method)
        self._backends = files.event_nodes.backends if files.event_nodes is not None else {}
        self._rounding_ns = rounding_ns(dump, self._calls, self._backends)

    def every(self) -> Iterator[RecordedCall]:
        dump = self._dump
        run = run_of(dump)
        inner: dict[int, list[int]] = {}
        for event in np.flatnonzero(self._calls.call >= 0).tolist():
            inner.setdefault(int(self._calls.call[event]), []).append(event)
        for call in np.flatnonzero(named(dump, CALL) & (dump.kind == EventKind.PROFILE)).tolist():
            yield self._call(call, int(run[call]), inner.get(call, []))

    def _call(self, call: int, run: int, events: list[int]) -> RecordedCall:
        dump, origin = self._dump, self._origin
        start, end = int(dump.start[call]), int(dump.end[call])
        own = any(self._calls.foreign[event] for event in events)
        spans = [] if own else [(int(dump.start[e]), int(dump.end[e])) for e in events]
        covered, gaps = _covered(spans, start, end)
        at = (int(dump.chain_index[call]), int(dump.instruction_id[call]))
        told = self._files.insides.calls.get(call)
        inside = told.inside if told is not None else None
        if told is None:
            inside = self._shown.get(at)
        backend = inside.delegate.id if inside is not None else self._backends.get(at, "")
        return RecordedCall(
            run,
            inside.method if inside is not None else "",
            at[1],
            backend,
            float(start - origin),
            float(max(0, end - start)),
            tuple(self._events(events, told, inside, backend)),
            float("nan") if own else float(covered),
            tuple((float(a - origin), float(b - a)) for a, b in gaps) if spans else (),
            _specs(inside),
            inside.payload if inside is not None else "",
            inside,
            self._files,
        )

    def _events(
        self, events: list[int], told: CallEvents | None, inside: Inside | None, backend: str
    ) -> Iterator[DelegateEvent]:
        dump, files = self._dump, self._files
        joined = files.event_nodes
        alignment = told.alignment if told is not None else None
        shown = inside is not None and inside.method == files.method
        rounding = self._rounding_ns
        for at, event in enumerate(events):
            number = int(dump.delegate_id_int[event])
            name = dump.delegate_id_str[event] if number == -1 else str(number)
            start, end = int(dump.start[event]), int(dump.end[event])
            times = float(start - self._origin), float(max(0, end - start))
            if alignment is None or inside is None:
                known = _unaligned(files, told, at, event)
                yield DelegateEvent(name, *times, **known, _backend=backend, rounding_ns=rounding)
                continue
            match, how, why = alignment.events[at], alignment.events[at].match, ""
            if how == EXACT and joined is not None and joined.of_table:
                how, why = ORDER, "the calls of a table are known by their order"
            nodes = {
                node
                for index in match.nodes
                for node in files.insides.placed.get((inside.instruction, index), ())
            }
            yield DelegateEvent(
                name,
                *times,
                match.nodes,
                tuple(sorted(nodes)) if shown else (),
                how,
                why or match.reason,
                match.main,
                match.candidates,
                self._edge_match(inside, match.nodes) if shown else "",
                backend,
                rounding,
            )

    def _edge_match(self, inside: Inside, indexes: tuple[int, ...]) -> str:
        edges = self._files.insides.edges
        found = [] if edges is None else [edges.of.get((inside.instruction, i)) for i in indexes]
        known = [each for each in found if each is not None]
        if not known:
            return ""
        return EXACT if all(each.alternatives == 1 for each in known) else AMBIGUOUS


def _unaligned(
    files: ExecuTorchFiles, told: CallEvents | None, at: int, event: int
) -> Mapping[str, Any]:
    """Return what is known of an event whose delegate has no graph, or several may be it."""
    joined = files.event_nodes
    if told is not None and len(told.candidates) > 1:
        return _of_several(told, at)
    if joined is not None and joined.how[event] == BY_IDENTIFIER:
        return {"nodes": joined.of(event), "match": EXACT}
    if joined is not None and joined.how[event] == UNMAPPED:
        return {"reason": "the delegate map of the ETRecord does not have its identifier"}
    if told is not None and told.inside is None:
        return {"reason": "the program calls no delegate at this instruction"}
    hint = ": the .pte may have one" if files.program is None else ""
    return {"reason": f"no graph of this delegate is known{hint}"}


def _of_several(told: CallEvents, at: int) -> Mapping[str, Any]:
    """Return what an event may be of where several methods have such a call."""
    names: list[str] = []
    numbers: set[int] = set()
    for inside, alignment in told.candidates:
        what = f"instruction {inside.instruction}"
        if alignment is not None and inside.graph is not None:
            match = alignment.events[at]
            numbers |= {*match.nodes, *match.candidates}
            if match.main is not None:
                what = inside.graph.nodes[match.main].name
        names.append(f"{what} of {inside.method!r}")
    reason = f"the methods have the same operators: {' or '.join(names)}"
    return {"match": AMBIGUOUS, "reason": reason, "candidates": tuple(sorted(numbers))}


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
