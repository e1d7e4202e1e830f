"""The events of a JSON trace, also those of a file that was cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from tvmdbg_widgets.formats.decimals import DecimalText
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted

FIELDS = frozenset(("ts", "tid", "pid", "name", "ph"))

_OPENING = re.compile(
    r'[ \t\r\n]*\{[ \t\r\n]*(?:"displayTimeUnit"[ \t\r\n]*:[ \t\r\n]*"(?P<unit>[a-z]{0,8})"'
    r'[ \t\r\n]*,[ \t\r\n]*)?"traceEvents"[ \t\r\n]*:[ \t\r\n]*\['
)
_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(parse_float=DecimalText)


class TraceEvents(NamedTuple):
    """The events of a trace by field, E of them; ``times`` as the file has them."""

    names: Sequence[str]
    times: Sequence[Any]
    begins: Sequence[bool]
    tracks: set[tuple[int | str, int | str]]


@cache
def _decoder() -> Any:
    """Return a decoder of traces that are as TVM writes them; msgspec is imported for it alone."""
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
    """Return events and unit of a trace that is as TVM writes it, in a third of the time.

    None where anything is odd: :func:`load_events` then tells what.
    """
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
    """Return the complete events at the start of a trace; None if it does not start like one.

    None also if the head is too short to show one event.
    """
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
    said = (
        f"{what} byte {offset}; {counted(len(events), 'event')} before it "
        f"{agree(len(events), 'is')} read"
    )
    issue = Issue("trace-cut", IssueSeverity.ERROR, said, file=file)
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
