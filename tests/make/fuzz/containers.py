"""Archives that unpack to far more than they are: what opens them must tell before it pays."""

import bz2
import gzip
import lzma
import struct
import zlib
from functools import lru_cache
from random import Random

from tests.make.fuzz.files import Files, tarred, zipped

_MB = 1_000_000
_SIZES = (_MB // 5,) * 4 + (2 * _MB,) * 3 + (20 * _MB,) * 2 + (80 * _MB,)
_HEAD = b'{"nodes": ['
#: What is inside: a piece that repeats, what stands before it and behind it.
CONTENTS: dict[str, tuple[bytes, bytes, bytes]] = {
    "blanks": (b" ", b"", b""),
    "zeros": (b"\0", b"", b""),
    "newlines": (b"\n", b"", b""),
    "brackets": (b"[", b"", b""),
    "closed brackets": (b"[],", b"[", b"[]]"),
    "empty maps": (b"{},", b"[", b"{}]"),
    "empty nodes": (b"{},", _HEAD, b'{}], "arg_nodes": [], "heads": [], "node_row_ptr": [0]}'),
    "events": (b'{"ph":"B","ts":1},', b'{"traceEvents": [', b"{}]}"),
    "numbers": (b"0,", b"[", b"0]"),
    "times": (b"[1.5e-06, 1.25e-06],", b"[", b"[1e-6, 1e-6]]"),
    "key": (b'"a":0,', b"{", b'"a":0}'),
}
#: Names that say what is looked for; content decides.
_NAMES = ("_tvmdbg_graph_dump.json", "log.json", "a.txt", "output_tensors.params", "edge_dialect")


def container(texts: list[bytes], random: Random) -> Files:
    """Return one archive; `texts` are files of which lines or all are repeated in some."""
    inner, what = _content(texts, random)
    holds = len(inner)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        inner, how = _packed(inner, random)
        what += f" in {how}"
        if how[0].isdigit():
            holds = 20 * _MB
    if random.random() < 0.25:
        inner, how = _lying(inner, random)
        what += f", {how}"
    name = f"{what}.bin"[:120].replace("/", "-")
    return Files("container", {name: inner}, holds=min(holds, 20 * _MB))


def _content(texts: list[bytes], random: Random) -> tuple[bytes, str]:
    size = random.choice(_SIZES)
    if random.random() < 0.6:
        name = random.choice(list(CONTENTS))
        return _repeated(name, size), f"{size // 1000} kB of {name}"
    text = random.choice(texts) or b"\n"
    if random.random() < 0.5:
        lines = text.splitlines(keepends=True) or [b"\n"]
        text = random.choice(lines)
    size = min(size, 20 * _MB)
    return (text * (size // max(1, len(text)) + 1))[:size], f"{size // 1000} kB of a file's lines"


@lru_cache(maxsize=8)
def _repeated(name: str, size: int) -> bytes:
    piece, before, behind = CONTENTS[name]
    return before + piece * (size // len(piece)) + behind


def _packed(data: bytes, random: Random) -> tuple[bytes, str]:
    name = random.choice(_NAMES)
    # Of what is no larger than a member is, many members may be made.
    how = random.choice(("zip", "gzip", "tar", "tar.gz", "many in zip", "many in tar", "bz2", "xz"))
    few = len(data) > 3 * _MB
    match "zip" if few and how in ("bz2", "xz") else how:
        case "zip":
            return zipped({name: data}), how
        case "gzip":
            return gzip.compress(data, 6, mtime=0), how
        case "tar":
            return tarred({name: data}, "w"), how
        case "tar.gz":
            return tarred({name: data}), how
        case "bz2":
            return bz2.compress(data), how
        case "xz":
            return lzma.compress(data, preset=1), how
    times = random.choice((10, 300)) if few else random.choice((10, 300, 5_000))
    part = data[: 20 * _MB // times]
    if how == "many in tar":
        return tarred({f"{at}/{name}": part for at in range(times)}), f"{times} in tar"
    return _zip_of_one(name, part, times, same=random.random() < 0.5), f"{times} in zip"


def _zip_of_one(name: str, part: bytes, times: int, *, same: bool) -> bytes:
    """A directory of many members, all of whose bytes are the same ones in the file."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflate.compress(part) + deflate.flush()
    names = [(name if same else f"{at}/{name}").encode() for at in range(times)]
    sizes = (zlib.crc32(part), len(packed), len(part))
    local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 0, 8, 0, 33, *sizes, len(names[0]), 0)
    start = local + names[0] + packed
    heads = b"".join(
        struct.pack(
            "<4sHHHHHHIIIHHHHHII",
            *(b"PK\1\2", 20, 20, 0, 8, 0, 33, *sizes, len(each), 0, 0, 0, 0, 0, 0),
        )
        + each
        for each in names
    )
    count = min(times, 0xFFFF)
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, len(heads), len(start), 0)
    return start + heads + end


def _lying(data: bytes, random: Random) -> tuple[bytes, str]:
    """The size of a member said to be another."""
    claimed = random.choice((0, 1, 2**31, 2**32 - 1))
    changed = bytearray(data)
    if data[:4] == b"PK\3\4":
        struct.pack_into("<I", changed, 22, claimed)
        place = data.rfind(b"PK\1\2")
        if place >= 0 and random.random() < 0.7:
            struct.pack_into("<I", changed, place + 24, claimed)
    elif data[:2] == b"\x1f\x8b":
        struct.pack_into("<I", changed, len(data) - 4, claimed)
    elif data[257:262] == b"ustar":
        changed[124:136] = b"%011o\0" % claimed
        changed[148:156] = b" " * 8
        changed[148:156] = b"%06o\0 " % sum(changed[:512])
    else:
        return data, "as it is"
    return bytes(changed), f"said to be {claimed}"
