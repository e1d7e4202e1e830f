"""Whole tensors: the dtype's own bytes, and what each code means of types JavaScript lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.export.page.stored_pack import shuffled
from tvmdbg_widgets.model.array_values import ArrayValues
from tvmdbg_widgets.model.number_text import number_text
from tvmdbg_widgets.model.sources import BytesSource
from tvmdbg_widgets.model.strings import StringColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.export.page.stored_facts import Variant
    from tvmdbg_widgets.model.dtypes import DataType
    from tvmdbg_widgets.model.tensors import Tensor

_NATIVE = frozenset(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)) | {
    "float32",
    "float64",
}


@dataclass(frozen=True)
class Whole:
    """The values of one tensor as they are stored.

    Attributes
    ----------
    row : int
        Position of the tensor in the run.
    width : int
        Bytes of an item; the data are shuffled by it.
    data : bytes
    kinds : tuple of str
        How each variant reads them: a type of JavaScript's arrays, or the name of a code table.
    bits : tuple of int
        Bits of a code that shares its byte with others, else 0; a variant each.
    masks : tuple of int
        Which bits of an item are its code; a variant each.
    codes : dict of str to uint array
        The codes of each table that occur.
    texts : StringColumn or None
        What the codes mean, where each tensor has its own (complex types).
    """

    row: int
    width: int
    data: bytes
    kinds: tuple[str, ...]
    bits: tuple[int, ...]
    masks: tuple[int, ...]
    codes: dict[str, np.ndarray[Any, Any]]
    texts: StringColumn | None = None


def whole(tensor: Tensor, found: Sequence[Variant]) -> Whole:
    """Read all values of a tensor for storing.

    Parameters
    ----------
    tensor : Tensor
    found : sequence of Variant
        All variants of the tensor.
    """
    row = found[0].row
    if found[0].values.numpy_dtype.kind == "c":
        return _complex(tensor, row)
    raw = tensor.raw()[: max(_used(each.values) for each in found)]
    width = found[0].values.numpy_dtype.itemsize
    kinds, codes = [], {}
    for each in found:
        kind = each.values.numpy_dtype.name
        if not each.values.is_raw and (kind not in _NATIVE or each.values.dtype.bits < 8):
            kind = f"{each.values.dtype.name.partition('x')[0]} {kind}"
            codes[kind] = _codes(raw, each.values)
        kinds.append(kind)
    bits = tuple(each.values.dtype.bits if each.values.is_packed else 0 for each in found)
    masks = tuple(
        (1 << each.values.dtype.bits) - 1 if _is_small(each.values) else -1 for each in found
    )
    return Whole(row, width, shuffled(raw.data, width), tuple(kinds), bits, masks, codes)


def float_limit() -> int:
    """Return from which power of ten on numpy writes float32 as ``1.5e+06``; releases differ.

    Whole numbers keep their digits, and from 2**23 on there are no others.
    """
    return next((each for each in range(1, 7) if "e" in str(np.float32(10**each + 0.5))), 16)


def code_table(kind: str, dtype: DataType, codes: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return value and text of each code of a table.

    Parameters
    ----------
    kind : str
        ``"<TVM's type> <numpy's type>"``, as in ``Whole.kinds``.
    dtype : DataType
        TVM's type, with its lanes: ``uint1x32`` is no bool.
    codes : uint8 or uint16 array
    """
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


def _complex(tensor: Tensor, row: int) -> Whole:
    texts = StringColumn.from_strings(number_text(each) for each in tensor.numpy().ravel())
    kind = f"tensor {row}"
    data = shuffled(texts.codes.astype("<i4").tobytes(), 4)
    return Whole(row, 4, data, (kind,), (0,), (-1,), {}, texts)


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
