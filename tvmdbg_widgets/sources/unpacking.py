"""Packed files and members of zip archives in memory, up to their allowance."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity, one_line
from tvmdbg_widgets.sources.byte_source import (
    MOST_UNPACKED,
    ByteSource,
    BytesSource,
    PartSource,
    as_file,
)
from tvmdbg_widgets.sources.file_source import below

_PIECE = 1 << 20
_HEAD = 64 << 10
_XZ_MEMORY = 256 << 20
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


class DeflatedSource(ByteSource):
    """A deflated member of a zip archive, unpacked on demand, its head alone at first."""

    def __init__(self, packed: ByteSource, size: int, crc: int) -> None:
        self.packed = self.container = packed
        self.name = packed.name
        self.size = size
        self._crc = crc
        self._head: bytes | None = None
        self._content: bytes | None = None

    def _fill(self, offset: int, view: memoryview) -> None:
        end = offset + len(view)
        if self._content is None and end <= min(_HEAD, self.size):
            if self._head is None:
                self.allowance().take(min(_HEAD, self.size), self.name)
                self.allowance().take_text(min(_HEAD, self.size), self.name)
                self._head = self._inflated(min(_HEAD, self.size))
            view[:] = self._head[offset:end]
            return
        if self._content is None:
            self.allowance().take(self.size - len(self._head or b""), self.name)
            self._content = self._all()
            self._head = None
        view[:] = self._content[offset:end]

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
    """Unpack a file packed by gzip, bzip2 or xz, identified by its first bytes."""
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
                expected="a complete gzip, bzip2 or xz file",
                found=text,
                hint="It may be cut off: copy or download it again.",
            ) from None
        message = f"it breaks off after {counted(len(out), 'unpacked byte')}: {text}"
        issues.append(Issue("archive-cut-off", IssueSeverity.ERROR, message, file=source.name))
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


LOCAL_HEADER: Final = b"PK\x03\x04"
#: Magic, flags, packed size, length of the name, length of the extra field.
LOCAL: Final = struct.Struct("<4s2xH10xL4xHH")
_ENCRYPTED = 1
MOST_MEMBERS: Final = 100_000
_BROKEN_ZIP = (
    *(zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, OverflowError),
    struct.error,
)


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One member: its bytes, and their CRC in the archive."""

    source: ByteSource
    crc: int

    def read(self, most: int = MOST_UNPACKED) -> bytes:
        """Return the content of a text to parse."""
        if self.source.size > most:
            raise FormatError(
                "this member is larger than is read into memory",
                file=self.source.name,
                expected=f"at most {counted(most, 'byte')}",
                found=counted(self.source.size, "byte"),
            )
        self.source.allowance().take_text(self.source.size, self.source.name)
        data = self.source.read(0, self.source.size)
        if zlib.crc32(data) != self.crc:
            raise FormatError(
                "this member is damaged",
                file=self.source.name,
                expected=f"CRC {self.crc:#010x}",
                found=f"{zlib.crc32(data):#010x}",
                hint="Copy the file again.",
            )
        return data


@dataclass(slots=True)
class ZipDirectory:
    """The members in an archive's central directory, without folders."""

    members: dict[str, ZipMember] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)
    refused: dict[str, FormatError] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    more: int = 0


def read_directory(source: ByteSource, most: int = MOST_MEMBERS) -> ZipDirectory:
    """List the members of a zip archive, at most `most`."""
    try:
        with as_file(source) as file, zipfile.ZipFile(file) as archive:
            infos = [info for info in archive.infolist() if not info.filename.endswith("/")]
    except _BROKEN_ZIP as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(
            "this zip archive cannot be read",
            file=source.name,
            expected="a complete zip archive",
            found=one_line(str(problem)),
            hint="It may be cut off: copy or download it again.",
        ) from None
    directory, taken = ZipDirectory(more=max(0, len(infos) - most)), 0
    for info in infos[:most]:
        name = info.filename
        if name in directory.members or name in directory.refused:
            directory.twice.append(name)
        if reason := _left_out(info):
            directory.left_out[name] = reason
            continue
        try:
            directory.members[name] = _member(source, info, taken)
            taken += info.compress_size
        except FormatError as problem:
            directory.refused[name] = problem
    return directory


def _left_out(info: zipfile.ZipInfo) -> str:
    # The upper half holds the mode of the Unix file: 0o12 is a link.
    if info.external_attr >> 28 == 0o12:
        return "it is a link"
    if info.flag_bits & _ENCRYPTED:
        return "this member is encrypted"
    try:
        below(info.filename)
    except ValueError as problem:
        return f"its name is not read: {problem}"
    return ""


def _member(source: ByteSource, info: zipfile.ZipInfo, taken: int) -> ZipMember:
    name = one_line(f"{source.name}: {info.filename}")
    stored = info.compress_type == zipfile.ZIP_STORED and info.file_size == info.compress_size
    magic, _, _, name_length, extra = LOCAL.unpack(source.read(info.header_offset, LOCAL.size))
    if magic != LOCAL_HEADER or not (stored or info.compress_type == zipfile.ZIP_DEFLATED):
        raise FormatError(
            "a member of the zip archive cannot be read",
            file=name,
            offset=info.header_offset,
            expected="a stored or deflated member",
            found=f"method {info.compress_type}" if magic == LOCAL_HEADER else magic.hex(" "),
        )
    if taken + info.compress_size > source.size:
        raise FormatError(
            "the members of this zip archive cannot all lie in it",
            file=name,
            expected=f"at most {counted(source.size - taken, 'byte')} after the members before it",
            found=counted(info.compress_size, "byte"),
        )
    start = info.header_offset + LOCAL.size + name_length + extra
    packed = PartSource(source, start, info.compress_size, name)
    content = packed if stored else DeflatedSource(packed, info.file_size, info.CRC)
    return ZipMember(content, info.CRC)
