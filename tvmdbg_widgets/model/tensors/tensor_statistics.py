"""What is counted of the values of one tensor, and kept once it is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from tvmdbg_widgets.model.statistics import Histogram, Statistics
from tvmdbg_widgets.model.statistics.contrast import Contrast
from tvmdbg_widgets.model.statistics.distribution import NumberBounds
from tvmdbg_widgets.model.statistics.histograms import Scale
from tvmdbg_widgets.model.statistics.kept import BINS, Kept
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.readings import Reading


class Counted:
    """Values of a file that are counted when asked for."""

    __slots__ = ("_found", "_statistics", "record")

    def __init__(self, record: ArrayRecord) -> None:
        self.record = record
        self._found: Statistics | None = None
        self._statistics: dict[tuple[DataType, Reading], Kept] = {}

    @property
    def is_counted(self) -> bool:
        """Whether somebody has asked for statistics, or brought them."""
        return self._found is not None or bool(self._statistics)

    def take(self, found: Statistics) -> None:
        """Keep statistics of all values, in 64 bins, that were counted elsewhere."""
        self._found = found

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
            Look at about so many scalars only, in blocks spread evenly; then ``exact`` is False
            unless that was all of them.
        reading
            One of ``readings``; the default one where left out.
        watch
            Called before each piece of the values is looked at, also in other threads; what it
            raises stops the count.
        progress
            Called after each piece with the number of values looked at.
        executor
            Where pieces of a large tensor are counted: threads, processes, or a Dask client's
            ``get_executor()``. Left out, at most four threads.

        Raises
        ------
        ValueError
            ``bins`` or ``sample`` is below 1, or the values cannot be read so.
        """
        if self._found is not None and (bins, sample, reading) == (BINS, None, None):
            return self._found
        kept = self._kept(reading)
        return kept.statistics(bins, sample, watch=watch, progress=progress, executor=executor)

    def known_statistics(
        self, bins: int = BINS, reading: Reading | None = None
    ) -> Statistics | None:
        """Return the statistics of all values where they are known already, else None."""
        return self._kept(reading).known(bins)

    def count_on(self, seconds: float, reading: Reading | None = None) -> int:
        """Go on with the pass that ``statistics`` needs for so long, where there are no threads.

        Returns
        -------
        int
            Values looked at so far; all of them when nothing is left to do.
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
            Called before each piece of the values is looked at; what it raises stops the count.

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
    ) -> tuple[NumberBounds, ...]:
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
        """Return how colors and histograms are to span the values, so that they can be told apart.

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
            known = self._found if values == self.record.values() else None
            kept = Kept(values, known)
            kept = self._statistics.setdefault((values.dtype, values.reading), kept)
        return kept
