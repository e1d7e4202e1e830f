"""Packed bytes in memory again, never more of them than is allowed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from typing import TYPE_CHECKING

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


class DeflatedSource(ByteSource):
    """A deflated member of a zip archive: its head unpacked for itself, all of it when needed."""

    def __init__(self, packed: ByteSource, size: int, crc: int) -> None:
        self.packed = self.container = packed
        self.name = packed.name
        self.size = size
        self._crc = crc
        self._head: bytes | None = None
        self._whole: bytes | None = None

    def _fill(self, offset: int, view: memoryview) -> None:
        end = offset + len(view)
        if self._whole is None and end <= min(_HEAD, self.size):
            if self._head is None:
                self.allowance().take(min(_HEAD, self.size), self.name)
                self.allowance().take_text(min(_HEAD, self.size), self.name)
                self._head = self._inflated(min(_HEAD, self.size))
            view[:] = self._head[offset:end]
            return
        if self._whole is None:
            self.allowance().take(self.size - len(self._head or b""), self.name)
            self._whole = self._all()
            self._head = None
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
        self.allowance().check_density(data, self.name)
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


def unpack(source: ByteSource, name: str, issues: list[Issue]) -> BytesSource | None:
    """Unpack a file that was packed whole by gzip, bzip2 or xz, told by its first bytes."""
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
    out, allowance = bytearray(), source.allowance()
    try:
        for piece in pieces:
            allowance.take(len(piece), source.name)
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
    allowance.check_density(out, source.name)
    content = BytesSource(memoryview(out).toreadonly(), name)
    content.container = source
    return content


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
