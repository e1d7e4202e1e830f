"""Reading a regular expression: letters, classes, groups, repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

_MOST_DEPTH: Final = 50
_LAST: Final = 0x10FFFF
_DIGITS: Final = "0123456789"

Ranges: TypeAlias = tuple[tuple[int, int], ...]

_CLASSES: Final[dict[str, Ranges]] = {
    "d": ((48, 57),),
    "w": ((48, 57), (95, 95), (97, 122)),
    "s": ((9, 13), (32, 32)),
}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Read:
    """One character of some ranges of code points."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Border:
    """The start or the end of the text."""

    at: Literal["start", "end"]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A piece `least` to `most` times; `most` -1 is any number."""

    piece: Piece
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Either:
    """Any one of some sequences."""

    ways: tuple[tuple[Piece, ...], ...]


Piece: TypeAlias = Read | Border | Repeat | Either


class RegexError(ValueError):
    """An expression that cannot be read; ``at`` is the character where it goes wrong."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


class RegexReader:
    """Reads one expression; see :mod:`tvmdbg_widgets.analysis.query.regex`."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._at, self._depth = pattern, 0, 0

    def read(self) -> Either:
        """Return the expression.

        Raises
        ------
        RegexError
            It cannot be read.
        """
        found = self._either()
        if self._at < len(self._pattern):
            raise RegexError(self._at, "expected no ')' without a '('")
        return found

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _next(self) -> str:
        self._at += 1
        return self._pattern[self._at - 1 : self._at]

    def _either(self) -> Either:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise RegexError(self._at, f"expected at most {_MOST_DEPTH} nested groups")
        ways = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            ways.append(self._sequence())
        self._depth -= 1
        return Either(tuple(ways))

    def _sequence(self) -> tuple[Piece, ...]:
        found: list[Piece] = []
        while self._peek() not in ("", "|", ")"):
            piece = self._piece()
            least, most = self._repeats()
            found.append(piece if (least, most) == (1, 1) else Repeat(piece, least, most))
        return tuple(found)

    def _piece(self) -> Piece:
        at, sign = self._at, self._next()
        if sign == "(":
            return self._group(at)
        if sign in "*+?{":
            raise RegexError(at, f"expected something before '{sign}'")
        if sign in "^$":
            return Border("start" if sign == "^" else "end")
        if sign == ".":
            return Read(((0, _LAST),))
        return Read(self._class(at) if sign == "[" else self._one(sign))

    def _group(self, opened: int) -> Either:
        if self._pattern.startswith("?:", self._at):
            self._at += 2
        elif self._peek() == "?":
            raise RegexError(self._at, "expected a plain group, ( ) or (?: )")
        found = self._either()
        if self._next() != ")":
            raise RegexError(opened, "expected a ')' for this '('")
        return found

    def _repeats(self) -> tuple[int, int]:
        sign = self._peek()
        if not sign or sign not in "*+?{":
            return 1, 1
        at = self._at
        self._at += 1
        least, most = int(sign == "+"), 1 if sign == "?" else -1
        if sign == "{":
            least, most = self._counts(at)
        if self._peek() == "?":
            self._at += 1
        if self._peek() and self._peek() in "*+?{":
            raise RegexError(self._at, "expected one repetition, not two")
        return least, most

    def _counts(self, opened: int) -> tuple[int, int]:
        least = most = self._count()
        good = least >= 0
        if self._peek() == ",":
            self._at += 1
            most = -1 if self._peek() == "}" else self._count()
            good &= most >= least or self._pattern[self._at - 1] == ","
        if not good or self._next() != "}":
            raise RegexError(opened, "expected a repetition like {2} or {2,5}")
        return least, most

    def _count(self) -> int:
        start = self._at
        while self._peek() and self._peek() in _DIGITS:
            self._at += 1
        digits = self._pattern[start : self._at]
        return int(digits) if 0 < len(digits) <= 4 else -1

    def _one(self, sign: str) -> Ranges:
        """Return what one character means; after a backslash, perhaps a class."""
        if sign == "\\":
            at = self._at - 1
            sign = self._next()
            if sign in _CLASSES:
                return _CLASSES[sign]
            if sign.lower() in _CLASSES:
                return _others(_CLASSES[sign.lower()])
            if not sign or (sign.isascii() and sign.isalnum() and sign not in _CONTROLS):
                raise RegexError(at, "expected an escape like \\d, \\w, \\s or \\.")
            sign = _CONTROLS.get(sign, sign)
        lower = sign.lower()
        code = ord(lower if len(lower) == 1 else sign)
        return ((code, code),)

    def _class(self, opened: int) -> Ranges:
        found: list[tuple[int, int]] = []
        opposite = self._peek() == "^"
        self._at += opposite
        first = self._at
        while self._peek() != "]" or self._at == first:
            at, sign = self._at, self._next()
            if not sign:
                raise RegexError(opened, "expected a ']' for this '['")
            low = self._one(sign)
            if self._peek() != "-" or self._pattern[self._at + 1 : self._at + 2] in ("", "]"):
                found += low
                continue
            self._at += 1
            high = self._one(self._next())
            if len(low) > 1 or len(high) > 1 or low[0][0] > high[0][0]:
                raise RegexError(at, "expected a range like a-z")
            found.append((low[0][0], high[0][0]))
        self._at += 1
        return _others(tuple(found)) if opposite else tuple(found)


def _others(ranges: Ranges) -> Ranges:
    found: list[tuple[int, int]] = []
    low = 0
    for first, last in sorted(ranges):
        if low < first:
            found.append((low, first - 1))
        low = max(low, last + 1)
    return (*found, (low, _LAST)) if low <= _LAST else tuple(found)
