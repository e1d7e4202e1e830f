"""Lines of hex dumps: an address, groups of digits, and letters that are no digits."""

from __future__ import annotations

import re
from typing import NamedTuple

from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.text import one_line

_ADDRESS = re.compile(r"\s*(0x)?([0-9a-fA-F`]{1,17})(\s?<[^>\n]{0,400}>)?(:)?(\s+|$)")
_GROUP = re.compile(r"(0x)?((?:[0-9a-fA-F]{2}){1,16})")
_PROMPTS = ("(gdb)", "(lldb)", "$", ">>>", "#", "%", "kd>")
_LONGEST_LINE = 1 << 14
_SHOWN = 40


class DumpLine(NamedTuple):
    """One line of a dump.

    Attributes
    ----------
    number : int
        Counted from 1.
    address : str or None
        Its digits; whether they are octal is told by several lines.
    groups : tuple of str
        Digits of each group.
    words : bool
        Whether a group is a word of the machine rather than bytes as they lie.
    repeats : bool
        Whether it stands for lines equal to the one before.
    form : str
        The tool that prints such lines.
    """

    number: int
    address: str | None
    groups: tuple[str, ...]
    words: bool
    repeats: bool
    form: str


def dump_lines(text: str, name: str) -> list[DumpLine]:
    """Return the lines of a dump; those before and after it that are none are left out.

    Raises
    ------
    FormatError
        A line within the dump is none.
    """
    found: list[DumpLine] = []
    pending: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(_PROMPTS):
            continue
        own = _line(line, number)
        if own is None:
            if found and pending is None:
                pending = (number, stripped)
            continue
        if pending is not None:
            raise FormatError(
                "this line is no line of the dump around it",
                file=name,
                field=f"line {pending[0]}",
                expected="an address and hex digits",
                found=one_line(repr(pending[1][:_SHOWN])),
            )
        if own.groups or own.repeats or own.address is not None:
            found.append(own)
    return found


def _line(line: str, number: int) -> DumpLine | None:
    stripped = line.strip()
    if stripped == "*":
        return DumpLine(number, None, (), False, True, "hexdump")
    if len(line) > _LONGEST_LINE:
        return None
    match = _ADDRESS.match(line)
    if match is None:
        return None
    prefix, digits, symbol, colon, _ = match.groups()
    rest = line[match.end() :]
    if not colon and len(digits.replace("`", "")) < 6:
        return None
    ended = _without_letters(rest, has_colon=bool(colon) or "`" in digits)
    groups, prefixed = _groups(ended)
    if groups is None or (not groups and (prefix or colon)):
        return None
    wide = bool(groups) and len(groups[0]) > 2
    form = _form("|" in rest, bool(colon), bool(prefix or symbol), prefixed or "`" in digits, wide)
    words = wide and (prefixed or not colon)
    return DumpLine(number, digits.replace("`", ""), groups, words, False, form)


def _without_letters(rest: str, *, has_colon: bool) -> str:
    """Cut off the column of letters, which may look like digits."""
    for mark in ("|", ">"):
        before, found, _ = rest.partition(f" {mark}")
        if found:
            return before
    rest = rest.strip()
    dashed = re.search(r"[0-9a-fA-F]{2}-[0-9a-fA-F]{2} ", rest)
    if has_colon or dashed:
        rest = rest.partition("  ")[0]
    return rest.replace("-", " ") if dashed else rest


def _groups(text: str) -> tuple[tuple[str, ...] | None, bool]:
    """Return the groups of digits, None where something else stands among them."""
    found = []
    prefixed = False
    for word in text.split():
        match = _GROUP.fullmatch(word)
        if match is None:
            return None, False
        prefixed = prefixed or bool(match[1])
        found.append(match[2])
    return tuple(found), prefixed


def _form(piped: bool, colon: bool, debugger: bool, prefixed: bool, wide: bool) -> str:
    if piped:
        return "hexdump -C"
    if colon and debugger:
        return "gdb's x" if prefixed else "lldb's memory read"
    if colon:
        return "xxd, bytes as they lie" if wide else "xxd"
    if prefixed:
        return "WinDbg"
    return "words of hexdump or od" if wide else "od"
