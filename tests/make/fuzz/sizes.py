"""Inputs whose size is the attack: counts that are doubled, inflated, or true of very many things.

A count that lies is told by its reader; a count that holds shows what each element costs.
"""

import json
import re
import struct
from collections.abc import Callable
from random import Random
from typing import Any

#: Bytes of what an attack may make; small ones are cheap, and mostly show the same.
LIMITS = (20_000,) * 16 + (200_000,) * 3 + (1_000_000,)
_BIG = (2**16, 2**20, 2**24, 2**28, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**53, 2**62, 2**63 - 1)
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_QUOTED = re.compile(rb'"[^"\\\n]{1,200}"')
_RUNS = (b" ", b"\t", b"\n", b"\r\n", b"-", b"=", b"0", b"9", b"a", b"\xe2\x95\x90", b"\xc2\xa0")
_RUNS += (b"(", b"[", b"{", b'"', b"\\", b",", b"|", b".", b"_", b"/", b"\0", b"\xff", b"a ", b"1,")
#: Where sizes and counts lie behind each signature of a zip archive: place and struct code.
_ZIP = {
    b"PK\3\4": ((14, "<I"), (18, "<I"), (22, "<I"), (26, "<H"), (28, "<H")),
    b"PK\1\2": ((20, "<I"), (24, "<I"), (28, "<H"), (30, "<H"), (32, "<H"), (42, "<I")),
    b"PK\5\6": ((8, "<H"), (10, "<H"), (12, "<I"), (16, "<I"), (20, "<H")),
}


def attack(data: bytes, random: Random) -> bytes:
    """Return a copy of which one size is another."""
    limit = max(random.choice(LIMITS), len(data) + 1000)
    if data[:2] == b"PK":
        ways: list[Callable[[bytes, int, Random], bytes]] = [_zip_field, _zip_field, _count]
    elif b"\0" in data[:4096]:
        ways = [_count, _count, _grown_count, _run]
    else:
        ways = [_repeated_line, _long_word, _run, _big_number, _deep]
        if data.lstrip()[:1] in (b"{", b"["):
            ways += [_json] * 6
    return random.choice(ways)(data, limit, random)[:limit]


def _one_count(data: bytes, random: Random) -> tuple[int, str, int] | None:
    """Return what may be a count or a length of what follows: its place, struct code and value."""
    for _ in range(40):
        near = random.random() < 0.5
        code, size = random.choice((("<I", 4), ("<I", 4), ("<Q", 8), (">I", 4), ("<H", 2)))
        last = min(len(data), 800 if near else len(data)) - size
        if last < 0:
            continue
        at = random.randrange(last + 1)
        at -= at % (4 if random.random() < 0.7 else 1)
        (value,) = struct.unpack_from(code, data, at)
        if 0 < value <= len(data) - at - size:
            return at, code, value
    return None


def _other(value: int, left: int, random: Random) -> int:
    return random.choice((value * 2, value * 16, value + 1, left, left // 4, random.choice(_BIG)))


def _packed(code: str, value: int) -> bytes:
    return struct.pack(code, min(value, 256 ** struct.calcsize(code) - 1))


def _count(data: bytes, _limit: int, random: Random) -> bytes:
    found = _one_count(data, random)
    if found is None:
        return data
    at, code, value = found
    behind = at + struct.calcsize(code)
    new = _packed(code, _other(value, len(data) - behind, random))
    return data[:at] + new + data[behind:]


def _grown_count(data: bytes, limit: int, random: Random) -> bytes:
    """What a count counts many times, and a count that says so."""
    found = _one_count(data, random)
    if found is None:
        return data
    at, code, value = found
    behind = at + struct.calcsize(code)
    width = value * random.choice((1, 4, 8))
    part = data[behind : behind + width]
    times = max(1, min(limit // max(1, len(part)), random.choice((2, 100, 10_000))))
    return data[:at] + _packed(code, value * times) + part * times + data[behind + width :]


def _zip_field(data: bytes, _limit: int, random: Random) -> bytes:
    signature, fields = random.choice(list(_ZIP.items()))
    place = data.find(signature, random.randrange(len(data)))
    place = data.find(signature) if place < 0 else place
    offset, code = random.choice(fields)
    at = place + offset
    if place < 0 or at + 4 > len(data):
        return data
    (value,) = struct.unpack_from(code, data, at)
    new = _packed(code, _other(value, len(data), random))
    return data[:at] + new + data[at + len(new) :]


def _repeated_line(data: bytes, limit: int, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at, count = random.randrange(len(lines) or 1), random.choice((1, 1, 2, 5))
    part = b"".join(lines[at : at + count])
    if part[-1:] not in (b"\n", b"\r"):
        part += b"\n"
    times = min(random.choice((10, 1000, 10**6)), max(1, limit // len(part)))
    return b"".join(lines[:at]) + part * times + b"".join(lines[at + count :])


def _long_word(data: bytes, limit: int, random: Random) -> bytes:
    found = _QUOTED.search(data, random.randrange(len(data) + 1)) or _NUMBER.search(data)
    if found is None:
        return data
    start, stop = found.span()
    quoted = data[start : start + 1] == b'"'
    part = data[start + quoted : stop - quoted]
    times = min(random.choice((10, 1000, 10**6)), max(1, limit // max(1, len(part))))
    return data[: start + quoted] + part * times + data[stop - quoted :]


def _run(data: bytes, limit: int, random: Random) -> bytes:
    piece, at = random.choice(_RUNS), random.choice((0, len(data), random.randrange(len(data) + 1)))
    return data[:at] + piece * (limit // len(piece)) + data[at:]


def _big_number(data: bytes, _limit: int, random: Random) -> bytes:
    found = _NUMBER.search(data, random.randrange(len(data) + 1))
    if found is None:
        return data
    new = random.choice((*map(str, _BIG), str(2 * int(float(found[0][:300]))), "9" * 5000))
    return data[: found.start()] + new.encode() + data[found.end() :]


def _deep(data: bytes, limit: int, random: Random) -> bytes:
    at = random.choice((0, random.randrange(len(data) + 1)))
    opens, closes = random.choice(((b"[", b"]"), (b"{", b"}"), (b"(", b")"), (b'{"a":', b"}")))
    depth = min(random.choice((50, 999, 10_000, 10**6)), limit // (len(opens) + 1))
    return data[:at] + opens * depth + closes * depth * random.choice((0, 1)) + data[at:]


def _json(data: bytes, limit: int, random: Random) -> bytes:
    """One integer, list, text or map of a document, or of one of its lines, made large."""
    lines = [data]
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        lines = data.splitlines(keepends=True)
        at = random.randrange(len(lines) or 1)
        try:
            document = json.loads(lines[at])
        except (ValueError, RecursionError, IndexError):
            return data
    else:
        at = 0
    if not isinstance(document, dict | list):
        return data
    within, key = _place(document, random)
    if key is None:
        return data
    within[key] = _inflated(within[key], limit, random)
    lines[at] = json.dumps(document).encode("utf-8", "surrogatepass") + b"\n" * (len(lines) > 1)
    return b"".join(lines)


def _place(document: Any, random: Random) -> tuple[Any, Any]:
    """Return a container and a key of it, at any depth."""
    within, key = document, None
    while isinstance(within, dict | list) and within:
        holder = within
        key = random.choice(list(within) if isinstance(within, dict) else range(len(within)))
        within = within[key]
        if random.random() < 0.15:
            break
    return (holder, key) if key is not None else (document, None)


def _inflated(value: Any, limit: int, random: Random) -> Any:
    match value:
        case bool() | None:
            return _nested(random, limit)
        case int():
            other = (value * 2, value + 1, -value, 10**30, -(2**31))
            return random.choice((*other, *_BIG, [value] * (limit // 8)))
        case float():
            return random.choice((value * 1e9, 1e308, 1e-320, [value] * (limit // 24)))
        case str():
            times = max(1, limit // max(1, len(value)))
            return random.choice((value * times, value + "/" * limit, "____" * (limit // 4)))
        case list() if value:
            part = [random.choice(value)] if random.random() < 0.5 else value
            size = len(json.dumps(part))
            times = min(random.choice((2, 1000, 10**6)), max(2, limit // (size * len(part) + 1)))
            return part * times if size * times <= 2 * limit else part * 2
        case dict() if value and random.random() < 0.8:
            key, held = random.choice(list(value.items()))
            size = len(json.dumps(held)) + len(key) + 12
            return value | {f"{key}{at}": held for at in range(max(2, limit // size))}
    return _nested(random, limit)


def _nested(random: Random, limit: int) -> Any:
    """Lists or maps within each other, or very many empty ones."""
    if random.random() < 0.5:
        return [random.choice(([], {}, 0, None, ""))] * (limit // 5)
    found: Any = []
    for _ in range(min(random.choice((50, 300)), limit)):
        found = [found] if random.random() < 0.5 else {"a": found}
    return found
