"""Packed bytes in memory again, never more of them than is allowed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import threading
import zlib
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.limits import MOST_UNPACKED, raised
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Severity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.sources.byte_source import ByteSource, BytesSource
from tvmdbg_widgets.model.sources.file import as_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PIECE = 1 << 20
_HEAD = 64 << 10
_XZ_MEMORY = 256 << 20
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


class Allowance:
    """How many bytes may still be unpacked; shared by the members of one archive."""

    def __init__(self, most: int = MOST_UNPACKED) -> None:
        self.most = self._left = most
        self._lock = threading.Lock()

    def take(self, count: int, name: str) -> None:
        """Take so many bytes; FormatError where they are not left."""
        with self._lock:
            if count > self._left:
                raise too_large(name, self.most - self._left + count, self.most)
            self._left -= count

    def __getstate__(self) -> tuple[int, int]:
        return self.most, self._left

    def __setstate__(self, state: tuple[int, int]) -> None:
        self.most, self._left = state
        self._lock = threading.Lock()


class DeflatedSource(ByteSource):
    """A deflated member of a zip archive: its head unpacked for itself, all of it when needed.

    Parameters
    ----------
    packed
        The deflated bytes.
    size, crc
        What the archive says of them unpacked.
    allowance
        Of the archive.
    """

    def __init__(self, packed: ByteSource, size: int, crc: int, allowance: Allowance) -> None:
        self.packed = packed
        self.name = packed.name
        self.size = size
        self._crc = crc
        self._allowance = allowance
        self._head: bytes | None = None
        self._whole: bytes | None = None

    def _fill(self, offset: int, view: memoryview) -> None:
        end = offset + len(view)
        if self._whole is None and end <= min(_HEAD, self.size):
            if self._head is None:
                self._head = self._inflated(min(_HEAD, self.size))
            view[:] = self._head[offset:end]
            return
        if self._whole is None:
            self._allowance.take(self.size, self.name)
            self._whole = self._all()
        view[:] = self._whole[offset:end]

    def _all(self) -> bytes:
        data = self._inflated(self.size + 1)
        if len(data) > self.size or zlib.crc32(data) != self._crc:
            raise FormatError(
                "the archive's member is damaged",
                file=self.name,
                expected=f"{counted(self.size, 'byte')} with CRC {self._crc:#010x}",
                found=f"more than {counted(self.size, 'byte')}"
                if len(data) > self.size
                else f"CRC {zlib.crc32(data):#010x}",
                hint="Copy or download the archive again.",
            )
        return data

    def _inflated(self, wanted: int) -> bytes:
        decoder = zlib.decompressobj(-15)
        out = bytearray()
        position = 0
        try:
            while len(out) < wanted and not decoder.eof:
                data = decoder.unconsumed_tail
                if not data:
                    data = self.packed.read(position, min(_PIECE, self.packed.size - position))
                    position += len(data)
                piece = decoder.decompress(data, wanted - len(out))
                out += piece
                if not data and not piece:
                    break
        except zlib.error as problem:
            raise self._broken(len(out), str(problem)) from None
        if len(out) < min(wanted, self.size):
            raise self._broken(len(out), "the end of the packed bytes")
        return bytes(out)

    def _broken(self, offset: int, found: str) -> FormatError:
        return FormatError(
            "the archive's member cannot be unpacked",
            file=self.name,
            offset=offset,
            expected=f"{counted(self.size, 'byte')} of deflated data",
            found=found,
            hint="Copy or download the archive again.",
        )


def unpack(
    source: ByteSource, name: str, issues: list[Issue], most: int = MOST_UNPACKED
) -> BytesSource | None:
    """Unpack a file that was packed whole by gzip, bzip2 or xz, told by its first bytes.

    Parameters
    ----------
    source
        The packed file.
    name
        What to call the unpacked one.
    issues
        Told where it breaks off; what came before is returned.
    most
        Bytes that it may have when unpacked.

    Returns
    -------
    BytesSource or None
        None where it is not packed so.

    Raises
    ------
    FormatError
        It is larger than ``most`` when unpacked, or nothing can be unpacked.
    """
    head = source.read(0, min(6, source.size))
    pieces: Iterator[bytes]
    if head[:2] == b"\x1f\x8b":
        pieces = _gunzipped(source)
    elif head[:3] == b"BZh":
        pieces = _decoded(source, bz2.BZ2Decompressor)
    elif head == b"\xfd7zXZ\0":
        pieces = _decoded(source, lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY))
    else:
        return None
    out = bytearray()
    try:
        for piece in pieces:
            if len(out) + len(piece) > most:
                raise too_large(source.name, len(out) + len(piece), most)
            out += piece
    except FormatError:
        raise
    except _BROKEN as problem:
        text = str(problem) or type(problem).__name__
        if not out:
            raise FormatError(
                "this packed file cannot be unpacked",
                file=source.name,
                expected="a whole gzip, bzip2 or xz file",
                found=text,
                hint="It may be cut off: copy or download it again.",
            ) from None
        message = f"it breaks off after {counted(len(out), 'unpacked byte')}: {text}"
        issues.append(Issue("archive-cut-off", Severity.ERROR, message, file=source.name))
    return BytesSource(memoryview(out).toreadonly(), name)


def _gunzipped(source: ByteSource) -> Iterator[bytes]:
    with as_file(source) as file, gzip.GzipFile(fileobj=file) as unpacked:
        while piece := unpacked.read(_PIECE):
            yield piece


def _decoded(
    source: ByteSource, make: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]
) -> Iterator[bytes]:
    decoder = make()
    for start in range(0, source.size, _PIECE):
        data = source.read(start, min(_PIECE, source.size - start))
        while data or not decoder.needs_input:
            if decoder.eof:
                data = decoder.unused_data + data
                data = data.lstrip(b"\0")
                if not data:
                    break
                decoder = make()
            yield decoder.decompress(data, _PIECE)
            data = b""
            if decoder.eof and not decoder.unused_data:
                break
    if not decoder.eof:
        raise EOFError("the end of the packed bytes is missing")


def too_large(name: str, count: int, most: int) -> FormatError:
    """Return the error of an archive or member that has more bytes when unpacked than may be."""
    return FormatError(
        "this is too large to be unpacked in memory",
        file=name,
        expected=f"at most {most:,} bytes unpacked",
        found=f"{count:,} or more",
        hint="Unpack it yourself and open the folder, for which no such limit holds; or "
        f"{raised('trace', 2 * count)} unpacks as much, where 'trace' names the part it gives.",
    )
