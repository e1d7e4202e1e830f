"""The calls of delegates: what each took, its events, and the delegate's graph that they are of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.alone import graph_alone, parts_alone
from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.delegate_alignment import AMBIGUOUS, EXACT, NONE, ORDER
from tvmdbg_widgets.model.executorch.delegate_calls import (
    CALL,
    DelegateCalls,
    named,
    rounding_ns,
    run_of,
)
from tvmdbg_widgets.model.executorch.etdump import EventKind
from tvmdbg_widgets.model.executorch.event_nodes import EXACT as BY_IDENTIFIER
from tvmdbg_widgets.model.executorch.event_nodes import UNMAPPED
from tvmdbg_widgets.model.executorch.vulkan_names import event_title

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tvmdbg_widgets.model.executorch.etdump import ETDump
    from tvmdbg_widgets.model.executorch.files import ExecuTorchFiles
    from tvmdbg_widgets.model.executorch.insides import CallEvents, Inside
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.parts import RunParts

_SHOWN = 20
#: How an event may be tied to operators.
MATCHES = (EXACT, ORDER, AMBIGUOUS, NONE)


@dataclass(frozen=True)
class DelegateEvent:
    """What a delegate logged of one of its operators.

    Attributes
    ----------
    name : str
        As logged: ``"Convolution (NHWC, QC8) IGEMM #1"``.
    start_ns, duration_ns : float
        The start counts from the first event of the dump.
    delegate_nodes : tuple of int
        The operators of the delegate's graph that it covers, by their numbers there.
    nodes : tuple of int
        The nodes of the run's graph that these came from.
    match : str
        How it was tied to them: ``"exact"``, ``"order"``, ``"ambiguous"`` or ``"none"``.
    reason : str
        Why it is not exact.
    main : int or None
        The operator whose type the name says.
    candidates : tuple of int
        The operators that an ambiguous one may be of.
    edge_match : str
        How the operators were tied to nodes of the edge graph: ``"exact"`` or ``"ambiguous"``;
        empty where the run has no such graph.
    rounding_ns : float
        What the delegate counts whole units of: a duration of 0 is less than this.
    """

    name: str
    start_ns: float
    duration_ns: float
    delegate_nodes: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    match: str = NONE
    reason: str = ""
    main: int | None = None
    candidates: tuple[int, ...] = ()
    edge_match: str = ""
    _backend: str = field(default="", repr=False)
    rounding_ns: float = 0.0

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The parts of the name, each with what it means."""
        family = family_of(self._backend)
        return () if family is None or family.explain is None else family.explain(self.name)

    def __repr__(self) -> str:
        known = self.delegate_nodes or self.candidates
        told = f"operator{'s' if len(known) > 1 else ''} {listed([str(each) for each in known])}"
        of = f", {told} of the delegate" if known else ""
        took = duration_text(self.duration_ns, self.rounding_ns)
        return f"<{event_title(self.name)}: {took}, {self.match}{of}>"


@dataclass(frozen=True, eq=False)
class RecordedCall:
    """One call of a delegate.

    Attributes
    ----------
    execution : int
        Position of the run in the dump; -1 of a call that no dump recorded.
    method : str
        The method that calls it; empty where that is not known.
    instruction : int
    backend : str
        Empty where no file names it.
    start_ns, duration_ns : float
        The start counts from the first event of the dump; NaN without one.
    events : tuple of DelegateEvent
        Profile events that the delegate logged in it, in order.
    inside_ns : float
        Time that some event covers; NaN where the delegate has a clock of its own.
    gaps : tuple of (float, float)
        Start and duration of each stretch that no event covers; empty where that is not known.
    compile_specs : tuple of (str, str)
        What the backend was told as it compiled, as the program has it; empty without it.
    payload : str
        What the program holds for the delegate: ``"XNNPACK graph, 1,792 bytes"``; empty without it.
    """

    execution: int
    method: str
    instruction: int
    backend: str
    start_ns: float
    duration_ns: float
    events: tuple[DelegateEvent, ...]
    inside_ns: float
    gaps: tuple[tuple[float, float], ...]
    compile_specs: tuple[tuple[str, str], ...] = ()
    payload: str = ""
    _inside: Inside | None = field(default=None, repr=False)
    _files: ExecuTorchFiles | None = field(default=None, repr=False)
    _open_run: Callable[[RunParts], Any] | None = field(default=None, repr=False)

    @cached_property
    def graph(self) -> Graph | None:
        """The delegate's own graph; None where no file holds one that can be read."""
        if self._inside is None or self._inside.graph is None or self._files is None:
            return None
        return graph_alone(self._files, self._inside)

    @property
    def operators(self) -> int | None:
        """How many operators the delegate's graph has; None where there is none."""
        inside = self._inside
        return None if inside is None or inside.graph is None else len(inside.graph.nodes)

    def matched(self, match: str) -> int:
        """Return how many events were tied to operators so: ``"exact"``, ``"order"``, …."""
        return sum(event.match == match for event in self.events)

    def names_of(self, event: DelegateEvent) -> tuple[str, ...]:
        """Return what the operators that an event covers are called: ``("Conv2d_1",)``."""
        if self._inside is None or self._inside.graph is None:
            return ()
        nodes = self._inside.graph.nodes
        return tuple(nodes[index].name for index in event.delegate_nodes)

    @property
    def parts(self) -> RunParts | None:
        """The delegate as a run of its own: its graph, constants, and the events of all its calls.

        None where there is no graph.
        """
        if self._inside is None or self._inside.graph is None or self._files is None:
            return None
        return parts_alone(self._files, self._inside)

    @cached_property
    def run(self) -> Any:
        """The delegate as a run of its own (:class:`DebugRun`), which shows the linked views.

        ::

            call = run.delegate_calls()[0]
            call.run.figure("graph")
            call.run.save_html("delegate.html")

        Raises
        ------
        ValueError
            No file holds a graph of the delegate that can be read.
        """
        parts = self.parts
        if parts is None:
            name = f"{self.backend or 'the delegate'} of instruction {self.instruction}"
            why = f"its payload is {self.payload}" if self.payload else "open the .pte, too"
            raise ValueError(f"no graph of {name} is known: {why}")
        if self._open_run is None:
            raise ValueError("calls open runs that come from run.delegate_calls()")
        return self._open_run(parts)

    def __repr__(self) -> str:
        name = self.backend or "delegate"
        text = f"{name}, instruction {self.instruction}"
        text += f" of {self.method}" if self.method else ""
        if self.execution < 0:
            return f"{text}: {self.payload or 'not recorded'}"
        text += f", run {self.execution}: "
        text += f"{duration_text(self.duration_ns)}, {counted(len(self.events), 'event')}"
        if np.isnan(self.inside_ns):
            return f"{text} of a clock of its own"
        if not self.events:
            return text
        share = percent(self.inside_ns / self.duration_ns) if self.duration_ns else "all"
        text += f" that cover {share}, {counted(len(self.gaps), 'gap')}"
        told = f"{self.matched(EXACT)} of {len(self.events)} exactly matched"
        return text if self.operators is None else f"{text}; {told}"


class RecordedCalls(Sequence[RecordedCall]):
    """The calls of delegates in the order of the dump, or of the program without one."""

    def __init__(self, calls: Sequence[RecordedCall]) -> None:
        self._calls = tuple(calls)

    @overload
    def __getitem__(self, index: int) -> RecordedCall: ...
    @overload
    def __getitem__(self, index: slice) -> RecordedCalls: ...
    def __getitem__(self, index: int | slice) -> RecordedCall | RecordedCalls:
        if isinstance(index, slice):
            return RecordedCalls(self._calls[index])
        return self._calls[index]

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[RecordedCall]:
        return iter(self._calls)

    def opened_by(self, open_run: Callable[[RunParts], Any]) -> RecordedCalls:
        """Return the same calls, whose :attr:`RecordedCall.run` is made so."""
        return RecordedCalls([replace(call, _open_run=open_run) for call in self])

    def to_dataframe(self) -> Any:
        """Return one row a call (``pandas.DataFrame``).

        Columns are ``execution``, ``method``, ``instruction``, ``backend``, ``payload``,
        ``operators`` (of the delegate's graph, None without one), ``start_ns``, ``duration_ns``,
        ``inside_ns`` (what its events cover), ``gaps``, ``events``, and how many of these are
        ``exact``, ``order``, ``ambiguous`` and ``none``.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        columns: dict[str, list[Any]] = {
            name: [getattr(call, name) for call in self]
            for name in ("execution", "method", "instruction", "backend", "payload")
        }
        columns["operators"] = [call.operators for call in self]
        for name in ("start_ns", "duration_ns", "inside_ns"):
            columns[name] = [getattr(call, name) for call in self]
        columns["gaps"] = [len(call.gaps) for call in self]
        columns["events"] = [len(call.events) for call in self]
        for match in MATCHES:
            columns[match] = [call.matched(match) for call in self]
        return data_frame(columns)

    def events(self) -> Any:
        """Return one row an event of every call (``pandas.DataFrame``).

        Columns are ``execution``, ``method``, ``instruction`` and ``backend`` of its call, the
        fields of :class:`DelegateEvent`, and ``operators``: those that it covers, as they are
        called in the delegate's graph (``"Conv2d_1"``).

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        rows = [(call, event) for call in self for event in call.events]
        own = ("_", "rounding_ns")
        names = [each.name for each in fields(DelegateEvent) if not each.name.startswith(own)]
        columns: dict[str, list[Any]] = {
            name: [getattr(call, name) for call, _ in rows]
            for name in ("execution", "method", "instruction", "backend")
        }
        columns |= {name: [getattr(event, name) for _, event in rows] for name in names}
        columns["operators"] = [call.names_of(event) for call, event in rows]
        return data_frame(columns)

    def __repr__(self) -> str:
        lines = [f"{counted(len(self), 'call')} of delegates"]
        lines += [f"  {each!r}" for each in self._calls[:_SHOWN]]
        more = len(self) - _SHOWN
        return "\n".join([*lines, f"  … and {more} more"] if more > 0 else lines)


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
                known = _unaligned(told, joined, at, event)
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


def _unaligned(told: CallEvents | None, joined: Any, at: int, event: int) -> Mapping[str, Any]:
    """Return what is known of an event whose delegate has no graph, or several may be it."""
    if told is not None and len(told.candidates) > 1:
        return _of_several(told, at)
    if joined is not None and joined.how[event] == BY_IDENTIFIER:
        return {"nodes": joined.of(event), "match": EXACT}
    if joined is not None and joined.how[event] == UNMAPPED:
        return {"reason": "the delegate map of the ETRecord does not have its identifier"}
    if told is not None and told.inside is None:
        return {"reason": "the program calls no delegate at this instruction"}
    return {"reason": "no graph of this delegate is known"}


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
