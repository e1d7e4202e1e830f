"""One stored array of a params file: header values, and bytes read on demand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.slips import meant, one_of
from tvmdbg_widgets.model.statistics import Histogram, Statistics
from tvmdbg_widgets.model.statistics.contrast import BINS, Contrast, Kept
from tvmdbg_widgets.model.statistics.distribution import Interval, Scale
from tvmdbg_widgets.model.tensors.dtypes import CURRENT_ONLY, FIRST_CUSTOM, DataType
from tvmdbg_widgets.model.tensors.planes import (
    AS,
    COMPLEX_READINGS,
    READINGS,
    ArrayValues,
    Reading,
    default_reading,
    is_complex,
    readings,
)
from tvmdbg_widgets.model.tensors.values import Selection
from tvmdbg_widgets.sources.byte_source import ByteSource


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRecord:
    """One array of a file. Values are read when asked for."""

    key: str
    dtype: DataType
    shape: tuple[int, ...]
    nbytes: int
    offset: int
    source: ByteSource
    notes: tuple[str, ...] = ()
    alternatives: tuple[DataType, ...] = ()
    stored_dtype: DataType | None = None

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.source.name

    @property
    def size(self) -> int:
        """Elements declared by the shape."""
        return math.prod(self.shape)

    @property
    def complete(self) -> bool:
        """Whether the file holds every declared value (TVM leaves out lanes and old bools)."""
        dtype = self.dtype
        declared = self.size * max(1, abs(dtype.lanes))
        if self.nbytes >= declared * dtype.itemsize:
            return True
        return self.values().is_raw or self.values().count == declared

    @property
    def view_shape(self) -> tuple[int, ...]:
        """Shape of ``numpy()``: the declared one, or ``(stored,)`` where values are left out."""
        return self.values().view_shape

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The readings that views offer, default first; empty if there is only one."""
        return readings(self.dtype, self.alternatives)

    def values(self, reading: Reading | None = None) -> ArrayValues:
        """Return the decoder of the stored bytes."""
        dtype = self.dtype
        if reading is None:
            reading = default_reading(dtype)
        elif reading.startswith(AS):
            meanings = {f"{AS}{meaning}": meaning for meaning in (dtype, *self.alternatives)}
            if reading not in meanings:
                raise ValueError(
                    f"no reading {reading!r:.80}{meant(reading, meanings)}; "
                    "with_dtype() reads the bytes as any type of the same width"
                )
            dtype = meanings[reading]
        else:
            known = COMPLEX_READINGS if is_complex(dtype) else READINGS
            one_of("reading", reading, known)
        return ArrayValues(self.source, self.offset, self.nbytes, dtype, self.shape, reading)

    def numpy(self, reading: Reading | None = None) -> np.ndarray[Any, Any]:
        """Read all values as a new array of ``view_shape``; see ``values`` for ``reading``."""
        return self.values(reading).numpy()

    def raw(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Read the stored bytes, ``uint8[nbytes]``."""
        data = np.empty(self.nbytes, np.uint8)
        if self.nbytes:
            self.source.read_into(self.offset, data.data)
        return data

    def chunks(self, nbytes: int = 1 << 19) -> Iterator[np.ndarray[Any, Any]]:
        """Yield all values in C order as 1-D arrays of at most ``nbytes`` bytes."""
        return self.values().chunks(nbytes)

    def window(self, selection: Selection, reading: Reading | None = None) -> np.ndarray[Any, Any]:
        """Read ``numpy()[selection]`` with few extra bytes."""
        return self.values(reading).window(selection)

    def with_dtype(self, dtype: DataType) -> ArrayRecord:
        """Return the same bytes read as another type of the same width."""
        if dtype.itemsize != self.dtype.itemsize or dtype.lanes != self.dtype.lanes:
            raise ValueError(
                f"{self.key!r} is stored as {self.dtype} ({counted(self.dtype.itemsize, 'byte')} "
                f"an element); it cannot be read as {dtype} ({counted(dtype.itemsize, 'byte')})"
            )
        kept = self.notes[len(storage_notes(self.dtype, self.shape, self.nbytes)) :]
        kept = tuple(note for note in kept if not note.startswith(AMBIGUOUS))
        return replace(
            self,
            dtype=dtype,
            notes=storage_notes(dtype, self.shape, self.nbytes) + kept,
            alternatives=(),
            stored_dtype=self.stored_dtype or self.dtype,
        )


#: Start of notes on ambiguous type codes.
AMBIGUOUS = "type code "
#: Start of notes on stored bytes of another type.
STORED_AS = "stored as "


def storage_notes(dtype: DataType, shape: tuple[int, ...], nbytes: int) -> tuple[str, ...]:
    """Describe missing or superfluous stored bytes, by ``SaveDLTensor`` of v0.5 to v0.26."""
    if dtype.bits >= 8 and dtype.lanes == 1 and dtype.numpy_dtype is not None:
        return ()
    count = math.prod(shape)
    if count and not nbytes:
        return (
            f"values lost: TVM up to 0.7 stores 0 bytes for {dtype} arrays; only the shape is left",
        )
    notes = []
    declared_bytes = -(-count * dtype.lanes * dtype.bits // 8)
    if dtype.lanes > 1 and nbytes < declared_bytes:
        kept, declared = nbytes * 8 // dtype.bits, count * dtype.lanes
        notes.append(
            f"stores {nbytes} of {counted(declared_bytes, 'byte')}, the first "
            f"{min(kept, declared)} of {counted(declared, 'lane value')}; all statistics are of "
            "these: TVM's writer leaves out the lanes"
        )
    if dtype.numpy_dtype is None:
        kind = "custom data type" if dtype.code >= FIRST_CUSTOM else "data type"
        notes.append(f"no numpy type for {kind} {dtype}: shown as its bytes")
    elif dtype.is_packed and nbytes:
        note = _of_bytes(dtype) if dtype.in_bytes else None
        notes.append(note or _below_one_byte(dtype, min(nbytes, declared_bytes), nbytes))
    return tuple(notes)


def _below_one_byte(dtype: DataType, used: int, nbytes: int) -> str:
    text = f"{dtype.bits}-bit elements: {_READ_PACKED}, as TVM >= 0.21 keeps them"
    if dtype.code in CURRENT_ONLY:
        beyond = (
            f"; the last {counted(nbytes - used, 'byte')} {agree(nbytes - used, 'is')} memory "
            "read beyond the data"
        )
        return text + (beyond if used < nbytes else "")
    if used < nbytes:
        text += f" in the first {used} of {counted(nbytes, 'byte')} (the others would be no values)"
    return (
        f"{text}; the file does not tell whether TVM <= 0.20 wrote it, which has a byte for each "
        f"element, {_AS_KERNELS_DO}"
    )


_READ_PACKED = "read as packed, low bits first"
_AS_KERNELS_DO = (
    "where kernels keep one (reading='bytes') or pack several, in an order that is not known"
)


def of_byte_memory(record: ArrayRecord) -> ArrayRecord:
    """Return a record by TVM <= 0.20, whose memory has a byte for every element."""
    if not (record.dtype.is_packed and record.nbytes):
        return record
    neutral = storage_notes(record.dtype, record.shape, record.nbytes)[-1]
    byte_note = _of_bytes(record.dtype)
    return replace(
        record, notes=tuple(byte_note if note == neutral else note for note in record.notes)
    )


def _of_bytes(dtype: DataType) -> str:
    return (
        f"{dtype.bits}-bit elements, for each of which this TVM (up to 0.20) has a byte of memory, "
        f"{_AS_KERNELS_DO}; {_READ_PACKED}"
    )


class Counted:
    """Values of a file that are counted on demand."""

    __slots__ = ("_given", "_statistics", "record")

    def __init__(self, record: ArrayRecord) -> None:
        self.record = record
        self._given: Statistics | None = None
        self._statistics: dict[tuple[DataType, Reading], Kept] = {}

    @property
    def is_counted(self) -> bool:
        """Whether statistics are computed or given."""
        return self._given is not None or bool(self._statistics)

    def take(self, statistics: Statistics) -> None:
        """Store statistics of all values, in 64 bins, that were counted elsewhere."""
        self._given = statistics

    def statistics(
        self,
        bins: int = BINS,
        sample: int | None = None,
        *,
        reading: Reading | None = None,
        watch: Callable[[], None] | None = None,
        progress: Callable[[int], None] | None = None,
        executor: Executor | None = None,
    ) -> Statistics:
        """Count, bound and average the values in bounded memory; kept once computed.

        Parameters
        ----------
        bins
            Bins of the histogram.
        sample
            Count about so many scalars only, in blocks spread evenly; then ``exact`` is False
            unless that was all of them.
        reading
            One of ``readings``; the default one where left out.
        watch
            Called before each piece of the values is read, also in other threads; what it
            raises stops the count.
        progress
            Called after each piece with its number of values.
        executor
            Where pieces of a large tensor are counted: threads, processes, or a Dask client's
            ``get_executor()``. Left out, at most four threads.

        Raises
        ------
        ValueError
            ``bins`` or ``sample`` is below 1, or the values cannot be read so.
        """
        if self._given is not None and (bins, sample, reading) == (BINS, None, None):
            return self._given
        kept = self._kept(reading)
        return kept.statistics(bins, sample, watch=watch, progress=progress, executor=executor)

    def known_statistics(
        self, bins: int = BINS, reading: Reading | None = None
    ) -> Statistics | None:
        """Return the statistics of all values if they are known, else None."""
        return self._kept(reading).known(bins)

    def count_on(self, seconds: float, reading: Reading | None = None) -> int:
        """Go on with the pass that ``statistics`` needs for so long, where there are no threads.

        Returns
        -------
        int
            Values counted so far; all of them when nothing is left to do.
        """
        return self._kept(reading).go_on(seconds)

    def percentiles(
        self,
        percents: Sequence[float],
        reading: Reading | None = None,
        watch: Callable[[], None] | None = None,
    ) -> list[float]:
        """Return percentiles of the finite values as ``np.percentile`` does for them as float64.

        Types of up to 16 bits, and what the distribution tells exactly, need no pass over the
        values beyond that of ``statistics``; 64-bit types may need several more.

        Parameters
        ----------
        percents
            0 to 100 each.
        reading
            As for ``statistics``.
        watch
            Called before each piece of the values is read; what it raises stops the count.

        Returns
        -------
        list of float
            NaN where there are no finite values, or the type has no order.

        Raises
        ------
        ValueError
            A percentile is not between 0 and 100.
        """
        return self._kept(reading).percentiles(percents, watch)

    def known_percentiles(
        self, reading: Reading | None = None, watch: Callable[[], None] | None = None
    ) -> tuple[Interval, ...]:
        """Return percentiles 1, 5, 25, 50, 75, 95 and 99, or bounds of them.

        They are exact of less than ten million values; none where no value is finite.
        """
        return self._kept(reading).known_percentiles(watch)

    def contrast(
        self,
        sample: int | None = None,
        *,
        reading: Reading | None = None,
        watch: Callable[[], None] | None = None,
    ) -> Contrast | None:
        """Return the scale and range of colors and histograms that separate the values.

        Parameters
        ----------
        sample, reading, watch
            As for ``statistics``.

        Returns
        -------
        Contrast or None
            None without finite values.
        """
        return self._kept(reading).contrast(sample, watch)

    def histogram(
        self,
        bins: int = BINS,
        range: tuple[float, float] | None = None,  # noqa: A002 (as np.histogram has it)
        scale: Scale = "linear",
        *,
        reading: Reading | None = None,
        watch: Callable[[], None] | None = None,
    ) -> Histogram:
        """Count the finite values in bins of equal width on a scale, exactly.

        Parameters
        ----------
        bins
            At most so many; fewer where float64 has no numbers between two edges.
        range
            First and last edge; values beside them are not counted. Default: all values, on a log
            scale all above zero (all, where none is).
        scale
            ``"linear"``, ``"log"``, or ``"symlog"``: logarithmic on both sides of zero, linear
            below a millionth of the largest magnitude.
        reading, watch
            As for ``statistics``.

        Raises
        ------
        ValueError
            There are no finite values, or no such scale between these bounds.
        """
        return self._kept(reading).histogram(bins, range, scale, watch)

    def _kept(self, reading: Reading | None) -> Kept:
        values = self.record.values(reading)
        kept = self._statistics.get((values.dtype, values.reading))
        if kept is None:
            known = self._given if values == self.record.values() else None
            kept = Kept(values, known)
            kept = self._statistics.setdefault((values.dtype, values.reading), kept)
        return kept
