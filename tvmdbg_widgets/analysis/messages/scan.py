"""Which known messages a text holds, and on which of its lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from tvmdbg_widgets.analysis.messages.details import (
    comparisons,
    in_words,
    which_argument,
    which_status,
)
from tvmdbg_widgets.analysis.messages.known import MESSAGES, FoundMessage, KnownMessage
from tvmdbg_widgets.analysis.messages.pasted import (
    as_printed,
    is_in_source,
    pieces_joined,
    plain,
    rejoined,
)
from tvmdbg_widgets.model.base.text import one_line

#: Letters before and behind the literal of a message that are looked at.
_BEFORE, _BEHIND = 600, 3000
#: Letters behind its literal that a message may have, as message.py asks of patterns.
_LONGEST = 1500
_SHOWN = 300
_ERROR = re.compile(
    r"\b(?:\w{0,40}(?<!SetLast)Error|Check failed|Assert fail|Mismatched|Segmentation fault"
    r"|terminate called)\b"
)
#: Lines that speak of an error and do not say which.
_SAYS_NOTHING = re.compile(
    r"(?:raise|except|class|from|import)\b"
    r"|.{0,200}(?:Error:$|\(most recent call last\):$|the following errors:$)"
)
_CONDITION = "Assert fail: "
_ENDS_CONDITION = re.compile(
    r"is expected to |has an unsatisfied|to be compact|num_args should|Expect arg|\n\s{0,80}\n"
)
_LINES_OF_CONDITION = 16
#: Lines that a terminal makes of one line of source code.
_LINES_OF_SOURCE = 3


class MessageScan:
    """The messages of one text."""

    def __init__(self, text: str) -> None:
        self._by_facts: dict[tuple[str, tuple[tuple[str, str], ...]], FoundMessage] = {}
        self._rows_of: dict[str, set[int]] = {}
        self._known_rows: set[int] = set()
        whole = rejoined(plain(as_printed(text)))
        self._find(*whole)
        # A message that lines of one width cut within a word is found in what they were before.
        joined = pieces_joined(*whole)
        if joined is not None:
            self._find(*joined)
        self._text, self._starts = whole
        self.found = sorted(self._by_facts.values(), key=lambda each: each.line)
        self.unknown = [(row + 1, self._shown(row)) for row in self._unknown_rows()]
        self.lines = len(self._starts) - (self._starts[-1] == len(self._text))

    def _find(self, text: str, starts: list[int]) -> None:
        """Add the messages of a text; not those of rows that have them already."""
        self._text, self._starts = text, starts
        before = {name: frozenset(rows) for name, rows in self._rows_of.items()}
        for message in MESSAGES:
            known = before.get(message.id, frozenset())
            for match in self._matches(message):
                rows = range(self._row(match.start()), self._row(match.end() - 1) + 1)
                if known.isdisjoint(rows) and not self._is_in_source(match.start()):
                    self._rows_of.setdefault(message.id, set()).update(rows)
                    self._add(message, match)

    def _matches(self, message: KnownMessage) -> Iterator[re.Match[str]]:
        """Yield every place of a message; looks around its literal alone, at no place often."""
        text, literal = self._text, message.literal_regex
        if message.word not in text:
            return
        done = 0
        found = literal.search(text)
        while found is not None:
            at = found.start()
            match = message.regex.search(text, max(done, at - _BEFORE), at + _BEHIND)
            if match is None:
                found = literal.search(text, at + _BEHIND - _LONGEST)
                continue
            yield match
            done = match.end()
            found = literal.search(text, max(done, at + 1))

    def _is_in_source(self, place: int) -> bool:
        begin = max(self._text.rfind("\n", 0, place) + 1, place - _BEHIND)
        end = self._text.find("\n", place, place + _BEHIND)
        line = self._text[begin : end if end >= 0 else place + _BEHIND]
        first = self._starts[max(0, self._row(begin) - _LINES_OF_SOURCE)]
        before = self._text[max(first, begin - _BEFORE) : begin]
        return is_in_source(before, line, place - begin)

    def _add(self, message: KnownMessage, match: re.Match[str]) -> None:
        facts = {key: one_line(value.strip()) for key, value in match.groupdict().items() if value}
        is_assert = message.says.startswith(_CONDITION)
        begin = self._condition_start(match.start()) if is_assert else None
        row = self._row(match.start() if begin is None else begin)
        self._known_rows.update(range(row, self._row(match.end() - 1) + 1))
        key = (message.id, tuple(facts.items()))
        seen = self._by_facts.get(key)
        if seen is not None:
            self._by_facts[key] = replace(seen, count=seen.count + 1)
            return
        details = [] if begin is None else in_words(comparisons(self._text[begin : match.start()]))
        details += which_argument(facts) + which_status(facts)
        self._by_facts[key] = FoundMessage(
            message, row + 1, self._shown(row), facts, tuple(details)
        )

    def _condition_start(self, end: int) -> int | None:
        """Return where the condition before a message begins, on its line or some lines above."""
        row = self._row(end)
        least = max(self._starts[max(0, row - _LINES_OF_CONDITION)], end - _BEHIND)
        begin = self._text.rfind(_CONDITION, least, end)
        if begin < 0 or _ENDS_CONDITION.search(self._text, begin, end):
            return None
        return begin

    def _unknown_rows(self) -> list[int]:
        places = (match.end() for match in _ERROR.finditer(self._text))
        rows = dict.fromkeys(self._row(each) for each in places if not self._is_in_source(each))
        return [
            row
            for row in rows
            if row not in self._known_rows and not _SAYS_NOTHING.match(self._line(row))
        ]

    def _row(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def _line(self, row: int) -> str:
        end = self._starts[row + 1] if row + 1 < len(self._starts) else len(self._text)
        return self._text[self._starts[row] : min(end, self._starts[row] + 4 * _SHOWN)].strip()

    def _shown(self, row: int) -> str:
        clean = one_line(self._line(row))
        return clean if len(clean) <= _SHOWN else f"{clean[: _SHOWN - 1]}…"
