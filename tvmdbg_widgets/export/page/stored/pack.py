"""One binary of tables and blobs, read back by ``js/src/page/stored/data.ts``.

``TVMDBGP1``, the length of the head (uint32), four zero bytes, the head (JSON), zeros up to a
multiple of eight, then the body. Offsets in the head count from the body's first byte.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tvmdbg_widgets.engine.columns import pack
from tvmdbg_widgets.model.base.strings import StringColumn

MAGIC = b"TVMDBGP1"
_WIDTHS = {"u1": 1, "u2": 2, "u4": 4, "i4": 4, "f4": 4, "f8": 8}
#: Of compression: level 9 takes five times as long, for 0.8 % fewer bytes.
LEVEL = 7
#: Where only the size is asked for.
_ESTIMATE_LEVEL = 6


def packed_size(data: bytes) -> int:
    """Return the bytes that data take in a page: base64 of gzip."""
    return base64_size(len(zlib.compress(data, LEVEL)) + 18)


def base64_size(count: int) -> int:
    """Return the length of so many bytes in base64."""
    return -(-count // 3) * 4


def compressed(data: bytes) -> int:
    """Return about how many bytes a part of the binary takes once compressed; rather too many."""
    return len(zlib.compress(data, _ESTIMATE_LEVEL))


def shuffled(data: bytes | bytearray | memoryview, width: int) -> bytes:
    """Put first bytes of all items first, then the second ones, …: compresses better.

    ``len(data)`` must be a multiple of ``width``.
    """
    return np.frombuffer(data, np.uint8).reshape(-1, width).T.tobytes()


def shuffled_floats(arrays: Sequence[np.ndarray[Any, Any]]) -> bytes:
    """Return the shuffled bytes of arrays of one float type, one after the other."""
    whole = np.concatenate(arrays)
    return shuffled(
        whole.astype(whole.dtype.newbyteorder("<"), copy=False).tobytes(), whole.itemsize
    )


def filtered(headers: list[dict[str, Any]], buffer: bytes) -> bytes:
    """Return a packed buffer with integers as differences and all numbers shuffled."""
    out = bytearray(buffer)
    for kind, offset, length in _regions(headers):
        width = _WIDTHS[kind]
        end = offset + length * width
        part = buffer[offset:end]
        if kind == "i4":
            values = np.frombuffer(part, "<i4")
            part = np.diff(values, prepend=np.zeros(1, "<i4")).astype("<i4").tobytes()
        out[offset:end] = shuffled(part, width)
    return bytes(out)


def _regions(headers: list[dict[str, Any]]) -> Iterator[tuple[str, int, int]]:
    for header in headers:
        if header["kind"] == "strings":
            yield "i4", header["codes"], header["length"]
            yield "i4", header["offsets"], header["unique"] + 1
        elif header["kind"] != "u1":
            yield header["kind"], header["offset"], header["length"]


class BinaryParts:
    """The parts of one binary, in the order they were added."""

    def __init__(self) -> None:
        self.head: dict[str, Any] = {"version": 1}
        self._tables: dict[str, Any] = {}
        self._body = bytearray()

    def copy(self) -> BinaryParts:
        """Return a binary that starts with the same parts."""
        other = BinaryParts()
        other.head = dict(self.head)
        other._tables = dict(self._tables)
        other._body = bytearray(self._body)
        return other

    def add_columns(
        self,
        name: str,
        columns: Mapping[str, np.ndarray[Any, Any] | StringColumn],
        answer: str = "",
    ) -> None:
        """Add the columns of an answer, or of a table of the page's own, under a name."""
        self.add_packed(name, *pack(columns, answer or f"page {name}"))

    def add_packed(self, name: str, headers: list[dict[str, Any]], buffer: bytes) -> None:
        """Add columns that are packed already."""
        at, size = self.add_blob(filtered(headers, buffer))
        self._tables[name] = {"columns": headers, "at": at, "size": size}

    def add_blob(self, data: bytes) -> tuple[int, int]:
        """Add bytes; return where they begin and how many there are."""
        self._body.extend(b"\0" * (-len(self._body) % 8))
        at = len(self._body)
        self._body.extend(data)
        return at, len(data)

    def to_bytes(self) -> bytes:
        """Return the whole."""
        head = {**self.head, "tables": self._tables}
        text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 8)
        return MAGIC + struct.pack("<II", len(text), 0) + text + bytes(self._body)
