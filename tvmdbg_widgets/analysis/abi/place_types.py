"""The types that lines of source give to code, bits and lanes of ``DLDataType``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tvmdbg_widgets.analysis.abi.places import Style


class FieldType(NamedTuple):
    """One statement about a field.

    Attributes
    ----------
    field : str
        ``"code"``, ``"bits"``, ``"lanes"`` or ``"padding"``.
    kind : str
        ``"u16"``; ``"16"`` where the sign is not said; ``"same"`` where it is taken from the
        struct by ``decltype``.
    line : int
        Counted from 1.
    text : str
        The line.
    """

    field: str
    kind: str
    line: int
    text: str


_INT = r"(?:std::)?(u?int(?:8|16|32|64))_t"
_MEMBER = re.compile(rf"\b{_INT}\s+(code|bits|lanes)\b\s*(?:;|$|#)")
_CAST = re.compile(
    rf"(?:data_|dtype)\.(code|bits|lanes)\s*=\s*static_cast<\s*(?:{_INT}|(decltype)\b[^>]*)\s*>"
)
_HANDLER = re.compile(
    rf"Handler<\s*(?:{_INT}|(decltype)\b[^>]*)\s*>::(?:Write|Read)\("
    r"\s*strm\s*,\s*&?\(?\s*dtype(?:\.|->)(code|bits|lanes)"
)
_CTYPE = re.compile(
    r"\(\s*[\"'](type_code|code|bits|lanes)[\"']\s*,\s*ctypes\.c_(u?int\d{1,2})\s*\)"
)
_LLVM = re.compile(
    r"StructType::create\(\s*\{\s*t_int(\d{1,2})_\s*,\s*t_int(\d{1,2})_\s*,\s*t_int(\d{1,2})_\s*\}"
)
_KIND = re.compile(r"\bk(?:Arr|DLTensor)Type(Code|Bits|Lanes)\b")
_WIDTH = re.compile(r"\b(UInt|Int)\(\s*(\d{1,3})\s*\)")
_DTYPE_CASE = re.compile(r"\bcase\s+(?:\w+::){0,3}k(?:TVMDataType|TVMType|TVMFFIDataType)\s*:")
_PADDING = re.compile(r"(?:Write|Read)\s*<\s*(u?int\d{1,2})_t\s*>\s*\(\s*&?padding")
_ANY_PADDING = re.compile(r"\bpadding\b")
#: Lines behind a case, or behind a kind, that belong to it.
_REACH = 6
_LONGEST_LINE = 2000


def field_types(text: str, style: Style) -> list[FieldType]:
    """Return what a file says of the fields, in the order of its lines.

    Lines beyond 2,000 characters are not looked at.
    """
    lines = [line if len(line) <= _LONGEST_LINE else "" for line in text.splitlines()]
    code = [_without_comment(line, style) for line in lines]
    found = {
        "members": _members,
        "casts": _casts,
        "handlers": _handlers,
        "ctypes": _ctypes,
        "llvm": _llvm,
        "intrinsics": _intrinsics,
        "padding": _padding,
    }[style](code)
    return [FieldType(field, kind, at + 1, lines[at].strip()) for field, kind, at in found]


def _without_comment(line: str, style: Style) -> str:
    mark = "#" if style == "ctypes" else "//"
    before = line.partition(mark)[0]
    return "" if before.lstrip().startswith("*") else before


def _short(word: str) -> str:
    return word.replace("uint", "u").replace("int", "i")


def _members(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """Yield the fields of the struct alone: three that follow each other."""
    found = [
        (match[2], _short(match[1]), at)
        for at, line in enumerate(lines)
        for match in _MEMBER.finditer(line)
    ]
    for at in range(len(found) - 2):
        if [each[0] for each in found[at : at + 3]] == ["code", "bits", "lanes"]:
            yield from found[at : at + 3]
            return
    for at in range(len(found) - 2):
        if {each[0] for each in found[at : at + 3]} == {"code", "bits", "lanes"}:
            yield from found[at : at + 3]
            return


def _casts(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    for at, line in enumerate(lines):
        for match in _CAST.finditer(line):
            yield match[1], _short(match[2]) if match[2] else "same", at


def _handlers(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    for at, line in enumerate(lines):
        for match in _HANDLER.finditer(line):
            yield match[3], _short(match[1]) if match[1] else "same", at


def _ctypes(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    for at, line in enumerate(lines):
        for match in _CTYPE.finditer(line):
            yield match[1].removeprefix("type_"), _short(match[2]), at


def _llvm(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    for at, line in enumerate(lines):
        match = _LLVM.search(" ".join(lines[at : at + 2]))
        if match is not None and "StructType::create" in line:
            yield from zip(("code", "bits", "lanes"), match.groups(), (at, at, at), strict=True)


def _intrinsics(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """Yield the widths that are written around ``kArrTypeCode`` and its kin.

    A comparison has two, of both operands: before the kind, and behind it up to the next kind.
    """
    kinds = [
        (match[1].lower(), at, match.start(), match.end())
        for at, line in enumerate(lines)
        for match in _KIND.finditer(line)
    ]
    for index, (field, at, start, end) in enumerate(kinds):
        before = lines[at][:start]
        if index and kinds[index - 1][1] == at:
            before = lines[at][kinds[index - 1][3] : start]
        own = _WIDTH.findall(before)[-1:]
        stop = kinds[index + 1][1] if index + 1 < len(kinds) else at + _REACH
        behind = [lines[at][end:], *lines[at + 1 : min(stop, at + _REACH)]]
        for offset, rest in enumerate(behind):
            widths = _WIDTH.findall(rest)[:1]
            if widths:
                yield from ((field, _of(width), at) for width in own)
                yield field, _of(widths[0]), at + offset
                break
            if offset and _ends(rest):
                break
        else:
            yield from ((field, _of(width), at) for width in own)


def _of(width: tuple[str, str]) -> str:
    return f"{'u' if width[0] == 'UInt' else 'i'}{width[1]}"


def _ends(line: str) -> bool:
    return line.rstrip().endswith(";")


def _padding(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """Yield the padding behind each data type, ``"none"`` where a case has none."""
    for at, line in enumerate(lines):
        if not _DTYPE_CASE.search(line):
            continue
        inside = lines[at + 1 : at + 1 + _REACH]
        stop = next(
            (n for n, each in enumerate(inside) if "break" in each or "case " in each), None
        )
        inside = inside[:stop]
        if not any(re.search(r"\b(?:Write|Read)\b", each) for each in inside):
            continue
        for offset, each in enumerate(inside):
            match = _PADDING.search(each)
            if match:
                yield "padding", _short(match[1]), at + 1 + offset
                break
        else:
            unknown = any(_ANY_PADDING.search(each) for each in inside)
            yield "padding", "unknown" if unknown else "none", at
