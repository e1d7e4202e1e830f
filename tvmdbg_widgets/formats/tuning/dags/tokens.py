"""Tokens of the bodies that TVM prints, in both of its styles.

Up to v0.10 every operation stands in brackets and constants carry suffixes: ``((yy*2) + ry)``,
``0f`` (``ReprPrinter``, src/tir/ir/expr.cc); later bodies are Python: ``yy * 2 + ry``,
``T.float32(0)`` (src/script/printer/tir/).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Names of operations and axes; both may have dots and at signs.
NAME = r"[^\W\d][\w.@]*"

_BLANK = re.compile(r"\s*")
_TOKEN = re.compile(
    rf"""(?:
        (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?[fh]?(?![\w.]))
      | (?P<name>@?{NAME})
      | (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<sign>&&|\|\||==|!=|<=|>=|//|[-+*/%<>!()\[\],=])
      | (?P<end>$)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token."""

    kind: str
    text: str
    column: int


class BodyError(ValueError):
    """A body that cannot be read; `column` counts from 0."""

    def __init__(self, problem: str, column: int) -> None:
        super().__init__(problem)
        self.column = column


class TooDeepError(BodyError):
    """A body nested deeper than is read."""


def tokenize(text: str, start: int = 0) -> list[Token]:
    """Return the tokens of a line from a column on, the last one of kind ``"end"``."""
    found: list[Token] = []
    while not found or found[-1].kind != "end":
        blank = _BLANK.match(text, start)
        start = blank.end() if blank else start
        match = _TOKEN.match(text, start)
        if match is None:
            raise BodyError("no operand, operator or bracket", start)
        kind = str(match.lastgroup)
        found.append(Token(kind, match[kind], match.start(kind)))
        start = match.end()
    return found
