"""Events and event blocks with the attributes of ExecuTorch's Inspector.

``Event`` and ``EventBlock`` in devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.executorch.metrics import broadcast_problem
from tvmdbg_widgets.analysis.executorch.time_scale import MOST_TICKS, PerfData, RunPattern
from tvmdbg_widgets.formats.executorch.debug_buffer import (
    OF_INSPECTOR,
    DebugBufferFile,
    Inflated,
    inflated,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.executorch.etdump import (
    DebugTensor,
    DebugValue,
    ETDump,
    EventKind,
    is_of_delegate,
)
from tvmdbg_widgets.model.executorch.scalar_types import dense_strides

#: Turns the metadata of an event's runs into a list, or into a dict with a column per key.
MetadataParser: TypeAlias = Callable[[list[Any]], Any]

_DIFFERENT_EVENTS: Final = ("\n" + " " * 20).join(
    (
        "Corresponding debug events in multiple iterations of the model",
        "must have the same debug entry values. This is not the case for the",
        "intermediate data present in this ETDump and indicates potential issues",
        "with the model/runtime.",
    )
)


class LoggedValues:
    """Values that an event, or the program's end, logged in each run of a block."""

    def __init__(
        self,
        runs: Sequence[Sequence[DebugValue]] = (),
        buffer: DebugBufferFile | None = None,
        *,
        compat: bool = False,
    ) -> None:
        self.runs = runs
        self.has_buffer = buffer is not None
        self._buffer = buffer
        self._compat = compat

    def of_run(self, run: int) -> list[Inflated]:
        """Return the values of a run of the block, counted from 0."""
        return [inflated(value, self._buffer, compat=self._compat) for value in self.runs[run]]

    @cached_property
    def first(self) -> list[Inflated]:
        """Values of the first run that logged any."""
        return self.of_run(self._first_run) if self.runs else []

    @cached_property
    def _first_run(self) -> int:
        return next((run for run, values in enumerate(self.runs) if values), 0)

    @cached_property
    def differing(self) -> int:
        """Number of runs whose values differ from the first's; NaN differs from itself."""
        others = (run for run in range(len(self.runs)) if run != self._first_run)
        return sum(not _equal(self.of_run(run), self.first) for run in others)

    @property
    def tensors(self) -> Iterator[DebugTensor]:
        """Tensors of all runs."""
        return (tensor for values in self.runs for value in values for tensor in value.tensors)

    def check_events(self) -> None:
        """Refuse runs that logged different values (``_populate_debugging_related_fields``)."""
        first = self.first
        for run in range(1, len(self.runs)):
            pairs = zip(self.of_run(run), first, strict=False)
            if not all(_is_same_to_inspector(one, other) for one, other in pairs):
                _fail(_DIFFERENT_EVENTS)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        both = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
        return both and np.array_equal(np.asarray(one), np.asarray(other))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _is_same_to_inspector(one: Inflated, other: Inflated) -> bool:
    """Compare as ``is_inference_output_equal``: lists up to the length of the shorter one."""
    if isinstance(one, list) and isinstance(other, list):
        return all(map(_equal, one, other))
    numbers = not isinstance(one, list | None) and not isinstance(other, list | None)
    if numbers and isinstance(one, np.ndarray) != isinstance(other, np.ndarray):
        return _single_truth(np.asarray(one), np.asarray(other))
    return _equal(one, other)


def _single_truth(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    equal = _elementwise_equal(one, other)
    if equal.size != 1:
        many = "more than one value" if equal.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
    return bool(equal.all())


def _elementwise_equal(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if problem := broadcast_problem(one, other):
        raise RuntimeError(problem)
    return np.asarray(one == other)


def _fail(text: str) -> None:
    raise AssertionError(text)


NOTHING_LOGGED: Final = LoggedValues()


@dataclass(eq=False, slots=True)
class Event:
    """One event of a block, over all runs of the block.

    Attributes
    ----------
    name : str
        The delegate debug identifier as text where there is one.
    perf_data : PerfData or None
        None where the event only logged values.
    op_types : list of str
        Operators of the event's handles: ``aten.addmm.default``. Repeated handles repeat them.
    delegate_debug_identifier : int, str or None
    debug_handles : int, list of int or None
    num_outputs : int
    stack_traces : dict of str to (str or None)
        By name of the operator's node, with ``_`` at its end as the Inspector has it.
    module_hierarchy : dict of str to (dict of str to (str, str), or None)
        Modules around a node, outermost first: path and type by key.
    is_delegated_op : bool or None
    delegate_backend_name : str or None
    raw_delegate_debug_metadatas : list of bytes or ""
        One item a duration; no items at all where no run has any.
    start_time : list of int or None
        In ticks as recorded, one per duration.
    instruction_id : int
    chain_index : int
        -1 for events of the framework.
    handle_trust : str
        Origin of the handles, in words of
        :data:`tvmdbg_widgets.model.executorch.event_nodes.HOW`; empty without an ETRecord.
    occurrences : tuple of int
        Number of occurrences per run of the block.
    logged : LoggedValues
        Logged values, by run.
    """

    name: str
    perf_data: PerfData | None = None
    op_types: list[str] = field(default_factory=list)
    delegate_debug_identifier: int | str | None = None
    debug_handles: int | list[int] | None = None
    num_outputs: int = 1
    stack_traces: dict[str, str | None] = field(default_factory=dict)
    module_hierarchy: dict[str, dict[str, tuple[str, str]] | None] = field(default_factory=dict)
    is_delegated_op: bool | None = None
    delegate_backend_name: str | None = None
    raw_delegate_debug_metadatas: list[Any] = field(default_factory=list)
    start_time: list[int] | None = None
    instruction_id: int = -1
    chain_index: int = -1
    handle_trust: str = ""
    occurrences: tuple[int, ...] = ()
    logged: LoggedValues = field(default=NOTHING_LOGGED, repr=False)
    metadata_parser: MetadataParser | None = field(default=None, repr=False)
    _parsed: tuple[Any, ...] = field(default=(), init=False, repr=False)

    @property
    def debug_data(self) -> list[Inflated]:
        """Values logged in the first run of the block, in order.

        Raises
        ------
        FormatError
            The debug buffer does not hold them.
        """
        return self.logged.first

    @property
    def debug_data_by_run(self) -> list[list[Inflated]]:
        """Values logged per run of the block, in order."""
        return [self.logged.of_run(run) for run in range(len(self.logged.runs))]

    @property
    def delegate_debug_metadatas(self) -> Any:
        """The metadata as parsed; as logged if no parser was given.

        The parser is called once, on first access and for delegated events only, with an empty list
        where there is no metadata. Its exceptions propagate.
        """
        if not self.is_delegated_op or self.metadata_parser is None:
            return self.raw_delegate_debug_metadatas
        if not self._parsed:
            self._parsed = (self.metadata_parser(self.raw_delegate_debug_metadatas),)
        return self._parsed[0]

    def is_of_module(self, name: str) -> bool:
        """Tell whether the key of a module around one of its operators contains a name."""
        stacks = self.module_hierarchy.values()
        return any(name in key for stack in stacks if stack for key in stack)

    @property
    def total_a_run(self) -> float:
        """Average time per run, 0 without durations."""
        if self.perf_data is None:
            return 0.0
        if max(self.occurrences, default=1) <= 1:
            return self.perf_data.avg
        return float(sum(self.perf_data.raw)) / len(self.occurrences)


def notes(events: Sequence[Event], patterns: Sequence[RunPattern]) -> list[str]:
    """Return notes that follow from the dump alone, as sentences."""
    sentences = []
    repeated = [event for event in events if max(event.occurrences, default=0) > 1]
    if repeated:
        most = max(max(event.occurrences) for event in repeated)
        sentences.append(
            f"{counted(len(repeated), 'event')} with up to {most:,} occurrences in a run, as "
            f"{one_line(repeated[0].name)!r}: every time is kept; the Inspector keeps the last"
        )
    if allocations := sum(pattern.allocations for pattern in patterns):
        sentences.append(
            f"{counted(allocations, 'allocation event')} left out; the Inspector refuses the dump"
        )
    measured = (event.perf_data.raw for event in events if event.perf_data)
    if backward := sum(math.isnan(time) for raw in measured for time in raw):
        sentences.append(
            f"{counted(backward, 'event')} with an end before the start: no duration (NaN); the "
            "Inspector refuses the dump"
        )
    chains = {event.chain_index for event in events} - {-1}
    if len(chains) > 1:
        sentences.append(
            f"instructions of {counted(len(chains), 'chain')}, kept apart; the Inspector takes "
            "those with the same number for one"
        )
    return sentences


def notes_on_events(dump: ETDump, runs: Sequence[int]) -> list[str]:
    """Return notes on clocks and debug events of some runs, as sentences."""
    bounds = dump.run_offsets.tolist()
    rows = np.concatenate([np.arange(0), *(np.arange(*bounds[run : run + 2]) for run in runs)])
    start, end, kind = dump.start[rows], dump.end[rows], dump.kind[rows]
    wrapped = (kind == EventKind.PROFILE) & (start > end) & (start <= MOST_TICKS)
    wrapped &= is_of_delegate(dump)[rows]
    sentences = []
    if count := int(np.count_nonzero(wrapped)):
        sentences.append(
            f"{counted(count, 'event')} of delegates over which a clock of 32 bits wrapped: the "
            "duration is that of the ticks; the Inspector divides the ticks before it subtracts, "
            "which gives nonsense"
        )
    logged = rows[kind == EventKind.DEBUG].tolist()
    if count := sum(row not in dump.values for row in logged):
        sentences.append(
            f"{counted(count, 'debug event')} without a value: it has none here; the Inspector "
            "refuses the dump"
        )
    return sentences


def notes_on_values(
    outputs: LoggedValues, of_events: Sequence[LoggedValues], runs: int
) -> list[str]:
    """Return notes on a block's logged values, as sentences; reads all of them."""
    sentences = []
    logged = [outputs, *of_events]
    different = sum(bool(values.differing) for values in logged)
    if different:
        whose = "the outputs and " if outputs.differing else ""
        events = counted(different - bool(outputs.differing), "event")
        sentences.append(
            f"the values of {whose}{events} differ between the {counted(runs, 'run')}: each is "
            "kept; the Inspector refuses the dump"
        )
    tensors = [tensor for values in logged for tensor in values.tensors]
    if unknown := sum(tensor.scalar_type not in OF_INSPECTOR for tensor in tensors):
        sentences.append(
            f"{counted(unknown, 'logged tensor')} of types such as bfloat16 that the Inspector "
            "does not know: it refuses the dump"
        )
    if tensors and not all(values.has_buffer for values in logged if values.runs):
        sentences.append(
            f"{counted(len(tensors), 'logged tensor')} without values, because no debug buffer is "
            "given; the Inspector gives zeros"
        )
        return sentences
    if strided := sum(map(_is_strided, tensors)):
        sentences.append(
            f"{counted(strided, 'logged tensor')} read with other strides than those of C order; "
            "the Inspector ignores strides"
        )
    return sentences


def _is_strided(tensor: DebugTensor) -> bool:
    usual = dense_strides(tensor.sizes)
    return any(
        step != other and size > 1
        for size, step, other in zip(tensor.sizes, tensor.strides, usual, strict=False)
    )


def check_outputs(existing: Sequence[Inflated], outputs: Sequence[Inflated]) -> None:
    """Refuse a run with other outputs than an earlier one (``verify_debug_data_equivalence``)."""
    if len(existing) != len(outputs):
        _fail("Unequal debug data length encountered. Expected to be equal.")
    for one, other in zip(existing, outputs, strict=True):
        _check_output(one, other)


def _check_output(one: Inflated, other: Inflated) -> None:
    if not isinstance(one, type(other)):
        _fail("Debug Data Types are different. Expected to be equal.")
    if isinstance(one, np.ndarray):
        if not _elementwise_equal(one, np.asarray(other)).all():
            _fail("Tensors Debug Data is different. Expected to be equal.")
    elif isinstance(one, list) and isinstance(other, list):
        pairs = zip(map(np.asarray, one), map(np.asarray, other), strict=False)
        if len(one) != len(other) or not all(_single_truth(a, b) for a, b in pairs):
            _fail("Scalar Debug Data is different. Expected to be equal")
    elif one != other:
        _fail("Scalar Debug Data is different. Expected to be equal")
