"""Header of every tensor, as columns, and the readings of its bytes with their statistics."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.layouts import KnownLayout, known_layouts, stated_layout
from tvmdbg_widgets.answers.counts import limits
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

#: Bins of the histogram that views ask for (``widgets/passes.py``).
BINS = 64


@dataclass(frozen=True)
class Header:
    """What the run knows of a tensor beside what the tensor itself does."""

    captured: str
    layouts: tuple[KnownLayout, ...]

    def opened(self, values: ArrayValues) -> ArrayView:
        """Return the values along the axes that a view opens with: those of the stated layout."""
        stated = stated_layout(self.layouts, values.view_shape)
        return values if stated is None else Unfolded(values, stated.layout, stated.sizes)

    @property
    def layouts_text(self) -> str:
        """The layouts as JSON; empty where there are none."""
        told = [{**vars(layout), "layout": layout.layout.text} for layout in self.layouts]
        return json.dumps(told) if told else ""


def headers(run: RunFacts, tensors: Sequence[Tensor]) -> list[Header]:
    """Return what is known of each tensor."""
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
    """Return the variants of a tensor, and why its values could not be read (else empty)."""
    found = []
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
        found.append(
            Variant(row, reading or "", values, header.opened(values), numbers, bounds, adapted)
        )
    return found, trouble


def redacted_variant(each: Variant, *, counts_only: bool) -> Variant:
    """Return a variant without what tells single values of a parameter."""
    if not each.found.applicable:
        return each
    found = each.found.redacted(counts_only=counts_only)
    return replace(each, found=found, percentiles=(), contrast=None)


def tensor_columns(
    tensors: Sequence[Tensor],
    headers: Sequence[Header],
    notes: Sequence[str],
    remedies: Sequence[str],
    eraser: PathEraser,
) -> dict[str, Any]:
    """Return what a header tells beyond the list of tensors.

    ``notes`` are the page's own, ``remedies`` the calls that make a page with the values.
    """
    own = [[eraser.text(note) for note in tensor.notes] for tensor in tensors]
    return {
        "keys": _strings([tensor.key for tensor in tensors]),
        "files": _strings([eraser.text(tensor.file) for tensor in tensors]),
        "offsets": np.array([tensor.offset for tensor in tensors], np.float64),
        "captured": _strings([header.captured for header in headers]),
        "layouts": _strings([header.layouts_text for header in headers]),
        "noteOffsets": np.cumsum([0, *map(len, own)]).astype(np.int32),
        "notes": _strings([note for each in own for note in each]),
        "pageNotes": _strings(notes),
        "remedies": _strings(remedies),
    }


def _strings(texts: Sequence[str]) -> StringColumn:
    return StringColumn.from_strings(texts)


_COUNTS = ("size", "finite", "nan", "pos_inf", "neg_inf", "zero", "negative", "denormal")
_PLACES = (
    *("argmin", "argmax", "at_lowest", "at_highest"),
    *("first_nan", "first_pos_inf", "first_neg_inf"),
)


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
        "dtype": _strings([each.values.numpy_dtype.name for each in found]),
        "applicable": np.array([each.applicable for each in told], np.bool_),
    }
    for name in (*_COUNTS, *_PLACES, "minimum", "maximum", "mean", "std"):
        columns[_camel(name)] = _floats(told, operator.attrgetter(name))
    ends = [_limits(each) for each in found]
    columns |= {
        "reason": _strings([each.reason for each in told]),
        "lowest": np.array([low for low, _ in ends], np.float64),
        "highest": np.array([high for _, high in ends], np.float64),
        "minimumText": _strings([_text(each.minimum) for each in told]),
        "maximumText": _strings([_text(each.maximum) for each in told]),
        "histogram": _numbered([each is not None for each in shown]),
        "counts": counts.astype(np.int32 if counts.max(initial=0) < 2**31 else np.float64),
        "first": np.array([each.edges[0] for each in kept], np.float64),
        "last": np.array([each.edges[-1] for each in kept], np.float64),
        "rounded": np.array([not each.exact for each in kept], np.bool_),
        "uneven": _numbered([not each for each in linear]),
        "edges": np.concatenate(
            [
                np.zeros(0),
                *(each.edges for each, even in zip(kept, linear, strict=True) if not even),
            ]
        ),
    }
    return columns | _percentile_columns(found) | _contrast_columns(found, histograms=histograms)


def _percentile_columns(found: Sequence[Variant]) -> dict[str, Any]:
    """Return bounds of the percentiles (P rows, as many a variant as it tells)."""
    bounds = [percentile for variant in found for percentile in variant.percentiles]
    return {
        "percentileOffsets": np.cumsum([0, *(len(each.percentiles) for each in found)]).astype(
            np.int32
        ),
        "percents": np.array(PERCENTS, np.float64),
        "low": np.array([bound.low for bound in bounds], np.float64),
        "high": np.array([bound.high for bound in bounds], np.float64),
    }


def _contrast_columns(found: Sequence[Variant], *, histograms: bool) -> dict[str, Any]:
    """Return scales, and ranges of nearly all values (R rows) with their bins (B rows).

    There is one row more than bins a range; the count of a range's last edge is 0.
    """
    there = [each.contrast for each in found]
    ranges = [None if each is None or not histograms else each.robust for each in there]
    chosen = [each for each in ranges if each is not None]
    bins = [each.histogram for each in chosen]
    zones = [None if each is None else each.linear for each in there]
    return {
        "linear": np.array([math.nan if zone is None else zone for zone in zones], np.float64),
        "scale": _strings(["linear" if each is None else each.scale for each in there]),
        "crowd": np.array([0.0 if each is None else each.crowd for each in there], np.float64),
        "robust": _numbered([each is not None for each in ranges]),
        "robustLow": np.array([each.low for each in chosen], np.float64),
        "robustHigh": np.array([each.high for each in chosen], np.float64),
        "beyond": np.array([each.beyond for each in chosen], np.float64),
        "robustExact": np.array([each.exact for each in bins], np.bool_),
        "robustOffsets": np.cumsum([0, *(len(each.edges) for each in bins)]).astype(np.int32),
        "robustEdges": np.concatenate([np.zeros(0), *(each.edges for each in bins)]),
        "robustCounts": np.concatenate(
            [np.zeros(0), *(np.append(each.counts, 0).astype(np.float64) for each in bins)]
        ),
    }


def _limits(each: Variant) -> tuple[float, float]:
    found = limits(each.values.numpy_dtype) if each.found.applicable else None
    return (math.nan, math.nan) if found is None else (found[0], found[1])


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
    return np.array([math.nan if value is None else float(value) for value in values], np.float64)


def _text(bound: Any) -> str:
    return "none" if bound is None else number_text(bound)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(each.capitalize() for each in rest)


_NATIVE = frozenset(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)) | {
    "float32",
    "float64",
}


@dataclass(frozen=True)
class StorageForm:
    """How one variant reads the bytes."""

    data: int
    width: int
    kind: str
    values: ArrayValues
    packed: int = 0
    mask: int = -1


@dataclass(frozen=True)
class Codes:
    """The codes of a table that occur, and the values that know what they mean."""

    codes: np.ndarray[Any, Any]
    dtype: DataType


@dataclass(frozen=True)
class WholeTensor:
    """The values of one tensor as they are stored."""

    data: tuple[bytes, ...]
    forms: tuple[StorageForm, ...]
    codes: dict[str, Codes]
    texts: dict[str, StringColumn]


def whole(tensor: Tensor, found: Sequence[Variant]) -> WholeTensor:
    """Read all values of a tensor for storing."""
    if is_complex(tensor.dtype):
        return _complex(found)
    raw = tensor.raw()[: max(_used(each.values) for each in found)]
    width = found[0].values.numpy_dtype.itemsize
    forms, codes = [], {}
    for each in found:
        values = each.values
        kind = values.numpy_dtype.name
        if not values.is_raw and (kind not in _NATIVE or values.dtype.bits < 8):
            kind = f"{values.dtype.name.partition('x')[0]} {kind}"
            codes[kind] = Codes(_codes(raw, values), values.dtype)
        mask = (1 << values.dtype.bits) - 1 if _is_small(values) else -1
        packed = values.dtype.bits if values.is_packed else 0
        forms.append(StorageForm(0, width, kind, values, packed, mask))
    return WholeTensor((shuffled(raw.data, width),), tuple(forms), codes, {})


def _complex(found: Sequence[Variant]) -> WholeTensor:
    """The numbers as text, their faces as floats: JavaScript rounds magnitudes differently."""
    data, forms, texts = [], [], {}
    for at, each in enumerate(found):
        array = each.values.numpy().ravel()
        if array.dtype.kind == "c":
            column = StringColumn.from_strings(number_text(value) for value in array)
            kind = f"tensor {each.row}"
            texts[kind] = column
            data.append(shuffled(column.codes.astype("<i4").tobytes(), 4))
            forms.append(StorageForm(at, 4, kind, each.values))
        else:
            width = array.dtype.itemsize
            data.append(shuffled(array.tobytes(), width))
            forms.append(StorageForm(at, width, array.dtype.name, each.values))
    return WholeTensor(tuple(data), tuple(forms), {}, texts)


def form_columns(rows: Sequence[tuple[int, StorageForm, int, int]]) -> dict[str, Any]:
    """Return how the variants of whole tensors are read (W rows)."""

    def whole(get: Callable[[StorageForm], int]) -> np.ndarray[Any, np.dtype[np.int32]]:
        return np.array([get(form) for _, form, *_ in rows], np.int32)

    def fields(form: StorageForm) -> tuple[int, int]:
        found = bits.fields(form.values.numpy_dtype)
        return (found[0], found[2]) if found else (-1, 0)

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
    """How many bits tell a stored item: of a bool those of its byte."""
    return bits.width((values.codes if values.dtype.is_bool else values).numpy_dtype)


def _least(values: ArrayValues) -> int:
    """The exponent, as ``frexp`` gives it, below which steps of a float type get no smaller."""
    found = bits.float_type(values.numpy_dtype)
    return 0 if found is None else found.least


def code_table(kind: str, dtype: DataType, codes: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return value and text of each code of a table."""
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
    """Bytes that are looked at."""
    if values.is_packed:
        return min(values.nbytes, -(-values.count * values.dtype.bits // 8))
    return values.count * values.numpy_dtype.itemsize


def _is_small(values: ArrayValues) -> bool:
    """Whether only the low bits of a byte count; any bit makes an unpacked bool true."""
    return values.dtype.bits < 8 and (values.is_packed or not values.dtype.is_bool)


def _codes(raw: np.ndarray[Any, np.dtype[np.uint8]], values: ArrayValues) -> np.ndarray[Any, Any]:
    """The codes that occur; all that there can be below a byte."""
    if _is_small(values):
        return np.arange(1 << values.dtype.bits, dtype=np.uint8)
    return np.unique(raw.view(f"<u{values.numpy_dtype.itemsize}"))
