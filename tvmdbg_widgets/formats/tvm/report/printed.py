"""The JSON text that TVM puts together by hand for a report, piece by piece.

A string that is not escaped ends at the first quote behind which the printer's own text goes on:
``"}`` and then the next metric, call, section or the end. This finds the true end of every string
that does not itself hold ``":{``, since each way on but the last needs it and the last is the end
of the file. A string that holds it cannot be told from a piece of the report: it is left out.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tvmdbg_widgets.formats.tvm.report.numbers import parse_number

_KEY = r'"[^"]*"\s*:\s*'
_SECTION = r'"(?:calls|device_metrics|configuration)"\s*:'
_NEXT_METRIC = rf'"\s*\}}\s*(?:,\s*{_KEY}\{{\s*"[^"]*"\s*:|'
_END = r"\}\s*\Z"
#: What follows a string, by the section it stands in.
_ENDS = {
    "calls": re.compile(
        rf"{_NEXT_METRIC}\}}\s*(?:,\s*\{{\s*{_KEY}\{{|\]\s*(?:,\s*{_SECTION}|{_END})))"
    ),
    "device_metrics": re.compile(
        rf"{_NEXT_METRIC}\}}\s*(?:,\s*{_KEY}\{{|\}}\s*(?:,\s*{_SECTION}|{_END})))"
    ),
    "configuration": re.compile(rf"{_NEXT_METRIC}\}}\s*(?:,\s*{_SECTION}|{_END}))"),
}
_SPACE = re.compile(r"\s*")
_PLAIN_KEY = re.compile(r'"([^"]*)"\s*:\s*')
_ATOM = re.compile(r"[^\s,{}\[\]\"]+")
_DECODER = json.JSONDecoder(strict=False)
_UNCLEAR = re.compile(r'"\s*:\s*\{')


class StopError(Exception):
    """The text does not go on as a report does."""

    def __init__(self, position: int, expected: str) -> None:
        super().__init__(expected)
        self.position = position
        self.expected = expected


class PrintedNumber(str):
    """A number of JSON, as written."""

    __slots__ = ()


def is_unclear(text: str) -> bool:
    """Whether a string holds what looks like a piece of the report."""
    return _UNCLEAR.search(text) is not None


class PrintedText:
    """A report's text; StopError where it does not go on as a report does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._known = (0, 0)  # a place and its offset

    def offset(self, position: int) -> int:
        """Return the offset in UTF-8 bytes of a place in the text."""
        start, before = self._known if self._known[0] <= position else (0, 0)
        found = before + len(self.text[start:position].encode("utf-8", "surrogatepass"))
        self._known = (position, found)
        return found

    def value(self, position: int, section: str) -> tuple[Any, int]:
        """Return a value and the place behind it; `section` tells what may follow a string."""
        position = self.skip(position)
        first = self.text[position : position + 1]
        if first == '"':
            end = position
            while (end := self.text.find('"', end + 1)) >= 0:
                if _ENDS[section].match(self.text, end):
                    return self.text[position + 1 : end], end + 1
            raise StopError(position, "a string that ends")
        if first in ("{", "["):
            try:
                return _DECODER.raw_decode(self.text, position)
            except (ValueError, RecursionError):
                raise StopError(position, "JSON") from None
        atom = _ATOM.match(self.text, position)
        if atom is None or atom.end() == len(self.text):
            raise StopError(position, "a value")
        if parse_number(atom[0]) is not None:
            return PrintedNumber(atom[0]), atom.end()
        if atom[0] in ("true", "false", "null"):
            return json.loads(atom[0]), atom.end()
        raise StopError(position, "a number, nan, inf or a string")

    def key(self, position: int) -> tuple[str, int]:
        """Return a key and the place behind its colon."""
        position = self.skip(position)
        match = _PLAIN_KEY.match(self.text, position)
        if match is None:
            raise StopError(position, "a key")
        return match[1], match.end()

    def skip(self, position: int) -> int:
        """Return the next place that is no space."""
        match = _SPACE.match(self.text, position)
        return match.end() if match else position

    def at(self, position: int) -> str:
        """Return the next character that is no space, "" at the end."""
        place = self.skip(position)
        return self.text[place : place + 1]

    def after(self, position: int, token: str, expected: str) -> int:
        """Return the place behind a token that stands next."""
        place = self.skip(position)
        if not self.text.startswith(token, place):
            raise StopError(place, expected)
        return place + 1
