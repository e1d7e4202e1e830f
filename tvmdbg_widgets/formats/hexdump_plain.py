"""Bytes written as hex without addresses: Python's ``b'…'``, C arrays, digits alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.hexdump_lines import SHOWN, WrongDigitsError, wrong_digits
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from tvmdbg_widgets.model.abi.struct_layout import ByteOrder

_HEX = re.compile(r"[0-9a-fA-F]+")
_LITERAL = re.compile(r"(?:bytearray\(|bytes\(|\()?\s*b['\"]")
_BETWEEN = re.compile(r"[\s()]*(?:b(['\"])|$)")
_DECLARED = re.compile(r"(?:[A-Za-z_][\w\s*]*\[\w*\]\s*=\s*)?\{")
_TOKEN = re.compile(r"[^\s,;]+")
_ITEM = re.compile(r"(0x)?([0-9a-fA-F]+)")
_ARRAY_ITEM = re.compile(r"0x([0-9a-fA-F]{1,16})[uUlL]{0,3}|(0)")
_ESCAPES = {"n": 10, "r": 13, "t": 9, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8, "f": 12, "v": 11}
_WORD_DIGITS = (2, 4, 8, 16)


def literal(body: str, name: str) -> bytes | None:
    """Return the bytes of Python literals, None where there are none."""
    if not _LITERAL.match(body):
        return None
    found = bytearray()
    at = 1 if body.startswith("(") else body.index("(") + 1 if body.startswith("byte") else 0
    while between := _BETWEEN.match(body, at):
        at = between.end()
        if between[1] is None:
            return bytes(found)
        at = _one_literal(body, at, between[1], found, name)
    raise _wrong_escape(name, at, body[at : at + 4])


def _one_literal(body: str, at: int, quote: str, found: bytearray, name: str) -> int:
    """Read up to the closing quote; return where it ends."""
    while at < len(body):
        char = body[at]
        if char == quote:
            return at + 1
        kind, digits = body[at + 1 : at + 2], body[at + 2 : at + 4]
        if char != "\\":
            if ord(char) > 0x7F:
                raise _wrong_escape(name, at, char)
            found.append(ord(char))
            at += 1
        elif kind == "x" and len(digits) == 2 and _HEX.fullmatch(digits):
            found.append(int(digits, 16))
            at += 4
        elif kind in _ESCAPES:
            found.append(_ESCAPES[kind])
            at += 2
        elif octal := re.match(r"[0-7]{1,3}", body[at + 1 : at + 4]):
            found.append(int(octal[0], 8) & 0xFF)
            at += 1 + len(octal[0])
        else:
            raise _wrong_escape(name, at, body[at : at + 4])
    raise FormatError(
        "the Python literal does not end", file=name, expected=quote, found="the end of the text"
    )


def _wrong_escape(name: str, at: int, found: str) -> FormatError:
    return FormatError(
        "this is no byte of a Python literal", file=name, offset=at,
        expected="ASCII or an escape such as \\x1f", found=one_line(repr(found)),
    )  # fmt: skip


def array(body: str, order: ByteOrder, name: str) -> tuple[bytes, str] | None:
    """Return the bytes of a C array, as of ``xxd -i``, and of what; None where there is none."""
    opening = _DECLARED.match(body)
    if opening is None:
        return None
    ended = body.find("}", opening.end())
    if ended < 0:
        raise FormatError("the array does not end", file=name, expected="}", found="no such letter")
    found: list[str] = []
    digits = 2
    for index, token in enumerate(_TOKEN.finditer(body, opening.end(), ended)):
        match = _ARRAY_ITEM.fullmatch(token[0])
        item = "" if match is None else match[1] or "0"
        digits = len(item) if not found and len(item) in _WORD_DIGITS else digits
        if not item or (len(item) != digits and len(item) > 2) or len(item) > digits:
            raise FormatError(
                "this is no item of an array in hex", file=name, field=f"item {index}",
                expected="such as 0x1f, or words of as many digits as the first",
                found=one_line(repr(token[0][:SHOWN])),
            )  # fmt: skip
        found.append(item)
    size = digits // 2
    form = "C array of bytes" if size == 1 else f"C array of words of {counted(size, 'byte')}"
    return b"".join(int(item, 16).to_bytes(size, order) for item in found), form


def digits_alone(
    body: str, order: ByteOrder, words: bool | None, name: str
) -> tuple[bytes, str] | None:
    """Return bytes that are written as digits alone, and the dialect; else None."""
    groups: list[str] = []
    odd: FormatError | None = None
    prefixed = several = False
    for number, line in enumerate(body.splitlines(), 1):
        for index, token in enumerate(_TOKEN.finditer(line)):
            match = _ITEM.fullmatch(token[0])
            wrong = WrongDigitsError(token.start() + 1, token[0])
            if match is None or (match[1] and len(match[2]) not in _WORD_DIGITS):
                if not groups:
                    return None
                raise wrong_digits(name, number, wrong)
            if len(match[2]) % 2 and odd is None:
                odd = wrong_digits(name, number, wrong)
            several = several or index > 0
            prefixed = prefixed or bool(match[1])
            groups.append(match[2])
    if not groups:
        return None
    if (several or prefixed) and odd is not None:
        raise odd
    if prefixed or (several and any(len(group) > 2 for group in groups)):
        return _words(groups, True if words is None and prefixed else words, order, name)
    joined = "".join(groups)
    if len(joined) % 2:
        raise FormatError(
            "half a byte is left over", file=name, expected="an even number of digits",
            found=len(joined),
        )  # fmt: skip
    return bytes.fromhex(joined), "plain hex"


def _words(groups: list[str], words: bool | None, order: ByteOrder, name: str) -> tuple[bytes, str]:
    if words is None:
        raise FormatError(
            "the groups of digits may be words of the machine, or bytes as they lie", file=name,
            expected="addresses, or groups of two digits", found=one_line(repr(groups[0][:SHOWN])),
            hint="Say which: words=True or words=False; `--words` or `--bytes` in a shell.",
        )  # fmt: skip
    turned = words and order == "little"
    found = [bytes.fromhex(group)[::-1] if turned else bytes.fromhex(group) for group in groups]
    is_words = words and any(len(group) > 2 for group in groups)
    return b"".join(found), "words" if is_words else "plain hex"
