"""Copies of a file, each damaged in one way: cut, changed, inflated, reordered, encoded anew."""

import json
import re
import struct
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")
Damage = tuple[str, bytes]

#: A file of so many bytes is cut at each of them, a larger one at a sample.
CUT_EVERYWHERE = 120
#: Bytes at the start, where magic numbers, versions and counts lie.
HEAD = 20
SAMPLE = 16

_INTEGERS = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)
_NUMBERS = (*b"-1 1.5 2147483648 9223372036854775808 1e999".split(), b"9" * 400, b"9" * 5000)
_WORDS = (
    *rb"""" ' [ { ]} null NaN \ \ud800 <img 00 ../../etc/passwd""".split(),
    *(b"", b"\xff", b"\0", b"\x1b[31m", b"\xe5\x90\x8d", b"a" * 5000, b"[" * 2000),
)
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?![\w.])")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|\w+|[^\w\s]')
_VALUES: tuple[Any, ...] = (None, True, -1, 10**30, 1.5, "", "x", [], {}, [[]], [{}])


def damages(data: bytes) -> Iterator[Damage]:
    """Yield what was done to a file, and the damaged copy; the same at every call."""
    chance = Random(len(data))
    text = b"\0" not in data
    yield from (("empty", b""), ("blanks", b" \r\n\t" * 20), ("zeros", bytes(4096)))
    yield from _cut(data, chance)
    yield from _changed(data, chance)
    yield from _repeated(data, text, chance)
    yield from _encoded(data)
    yield from inflated(data)
    if text:
        yield from _replaced(data, "token", _TOKEN, _WORDS, chance)
    if data.lstrip()[:1] in (b"{", b"["):
        yield from _members(data, chance)


def inflated(data: bytes) -> Iterator[Damage]:
    """Yield copies in which one integer is another, mostly huge: counts and lengths lie."""
    chance = Random(len(data))
    yield from _replaced(data, "number", _NUMBER, _NUMBERS, chance)
    if b"\0" in data:
        near = range(0, min(len(data), 400) - 8, 4)
        far = range(0, len(data) - 8, 4)
        for at in dict.fromkeys(_sample(near, chance) + _sample(far, chance)):
            code = chance.choice(("<I", "<Q"))
            value = chance.choice(_INTEGERS) % 256 ** struct.calcsize(code)
            yield f"{value} at byte {at}", _spliced(data, at, struct.pack(code, value))


def _sample(items: Sequence[T], chance: Random, count: int = SAMPLE) -> list[T]:
    return chance.sample(items, min(count, len(items)))


def _spliced(data: bytes, start: int, new: bytes, stop: int | None = None) -> bytes:
    return data[:start] + new + data[start + len(new) if stop is None else stop :]


def _cut(data: bytes, chance: Random) -> Iterator[Damage]:
    # The last byte may be a line feed or padding, which nobody misses.
    places: Sequence[int] = range(1, len(data) - 1)
    if len(data) > CUT_EVERYWHERE:
        places = sorted({*places[:HEAD], *_sample(places, chance, 2 * SAMPLE), places[-1]})
    for at in places:
        yield f"cut at byte {at}", data[:at]


def _changed(data: bytes, chance: Random) -> Iterator[Damage]:
    for at in (*range(min(HEAD, len(data))), *_sample(range(len(data)), chance, 2 * SAMPLE)):
        new = data[at] ^ chance.choice((0x01, 0x80, 0xFF, chance.randrange(1, 256)))
        yield f"{new:#x} at byte {at}", _spliced(data, at, bytes([new]))


def _repeated(data: bytes, text: bool, chance: Random) -> Iterator[Damage]:
    """Sections missing and there twice: lines, or quarters of a binary file."""
    yield "twice", data * 2
    yield "with a tail", data + b"\1\2\3"
    step = max(1, len(data) // 4)
    parts = [data[at : at + step] for at in range(0, len(data), step)]
    if text and data.count(b"\n") > 1:
        parts = data.splitlines(keepends=True)
    for at in _sample(range(len(parts)), chance, 10):
        for what, now in (("without", []), ("repeated", [parts[at]] * 2)):
            yield f"{what} part {at}", b"".join([*parts[:at], *now, *parts[at + 1 :]])


def _encoded(data: bytes) -> Iterator[Damage]:
    yield "byte order mark", b"\xef\xbb\xbf" + data
    yield "CRLF", data.replace(b"\n", b"\r\n")
    yield "single quotes", data.replace(b'"', b"'")
    yield "printed by Python", repr(data).encode()
    yield "NULs between", data.replace(b"", b"\0")[:20_000]
    for encoding in ("utf-16", "utf-16-be", "utf-32"):
        yield encoding, data.decode("latin-1").encode(encoding)
    curly = data.decode("latin-1").replace('"', "\u201c")
    yield "curly quotes", curly.encode()
    yield "curly quotes of Windows", curly.encode("cp1252", "replace")


def _replaced(
    data: bytes, what: str, old: re.Pattern[bytes], news: Sequence[bytes], chance: Random
) -> Iterator[Damage]:
    for found in _sample([*old.finditer(data)], chance):
        new = chance.choice(news)
        text = f"{new[:20]!r} for the {what} at byte {found.start()}"
        yield text, _spliced(data, found.start(), new, found.end())


def _members(data: bytes, chance: Random) -> Iterator[Damage]:
    """Members of a JSON document missing, of another type, and nested without end."""
    try:
        places = [*_places(json.loads(data))]
    except ValueError:  # several documents
        return
    for path in _sample(places, chance, 2 * SAMPLE):
        document = json.loads(data)
        within = document
        for key in path[:-1]:
            within = within[key]
        if chance.random() < 0.4:
            del within[path[-1]]
            yield f"without {path}", json.dumps(document).encode()
        else:
            value = chance.choice(_VALUES)
            within[path[-1]] = value
            yield f"{value!r} for {path}", json.dumps(document).encode()
    text = json.dumps(json.loads(data))
    more = '"more": ' if text[0] == "{" else ""
    yield "members twice", f"{text[:-1]}, {text[1:]}".encode()
    for deep in ("[" * 100_000, '{"a":' * 100_000):
        yield "nested deep", f"{text[:-1]}, {more}{deep}".encode()


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys: Any = value if isinstance(value, dict) else ()
    for key in range(len(value)) if isinstance(value, list) else keys:
        yield (*path, key)
        yield from _places(value[key], (*path, key))
