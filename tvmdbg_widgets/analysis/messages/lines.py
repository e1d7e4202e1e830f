"""Console output as it was printed, before a terminal cut it and a page or a reply quoted it."""

from __future__ import annotations

import html
import re
from itertools import accumulate, chain

#: Terminal sequences (ECMA-48): control sequences, titles up to their end, character sets.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}\x07?|[()*+][0-9A-Za-z])"
)
#: What a page writes in place of signs.
_ENTITIES = re.compile(r"&(?:quot|lt|gt|amp|apos|nbsp|#39|#x27|#34);")
#: Begins each line of what a reply quotes.
_QUOTED = re.compile(r"[ \t]{0,8}(?:>[ \t]?){1,4}")
#: Begins a message that no terminal shows in one line.
_LONG = re.compile(r"Assert fail: ")
#: Ends such a message, so that its line was not cut.
_COMPLETE = re.compile(
    r"is expected to (?:be (?:[a-z]{1,20}\d|bool|custom)|equal \d|have non-NULL \w)"
    r"|has an unsatisfied constraint|expected to be compact array|num_args should be \d"
    r"|Expect arg\[\d{1,4}\] to be \w|pointer is NULL|need to be \d"
)
_BEGINS_ANEW = re.compile(r"  |Traceback|TVMError|\[\d\d:\d\d:\d\d\]|.{0,200}Assert fail: ")
_NARROWEST, _WIDEST = 40, 400
_MOST_JOINED = 16


def as_printed(text: str) -> str:
    """Return the text without terminal sequences, entities of HTML and quote marks of a reply."""
    text = _ESCAPES.sub("", text)
    text = _ENTITIES.sub(lambda entity: html.unescape(entity.group()), text)
    lines = text.split("\n")
    if all(_QUOTED.match(line) for line in lines if line.strip()):
        text = "\n".join(_QUOTED.sub("", line, count=1) for line in lines)
    return text


def rejoined(text: str) -> tuple[str, list[int]]:
    """Return the text with lines that a terminal cut put together again."""
    if _LONG.search(text) is None:
        return text, [0, *(match.end() for match in re.finditer("\n", text))]
    lines = text.split("\n")
    ends = ["\n"] * (len(lines) - 1) + [""]
    row = 0
    while row < len(lines):
        last, width = _last_piece(lines, row)
        for piece in range(row, last):
            # Text copied from a terminal lacks the blank at the end of a line.
            lines[piece] = lines[piece].rstrip("\r").ljust(width)
            ends[piece] = ""
        row = last + 1
    lengths = (len(line) + len(end) for line, end in zip(lines, ends, strict=True))
    starts = [0, *accumulate(lengths)][:-1]
    return "".join(chain.from_iterable(zip(lines, ends, strict=True))), starts


def pieces_joined(text: str, starts: list[int]) -> tuple[str, list[int]] | None:
    """Return the text with all lines put together that a terminal may have cut within a word."""
    pieces, found, length = [], [], 0
    last = -1
    for row, begin in enumerate(starts):
        end = starts[row + 1] if row + 1 < len(starts) else len(text)
        line = text[begin:end]
        found.append(length)
        bare = line.rstrip("\r\n")
        if line != bare and _NARROWEST <= len(bare) <= _WIDEST and row + 1 < len(starts):
            following = text[end : end + 1]
            if following and not following.isspace():
                line, last = bare, row
        pieces.append(line)
        length += len(line)
    return ("".join(pieces), found) if last >= 0 else None


def _last_piece(lines: list[str], row: int) -> tuple[int, int]:
    """Return the last row of the line that begins at a row, and the width it was cut at."""
    first = lines[row].rstrip("\r")
    begins = _LONG.search(first) if _NARROWEST <= len(first) <= _WIDEST else None
    if begins is None or row + 1 == len(lines) or _COMPLETE.search(first, begins.end()):
        return row, 0
    width = len(first)
    last = row
    while last + 1 < len(lines) and last - row < _MOST_JOINED:
        piece, following = lines[last].rstrip("\r"), lines[last + 1].rstrip("\r")
        if len(piece) < width - 1 or not following or _BEGINS_ANEW.match(following):
            break
        if len(following) > len(first) + 1:
            break
        width = max(width, len(following))
        last += 1
    return last, width
