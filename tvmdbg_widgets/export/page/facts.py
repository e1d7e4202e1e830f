"""Recorded replies about tensors, and columns of all their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.layouts import KnownLayout, known_layouts, stated_layout
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.counts import spread_json
from tvmdbg_widgets.answers.tensor import Reply, file_dtype, layout_json
from tvmdbg_widgets.export.page import pack
from tvmdbg_widgets.export.page.pack import shuffled
from tvmdbg_widgets.model.base import number_text as bits
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.model.tensors.planes import ArrayValues, is_complex
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.tensors.values import Unfolded
from tvmdbg_widgets.sources.byte_source import BytesSource

#: Bins of a histogram, as in ``answers/messages.py``.
BINS = 64


@dataclass(frozen=True)
class Variant:
    """One tensor under one reading of its bytes: its values, and the replies about them.

    ``view`` has the axes of the stated layout, which a view opens with and asks for as ``asked``.
    ``distribution`` is that of a type of at most eight bits, ``own`` are layouts given by hand.
    """

    row: int
    values: ArrayValues
    view: ArrayValues | Unfolded
    asked: dict[str, Any]
    header: dict[str, Any]
    statistics: dict[str, Any]
    distribution: Reply | None = None
    own: tuple[dict[str, Any], ...] = ()

    @property
    def reading(self) -> str | None:
        """Reading of the bytes; None if there is only one."""
        reading: str | None = self.asked["reading"]
        return reading

    @property
    def applicable(self) -> bool:
        """Whether there are statistics."""
        return self.statistics["statistics"] is not None

    def stored(self, note: str, remedy: str, *, histograms: bool, whole: bool) -> Reply:
        """Return the replies with the page's own note, and the call that makes a page with more."""
        spread = self.distribution if whole else None
        told = self.statistics | {"distribution": spread and spread.result}
        if not histograms:
            told |= {"histogram": None, "robust": None}
        found: dict[str, Any] = {
            "header": self.header | {"notes": [*self.header["notes"], *([note] if note else [])]},
            "opened": self.asked["layout"],
            "drawn": self.applicable and 0 not in self.values.view_shape,
            "statistics": told,
            "remedy": f"({note or 'its values were not saved'}); open the dump, or {remedy}",
        }
        return Reply(
            found | ({"own": self.own} if self.own else {}), spread.buffers if spread else ()
        )


def variants(
    answers: Answers,
    run: RunFacts,
    tensor: Tensor,
    row: int,
    own: Iterable[Layout] = (),
    *,
    progress: Callable[[int], None] | None = None,
) -> tuple[list[Variant], str]:
    """Return a tensor's variants, and why its values could not be read ("" if they could)."""
    made = []
    trouble = ""
    layouts = known_layouts(run.parts, (tensor.node, tensor.output))
    for reading in tensor.readings or (None,):
        values = tensor.values(reading)
        stated = stated_layout(layouts, values.view_shape)
        view: ArrayValues | Unfolded = (
            values if stated is None else Unfolded(values, stated.layout, stated.sizes)
        )
        question = {"entry": [tensor.node, tensor.output], "reading": reading, "exact": True}
        whole = {**question, "kind": "tensor", "rows": 0, "cols": 0}
        opened = answers.answer(whole).result
        asked = {name: opened[name] for name in ("entry", "reading", "layout", "sizes")}
        header = {**answers.answer({**whole, "layout": ""}).result}
        header.pop("withheld", None)  # the page's own note tells it
        distribution = None
        try:
            tensor.statistics(BINS, reading=reading, progress=progress)
            reply = answers.answer({**question, "kind": "statistics"})
        except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
            trouble = pack.unread(problem)
            told = _unread(values, trouble)
        else:
            told = reply.result
            if reply.buffers and values.numpy_dtype.itemsize == 1:
                distribution = Reply(reply.result["distribution"], reply.buffers)
        fitting = [KnownLayout(each, "", "likely") for each in own if each.fits(values.view_shape)]
        given = tuple(layout_json(each, values) for each in fitting)
        made.append(Variant(row, values, view, asked, header, told, distribution, given))
    return made, trouble


def _unread(values: ArrayValues, why: str) -> dict[str, Any]:
    """Return the reply about the statistics of values that could not be read."""
    nothing = Statistics.not_applicable(values.count, why)
    return {
        **spread_json(nothing, values.numpy_dtype, None),
        "statistics": None,
        "state": "exact",
        "reason": why,
        "done": values.count,
        "total": values.count,
        "percentiles": [],
    }


_NATIVE = frozenset(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)) | {
    "float32",
    "float64",
}


@dataclass(frozen=True)
class Codes:
    """Codes that occur, with the dtype that decodes them."""

    codes: np.ndarray[Any, Any]
    dtype: DataType


@dataclass(frozen=True)
class WholeTensor:
    """All values of one tensor as they are stored: a reply for each variant."""

    replies: tuple[Reply, ...]
    codes: dict[str, Codes]
    texts: dict[str, StringColumn]

    @property
    def data(self) -> set[bytes]:
        """Return the stored bytes, which variants may share."""
        return {data for reply in self.replies for data in reply.buffers}


def whole(tensor: Tensor, variants: Sequence[Variant]) -> WholeTensor:
    """Read all values of a tensor for storage."""
    if is_complex(tensor.dtype):
        return _complex(variants)
    raw = tensor.raw()[: max(_used(variant.values) for variant in variants)]
    width = variants[0].values.numpy_dtype.itemsize
    data = shuffled(raw.data, width)
    replies, codes = [], {}
    for variant in variants:
        values = variant.values
        kind = values.numpy_dtype.name
        if not values.is_raw and (kind not in _NATIVE or values.dtype.bits < 8):
            kind = f"{values.dtype.name.partition('x')[0]} {kind}"
            codes[kind] = Codes(_codes(raw, values), values.dtype)
        replies.append(_stored(values, kind, width, data))
    return WholeTensor(tuple(replies), codes, {})


def _complex(variants: Sequence[Variant]) -> WholeTensor:
    """Store complex numbers as text and their real views as floats, as Python computes them."""
    replies, texts = [], {}
    for variant in variants:
        array = variant.values.numpy().ravel()
        kind, width = array.dtype.name, array.dtype.itemsize
        if array.dtype.kind == "c":
            kind, width = f"tensor {variant.row}", 4
            texts[kind] = StringColumn.from_strings(map(number_text, array))
            array = texts[kind].codes.astype("<i4")
        replies.append(_stored(variant.values, kind, width, shuffled(array.tobytes(), width)))
    return WholeTensor(tuple(replies), {}, texts)


def _stored(values: ArrayValues, kind: str, width: int, data: bytes) -> Reply:
    """Return how a variant reads the stored items of ``width`` bytes, with these."""
    dtype = values.numpy_dtype
    kept, note = file_dtype(dtype)
    float_type = bits.float_type(dtype)
    header = {
        "width": width,
        "kind": kind,
        "packed": values.dtype.bits if values.is_packed else 0,
        "mask": (1 << values.dtype.bits) - 1 if _is_small(values) else -1,
        "bits": _bits(values),
        "fields": list(bits.fields(dtype)),
        # The ``frexp`` exponent below which a float type's steps get no smaller.
        "least": 0 if float_type is None else float_type.least,
        "descr": kept.newbyteorder("<").str,
        "note": note,
        "copied": kept == dtype and kept.kind in "iuf",
    }
    return Reply(header, (data,))


def _bits(values: ArrayValues) -> int:
    """Return the bits of a stored item; a bool has 8."""
    return bits.width((values.codes if values.dtype.is_bool else values).numpy_dtype)


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
