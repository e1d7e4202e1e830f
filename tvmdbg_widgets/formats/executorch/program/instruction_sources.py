"""Sources of the values that instructions read; the reader of bundled programs (``.bpte``)."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from tvmdbg_widgets.formats.executorch.program.instruction_steps import (
    InstructionStep,
    most_links,
    unfolds,
)
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.formats.executorch.program.tensors import HINT
from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.flatbuffer import FlatBuffer, FlatTables
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.program import BundledProgram, Plan, ScalarValue, TensorValue
from tvmdbg_widgets.model.executorch.program_instructions import JumpFalseCall, MoveCall
from tvmdbg_widgets.sources.byte_source import ByteSource, PartSource

#: Limit of memory ranges that all instructions change together.
_MOST_EFFECTS = 2_000_000


class Source(NamedTuple):
    """The origin of one read value."""

    writings: tuple[Writing, ...]
    viewed: bool


class Sources(NamedTuple):
    """Sources of the reads of each instruction, and of the method's outputs."""

    reads: list[list[Source]]
    outputs: list[Source]


def states_of(plan: Plan) -> frozenset[int]:
    """Return the mutable buffers: start values, or placeholders before the last input."""
    highest, inputs = max(plan.inputs, default=-1), set(plan.inputs)
    return frozenset(
        index
        for index, value in enumerate(plan.values)
        if isinstance(value, TensorValue) and value.allocation is not None
        if index < highest or value.data_buffer_idx > 0 or value.is_external
        if index not in inputs
    )


def sources_of(plan: Plan, steps: Sequence[InstructionStep], file: str) -> Sources:
    """Return the sources of all reads; unwritten numbers and lists are literal and have none."""
    written = {index for step in steps for index in step.writes}
    read = dict.fromkeys(index for step in steps for index in step.reads)
    before = {index: frozenset(((-1, index),)) for index in plan.inputs}
    before |= {index: frozenset(((-1, index),)) for index in states_of(plan)}
    given = written | before.keys()
    views = ViewRanges(plan, [index_ for index_ in (*read, *plan.outputs) if index_ not in given])
    for index in tuple(before):
        location = views.filled(index)
        if location is not None:
            before[location] = before[index]
    states = _flow(plan, steps, views, file).states(before, file)
    read_sources: list[list[Source]] = []
    left = most_links(plan)
    reads = [*(step.reads for step in steps), plan.outputs]
    for position, (indexes, state) in enumerate(zip(reads, states, strict=True)):
        read_sources.append([])
        for index in indexes:
            source = _source(index, state, views)
            if source is None:
                # A literal is an attribute of its reader, but an output of the method has a node.
                if position < len(steps) and not isinstance(plan.values[index], TensorValue):
                    continue
                source = Source(((-1, index),), False)
            read_sources[-1].append(source)
            left -= len(source.writings)
            if left < 0:
                raise unfolds(file)
    return Sources(read_sources[:-1], read_sources[-1])


def _flow(plan: Plan, steps: Sequence[InstructionStep], views: ViewRanges, file: str) -> Flow:
    effects: list[list[Effect]] = []
    left = _MOST_EFFECTS
    for at, step in enumerate(steps):
        effects.append(_effects(at, step, views))
        left -= len(effects[-1])
        if left < 0:
            raise unfolds(file)
    written = {index for step in steps for index in step.writes}
    jumps: dict[int, int] = {}
    always: set[int] = set()
    for at, step in enumerate(steps):
        if not isinstance(step.instruction, JumpFalseCall):
            continue
        condition = step.instruction.cond_value_index
        value = plan.values[condition]
        fixed = value.value if isinstance(value, ScalarValue) and condition not in written else None
        if fixed is True:
            continue
        jumps[at] = at - step.index + step.instruction.destination_instruction
        if fixed is False:
            always.add(at)
    return Flow(effects, jumps, frozenset(always))


def _effects(at: int, step: InstructionStep, views: ViewRanges) -> list[Effect]:
    effects = []
    for output, index in enumerate(step.writes):
        writing = (at, output)
        effects.append(Effect(index, writing))
        if not isinstance(step.instruction, MoveCall):
            own = views.filled(index)
            effects += [
                Effect(location, writing if location == own else None)
                for location in views.touched(index)
            ]
    return effects


def _source(index: int, state: State, views: ViewRanges) -> Source | None:
    own = state.get(index)
    if own:
        return Source(tuple(sorted(own)), False)
    location = views.location(index)
    other = None if location is None else state.get(location)
    return Source(tuple(sorted(other)), True) if other else None


def sniff(head: bytes) -> bool:
    """Return whether a file that starts with these 8 bytes or more is a bundled program."""
    return head[4:8] == b"BP08"


def read_bundled_program(source: ByteSource) -> BundledProgram:
    """Read a bundled program; its cases are only checked."""
    head = source.read(0, min(source.size, 8))
    if not sniff(head):
        raise FormatError(
            "no bundled program of ExecuTorch",
            file=source.name,
            field="identifier",
            offset=4,
            expected="BP08",
            found=repr(head[4:8])[1:],
            hint=HINT,
        )
    buffer = FlatBuffer(source.read(0, source.size), file=source.name, hint=HINT)
    root = FlatTables.root(buffer, "BundledProgram")
    (start,), (length,) = (column.tolist() for column in root.spans(2, "program"))
    name = f"{source.name}, its program"
    program = read_program(PartSource(source, max(0, start), length, name))
    # No view shows cases; a file that ends within them is refused all the same.
    _, suites = root.children(1, "BundledMethodTestSuite", "method_test_suites")
    suites.children(1, "BundledMethodTestCase", "test_cases")
    suites.strings(0, "method_name")
    return BundledProgram(program, max(0, start))


#: The last writing: an output of an instruction as (position, output), or a value that was
#: there before as (-1, value).
Writing: TypeAlias = tuple[int, int]
State: TypeAlias = dict[int, frozenset[Writing]]

#: Writings handed on over jumps in all; a program of 100,000 values may have 40 branches.
_MOST_STEPS = 4_000_000


class Effect(NamedTuple):
    """A location after an instruction: its writing, None if it holds no value."""

    location: int
    writing: Writing | None


class Flow(NamedTuple):
    """Instructions in order, and their jumps."""

    effects: Sequence[Sequence[Effect]]
    jumps: Mapping[int, int]
    always: frozenset[int]

    def states(self, before: State, file: str) -> Iterator[State]:
        """Yield the writings that reach each instruction, then the end; reuses the dictionary."""
        end = len(self.effects)
        after = {position + 1 for position in self.jumps}
        starts = sorted({0, end, *after, *self.jumps.values()})
        entries = self._entries(starts, before, file)
        for block in range(len(starts) - 1):
            state = dict(entries[block] or before)
            for position in range(starts[block], starts[block + 1]):
                yield state
                _apply(self.effects[position], state)
        yield entries[-1] or {}

    def _entries(self, starts: Sequence[int], before: State, file: str) -> list[State | None]:
        entries: list[State | None] = [None] * len(starts)
        entries[0] = before
        waiting, steps, end = [0], 0, len(starts) - 1
        while waiting:
            block = heapq.heappop(waiting)
            if block == end or waiting[:1] == [block]:
                continue
            state = dict(entries[block] or {})
            for position in range(starts[block], starts[block + 1]):
                _apply(self.effects[position], state)
            own = self.effects[starts[block] : starts[block + 1]]
            held = sum(map(len, own)) + len(own) + sum(map(len, state.values()))
            last = starts[block + 1] - 1
            following = set() if last in self.always else {last + 1}
            for position in following | ({self.jumps[last]} if last in self.jumps else set()):
                steps += held
                if steps > _MOST_STEPS:
                    raise FormatError(
                        "the program has more branches than can be followed",
                        file=file,
                        field="chains",
                        expected=f"at most {_MOST_STEPS:,} values handed on over jumps",
                        found="more",
                    )
                target = bisect_right(starts, position) - 1
                merged = _merged(entries[target], state)
                if merged is not None:
                    entries[target] = merged
                    heapq.heappush(waiting, target)
        return entries


def _apply(effects: Iterable[Effect], state: State) -> None:
    for location, writing in effects:
        if writing is None:
            state.pop(location, None)
        else:
            state[location] = frozenset((writing,))


def _merged(known: State | None, state: State) -> State | None:
    if known is None:
        return dict(state)
    changed = {
        location: known.get(location, frozenset()) | writings
        for location, writings in state.items()
        if not writings <= known.get(location, frozenset())
    }
    return known | changed if changed else None


class BufferRange(NamedTuple):
    """Bytes of a planned buffer."""

    memory_id: int
    start: int
    end: int


def range_of(plan: Plan, index: int) -> BufferRange | None:
    """Return the planned bytes of a value, or None."""
    value = plan.values[index]
    if not isinstance(value, TensorValue) or value.allocation is None or not value.nbytes:
        return None
    place = value.allocation
    return BufferRange(place.memory_id, place.offset, place.offset + value.nbytes)


class ViewRanges:
    """The memory ranges of views, as locations after those of the values."""

    def __init__(self, plan: Plan, views: Iterable[int]) -> None:
        self._plan = plan
        numbers: dict[BufferRange, int] = {}
        self._location_of: dict[int, int] = {}
        for index in views:
            range_ = range_of(plan, index)
            if range_ is not None:
                number = numbers.setdefault(range_, len(plan.values) + len(numbers))
                self._location_of[index] = number
        self._numbers = numbers
        # Places lie within their buffers, whose sizes have 64 bits.
        columns = np.array([tuple(item) for item in numbers], np.int64).reshape(-1, 3)
        self._memory, self._starts, self._ends = columns.T
        self._touched: dict[BufferRange, list[int]] = {}

    def location(self, index: int) -> int | None:
        """Return the location that a value views, or None."""
        return self._location_of.get(index)

    def filled(self, index: int) -> int | None:
        """Return the location that writing a value fills exactly, or None."""
        written = range_of(self._plan, index)
        return None if written is None else self._numbers.get(written)

    def touched(self, index: int) -> list[int]:
        """Return the locations that writing a value changes."""
        written = range_of(self._plan, index)
        if written is None:
            return []
        if written not in self._touched:
            memory, start, end = written
            hit = (self._memory == memory) & (self._starts < end) & (start < self._ends)
            self._touched[written] = (np.flatnonzero(hit) + len(self._plan.values)).tolist()
        return self._touched[written]


KIND = Kind("bundled", "bundled program", sniff, read_bundled_program, "bundled")
