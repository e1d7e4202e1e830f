"""Calls of delegates in a run: recorded ones, or without a dump those of the program."""

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
    DelegateCalls,
    ETDump,
    EventKind,
    rounding_ns,
    run_of,
)
from tvmdbg_widgets.model.executorch.event_nodes import EXACT as BY_IDENTIFIER
from tvmdbg_widgets.model.executorch.event_nodes import (
    UNMAPPED,
    ExecuTorchFiles,
    Instruction,
    call_titles,
    recorded_titles,
)


def recorded_calls(files: ExecuTorchFiles) -> RecordedCalls:
    """Return the delegate calls that a dump recorded, or the method's without a dump."""
    if files.dump is None or not files.dump.num_events:
        own = files.insides.of(files.method)
        titles = call_titles({at: inside.delegate.id for at, inside in own.items()})
        return RecordedCalls([_unrecorded(files, own[at], titles[at]) for at in own])
    return RecordedCalls(list(_Calls(files, files.dump).every()))


def _unrecorded(files: ExecuTorchFiles, inside: Inside, title: str) -> RecordedCall:
    nan, known = float("nan"), (inside.method, inside.instruction, inside.delegate.id)
    specs, payload = _contents(inside)
    return RecordedCall(-1, *known, nan, nan, (), nan, (), specs, payload, title, inside, files)


def _contents(inside: Inside | None) -> tuple[tuple[tuple[str, str], ...], str]:
    if inside is None:
        return (), ""
    specs = inside.delegate.compile_specs
    return tuple((spec.key, spec.text()) for spec in specs), inside.payload


class _Calls:
    def __init__(self, files: ExecuTorchFiles, dump: ETDump) -> None:
        self._files, self._dump = files, dump
        self._calls = DelegateCalls.of(dump)
        profile = dump.kind == EventKind.PROFILE
        self._origin = int(dump.start[profile].min(initial=np.uint64(2**64 - 1)))
        self._shown = files.insides.of(files.method)
        self._backends = files.event_nodes.backends if files.event_nodes is not None else {}
        self._titles: dict[str, dict[Instruction, str]] = {}
        self._rounding_ns = rounding_ns(dump, self._calls, self._backends)

    def every(self) -> Iterator[RecordedCall]:
        run = run_of(self._dump)
        for call, events in self._calls.events(self._dump).items():
            yield self._call(call, int(run[call]), events)

    def _call(self, call: int, run: int, events: tuple[int, ...]) -> RecordedCall:
        dump, origin = self._dump, self._origin
        start, end = int(dump.start[call]), int(dump.end[call])
        own = any(self._calls.foreign[event] for event in events)
        spans = [] if own else [(int(dump.start[e]), int(dump.end[e])) for e in events]
        covered, gaps = _covered_and_gaps(spans, start, end)
        at = dump.place(call)
        contents = self._files.insides.calls.get(call)
        inside = contents.inside if contents is not None else None
        if contents is None:
            inside = self._shown.get(at)
        backend = inside.delegate.id if inside is not None else self._backends.get(at, "")
        return RecordedCall(
            run,
            inside.method if inside is not None else "",
            at[1],
            backend,
            float(start - origin),
            float(max(0, end - start)),
            tuple(self._events(events, contents, inside, backend)),
            float("nan") if own else float(covered),
            tuple((float(a - origin), float(b - a)) for a, b in gaps) if spans else (),
            *_contents(inside),
            self._title(call, at, inside, backend),
            inside,
            self._files,
        )

    def _title(self, call: int, at: Instruction, inside: Inside | None, backend: str) -> str:
        joined, files = self._files.event_nodes, self._files
        if joined is None or (inside is not None and inside.method != files.method):
            own = {} if inside is None else files.insides.of(inside.method)
            backends = {where: each.delegate.id for where, each in own.items()} | {at: backend}
            return call_titles(backends)[at]
        method = joined.elsewhere.get(call, "")
        if method not in self._titles:
            self._titles[method] = recorded_titles(self._dump, joined, method)
        return self._titles[method].get(at, "")

    def _events(
        self,
        events: tuple[int, ...],
        contents: CallEvents | None,
        inside: Inside | None,
        backend: str,
    ) -> Iterator[DelegateEvent]:
        dump, files = self._dump, self._files
        joined = files.event_nodes
        alignment = contents.alignment if contents is not None else None
        shown = inside is not None and inside.method == files.method
        rounding = self._rounding_ns
        for at, event in enumerate(events):
            name = dump.identifier(event)
            start, end = int(dump.start[event]), int(dump.end[event])
            times = float(start - self._origin), float(max(0, end - start))
            if alignment is None or inside is None:
                known = _unaligned_event(files, contents, at, event)
                yield DelegateEvent(name, *times, **known, _backend=backend, rounding_ns=rounding)
                continue
            match, how, why = alignment.events[at], alignment.events[at].match, ""
            if how == EXACT and joined is not None and joined.of_table:
                how, why = ORDER, "the calls of a table are known by their order"
            nodes, edge_match = set[int](), ""
            if shown:
                owned = [(inside.instruction, index) for index in match.nodes]
                nodes = {node for each in owned for node in files.insides.placed.get(each, ())}
                of = {} if files.insides.edges is None else files.insides.edges.of
                sure = {of[each].alternatives == 1 for each in owned if each in of}
                edge_match = "" if not sure else AMBIGUOUS if False in sure else EXACT
            yield DelegateEvent(
                name,
                *times,
                match.nodes,
                tuple(sorted(nodes)),
                how,
                why or match.reason,
                match.main,
                match.candidates,
                edge_match,
                backend,
                rounding,
            )


def _unaligned_event(
    files: ExecuTorchFiles, contents: CallEvents | None, at: int, event: int
) -> Mapping[str, Any]:
    joined = files.event_nodes
    how = None if joined is None else joined.how[event]
    if contents is not None and len(contents.candidates) > 1:
        return _of_several(contents, at)
    if joined is not None and how == BY_IDENTIFIER:
        return {"nodes": joined.of(event), "match": EXACT}
    if how == UNMAPPED:
        return {"reason": "the delegate map of the ETRecord does not have its identifier"}
    if contents is not None and contents.inside is None:
        return {"reason": "the program calls no delegate at this instruction"}
    hint = ": the .pte may have one" if files.program is None else ""
    return {"reason": f"no graph of this delegate is known{hint}"}


def _of_several(contents: CallEvents, at: int) -> Mapping[str, Any]:
    names: list[str] = []
    numbers: set[int] = set()
    for inside, alignment in contents.candidates:
        what = f"instruction {inside.instruction}"
        if alignment is not None and inside.graph is not None:
            match = alignment.events[at]
            numbers |= {*match.nodes, *match.candidates}
            if match.main is not None:
                what = inside.graph.nodes[match.main].name
        names.append(f"{what} of {inside.method!r}")
    reason = f"the methods have the same operators: {' or '.join(names)}"
    return {"match": AMBIGUOUS, "reason": reason, "candidates": tuple(sorted(numbers))}


def _covered_and_gaps(
    spans: list[tuple[int, int]], start: int, end: int
) -> tuple[int, list[tuple[int, int]]]:
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
