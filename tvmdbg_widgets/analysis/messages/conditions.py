"""The condition of an assert on a data type: which field is compared with what.

``tvm_struct_get(arg0, 0, 5) == (uint8)2`` @ v0.5, v0.6; with ``tir.`` before it @ v0.7 to v0.10;
``T.tvm_struct_get(A, 0, 5, "uint8") == T.uint8(2)`` from v0.11 on. Fields 5, 6, 7 are code, bits,
lanes (``TVMStructFieldKind``, include/tvm/tir/builtin.h). Constants of int32, and they alone, have
no type before them (``IntImmNode``, src/ir/expr.cc @ v0.7).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tvmdbg_widgets.model.abi.dtype_layout import NARROW, WIDE
from tvmdbg_widgets.model.tensors.dtypes import STORABLE_BITS, DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FIELDS = {"5": "code", "6": "bits", "7": "lanes"}
_LETTER = {"int": "i", "uint": "u", "i": "i", "u": "u"}
_TOKEN = re.compile(
    r"tvm_struct_get\(\s{0,80}[\w.]{1,120},\s{0,80}0,\s{0,80}(?P<field>[567])"
    r'(?:,\s{0,80}(?:dtype=)?"\w{1,10}")?\)'
    r"|\((?P<cast>u?int)(?P<cast_bits>\d{1,2})\)(?P<cast_value>\d{1,10})"
    r"|\b(?P<call>u?int)(?P<call_bits>\d{1,2})\((?P<call_value>\d{1,10})\)"
    r"|(?<![\w.])(?P<plain_value>\d{1,10})(?:(?P<suffix>[iu])(?P<suffix_bits>\d{1,2}))?\b"
    r"|(?P<equal>==)"
    r"|(?P<joint>&&|\band\b)"
)


class Comparison(NamedTuple):
    """One comparison of a condition."""

    field: str
    value: int
    kind: str


def comparisons(text: str) -> tuple[Comparison, ...]:
    """Return the comparisons of data types in a text."""
    return tuple(_comparisons(text))


def _comparisons(text: str) -> Iterator[Comparison]:
    """Read ``field == value`` and ``value == field``, each up to the next ``and``."""
    field, value, equal = "", None, False
    for token in _TOKEN.finditer(text):
        if token["joint"]:
            field, value, equal = "", None, False
            continue
        if token["equal"]:
            equal = True
        elif token["field"]:
            field = _FIELDS[token["field"]]
        else:
            value = _value(token)
        if field and value is not None and equal:
            yield Comparison(field, *value)
            field, value, equal = "", None, False


def _value(token: re.Match[str]) -> tuple[int, str]:
    for form in ("cast", "call"):
        if token[form]:
            kind = f"{_LETTER[token[form]]}{token[f'{form}_bits']}"
            return int(token[f"{form}_value"]), kind
    kind = f"{token['suffix']}{token['suffix_bits']}" if token["suffix"] else "i32"
    return int(token["plain_value"]), kind


def in_words(found: Sequence[Comparison]) -> list[str]:
    """Say what the comparisons expect, what each would mean that failed, and their layout."""
    values = {each.field: each.value for each in found}
    lines = []
    if {"code", "bits", "lanes"} <= values.keys() and values["bits"] in STORABLE_BITS:
        dtype = DataType(values["code"], values["bits"], values["lanes"])
        lines.append(f"The code expects {dtype}: {', '.join(_expected(each) for each in found)}.")
    elif found:
        lines.append(f"The code expects {', '.join(_expected(each) for each in found)}.")
    lines += [_if_it_fails(each, values) for each in found]
    kinds = " ".join(f"{each.field}:{each.kind}" for each in found)
    layout = next((each for each in (NARROW, WIDE) if each.declaration == kinds), None)
    if layout is not None:
        lines.append(f"It compares {kinds}: compiled for the {layout.name} layout of DLDataType.")
    elif len(found) == len(_FIELDS):
        lines.append(f"It compares {kinds}: compiled for a DLDataType that no release has.")
    return lines


def _expected(each: Comparison) -> str:
    names = {"code": "type code", "bits": "bits", "lanes": "lanes"}
    return f"{names[each.field]} {each.value}"


def _if_it_fails(each: Comparison, values: dict[str, int]) -> str:
    match each.field:
        case "code":
            said = (
                f"If the type code is not {each.value}: another family of types (0 int, 1 uint, "
                "2 float, 4 bfloat, 6 bool)."
            )
            if each.kind != "u16" or "bits" not in values:
                return said
            both = each.value | values["bits"] << 8
            return (
                f"{said} If it reads {both} ({both:#06x}), the array's DLDataType is narrower than "
                "this code was compiled for: code and bits are read as one number."
            )
        case "bits":
            said = f"If bits is not {each.value}: another width."
            if each.kind != "u8":
                return said
            return (
                f"{said} If it reads 0, the array's DLDataType is wider than this code was "
                "compiled for."
            )
    return f"If lanes is not {each.value}: a vector type, or the fields lie elsewhere."
