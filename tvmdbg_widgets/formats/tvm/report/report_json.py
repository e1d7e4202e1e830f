"""A profiling report from ``Report.json()``, also rewritten by JSON tools.

``src/runtime/profiling.cc`` @ v0.8 … v0.19.0, ``Report::AsJSON``: strings are not escaped, numbers
have 6 decimals (v0.8) or 17, and ``nan`` and ``inf`` stand bare.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tvmdbg_widgets.formats.tvm.report.numbers import parse_number
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import FormatError, IssueLog, listed, one_line, paired
from tvmdbg_widgets.model.timeline.report import Metric

SECTIONS = ("calls", "device_metrics", "configuration")
_FLOATS = re.compile(r'":\s*-?[0-9]+\.([0-9]+)(?=\s*\})')

Row = dict[str, Metric]


class ReportText:
    """The contents of a report's JSON up to the first damage."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self._printed = PrintedText(text)
        self.file = file
        self.calls: list[Row] = []
        self.device_metrics: dict[str, Row] = {}
        self.configuration: Row = {}
        self.issues = IssueLog(file)
        self.truncated = False
        self._sections: set[str] = set()

    def read(self) -> None:
        """Read the text; FormatError unless it begins as a report."""
        document = self._valid()
        if document is not None and not ("\\" in self.text and self._printed_by_tvm()):
            self._convert(document)
            return
        if document is not None:
            self.issues.note(
                "backslash-kept",
                "the numbers are printed as TVM prints them, and TVM does not escape strings: "
                "backslashes are read as is",
            )
        self._scan()

    def _valid(self) -> dict[str, Any] | None:
        try:
            document = json.loads(
                self.text,
                strict=False,
                parse_float=PrintedNumber,
                parse_int=PrintedNumber,
                parse_constant=PrintedNumber,
                object_pairs_hook=_JsonPairs,
            )
        except (ValueError, RecursionError):
            return None
        return document if isinstance(document, dict) else None

    def _printed_by_tvm(self) -> bool:
        decimals = {len(digits) for digits in _FLOATS.findall(self.text)}
        return self.text.startswith('{"calls":[') and decimals in ({6}, {17})

    def _convert(self, document: dict[str, Any]) -> None:
        calls = document.get("calls")
        if not isinstance(calls, list):
            raise FormatError(
                "this JSON is not a profiling report",
                file=self.file,
                field="calls",
                expected="a list of calls",
                found="nothing" if calls is None else type(calls).__name__,
            )
        others = [key for key in document if key not in SECTIONS]
        if others:
            self.issues.note(
                "unknown-section",
                f"the report has sections no TVM release writes: {one_line(listed(others))}",
            )
        self.calls = [self._row(call, f"calls[{i}]") for i, call in enumerate(calls)]
        devices = self._mapping(document, "device_metrics")
        self.device_metrics = {
            name: self._row(value, f"device_metrics[{name!r}]") for name, value in devices.items()
        }
        self.configuration = self._row(self._mapping(document, "configuration"), "configuration")

    def _mapping(self, document: dict[str, Any], key: str) -> dict[str, Any]:
        value = document.get(key, {})
        if isinstance(value, dict):
            return value
        self.issues.warning("metric-unreadable", f"{key} is not an object; it is left out")
        return {}

    def _row(self, value: Any, where: str) -> Row:
        if not isinstance(value, dict):
            self.issues.error(
                "metric-unreadable",
                f"{one_line(where)} is not an object of metrics; its row is kept without values",
            )
            return {}
        row: Row = {}
        doubled = value.doubled if isinstance(value, _JsonPairs) else set()
        for name, metric in value.items():
            if name in doubled:
                self._doubled(name, where)
            elif isinstance(metric, dict) and not getattr(metric, "doubled", None):
                self._add(row, name, list(metric.items()), where)
            else:
                self._add(row, name, [], where)
        return row

    def _doubled(self, name: str, where: str) -> None:
        self.issues.warning(
            "metric-twice",
            f"{one_line(where)} has {name!r} twice: which is true cannot be known, both are left "
            "out",
        )

    def _add(self, row: Row, name: str, values: Sequence[tuple[str, Any]], where: str) -> None:
        if len(values) != 1:
            keys = one_line(listed([key for key, _ in values])) or "none"
            self.issues.warning(
                "metric-unreadable",
                f"{one_line(where)}: {name!r} must have exactly one value key, found {keys}; "
                "it is left out",
            )
            return
        kind, value = values[0]
        if isinstance(value, PrintedNumber):
            number = parse_number(str(value))
            row[name] = Metric(kind, str(value) if number is None else number, str(value))
        elif isinstance(value, str):
            clean = paired(value)
            row[name] = Metric(kind, clean, clean)
        else:
            row[name] = Metric(kind, value, json.dumps(value))

    def _scan(self) -> None:
        try:
            self._top()
        except StopError as stop:
            place = self._printed.offset(stop.position)
            if not (self.calls or self.device_metrics or self.configuration):
                raise FormatError(
                    "this text is no profiling report, or one cut off before its first call",
                    file=self.file,
                    offset=place,
                    expected=stop.expected,
                    found=repr(self.text[stop.position : stop.position + 40]),
                    hint="Write it again with Report.json().",
                ) from None
            self.truncated = True
            self.issues.error(
                "report-cut",
                f"at byte {place} the report does not go on as it should "
                f"(expected {stop.expected}); {counted(len(self.calls), 'call')} before that "
                f"place {agree(len(self.calls), 'is')} read",
            )

    def _top(self) -> None:
        position = self._printed.after(0, "{", 'an object {"calls":[')
        while True:
            key, position = self._printed.key(position)
            if key not in SECTIONS or key in self._sections:
                raise StopError(position, "one of calls, device_metrics, configuration, each once")
            position = self._printed.after(position, "[" if key == "calls" else "{", f"the {key}")
            self._sections.add(key)
            if key == "calls":
                position = self._calls(position)
            elif key == "device_metrics":
                position = self._devices(position)
            else:
                self.configuration, position = self._metrics(position, key, key)
            if self._printed.at(position) == "}":
                end = self._printed.skip(self._printed.skip(position) + 1)
                if end < len(self.text):
                    raise StopError(end, "the end of the file")
                return
            position = self._printed.after(position, ",", "',' or '}'")

    def _calls(self, position: int) -> int:
        if self._printed.at(position) == "]":
            return self._printed.skip(position) + 1
        while True:
            position = self._printed.after(position, "{", "a call")
            row, position = self._metrics(position, "calls", f"calls[{len(self.calls)}]")
            self.calls.append(row)
            if self._printed.at(position) == "]":
                return self._printed.skip(position) + 1
            position = self._printed.after(position, ",", "',' or ']'")

    def _devices(self, position: int) -> int:
        while self._printed.at(position) != "}":
            if self.device_metrics:
                position = self._printed.after(position, ",", "',' or '}'")
            name, position = self._printed.key(position)
            position = self._printed.after(position, "{", "the metrics of a device")
            row, position = self._metrics(position, "device_metrics", f"device_metrics[{name!r}]")
            if name in self.device_metrics:
                raise StopError(position, f"device {name!r} once")
            self.device_metrics[name] = row
        return self._printed.skip(position) + 1

    def _metrics(self, position: int, section: str, where: str) -> tuple[Row, int]:
        row: Row = {}
        seen: set[str] = set()
        while self._printed.at(position) != "}":
            if seen:
                position = self._printed.after(position, ",", "',' or '}'")
            name, position = self._printed.key(position)
            position = self._printed.after(position, "{", "a metric")
            values, position = self._values(position, section, f"{where}: {name!r}")
            if name in seen:
                row.pop(name, None)
                self._doubled(name, where)
            elif values is not None:
                self._add(row, name, values, where)
            seen.add(name)
        return row, self._printed.skip(position) + 1

    def _values(
        self, position: int, section: str, where: str
    ) -> tuple[list[tuple[str, Any]] | None, int]:
        values: list[tuple[str, Any]] = []
        clear = True
        while self._printed.at(position) != "}":
            if values:
                position = self._printed.after(position, ",", "'}'")
            kind, position = self._printed.key(position)
            value, end = self._printed.value(position, section)
            if isinstance(value, str) and _UNCLEAR.search(value):
                clear = False
                place = self._printed.offset(position)
                self.issues.warning(
                    "string-unclear",
                    f"{one_line(where)}: the string at byte {place} holds what "
                    "looks like a piece of the report; TVM does not escape strings, so where it "
                    "ends cannot be known. It is left out",
                )
            values.append((kind, value))
            position = end
        return values if clear else None, self._printed.skip(position) + 1


class _JsonPairs(dict[str, Any]):
    """An object of parsed JSON with its repeated keys."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        counts = Counter(key for key, _ in pairs) if len(self) < len(pairs) else {}
        self.doubled = {key for key, count in counts.items() if count > 1}


_KEY = r'"[^"]*"\s*:\s*'
_SECTION = r'"(?:calls|device_metrics|configuration)"\s*:'
_NEXT_METRIC = rf'"\s*\}}\s*(?:,\s*{_KEY}\{{\s*"[^"]*"\s*:|'
_END = r"\}\s*\Z"
#: Tokens after a string by section.
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
    """Raised where the text stops being a report."""

    def __init__(self, position: int, expected: str) -> None:
        super().__init__(expected)
        self.position = position
        self.expected = expected


class PrintedNumber(str):
    """A number of JSON, as written."""

    __slots__ = ()


class PrintedText:
    """A report's text; StopError where it stops being one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._known = (0, 0)  # a place and its offset

    def offset(self, position: int) -> int:
        """Return the offset in UTF-8 bytes of a place in the text."""
        start, before = self._known if self._known[0] <= position else (0, 0)
        offset = before + len(self.text[start:position].encode("utf-8", "surrogatepass"))
        self._known = (position, offset)
        return offset

    def value(self, position: int, section: str) -> tuple[Any, int]:
        """Return a value and the place behind it; `section` determines what may follow a string."""
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
        """Return the place behind the expected next token."""
        place = self.skip(position)
        if not self.text.startswith(token, place):
            raise StopError(place, expected)
        return place + 1
