"""What a table of a pasted text is made of: its heading, its lines, and cells of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tvmdbg_widgets.formats.pasted.lines import LineStream
from tvmdbg_widgets.model.base.numbers import counted

_LONGEST: Final = 20_000
_MARKS: Final = re.compile(r"[\s|│┃║,;&\"`\\]+")
#: Behind lines in source files.
_END: Final = re.compile(r"(?:(?:\\n)?[\"']\)?[ \t]?[,+;\\]?|(?<!\\)\\++n?)$")
RULE: Final = re.compile(r"[\s|│┃║:+=─━┄┼├┤╪╞╡┌┐└┘┬┴╒╕╘╛╧╤,;&\"-]+")
#: Letters of joined lines that are no row, and are looked at in one pasted text.
_MOST_TRIED: Final = 4_000_000
#: Letters that columns may be padded to, for each letter of a table's cells.
_MOST_PADDED: Final = 40
#: Why a table without any line below its heading has no rows.
EMPTY: Final = "no line of text stands below it"


@dataclass
class Tries:
    """How many letters of joined lines are still looked at in a pasted text."""

    left: int = _MOST_TRIED


@dataclass
class PastedTable:
    """One table of a text."""

    kind: str
    line: int
    text: str = ""
    complete: bool = True
    whole: bool = False
    left: list[int] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    why: str = ""
    prefix: str = ""
    marked: int = 0
    others: int = 0
    tries: Tries = field(default_factory=Tries)


def without_ends(heard: LineStream) -> LineStream:
    """Take off what lines end with where the heading ends so: marks of string literals."""
    mark = _END.search(heard.texts[0].rstrip())
    if mark is None or heard.texts[0].startswith('"'):
        return heard
    texts = [_END.sub("", text.rstrip()) for text in heard.texts]
    if "n" in mark[0]:
        texts = [text.replace('\\"', '"') for text in texts]
    return replace(heard, texts=texts)


def filled(heard: LineStream) -> LineStream:
    """Leave out lines of blanks."""
    kept = [(n, text) for n, text in zip(heard.numbers, heard.texts, strict=True) if text.strip()]
    return replace(heard, texts=[text for _, text in kept], numbers=[n for n, _ in kept])


def why_no_row(heard: LineStream, height: int) -> str:
    """Say which line below a heading is the first that is no row."""
    for number, line in zip(heard.numbers[height:], heard.texts[height:], strict=True):
        if line.strip() and not RULE.fullmatch(line):
            return (
                f"no row below it can be read for certain (line {number:,}: {line.strip()[:60]!r})"
            )
    return EMPTY


def mostly_blanks(width: int, count: int, letters: int) -> bool:
    """Whether lines of one width would be many times as large as what stands in them."""
    return width * count > _MOST_PADDED * letters + (1 << 20)


def too_wide(width: int, rows: Sequence[Sequence[str]]) -> str:
    """Say which cell is so long that lines of a width are mostly blanks; empty where none is."""
    longest = max((cell for row in rows for cell in row), key=len)
    if not mostly_blanks(width, len(rows), sum(len(cell) for row in rows for cell in row)):
        return ""
    return f"one of its cells has {counted(len(longest), 'character')}: {longest[:40]!r}…"


def squashed(text: str) -> str:
    """Return a line without blanks and marks."""
    return _MARKS.sub("", text)


def single(text: str) -> str:
    """Return a line with one blank between its words, without Markdown."""
    bare = text[:_LONGEST].replace("\\_", "_").replace("\\*", "*").replace("`", "")
    return " ".join(bare.split())


def delimiter_of(heading: str, first: str) -> str:
    """Return what parts the cells of a heading: a mark, a tab, two blanks, or one."""
    rest = heading[heading.index(first) + len(first) :]
    gap = rest[: len(rest) - len(rest.lstrip(' \t|│┃║,;&"'))]
    mark = gap.strip(' "')
    return mark[:1] or ("\t" if "\t" in gap else "  " if "  " in gap else " ")


def parted(text: str, delimiter: str) -> list[str]:
    """Cut a line into cells."""
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
