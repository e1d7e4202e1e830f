"""Bytes from printed dumps of memory: gdb, lldb, xxd, hexdump -C, or plain hex."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from tvmdbg_widgets.formats.tvm.times_text import decode
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, one_line
from tvmdbg_widgets.model.struct_layout import ByteOrder

_ADDRESSED = re.compile(r"\s*(?:(0x)([0-9a-fA-F]{1,16})(\s?<.*?>)?|([0-9a-fA-F]{6,16})):(?=\s|$)")
_BARE = re.compile(r"\s*([0-9a-fA-F]{6,16})(?=\s|$)")
_TOKEN = re.compile(r"\S+")
_GROUP = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2})+)")
_DIGITS = r"(?:0x)?[0-9a-fA-F]+"
_PROMPTS = ("(gdb)", "(lldb)", "$", ">>>", "#", "%")
#: gdb's text at the end of readable memory.
_UNREADABLE = "Cannot access memory"
#: Limits of characters, and of bytes of a dump with those of ``*``.
_MOST_CHARACTERS, _MOST_BYTES = 32 << 20, 64 << 20
_SHOWN = 40
_FILE = "hexdump"
_GDB, _LLDB, _XXD, _HEXDUMP = "gdb's x", "lldb's memory read", "xxd", "hexdump -C"


@dataclass(frozen=True)
class HexDump:
    """Bytes that were printed as hex."""

    data: bytes
    address: int | None
    form: str

    def __repr__(self) -> str:
        where = "" if self.address is None else f" at {self.address:#x}"
        return f"<HexDump: {counted(len(self.data), 'byte')}{where}, read as {self.form}>"


class _Line(NamedTuple):
    """One line of a dump; a ``*`` has no address."""

    number: int
    address: int | None
    groups: list[str]
    letters: str
    form: str


def read_hexdump(
    text: str | bytes, *, order: ByteOrder = "little", words: bool | None = None
) -> HexDump:
    """Read the bytes that a dump shows."""
    if len(text) > _MOST_CHARACTERS:
        raise FormatError(
            "the dump is too long", file=_FILE, expected=f"at most {_MOST_CHARACTERS:,} characters",
            found=f"{len(text):,}",
        )  # fmt: skip
    text = decode(text, _FILE)[0] if isinstance(text, bytes) else text.removeprefix("\ufeff")
    dump = _joined(_dump_lines(text), order, words) or _digits(text, order, words)
    if dump is not None:
        return dump
    raise FormatError(
        "no bytes are shown here", file=_FILE,
        expected="a dump of gdb, lldb, xxd or hexdump -C, or bytes as hex",
        found=one_line(repr(text.strip()[:_SHOWN])),
        hint="Paste the lines as printed, with their addresses, such as of `x/56xb &tensor`; dumps "
        "of other tools can be printed again with `xxd` or `hexdump -C`.",
    )  # fmt: skip


def _dump_lines(text: str) -> list[_Line]:
    """Return the lines of a dump from its first address on."""
    lines: list[_Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(_PROMPTS):
            continue
        own = _line(line, number, _HEXDUMP if lines and lines[-1].form == _HEXDUMP else "")
        if own is None and lines and _UNREADABLE not in line:
            raise FormatError(
                "this line is no line of the dump around it", file=_FILE, field=f"line {number}",
                expected="an address and hex digits", found=one_line(repr(stripped[:_SHOWN])),
            )  # fmt: skip
        if own is not None and (lines or own.groups):
            lines.append(own)
    return lines


def _line(line: str, number: int, before: str) -> _Line | None:
    if line.strip() == "*":
        return _Line(number, None, [], "", before)
    match = _ADDRESSED.match(line)
    if match and _UNREADABLE not in line:
        is_gdb = match[3] or line.startswith("\t", match.end())
        form = _XXD if match[4] else _GDB if is_gdb else _LLDB
        groups, end = _groups(line, match.end(), number, len(line))
        return _Line(number, int(match[2] or match[4], 16), groups, line[end:].strip(), form)
    if match := _BARE.match(line):
        ended, mark = line.rstrip(), line.find("|", match.end())
        if mark >= 0 and ended.endswith("|", mark + 1):
            groups, _ = _groups(line, match.end(), number, mark)
            letters = ended[mark + 1 : -1]
            return _Line(number, int(match[1], 16), groups, letters, _HEXDUMP)
        # hexdump ends with the address behind the last byte.
        if before and match.end() == len(ended):
            return _Line(number, int(match[1], 16), [], "", before)
    return None


def _groups(line: str, at: int, number: int, end: int) -> tuple[list[str], int]:
    """Return the groups of digits from a column on, and their end; letters have a gap."""
    groups: list[str] = []
    size, before, stop = 0, at, min(end, len(line.rstrip()))
    for token in _TOKEN.finditer(line, at, end):
        if (
            groups
            and token.start() - before > 1
            and stop - token.start() <= size
            and end == len(line)
        ):
            return groups, token.start()
        match = _GROUP.fullmatch(token[0])
        if match is None:
            raise _wrong_digits(number, token)
        groups.append(match[1])
        size += len(match[1]) // 2
        before = token.end()
    return groups, end


def _wrong_digits(number: int, token: re.Match[str]) -> FormatError:
    return FormatError(
        "these are not the hex digits of complete bytes", file=_FILE,
        field=f"line {number}, column {token.start() + 1}",
        expected="two digits for each byte", found=one_line(repr(token[0][:_SHOWN])),
    )  # fmt: skip


def _joined(lines: list[_Line], order: ByteOrder, words: bool | None) -> HexDump | None:
    """Return the bytes of all lines at their addresses."""
    if not lines:
        return None
    form, first = lines[0].form, lines[0].address or 0
    # Debuggers print words of the machine; of xxd, `-e` alone prints words, which it turns always.
    as_words = form in (_GDB, _LLDB) if words is None else words
    turned = as_words and form != _HEXDUMP and (order == "little" or form == _XXD)
    data, before, starred = bytearray(), b"", False
    for line in lines:
        if line.address is None:
            starred = True
            continue
        missing = line.address - first - len(data)
        if missing and not (
            starred and missing > 0 and before and not (line.groups and missing % len(before))
        ):
            raise FormatError(
                "the addresses do not follow each other", file=_FILE, field=f"line {line.number}",
                expected=f"{first + len(data):#x}", found=f"{line.address:#x}",
                hint="A line may be missing, or be of another dump: decode each on its own.",
            )  # fmt: skip
        if len(data) + missing > _MOST_BYTES:
            raise FormatError(
                "the dump stands for more bytes than are read", file=_FILE,
                expected=f"at most {_MOST_BYTES:,}", found=f"{len(data) + missing:,}",
            )  # fmt: skip
        data += (before * (missing // len(before) + 1))[:missing] if missing else b""
        own = b"".join(bytes.fromhex(group)[:: -1 if turned else 1] for group in line.groups)
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in own)
        if line.letters and line.letters not in (shown, shown.strip()):
            raise FormatError(
                "the letters of this line are not those of its bytes", file=_FILE,
                field=f"line {line.number}", expected=one_line(repr(shown)),
                found=one_line(repr(line.letters[:_SHOWN])),
                hint="If `xxd -e` printed it, pass words=True (`--words`); else copy it again.",
            )  # fmt: skip
        data += own
        before, starred = own or before, False
    return HexDump(bytes(data), lines[0].address, form)


def _digits(text: str, order: ByteOrder, words: bool | None) -> HexDump | None:
    """Return bytes that are written as digits alone."""
    tokens: list[tuple[int, re.Match[str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        tokens += [(number, token) for token in re.finditer(r"[^\s,;]+", line)]
    if not tokens or not re.fullmatch(_DIGITS, tokens[0][1][0]):
        return None
    prefixed = any(token[0].startswith("0x") for _, token in tokens)
    several = prefixed or len({number for number, _ in tokens}) < len(tokens)
    for number, token in tokens:
        if not re.fullmatch(_DIGITS, token[0]) or (several and len(token[0]) % 2):
            raise _wrong_digits(number, token)
    groups = [token[0].removeprefix("0x") for _, token in tokens]
    if not several or all(len(group) == 2 for group in groups):
        digits = "".join(groups)
        if len(digits) % 2:
            raise FormatError(
                "half a byte is left over", file=_FILE, expected="an even number of digits",
                found=len(digits),
            )  # fmt: skip
        return HexDump(bytes.fromhex(digits), None, "plain hex")
    if words is None and not prefixed:
        raise FormatError(
            "the groups of digits may be words of the machine, or bytes as they lie", file=_FILE,
            expected="addresses, or groups of two digits", found=one_line(repr(groups[0][:_SHOWN])),
            hint="Say which: words=True or words=False; `--words` or `--bytes` in a shell.",
        )  # fmt: skip
    as_words = prefixed if words is None else words
    step = -1 if as_words and order == "little" else 1
    data = b"".join(bytes.fromhex(group)[::step] for group in groups)
    return HexDump(data, None, "words" if as_words else "plain hex")
