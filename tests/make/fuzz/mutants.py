"""Damaged and hostile copies of files, each from one random number.

Text is changed as text (tokens, lines, digits), JSON also as a value, binary files by byte and by
the integers in them; any file is cut, repeated, spliced with another, or padded.
"""

import json
import re
import struct
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

#: A mutant is at most this much larger than its file.
GROWTH_BYTES = 200_000

_NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 64, 255, 65_535, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53 + 1),
    *(2**63 - 1, 2**63, -(2**63), 2**64 - 1, 10**18, 10**30, 10**400, 0.5, -0.0, 1e-320, 1e308),
    *(float("nan"), float("inf"), float("-inf")),
)
_TEXTS = (
    "",
    " ",
    "\0",
    "\n",
    '"',
    "\\",
    "____",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "\ud800",
    "名前",
    "a" * 70_000,
    "1e999",
    "-0",
    "nan",
    "float32x65535",
    "int4",
    "bool",
    "handle",
    "float999",
    "__nop",
    "__copy",
    "\u202e\x1b[31m",
)
_VALUES: tuple[Any, ...] = (*_NUMBERS, *_TEXTS, None, True, False, [], {}, [[]], [{}], {"": None})
_PIECES = (
    *(b"\n", b"\r\n", b",", b'"', b"{", b"[", b"}", b"]", b":", b"\\", b"\\u", b" ", b"\t"),
    *(b"-", b"9", b"0", b".", b"e", b"\0", b"\xff", b"\xef\xbb\xbf", b"null,", b"NaN,", b"//"),
    *(b"/*", b"'", b"(", b")", b"____"),
)
_DIGITS = re.compile(rb"-?\d[\d.]*(?:[eE][-+]?\d+)?")
_WORDS = re.compile(rb'"[^"\\]{0,60}"|[A-Za-z_][\w.]{0,40}')


def mutant(data: bytes, others: Sequence[bytes], random: Random) -> bytes:
    """Return a changed copy; mostly one change, sometimes several."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = random.choice(_changes(data))(data, others, random)[: len(data) + GROWTH_BYTES]
    return data


def _changes(data: bytes) -> list[Callable[[bytes, Sequence[bytes], Random], bytes]]:
    found = [_cut, _removed, _repeated, _inserted, _flipped, _spliced]
    if b"\0" in data[:4096]:
        return [*found, _integer, _integer, _integer]
    found += [_number, _number, _word, _lines, _stuffed]
    if data.lstrip()[:1] in (b"{", b"["):
        found += [_json, _json, _json]
    return found


def _span(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + int(random.expovariate(1 / 40)) + 1)


def _cut(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _removed(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    start, stop = _span(data, random)
    return data[:start] + data[stop:]


def _repeated(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    start, stop = _span(data, random)
    times = random.choice((2, 3, 50, 2000))
    return data[:start] + data[start:stop] * times + data[stop:]


def _inserted(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.randbytes(random.choice((1, 4, 8, 64))) + data[at:]


def _stuffed(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    """Some character many times: what looks ahead or goes back does so often."""
    at = random.randrange(len(data) + 1)
    piece = random.choice(_PIECES) * random.choice((1, 1, 2))
    return data[:at] + piece * random.choice((1, 3, 300, 20_000)) + data[at:]


def _flipped(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 2, 8)) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _spliced(data: bytes, others: Sequence[bytes], random: Random) -> bytes:
    other = random.choice(others)
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


def _integer(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    code, size = random.choice((("<Q", 8), ("<I", 4), ("<H", 2), ("<B", 1)))
    if len(data) < size:
        return data
    near = random.random() < 0.7
    at = random.randrange(min(len(data), 600 if near else len(data)) - size + 1 or 1)
    old = struct.unpack_from(code, data, at)[0]
    whole = [each for each in _NUMBERS if isinstance(each, int)]
    new = random.choice((*whole, old + 1, old - 1, old * 2, old << 8))
    return data[:at] + struct.pack(code, new % 256**size) + data[at + size :]


def _number(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    return _replaced(data, _DIGITS, json.dumps(random.choice(_NUMBERS)).encode(), random)


def _word(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    text = random.choice(_TEXTS)
    return _replaced(data, _WORDS, json.dumps(text)[random.choice((0, 1)) :].encode(), random)


def _replaced(data: bytes, pattern: re.Pattern[bytes], new: bytes, random: Random) -> bytes:
    found = pattern.search(data, random.randrange(len(data) + 1))
    return data[: found.start()] + new + data[found.end() :] if found else data


def _lines(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    """Lines in another order, twice, or gone."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    how = random.randrange(3)
    if how == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif how == 1:
        lines.insert(a, lines[b] * random.choice((1, 100)))
    else:
        del lines[min(a, b) : max(a, b)]
    return b"".join(lines)


def _json(data: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    """Another value at a random place of the document."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    within = document
    while True:
        keys = list(within) if isinstance(within, dict) else range(len(within))
        if not keys:
            break
        key = random.choice(keys)
        if isinstance(within[key], dict | list) and random.random() < 0.8:
            within = within[key]
            continue
        _change(within, key, random)
        break
    return json.dumps(document).encode("utf-8", "surrogatepass")


def _change(within: Any, key: Any, random: Random) -> None:
    how = random.randrange(4)
    if how == 0:
        del within[key]
    elif how == 1 and isinstance(within, list):
        within.extend([within[key]] * random.choice((1, 3, 1000)))
    elif how == 1:
        within[random.choice(_TEXTS)] = within.pop(key)
    else:
        within[key] = random.choice(_VALUES)
