"""What is told of one tensor: its statistics and trust in words, and all of it as JSON."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.findings.values.saturated import SHARE
from tvmdbg_widgets.analysis.opening import opening_tensor
from tvmdbg_widgets.answers.tensor.counts import limits, special_counts
from tvmdbg_widgets.figures.tensor.shown import Shown
from tvmdbg_widgets.figures.texts import index_text
from tvmdbg_widgets.model.base.errors import FormatError, why_unread
from tvmdbg_widgets.model.base.number_text import (
    about_text,
    computed_text,
    number_text,
    percentile_text,
    screen_text,
)
from tvmdbg_widgets.model.base.numbers import fixed
from tvmdbg_widgets.model.graph.node_words import tensor_title
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.percentiles import PERCENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.tensor.options import TensorOptions
    from tvmdbg_widgets.model.statistics.contrast import Contrast
    from tvmdbg_widgets.model.statistics.distribution import Interval
    from tvmdbg_widgets.model.tensors.tensors import Tensor

BINS = 64
SPECIAL_TEXT = {"nan": "NaN", "pos_inf": "+Inf", "neg_inf": "−Inf"}
UNREAD = "could not be read"
#: Bytes of a tensor from which on a figure tells of a sample, unless all of it was counted before.
_LARGE = 1 << 30
_SAMPLE = 1 << 20
_FLOOR, _CEILING = (Context(prec=5, rounding=each) for each in (ROUND_FLOOR, ROUND_CEILING))
_SECOND = 1
_CAPTURED = {
    "node": "captured after the node ran",
    "later": "read after the run: its buffer may have been reused",
    "file": "a constant of the model's file",
    "unknown": "capture time unknown",
}


def default_entry(run: Derived) -> tuple[int, int] | None:
    """Return the entry shown where none is asked for: :func:`opening_tensor`.

    Where there is none, the first output of the last operator; without a graph, or where that has
    no tensor, the last tensor.
    """
    opening = opening_tensor(run)
    if opening is not None:
        return opening.node, opening.output
    tensors, graph = run.tensors, run.graph
    if not tensors:
        return None
    entries = list(tensors)
    if graph is not None:
        kinds = graph.kinds
        own = [e for e in entries if e[0] < len(kinds) and kinds[e[0]] >= NodeKind.OPERATOR]
        entries = own or entries
    last = entries[-1][0]
    return next(entry for entry in entries if entry[0] == last)


def _counted(run: Derived, tensor: Tensor, reading: str | None) -> Statistics:
    """Count all values, with a bar where that takes long; of a huge tensor a sample."""
    entry = (tensor.node, tensor.output)
    if tensor.nbytes >= _LARGE and entry not in run.search.scan.scanned().statistics:
        return tensor.statistics(BINS, _SAMPLE, reading=reading)
    done = 0
    look = {"unit": "value", "unit_scale": True, "delay": _SECOND, "leave": False}
    with tqdm(total=tensor.values(reading).count, desc="counting", **look) as bar:

        def progress(values: int) -> None:
            nonlocal done
            bar.update(values - done)
            done = values

        found = tensor.statistics(BINS, reading=reading, progress=progress)
        progress(bar.total)
        return found


def _percentiles(
    tensor: Tensor, reading: str | None, found: Statistics
) -> tuple[tuple[int, Interval], ...]:
    """Percentiles as far as they are known: exact, or bounds of them."""
    if found.distribution is None:
        return ()
    if found.exact:
        bounds: Sequence[Interval] = tensor.known_percentiles(reading)
    else:
        bounds = found.distribution.percentiles(PERCENTS)
    return tuple(zip(PERCENTS, bounds, strict=True))


@dataclass(frozen=True)
class TensorFacts:
    """One tensor as it is shown; ``redacted`` says why its values are not.

    ``unread`` says why they could not be read; the statistics are then those counted before, or
    none.
    """

    tensor: Tensor
    title: str
    options: TensorOptions
    statistics: Statistics
    shown: Shown
    percentiles: tuple[tuple[int, Interval], ...] = ()
    contrast: Contrast | None = None
    redacted: str = ""
    unread: str = ""

    @classmethod
    def of(cls, run: Derived, tensor: Tensor, options: TensorOptions) -> TensorFacts:
        """Count the values and choose what is shown."""
        shown = Shown.of(run, tensor, options)
        title = tensor_title(tensor, run.graph)
        try:
            found = _counted(run, tensor, shown.reading)
        except (FormatError, OSError) as problem:
            nothing = Statistics.not_applicable(tensor.size, UNREAD)
            return cls(tensor, title, options, nothing, shown).without_picture(problem)
        sample = None if found.exact else _SAMPLE
        adapted = tensor.contrast(sample, reading=shown.reading)
        bounds = _percentiles(tensor, shown.reading, found)
        if adapted is not None:
            found = replace(found, distribution=adapted.distribution)
        return cls(tensor, title, options, found, shown, bounds, adapted)

    def without_picture(self, problem: FormatError | OSError) -> TensorFacts:
        """Return the same where the values cannot be read any more."""
        hint = getattr(problem, "hint", None)
        told = f"The values cannot be read: {why_unread(problem)}."
        if self.statistics.applicable:
            told += " The statistics are from an earlier read."
        shown = replace(self.shown, plane=None, region=None)
        return replace(self, shown=shown, unread=" ".join(filter(None, (told, hint))))

    def without_values(self, why: str, *, counts_only: bool) -> TensorFacts:
        """Return the same without what tells single values, and no bounds where ``counts_only``."""
        found = self.statistics.redacted(counts_only=counts_only)
        shown = replace(self.shown, plane=None, region=None)
        told = replace(self, statistics=found, shown=shown, percentiles=(), redacted=why)
        return replace(told, contrast=None)

    @property
    def verdict(self) -> str:
        """Whether all values are finite, or many of them at the ends of an integer type."""
        found = self.statistics
        if self.unread and not found.applicable:
            return UNREAD
        if not found.applicable:
            return f"no statistics: {found.reason}"
        if not found.size:
            return "no values"
        said = "all finite" if found.finite == found.size else "not finite"
        if found.finite == found.size and self.ends / found.size >= SHARE:
            said = "saturated"
        return said if found.exact else f"{said} in a sample of {found.size:,}"

    @property
    def ends(self) -> int:
        """How many values lie at an end of an integer type; zero is no end of an unsigned one."""
        found, name = self.statistics, self.dtype.name
        if not re.match(r"u?int\d", name) or found.at_lowest is None or found.at_highest is None:
            return 0
        return (0 if name.startswith("u") else found.at_lowest) + found.at_highest

    @property
    def health(self) -> list[str]:
        """Counts of what is not finite, of zeros, negatives, denormals, ends and finite values."""
        found = self.statistics
        if not found.applicable or not found.size:
            return []
        if self.dtype.kind == "b":
            counts = [(found.zero, "False")]
        else:
            counts = [(found.zero, "zero"), (found.negative, "negative")]
        more = ((found.denormal, "denormal"), (self.ends, f"at {self._limit_words}"))
        counts += [each for each in more if each[0]]
        share = [f"{count:,} {noun}{share_text(count, found.size)}" for count, noun in counts]
        specials = [f"{count:,} {SPECIAL_TEXT[name]}" for name, count in self.specials().items()]
        specials.sort(key=lambda text: text.startswith("0 "))
        partly = found.finite < found.size
        return [
            *specials,
            *share,
            *([f"{found.finite:,} of {found.size:,} finite"] if partly else []),
        ]

    @property
    def _limit_words(self) -> str:
        """The ends of an integer type; of an unsigned one the upper end alone."""
        ends = limits(self.dtype) or ()
        return " or ".join(about_text(each) for each in ends[self.dtype.name.startswith("u") :])

    def specials(self) -> dict[str, int]:
        """Counts of NaN, +Inf and -Inf, as far as the dtype can hold them."""
        return special_counts(self.statistics, self.dtype.name)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Name, exact text and place of each statistic."""
        found = self.statistics
        if not found.applicable or not found.size or (self.redacted and found.minimum is None):
            return []
        least, most = exact_text(found.minimum), exact_text(found.maximum)
        if found.minimum is not None and least == most:
            return [("value" if found.size == 1 else "all", screen_text(least), ""), *self._firsts]
        rows = [
            ("min", screen_text(least), self._at(found.argmin)),
            ("max", screen_text(most), self._at(found.argmax)),
            ("mean", screen_text(float_text(found.mean)), ""),
            ("std", screen_text(float_text(found.std)), ""),
        ]
        if self.percentiles:
            known = {each: interval_text(bounds, self.dtype) for each, bounds in self.percentiles}
            rows.append(("median", known[50], ""))
            rows += [
                (f"p{low} to p{high}", f"{known[low]} to {known[high]}", "")
                for low, high in ((1, 99), (5, 95), (25, 75))
            ]
        return [*rows, *self._firsts]

    @property
    def _firsts(self) -> list[tuple[str, str, str]]:
        """Name and place of the first of what is not finite."""
        found = self.statistics
        places = (found.first_nan, found.first_pos_inf, found.first_neg_inf)
        return [
            (f"first {name}", self._at(place), "")
            for name, place in zip(SPECIAL_TEXT.values(), places, strict=True)
            if place is not None
        ]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Numpy's type of the values, as they are read."""
        return self.tensor.values(self.shown.reading).numpy_dtype

    def _at(self, flat: int | None) -> str:
        index = self.index_of(flat)
        return f"at {index_text(index)}" if index else ""

    def index_of(self, flat: int | None) -> list[int] | None:
        """Return the index of a position in the stored values."""
        if flat is None:
            return None
        shape = self.tensor.values(self.shown.reading).view_shape
        return [int(each) for each in np.unravel_index(flat, shape)] if shape else []

    @property
    def is_doubtful(self) -> bool:
        """Whether something is to be said of when the values were read."""
        return self.tensor.captured not in ("node", "file")

    def trust(self, *, exact: bool | None) -> str:
        """Say when the values were read, how many are drawn, and what was assumed of them."""
        shown = self.shown
        said = [_CAPTURED[self.tensor.captured]]
        if exact is not None:
            missing = self.tensor.values(shown.reading).is_missing_lanes
            stored = "all stored values" if missing else "all values"
            said.append(stored if exact else "sampled values")
        if shown.layout:
            said.append(f"layout {shown.layout} {_source(shown)}")
        elif shown.misfit:
            said.append(f"axes as stored: {shown.misfit}")
        elif shown.known:
            said.append("axes as stored")
        if shown.reading is not None:
            said.append(f"read as {shown.reading.removeprefix('as ')}")
        return " · ".join(said)


def share_text(count: int, size: int) -> str:
    """Never 0 % of something nor 100 % of less than all; as ``tensor/distribution/share.ts``."""
    if not count or not size:
        return ""
    percent = 100 * count / size
    if percent < 0.1:
        return " (< 0.1 %)"
    return " (> 99.9 %)" if percent > 99.9 and count < size else f" ({fixed(percent, 1)} %)"


def interval_text(bounds: Interval, dtype: np.dtype[Any]) -> str:
    """Return a percentile of values of a type, or bounds of it, rounded outwards."""
    if bounds.low == bounds.high:
        return screen_text(percentile_text(bounds.low, dtype))
    # Beyond the largest float64 there is none of five digits.
    most = float(np.finfo(np.float64).max)
    low = max(-most, float(_FLOOR.create_decimal_from_float(bounds.low)))
    high = min(most, float(_CEILING.create_decimal_from_float(bounds.high)))
    return f"({screen_text(number_text(low))} … {screen_text(number_text(high))})"


def _source(shown: Shown) -> str:
    """``"from out_layout of node 4"``, or that it was given by hand."""
    for each in shown.known:
        if each.layout.text == shown.layout:
            return f"from {each.source}{' (likely)' if each.certainty == 'likely' else ''}"
    return "(custom)"


def exact_text(value: Any) -> str:
    """Write a number of the tensor's own type; ``"none"`` for None."""
    return "none" if value is None else number_text(value)


def float_text(value: float) -> str:
    """Write a mean or spread; ``"none"`` where no value was finite."""
    return "none" if math.isnan(value) else computed_text(value)
