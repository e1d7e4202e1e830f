"""Lines of a pasted text without colors, marks and prefixes.

A prefix is learned from one line with a known start of its own text: words stay, numbers may differ
from line to line.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from tvmdbg_widgets.model.base.numbers import counted

UNMARKED: Final = "UTF-16 without its mark"
_CONTINUED: Final = 0.8
_CONTROL: Final = re.compile(
    r"(?:\x1b|\x9b|\^\[|\\x1b|\\033|\\u001b|\\e)"
    r"(?:\[[0-9;?]{0,20}[ -/]?[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78MDE])"
    r"|\[\d{1,3}(?:;\d{1,3}){0,5}m|.\x08"
)
_ODD: Final = "\u00a0\u2007\u2009\u202f\u3000\u200b\u200e\u2060\ufeff\u00ad"
_BLANKS: Final = str.maketrans(
    {**dict.fromkeys(_ODD[:5], " "), **dict.fromkeys(_ODD[5:], ""), "\x0b": "\n", "\x0c": "\n"}
)
_FENCE: Final = re.compile(
    r"(?:(?<!`)`{3,}+|(?<!~)~{3,}+)[\w+-]{0,30}[ \t]*$|`{3,}"
    r"|\{(?:noformat|code)(?::[\w=|#.]{0,60})?\}|<!\[CDATA\[|\]\]>",
    re.MULTILINE,
)
_FENCES: Final = ("```", "~~~", "{noformat", "{code", "<![CDATA[")
_TAG: Final = re.compile(
    r"<(/?)(pre|code|samp|tt|br|p|div|span|t[drh]|table|tbody|thead|font|b|i|a|li|ul|hr"
    r"|html|body|head|meta|col|colgroup|tfoot|strong|em|u|small|[ovwx]:\w{1,20})\b"
    r"[^<>]{0,300}>(\n?)",
    re.IGNORECASE,
)
#: Tags between and inside of cells, which end no line.
_CELL_ENDS: Final = re.compile(
    r"(?:</(?:p|div)>\s{0,99})?(</t[dh]>|<tr\b[^<>]{0,300}>)(?:\s{1,99}(?=</?t[rdh]\b))?",
    re.IGNORECASE,
)
#: Tags of a page; names may hold other tags.
_PAGE: Final = re.compile(
    r"<(?:pre|code|samp|br|p|div|span|td|table)\b[^<>]{0,300}>", re.IGNORECASE
)
_ENTITY: Final = re.compile(
    r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-f]{1,6});", re.IGNORECASE
)
_BREAKS: Final = {"br", "/p", "/div", "/tr", "/li", "/pre", "/table"}

#: Numbers with the separators of times, dates and places.
_PIECE: Final = re.compile(r"(\d+(?:[.,:/T-]\d+)*)|([ \t]+)|([^\d \t]+)")
_WORD: Final = re.compile(r"\w")
_CLOCK: Final = re.compile(r"\d:\d\d")
_LONGEST_LINE: Final = 20_000
_LONGEST_PREFIX: Final = 300


@dataclass
class Cleaned:
    """A text without its surroundings."""

    text: str
    taken: dict[str, int] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    @property
    def notes(self) -> str:
        """Describe removed and uncertain parts; empty if none."""
        off = ", ".join(f"{what} ({counted(count, 'time')})" for what, count in self.taken.items())
        texts = [f"taken off before it was read: {off}"] if off else []
        if self.left:
            lines = ", ".join(map(str, self.left[:5])) + (", …" if len(self.left) > 5 else "")
            number = counted(len(self.left), "line")
            texts.append(f"left out: {number} that cannot be put together for certain ({lines})")
        return "; ".join([*texts, *self.doubts])


def plain(given: Cleaned) -> Cleaned:
    """Remove colors, odd blanks, fences and line ends."""
    cleaned = Cleaned(given.text, dict(given.taken))
    text, count = _CONTROL.subn("", cleaned.text)
    if count:
        cleaned.taken["colors"] = count
    text = re.sub("(?<!\r)\r+\n", "\n", text)
    if "\r" in text:
        cleaned.taken["carriage returns"] = text.count("\r")
        text = text.replace("\r", "\n")
    if odd := sum(map(text.count, _ODD)):
        cleaned.taken["odd blanks"] = odd
        text = text.translate(_BLANKS)
    if any(mark in text for mark in _FENCES):
        text, count = _FENCE.subn("", text)
        if count:
            cleaned.taken["fences"] = count
    lines = text.split("\n")
    for mark, what in (("\\", "backslashes at line ends"), ("$", "line ends of cat -A")):
        if mark not in text:
            continue
        ended = sum(line.rstrip().endswith(mark) for line in lines)
        if ended > 1 and ended >= _CONTINUED * sum(map(bool, map(str.strip, lines))):
            cleaned.taken[what] = ended
            lines = [line.rstrip().removesuffix(mark) for line in lines]
            if mark == "\\":
                lines = [line.rstrip() for line in lines]
            text = "\n".join(lines).replace("^I", "\t" if mark == "$" else "^I")
    cleaned.text = text
    return cleaned


def without_html(given: Cleaned) -> Cleaned | None:
    """Remove HTML; None if there is none."""
    if _PAGE.search(given.text) is None and _ENTITY.search(given.text) is None:
        return None

    def broken(match: re.Match[str]) -> str:
        tag = (match[1] + match[2]).lower()
        return "\n" if tag in _BREAKS else ("\t" if tag in ("/td", "/th") else "") + match[3]

    text, count = _TAG.subn(broken, _CELL_ENDS.sub(r"\1", given.text))
    cleaned = Cleaned(html.unescape(text), {**given.taken, "HTML": max(1, count)})
    return plain(cleaned)


@dataclass(frozen=True)
class LineStream:
    """The lines of one writer from a place on, without their prefixes."""

    texts: list[str]
    numbers: list[int]
    prefix: str
    marked: int
    others: int = 0


class Prefix:
    """The prefix of lines, learned from one of them."""

    def __init__(self, prefix: str) -> None:
        pieces = [match.groups() for match in _PIECE.finditer(prefix)]
        self.text = prefix
        self.tail = prefix[len(prefix.rstrip(" \t")) :]
        if self.tail:
            pieces = pieces[:-1]
        pattern = ""
        for number, blank, word in pieces:
            if word in ("O", "E") and pattern.endswith("*+)"):
                pattern += r"[OE]"  # GitLab marks what comes from stderr
            elif number:
                pattern += r"(\d++(?:[.,:/T-]\d++)*+)"
            elif blank:
                pattern += r"[ \t]++" if pattern else r"[ \t]*+"
            else:
                pattern += re.escape(word)
        if pieces and pieces[0][0]:
            pattern = r"[ \t]*+" + pattern
        self._pattern = re.compile(pattern)

    def split(self, line: str) -> tuple[tuple[str, ...], str] | None:
        """Return a line's numbers and its text; None if it begins otherwise."""
        match = self._pattern.match(line)
        if match is None:
            return None
        rest = line[match.end() :]
        if rest.startswith(self.tail):
            return match.groups(), rest[len(self.tail) :]
        if not rest.strip():
            return match.groups(), ""
        wide = len(self.text)
        if not line[match.end() : wide].strip() and match.end() < wide:
            return match.groups(), line[wide:]
        return None


def stream(lines: Sequence[str], at: int, column: int, end: int | None = None) -> LineStream:
    """Return the lines with the prefix of a line whose text begins in a known column."""
    prefix, given = lines[at][:column], lines[at:end]
    numbers = list(range(at + 1, at + 1 + len(given)))
    if not prefix.strip() or column > _LONGEST_PREFIX:
        return LineStream([_outdented(line, column) for line in given], numbers, prefix, 0)
    split = list(map(Prefix(prefix).split, given))
    heard = [(number, match) for number, match in zip(numbers, split, strict=True) if match]
    near = (match for line, match in zip(given[1:], split[1:], strict=True) if _WORD.search(line))
    if next(near, None) is None:
        # Only the first line of a text has the head of its logger, or a prompt.
        after = heard[1][0] - at - 1 if len(heard) > 1 else len(given)
        # Similar lines are of the same logger, with other words: no rows.
        pairs = zip(given, split, strict=True)
        if any(not match and _shape(line[:column]) == _shape(prefix) for line, match in pairs):
            after = 1
        texts = [given[0][column:], *(_outdented(line, column) for line in given[1:after])]
        return LineStream(texts, numbers[:after], prefix, 1)
    own = heard[0][1][0]
    fixed = [
        place
        for place, first in enumerate(own)
        if not _CLOCK.search(first) and not _counts([match[0][place] for _, match in heard])
    ]
    kept = [(n, match[1]) for n, match in heard if all(match[0][i] == own[i] for i in fixed)]
    inside = given[: kept[-1][0] - at]
    others = sum(map(bool, map(str.strip, inside))) - sum(bool(text.strip()) for _, text in kept)
    return LineStream([text for _, text in kept], [n for n, _ in kept], prefix, len(kept), others)


def _counts(numbers: Sequence[str]) -> bool:
    """Return whether numbers never fall, like those of lines and times."""
    values = [[int(part[:18]) for part in re.split(r"\D", number)] for number in numbers]
    return all(before <= after for before, after in pairwise(values))


def _shape(text: str) -> str:
    return re.sub(r"\d", "0", re.sub(r"[^\W\d]", "a", text)) if re.search(r"\d", text) else text


def _outdented(line: str, column: int) -> str:
    return line[column:] if not line[:column].strip() else line


def starts(lines: Sequence[str], anchor: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield lines and columns of a pattern's matches."""
    for at, line in enumerate(lines):
        if (match := anchor.search(line, 0, _LONGEST_LINE)) is not None:
            yield at, match.start()


_LONGEST: Final = 20_000
_MARKS: Final = re.compile(r"[\s|│┃║,;&\"`\\]+")
#: Ends of lines in source files.
_END: Final = re.compile(r"(?:(?:\\n)?[\"']\)?[ \t]?[,+;\\]?|(?<!\\)\\++n?)$")
RULE: Final = re.compile(r"[\s|│┃║:+=─━┄┼├┤╪╞╡┌┐└┘┬┴╒╕╘╛╧╤,;&\"-]+")
#: Budget of letters in joined lines that are no row.
_MOST_TRIED: Final = 4_000_000
#: Letters of padded columns per letter of a table's cells.
_MOST_PADDED: Final = 40
#: Problem of a table without any line below its heading.
EMPTY: Final = "there is no line of text below it"


@dataclass
class Tries:
    """The remaining budget of letters in joined lines of a pasted text."""

    left: int = _MOST_TRIED


@dataclass
class PastedTable:
    """One table of a text."""

    kind: str
    line: int
    text: str = ""
    complete: bool = True
    intact: bool = False
    left: list[int] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    why: str = ""
    prefix: str = ""
    marked: int = 0
    others: int = 0
    tries: Tries = field(default_factory=Tries)


def without_ends(heard: LineStream) -> LineStream:
    """Remove line ends that the heading has, too: marks of string literals."""
    mark = _END.search(heard.texts[0].rstrip())
    if mark is None or heard.texts[0].startswith('"'):
        return heard
    texts = [_END.sub("", text.rstrip()) for text in heard.texts]
    if "n" in mark[0]:
        texts = [text.replace('\\"', '"') for text in texts]
    return replace(heard, texts=texts)


def filled(heard: LineStream) -> LineStream:
    """Remove blank lines."""
    kept = [(n, text) for n, text in zip(heard.numbers, heard.texts, strict=True) if text.strip()]
    return replace(heard, texts=[text for _, text in kept], numbers=[n for n, _ in kept])


def why_no_row(heard: LineStream, height: int) -> str:
    """Describe the first line below a heading that is no row."""
    for number, line in zip(heard.numbers[height:], heard.texts[height:], strict=True):
        if line.strip() and not RULE.fullmatch(line):
            return (
                f"no row below it can be read for certain (line {number:,}: {line.strip()[:60]!r})"
            )
    return EMPTY


def mostly_blanks(width: int, count: int, letters: int) -> bool:
    """Return whether padded lines would be many times as large as their content."""
    return width * count > _MOST_PADDED * letters + (1 << 20)


def too_wide(width: int, rows: Sequence[Sequence[str]]) -> str:
    """Name the cell that makes padded lines too large; empty if none does."""
    longest = max((cell for row in rows for cell in row), key=len)
    if not mostly_blanks(width, len(rows), sum(len(cell) for row in rows for cell in row)):
        return ""
    return f"one of its cells has {counted(len(longest), 'character')}: {longest[:40]!r}…"


def squashed(text: str) -> str:
    """Return a line without blanks and marks."""
    return _MARKS.sub("", text)


def single(text: str) -> str:
    """Return a line with single blanks, without Markdown."""
    bare = text[:_LONGEST].replace("\\_", "_").replace("\\*", "*").replace("`", "")
    return " ".join(bare.split())


def delimiter_of(heading: str, first: str) -> str:
    """Return the delimiter of a heading's cells: a mark, a tab, two blanks, or one."""
    rest = heading[heading.index(first) + len(first) :]
    gap = rest[: len(rest) - len(rest.lstrip(' \t|│┃║,;&"'))]
    mark = gap.strip(' "')
    return mark[:1] or ("\t" if "\t" in gap else "  " if "  " in gap else " ")


def parted(text: str, delimiter: str) -> list[str]:
    """Split a line into cells."""
    if delimiter == " ":
        return []
    if delimiter == "  ":
        return re.split(r" {2,}", text.strip())
    if delimiter in ",;" or text.lstrip().startswith('"'):
        # Commas inside of quotes, brackets and parentheses part nothing.
        cell = rf'"((?:[^"]|"")*)"|((?:[^{delimiter}"(\[]|\([^()]*\)|\[[^\[\]]*\])*)'
        cells, at = [], 0
        pattern = re.compile(cell)
        while (match := pattern.match(text, at)) is not None:
            cells.append((match[1] if match[1] is not None else match[2]).strip())
            at = match.end()
            if text[at : at + 1] != delimiter:
                break
            at += 1
        return cells
    bare = text.strip() if delimiter != "\t" else text
    if delimiter in "|│┃║&":
        bare = bare.removesuffix("\\\\").strip()
        if delimiter != "&":
            bare = bare.removeprefix(delimiter).removesuffix(delimiter)
        bare = bare.replace("\\_", "_").replace("`", "").replace("**", "")
    return [cell.strip() for cell in bare.split(delimiter)]
