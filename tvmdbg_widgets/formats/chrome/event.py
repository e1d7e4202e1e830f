"""One event of a Chrome trace, and the two readers of its JSON.

The strict one is in C and takes standard JSON. The tolerant one is Python's own: it also takes
control characters, NaN, lone surrogates, bytes that are no UTF-8, and items that are no events.
They return equal events for standard JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw
from tqdm.auto import tqdm

from tvmdbg_widgets.formats.decimals import DecimalText
from tvmdbg_widgets.formats.family import collector_paused
from tvmdbg_widgets.sources.byte_source import ByteSource

_NOTHING = Raw(b"")
_NUMBERS = frozenset((int, float, DecimalText))


class ChromeEvent(msgspec.Struct, gc=False):
    """The used fields of an event; fractions and exponents stay :class:`DecimalText`."""

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
        """Return ``args`` decoded, or None."""
        if type(self.args) is not Raw:
            return self.args
        try:
            return _ARGUMENTS.decode(self.args) if self.args else None
        except msgspec.DecodeError:  # an integer of thousands of digits
            return _decoded(bytes(self.args).decode(), 0)[0]
        except RecursionError:
            return None


_ARGUMENTS = msgspec.json.Decoder(float_hook=DecimalText)


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


class NoObject(ChromeEvent, gc=False):
    """A list item that is no object."""


_STRICT = msgspec.json.Decoder(list[ChromeEvent], float_hook=DecimalText)


def strict_events(data: bytes) -> list[ChromeEvent]:
    """Decode comma-separated events."""
    text = b"[" + data + b"]"
    if not text.isascii():
        text.decode()  # msgspec does not look into texts that it skips
    try:
        return _STRICT.decode(text)
    except msgspec.DecodeError as problem:
        raise ValueError(str(problem)) from None


def tolerant_events(data: bytes) -> list[ChromeEvent]:
    """Decode comma-separated events."""
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


_BLOCK = 1 << 18  # with its events small enough for a cache
_HEADER = 1 << 30
_BLANK = re.compile(r"[ \t\r\n]*")
_CUT = re.compile(rb"\}[ \t\r\n]*,[ \t\r\n]*")
_BRACES, _GAP, _TRIED = 64, 64, 3
_DECODER = json.JSONDecoder(strict=False)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventFile:
    """A source of events in JSON: an object with ``traceEvents``, or the bare list."""

    def __init__(self, source: ByteSource) -> None:
        self.source = source
        self.form = ""
        self.top: dict[str, Any] = {}
        self.ended: bool = False
        self.broken: int | None = None
        self.found = ""
        self.too_deep = False
        self._data = b""
        self._offset = 0  # of the first byte of _data

    def blocks(self) -> Iterator[list[ChromeEvent]]:
        """Yield blocks of events in file order."""
        if not self._open():
            return
        bar = tqdm(
            total=self.source.size,
            desc="reading events",
            unit="B",
            unit_scale=True,
            delay=1,
            leave=False,
        )
        with bar, collector_paused():
            size = _BLOCK
            while not self.ended and self.broken is None:
                at_end = not self._more(size)
                events, progress = self._take(at_end)
                size = _BLOCK if progress else size * 2
                bar.update(self._offset - bar.n)
                if events:
                    yield events
                if at_end:
                    break
            if self.broken is None:
                bar.update(bar.total - bar.n)
        if self.form == "object" and self.ended:
            self._rest()

    def _more(self, size: int) -> bool:
        start = self._offset + len(self._data)
        length = min(size, self.source.size - start)
        if length > 0:
            self._data += self.source.read(start, length)
        return start + length < self.source.size

    def _open(self) -> bool:
        """Find the list of events; earlier members are kept."""
        size = _BLOCK
        while True:
            more = self._more(size)
            text = _text(self._data.removeprefix(_BYTE_ORDER_MARK))
            start = self._start(text)
            if start is not None:
                skipped = _length(text[:start])
                if self._data.startswith(_BYTE_ORDER_MARK):
                    skipped += len(_BYTE_ORDER_MARK)
                self._drop(skipped)
                return True
            if not more or len(self._data) > _HEADER:
                self._break(0)
                return False
            size *= 2

    def _start(self, text: str) -> int | None:
        position = _skip(text, 0)
        if text.startswith("[", position):
            self.form = "array"
            return position + 1
        if not text.startswith("{", position):
            return None
        self.form = "object"
        position += 1
        top: dict[str, Any] = {}
        try:
            while True:
                key, position = _DECODER.raw_decode(text, _skip(text, position))
                position = _skip(text, position)
                if not isinstance(key, str) or text[position : position + 1] != ":":
                    return None
                position = _skip(text, position + 1)
                if key == "traceEvents":
                    self.top = top
                    return position + 1 if text.startswith("[", position) else None
                top[key], position = _DECODER.raw_decode(text, position)
                position = _skip(text, position)
                if text[position : position + 1] != ",":
                    return None
                position += 1
        except (ValueError, RecursionError):
            return None

    def _drop(self, count: int) -> None:
        self._data = self._data[count:]
        self._offset += count

    def _break(self, position: int) -> None:
        self.broken = self._offset + position
        self.found = self._data[position : position + 60].decode("utf-8", "replace")

    def _take(self, at_end: bool) -> tuple[list[ChromeEvent], bool]:
        """Parse complete events off the front of the buffer; False if there were none."""
        if not at_end:
            cuts = self._cuts()
            for parse in (strict_events, tolerant_events):
                for match in cuts:
                    try:
                        events = parse(self._data[: match.start() + 1])
                    except (ValueError, RecursionError):
                        continue
                    self._drop(match.end())
                    return events, True
        return self._one_by_one(at_end)

    def _cuts(self) -> list[re.Match[bytes]]:
        """Return places near the end that look like the border of two events."""
        matches: list[re.Match[bytes]] = []
        brace = len(self._data)
        for _ in range(_BRACES):
            brace = self._data.rfind(b"{", 0, brace)
            end = self._data.rfind(b"}", max(0, brace - _GAP), max(0, brace))
            match = _CUT.fullmatch(self._data, end, brace) if end >= 0 else None
            if match is not None:
                matches.append(match)
            if len(matches) == _TRIED or brace < 0:
                break
        return matches

    def _one_by_one(self, at_end: bool) -> tuple[list[ChromeEvent], bool]:
        text = _text(self._data)
        events: list[ChromeEvent] = []
        position = good = 0
        while True:
            position = _skip(text, position)
            if text.startswith("]", position):
                self.ended = True
                good = position + 1
                break
            if position == len(text):
                good = position
                break
            try:
                event, after = tolerant_event(text, position)
            except (ValueError, RecursionError) as problem:
                self.too_deep = isinstance(problem, RecursionError)
                place = problem.pos if isinstance(problem, json.JSONDecodeError) else position
                unterminated = str(problem).startswith("Unterminated")
                near = place >= len(text) - 16 or unterminated
                if at_end or not near:
                    self._break(_length(text[:position]))
                good = position
                break
            after = _skip(text, after)
            closed = text[after : after + 1]
            if not closed and not at_end:
                good = position
                break
            events.append(event)
            good = position = after
            if closed == ",":
                good = position = after + 1
            elif closed and closed != "]":
                self._break(_length(text[:after]))
                break
        self._drop(_length(text[:good]))
        return events, bool(events)

    def _rest(self) -> None:
        while self._more(_HEADER) and len(self._data) < _HEADER:
            pass
        text = self._data.decode("utf-8", "replace").strip()
        if text.startswith(","):
            try:
                self.top |= json.loads("{" + text[1:], strict=False)
            except (ValueError, RecursionError):
                self._break(0)
        elif text != "}":
            self._break(0)


def _text(data: bytes) -> str:
    """Decode; bytes that are no UTF-8 become one character, so that offsets hold."""
    return data.decode("utf-8", "surrogateescape")


def _length(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position
