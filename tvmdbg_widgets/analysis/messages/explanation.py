"""Console output explained: which known messages it holds, and what is known about each."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from tvmdbg_widgets.analysis.abi.places import PLACES
from tvmdbg_widgets.analysis.messages.conditions import comparisons, in_words
from tvmdbg_widgets.analysis.messages.table import MESSAGES, any_literal
from tvmdbg_widgets.model.numbers import counted
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tvmdbg_widgets.analysis.messages.message import KnownMessage

#: Letters before and behind a hit that its message may have.
_AROUND = 2000
_SHOWN = 300
_UNKNOWN_SHOWN = 5
#: Terminal sequences (ECMA-48): control sequences, and titles up to their end.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}\x07?)")
_ERROR = re.compile(r"\b(?:\w{0,40}Error|Check failed|Assert fail|Mismatched)\b")
_WRAPPED = re.compile(r"(?:Assert fail|Check failed|Mismatched)")
_LINES_JOINED = 3
_FIELDS_COMPARED = 3


@dataclass(frozen=True)
class FoundMessage:
    """One message that a text holds.

    Attributes
    ----------
    message : KnownMessage
    line : int
        Where it stands first, counted from 1.
    text : str
        The line, printable, up to 300 letters.
    facts : mapping of str to str
        What varies in it, such as ``{"dtype": "float32", "name": "arg0"}``.
    details : tuple of str
        What its condition says.
    count : int
        How often it stands there with the same facts.
    """

    message: KnownMessage
    line: int
    text: str
    facts: Mapping[str, str]
    details: tuple[str, ...] = ()
    count: int = 1

    def lines(self) -> list[str]:
        """Return what is known about it as lines of text."""
        known = self.message
        often = f", {self.count:,} times" if self.count > 1 else ""
        told = [f"line {self.line:,}{often}: {self.text}", f"  {known.id} (TVM {known.versions})"]
        if "ExecuTorch" in known.versions:
            told[1] = f"  {known.id} ({known.versions})"
        told.append(f"  cause: {known.cause}")
        told += [f"    {each}" for each in self.details]
        if known.tell:
            told.append(f"  how to tell: {known.tell}")
        told += [f"  next: {each}" for each in known.next]
        told.append(f"  source: {known.source}")
        return told


@dataclass(frozen=True)
class Explanation(Sequence[FoundMessage]):
    """What is known of a text, message by message, in the order of its lines.

    Attributes
    ----------
    found : tuple of FoundMessage
    lines : int
        Lines of the text.
    unknown : tuple of (int, str)
        Lines that look like errors and are not known.
    """

    found: tuple[FoundMessage, ...]
    lines: int
    unknown: tuple[tuple[int, str], ...] = field(default=())

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, index: int) -> FoundMessage: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FoundMessage, ...]: ...
    def __getitem__(self, index: int | slice) -> FoundMessage | tuple[FoundMessage, ...]:
        return self.found[index]

    @property
    def text(self) -> str:
        """All of it as text."""
        size = counted(self.lines, "line")
        if not self.found:
            told = [f"no message that is known in {size}"]
        else:
            told = [f"{counted(len(self.found), 'known message')} in {size}"]
        for each in self.found:
            told += ["", *each.lines()]
        if any(each.message.layout for each in self.found):
            told += ["", *places_lines()]
        if self.unknown:
            told += ["", "look like errors and are not known:"]
            told += [f"  line {line:,}: {text}" for line, text in self.unknown[:_UNKNOWN_SHOWN]]
            more = len(self.unknown) - _UNKNOWN_SHOWN
            told += [f"  and {more:,} more"] if more > 0 else []
        return "\n".join(told)

    def to_dataframe(self) -> Any:
        """One row per message (``pandas.DataFrame``); ImportError without pandas."""
        from tvmdbg_widgets.model.frames import data_frame

        return data_frame(
            {
                "line": [each.line for each in self.found],
                "count": [each.count for each in self.found],
                "id": [each.message.id for each in self.found],
                "text": [each.text for each in self.found],
                "cause": [each.message.cause for each in self.found],
            }
        )

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def places_lines() -> list[str]:
    """Return the places that must change together, with what breaks where one is forgotten."""
    told = ["Where DLDataType was changed, all of these must change together:"]
    for place in PLACES:
        optional = "" if place.required else " (where it is used)"
        names = dict.fromkeys(path.rpartition("/")[2] for path in place.paths)
        told.append(f"  {' or '.join(names)}{optional}: {place.change}.")
        told.append(f"    forgotten: {place.forgotten}.")
    told.append("  tvmdbg struct --check TVM_SOURCE --layout LAYOUT looks at each of them.")
    return told


def explain(text: str | bytes) -> Explanation:
    """Say what is known about the messages in console output of any length.

    Parameters
    ----------
    text : str or bytes
        What TVM, ExecuTorch's Inspector or a tuner printed, pasted as it is; terminal sequences
        are taken out.

    Returns
    -------
    Explanation
        A sequence of the messages found, each with cause, how to tell it from its neighbors, and
        what to look at next. Equal ones are counted. Empty where nothing is known.

    Examples
    --------
    >>> import tvmdbg_widgets as tvmdbg
    >>> found = tvmdbg.explain("TVMError: Invalid DLTensor file format")
    >>> found[0].message.id
    'params-array'
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return _Scan(_ESCAPES.sub("", text)).explanation()


class _Scan:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer(r"\n", text))]
        self._found: dict[tuple[str, tuple[tuple[str, str], ...]], FoundMessage] = {}
        self._known_lines: set[int] = set()

    def explanation(self) -> Explanation:
        self._search(self._text, self._starts)
        unknown = self._unknown()
        if unknown:
            self._search_wrapped(unknown)
            unknown = [row for row in unknown if row not in self._known_lines]
        found = sorted(self._found.values(), key=lambda each: each.line)
        shown = tuple((row + 1, self._shown(row)) for row in unknown)
        return Explanation(tuple(found), len(self._text.splitlines()), shown)

    def _search(self, text: str, starts: Sequence[int], row: int | None = None) -> None:
        """Look at every window that has the letters of a message, once a message."""
        looked_to: dict[str, int] = {}
        for hit in any_literal().finditer(text):
            literal = hit[0]
            if hit.start() < looked_to.get(literal, 0):
                continue
            own = bisect_right(starts, hit.start()) - 1 if row is None else row
            line_start = starts[own] if row is None else 0
            line_end = starts[own + 1] if row is None and own + 1 < len(starts) else len(text)
            start = max(line_start, hit.start() - _AROUND)
            end = min(line_end, hit.end() + _AROUND)
            looked_to[literal] = end
            window = text[start:end]
            for message in MESSAGES:
                if message.literal in window:
                    self._look(message, window, own)

    def _look(self, message: KnownMessage, window: str, row: int) -> None:
        match = message.regex.search(window)
        if match is None:
            return
        facts = {name: one_line(value) for name, value in match.groupdict().items() if value}
        key = (message.id, tuple(facts.items()))
        seen = self._found.get(key)
        if seen is not None:
            if row not in self._known_lines or seen.line != row + 1:
                self._found[key] = FoundMessage(
                    message, seen.line, seen.text, facts, seen.details, seen.count + 1
                )
            self._known_lines.add(row)
            return
        details = self._condition(window, row) if message.id == "argument-dtype" else []
        self._known_lines.add(row)
        self._found[key] = FoundMessage(message, row + 1, self._shown(row), facts, tuple(details))

    def _condition(self, window: str, row: int) -> list[str]:
        """Read the condition of an assert; a terminal may have cut the lines before."""
        found = comparisons(window)
        if len(found) < _FIELDS_COMPARED:
            before = self._text[self._starts[max(0, row - _LINES_JOINED)] : self._starts[row]]
            joined = before[-_AROUND:].replace("\n", "") + window
            found = comparisons(joined[joined.rfind("Assert fail") :])
        return in_words(found)

    def _unknown(self) -> list[int]:
        """Return the rows that look like errors and hold no message that is known."""
        rows = dict.fromkeys(
            bisect_right(self._starts, match.start()) - 1 for match in _ERROR.finditer(self._text)
        )
        return [row for row in rows if row not in self._known_lines]

    def _search_wrapped(self, rows: Sequence[int]) -> None:
        """Look at lines that a terminal may have cut in two or three."""
        for row in rows:
            start = self._starts[row]
            if not _WRAPPED.search(self._text, start, start + _AROUND):
                continue
            last = min(row + _LINES_JOINED, len(self._starts) - 1)
            end = self._starts[last] if last > row else len(self._text)
            joined = self._text[start : min(end, start + 2 * _AROUND)].replace("\n", "")
            self._search(joined, (), row)

    def _shown(self, row: int) -> str:
        end = self._starts[row + 1] - 1 if row + 1 < len(self._starts) else len(self._text)
        line = self._text[self._starts[row] : min(end, self._starts[row] + 4 * _SHOWN)].strip()
        clean = one_line(line)
        return clean if len(clean) <= _SHOWN else f"{clean[: _SHOWN - 1]}…"
