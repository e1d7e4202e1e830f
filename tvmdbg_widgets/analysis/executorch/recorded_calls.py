"""Calls of delegates: time, events, and the delegate's graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.formats.executorch.delegates.matches import graph_alone, parts_alone
from tvmdbg_widgets.model.base.numbers import Trust, counted, duration_text, percent
from tvmdbg_widgets.model.base.slips import public_class, row_of
from tvmdbg_widgets.model.base.text import columns_of, data_frame, listed
from tvmdbg_widgets.model.executorch.delegate_graph import AMBIGUOUS, EXACT, NONE, ORDER, Inside
from tvmdbg_widgets.model.executorch.etdump import backend_title
from tvmdbg_widgets.model.executorch.event_nodes import ExecuTorchFiles
from tvmdbg_widgets.model.executorch.scalar_types import TorchTensor
from tvmdbg_widgets.model.executorch.vulkan_names import event_title
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.tensors import Tensor, Tensors

_SHOWN = 20
_OF_CALL = ("execution", "method", "instruction", "backend")
MATCHES = (EXACT, ORDER, AMBIGUOUS, NONE)  # kinds of match of an event to operators


@dataclass(frozen=True)
class DelegateEvent:
    """A profile event of one of a delegate's operators.

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
        ``"exact"`` or ``"ambiguous"``: match of operators to edge nodes; empty without these.
    rounding_ns : float
        The unit that the delegate rounds times down to: a duration of 0 is less than this.
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
        """Parts of the name with their meanings."""
        family = family_of(self._backend)
        return () if family is None or family.explain is None else family.explain(self.name)

    def __repr__(self) -> str:
        known = self.delegate_nodes or self.candidates
        operators = (
            f"operator{'s' if len(known) > 1 else ''} {listed([str(each) for each in known])}"
        )
        of = f", {operators} of the delegate" if known else ""
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
        Start and duration of stretches that no event covers; empty where unknown.
    compile_specs : tuple of (str, str)
        Compile specs of the backend from the program; empty without one.
    payload : str
        The delegate's payload: ``"XNNPACK graph, 1,792 bytes"``; empty without a program.
    title : str
        ``"XNNPACK call 1 of 2"``, as in every view.
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
    title: str = ""
    _inside: Inside | None = field(default=None, repr=False)
    _files: ExecuTorchFiles | None = field(default=None, repr=False)
    _open_run: Callable[[RunParts], Any] | None = field(default=None, repr=False)

    @cached_property
    def graph(self) -> Graph | None:
        """The delegate's own graph; None where no file has a readable one."""
        if self._inside is None or self._inside.graph is None or self._files is None:
            return None
        return graph_alone(self._files, self._inside)

    @property
    def operators(self) -> int | None:
        """Number of operators in the delegate's graph; None without one."""
        inside = self._inside
        return None if inside is None or inside.graph is None else len(inside.graph.nodes)

    def matched(self, match: str) -> int:
        """Return the number of events with a kind of match: ``"exact"``, ``"order"``, …."""
        return sum(event.match == match for event in self.events)

    def names_of(self, event: DelegateEvent) -> tuple[str, ...]:
        """Return the names of an event's operators: ``("Conv2d_1",)``."""
        if self._inside is None or self._inside.graph is None:
            return ()
        nodes = self._inside.graph.nodes
        return tuple(nodes[index].name for index in event.delegate_nodes)

    def to_dataframe(self) -> Any:
        """Return one row per event (``pandas.DataFrame``), as :meth:`RecordedCalls.events` does."""
        return RecordedCalls([self]).events()

    @cached_property
    def run(self) -> Any:
        """The delegate as a run of its own (:class:`DebugRun`), which shows the linked views.

        It has the delegate's graph, its constants, and the events of all its calls.

        ::

            call = run.delegate_calls()[0]
            call.run.figure("graph")
            call.run.save_html("delegate.html")

        Raises
        ------
        ValueError
            No file holds a graph of the delegate that can be read.
        """
        if self._inside is None or self._inside.graph is None or self._files is None:
            name = self.title or f"the delegate of instruction {self.instruction}"
            why = f"its payload is {self.payload}" if self.payload else "open the .pte, too"
            raise ValueError(f"no graph of {name} is known: {why}")
        if self._open_run is None:
            raise ValueError("calls open runs that come from run.delegate_calls()")
        return self._open_run(parts_alone(self._files, self._inside))

    def __repr__(self) -> str:
        text = self.title or f"{backend_title(self.backend)} call"
        text += f", method {self.method}" if self.method else ""
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
        matched = f"{self.matched(EXACT)} of {len(self.events)} exactly matched"
        return text if self.operators is None else f"{text}; {matched}"


@public_class
class RecordedCalls(Sequence[RecordedCall]):
    """Calls of delegates in the order of the dump, or of the program without one."""

    def __init__(self, calls: Sequence[RecordedCall]) -> None:
        self._calls = tuple(calls)

    @overload
    def __getitem__(self, index: int) -> RecordedCall: ...
    @overload
    def __getitem__(self, index: slice) -> RecordedCalls: ...
    def __getitem__(self, index: int | slice) -> RecordedCall | RecordedCalls:
        if isinstance(index, slice):
            return RecordedCalls(self._calls[index])
        return self._calls[row_of("call", index, len(self._calls))]

    def __len__(self) -> int:
        return len(self._calls)

    def opened_by(self, open_run: Callable[[RunParts], Any]) -> RecordedCalls:
        """Return the same calls with a factory for :attr:`RecordedCall.run`."""
        return RecordedCalls([replace(call, _open_run=open_run) for call in self])

    def to_dataframe(self) -> Any:
        """Return one row per call (``pandas.DataFrame``).

        Columns are ``execution``, ``method``, ``instruction``, ``backend``, ``payload``,
        ``operators`` (of the delegate's graph, None without one), ``start_ns``, ``duration_ns``,
        ``inside_ns`` (time covered by its events), ``gaps``, ``events``, and how many of these are
        ``exact``, ``order``, ``ambiguous`` and ``none``.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        times = ("start_ns", "duration_ns", "inside_ns")
        columns = columns_of(self, (*_OF_CALL, "payload", "operators", *times))
        columns["gaps"] = [len(call.gaps) for call in self]
        columns["events"] = [len(call.events) for call in self]
        for match in MATCHES:
            columns[match] = [call.matched(match) for call in self]
        return data_frame(columns)

    def events(self) -> Any:
        """Return one row per event of every call (``pandas.DataFrame``).

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
        columns = columns_of((call for call, _ in rows), _OF_CALL)
        columns |= columns_of((event for _, event in rows), names)
        columns["operators"] = [call.names_of(event) for call, event in rows]
        return data_frame(columns)

    def __repr__(self) -> str:
        lines = [f"{counted(len(self), 'call')} of delegates"]
        lines += [f"  {call!r}" for call in self._calls[:_SHOWN]]
        more = len(self) - _SHOWN
        return "\n".join([*lines, f"  … and {more} more"] if more > 0 else lines)


def reference_tensors(files: ExecuTorchFiles, graph: Graph) -> Tensors:
    """Return the expected outputs of the graph, of the dump's case or the only one."""
    record = files.record
    cases = (record.reference_outputs or {}).get(files.method, ()) if record is not None else ()
    if not cases:
        raise ValueError(
            "the ETRecord has no reference outputs; ExecuTorch writes those of a BundledProgram, "
            "or of etrecord.update_reference_outputs()"
        )
    index, trust = _case(files, len(cases))
    values = list(cases[index])
    if len(values) != len(graph.heads):
        raise ValueError(
            f"{counted(len(values), 'reference output')} for "
            f"{counted(len(graph.heads), 'output')} of the graph"
        )
    note = f"reference output of case {index} of the ETRecord"
    if trust is not Trust.EXACT:
        note += ", its only one; the dump names none"
    tensors: list[Tensor] = []
    for (node, output), value in zip(graph.heads.tolist(), values, strict=True):
        if isinstance(value, TorchTensor):
            source = value.source()
            source.name = f"{files.record.file if files.record else ''} (reference)"
            key = f"case {index}, output {len(tensors)}"
            array = ArrayRecord(key, value.dtype, value.shape, source.size, 0, source)
            name = graph.names[node]
            tensors.append(Tensor(array, node, output, name=name, trust=trust, notes=(note,)))
    return Tensors(tensors)


def _case(files: ExecuTorchFiles, count: int) -> tuple[int, Trust]:
    index = -1
    if files.dump is not None and files.execution >= 0:
        index = int(files.dump.bundled_input_index[files.execution])
    if 0 <= index < count:
        return index, Trust.EXACT
    if count == 1:
        return 0, Trust.BY_ORDER
    raise ValueError(
        f"the ETRecord has {counted(count, 'case')} of reference outputs, and the dump does not "
        "tell which one this execution ran"
    )
