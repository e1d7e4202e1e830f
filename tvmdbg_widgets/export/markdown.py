"""Text from files as Markdown that shows it and does nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from tvmdbg_widgets.model.base.text import one_line

#: An underscore between letters or digits is never emphasis (CommonMark 0.31, section 6.2).
_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9_])_|_(?![A-Za-z0-9_])|(?<=_)_|_(?=_)")
#: A line that starts so would become a list, a heading, a quote or a rule.
_LEADING = re.compile(r"^(?:([-+=#])|(\d{1,9})([.)](?=\s|$)))")
#: What GitHub turns into a mention, a reference or a link whatever stands before it.
_LINKED = re.compile(r"(@|#)(?=\w)|(?<=\w)(:)(?=//)|(?<=www)(\.)", re.IGNORECASE)
_JOINER = "\u2060"
_TICKS = re.compile("`+")


def plain(text: str) -> str:
    """Return text as a run of Markdown that reads as the text itself.

    A word joiner, which has no width, stands behind ``@``, ``#`` and the colon of an address, so
    that nobody is mentioned and nothing is linked.
    """
    escaped = html.escape(_SPECIAL.sub(r"\\\g<0>", one_line(text).strip()), quote=False)
    escaped = _LEADING.sub(lambda at: f"{at[2] or ''}\\{at[1] or at[3]}", escaped)
    return _LINKED.sub(lambda found: found[0] + _JOINER, escaped)


def code(text: str) -> str:
    """Return text as a code span, whatever back ticks are in it; ``(empty)`` for none."""
    shown = one_line(text)
    if not shown.strip():
        return "(empty)"
    longest = max((len(ticks) for ticks in _TICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def bullets(items: Iterable[str], indent: str = "") -> list[str]:
    """Return lines of a list; the items are Markdown already."""
    return [f"{indent}- {item}" for item in items]


def fenced(text: str) -> list[str]:
    """Return lines of a code block."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *map(one_line, text.splitlines()), fence]


def image(title: str, address: str) -> str:
    """Return an image; the address is one made here, without blanks and brackets."""
    return f"![{plain(title)}]({address})"


def section(title: str, lines: Sequence[str], level: int = 2) -> list[str]:
    """Return a heading and what stands below it, nothing where that is empty."""
    return ["", f"{'#' * level} {title}", "", *lines] if lines else []
