"""A dump of ExecuTorch for rules: delegate calls and logged identifiers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.ranges import first_rows, numbered
from tvmdbg_widgets.model.base.text import cut, one_line
from tvmdbg_widgets.model.executorch.etdump import (
    CALL,
    DelegateCalls,
    ETDump,
    EventKind,
    backend_title,
    is_of_delegate,
    named,
    run_of,
)
from tvmdbg_widgets.model.executorch.event_nodes import EventNodes, ExecuTorchFiles, recorded_titles

Ints = npt.NDArray[np.int64]
Instruction = tuple[int, int]  # chain and position in it

LOADING: Final = "Default"
UNNAMED: Final = "a delegate"
_LONGEST = 60  # longest identifier; XNNPACK's names have up to 60 letters


class DelegateInstruction(NamedTuple):
    """An instruction that calls a delegate."""

    at: Instruction
    backend: str
    nodes: tuple[int, ...]
    rows: Ints
    inner: Ints
    place: str

    @property
    def key(self) -> tuple[Instruction, str]:
        """Unique key of a call: methods may call delegates at the same instruction."""
        return self.at, self.place


class Identified(NamedTuple):
    """Events that a delegate logged under one identifier at one instruction."""

    at: Instruction
    key: str
    shown: str
    how: int
    events: int


@dataclass(frozen=True, eq=False)
class RecordedDump:
    """A dump, its nodes and its delegate calls."""

    files: ExecuTorchFiles
    dump: ETDump
    nodes: EventNodes

    @classmethod
    def of(cls, files: ExecuTorchFiles | None) -> RecordedDump | None:
        """Return the recorded dump, None without a dump."""
        if files is None or files.dump is None or files.event_nodes is None:
            return None
        return cls(files, files.dump, files.event_nodes)

    @cached_property
    def calls(self) -> DelegateCalls:
        """Delegate call by event."""
        return DelegateCalls.of(self.dump)

    @cached_property
    def took(self) -> npt.NDArray[np.float64]:
        """Ticks by event; 0 for other than profile events, or an end before the start."""
        start, end = self.dump.start, self.dump.end
        return np.where(end >= start, end - start, np.uint64(0)).astype(np.float64)

    @cached_property
    def executed(self) -> npt.NDArray[np.bool_]:
        """Whether events are of an execution, not of loading."""
        executes = np.array([name != LOADING for name in self.dump.run_names], np.bool_)
        return executes[run_of(self.dump)]

    @cached_property
    def executions(self) -> int:
        """Number of executions that recorded something, at least 1."""
        return max(1, len(np.unique(run_of(self.dump)[self.executed])))

    def per_execution(self, rows: Ints) -> float:
        """Return the time of some events per execution."""
        return float(self.took[rows].sum()) / self.executions

    def backend(self, at: Instruction) -> str:
        """Return the backend of an instruction's delegate."""
        return shortened(self.nodes.backends.get(at, "")) or UNNAMED

    def _titles(self, method: str) -> dict[Instruction, str]:
        known = self._titles_by_method.get(method)
        if known is None:
            known = recorded_titles(self.dump, self.nodes, method)
            self._titles_by_method[method] = known
        return known

    @cached_property
    def _titles_by_method(self) -> dict[str, dict[Instruction, str]]:
        return {}

    def call_title(self, at: Instruction) -> str:
        """Return the title of a call of the open method: ``"XNNPACK call 1 of 2"``."""
        return self._titles("").get(at) or self.dump.place_text(at)

    @cached_property
    def delegated(self) -> tuple[DelegateInstruction, ...]:
        """The instructions that called a delegate, in order."""
        dump, call_of, run = self.dump, self.calls.call, run_of(self.dump)
        rows = np.flatnonzero((dump.kind == EventKind.PROFILE) & named(dump, CALL) & self.executed)
        of_method = np.array([*map(self._other_methods.index, self._other_methods)], np.int64)
        method = of_method[run[rows]] if len(of_method) else np.zeros(len(rows), np.int64)
        number = numbered(dump.chain_index[rows], dump.instruction_id[rows], method)
        first = rows[first_rows(number)]
        of_event = np.full(dump.num_events, -1, np.int64)
        of_event[rows] = number
        inner = np.flatnonzero(call_of >= 0)
        inner = inner[of_event[call_of[inner]] >= 0]
        outer_of = _rows_by_number(rows, number, len(first))
        inner_of = _rows_by_number(inner, of_event[call_of[inner]], len(first))
        instructions = []
        for event, outer, held in zip(first.tolist(), outer_of, inner_of, strict=True):
            at = dump.place(event)
            other = self._other_methods[int(run[event])]
            nodes = () if other else self.nodes.of_call(at)
            where = self._titles(self.nodes.elsewhere.get(event, "")).get(at) or dump.place_text(at)
            where += f" of {other}" if other else ""
            instructions.append(
                DelegateInstruction(at, self.backend(at), nodes, outer, held, where)
            )
        return tuple(instructions)

    @cached_property
    def _other_methods(self) -> tuple[str, ...]:
        insides = self.files.insides
        others = insides.runs_of_others(self.files.method)
        return tuple(
            " or ".join(repr(shortened(name)) for name in insides.methods[run])
            if run in others
            else ""
            for run in range(self.dump.num_runs)
        )

    @cached_property
    def aligned(self) -> frozenset[Instruction]:
        """Calls whose events were aligned with a delegate's graph."""
        calls = self.files.insides.calls.items()
        return frozenset(
            self.dump.place(row)
            for row, contents in calls
            if contents.alignment is not None or contents.unsure_of
        )

    @cached_property
    def taken(self) -> frozenset[int]:
        """Nodes of all calls."""
        return frozenset(node for call in self.delegated for node in call.nodes)

    @cached_property
    def identified(self) -> tuple[Identified, ...]:
        """Logs of delegates, by instruction and identifier."""
        dump = self.dump
        rows = np.flatnonzero(is_of_delegate(dump) & (dump.chain_index >= 0))
        columns = dump.chain_index, dump.instruction_id, dump.delegate_id_int
        numbers = numbered(*(each[rows] for each in (*columns, dump.delegate_id_str.codes)))
        counts = np.bincount(numbers).tolist()
        logs = []
        for event, count in zip(rows[first_rows(numbers)].tolist(), counts, strict=True):
            title, is_text = dump.title(event), dump.delegate_id_int[event] == -1
            shown, how = shortened(repr(title) if is_text else title), int(self.nodes.how[event])
            key = dump.identifier(event)
            logs.append(Identified(dump.place(event), key, shown, how, count))
        return tuple(logs)


def _rows_by_number(rows: Ints, number: Ints, count: int) -> list[Ints]:
    order = np.argsort(number, kind="stable")
    return np.split(rows[order], np.searchsorted(number[order], np.arange(1, count)))[:count]


def spelled(backend: str) -> str:
    """Return a backend's title for a sentence: ``"XNNPACK"``."""
    return backend if backend == UNNAMED else backend_title(backend)


def shortened(text: str) -> str:
    """Return a text from a file, shortened for a sentence."""
    return cut(one_line(text), _LONGEST)


def sentence(text: str) -> str:
    """Return a sentence that may start with a backend's lower-case name."""
    return text[0].upper() + text[1:] if text.startswith(UNNAMED) else text


def by_backend(calls: Iterable[DelegateInstruction]) -> dict[str, list[DelegateInstruction]]:
    """Return the calls by backend."""
    calls_of: dict[str, list[DelegateInstruction]] = {}
    for call in calls:
        calls_of.setdefault(call.backend, []).append(call)
    return calls_of


def nodes_of_calls(calls: Iterable[DelegateInstruction]) -> tuple[int, ...]:
    """Return the operators of some calls, without repeats."""
    return tuple(dict.fromkeys(node for call in calls for node in call.nodes))
