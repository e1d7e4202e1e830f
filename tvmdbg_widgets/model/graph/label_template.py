"""Labels of boxes by a template, ``"{op} #{id}"``. Nothing in it is evaluated."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: What may stand in braces.
FIELDS = (
    "op",
    "id",
    "name",
    "func",
    "kind",
    "shape",
    "dtype",
    "time",
    "share",
    "device",
    "storage",
    "layout",
    "bytes",
    "value",
)
_MOST = 400
_LINES = 2
_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
#: What ``trim`` of JavaScript takes away, which the views do.
_BLANKS = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)


@dataclass(frozen=True)
class LabelTemplate:
    """A template that was read: for each line its parts, texts and ``(field,)`` by turns."""

    text: str
    lines: tuple[tuple[str | tuple[str], ...], ...]

    @classmethod
    def parse(cls, text: str) -> LabelTemplate:
        """Read a template; the empty one has no lines.

        Raises
        ------
        ValueError
            An unknown field, a brace alone, more than two lines or 400 characters; the message
            says where, and names a close field.
        """
        if len(text) > _MOST:
            raise ValueError(f"a label has at most {_MOST} characters, found {len(text):,}")
        lines = text.split("\n") if text else []
        if len(lines) > _LINES:
            raise ValueError(f"a box has room for {_LINES} lines, found {len(lines)}")
        return cls(text, tuple(_parts(line) for line in lines))

    def fill(self, value: Callable[[str], str]) -> list[str]:
        """Return the lines with values for the fields; empty parts between dots are left out."""
        filled = (
            "".join(part if isinstance(part, str) else value(part[0]) for part in parts)
            for parts in self.lines
        )
        return [
            " · ".join(filter(None, (part.strip(_BLANKS) for part in line.split(" · "))))
            for line in filled
        ]


def _parts(line: str) -> tuple[str | tuple[str], ...]:
    parts: list[str | tuple[str]] = []
    at = 0
    for found in _PART.finditer(line):
        parts.append(line[at : found.start()])
        at = found.end()
        whole, name = found.group(), found.group(1)
        if whole in ("{{", "}}"):
            parts.append(whole[0])
        elif name is None:
            raise ValueError(f"{whole!r} at {found.start()} stands alone; write {whole * 2!r}")
        elif name not in FIELDS:
            close = difflib.get_close_matches(name, FIELDS, n=1, cutoff=0.5)
            hint = f"; did you mean {{{close[0]}}}?" if close else ""
            raise ValueError(f"unknown field {{{name}}} at {found.start()}{hint}; known: {_all()}")
        else:
            parts.append((name,))
    return (*parts, line[at:])


def _all() -> str:
    return ", ".join(FIELDS)
