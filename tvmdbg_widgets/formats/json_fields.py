"""JSON as the types it should have; FormatError, from what msgspec says, where it has others."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.text import cut, one_line, paired_json
from tvmdbg_widgets.sources.byte_source import ByteSource

T = TypeVar("T")
Count = Annotated[int, msgspec.Meta(ge=0)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_STEP = re.compile(r"\.([^.\[]+)|\[(?:(\d+)|\.\.\.)\]")
_SHOWN = 60
_KIND = re.compile(r"`([a-z| ]+)`")
_WORDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def read_json(source: ByteSource, kind: type[T], *, halves: bool = False) -> T:
    """Read a whole file; numbers that JSON does not know (NaN, Infinity) are refused.

    Halves of surrogate pairs become U+FFFD unless `halves` are wanted.
    """
    with collector_paused():
        data = source.read(0, source.size)
        value = parse(data, source.name, halves=halves, parse_constant=_no_constant)
        return convert(value, kind, source.name)


def decode(data: bytes, kind: type[T], file: str) -> T:
    """Decode a JSON text; ``NaN`` and ``Infinity``, which Python writes, are read too."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return convert(parse(data, file), kind, file)


def parse(data: bytes, file: str, *, halves: bool = False, **options: Any) -> Any:
    """Parse a JSON text as ``json.loads`` does, with its options."""
    try:
        text = data.decode(json.detect_encoding(data), "surrogatepass")
        return json.loads(text if halves else paired_json(text)[0], **options)
    except json.JSONDecodeError as problem:
        raise FormatError(
            "this is not JSON",
            file=file,
            offset=problem.pos,
            expected="one JSON value",
            found=problem.msg,
            hint="The file may be cut off: copy or write it again.",
        ) from None
    except (ValueError, RecursionError) as problem:
        raise FormatError(
            "this JSON cannot be read: a number too long, lists too deep, or no text",
            file=file,
            expected="one JSON value",
            found=one_line(str(problem)),
        ) from None


def convert(value: object, kind: type[T], file: str, path: str = "") -> T:
    """Return parsed JSON, which stands at this path of its file, as the types it should have."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        text, _, at = str(problem).partition(" - at `$")
    found: Any = value
    for key, index in _STEP.findall(at.rstrip("`")):
        step = key or int(index or -1)
        if not key and not index:
            step = _wrong_key(found, value, kind)
            at = at.replace("[...]", f".{step}", 1)
        found = found[step]
    told: str | None = cut(repr(found), _SHOWN)
    field = (path + at.rstrip("`")).lstrip(".")
    if text.startswith("Object missing required field"):
        field = f"{field}.{text.split('`')[1]}".lstrip(".")
        text, told = "Expected this field", "none"
    text = text.replace("Number out of range", "Expected numbers that float64 holds")
    text = _KIND.sub(_plain, text.partition(", got ")[0]).replace(" >= 0", ", 0 or more")
    raise FormatError(
        "this field cannot be read",
        file=file,
        field=one_line(field) or "document",
        expected=one_line(text.removeprefix("Expected ")),
        found=told,
    )


def _wrong_key(among: dict[str, Any], value: object, kind: Any) -> str:
    """Return a key whose value is wrong, which msgspec does not tell; others are taken out."""
    keys = list(among)
    while len(keys) > 1:
        half = keys[: len(keys) // 2]
        rest = {key: among.pop(key) for key in keys[len(half) :]}
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            keys = half
        else:
            keys = list(rest)
            among.clear()
            among.update(rest)
    return keys[0]


def _plain(kinds: re.Match[str]) -> str:
    words = [_WORDS.get(kind, kind) for kind in kinds[1].split(" | ") if kind != "null"]
    return " or ".join(words) or "null"


def numbers(
    values: Sequence[float | None], dtype: npt.DTypeLike, file: str, field: str
) -> npt.NDArray[Any]:
    """Return numbers as an array; null is NaN."""
    try:
        return np.array([np.nan if each is None else each for each in values], dtype)
    except OverflowError:
        raise FormatError(
            "this field cannot be read",
            file=file,
            field=field,
            expected=f"numbers that {np.dtype(dtype)} holds",
            found="a larger one",
        ) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name}, which is no JSON number")
