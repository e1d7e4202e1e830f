"""Types that source lines give to code, bits and lanes of ``DLDataType``."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from tvmdbg_widgets.analysis.abi.places import Style


class FieldType(NamedTuple):
    """A statement about a field in source code."""

    field: str
    kind: str
    line: int
    text: str


_SpelledField = tuple[str, str, int]  # field, spelled type, and position in the text

_FIELDS = r"(code|bits|lanes)"
_INT = (
    r"((?:std::)?u?int(?:8|16|32|64)_t|unsigned\s(?:char|short|int)|unsigned|signed\schar"
    r"|short|int)"
)
_SPELLED = {
    "unsigned char": "u8", "signed char": "i8", "unsigned short": "u16", "short": "i16",
    "unsigned int": "u32", "unsigned": "u32", "int": "i32",
    "c_ubyte": "u8", "c_byte": "i8", "c_ushort": "u16", "c_short": "i16", "c_uint": "u32",
    "c_int": "i32", "UInt": "u", "Int": "i",
}  # fmt: skip
_MEMBER = re.compile(rf"\b{_INT}\s+{_FIELDS}\b(?=\s*(?:;|\n|$))")
_SAME = r"decltype\s*\([^()\n]*\)"
_CAST = re.compile(rf"static_cast<\s*(?:{_INT}|({_SAME}))\s*>\(([^()\n]*)")
_ASSIGNED = re.compile(rf"([.\s]){_FIELDS}\s*=(?!=)")
_OPERAND = re.compile(rf"\s*-?(?:\w+ \* )?(?:\w+_)?{_FIELDS}(?:_val)?\s*")
_HANDLER = re.compile(
    rf"(?:Handler|Serializer)<\s*(?:{_INT}|({_SAME}))\s*>::(?:Write|Read)\("
    rf"\s*strm\s*,\s*+&?\(?\s*+dtype(?:\.|->){_FIELDS}"
)
_CTYPE = re.compile(
    r"\(\s*[\"'](?:type_)?(code|bits|lanes)[\"']\s*,\s*"
    r"(?:ctypes\.)?(c_(?:u?int\d{1,2}|u?byte|u?short|u?int))\s*\)"
)
_STRUCT = re.compile(r"StructType::create\(\s*\{([^{}]*)\}")
_STRUCT_MEMBER = re.compile(rf"t_int(\d{{1,2}})_|sizeof\(\s*DLDataType::{_FIELDS}")
_STRUCT_OTHER = re.compile(r"\bt_(?!int\d)\w+_\b")
_KIND = re.compile(r"\bk(?:Arr|DLTensor)Type(Code|Bits|Lanes)\b")
_WIDTH = re.compile(r"\b(UInt|Int)\(\s*(\d{1,3})\s*\)|\b(decltype|sizeof)\(\s*DLDataType::")
_CASE = re.compile(r"\bcase\s+(?:\w+::){0,3}(\w+)\s*:")
_DTYPE_CASES = frozenset({"kTVMDataType", "kTVMType", "kTVMFFIDataType"})
_PADDING = re.compile(r"(?:Write|Read)\s*<\s*(u?int\d{1,2}_t)\s*>\s*\(\s*&?padding")
_MOVES = re.compile(r"\b(?:Write|Read)\b")
_REACH = 600  # characters that belong to a case, or to a kind on either side
_LONGEST_LINE = 2000
_C_NOISE = re.compile(r"//[^\n]*|/\*(?:.*?\*/|.*)|\"(?:[^\"\\\n]|\\.)*\"?", re.DOTALL)
_PYTHON_NOISE = re.compile(r"#[^\n]*")


def field_types(text: str, style: Style, *, python: bool = False) -> list[FieldType]:
    """Return a file's statements about the fields, in text order."""
    lines = text.split("\n")
    kept = "\n".join(line if len(line) <= _LONGEST_LINE else "" for line in lines)
    code = (_PYTHON_NOISE if python else _C_NOISE).sub(_blanked_lines, kept)
    starts = [0]
    for line in code.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    types = []
    for field, kind, at in sorted(_READERS[style](code), key=lambda each: each[2]):
        number = bisect_right(starts, at)
        types.append(FieldType(field, kind, number, lines[number - 1].strip()))
    return types


def _blanked_lines(match: re.Match[str]) -> str:
    return ('""' if match[0][0] == '"' else "") + "\n" * match[0].count("\n")


def _short(spelled: str) -> str:
    words = " ".join(spelled.split()).removeprefix("std::")
    return _SPELLED.get(words) or words.removeprefix("c_").removesuffix("_t").replace(
        "uint", "u"
    ).replace("int", "i")


def _members(code: str) -> Iterator[_SpelledField]:
    fields = [(match[2], _short(match[1]), match.start()) for match in _MEMBER.finditer(code)]
    for at in range(len(fields) - 2):
        if {each[0] for each in fields[at : at + 3]} == {"code", "bits", "lanes"}:
            yield from fields[at : at + 3]
            return


def _casts(code: str) -> Iterator[_SpelledField]:
    for match in _CAST.finditer(code):
        reach = max(0, match.start() - _REACH)
        begin = max(code.rfind(mark, reach, match.start()) for mark in ";{}")
        assigned = _ASSIGNED.search(code, max(begin, reach), match.start())
        operand = _OPERAND.fullmatch(match[3])
        if match[1] and not match[1].endswith("_t"):
            # `static_cast<int>(type_code)` prints it; only values stored in the struct count.
            operand = None
            assigned = assigned if assigned and assigned[1] == "." else None
        field = assigned[2] if assigned else operand[1] if operand else None
        if field is not None:
            yield field, "same" if match[2] else _short(match[1]), match.start()


def _handlers(code: str) -> Iterator[_SpelledField]:
    for match in _HANDLER.finditer(code):
        yield match[3], "same" if match[2] else _short(match[1]), match.start()


def _ctypes(code: str) -> Iterator[_SpelledField]:
    for match in _CTYPE.finditer(code):
        yield match[1], _short(match[2]), match.start()


def _llvm_structs(code: str) -> Iterator[_SpelledField]:
    for match in _STRUCT.finditer(code):
        inside = match[1]
        types = list(_STRUCT_MEMBER.finditer(inside)) if len(inside) <= _REACH else []
        if len(types) == 3 and not _STRUCT_OTHER.search(inside):
            for field, spelled in zip(("code", "bits", "lanes"), types, strict=True):
                yield field, spelled[1] or "same", match.start(1) + spelled.start()


def _intrinsics(code: str) -> Iterator[_SpelledField]:
    kinds = list(_KIND.finditer(code))
    for index, kind in enumerate(kinds):
        field = kind[1].lower()
        begin = code.rfind("\n", 0, kind.start()) + 1
        before = kinds[index - 1].end() if index else 0
        own = list(_WIDTH.finditer(code, max(begin, before, kind.start() - _REACH), kind.start()))
        end = kinds[index + 1].start() if index + 1 < len(kinds) else len(code)
        end = min(end, kind.end() + _REACH)
        stop = code.find(";", kind.end(), end)
        behind = _WIDTH.search(code, kind.end(), end if stop < 0 else stop)
        for width in [*own[-1:], *([behind] if behind else [])]:
            kind_word = "same" if width[3] else f"{_SPELLED[width[1]]}{width[2]}"
            yield field, kind_word, width.start()


def _case_padding(code: str) -> Iterator[_SpelledField]:
    cases = list(_CASE.finditer(code))
    for index, case in enumerate(cases):
        if case[1] not in _DTYPE_CASES:
            continue
        end = cases[index + 1].start() if index + 1 < len(cases) else len(code)
        end = min(end, case.end() + _REACH)
        stop = code.find("break", case.end(), end)
        inside = code[case.end() : end if stop < 0 else stop]
        if not _MOVES.search(inside):
            continue
        match = _PADDING.search(inside)
        if match is not None:
            yield "padding", _short(match[1]), case.end() + match.start()
        elif "sizeof(DLDataType)" in inside:
            yield "padding", "same", case.end() + inside.index("sizeof(DLDataType)")
        else:
            yield "padding", "unknown" if "padding" in inside else "none", case.start()


_READERS = {
    "members": _members,
    "casts": _casts,
    "handlers": _handlers,
    "ctypes": _ctypes,
    "llvm": _llvm_structs,
    "intrinsics": _intrinsics,
    "padding": _case_padding,
}
