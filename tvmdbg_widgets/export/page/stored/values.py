"""Whole tensors: the dtype's own bytes, and what each code means of types JavaScript lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmdbg_widgets.answers.tensor.data import file_dtype
from tvmdbg_widgets.export.page.stored.facts import Variant
from tvmdbg_widgets.export.page.stored.pack import shuffled
from tvmdbg_widgets.model.base import bits
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.tensors.array_values import ArrayValues
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.readings import is_complex
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.sources.byte_source import BytesSource

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
        "texts": StringColumn.from_strings(number_text(each) for each in scalars),
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
