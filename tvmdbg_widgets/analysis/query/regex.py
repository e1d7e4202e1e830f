r"""Regular expressions that take time linear in the text, whatever they are.

Letters, ``.``, ``[a-z]``, ``\d \w \s`` and their opposites, ``( )``, ``|``, ``* + ? {2,5}``, ``^``
and ``$``; upper and lower case alike. Nothing that needs a way back: the states that an expression
can be in are followed all at once (K. Thompson, "Regular expression search algorithm", 1968), and
each set of them is kept with where the next character leads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tvmdbg_widgets.analysis.query.regex_tree import (
    Border,
    Either,
    Piece,
    Ranges,
    Read,
    RegexError,
    RegexReader,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_STATES: Final = 400
_MOST_KEPT: Final = 500
_MOST_WORK: Final = 500_000

_FOUND: Final = 0


class _Known:
    """A set of states, whether it is a match, and where characters lead."""

    __slots__ = ("at_end", "found", "next", "states")

    def __init__(self, states: frozenset[int], found: bool, at_end: bool) -> None:
        self.states, self.found, self.at_end = states, found, at_end
        self.next: dict[str, _Known] = {}


class Regex:
    """One expression.

    Raises
    ------
    RegexError
        It cannot be read, or is too large.
    """

    def __init__(self, pattern: str) -> None:
        # A state reads a character of its ranges, waits for a border, or goes on at once.
        self._ranges: list[Ranges] = [()]
        self._border: list[str] = [""]
        self._next: list[tuple[int, ...]] = [()]
        self._work = 0
        self._first = self._either(RegexReader(pattern).read(), _FOUND)
        self._kept: dict[frozenset[int], _Known] = {}
        self._open = self._known(self._closed([self._first], "start"))

    def search(self, text: str) -> bool:
        """Tell whether a text, in lower case, has a match anywhere.

        Raises
        ------
        RegexError
            It takes too long: the expression has too many ways through these texts.
        """
        known = self._open
        if known.found:
            return True
        for character in text:
            known = known.next.get(character) or self._read(known, character)
            if known.found:
                return True
            if not known.states:
                return False
        return known.at_end

    def _known(self, states: frozenset[int]) -> _Known:
        known = self._kept.get(states)
        if known is None:
            if len(self._kept) >= _MOST_KEPT:
                for each in self._kept.values():
                    each.next = {}
                self._kept.clear()
            at_end = _FOUND in self._closed(states, "end")
            known = self._kept[states] = _Known(states, _FOUND in states, at_end)
        return known

    def _read(self, known: _Known, character: str) -> _Known:
        code = ord(character)
        ahead = [self._first]
        for state in known.states:
            if any(low <= code <= high for low, high in self._ranges[state]):
                ahead += self._next[state]
        there = self._known(self._closed(ahead, ""))
        known.next[character] = there
        return there

    def _closed(self, states: Iterable[int], border: str) -> frozenset[int]:
        """Return the states that wait for a character or the end, reached without reading."""
        seen: set[int] = set()
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state in seen:
                continue
            seen.add(state)
            if not self._ranges[state] and self._border[state] in ("", border):
                waiting += self._next[state]
        self._work += len(seen)
        if self._work > _MOST_WORK:
            raise RegexError(0, "expected a simpler regular expression: this one takes too long")
        return frozenset(
            state
            for state in seen
            if self._ranges[state] or state == _FOUND or self._border[state] == "end"
        )

    def _add(self, next: tuple[int, ...], ranges: Ranges = (), border: str = "") -> int:  # noqa: A002
        if len(self._next) >= _MOST_STATES:
            raise RegexError(0, "expected a smaller regular expression")
        self._next.append(next)
        self._ranges.append(ranges)
        self._border.append(border)
        return len(self._next) - 1

    def _either(self, either: Either, after: int) -> int:
        return self._add(tuple(self._sequence(way, after) for way in either.ways))

    def _sequence(self, pieces: tuple[Piece, ...], after: int) -> int:
        for piece in reversed(pieces):
            after = self._piece(piece, after)
        return after

    def _piece(self, piece: Piece, after: int) -> int:
        if isinstance(piece, Read):
            # A class without any character leads nowhere.
            return self._add((after,), piece.ranges or ((-1, -1),))
        if isinstance(piece, Border):
            return self._add((after,), (), piece.at)
        if isinstance(piece, Either):
            return self._either(piece, after)
        if piece.most < 0:
            again = self._add(())
            self._next[again] = (self._piece(piece.piece, again), after)
            after = again
        end = after
        for _ in range(max(0, piece.most - piece.least)):
            after = self._add((self._piece(piece.piece, after), end))
        for _ in range(piece.least):
            after = self._piece(piece.piece, after)
        return after


def glob_regex(glob: str) -> str:
    """Return the expression of a pattern with ``*`` and ``?`` that a whole text must fit."""
    signs = {"*": ".*", "?": "."}
    plain = "".join(
        signs.get(each) or (each if each.isalnum() or not each.isascii() else f"\\{each}")
        for each in glob
    )
    return f"^{plain}$"
