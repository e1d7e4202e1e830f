"""Text from files, made fit for one line of a terminal or a message."""

from __future__ import annotations


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
