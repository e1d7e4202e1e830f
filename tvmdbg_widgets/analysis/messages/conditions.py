"""The condition of an assert on a data type: which field is compared with what.

``tvm_struct_get(arg0, 0, 5) == (uint8)2`` @ v0.5, v0.6; with ``tir.`` before it @ v0.7 to v0.10;
``T.tvm_struct_get(A, 0, 5, "uint8") == T.uint8(2)`` from v0.11 on. Fields 5, 6, 7 are code, bits,
lanes (``TVMStructFieldKind``, include/tvm/tir/builtin.h).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tvmdbg_widgets.model.abi.dtype_layout import NARROW, WIDE
from tvmdbg_widgets.model.dtypes import STORABLE_BITS, DataType

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIELDS = {"5": "code", "6": "bits", "7": "lanes"}
_GET = (
    r"tvm_struct_get\(\s{0,4}[\w.]{1,120}, ?0, ?([567])"
    r'(?:, ?(?:dtype=)?"\w{1,10}")?\)'
)
_VALUE = r"\(?(?:T\.|tir\.)?(?:\((u?int)(\d{1,2})\)|(u?int)(\d{1,2})\()(\d{1,10})\)?"
_COMPARED = re.compile(rf"{_GET} == {_VALUE}")


class Comparison(NamedTuple):
    """One comparison of a condition.

    Attributes
    ----------
    field : str
        ``"code"``, ``"bits"`` or ``"lanes"``.
    value : int
        What compiled code expects.
    kind : str
        The type it compares as, such as ``"u8"``: that of the field in the layout it was compiled
        for.
    """

    field: str
    value: int
    kind: str


def comparisons(text: str) -> tuple[Comparison, ...]:
    """Return the comparisons of data types in a text."""
    found = []
    for match in _COMPARED.finditer(text):
        number, sign, width, other_sign, other_width, value = match.groups()
        kind = f"{(sign or other_sign)[0]}{width or other_width}"
        found.append(Comparison(_FIELDS[number], int(value), kind))
    return tuple(found)


def in_words(found: Sequence[Comparison]) -> list[str]:
    """Say what the comparisons expect, what each would mean that failed, and their layout."""
    values = {each.field: each.value for each in found}
    lines = []
    if {"code", "bits", "lanes"} <= values.keys() and values["bits"] in STORABLE_BITS:
        dtype = DataType(values["code"], values["bits"], values["lanes"])
        lines.append(f"The code expects {dtype}: {', '.join(_expected(each) for each in found)}.")
    elif found:
        lines.append(f"The code expects {', '.join(_expected(each) for each in found)}.")
    lines += [_if_it_fails(each) for each in found]
    kinds = " ".join(f"{each.field}:{each.kind}" for each in found)
    layout = next((each for each in (NARROW, WIDE) if each.declaration == kinds), None)
    if layout is not None:
        lines.append(f"It compares {kinds}: compiled for the {layout.name} layout of DLDataType.")
    elif len(found) == 3:
        lines.append(f"It compares {kinds}: compiled for a DLDataType that no release has.")
    return lines


def _expected(each: Comparison) -> str:
    names = {"code": "type code", "bits": "bits", "lanes": "lanes"}
    return f"{names[each.field]} {each.value}"


def _if_it_fails(each: Comparison) -> str:
    match each.field:
        case "code":
            return (
                f"If the type code is not {each.value}: another family of types (0 int, 1 uint, "
                "2 float, 4 bfloat, 6 bool)."
            )
        case "bits":
            return (
                f"If bits is not {each.value}: another width. If it reads 0, the array's "
                "DLDataType is wider than this code was compiled for."
            )
    return f"If lanes is not {each.value}: a vector type, or the fields lie elsewhere."
