"""Lines of hex dumps: an address, groups of digits, and letters that are no digits."""

from __future__ import annotations

import re
from typing import NamedTuple

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.text import one_line

_DEBUGGER = re.compile(r"\s*0x([0-9a-fA-F]{1,16})(\s?<.*?>)?:(?=\s|$)")
_XXD = re.compile(r"\s*([0-9a-fA-F]{6,16}):(?=\s|$)")
_WINDBG = re.compile(r"\s*([0-9a-fA-F]{8}`[0-9a-fA-F]{8})(?=\s|$)")
_BARE = re.compile(r"\s*([0-9a-fA-F]{6,16})(?=\s|$)")
_TOKEN = re.compile(r"\S+")
_GROUP = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2})+)")
_OCTAL = re.compile(r"[0-7]{3}|[0-7]{6}")
_PROMPTS = ("(gdb)", "(lldb)", "$", ">>>", "#", "%", "kd>")
#: What gdb prints behind the address where memory ends.
_UNREADABLE = "Cannot access memory"
_LONGEST_LINE = 1 << 14
#: Addresses of ``od`` and of plain ``hexdump`` have seven digits, with ``od -A x`` six.
_OD_DIGITS = 7
#: Bytes to a line of WinDbg.
_WINDBG_BYTES = 16
SHOWN = 40


class DumpLine(NamedTuple):
    """One line of a dump."""

    number: int
    address: str | None
    groups: tuple[str, ...]
    letters: str
    form: str

    @property
    def repeats(self) -> bool:
        """Whether it stands for lines equal to the one before."""
        return self.address is None

    @property
    def size(self) -> int:
        """Bytes that it shows."""
        return sum(map(len, self.groups)) // 2

    @property
    def width(self) -> int:
        """Bytes of a whole group."""
        return len(self.groups[0]) // 2 if self.groups else 0


class WrongDigitsError(Exception):
    """A line has a word that is no hex, at a column counted from 1."""

    def __init__(self, column: int, found: str, problem: str = "") -> None:
        super().__init__()
        self.column = column
        self.found = found
        self.problem = problem


def dump_lines(text: str, name: str) -> list[DumpLine]:
    """Return the lines of a dump; those before and after it that are none are left out."""
    found: list[DumpLine] = []
    pending: tuple[int, str] | None = None
    digits = 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(_PROMPTS):
            continue
        try:
            own = _line(line, stripped, number, name)
        except WrongDigitsError as wrong:
            if _is_addressed(line, digits):
                raise wrong_digits(name, number, wrong) from None
            own = None
        if own is None:
            if found and _ends_in_digits(stripped, found[-1]):
                raise _no_line(name, number, stripped)
            if found and pending is None:
                pending = (number, stripped)
            continue
        if pending is not None:
            raise _no_line(name, *pending)
        found.append(own)
        digits = len(own.address or "") or digits
    return found


def _is_addressed(line: str, digits: int) -> bool:
    """Whether a line begins with an address: a debugger's, or one as long as those before."""
    match = _XXD.match(line) or _WINDBG.match(line) or _BARE.match(line)
    return bool(_DEBUGGER.match(line)) or (match is not None and len(match[1]) == digits)


def wrong_digits(name: str, number: int, wrong: WrongDigitsError) -> FormatError:
    """Return the error for a word that is no hex."""
    return FormatError(
        wrong.problem or "these are no hex digits of whole bytes", file=name,
        field=f"line {number}, column {wrong.column}",
        expected="two digits for each byte", found=one_line(repr(wrong.found[:SHOWN])),
    )  # fmt: skip


def _no_line(name: str, number: int, found: str) -> FormatError:
    return FormatError(
        "this line is no line of the dump around it", file=name, field=f"line {number}",
        expected="an address and hex digits", found=one_line(repr(found[:SHOWN])),
    )  # fmt: skip


def _ends_in_digits(line: str, before: DumpLine) -> bool:
    """Whether the address alone of a line is damaged."""
    words = line.split(maxsplit=2)
    match = _GROUP.fullmatch(words[1]) if len(words) > 1 else None
    return match is not None and len(match[1]) == 2 * before.width


def _line(line: str, stripped: str, number: int, name: str) -> DumpLine | None:
    if stripped == "*":
        return DumpLine(number, None, (), "", "hexdump")
    if len(line) > _LONGEST_LINE:
        return None
    if match := _DEBUGGER.match(line):
        if line[match.end() :].strip().startswith(_UNREADABLE):
            return None
        groups, letters = _columns(line, match.end())
        is_gdb = match[2] or line[match.end() :].startswith("\t")
        form = "gdb's x" if is_gdb else "lldb's memory read"
        return DumpLine(number, match[1], groups, letters, form) if groups else None
    if match := _XXD.match(line):
        groups, letters = _columns(line, match.end())
        return DumpLine(number, match[1], groups, letters, "xxd") if groups else None
    if match := _WINDBG.match(line):
        groups, letters = _columns(line, match.end(), checked=True)
        return DumpLine(number, match[1], groups, letters, "WinDbg") if groups else None
    match = _BARE.match(line)
    return None if match is None else _bare(line, match, number, name)


def _bare(line: str, match: re.Match[str], number: int, name: str) -> DumpLine | None:
    """Read a line whose address has no mark: of od, hexdump, or WinDbg on 32 bits."""
    address = match[1]
    try:
        between = _between_marks(line, match.end())
    except WrongDigitsError as wrong:
        try:
            groups, letters = _columns(line, match.end(), checked=True)
        except WrongDigitsError:
            raise wrong from None
        return DumpLine(number, address, groups, letters, "WinDbg")
    if between is not None:
        groups, form = between
        return DumpLine(number, address, groups, "", form)
    rest = line[match.end() :]
    if len(address) <= _OD_DIGITS or not rest.startswith("  "):
        words = rest.split()
        if words and all(map(_OCTAL.fullmatch, words)):
            raise FormatError(
                "these numbers may be octal", file=name, field=f"line {number}",
                expected="hex digits", found=one_line(repr(words[0])),
                hint="Print bytes: `od -t x1`, or `hexdump -C`.",
            )  # fmt: skip
        groups = _groups(line, match.end(), len(line))
        if groups and all(len(group) == len(address) for group in groups):
            return None
        wide = bool(groups) and len(groups[0]) > 2
        return DumpLine(number, address, groups, "", "words of hexdump or od" if wide else "od")
    groups, letters = _columns(line, match.end(), checked=True)
    return DumpLine(number, address, groups, letters, "WinDbg" if groups else "hexdump -C")


def _between_marks(line: str, begin: int) -> tuple[tuple[str, ...], str] | None:
    """Return the groups before letters that stand between marks, None where none do."""
    ended = line.rstrip()
    for opening, closing, form in ((" |", "|", "hexdump -C"), (" >", "<", "od")):
        at = line.find(opening, begin)
        if at < 0 or not ended.endswith(closing) or len(ended) < at + 3:
            continue
        groups = _groups(line, begin, at)
        if len(ended) - at - 3 != sum(map(len, groups)) // 2:
            raise WrongDigitsError(
                at + 2, ended[at + 1 :], "these letters are not one for each byte"
            )
        return groups, form
    return None


def _groups(line: str, at: int, end: int) -> tuple[str, ...]:
    return tuple(_group(each[0], each.start()) for each in _TOKEN.finditer(line, at, end))


def _columns(line: str, at: int, *, checked: bool = False) -> tuple[tuple[str, ...], str]:
    """Return the groups of digits behind an address, and the letters behind those.

    Letters are never more than the bytes, which tells them from digits behind a wider gap.
    """
    groups: list[str] = []
    size = 0
    end = len(line.rstrip())
    before = at
    for token in _TOKEN.finditer(line, at, end):
        gap = token.start() - before
        if groups and gap > 1 and end - token.start() <= size:
            letters = line[token.start() : end]
            if not checked or (size <= _WINDBG_BYTES and _are_letters(letters, groups)):
                return tuple(groups), letters
        parts = token[0].replace("`", "").split("-") if checked else [token[0]]
        for part in parts:
            groups.append(_group(part, token.start()))
            size += len(groups[-1]) // 2
        before = token.end()
    return tuple(groups), ""


def _group(word: str, at: int) -> str:
    match = _GROUP.fullmatch(word)
    if match is None:
        raise WrongDigitsError(at + 1, word)
    return match[1]


def _are_letters(letters: str, groups: list[str]) -> bool:
    lying = b"".join(map(bytes.fromhex, groups))
    words = b"".join(bytes.fromhex(group)[::-1] for group in groups)
    return letters in (shown_as(lying).strip(), shown_as(words).strip())


def shown_as(data: bytes) -> str:
    """Return bytes as tools print them as letters: a dot for what is no letter of ASCII."""
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)
