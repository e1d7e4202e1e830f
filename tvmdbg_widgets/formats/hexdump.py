"""Memory or files printed as hex: the bytes, where they lay, and which tool printed them.

Forms: gdb ``x/…x``, lldb ``memory read``, WinDbg ``db``/``dd``/``dq``, ``xxd`` (also ``-p``),
``hexdump`` (also ``-C``), ``od -x`` and ``od -t x1``, Python's ``b'…'`` and ``bytes.hex()``, C
arrays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from tvmdbg_widgets.formats.hexdump_lines import DumpLine, dump_lines
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.text import one_line

ByteOrder = Literal["little", "big"]

#: Bytes that a dump may stand for, those of a ``*`` included.
_MOST_BYTES = 64 << 20
_LONGEST_GROUP = 16
#: Digits of an address of ``od`` and of plain ``hexdump``, which prints words of four digits alone.
_OD_DIGITS = 7
_HEXDUMP_WIDTH = 4
_SHOWN = 40
_HEX = re.compile(r"[0-9a-fA-F]+")
_ARRAY_ITEM = re.compile(r"(?:0x)?([0-9a-fA-F]{1,2})[uU]?")
_ESCAPES = {"n": 10, "r": 13, "t": 9, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8, "f": 12, "v": 11}


@dataclass(frozen=True)
class HexDump:
    """Bytes that were printed as hex.

    Attributes
    ----------
    data : bytes
    address : int or None
        Of the first byte, where the dump says it.
    form : str
        What it was taken for.
    """

    data: bytes
    address: int | None
    form: str

    def __repr__(self) -> str:
        where = "" if self.address is None else f" at {self.address:#x}"
        return f"<HexDump: {len(self.data):,} bytes{where}, read as {self.form}>"


def read_hexdump(
    text: str | bytes, *, order: ByteOrder = "little", words: bool | None = None, name: str = ""
) -> HexDump:
    """Read the bytes that a dump shows.

    Parameters
    ----------
    text : str or bytes
        What was printed. Lines that are no dump may stand before and after it.
    order : str
        Byte order of the machine, for dumps that show words of it: gdb's ``x/4xw``, plain
        ``hexdump``, ``dd``.
    words : bool or None
        Whether groups of more than two digits are words of the machine, or bytes as they lie.
        None goes by the form: ``xxd`` prints bytes in groups, but words with ``-e``.
    name : str
        What to call the text in messages.

    Raises
    ------
    FormatError
        The text shows no bytes, or not all of them in order.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    name = name or "hexdump"
    body = text.strip()
    if body[:2] in ("b'", 'b"') and body[-1:] == body[1] and len(body) > 2:
        return HexDump(_literal(body[2:-1], name), None, "Python bytes")
    if body.startswith("{") and "}" in body:
        return HexDump(_array(body[1 : body.index("}")], name), None, "C array")
    plain = "".join(body.split())
    if _HEX.fullmatch(plain) and _is_plain(body):
        return HexDump(_plain(plain, name), None, "plain hex")
    lines = dump_lines(text, name)
    if not lines:
        raise FormatError(
            "no bytes are shown here",
            file=name,
            expected="a dump of gdb, lldb, xxd, hexdump or od, or bytes as hex",
            found=one_line(repr(body[:_SHOWN])),
            hint="Paste the lines as printed, with their addresses, such as of `x/56xb &tensor`.",
        )
    return _joined(lines, order, words, name)


def _is_plain(body: str) -> bool:
    """Whether no word of a text can be an address: words of two digits, or lines of many."""
    words = body.split()
    pairs = all(len(word) == 2 for word in words)
    return pairs or all(len(line.split()) == 1 for line in body.splitlines() if line.strip())


def _plain(digits: str, name: str) -> bytes:
    if len(digits) % 2:
        raise FormatError(
            "half a byte is left over", file=name, expected="an even number of digits",
            found=len(digits),
        )  # fmt: skip
    return bytes.fromhex(digits)


def _array(body: str, name: str) -> bytes:
    found = bytearray()
    for index, item in enumerate(body.replace(",", " ").split()):
        match = _ARRAY_ITEM.fullmatch(item)
        if match is None:
            raise FormatError(
                "this is no byte of an array", file=name, field=f"item {index}",
                expected="such as 0x1f", found=one_line(repr(item[:_SHOWN])),
            )  # fmt: skip
        found.append(int(match[1], 16))
    return bytes(found)


def _literal(body: str, name: str) -> bytes:
    found = bytearray()
    at = 0
    while at < len(body):
        char = body[at]
        if char != "\\":
            if ord(char) > 0x7F:
                raise _wrong_escape(name, at, char)
            found.append(ord(char))
            at += 1
            continue
        kind = body[at + 1 : at + 2]
        digits = body[at + 2 : at + 4]
        if kind == "x" and len(digits) == 2 and _HEX.fullmatch(digits):
            found.append(int(digits, 16))
            at += 4
        elif kind in _ESCAPES:
            found.append(_ESCAPES[kind])
            at += 2
        elif kind and kind in "01234567":
            octal = re.match(r"[0-7]{1,3}", body[at + 1 : at + 4])
            number = octal[0] if octal else "0"
            found.append(int(number, 8) & 0xFF)
            at += 1 + len(number)
        else:
            raise _wrong_escape(name, at, body[at : at + 4])
    return bytes(found)


def _wrong_escape(name: str, at: int, found: str) -> FormatError:
    return FormatError(
        "this is no byte of a Python literal", file=name, offset=at + 2,
        expected="ASCII or an escape such as \\x1f", found=one_line(repr(found)),
    )  # fmt: skip


def _joined(lines: list[DumpLine], order: ByteOrder, words: bool | None, name: str) -> HexDump:
    """Put the bytes of all lines behind each other."""
    base = _base(lines, name)
    data = bytearray()
    first: int | None = None
    before = b""
    starred = False
    for line in lines:
        if line.repeats:
            starred = True
            continue
        own = b"".join(_group(group, line, order, words) for group in line.groups)
        address = None if line.address is None else int(line.address, base)
        if address is not None:
            if first is None:
                first = address - len(data)
            missing = address - first - len(data)
            if not line.groups and -_LONGEST_GROUP < missing < 0:
                # The last line tells the length; the word before it was filled up with zeros.
                del data[missing:]
                continue
            if missing and not (starred and missing > 0 and before):
                raise _jump(name, line, first + len(data), address)
            if missing > _MOST_BYTES - len(data):
                raise _too_long(name, line, missing)
            data += (before * (missing // len(before) + 1))[:missing] if missing else b""
        starred = False
        data += own
        before = own or before
        if len(data) > _MOST_BYTES:
            raise _too_long(name, line, len(data))
    return HexDump(bytes(data), first, lines[0].form)


def _group(digits: str, line: DumpLine, order: ByteOrder, words: bool | None) -> bytes:
    own = bytes.fromhex(digits)
    as_word = line.words if words is None else words
    return own[::-1] if as_word and order == "little" else own


def _base(lines: list[DumpLine], name: str) -> int:
    """``od`` counts in octal: by how far the second address is from the first."""
    told = [line for line in lines if line.address is not None]
    if len(told) < 2 or any(set(line.address or "") - set("01234567") for line in told):
        return 16
    size = sum(len(group) // 2 for group in told[0].groups)
    here, there = told[0].address or "0", told[1].address or "0"
    in_octal = int(there, 8) - int(here, 8)
    if lines[1].repeats and len(here) == _OD_DIGITS:
        width = len(told[0].groups[0]) if told[0].groups else 0
        if width == _HEXDUMP_WIDTH:
            raise FormatError(
                "the addresses may be octal or hexadecimal", file=name,
                field=f"line {told[1].number}", expected="a second line before the first *",
                found=told[1].address, hint="Print it without *: `od -v` or `hexdump -v`.",
            )  # fmt: skip
        return 8
    return 8 if in_octal == size != int(there, 16) - int(here, 16) else 16


def _jump(name: str, line: DumpLine, expected: int, found: int) -> FormatError:
    return FormatError(
        "the addresses do not follow each other", file=name, field=f"line {line.number}",
        expected=f"{expected:#x}", found=f"{found:#x}",
        hint="A line may be missing, or belong to another dump: decode each piece on its own.",
    )  # fmt: skip


def _too_long(name: str, line: DumpLine, size: int) -> FormatError:
    return FormatError(
        "the dump stands for more bytes than are read", file=name, field=f"line {line.number}",
        expected=f"at most {_MOST_BYTES:,}", found=f"{size:,}",
    )  # fmt: skip
