"""What the facts of a message mean: its condition, its argument, the number of its error.

Conditions of asserts on data types: ``tvm_struct_get(arg0, 0, 5) == (uint8)2`` @ v0.5, v0.6; with
``tir.`` before it @ v0.7 to v0.10; ``T.tvm_struct_get(A, 0, 5, "uint8") == T.uint8(2)`` from v0.11
on. Fields 5, 6, 7 are code, bits, lanes (``TVMStructFieldKind``, include/tvm/tir/builtin.h).
Constants of int32 alone have no type before them (``IntImmNode``, src/ir/expr.cc @ v0.7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tvmdbg_widgets.analysis.messages.known import STATUSES
from tvmdbg_widgets.model.abi.dtype_layout import NARROW, WIDE
from tvmdbg_widgets.model.tensors.dtypes import STORABLE_BITS, DataType

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


class ConditionTerm(NamedTuple):
    """One comparison of a condition."""

    field: str
    value: int
    kind: str


def comparisons(text: str) -> tuple[ConditionTerm, ...]:
    """Read ``field == value`` and ``value == field`` of data types, up to the next ``and`` each."""
    found = []
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
            found.append(ConditionTerm(field, *value))
            field, value, equal = "", None, False
    return tuple(found)


def _value(token: re.Match[str]) -> tuple[int, str]:
    for form in ("cast", "call"):
        if token[form]:
            kind = f"{_LETTER[token[form]]}{token[f'{form}_bits']}"
            return int(token[f"{form}_value"]), kind
    kind = f"{token['suffix']}{token['suffix_bits']}" if token["suffix"] else "i32"
    return int(token["plain_value"]), kind


def in_words(found: Sequence[ConditionTerm]) -> list[str]:
    """Say what the comparisons expect, what each would mean that failed, and their layout."""
    if not found:
        return []
    values = {each.field: each.value for each in found}
    expected = ", ".join(
        f"{'type code' if each.field == 'code' else each.field} {each.value}" for each in found
    )
    if {"code", "bits", "lanes"} <= values.keys() and values["bits"] in STORABLE_BITS:
        expected = f"{DataType(values['code'], values['bits'], values['lanes'])}: {expected}"
    lines = [f"The code expects {expected}.", *(_if_it_fails(each, values) for each in found)]
    kinds = " ".join(f"{each.field}:{each.kind}" for each in found)
    layout = next((each for each in (NARROW, WIDE) if each.declaration == kinds), None)
    if layout is not None:
        lines.append(f"It compares {kinds}: compiled for the {layout.name} layout of DLDataType.")
    elif len(found) == len(_FIELDS):
        lines.append(f"It compares {kinds}: compiled for a DLDataType that no release has.")
    return lines


def _if_it_fails(each: ConditionTerm, values: dict[str, int]) -> str:
    if each.field == "lanes":
        return f"If lanes is not {each.value}: a vector type, or the fields lie elsewhere."
    layout = ""
    if each.field == "code":
        text = "the type code", "another family of types (0 int, 1 uint, 2 float, 4 bfloat, 6 bool)"
        if each.kind == "u16" and "bits" in values:
            both = each.value | values["bits"] << 8
            layout = (
                f" If it reads {both} ({both:#06x}), the array's DLDataType is narrower than "
                "this code was compiled for: code and bits are read as one number."
            )
    else:
        text = "bits", "another width"
        if each.kind == "u8":
            layout = (
                " If it reads 0, the array's DLDataType is wider than this code was compiled for."
            )
    return f"If {text[0]} is not {each.value}: {text[1]}.{layout}"


_NUMBERED = re.compile(r"arg(\d{1,4})")


def which_argument(facts: Mapping[str, str]) -> list[str]:
    """Return a sentence on the argument, or nothing where the message does not tell.

    ``arg0`` is by position and names no function @ v0.5 to v0.10; ``pad.var_A`` names function and
    parameter from v0.11 on; from v0.24 on the message has the position and the signature.
    """
    name, index = facts.get("name", ""), facts.get("index")
    signature = facts.get("signature")
    if index is not None:
        of = f" of {signature}" if signature else ""
        return [f"It is argument {index}{of}, counted from 0; outputs are arguments too."]
    numbered = _NUMBERED.fullmatch(name)
    if numbered is not None:
        at = f"{name} is argument {numbered[1]} of the compiled function, counted from 0; outputs"
        return [f"{at} are arguments too. The message does not name the function."]
    function, dot, parameter = name.rpartition(".")
    if dot and function != "arg":
        return [f"It is the argument {parameter} of the function {function}."]
    return []


_NUMBER = re.compile(r"(?P<hex>0x(?:\\n|[ :\t])*)?(?P<digits>[0-9a-f]{1,8})", re.IGNORECASE)


def which_status(facts: Mapping[str, str]) -> list[str]:
    """Return a sentence on the number of an error, or nothing where it is not known."""
    told = _NUMBER.fullmatch(facts.get("status", ""))
    if told is None or not (told["hex"] or told["digits"].isdecimal()):
        return []
    number = int(told["digits"], 16 if told["hex"] else 10)
    meant = STATUSES.get(number)
    return [f"{number:#x} is {meant}"] if meant else []
