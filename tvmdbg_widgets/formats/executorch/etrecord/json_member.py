"""JSON members of an ETRecord, decoded to the types they should have."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.text import one_line, paired_json

T = TypeVar("T")

#: What Python writes though JSON has no word for it, and halves of surrogate pairs.
_NO_MSGSPEC = (b"NaN", b"Infinity", b"\\ud", b"\\uD")


def decode(data: bytes, kind: type[T], file: str) -> T:
    """Decode a JSON text; ``NaN`` and ``Infinity``, which Python writes, are read too.

    Halves of surrogate pairs become U+FFFD.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, ValueError) as problem:
        again = not isinstance(problem, msgspec.ValidationError)
        if not again or not any(word in data for word in _NO_MSGSPEC):
            raise _unreadable(problem, file) from None
    return convert(parse(data, file), kind, file)


def parse(data: bytes, file: str, **options: Any) -> Any:
    """Parse a JSON text as ``json.loads`` does, with its options; FormatError where it is none."""
    try:
        text, _ = paired_json(data.decode(json.detect_encoding(data), "surrogatepass"))
        return json.loads(text, **options)
    except ValueError as problem:
        raise _unreadable(problem, file) from None


def convert(value: object, kind: type[T], file: str) -> T:
    """Return parsed JSON as the types it should have; FormatError where it has others."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        raise _unreadable(problem, file) from None


def _unreadable(problem: Exception, file: str) -> FormatError:
    text, _, field = one_line(str(problem)).partition(" - at ")
    what = "this JSON is not what it should be" if field else "this is not JSON"
    return FormatError(what, file=file, field=field.strip("`$.") or None, found=text)
