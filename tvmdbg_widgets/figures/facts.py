"""Statistics and notes of the tensor in a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.opening import opening_tensor
from tvmdbg_widgets.answers.counts import PLACES, camel, place, tensor_counts
from tvmdbg_widgets.figures.options import ShownValues, TensorFigureOptions
from tvmdbg_widgets.model.base.number_text import computed_text, number_text, percentile_text
from tvmdbg_widgets.model.base.text import FormatError, why_unread
from tvmdbg_widgets.model.graph.graph import tensor_title
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.contrast import Contrast
from tvmdbg_widgets.model.statistics.distribution import Interval
from tvmdbg_widgets.model.statistics.percentiles import PERCENTS
from tvmdbg_widgets.model.tensors.tensors import Tensor

BINS = 64
UNREAD = "could not be read"
#: Bytes from which a figure counts a sample, unless all values were counted before.
_LARGE = 1 << 30
_SAMPLE = 1 << 20
_SECOND = 1


def default_entry(run: RunFacts) -> tuple[int, int] | None:
    """Return the entry shown by default: :func:`opening_tensor`, or a late output.

    Without an opening tensor it is the first output of the last operator with one; without a graph,
    of the last tensor.
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


def _counted(run: RunFacts, tensor: Tensor, reading: str | None) -> Statistics:
    """Count all values with a progress bar; of a huge tensor, a sample."""
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

        statistics = tensor.statistics(BINS, reading=reading, progress=progress)
        progress(bar.total)
        return statistics


def _percentiles(
    tensor: Tensor, reading: str | None, statistics: Statistics
) -> tuple[tuple[int, Interval], ...]:
    """Return percentiles: exact, or bounds from the sampled distribution."""
    if statistics.distribution is None:
        return ()
    if statistics.exact:
        bounds: Sequence[Interval] = tensor.known_percentiles(reading)
    else:
        bounds = statistics.distribution.percentiles(PERCENTS)
    return tuple(zip(PERCENTS, bounds, strict=True))


@dataclass(frozen=True)
class TensorFacts:
    """Statistics of the tensor in a figure.

    ``redacted`` is the reason why values are hidden, ``unread`` the reason why they could not be
    read; then the statistics are from an earlier read, or empty.
    """

    tensor: Tensor
    title: str
    options: TensorFigureOptions
    statistics: Statistics
    shown: ShownValues
    percentiles: tuple[tuple[int, Interval], ...] = ()
    contrast: Contrast | None = None
    redacted: str = ""
    unread: str = ""

    @classmethod
    def of(cls, run: RunFacts, tensor: Tensor, options: TensorFigureOptions) -> TensorFacts:
        """Count the values of a tensor."""
        shown = ShownValues.of(run, tensor, options)
        title = tensor_title(tensor, run.graph)
        try:
            statistics = _counted(run, tensor, shown.reading)
        except (FormatError, OSError) as problem:
            nothing = Statistics.not_applicable(tensor.size, UNREAD)
            return cls(tensor, title, options, nothing, shown).without_picture(problem)
        sample = None if statistics.exact else _SAMPLE
        adapted = tensor.contrast(sample, reading=shown.reading)
        bounds = _percentiles(tensor, shown.reading, statistics)
        if adapted is not None:
            statistics = replace(statistics, distribution=adapted.distribution)
        return cls(tensor, title, options, statistics, shown, bounds, adapted)

    def without_picture(self, problem: FormatError | OSError) -> TensorFacts:
        """Return the facts of a tensor whose values can no longer be read."""
        hint = getattr(problem, "hint", None)
        message = f"The values cannot be read: {why_unread(problem)}."
        if self.statistics.applicable:
            message += " The statistics are from an earlier read."
        shown = replace(self.shown, plane=None, region=None)
        return replace(self, shown=shown, unread=" ".join(filter(None, (message, hint))))

    def without_values(self, why: str, *, counts_only: bool) -> TensorFacts:
        """Return the facts without single values; ``counts_only`` drops bounds too."""
        statistics = self.statistics.redacted(counts_only=counts_only)
        shown = replace(self.shown, plane=None, region=None)
        return replace(
            self, statistics=statistics, shown=shown, percentiles=(), redacted=why, contrast=None
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """Numpy dtype of the values as they are read."""
        return self.tensor.values(self.shown.reading).numpy_dtype

    def index_of(self, flat: int | None) -> list[int] | None:
        """Return the index at a position of the stored values."""
        return place(flat, self.tensor.values(self.shown.reading).view_shape)


def exact_text(value: Any) -> str:
    """Write a number of the tensor's dtype; ``"none"`` for None."""
    return "none" if value is None else number_text(value)


def float_text(value: float) -> str:
    """Write a mean or spread; ``"none"`` without finite values."""
    return "none" if math.isnan(value) else computed_text(value)


def description(facts: TensorFacts, title: str) -> dict[str, Any]:
    """Return the facts of a tensor's figure as JSON."""
    tensor, statistics, shown = facts.tensor, facts.statistics, facts.shown
    plane, counts, options = shown.plane, statistics.histogram, facts.options
    is_range = not isinstance(options.color_range, str)
    return {
        "view": "tensor",
        "title": title,
        "entry": [tensor.node, tensor.output],
        "name": tensor.name,
        "dtype": tensor.dtype.name,
        "shape": list(tensor.shape),
        "nbytes": tensor.nbytes,
        "trust": tensor.trust.label,
        "captured": tensor.captured,
        "notes": list(tensor.notes),
        "reading": shown.reading,
        "layout": shown.layout,
        "sizes": shown.sizes,
        "axis_names": list(shown.axis_names),
        "view_shape": list(shown.values.view_shape),
        "axes": list(plane.axes) if plane else None,
        "index": list(plane.index) if plane else None,
        "show": shown.show,
        "along": shown.axis,
        "cells": options.cells,
        "region": None if shown.region is None else list(shown.region),
        "color_scale": options.color_scale,
        "color_range": list(options.color_range) if is_range else options.color_range,
        "unread": facts.unread,
        "exact": statistics.exact,
        "counts": tensor_counts(statistics) if statistics.applicable else None,
        "statistics": _statistics(facts) if statistics.applicable else None,
        "percentiles": [
            {
                "percent": percent,
                "low": percentile_text(bounds.low, facts.dtype),
                "high": percentile_text(bounds.high, facts.dtype),
            }
            for percent, bounds in facts.percentiles
        ],
        "histogram": None
        if counts is None
        else {
            "counts": np.asarray(counts.counts).tolist(),
            "edges": np.asarray(counts.edges, np.float64).tolist(),
            "exact": counts.exact,
        },
    }


def _statistics(facts: TensorFacts) -> dict[str, Any]:
    statistics = facts.statistics
    return {
        "minimum": exact_text(statistics.minimum),
        "maximum": exact_text(statistics.maximum),
        "mean": float_text(statistics.mean),
        "std": float_text(statistics.std),
        **{camel(name): facts.index_of(getattr(statistics, name)) for name in PLACES},
    }
