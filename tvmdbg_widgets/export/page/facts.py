"""Columns of a page: headers of tensors, statistics of their readings, and all values."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.layouts import KnownLayout, known_layouts, stated_layout
from tvmdbg_widgets.answers.counts import COUNTS, PLACES, camel, distribution_json, limits
from tvmdbg_widgets.answers.tensor import file_dtype
from tvmdbg_widgets.export.page import pack
from tvmdbg_widgets.export.page.options import PathEraser
from tvmdbg_widgets.export.page.pack import shuffled
from tvmdbg_widgets.model.base import number_text as bits
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.statistics import Histogram, Statistics
from tvmdbg_widgets.model.statistics.contrast import Contrast
from tvmdbg_widgets.model.statistics.distribution import Interval
from tvmdbg_widgets.model.statistics.percentiles import PERCENTS
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.planes import ArrayValues, is_complex
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.tensors.values import ArrayView, Unfolded
from tvmdbg_widgets.sources.byte_source import BytesSource

#: Bins of a histogram, as in ``answers/messages.py``.
BINS = 64


@dataclass(frozen=True)
class Header:
    """Facts of a tensor that come from its run."""

    captured: str
    layouts: tuple[KnownLayout, ...]

    def opened(self, values: ArrayValues) -> ArrayView:
        """Return the values along the axes of the stated layout, which a view opens with."""
        stated = stated_layout(self.layouts, values.view_shape)
        return values if stated is None else Unfolded(values, stated.layout, stated.sizes)

    @property
    def layouts_text(self) -> str:
        """The layouts as JSON; "" if there are none."""
        layouts = [{**vars(layout), "layout": layout.layout.text} for layout in self.layouts]
        return json.dumps(layouts) if layouts else ""


def headers(run: RunFacts, tensors: Sequence[Tensor]) -> list[Header]:
    """Return the headers of tensors."""
    return [
        Header(tensor.captured, known_layouts(run.parts, (tensor.node, tensor.output)))
        for tensor in tensors
    ]


@dataclass(frozen=True)
class Variant:
    """One tensor under one reading of its bytes."""

    row: int
    reading: str
    values: ArrayValues
    view: ArrayView
    found: Statistics
    percentiles: tuple[Interval, ...] = ()
    contrast: Contrast | None = None


def variants(
    tensor: Tensor, row: int, header: Header, progress: Callable[[int], None] | None = None
) -> tuple[list[Variant], str]:
    """Return a tensor's variants, and why its values could not be read ("" if they could)."""
    made = []
    trouble = ""
    for reading in tensor.readings or (None,):
        values = tensor.values(reading)
        bounds: tuple[Interval, ...] = ()
        adapted: Contrast | None = None
        try:
            numbers = tensor.statistics(BINS, reading=reading, progress=progress)
            bounds = tensor.known_percentiles(reading)
            adapted = tensor.contrast(reading=reading)
        except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
            trouble = pack.unread(problem)
            numbers = Statistics.not_applicable(values.count, trouble)
        made.append(
            Variant(row, reading or "", values, header.opened(values), numbers, bounds, adapted)
        )
    return made, trouble


def redacted_variant(variant: Variant, *, counts_only: bool) -> Variant:
    """Return a variant without single values of a parameter."""
    if not variant.found.applicable:
        return variant
    statistics = variant.found.redacted(counts_only=counts_only)
    return replace(variant, found=statistics, percentiles=(), contrast=None)


def tensor_columns(
    tensors: Sequence[Tensor],
    headers: Sequence[Header],
    notes: Sequence[str],
    remedies: Sequence[str],
    eraser: PathEraser,
) -> dict[str, Any]:
    """Return the header columns beyond the list of tensors.

    ``notes`` are the page's own; ``remedies`` are calls that save a page with the values.
    """
    own = [[eraser.text(note) for note in tensor.notes] for tensor in tensors]
    return {
        "keys": _strings([tensor.key for tensor in tensors]),
        "files": _strings([eraser.text(tensor.file) for tensor in tensors]),
        "offsets": np.array([tensor.offset for tensor in tensors], np.float64),
        "captured": _strings([header.captured for header in headers]),
        "layouts": _strings([header.layouts_text for header in headers]),
        "noteOffsets": np.cumsum([0, *map(len, own)]).astype(np.int32),
        "notes": _strings([note for notes in own for note in notes]),
        "pageNotes": _strings(notes),
        "remedies": _strings(remedies),
    }


def _strings(texts: Sequence[str]) -> StringColumn:
    return StringColumn.from_strings(texts)


def variant_columns(variants: Sequence[Variant], *, histograms: bool) -> dict[str, Any]:
    """Return statistics (V rows) with histograms (H rows of ``BINS`` counts)."""
    counted = [variant.found for variant in variants]
    shapes = [variant.values.view_shape for variant in variants]
    shown = [one.histogram if histograms else None for one in counted]
    kept = [histogram for histogram in shown if histogram is not None]
    uneven = [not _is_linear(histogram) for histogram in kept]
    edges = [one.edges for one, is_uneven in zip(kept, uneven, strict=True) if is_uneven]
    counts = np.concatenate([np.zeros(0, np.int64), *(histogram.counts for histogram in kept)])
    columns: dict[str, Any] = {
        "tensor": np.array([variant.row for variant in variants], np.int32),
        "reading": _strings([variant.reading for variant in variants]),
        "shapeOffsets": np.cumsum([0, *map(len, shapes)]).astype(np.int32),
        "shapeDims": np.array([size for shape in shapes for size in shape], np.float64),
        "dtype": _strings([variant.values.numpy_dtype.name for variant in variants]),
        "applicable": np.array([one.applicable for one in counted], np.bool_),
    }
    # The order is that of saved pages.
    names = (*COUNTS[:7], "denormal", *PLACES[:2], *COUNTS[7:], *PLACES[2:])
    for name in (*names, "minimum", "maximum", "mean", "std"):
        columns[camel(name)] = _floats(getattr(one, name) for one in counted)
    ends = list(map(_limits, variants))
    columns |= {
        "reason": _strings([one.reason for one in counted]),
        "lowest": np.array([low for low, _ in ends], np.float64),
        "highest": np.array([high for _, high in ends], np.float64),
        "minimumText": _strings([_text(one.minimum) for one in counted]),
        "maximumText": _strings([_text(one.maximum) for one in counted]),
        "histogram": _numbered([histogram is not None for histogram in shown]),
        "counts": counts.astype(np.int32 if counts.max(initial=0) < 2**31 else np.float64),
        "first": np.array([histogram.edges[0] for histogram in kept], np.float64),
        "last": np.array([histogram.edges[-1] for histogram in kept], np.float64),
        "rounded": np.array([not histogram.exact for histogram in kept], np.bool_),
        "uneven": _numbered(uneven),
        "edges": np.concatenate([np.zeros(0), *edges]),
    }
    columns |= _percentile_columns(variants)
    return columns | _contrast_columns(variants, histograms=histograms)


def _percentile_columns(variants: Sequence[Variant]) -> dict[str, Any]:
    """Return the bounds of percentiles (P rows, some per variant)."""
    bounds = [percentile for variant in variants for percentile in variant.percentiles]
    counts = [len(variant.percentiles) for variant in variants]
    return {
        "percentileOffsets": np.cumsum([0, *counts]).astype(np.int32),
        "percents": np.array(PERCENTS, np.float64),
        "low": np.array([bound.low for bound in bounds], np.float64),
        "high": np.array([bound.high for bound in bounds], np.float64),
    }


def _contrast_columns(variants: Sequence[Variant], *, histograms: bool) -> dict[str, Any]:
    """Return color scales, and robust ranges (R rows) with their bins (B rows).

    A range has one row more than bins; the count of its last edge is 0.
    """
    contrasts = [variant.contrast for variant in variants]
    ranges = [one.robust if one is not None and histograms else None for one in contrasts]
    chosen = [robust for robust in ranges if robust is not None]
    bins = [robust.histogram for robust in chosen]
    counts = [np.append(histogram.counts, 0).astype(np.float64) for histogram in bins]
    return {
        "linear": _floats(None if one is None else one.linear for one in contrasts),
        "scale": _strings(["linear" if one is None else one.scale for one in contrasts]),
        "crowd": np.array([0.0 if one is None else one.crowd for one in contrasts], np.float64),
        "robust": _numbered([robust is not None for robust in ranges]),
        "robustLow": np.array([robust.low for robust in chosen], np.float64),
        "robustHigh": np.array([robust.high for robust in chosen], np.float64),
        "beyond": np.array([robust.beyond for robust in chosen], np.float64),
        "robustExact": np.array([histogram.exact for histogram in bins], np.bool_),
        "robustOffsets": np.cumsum([0, *map(len, counts)]).astype(np.int32),
        "robustEdges": np.concatenate([np.zeros(0), *(histogram.edges for histogram in bins)]),
        "robustCounts": np.concatenate([np.zeros(0), *counts]),
    }


def _limits(variant: Variant) -> tuple[float, float]:
    ends = limits(variant.values.numpy_dtype) if variant.found.applicable else None
    return ends or (math.nan, math.nan)


def _is_linear(histogram: Histogram) -> bool:
    """Whether ``first + i * ((last - first) / BINS)`` gives exactly these edges."""
    first, last = float(histogram.edges[0]), float(histogram.edges[-1])
    if len(histogram.counts) != BINS or not math.isfinite(last - first):
        return False
    edges = np.arange(BINS + 1) * ((last - first) / BINS) + first
    return np.array_equal(edges[:-1], histogram.edges[:-1])


def _numbered(there: Sequence[bool]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Number the true items from 0; -1 for false ones."""
    mask = np.array(there, np.bool_)
    return np.where(mask, np.cumsum(mask) - 1, -1).astype(np.int32)


def _floats(values: Iterable[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([math.nan if value is None else float(value) for value in values], np.float64)


def _text(bound: Any) -> str:
    return "none" if bound is None else number_text(bound)


_NATIVE = frozenset(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)) | {
    "float32",
    "float64",
}


@dataclass(frozen=True)
class StorageForm:
    """How one variant reads the stored bytes."""

    data: int
    width: int
    kind: str
    values: ArrayValues
    packed: int = 0
    mask: int = -1


@dataclass(frozen=True)
class Codes:
    """Codes that occur, with the dtype that decodes them."""

    codes: np.ndarray[Any, Any]
    dtype: DataType


@dataclass(frozen=True)
class WholeTensor:
    """All values of one tensor as they are stored."""

    data: tuple[bytes, ...]
    forms: tuple[StorageForm, ...]
    codes: dict[str, Codes]
    texts: dict[str, StringColumn]


def distributions(
    tensor: Tensor, variants: Mapping[int, Variant]
) -> dict[int, tuple[list[dict[str, Any]], bytes]]:
    """Return the packed distributions of variants of at most eight bits, by number."""
    found = {}
    for number, variant in variants.items():
        known = tensor.contrast(reading=variant.reading or None)
        if known is not None and variant.values.numpy_dtype.itemsize == 1:
            answer, buffer = distribution_json(known)
            found[number] = answer["columns"], buffer
    return found


def whole(tensor: Tensor, variants: Sequence[Variant]) -> WholeTensor:
    """Read all values of a tensor for storage."""
    if is_complex(tensor.dtype):
        return _complex(variants)
    raw = tensor.raw()[: max(_used(variant.values) for variant in variants)]
    width = variants[0].values.numpy_dtype.itemsize
    forms, codes = [], {}
    for variant in variants:
        values = variant.values
        kind = values.numpy_dtype.name
        if not values.is_raw and (kind not in _NATIVE or values.dtype.bits < 8):
            kind = f"{values.dtype.name.partition('x')[0]} {kind}"
            codes[kind] = Codes(_codes(raw, values), values.dtype)
        mask = (1 << values.dtype.bits) - 1 if _is_small(values) else -1
        packed = values.dtype.bits if values.is_packed else 0
        forms.append(StorageForm(0, width, kind, values, packed, mask))
    return WholeTensor((shuffled(raw.data, width),), tuple(forms), codes, {})


def _complex(variants: Sequence[Variant]) -> WholeTensor:
    """Store complex numbers as text and their real views as floats, as Python computes them."""
    data, forms, texts = [], [], {}
    for at, variant in enumerate(variants):
        array = variant.values.numpy().ravel()
        if array.dtype.kind == "c":
            column = StringColumn.from_strings(map(number_text, array))
            kind = f"tensor {variant.row}"
            texts[kind] = column
            data.append(shuffled(column.codes.astype("<i4").tobytes(), 4))
            forms.append(StorageForm(at, 4, kind, variant.values))
        else:
            width = array.dtype.itemsize
            data.append(shuffled(array.tobytes(), width))
            forms.append(StorageForm(at, width, array.dtype.name, variant.values))
    return WholeTensor(tuple(data), tuple(forms), {}, texts)


def form_columns(rows: Sequence[tuple[int, StorageForm, int, int]]) -> dict[str, Any]:
    """Return how variants of stored tensors are read (W rows)."""

    def whole(get: Callable[[StorageForm], int]) -> np.ndarray[Any, np.dtype[np.int32]]:
        return np.array([get(form) for _, form, *_ in rows], np.int32)

    def fields(form: StorageForm) -> tuple[int, int]:
        widths = bits.fields(form.values.numpy_dtype)
        return (widths[0], widths[2]) if widths else (-1, 0)

    kept = [file_dtype(form.values.numpy_dtype) for _, form, *_ in rows]
    return {
        "variant": np.array([variant for variant, *_ in rows], np.int32),
        "width": whole(lambda form: form.width),
        "at": np.array([begin for *_, begin, _ in rows], np.float64),
        "size": np.array([size for *_, size in rows], np.float64),
        "kind": StringColumn.from_strings(form.kind for _, form, *_ in rows),
        "packed": whole(lambda form: form.packed),
        "mask": whole(lambda form: form.mask),
        "bits": whole(lambda form: _bits(form.values)),
        "sign": whole(lambda form: fields(form)[0]),
        "mantissa": whole(lambda form: fields(form)[1]),
        "least": whole(lambda form: _least(form.values)),
        "descr": StringColumn.from_strings(dtype.newbyteorder("<").str for dtype, _ in kept),
        "note": StringColumn.from_strings(note for _, note in kept),
        "copied": np.array(
            [
                dtype == form.values.numpy_dtype and dtype.kind in "iuf"
                for (dtype, _), (_, form, *_) in zip(kept, rows, strict=True)
            ],
            np.bool_,
        ),
    }


def _bits(values: ArrayValues) -> int:
    """Return the bits of a stored item; a bool has 8."""
    return bits.width((values.codes if values.dtype.is_bool else values).numpy_dtype)


def _least(values: ArrayValues) -> int:
    """Return the ``frexp`` exponent below which a float type's steps get no smaller."""
    kind = bits.float_type(values.numpy_dtype)
    return 0 if kind is None else kind.least


def code_table(kind: str, dtype: DataType, codes: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the values and texts of codes."""
    packed = dtype.is_bool and not kind.endswith(" bool")
    if packed:
        scalars = codes.astype(np.uint8)
    else:
        source = BytesSource(codes.tobytes())
        shape = (len(codes),)
        scalars = ArrayValues(source, 0, codes.nbytes, dtype, shape, "bytes").numpy()
    return {
        "codes": codes.astype(np.int32),
        "values": scalars.astype(np.float64),
        "texts": StringColumn.from_strings(number_text(scalar) for scalar in scalars),
    }


def _used(values: ArrayValues) -> int:
    """Return the number of bytes that are read."""
    if values.is_packed:
        return min(values.nbytes, -(-values.count * values.dtype.bits // 8))
    return values.count * values.numpy_dtype.itemsize


def _is_small(values: ArrayValues) -> bool:
    """Whether only low bits of a byte count; any bit makes an unpacked bool true."""
    return values.dtype.bits < 8 and (values.is_packed or not values.dtype.is_bool)


def _codes(raw: np.ndarray[Any, np.dtype[np.uint8]], values: ArrayValues) -> np.ndarray[Any, Any]:
    """Return the codes that occur; below a byte, all possible ones."""
    if _is_small(values):
        return np.arange(1 << values.dtype.bits, dtype=np.uint8)
    return np.unique(raw.view(f"<u{values.numpy_dtype.itemsize}"))
