"""Values that the runs of a block logged, read from the debug buffer when they are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile, Inflated, inflated
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue

_DIFFERENT_EVENTS: Final = ("\n" + " " * 20).join(
    (
        "Corresponding debug events in multiple iterations of the model",
        "must have the same debug entry values. This is not the case for the",
        "intermediate data present in this ETDump and indicates potential issues",
        "with the model/runtime.",
    )
)


class LoggedValues:
    """The values that an event, or the program's end, logged in each run of a block."""

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
        return [inflated(each, self._buffer, compat=self._compat) for each in self.runs[run]]

    @cached_property
    def first(self) -> list[Inflated]:
        """The values of the first run that logged any."""
        return self.of_run(self._first_run) if self.runs else []

    @property
    def _first_run(self) -> int:
        return next((run for run, values in enumerate(self.runs) if values), 0)

    @cached_property
    def differing(self) -> int:
        """Number of runs whose values are not those of the first; NaN differs from itself."""
        others = (run for run in range(len(self.runs)) if run != self._first_run)
        return sum(not _all_equal(self.of_run(run), self.first) for run in others)

    @property
    def tensors(self) -> Iterator[DebugTensor]:
        """Where the tensors of all runs lie."""
        for values in self.runs:
            for each in values:
                if isinstance(each.value, DebugTensor):
                    yield each.value
                elif isinstance(each.value, tuple):
                    yield from each.value

    def check_events(self) -> None:
        """Refuse runs that logged different values (``_populate_debugging_related_fields``)."""
        first = self.first
        for run in range(1, len(self.runs)):
            pairs = zip(self.of_run(run), first, strict=False)
            if not all(_is_same_to_inspector(one, other) for one, other in pairs):
                _fail(_DIFFERENT_EVENTS)


NOTHING_LOGGED: Final = LoggedValues()


def check_outputs(existing: Sequence[Inflated], found: Sequence[Inflated]) -> None:
    """Refuse a run with other outputs than an earlier one (``verify_debug_data_equivalence``)."""
    if len(existing) != len(found):
        _fail("Unequal debug data length encountered. Expected to be equal.")
    for one, other in zip(existing, found, strict=True):
        _check_output(one, other)


def _all_equal(one: list[Inflated], other: list[Inflated]) -> bool:
    return len(one) == len(other) and all(map(_equal, one, other))


def _equal(one: Inflated, other: Inflated) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        both = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
        return both and np.array_equal(np.asarray(one), np.asarray(other))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _is_same_to_inspector(one: Inflated, other: Inflated) -> bool:
    """Compare as ``is_inference_output_equal`` does: lists as far as the shorter one goes."""
    if isinstance(one, list) and isinstance(other, list):
        return all(map(_equal, one, other))
    numbers = not isinstance(one, list | None) and not isinstance(other, list | None)
    if numbers and isinstance(one, np.ndarray) != isinstance(other, np.ndarray):
        return _truth(np.asarray(one), np.asarray(other))
    return _equal(one, other)


def _check_output(one: Inflated, other: Inflated) -> None:
    if not isinstance(one, type(other)):
        _fail("Debug Data Types are different. Expected to be equal.")
    if isinstance(one, np.ndarray):
        if not _elementwise(one, np.asarray(other)).all():
            _fail("Tensors Debug Data is different. Expected to be equal.")
    elif isinstance(one, list) and isinstance(other, list):
        pairs = zip(map(np.asarray, one), map(np.asarray, other), strict=False)
        if len(one) != len(other) or not all(_truth(a, b) for a, b in pairs):
            _fail("Scalar Debug Data is different. Expected to be equal")
    elif one != other:
        _fail("Scalar Debug Data is different. Expected to be equal")


def _truth(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Return whether two tensors of one element are equal; others torch refuses to compare so."""
    found = _elementwise(one, other)
    if found.size != 1:
        many = "more than one value" if found.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
    return bool(found.all())


def _elementwise(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Compare two tensors as torch does, with its error where their shapes do not fit."""
    rank = max(one.ndim, other.ndim)
    sizes = [(1,) * (rank - each.ndim) + each.shape for each in (one, other)]
    for axis in reversed(range(rank)):
        a, b = (each[axis] for each in sizes)
        if a != b and 1 not in (a, b):
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {axis}"
            )
    return np.asarray(one == other)


def _fail(text: str) -> None:
    raise AssertionError(text)
