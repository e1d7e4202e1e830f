"""The contents of an ETDump as columns over its events; names of XNNPACK's events."""

from __future__ import annotations

import enum
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.ranges import first_rows, numbered
from tvmdbg_widgets.model.base.text import Issues, one_line
from tvmdbg_widgets.model.executorch.vulkan_names import event_title
from tvmdbg_widgets.model.graph.operator_names import family_by_name

#: The chain index of framework events, in either signedness: ``kUnsetChainId``.
UNSET_CHAIN = -1


class EventKind(enum.IntEnum):
    """The kind of an event, by its present member."""

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
    """The place of a logged tensor in the debug buffer."""

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

    @property
    def tensors(self) -> tuple[DebugTensor, ...]:
        """The logged tensors; empty for numbers."""
        held = self.value if isinstance(self.value, tuple) else (self.value,)
        return tuple(item for item in held if isinstance(item, DebugTensor))


@dataclass(frozen=True, eq=False, repr=False)
class ETDump:
    """An ETDump: R runs (event blocks), E events in file order. Every array is read-only."""

    file: str
    version: int
    run_names: tuple[str | None, ...]
    bundled_input_index: npt.NDArray[np.int32]
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
        """Titles of delegates' events: ``delegate_id_str``, or its readable form."""
        logged = self.delegate_id_str
        titles = StringColumn.from_strings(map(event_title, logged.unique))
        return StringColumn(titles.unique, titles.codes[logged.codes])

    def place(self, event: int) -> tuple[int, int]:
        """Return chain and instruction of an event."""
        return int(self.chain_index[event]), int(self.instruction_id[event])

    def place_text(self, place: tuple[int, int]) -> str:
        """Return ``"instruction 2"`` of chain and instruction; beyond the first with its chain."""
        chain, instruction = place
        return f"{self.call_word} {instruction}" + (f" of chain {chain}" if chain else "")

    def title(self, event: int) -> str:
        """Return an event's identifier in readable form, or ""."""
        number = int(self.delegate_id_int[event])
        return str(number) if number != -1 else self.delegate_names[event]

    def identifier(self, event: int) -> str:
        """Return an event's delegate debug identifier as text, or ""."""
        number = int(self.delegate_id_int[event])
        return str(number) if number != -1 else self.delegate_id_str[event]

    def events_of(self, run: int) -> range:
        """Positions of the events of a run."""
        return range(int(self.run_offsets[run]), int(self.run_offsets[run + 1]))

    def __repr__(self) -> str:
        what = "ETDump" if self.call_word == "instruction" else "Inspector's table"
        runs, events = counted(self.num_runs, "run"), counted(self.num_events, "event")
        return f"{what}({self.file!r}: {runs}, {events})"


Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

CALL: Final = "DELEGATE_CALL"
EXECUTE: Final = "Method::execute"
LOADING: Final = ("Program::load_method", "Method::init")
_XNNPACK: Final = "XnnpackBackend"
_SPELLED: Final = {"Xnnpack": "XNNPACK", "Qnn": "QNN"}
#: XNNPACK counts in whole microseconds (``XNNProfiler.cpp`` @ v1.4.1): its events may end so many
#: ticks after their call, and shorter ones have no length.
_ROUNDING = 1000
#: Vulkan's phases are timed by the runtime, its dispatches by the GPU (``VulkanBackend.cpp``).
_BY_THE_RUNTIME = "ETVK_"


@dataclass(frozen=True, eq=False)
class DelegateCalls:
    """The calls of delegates in a dump of E events."""

    call: Ints
    foreign: Bools
    shift: npt.NDArray[np.float64]

    @classmethod
    def of(cls, dump: ETDump) -> DelegateCalls:
        """Find the calls; an event belongs to the next one of its instruction in its run."""
        count = dump.num_events
        profile = dump.kind == EventKind.PROFILE
        inner = np.flatnonzero(profile & is_of_delegate(dump))
        calls = np.flatnonzero(profile & named(dump, CALL))
        key = instruction_keys(dump)
        width = count + 1
        ends = np.sort(key[calls] * width + calls)
        at = np.searchsorted(ends, key[inner] * width + inner)
        has_call = at < len(ends)
        has_call[has_call] = ends[at[has_call]] // width == key[inner][has_call]
        call = np.full(count, -1, np.int64)
        call[inner[has_call]] = ends[at[has_call]] % width
        foreign = _foreign(dump, inner, call)
        return cls(call, foreign, _shift(dump, call, foreign))

    def events(self, dump: ETDump) -> dict[int, tuple[int, ...]]:
        """Return the events by call in the order of the dump."""
        calls = np.flatnonzero((dump.kind == EventKind.PROFILE) & named(dump, CALL))
        of_call: dict[int, list[int]] = {call: [] for call in calls.tolist()}
        for event in np.flatnonzero(self.call >= 0).tolist():
            of_call[int(self.call[event])].append(event)
        return {call: tuple(events) for call, events in of_call.items()}


def is_of_delegate(dump: ETDump) -> Bools:
    """Return the events that have a delegate debug identifier."""
    unnamed = [not text for text in dump.delegate_id_str.unique] or [True]
    without = np.array(unnamed, np.bool_)[dump.delegate_id_str.codes]
    of_delegate: Bools = (dump.delegate_id_int != -1) | ~without
    return of_delegate


def named(dump: ETDump, name: str) -> Bools:
    """Return the events of a name without a delegate debug identifier."""
    has_name = np.array([text == name for text in dump.names.unique] or [False], np.bool_)
    return has_name[dump.names.codes] & ~is_of_delegate(dump)


def rounding_ns(
    dump: ETDump, calls: DelegateCalls, backends: Mapping[tuple[int, int], str]
) -> float:
    """Return XNNPACK's time unit if it logged events, by delegate or by name, else 0."""
    profile = dump.kind == EventKind.PROFILE
    logged = dump.delegate_id_str
    rows = numbered(dump.chain_index, dump.instruction_id, logged.codes)
    first = first_rows(rows)
    own = np.zeros(len(first), np.bool_)
    for at, event in enumerate(first.tolist()):
        place = dump.place(event)
        own[at] = (
            backends[place] == _XNNPACK
            if backends.get(place)
            else xnnpack_family(logged[event]) is not None
        )
    own_rows = own[rows] & profile & is_of_delegate(dump) & ~calls.foreign
    backwards = profile & (dump.end < dump.start)
    is_whole = (dump.end - dump.start)[own_rows] % np.uint64(_ROUNDING) == 0
    return float(_ROUNDING) if len(is_whole) and is_whole.all() and not backwards.any() else 0.0


def run_of(dump: ETDump) -> Ints:
    """Return the runs of the events."""
    return np.repeat(np.arange(dump.num_runs), np.diff(dump.run_offsets))


def instruction_keys(dump: ETDump) -> Ints:
    """Number the pairs of run and instruction by event."""
    return numbered(run_of(dump), dump.chain_index, dump.instruction_id)


def _foreign(dump: ETDump, inner: Ints, call: Ints) -> Bools:
    """Return the events of instructions with an event outside of its call."""
    known = inner[call[inner] >= 0]
    of = call[known]
    late = dump.end[known] > dump.end[of] + np.uint64(_ROUNDING)
    outside = (dump.start[known] + np.uint64(_ROUNDING) < dump.start[of]) | late
    # A delegate has one clock in all runs.
    instruction = dump.chain_index * (1 << 32) + dump.instruction_id
    wrong = np.unique(instruction[known[outside]])
    foreign = np.zeros(dump.num_events, np.bool_)
    foreign[inner] = np.isin(instruction[inner], wrong)
    logged = dump.delegate_id_str
    runtime = [text.startswith(_BY_THE_RUNTIME) for text in logged.unique] or [False]
    return foreign & ~np.array(runtime, np.bool_)[logged.codes]


def _shift(dump: ETDump, call: Ints, foreign: Bools) -> npt.NDArray[np.float64]:
    shift = np.zeros(dump.num_events)
    rows = np.flatnonzero(foreign & (call >= 0))
    if len(rows):
        of, number = np.unique(call[rows], return_inverse=True)
        first = np.full(len(of), np.iinfo(np.uint64).max, np.uint64)
        np.minimum.at(first, number, dump.start[rows])
        begin = dump.start[of].astype(np.float64)
        shift[rows] = (begin - first.astype(np.float64))[number]
    return shift


def backend_title(backend: str) -> str:
    """Return the title of a backend: ``"XNNPACK"`` of ``"XnnpackBackend"``."""
    name = one_line(backend).removesuffix("Backend")
    return _SPELLED.get(name, name) or "delegate"


_FAMILY_OF: Final = family_by_name("xnnpack")
#: The same for the types of nodes in a payload.
_FAMILY_OF_TYPE: Final = family_by_name("xnnpack_nodes")
_SPELLED_NAME: Final = re.compile(
    r"(?P<base>[^()#]+?)(?: \((?P<types>[^()#]+)\)(?: (?P<kernel>[^()#]+))?)?(?: #(?P<k>\d{1,9}))?"
)
_TYPES: Final = re.compile(r"[A-Z0-9]+(?:, [A-Z0-9]+)*")

_MEANINGS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class NameParts(NamedTuple):
    """Parts of a name; ``k`` counts the operators of this name in one call."""

    base: str
    types: tuple[str, ...]
    kernel: str
    k: int | None


def split_name(name: str) -> NameParts:
    """Return the parts of an operator's name; a foreign one is a base alone."""
    match = _SPELLED_NAME.fullmatch(name)
    if match is None:
        return NameParts(name, (), "", None)
    types = tuple(match["types"].split(", ")) if match["types"] else ()
    k = int(match["k"]) if match["k"] else None
    return NameParts(match["base"], types, match["kernel"] or "", k)


def explain_name(name: str) -> tuple[tuple[str, str], ...]:
    """Return the known parts of a name after the operator, with their meaning."""
    parts = split_name(name)
    known = {**_MEANINGS["layouts"], **_MEANINGS["dtypes"]}
    meanings = [(part, known[part]) for part in parts.types if part in known]
    if parts.kernel in _MEANINGS["kernels"]:
        meanings.append((parts.kernel, _MEANINGS["kernels"][parts.kernel]))
    return tuple(meanings)


def xnnpack_family(name: str) -> str | None:
    """Return the family of an operator in a profile or payload of XNNPACK, or None."""
    if name in _FAMILY_OF_TYPE:
        return _FAMILY_OF_TYPE[name]
    parts = split_name(name)
    if parts.k is None or not _TYPES.fullmatch(", ".join(parts.types)):
        return None
    return _FAMILY_OF.get(parts.base)
