"""JSON decoded into types; errors name file, path, expected and found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.family import collector_paused
from tvmdbg_widgets.model.base.text import FormatError, Issue, cut, one_line, paired_json
from tvmdbg_widgets.sources.byte_source import ByteSource

T = TypeVar("T")
Count = Annotated[int, msgspec.Meta(ge=0)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_STEP = re.compile(r"\.([^.\[]+)|\[(?:(\d+)|\.\.\.)\]")
_SHOWN = 60
_KIND = re.compile(r"`([a-z| ]+)`")
_WORDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def read_json(source: ByteSource, kind: type[T], *, halves: bool = False) -> T:
    """Read a file without NaN and Infinity; lone surrogates become U+FFFD unless `halves`."""
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
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding, "surrogatepass")
        return json.loads(text if halves else paired_json(text)[0], **options)
    except json.JSONDecodeError as problem:
        raise FormatError(
            "this is not JSON",
            file=file,
            offset=len(problem.doc[: problem.pos].encode(encoding, "surrogatepass")),
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
    """Convert parsed JSON at a path of its file to its type."""
    try:
        return msgspec.convert(value, kind)
    except UnicodeEncodeError as problem:
        raise FormatError(
            "the name of a field is no text",
            file=file,
            field=path or "document",
            expected="names that UTF-8 can hold",
            found=cut(ascii(problem.object), _SHOWN),
        ) from None
    except msgspec.ValidationError as problem:
        text, _, at = str(problem).partition(" - at `$")
    item: Any = value
    for key, index in _STEP.findall(at.rstrip("`")):
        step = key or int(index or -1)
        if not key and not index:
            step = _wrong_key(item, value, kind)
            at = at.replace("[...]", f".{step}", 1)
        item = item[step]
    shown: str | None = cut(repr(item), _SHOWN)
    field = (path + at.rstrip("`")).lstrip(".")
    if text.startswith("Object missing required field"):
        field = f"{field}.{text.split('`')[1]}".lstrip(".")
        text, shown = "Expected this field", "none"
    text = text.replace("Number out of range", "Expected numbers that float64 holds")
    text = _KIND.sub(_plain, text.partition(", got ")[0]).replace(" >= 0", ", 0 or more")
    raise FormatError(
        "this field cannot be read",
        file=file,
        field=one_line(field) or "document",
        expected=one_line(text.removeprefix("Expected ")),
        found=shown,
    )


def _wrong_key(among: dict[str, Any], value: object, kind: Any) -> str:
    """Return the first key with a wrong value, by converting keys one at a time."""
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
        return np.array([np.nan if value is None else value for value in values], dtype)
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


FORMAT, VERSION = "tvmdbg-recording", 1


def encoded(document: Mapping[str, Any]) -> bytes:
    """Return a JSON value as the bytes of a file: the same bytes for the same value."""
    compact = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
    lines = [f" {json.dumps(key)}: {compact(value)}" for key, value in document.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")


def merged(stored: Iterable[Issue], current: Iterable[Issue]) -> list[Issue]:
    """Return the stored issues, then the new ones."""
    first = dict.fromkeys(stored)
    return [*first, *(issue for issue in current if issue not in first)]


class _Start(msgspec.Struct):
    format: str
    version: Count


def read_versioned(
    source: ByteSource, kind: type[T], form: str, version: int, *, halves: bool = False
) -> T:
    """Read a file; FormatError unless its format and version are known."""
    value = read_json(source, object, halves=halves)
    start = convert(value, _Start, source.name)
    if start.format != form:
        raise FormatError(
            "this is another kind of file",
            file=source.name,
            field="format",
            expected=repr(form),
            found=repr(start.format),
        )
    if start.version > version:
        raise FormatError(
            "this file is of a newer version",
            file=source.name,
            field="version",
            expected=f"at most {version}",
            found=start.version,
            hint="Update tvmdbg-widgets: pip install --upgrade tvmdbg-widgets.",
        )
    return convert(value, kind, source.name)
