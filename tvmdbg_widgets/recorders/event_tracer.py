"""Tracer of a delegate prototyped in Python, in the format of ExecuTorch's runtime."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.etdump import UNSET_CHAIN
from tvmdbg_widgets.recorders.etdump_writer import RecordedEvent
from tvmdbg_widgets.recorders.event_log import UNSET_INSTRUCTION, EventLog, int32, utf8, whole

BytesLike: TypeAlias = bytes | bytearray | memoryview

_UINT64: Final = range(2**64)


@dataclass(frozen=True, slots=True)
class EventTracerEntry:
    """A profile event that has started; the events of a delegate have an id, others a name."""

    name: str | None
    delegate_debug_id: int | str | None
    chain_index: int
    instruction_id: int
    start_time: int


class EventTracer(EventLog):
    """Records profile and debug events to an ETDump.

    ::

        tracer = EventTracer()
        with tracer.event_block("Execute"):
            with tracer.instruction(0), tracer.profiling("DELEGATE_CALL"):
                with tracer.profiling_delegate("conv_relu"):
                    y = conv_relu(x)
                tracer.log_output_delegate("conv_relu", None, y)
            tracer.log_evalue_output(y)
        tracer.save("etdump.etdp")

    Names, arguments and what is written for them are those of
    ``runtime/core/event_tracer_hooks_delegate.h``, ``runtime/core/event_tracer.h`` and
    ``devtools/etdump/etdump_flatcc.cpp`` @ v1.4.1, and the Inspector reads the files.

    Parameters
    ----------
    clock : callable
        Returns ticks, 0 or more; nanoseconds by default.
    """

    def __init__(self, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        super().__init__()
        self._clock = clock

    def start_profiling(
        self, name: str, chain_index: int = UNSET_CHAIN, instruction_id: int = UNSET_INSTRUCTION
    ) -> EventTracerEntry:
        """Start an event of the framework or a kernel, such as ``"native_call_add.out"``.

        It belongs to the current instruction unless `chain_index` is given; outside of any, chain
        is -1 and instruction 0.
        """
        chain, instruction = (
            self._current if chain_index == UNSET_CHAIN else (chain_index, instruction_id)
        )
        return EventTracerEntry(
            utf8(name),
            None,
            int32("chain_index", chain),
            int32("instruction_id", instruction),
            self._clock(),
        )

    def end_profiling(self, prof_entry: EventTracerEntry) -> None:
        """Record an event that :meth:`start_profiling` began.

        Raises
        ------
        ValueError
            The event is a delegate's.
        """
        end = self._clock()
        if prof_entry.name is None:
            raise ValueError(
                "Delegate events must use end_profiling_delegate to mark the end of a delegate "
                "profiling event."
            )
        call = prof_entry.chain_index, prof_entry.instruction_id
        times = _tick(prof_entry.start_time), _tick(end)
        self._record(RecordedEvent(*call, prof_entry.name, None, *times))

    @contextmanager
    def profiling(self, name: str) -> Iterator[None]:
        """Record what is inside as an event of the framework or a kernel."""
        entry = self.start_profiling(name)
        try:
            yield
        finally:
            self.end_profiling(entry)

    def start_profiling_delegate(
        self, name: str | None, delegate_debug_id: int | None = None
    ) -> EventTracerEntry:
        """Start an event of a delegate.

        Parameters
        ----------
        name : str or None
        delegate_debug_id : int or None
            The identifier in the delegate's debug map is one of both; the other is None, or -1.

        Raises
        ------
        ValueError
            Both were given, or neither was; or an id beyond int32.
        """
        identifier = _identifier(name, delegate_debug_id)
        return EventTracerEntry(None, identifier, *self._current, self._clock())

    def end_profiling_delegate(
        self, event_tracer_entry: EventTracerEntry, metadata: BytesLike | None = None
    ) -> None:
        """Record an event that :meth:`start_profiling_delegate` began, at the current instruction.

        Parameters
        ----------
        event_tracer_entry : EventTracerEntry
        metadata : bytes-like, optional
            What the delegate says of the event; its parser is the Inspector's
            ``delegate_metadata_parser``.

        Raises
        ------
        TypeError
            The metadata is not bytes-like; a text has to be encoded.
        ValueError
            The event is no delegate's.
        """
        end = self._clock()
        if event_tracer_entry.delegate_debug_id is None:
            raise ValueError("an event of start_profiling is ended by end_profiling")
        self._delegate(
            event_tracer_entry.delegate_debug_id, event_tracer_entry.start_time, end, metadata
        )

    @contextmanager
    def profiling_delegate(
        self,
        name: str | None,
        delegate_debug_id: int | None = None,
        metadata: BytesLike | None = None,
    ) -> Iterator[None]:
        """Record what is inside as an event of a delegate."""
        entry = self.start_profiling_delegate(name, delegate_debug_id)
        try:
            yield
        finally:
            self.end_profiling_delegate(entry, metadata)

    def log_profiling_delegate(
        self,
        name: str | None,
        delegate_debug_id: int | None,
        start_time: int,
        end_time: int,
        metadata: BytesLike | None = None,
    ) -> None:
        """Record an event of a delegate with times of its own, of any unit and epoch.

        Raises
        ------
        TypeError, ValueError
            As of :meth:`start_profiling_delegate` and :meth:`end_profiling_delegate`; or a time
            that is no integer from 0 to 2**64 - 1.
        """
        self._delegate(_identifier(name, delegate_debug_id), start_time, end_time, metadata)

    def log_output_delegate(
        self, name: str | None, delegate_debug_id: int | None, output: Any
    ) -> None:
        """Record a value that a delegate computed.

        Parameters
        ----------
        name, delegate_debug_id
            As of :meth:`start_profiling_delegate`.
        output : bool, int, float, array_like, or list of arrays
            Arrays, torch's tensors too, are copied. The runtime damages its file by float16 and
            bfloat16; here they are written like any other type. (The Inspector reads float16, but
            refuses bfloat16, float8, uint32 and uint64.)

        Raises
        ------
        TypeError, ValueError
            A value of none of these types, an int beyond int64, or not exactly one id.
        """
        self._record_value(output, _identifier(name, delegate_debug_id))

    def log_evalue(self, evalue: Any) -> None:
        """Record an argument or output of the current instruction.

        Parameters
        ----------
        evalue
            A value as of :meth:`log_output_delegate`.
        """
        self._record_value(evalue)

    def log_evalue_output(self, evalue: Any) -> None:
        """Record an output of the program.

        Numbers are marked as outputs like tensors; the runtime marks tensors alone.
        """
        self._record_value(evalue, output=True)

    def _delegate(
        self, identifier: int | str, start: int, end: int, metadata: BytesLike | None
    ) -> None:
        held = b"" if metadata is None else memoryview(metadata).tobytes()
        times = _tick(start), _tick(end)
        self._record(RecordedEvent(*self._current, None, identifier, *times, metadata=held))


def _identifier(name: str | None, delegate_debug_id: int | None) -> int | str:
    number = -1 if delegate_debug_id is None else int32("delegate_debug_id", delegate_debug_id)
    if (name is None) == (number == -1):
        raise ValueError(
            "Only name or delegate_debug_index can be valid. Check DelegateMappingBuilder "
            "documentation for more details."
        )
    return number if name is None else utf8(name)


def _tick(time_: int) -> int:
    return whole("a time", time_, _UINT64)


#: Identifier of a delegate's operation: a number, or a name.
Identifier: TypeAlias = int | str


class DelegateMappingError(Exception):
    """An entry that cannot be added; ExecuTorch raises a plain ``Exception`` of the same text."""


class HasMeta(Protocol):
    """A node: whatever keeps its debug handle in ``meta["debug_handle"]``, as torch.fx does."""

    @property
    def meta(self) -> Mapping[str, Any]:
        """Facts of the node."""


class DelegateMappingBuilder:
    """Builds a delegate debug map: the handles of the nodes that each identifier stands for.

    It does what ``DelegateMappingBuilder`` of ``exir/backend/utils.py`` @ v1.4.1 does, in the same
    order and with the same messages, and takes its place in a backend.

    ::

        builder = DelegateMappingBuilder(generated_identifiers=True)
        builder.insert_delegate_mapping_entry(nodes=[conv, relu])  # 0
        PreprocessResult(blob, debug_handle_map=builder.get_delegate_mapping())

    Parameters
    ----------
    generated_identifiers : bool
        Number the entries 0, 1, 2 …; else each is given its identifier.
    """

    def __init__(self, generated_identifiers: bool = False) -> None:
        self._generated_identifiers = generated_identifiers
        self._handles: dict[Identifier, set[Any]] = {}
        self._next = 0

    def insert_delegate_mapping_entry(
        self,
        nodes: HasMeta | list[HasMeta] | None = None,
        handles: int | Sequence[int | None] | None = None,
        identifier: Identifier | None = None,
    ) -> Identifier:
        """Add an entry and return its identifier.

        Parameters
        ----------
        nodes : node or list of nodes
            What has ``.meta``; a node without ``"debug_handle"`` is left out. A tuple is no list.
        handles : int, or list or tuple of int or None
            Debug handles in place of nodes; None is left out, 0 is kept.
        identifier : int or str
            Only, and always, where identifiers are not generated.

        Raises
        ------
        DelegateMappingError
            An identifier that is missing, not to be given, or there already; not exactly one of
            nodes and handles; or no handle at all. The last uses up a generated identifier.
        """
        if self._generated_identifiers and identifier is not None:
            raise DelegateMappingError(
                "Builders using generated identifiers can't manually add identifiers: "
                f"{identifier}. Failed to add or update entry"
            )
        if identifier is not None and identifier in self._handles:
            raise DelegateMappingError(
                "This delegate debug identifier was already inserted. Duplicate delegate debug "
                "identifiers are not allowed."
            )
        if (nodes is None) == (handles is None):
            raise DelegateMappingError(
                "Only one of nodes or handles must be provided. Either both were provided or "
                "neither were provided. Failed to add or update entry."
            )
        if identifier is None and not self._generated_identifiers:
            raise DelegateMappingError("No identifier provided. Failed to add or update entry.")
        if identifier is None:
            identifier, self._next = self._next, self._next + 1
        held: set[Any] = set(handles if isinstance(handles, list | tuple) else [handles])
        if nodes is not None:
            several = nodes if isinstance(nodes, list) else [nodes]
            held = {node.meta.get("debug_handle") for node in several}
        held.discard(None)
        if not held:
            raise DelegateMappingError("No valid debug handles found. Failed to add entry.")
        self._handles[identifier] = held
        return identifier

    def get_delegate_mapping(self) -> dict[Identifier, tuple[int, ...]]:
        """Return the ascending handles by entry, in the order of insertion."""
        return {identifier: tuple(sorted(held)) for identifier, held in self._handles.items()}

    def __repr__(self) -> str:
        how = "generated" if self._generated_identifiers else "given"
        return f"DelegateMappingBuilder({counted(len(self._handles), 'identifier')}, {how})"


@dataclass
class PreprocessResult:
    """The result of a backend's ``preprocess``, for notebooks without ExecuTorch.

    The fields of ``PreprocessResult`` of ``exir/backend/backend_details.py`` @ v1.4.1.

    Attributes
    ----------
    processed_bytes : bytes
        The compiled program.
    debug_handle_map : dict of int or str to tuple of int, or None
        As of :meth:`DelegateMappingBuilder.get_delegate_mapping`.
    data_store_output : object
        Named data, such as weights.
    """

    processed_bytes: bytes = b""
    debug_handle_map: dict[Identifier, tuple[int, ...]] | None = None
    data_store_output: Any = None
    _delegate_info_meta: Any = None
