"""Texts as people paste them: out of consoles, CI logs, issues and spreadsheets.

What stands around a text is taken off, and told. Rows of a table are put together again only where
there is one way to do so; others are left out, and counted.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tvmdbg_widgets.formats.tvm.table.layout import TITLES
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.sources.byte_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tvmdbg_widgets.model.sources.byte_source import ByteSource

#: Larger files are not pasted.
_MOST_BYTES: Final = 8 << 20
_MOST_LITERAL: Final = 1 << 20
_MOST_JSON: Final = 50
_ROUNDS: Final = 4
#: Share of the lines that begin with what is taken off.
_COMMON: Final = 0.8

_ANSI: Final = re.compile(r"(?:\x1b|\^\[|\\x1b|\\033)\[[0-9;?]{0,20}[A-Za-z]")
_BLANKS: Final = str.maketrans(
    {**dict.fromkeys("\u00a0\u2007\u202f\u3000", " "), **dict.fromkeys("\u200b\u2060\ufeff", "")}
)
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
_FENCE: Final = re.compile(r"^[ \t]{0,8}(?:```|~~~)[^\n`]{0,80}$", re.MULTILINE)
_TIME: Final = r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?"
_DAY: Final = r"\d{4}[-/]\d\d[-/]\d\d[T ]"
#: What lines begin with, and what that is.
_PREFIXES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("quote marks", re.compile(r"[ \t]{0,8}> ?")),
    ("comment marks", re.compile(r"[ \t]{0,8}(?:#{1,3}|//|;|%) ?")),
    ("times of a CI log", re.compile(r"(?:[^\t\n]{1,80}\t){2}" + _DAY + _TIME + r"Z ?")),
    ("times", re.compile(r"\[?" + _DAY + _TIME + r"(?:Z|[+-]\d\d:?\d\d)?\]? ?(?=\S|$)")),
    ("times", re.compile(r"\[" + _TIME + r"\] ?")),
    ("a logger's heads", re.compile(r"[IWEFD]\d{4} " + _TIME + r" {1,8}\d{1,9} [^\s\]]{1,99}\] ?")),
    ("a logger's heads", re.compile(r"-? ?[\w.]{1,60} - (?:DEBUG|INFO|WARNING|ERROR) - ")),
    ("a logger's heads", re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]{1,60}:")),
    ("a logger's heads", re.compile(r"\[?(?:DEBUG|INFO|WARN|WARNING|ERROR)\]?:? ")),
    ("places in source files", re.compile(r"[\w./-]{1,120}\.(?:cc|cpp|h|py):\d{1,6}: ")),
    (
        "heads of logcat",
        re.compile(r"\d\d-\d\d " + _TIME + r" {1,5}\d+ {1,5}\d+ [VDIWEF] [^:\n]{1,60}: ?"),
    ),
    ("heads of logcat", re.compile(r"[VDIWEF]/[^(:\n]{1,60}\( {0,5}\d+\): ?")),
    ("names of containers", re.compile(r"[\w.-]{1,60} {1,20}\| ")),
    ("ranks", re.compile(r"\[\d+,\d+\]<std(?:out|err)>:")),
    ("marks of pytest", re.compile(r"E {3}")),
    ("prompts", re.compile(r"(?:>>>|\.\.\.|In \[\d+\]:|Out\[\d+\]:) ?")),
)
_OPENS: Final = re.compile(r"[{\[](?=\s{0,99}[\"{\[])")
#: Number of the process in a head of logcat, of either form.
_PROCESS: Final = re.compile(r"(?:\( {0,5}|\d {1,5})(\d+)(?:\)| )")
#: Of what Python prints of values: strings, numbers, constants, and what stands between them.
_TOKEN: Final = re.compile(
    r"(?:b?(?:'(?P<single>(?:[^'\\\n]|\\.)*)'|\"(?P<double>(?:[^\"\\\n]|\\.)*)\"))"
    r"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|True|False|None|nan|-?inf|[\[\]{}:, \t\n]"
)
_CONSTANTS: Final = {
    "True": "true", "False": "false", "None": "null", "nan": "NaN",
    "inf": "Infinity", "-inf": "-Infinity",
}  # fmt: skip
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.|\n)", re.DOTALL)
_ESCAPED: Final = {
    "n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": "",
}  # fmt: skip
_RULE: Final = re.compile(r"[\s|:+=-]+")
_SHAPE: Final = r"(?:\([^()\n]{0,200}\)|-)"
_NUMBER: Final = r"(?:\d+\.?\d*(?:e[+-]?\d+)?|nan|inf)"
_ROW: Final = re.compile(
    rf"(\S+) (\S+) ({_NUMBER}|-) ({_NUMBER}|-) ({_SHAPE}) (\d+|-) (\d+|-)"
    r"(?: (\[[^\[\]\n]{0,2000}\]|-))?"
)
_TOTAL: Final = re.compile(rf"Total_time - ({_NUMBER})((?: -){{4,5}})")


@dataclass
class Cleaned:
    """A text without what stood around it.

    Attributes
    ----------
    text : str
    taken : dict of str to int
        What was taken off, and how often.
    left : list of int
        Numbers of lines, from 1 on, that look like rows of a table and are none for certain.
    """

    text: str
    taken: dict[str, int] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)

    @property
    def told(self) -> str:
        """What was taken off, in words."""
        said = ", ".join(f"{what} ({counted(count, 'time')})" for what, count in self.taken.items())
        if self.left:
            lines = ", ".join(map(str, self.left[:5])) + (", …" if len(self.left) > 5 else "")
            said += f"; left out: {counted(len(self.left), 'line')} that cannot be put together "
            said += f"for certain ({lines})"
        return said


def readings(source: ByteSource) -> Iterator[tuple[ByteSource, Cleaned]]:
    """Yield what a source may have been before it was pasted, the likeliest first."""
    if not 0 < source.size <= _MOST_BYTES:
        return
    data = bytes(source.read(0, source.size))
    if b"\0" in data:
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return
    seen = {text}
    for found in _texts(text):
        if found.text not in seen and found.text.strip():
            seen.add(found.text)
            yield BytesSource(found.text.encode(), source.name), found


def _texts(text: str) -> Iterator[Cleaned]:
    plain = _plain(text)
    for inner in _fenced(plain):
        bare = _without_prefixes(inner)
        yield bare
        yield from _literal(bare)
        yield from _json(bare)
        yield from _table(bare)


def _plain(text: str) -> Cleaned:
    """Take off colors, odd blanks and line ends."""
    found = Cleaned(text.replace("\r\n", "\n"))
    found.text, count = _ANSI.subn("", found.text)
    if count:
        found.taken["colors"] = count
    plain = found.text.translate(_BLANKS)
    if plain != found.text:
        changed = sum(map(found.text.count, "\u00a0\u2007\u202f\u3000\u200b\u2060\ufeff"))
        found.taken["odd blanks"] = changed
        found.text = plain
    return found


def _fenced(given: Cleaned) -> Iterator[Cleaned]:
    """Yield the text, or what stands between fences."""
    parts = _FENCE.split(given.text)
    if len(parts) < 3:
        yield given
        return
    for inner in sorted(parts[1::2], key=len, reverse=True)[:_ROUNDS]:
        yield Cleaned(inner.strip("\n") + "\n", {**given.taken, "fences": 1})
    yield given


def _without_prefixes(given: Cleaned) -> Cleaned:
    """Take off what most lines begin with, again and again."""
    lines, taken = given.text.split("\n"), dict(given.taken)
    for _ in range(_ROUNDS):
        filled = [line for line in lines if line.strip()]
        best = max(
            (
                (sum(pattern.match(line) is not None for line in filled), -at)
                for at, (_, pattern) in enumerate(_PREFIXES)
            ),
            default=(0, 0),
        )
        if len(filled) < 2 or best[0] < _COMMON * len(filled):
            break
        what, pattern = _PREFIXES[-best[1]]
        if len(_speakers(what, pattern, filled)) > 1:
            break  # lines of several processes are no one text
        taken[what] = taken.get(what, 0) + best[0]
        lines = [pattern.sub("", line, count=1) if pattern.match(line) else line for line in lines]
    return Cleaned("\n".join(lines), taken)


def _speakers(what: str, pattern: re.Pattern[str], lines: list[str]) -> set[str]:
    """Return which processes heads of lines name; empty where they name none."""
    heads = (match[0] for line in lines if (match := pattern.match(line)))
    if what in ("ranks", "names of containers"):
        return {head.strip() for head in heads}
    if what != "heads of logcat":
        return set()
    return {match[1] for head in heads if (match := _PROCESS.search(head))}


def _literal(given: Cleaned) -> Iterator[Cleaned]:
    """Yield the text of a string literal, and JSON of what Python prints of a value.

    Python's own parser is not asked: what is nested deeply may end the process.
    """
    text = given.text.strip()
    if not 2 < len(text) <= _MOST_LITERAL or text[0] not in "'\"b{[":
        return
    pieces: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return
        at = match.end()
        inner = match["single"] if match["single"] is not None else match["double"]
        if inner is not None:
            plain = _unescaped(inner)
            if match[0].startswith("b"):
                plain = plain.encode("latin-1", "replace").decode("utf-8", "replace")
            pieces.append(json.dumps(plain))
        else:
            pieces.append(_CONSTANTS.get(match[0], match[0]))
    if len(pieces) == 1 and pieces[0].startswith('"'):
        yield Cleaned(json.loads(pieces[0]), {**given.taken, "a string literal": 1})
        return
    try:
        value = json.loads("".join(pieces))
    except (ValueError, RecursionError):
        return
    yield Cleaned(json.dumps(value), {**given.taken, "Python's notation": 1})


def _unescaped(inner: str) -> str:
    """Return what stands in a string literal; an escape that is none stays as it is."""
    return _ESCAPE.sub(lambda match: _escape(match[1]), inner)


def _escape(code: str) -> str:
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _ESCAPED.get(code, f"\\{code}")


def _json(given: Cleaned) -> Iterator[Cleaned]:
    """Yield JSON that stands in a text, the longest first."""
    straight = given.text.translate(_QUOTES)
    for text, quotes in ((straight, straight != given.text), (given.text, False)):
        taken = {**given.taken, **({"curly quote marks": 1} if quotes else {})}
        found = sorted(_values(text), key=lambda span: span[0] - span[1])
        for first, last in found[:_ROUNDS]:
            around = len(text.strip()) - (last - first)
            # A list may be a part of something that is broken.
            if text[first] == "[" and last - first < _COMMON * len(text.strip()):
                continue
            also = {"text around JSON": 1} if around > 0 else {}
            yield Cleaned(text[first:last], taken | also)


def _values(text: str) -> Iterator[tuple[int, int]]:
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MOST_JSON):
        match = _OPENS.search(text, at)
        if match is None:
            return
        try:
            _, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            # What stands inside of broken JSON is no file of its own.
            if match.group().startswith("{"):
                return
            at = match.end()
        else:
            yield match.start(), at


def _table(given: Cleaned) -> Iterator[Cleaned]:
    """Yield the tables of TVM's debugger with their columns put in place again."""
    lines = given.text.split("\n")
    cells = list(map(_cells, lines))
    styles = {" ".join(titles): style for style, titles in TITLES.items() if style != "v0.5"}
    heads = [at for at, line in enumerate(cells) if line in styles]
    if not heads:
        joined = [at for at in range(len(cells) - 1) if _joins(cells, at, styles.__contains__)]
        heads = joined[:1]
    if not heads:
        return
    taken = {**given.taken, "columns put in place": len(heads)}
    out: list[str] = []
    left: list[int] = []
    for head, end in zip(heads, [*heads[1:], len(cells)], strict=True):
        title = cells[head]
        start = head + 1
        if title not in styles:
            title = next(iter(_joins(cells, head, styles.__contains__)))
            start = head + 2
        width = len(TITLES[styles[title]])
        rows, lost = _rows(cells, start, end, width)
        left += lost
        table = [list(TITLES[styles[title]]), ["-" * len(each) for each in TITLES[styles[title]]]]
        table += rows
        if not rows:
            return
        wide = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
        out += ["".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)) for row in table]
    yield Cleaned("\n".join(out) + "\n", taken, left)


def _cells(line: str) -> str:
    """Return a line with one blank between its cells."""
    bare = line.strip()
    for mark in ("|", "│"):
        if bare.startswith(mark) and bare.endswith(mark):
            bare = bare[1:-1].replace(mark, " ")
    bare = bare.replace("\\_", "_").replace("`", "")
    return " ".join(bare.split())


def _rows(cells: list[str], start: int, end: int, width: int) -> tuple[list[list[str]], list[int]]:
    """Return the rows below a heading, and the numbers of lines that are none for certain."""
    rows: list[list[str]] = []
    left: list[int] = []
    at = start
    while at < end:
        line = cells[at]
        if not line or _RULE.fullmatch(line):
            at += 1
            continue
        if found := _row(line, width):
            rows.append(found)
            at += 1
            continue
        options = [
            (found, at + 2)
            for text in _joins(cells, at, lambda text: _row(text, width) is not None)
            if (found := _row(text, width)) is not None
        ]
        if len(options) == 1 and at + 1 < end:
            rows.append(options[0][0])
            at = options[0][1]
            continue
        if not rows or _is_like_row(line):
            left.append(at + 1)
        elif not _is_like_row(line):
            break
        at += 1
    return rows, left


def _joins(cells: list[str], at: int, fits: Callable[[str], bool]) -> list[str]:
    """Return a line with the next one where that makes sense, each way in which it does."""
    if at + 1 >= len(cells) or not cells[at] or not cells[at + 1]:
        return []
    both = (f"{cells[at]} {cells[at + 1]}", f"{cells[at]}{cells[at + 1]}")
    return [text for text in dict.fromkeys(both) if fits(text)]


def _row(line: str, width: int) -> list[str] | None:
    if total := _TOTAL.fullmatch(line):
        return ["Total_time", "-", total[1], *["-"] * (width - 3)]
    match = _ROW.fullmatch(line)
    if match is None:
        return None
    found = [each for each in match.groups() if each is not None]
    return found if len(found) == width else None


def _is_like_row(line: str) -> bool:
    return re.search(r"\d\.\d", line) is not None and "(" in line


def nearly(source: ByteSource) -> str:
    """Name what a text of no known format has of one; empty for nothing."""
    if not 0 < source.size <= _MOST_BYTES:
        return ""
    text = bytes(source.read(0, source.size)).decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), 1):
        if "Node Name" in line and "Ops" in line and "Time" in line:
            return (
                f"A heading of the table of TVM's debugger stands in line {number:,}, but no row "
                "below it can be read."
            )
    return ""
