"""Texts of traces and logs in any encoding, and lists of node times."""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.decimals import DecimalText
from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.model.base.numbers import agree, as_float, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity, paired_json
from tvmdbg_widgets.sources.byte_source import ByteSource

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes, file: str) -> tuple[str, list[Issue]]:
    """Decode text as UTF-8, or as UTF-16 with a byte order mark; other bytes are an issue."""
    mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
    body = data[len(mark) :]
    try:
        return body.decode(encoding), []
    except UnicodeDecodeError as error:
        message = (
            f"bytes at offset {len(mark) + error.start} are not {encoding.upper()}; "
            "they are shown as U+FFFD"
        )
        return body.decode(encoding, errors="replace"), [
            Issue("not-text", IssueSeverity.WARNING, message, file=file)
        ]


def read_text(source: ByteSource) -> tuple[str, list[Issue]]:
    """Read a source as text; see :func:`decode`."""
    return decode(source.read(0, source.size), source.name)


Floats = npt.NDArray[np.float64]

_CLOCKED = 3
_PLAIN = {int, float, type(None)}
_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1.0}
_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|NaN|Infinity)"
_NESTED = re.compile(rf"\s*\[\s*\[\s*(?:{_NUMBER}|null)\s*[,\]]")
_KEYED = re.compile(r'"nodes"\s*:\s*\[\s*(?:"|\])')


@dataclass(frozen=True, eq=False)
class TimeList:
    """Measured times of N nodes by position."""

    offsets: npt.NDArray[np.int64]
    ns: Floats
    names: tuple[str, ...] | None
    issues: Issues
    file: str

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def repeats(self, node: int) -> Floats:
        """Repeats of a node in nanoseconds, in file order."""
        return self.ns[self.offsets[node] : self.offsets[node + 1]]

    def __repr__(self) -> str:
        counts = np.diff(self.offsets)
        low, high = (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)
        repeats = counted(high, "repeat") if low == high else f"{low} to {high} repeats"
        issues = f"; {self.issues.summary()}" if len(self.issues) else ""
        return f"TimeList: {counted(len(self), 'node')}, {repeats} each; {self.file}{issues}"


def sniff(head: bytes) -> bool:
    """Return whether these bytes begin a list of node times; bare numbers do not count."""
    text = decode(head, "")[0]
    if _NESTED.match(text):
        return True
    return text.lstrip()[:1] == "{" and '"unit"' in text and _KEYED.search(text) is not None


def read_time_list(source: ByteSource) -> TimeList:
    """Read a list of node times; values that are no finite numbers are NaN."""
    text, issues = read_text(source)
    text, _ = paired_json(text)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as problem:
        raise FormatError(
            f"not JSON ({str(problem)[:80]})",
            file=source.name,
            offset=len(text[: problem.pos].encode("utf-8", "surrogatepass")),
            expected="[[seconds, …], …]",
            found=repr(text[:60]),
            hint="The file may be cut off: write it again.",
        ) from None
    except (ValueError, RecursionError) as problem:
        deep = isinstance(problem, RecursionError)
        raise FormatError(
            "nested too deeply" if deep else "a number too long to be read",
            file=source.name,
            expected="[[seconds, …], …]",
            found=str(problem).partition(":")[0].lower(),
        ) from None
    names: tuple[str, ...] | None = None
    if isinstance(document, dict):
        names, values, counts = _runs(document, source.name)
        scale = _UNITS[document["unit"]]
    elif isinstance(document, list):
        values, counts = _nodes(document, source.name)
        scale = 1e9
    else:
        raise _wrong(source.name, "the document", "a list or an object", document)
    with np.errstate(over="ignore"):
        ns = values * scale
    ns[np.isinf(ns)] = np.nan
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    negative = np.flatnonzero(ns < 0)
    if len(negative):
        node = int(np.searchsorted(offsets, negative[0], "right")) - 1
        note = (
            f"{counted(len(negative), 'time')} below zero, the first of node {node} "
            f"({ns[negative[0]]:.9g} ns)"
        )
        issues.append(Issue("time-negative", IssueSeverity.WARNING, note, file=source.name))
    return TimeList(offsets, ns, names, Issues(issues), source.name)


def _nodes(document: list[Any], file: str) -> tuple[Floats, list[int]]:
    own = [item if isinstance(item, list) else [item] for item in document]
    clocked = sum(len(item) == _CLOCKED and str in map(type, item[1:]) for item in own)
    if 0 < clocked < len(document):
        raise FormatError(
            "some nodes have start and end times and some have not",
            file=file,
            expected="[seconds, start, end] for every node",
            found=f"{clocked} of {counted(len(document), 'node')}",
        )
    if clocked:
        own = [item[:1] for item in own]

    def field(i: int, k: int) -> str:
        return f"[{i}][{k}]" if isinstance(document[i], list) else f"[{i}]"

    return _numbers(own, file, field), [len(item) for item in own]


def _runs(document: dict[str, Any], file: str) -> tuple[tuple[str, ...], Floats, list[int]]:
    unit, names, runs = (document.get(key) for key in ("unit", "nodes", "runs"))
    if not isinstance(unit, str) or unit not in _UNITS:
        raise _wrong(file, "unit", f"one of {', '.join(_UNITS)}", unit)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _wrong(file, "nodes", "a list of names", names)
    if not isinstance(runs, list) or not all(isinstance(run, list) for run in runs):
        raise _wrong(file, "runs", "a list of lists of times", runs)
    for k, run in enumerate(runs):
        if len(run) != len(names):
            raise _wrong(file, f"runs[{k}]", f"{counted(len(names), 'time')}, one per node", run)
    values = _numbers(runs, file, lambda k, i: f"runs[{k}][{i}]")
    by_node = values.reshape(len(runs), len(names)).T.ravel()
    return tuple(names), by_node, [len(runs)] * len(names)


def _numbers(lists: list[list[Any]], file: str, field: Callable[[int, int], str]) -> Floats:
    """Return all values in one array; converted one by one with their fields if one is odd."""
    values = list(chain.from_iterable(lists))
    if _PLAIN.issuperset(map(type, values)):
        with contextlib.suppress(OverflowError):
            return np.array(values, np.float64)
    rows = enumerate(lists)
    return np.array([_number(v, file, field(i, k)) for i, own in rows for k, v in enumerate(own)])


def _number(value: Any, file: str, field: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        return as_float(value)
    raise _wrong(file, field, "a number", value)


def _wrong(file: str, field: str, expected: str, found: Any) -> FormatError:
    return FormatError(
        "this is not a list of node times",
        file=file,
        field=field,
        expected=expected,
        found=repr(found)[:80],
    )


FIELDS = frozenset(("ts", "tid", "pid", "name", "ph"))

_OPENING = re.compile(
    r'[ \t\r\n]*\{[ \t\r\n]*(?:"displayTimeUnit"[ \t\r\n]*:[ \t\r\n]*"(?P<unit>[a-z]{0,8})"'
    r'[ \t\r\n]*,[ \t\r\n]*)?"traceEvents"[ \t\r\n]*:[ \t\r\n]*\['
)
_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(parse_float=DecimalText)


class TraceEvents(NamedTuple):
    """The E events of a trace by field, with raw ``times``."""

    names: Sequence[str]
    times: Sequence[Any]
    begins: Sequence[bool]
    tracks: set[tuple[int | str, int | str]]


@cache
def _decoder() -> Any:
    """Return a decoder of traces in TVM's form; msgspec is imported for it alone."""
    import msgspec

    number: Any = int | str | float
    fields = [("ts", msgspec.Raw), ("tid", number), ("pid", number), ("name", str)]
    event: Any = msgspec.defstruct(
        "Event", [*fields, ("ph", Literal["B", "E"])], gc=False, forbid_unknown_fields=True
    )
    listed = ("events", list[event], msgspec.field(name="traceEvents"))
    unit = ("unit", Any, msgspec.field(name="displayTimeUnit", default=None))
    return msgspec.json.Decoder(msgspec.defstruct("Trace", [listed, unit]))


#: Python's parser refuses longer integers.
_MOST_DIGITS = 4000
_FIELDS_OF = attrgetter("name", "ts", "ph", "pid", "tid")


def plain_events(data: bytes) -> tuple[TraceEvents, Any] | None:
    """Return events and unit of a trace in TVM's form, three times faster, or None."""
    import msgspec

    try:
        trace = _decoder().decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not trace.events:
        return None
    names, raw, phases, *tracks = zip(*map(_FIELDS_OF, trace.events), strict=True)
    joined = b"\n".join(raw)
    if float in set(map(type, tracks[0])) | set(map(type, tracks[1])):
        return None
    if joined.translate(None, b"+-.0123456789Ee\n") or max(map(len, raw)) > _MOST_DIGITS:
        return None
    times = joined.decode("ascii").split("\n")
    begins = [phase == "B" for phase in phases]
    return TraceEvents(names, times, begins, set(zip(*tracks, strict=True))), trace.unit


def load_events(text: str, file: str) -> tuple[list[Any], Any, Issue | None]:
    """Parse a trace."""
    try:
        document = json.loads(text, parse_float=DecimalText)
    except RecursionError:
        raise FormatError(
            "the JSON is nested too deeply", file=file, expected="a list of flat events"
        ) from None
    except ValueError as error:
        return _salvage(text, file, error)
    if isinstance(document, dict) and isinstance(document.get("traceEvents"), list):
        return document["traceEvents"], document.get("displayTimeUnit"), None
    raise FormatError(
        "this JSON is not the debugger's execution trace",
        file=file,
        field="traceEvents",
        expected="an object with a list traceEvents",
        found="a list" if isinstance(document, list) else _kind(document),
        hint="A bare list of events is a Chrome trace of another kind."
        if isinstance(document, list)
        else "Was another file of the dump passed?",
    )


def peek_events(head: str) -> list[Any] | None:
    """Return the complete events at the start of a trace; None if there are none."""
    opening = _OPENING.match(head)
    if opening is None:
        return None
    events, _ = _scan(head, opening.end())
    closed = head.startswith("]", _skip(head, opening.end()))
    return events if events or closed else None


def _salvage(text: str, file: str, error: ValueError) -> tuple[list[Any], Any, Issue]:
    opening = _OPENING.match(text)
    events, position = _scan(text, opening.end()) if opening else ([], 0)
    place = error.pos if isinstance(error, json.JSONDecodeError) else position
    offset = len(text[:place].encode("utf-8", "surrogatepass"))
    if opening is None or not events:
        raise FormatError(
            f"not JSON ({str(error)[:80]})",
            file=file,
            offset=offset,
            expected='{"displayTimeUnit": "ns", "traceEvents": [',
            found=repr(text[:60]),
            hint="The file may be empty or cut off: write it again with run().",
        ) from None
    what = "the JSON breaks off at"
    if not isinstance(error, json.JSONDecodeError):
        what = "a number too long to be read comes after"
    message = (
        f"{what} byte {offset}; {counted(len(events), 'event')} before it "
        f"{agree(len(events), 'is')} read"
    )
    issue = Issue("trace-cut", IssueSeverity.ERROR, message, file=file)
    return events, opening["unit"], issue


def _scan(text: str, position: int) -> tuple[list[Any], int]:
    events: list[Any] = []
    try:
        while True:
            event, position = _DECODER.raw_decode(text, _skip(text, position))
            events.append(event)
            position = _skip(text, position)
            if not text.startswith(",", position):
                return events, position
            position += 1
    except (ValueError, RecursionError):
        return events, position


def _skip(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _kind(document: Any) -> str:
    if isinstance(document, dict):
        return "an object with the keys " + ", ".join(str(key)[:40] for key in [*document][:10])
    return type(document).__name__


KIND = Kind("times", "list of node times", sniff, read_time_list, "times", pasted=True)
