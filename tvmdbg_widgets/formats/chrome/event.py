"""One event of a Chrome trace, and the two readers of its JSON.

The strict one is in C and takes what keeps to the standard. The tolerant one is Python's own: it
also takes control characters, NaN, lone surrogates, bytes that are no UTF-8, and things among the
events that are none. Of what both take they give equal events.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from tvmdbg_widgets.formats.decimals import DecimalText

_NOTHING = Raw(b"")
_NUMBERS = frozenset((int, float, DecimalText))


class ChromeEvent(msgspec.Struct, gc=False):
    """What is read of an event; numbers with a fraction or an exponent are :class:`DecimalText`."""

    ph: str | None = None
    cat: Any = ""
    name: Any = ""
    pid: Any = None
    tid: Any = None
    ts: Raw = _NOTHING
    dur: Raw = _NOTHING
    args: Raw = _NOTHING
    id: Any = None
    id2: Any = None
    scope: Any = ""
    bp: Any = None
    bind_id: Any = UNSET
    flow_in: Any = None
    flow_out: Any = None

    def arguments(self) -> Any:
        """Return ``args`` decoded, None where there are none."""
        if type(self.args) is not Raw:
            return self.args
        try:
            return _ARGUMENTS.decode(self.args) if self.args else None
        except msgspec.DecodeError:  # an integer of thousands of digits
            return _decoded(bytes(self.args).decode(), 0)[0]
        except RecursionError:
            return None


class NoObject(ChromeEvent, gc=False):
    """What stands among the events and is no object."""


_ARGUMENTS = msgspec.json.Decoder(float_hook=DecimalText)
_STRICT = msgspec.json.Decoder(list[ChromeEvent], float_hook=DecimalText)


def strict_events(data: bytes) -> list[ChromeEvent]:
    """Decode events that commas part."""
    text = b"[" + data + b"]"
    if not text.isascii():
        text.decode()  # msgspec does not look into texts that it skips
    try:
        return _STRICT.decode(text)
    except msgspec.DecodeError as problem:
        raise ValueError(str(problem)) from None


def tolerant_events(data: bytes) -> list[ChromeEvent]:
    """Decode events that commas part."""
    text = data.decode("utf-8", "surrogateescape")
    values, end = _decoded(f"[{text}]", 0)
    if end != len(text) + 2:
        raise ValueError("more than events")
    return list(map(_event, values))


def tolerant_event(text: str, position: int) -> tuple[ChromeEvent, int]:
    """Decode one event; return it and the position behind it."""
    value, end = _decoded(text, position)
    return _event(value), end


def _event(value: Any) -> ChromeEvent:
    if type(value) is not dict:
        return NoObject()
    known = {name: value[name] for name in ChromeEvent.__struct_fields__ if name in value}
    if type(known.get("ph")) is not str:
        known["ph"] = None
    for name in ("ts", "dur"):
        known[name] = Raw(_json(known.get(name)))
    return ChromeEvent(**known)


def _json(time: Any) -> str:
    if type(time) is str:
        return json.dumps(time)
    return str(time) if type(time) in _NUMBERS else ""


def _integer(text: str) -> int | DecimalText:
    try:
        return int(text)
    except ValueError:  # more digits than Python reads
        return DecimalText(text)


_TOLERANT = json.JSONDecoder(strict=False, parse_float=DecimalText)
_LONG = json.JSONDecoder(strict=False, parse_float=DecimalText, parse_int=_integer)


def _decoded(text: str, position: int) -> tuple[Any, int]:
    try:
        return _TOLERANT.raw_decode(text, position)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _LONG.raw_decode(text, position)
