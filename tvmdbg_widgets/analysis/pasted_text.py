"""Pasted console output: normalization, joining of wrapped lines, and detection of source code.

Blanks, line ends and typographic quote marks are equivalent. A terminal may have wrapped lines, and
a page or mail may have quoted them. Logs also hold source code (LLVM IR, generated C, TVMScript,
tracebacks), where a message is a constant that did not occur.
"""

from __future__ import annotations

import html
import re
from itertools import accumulate, chain
from typing import Final

#: Optional blanks, line ends included; possessive, since what follows a gap may take blanks itself.
_GAP: Final = r"\s{0,40}+"
_COUNT: Final = r"(?:\??\{\d+(?:,\d*)?\}|[?*+])?"
#: Tokens of a pattern: escapes, classes, heads of groups, counts, blanks, everything else.
_PARTS: Final = re.compile(
    r"(?P<blank>(?:\\s| )(?:\{\d+(?:,\d*)?\}|[?*+])?)"
    r"|(?:\(\?<[=!][^()]{0,99}\)|\\[wdbs]|\[(?:\\.|[^\]\\]){0,99}\]|\(\?(?:P<\w+>|<?[=!]|:)|\{\d+(?:,\d*)?\})"
    rf"|(?P<quote>['\"`]){_COUNT}"
    rf"|(?P<sign>\\[|()*\[\]]|[:,=#<>]){_COUNT}"
    r"|\\.|."
)
#: Replacements of equal length, so that positions stay valid.
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " "),
        **dict.fromkeys("\u200b\u2060\ufeff", " "),
    }
)


def plain(text: str) -> str:
    """Return the text with keyboard blanks and quote marks, of the same length."""
    return text.translate(_PLAIN)


def tolerant(pattern: str) -> str:
    """Return a pattern that accepts missing or repeated blanks and other quote marks."""
    # Merge adjacent gaps.
    return re.sub(rf"(?:{re.escape(_GAP)})+", lambda _: _GAP, _PARTS.sub(_tolerant, pattern))


def _tolerant(part: re.Match[str]) -> str:
    whole = part.group()
    if part["blank"]:
        return _GAP
    if part["sign"]:
        return f"{_GAP}{whole}{_GAP}"
    if part["quote"]:
        return "['\"`]" + whole[1:]
    # A blank in a class matches blanks of the same line.
    whole = whole.replace(" ", r" \t") if whole.startswith("[") else whole
    # A gap before "(?!" must not give back blanks.
    return whole + _GAP if whole == "(?!" else whole


def literal_pattern(literal: str) -> str:
    """Return a tolerant pattern for a message's literal."""
    escaped = re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", literal.strip())
    return tolerant(escaped).removeprefix(_GAP).removesuffix(_GAP)


#: Terminal sequences (ECMA-48): control sequences, titles up to their end, character sets.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}\x07?|[()*+][0-9A-Za-z])"
)
_ENTITIES = re.compile(r"&(?:quot|lt|gt|amp|apos|nbsp|#39|#x27|#34);")  # HTML entities
_QUOTED = re.compile(r"[ \t]{0,8}(?:>[ \t]?){1,4}")  # quote prefix of a reply
_LONG = re.compile(r"Assert fail: ")  # start of a message that is longer than a terminal's line
#: End of such a message: its line was not wrapped.
_COMPLETE = re.compile(
    r"is expected to (?:be (?:[a-z]{1,20}\d|bool|custom)|equal \d|have non-NULL \w)"
    r"|has an unsatisfied constraint|expected to be compact array|num_args should be \d"
    r"|Expect arg\[\d{1,4}\] to be \w|pointer is NULL|need to be \d"
)
_BEGINS_ANEW = re.compile(r"  |Traceback|TVMError|\[\d\d:\d\d:\d\d\]|.{0,200}Assert fail: ")
_NARROWEST, _WIDEST = 40, 400
_MOST_JOINED = 16


def as_printed(text: str) -> str:
    """Return the text without terminal sequences, HTML entities and reply quotes."""
    text = _ESCAPES.sub("", text)
    text = _ENTITIES.sub(lambda entity: html.unescape(entity.group()), text)
    lines = text.split("\n")
    if all(_QUOTED.match(line) for line in lines if line.strip()):
        text = "\n".join(_QUOTED.sub("", line, count=1) for line in lines)
    return text


def rejoined(text: str) -> tuple[str, list[int]]:
    """Return the text with wrapped lines joined, and the starts of its lines."""
    if _LONG.search(text) is None:
        return text, [0, *(match.end() for match in re.finditer("\n", text))]
    lines = text.split("\n")
    ends = ["\n"] * (len(lines) - 1) + [""]
    row = 0
    while row < len(lines):
        last, width = _last_wrapped_row(lines, row)
        for piece in range(row, last):
            # Text copied from a terminal lacks trailing blanks.
            lines[piece] = lines[piece].rstrip("\r").ljust(width)
            ends[piece] = ""
        row = last + 1
    lengths = (len(line) + len(end) for line, end in zip(lines, ends, strict=True))
    starts = [0, *accumulate(lengths)][:-1]
    return "".join(chain.from_iterable(zip(lines, ends, strict=True))), starts


def pieces_joined(text: str, starts: list[int]) -> tuple[str, list[int]] | None:
    """Return the text with all lines joined that may have been wrapped within a word."""
    pieces, starts_of_lines, length = [], [], 0
    last = -1
    for row, begin in enumerate(starts):
        end = starts[row + 1] if row + 1 < len(starts) else len(text)
        line = text[begin:end]
        starts_of_lines.append(length)
        bare = line.rstrip("\r\n")
        if line != bare and _NARROWEST <= len(bare) <= _WIDEST and row + 1 < len(starts):
            following = text[end : end + 1]
            if following and not following.isspace():
                line, last = bare, row
        pieces.append(line)
        length += len(line)
    return ("".join(pieces), starts_of_lines) if last >= 0 else None


def _last_wrapped_row(lines: list[str], row: int) -> tuple[int, int]:
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


#: Characters before a place that are searched: for everything, and for what ends there.
_MOST, _NEAR = 1000, 120
#: What may precede the quote mark of a constant.
_BEFORE_CONSTANT: Final = re.compile(
    r"(?:\bc|\.(?:asciz?|ascii|string)\s{1,8}|<<\s{0,8}|\breturn\s{1,8}|\s=\s{0,8}"
    r"|#\s{0,8}define\s{1,8}\w{1,80}\s{1,8})$"
)
_PREFIXES: Final = "rfbuLFR"  # string prefixes
#: Names that print their text in parentheses: an error, not a call.
_PRINTED: Final = re.compile(r"(?:Error|Exception|Warning|Result|Interrupt|Exit)$")
#: A statement that raises what follows.
_RAISED: Final = re.compile(r"\b(?:raise|throw)\s{1,8}[\w.:]{0,100}$")
_RAISES: Final = re.compile(r"\b(?:raise|throw|new)\s[^\"']{0,100}$|SetLastError$")
_ASSERTS: Final = re.compile(r"\bassert\b")
_CHECKS: Final = re.compile(
    r"\b(?:(?:TVM_FFI_)?[ID]?CHECK(?:_[A-Z]{2,9})?\(|(?:TVM_FFI_)?THROW\(|ET_CHECK\w{0,30}\("
    r"|D?LOG\((?:FATAL|ERROR|WARNING|INFO)|ET_LOG\(\s?(?:Fatal|Error|Info|Debug))"
)
_NAME: Final = re.compile(r"[A-Za-z_][\w.:>-]{0,100}$")
_DOUBLE: Final = re.compile(r'(?<!\\)"')  # A quote mark that is no apostrophe
_SINGLE: Final = re.compile(r"(?<![\\\w])'|(?<!\\)'(?!\w)")
#: What may follow a constant on its own line.
_ENDS_CALL: Final = re.compile(r"\s{0,8}(?:\)[\s);,{:]{0,8}|;|<<.{0,400})\s{0,8}$")
_GOES_ON: Final = ("(", "<<", '"', "\\")


def is_in_source(before: str, line: str, at: int) -> bool:
    """Return whether the text at a place of a line is source code, not a message that occurred."""
    head = line[max(0, at - _MOST) : at]
    if '\\"' in head:
        outer = _before_unpaired(_DOUBLE, head)  # A string of JSON that holds source code
        inner = head if outer is None else head[len(outer) + 1 :]
        inner = inner.replace("\\\\", "\\").replace('\\"', '"').rpartition("\\n")[2]
        rest = line[at:].replace('\\"', '"')
        if is_in_source("", inner + rest, len(inner)):
            return True
    near = head[-_NEAR:]
    if ("raise" in near or "throw" in near) and _RAISED.search(near):
        return True
    if ("CHECK" in head or "LOG" in head or "THROW" in head) and _CHECKS.search(head):
        return True
    if (opening := _before_unpaired(_DOUBLE, head)) is not None:
        return _opens_constant(opening) or _continues_constant(before, opening, line[at:])
    # A constant from the line above continues: a terminal wrapped its line.
    above = None if '"' in head else _before_unpaired(_DOUBLE, before)
    if above is not None and _opens_constant(above):
        return True
    opening = _before_unpaired(_SINGLE, head)
    return opening is not None and _opens_constant(opening)


def _before_unpaired(quote: re.Pattern[str], text: str) -> str | None:
    starts = [mark.start() for mark in quote.finditer(text)]
    return text[: starts[-1]] if len(starts) % 2 else None


def _opens_constant(head: str) -> bool:
    bare = head.rstrip(_PREFIXES)
    if any(_BEFORE_CONSTANT.search(start[-_NEAR:]) for start in (head, bare)):
        return True
    if bare.rstrip().endswith(",") and _ASSERTS.search(bare):
        return True
    called = _unclosed_parenthesis(bare)
    name = None if called is None else _NAME.search(bare[max(0, called - _NEAR) : called])
    if called is None or name is None or bare.endswith("="):
        return False
    near = bare[max(0, called - _NEAR) : called]
    return not _PRINTED.search(name.group()) or _RAISES.search(near) is not None


def _unclosed_parenthesis(head: str) -> int | None:
    depth = 0
    for sign in reversed(list(re.finditer(r"[()]", head))):
        if sign.group() == ")":
            depth += 1
        elif depth:
            depth -= 1
        else:
            return sign.start()
    return None


def _continues_constant(before: str, head: str, rest: str) -> bool:
    if head.rstrip(_PREFIXES).strip():
        return False
    tail = rest.rpartition('"')[2]
    if '"' in rest and _ENDS_CALL.match(tail):
        return True
    return before.rstrip().endswith(_GOES_ON) and tail.strip() in {"", ","}
