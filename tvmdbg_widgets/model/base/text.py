"""Text from files, made fit for one line of a terminal or a message."""

from __future__ import annotations

import re
from collections.abc import Collection

_ESCAPES = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
#: Names that a message tells at most, and letters of the whole of one of its parts.
_MOST_NAMES, _MOST_LETTERS = 10, 1_000
#: Letters of a sentence that is told of a file, and how many of these are its last.
_MOST_TOLD, _LAST_TOLD = 2_000, 500


def one_line(text: str) -> str:
    r"""Return the text with every character that is not printable as its escape.

    Names come from strangers: line ends would break tables, control and direction characters the
    terminal, and halves of surrogate pairs (file names that are not UTF-8) cannot be written.

    >>> one_line("a\n\x1b[31m\udcff")
    'a\\n\\x1b[31m\\udcff'
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def listed(texts: Collection[object], joint: str = ", ", most: int = _MOST_NAMES) -> str:
    """Return the first of some texts, and how many more there are: a file may name any number.

    >>> listed(range(12))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more'
    """
    told = joint.join(str(each) for _, each in zip(range(most), texts, strict=False))
    return told if len(texts) <= most else f"{told} and {len(texts) - most:,} more"


def cut(text: str, most: int = _MOST_LETTERS) -> str:
    """Return the beginning of a text that is too long for a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shortened(sentence: str) -> str:
    """Return a sentence without its middle where that is too long: it names things of a file.

    >>> len(shortened("field " + "x" * 1_000_000 + " is missing"))
    2000
    """
    if len(sentence) <= _MOST_TOLD:
        return sentence
    return f"{sentence[: _MOST_TOLD - _LAST_TOLD - 1]}…{sentence[-_LAST_TOLD:]}"


def paired(text: str) -> str:
    r"""Return the text with halves of surrogate pairs, which cannot be written, as U+FFFD.

    >>> paired("a\udcff")
    'a�'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def paired_json(text: str) -> tuple[str, int]:
    r"""Return a JSON text without halves of surrogate pairs, and how many escapes were such.

    JSON may hold them, and nothing that is shown, saved or sent can. Every reader of JSON asks for
    this before it parses; places in the text stay what they are.

    >>> paired_json('"a\\udcff"')
    ('"a\\ufffd"', 1)
    """
    text = paired(text)
    if "\\ud" not in text and "\\uD" not in text:
        return text, 0
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        if match[1] is None:
            return match[0]
        count += 1
        return "\\ufffd"

    return _ESCAPES.sub(replace, text), count
