"""Header, statistics and histogram of every tensor, as columns."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.number_text import number_text
from tvmdbg_widgets.model.statistics import Statistics, statistics
from tvmdbg_widgets.model.strings import StringColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tvmdbg_widgets.export.page.stored_paths import PathEraser
    from tvmdbg_widgets.model.array_values import ArrayValues, Reading
    from tvmdbg_widgets.model.statistics.histograms import Histogram
    from tvmdbg_widgets.model.tensors import Tensor

#: Bins of the histogram that views ask for (``js/src/tensor/inspector.ts``).
BINS = 64
_COUNTS = ("size", "finite", "nan", "pos_inf", "neg_inf", "zero", "negative")


@dataclass(frozen=True)
class Variant:
    """One tensor under one reading of its bytes.

    Attributes
    ----------
    row : int
        Position of the tensor in the run.
    reading : str
        ``"packed"``, ``"bytes"``, or empty where there is no choice.
    values : ArrayValues
    found : Statistics
    """

    row: int
    reading: str
    values: ArrayValues
    found: Statistics


def has_readings(tensor: Tensor) -> bool:
    """Whether a view offers a choice between two readings of the tensor."""
    return tensor.dtype.is_packed and tensor.dtype.numpy_dtype is not None


def readings(tensor: Tensor) -> tuple[Reading | None, ...]:
    """Return the readings that give different values, the default first."""
    if has_readings(tensor):
        return ("packed", "bytes")
    packed_bool = tensor.dtype.is_bool and tensor.dtype.bits < 8
    return (None, "packed") if packed_bool else (None,)


def variants(tensor: Tensor, row: int) -> tuple[list[Variant], str]:
    """Return the variants of a tensor, and why its values could not be read (else empty)."""
    found = []
    trouble = ""
    for reading in readings(tensor):
        values = tensor.record.values(reading)
        try:
            if has_readings(tensor) and reading == "bytes":
                numbers = statistics(values.chunks, bins=BINS)
            else:
                numbers = tensor.statistics(BINS)
        except (FormatError, OSError) as problem:
            trouble = f"values could not be read when this page was made: {problem}"
            numbers = Statistics.not_applicable(values.count, trouble)
        found.append(Variant(row, reading or "", values, numbers))
    return found, trouble


def without_bounds(each: Variant) -> Variant:
    """Return a variant that is told by counts, without bounds, moments and histogram."""
    if not each.found.applicable:
        return each
    return replace(each, found=each.found.counts_only())


def tensor_columns(
    tensors: Sequence[Tensor], notes: Sequence[str], eraser: PathEraser
) -> dict[str, Any]:
    """Return what a header tells beyond the list of tensors; ``notes`` are the page's own."""
    own = [[eraser.text(note) for note in tensor.notes] for tensor in tensors]
    return {
        "keys": _strings([tensor.key for tensor in tensors]),
        "files": _strings([eraser.text(tensor.file) for tensor in tensors]),
        "offsets": np.array([tensor.offset for tensor in tensors], np.float64),
        "readable": np.array([has_readings(tensor) for tensor in tensors], np.bool_),
        "noteOffsets": np.cumsum([0, *map(len, own)]).astype(np.int32),
        "notes": _strings([note for each in own for note in each]),
        "pageNotes": _strings(list(notes)),
    }


def variant_columns(found: Sequence[Variant], *, histograms: bool) -> dict[str, Any]:
    """Return statistics (V rows) with histograms (H rows of ``BINS`` counts)."""
    told = [each.found for each in found]
    shapes = [each.values.view_shape for each in found]
    shown = [each.histogram if histograms else None for each in told]
    kept = [each for each in shown if each is not None]
    linear = [_is_linear(each) for each in kept]
    counts = np.concatenate([np.zeros(0, np.int64), *(each.counts for each in kept)])
    columns: dict[str, Any] = {
        "tensor": np.array([each.row for each in found], np.int32),
        "reading": _strings([each.reading for each in found]),
        "shapeOffsets": np.cumsum([0, *map(len, shapes)]).astype(np.int32),
        "shapeDims": np.array([size for shape in shapes for size in shape], np.float64),
        "applicable": np.array([each.applicable for each in told], np.bool_),
    }
    for name in _COUNTS:
        columns[_camel(name)] = _floats(told, operator.attrgetter(name))
    columns |= {
        "minimum": _floats(told, lambda each: each.minimum),
        "maximum": _floats(told, lambda each: each.maximum),
        "minimumText": _strings([_text(each.minimum) for each in told]),
        "maximumText": _strings([_text(each.maximum) for each in told]),
        "mean": _floats(told, lambda each: each.mean),
        "std": _floats(told, lambda each: each.std),
        "argmin": _floats(told, lambda each: each.argmin),
        "argmax": _floats(told, lambda each: each.argmax),
        "histogram": _numbered([each is not None for each in shown]),
        "counts": counts.astype(np.int32 if counts.max(initial=0) < 2**31 else np.float64),
        "first": np.array([each.edges[0] for each in kept], np.float64),
        "last": np.array([each.edges[-1] for each in kept], np.float64),
        "uneven": _numbered([not each for each in linear]),
        "edges": np.concatenate(
            [
                np.zeros(0),
                *(each.edges for each, even in zip(kept, linear, strict=True) if not even),
            ]
        ),
    }
    return columns


def _is_linear(found: Histogram) -> bool:
    """Whether ``first + i * ((last - first) / BINS)`` gives the very same edges."""
    first, last = float(found.edges[0]), float(found.edges[-1])
    if len(found.counts) != BINS or not math.isfinite(last - first):
        return False
    edges = np.arange(BINS + 1) * ((last - first) / BINS) + first
    return np.array_equal(edges[:-1], found.edges[:-1])


def _numbered(there: Sequence[bool]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Count up the rows that are there; -1 for the others."""
    mask = np.array(there, np.bool_)
    return np.where(mask, np.cumsum(mask) - 1, -1).astype(np.int32)


def _floats(
    found: Sequence[Statistics], get: Callable[[Statistics], Any]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = (get(each) for each in found)
    return np.array([math.nan if each is None else float(each) for each in values], np.float64)


def _text(bound: Any) -> str:
    return "none" if bound is None else number_text(bound)


def _strings(texts: Sequence[str]) -> StringColumn:
    return StringColumn.from_strings(texts)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(each.capitalize() for each in rest)
