"""What an ETDump holds, as columns over its events."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.executorch.vulkan_names import event_title

if TYPE_CHECKING:
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
    """Where a logged tensor lies in the debug buffer."""

    scalar_type: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class DebugValue:
    """One logged value."""

    type: int
    value: int | float | bool | DebugTensor | tuple[DebugTensor, ...] | None
    output: bool | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ETDump:
    """An ETDump: R runs (event blocks), E events in file order. Every array is read-only."""

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
