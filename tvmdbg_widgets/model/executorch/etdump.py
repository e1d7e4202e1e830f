"""What an ETDump holds, as columns over its events."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.executorch.vulkan_names import event_title

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

#: The chain index of framework events, in either signedness: ``kUnsetChainId``.
UNSET_CHAIN = -1


class EventKind(enum.IntEnum):
    """Which of the three members of an event is there."""

    PROFILE = 0
    ALLOCATION = 1
    DEBUG = 2


class ValueType(enum.IntEnum):
    """``ValueType`` of ``etdump_schema_flatcc.fbs``."""

    NULL = 0
    INT = 1
    BOOL = 2
    FLOAT = 3
    DOUBLE = 4
    TENSOR = 5
    TENSOR_LIST = 6
    STRING = 7


@dataclass(frozen=True, slots=True)
class DebugTensor:
    """Where a logged tensor lies in the debug buffer.

    Attributes
    ----------
    scalar_type : int
        Runtime number of the element type (FLOAT is 6).
    sizes : tuple of int
    strides : tuple of int
        In elements; empty where the file has none.
    offset : int
        Bytes from the start of the buffer; -1 where the tensor is empty and nothing was written.
    """

    scalar_type: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class DebugValue:
    """One logged value.

    Attributes
    ----------
    type : int
        :class:`ValueType`, or a number that the schema does not have.
    value : int, float, bool, DebugTensor, tuple of DebugTensor, or None
        None where the member that `type` names is absent.
    output : bool or None
        Whether the program returned it; None where the file does not say.
    """

    type: int
    value: int | float | bool | DebugTensor | tuple[DebugTensor, ...] | None
    output: bool | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ETDump:
    """An ETDump: R runs (event blocks), E events in file order. Every array is read-only.

    Attributes
    ----------
    file : str
    version : int
    run_names : tuple of str or None [R]
    bundled_input_index : int32 [R]
        -1 where it is not set.
    allocators : tuple of tuple of str [R]
    has_events : bool [R]
        False where a run has no vector of events at all, unlike one with none in it.
    run_offsets : int64 [R + 1]
        Run ``i`` owns the events from ``run_offsets[i]`` to ``run_offsets[i + 1] - 1``.
    kind : uint8 [E]
        :class:`EventKind`.
    names : StringColumn [E]
        ``""`` where absent: delegate events have none.
    chain_index : int64 [E]
        -1 for framework events, of profile and debug events alike; 0 for allocations.
    instruction_id : int64 [E]
        -1 where the file says so. Framework events have 0, as the first instruction has.
    delegate_id_int : int64 [E]
        -1 where absent.
    delegate_id_str : StringColumn [E]
        ``""`` where absent.
    start, end : uint64 [E]
        Ticks as recorded; 0 for what is no profile event.
    metadata : Mapping of int to bytes
        ``delegate_debug_metadata`` by event where it is not empty.
    values : Mapping of int to DebugValue
        The logged value by debug event; a debug event without an entry is not in it.
    allocations : Mapping of int to (int, int)
        Allocator id and size in bytes by allocation event.
    issues : Issues
    call_word : str
        What ``instruction_id`` counts: ``"instruction"`` of the program, or ``"row"`` of the
        Inspector's table that the events were read from.
    """

    file: str
    version: int
    run_names: tuple[str | None, ...]
    bundled_input_index: npt.NDArray[np.int32]
    allocators: tuple[tuple[str, ...], ...]
    has_events: npt.NDArray[np.bool_]
    run_offsets: npt.NDArray[np.int64]
    kind: npt.NDArray[np.uint8]
    names: StringColumn
    chain_index: npt.NDArray[np.int64]
    instruction_id: npt.NDArray[np.int64]
    delegate_id_int: npt.NDArray[np.int64]
    delegate_id_str: StringColumn
    start: npt.NDArray[np.uint64]
    end: npt.NDArray[np.uint64]
    metadata: Mapping[int, bytes] = field(default_factory=dict)
    values: Mapping[int, DebugValue] = field(default_factory=dict)
    allocations: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    issues: Issues = field(default_factory=Issues)
    call_word: str = "instruction"

    @property
    def num_runs(self) -> int:
        """Number of runs (event blocks), R."""
        return len(self.run_names)

    @property
    def num_events(self) -> int:
        """Number of events, E."""
        return len(self.kind)

    @cached_property
    def delegate_names(self) -> StringColumn:
        """What events of delegates are called on screen: ``delegate_id_str``, or what it says."""
        told = self.delegate_id_str
        titles = StringColumn.from_strings(map(event_title, told.unique))
        return StringColumn(titles.unique, titles.codes[told.codes])

    def events_of(self, run: int) -> range:
        """Positions of the events of a run."""
        return range(int(self.run_offsets[run]), int(self.run_offsets[run + 1]))

    def __repr__(self) -> str:
        what = "ETDump" if self.call_word == "instruction" else "Inspector's table"
        runs, events = counted(self.num_runs, "run"), counted(self.num_events, "event")
        return f"{what}({self.file!r}: {runs}, {events})"
