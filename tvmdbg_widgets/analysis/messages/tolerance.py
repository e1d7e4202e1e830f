"""Patterns that also take a text as a forum, a chat or a terminal left it.

A blank more or less, a line end in place of a blank and typographic quote marks are the same text.
"""

from __future__ import annotations

import re
from typing import Final

#: Blanks, line ends among them, that may stand where a pattern has one, or none; none
#: is given back, since what follows a gap may take blanks itself.
_GAP: Final = r"\s{0,40}+"
#: What a pattern is made of: escapes, classes, heads of groups, counts, blanks, everything else.
_PARTS: Final = re.compile(
    r"(?P<blank>(?:\\s| )(?:\{\d+(?:,\d*)?\}|[?*+])?)"
    r"|(?P<kept>\(\?<[=!][^()]*\)|\\[wdbs]|\[(?:\\.|[^\]\\])*\]|\(\?(?:P<\w+>|<?[=!]|:)|\{\d+(?:,\d*)?\})"
    r"|(?P<quote>['\"`])"
    r"|(?P<sign>\\[|()*\[\]]|[:,=#<>])"
    r"|(?P<other>\\.|.)"
)
_COUNT: Final = re.compile(r"\??\{\d+(?:,\d*)?\}|[?*+]")
#: One letter for each, so that places in the text stay the same.
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " "),
        **dict.fromkeys("\u200b\u2060\ufeff", " "),
    }
)


def plain(text: str) -> str:
    """Return a text of the same length with the blanks and quote marks of a keyboard."""
    return text.translate(_PLAIN)


def tolerant(pattern: str) -> str:
    """Return a pattern that takes other blanks and other quote marks as well.

    Every blank may be missing or be more than one, and beside punctuation there may be some.
    """
    told: list[str] = []
    at = 0
    while (part := _PARTS.match(pattern, at)) is not None:
        at = part.end()
        if part["blank"]:
            told.append(_GAP)
            continue
        counted = _COUNT.match(pattern, at) if part["quote"] or part["sign"] else None
        count = counted.group() if counted else ""
        at += len(count)
        if part["sign"]:
            told += [_GAP, part["sign"] + count, _GAP]
        elif part["quote"]:
            told.append("['\"`]" + count)
        elif part.group().startswith("["):
            # A blank in a class stands for one of the same line.
            told.append(part.group().replace(" ", r" \t"))
        else:
            told.append(part.group())
            # A gap before it may take fewer blanks than there are, but not pass it so.
            told += [_GAP] * (part.group() == "(?!")
    return _joined(told)


def _joined(parts: list[str]) -> str:
    """Put parts together, with one gap where several follow each other."""
    return "".join(
        part for at, part in enumerate(parts) if part != _GAP or at == 0 or parts[at - 1] != _GAP
    )


def literal_pattern(literal: str) -> str:
    """Return a pattern for letters that a message always has, in any of their forms."""
    escaped = re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", literal.strip())
    return tolerant(escaped).removeprefix(_GAP).removesuffix(_GAP)


def longest_word(literal: str) -> str:
    """Return the longest word of a literal: a text without it has no such message."""
    words: list[str] = re.findall(r"\w+", literal)
    return max(words, key=len)
