"""The members of a zip archive, read in place: a dump, an ETRecord, what ``torch.save`` writes."""

from __future__ import annotations

import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tvmdbg_widgets.formats.sources.unpacking import DeflatedSource
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.sources.allowance import MOST_UNPACKED
from tvmdbg_widgets.model.sources.file import as_file
from tvmdbg_widgets.model.sources.part import PartSource
from tvmdbg_widgets.model.sources.relative_names import below

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

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
    """One member: its bytes, and their CRC as the archive says."""

    source: ByteSource
    crc: int

    def read(self, most: int = MOST_UNPACKED) -> bytes:
        """Return the whole content, a text that is parsed."""
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
    """What an archive's central directory lists, folders left out."""

    members: dict[str, ZipMember] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)
    refused: dict[str, FormatError] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    more: int = 0


def read_directory(source: ByteSource, most: int = MOST_MEMBERS) -> ZipDirectory:
    """List the members of a zip archive, at most so many."""
    try:
        with as_file(source) as file, zipfile.ZipFile(file) as archive:
            infos = [info for info in archive.infolist() if not info.filename.endswith("/")]
    except _BROKEN_ZIP as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(
            "this zip archive cannot be read",
            file=source.name,
            expected="a whole zip archive",
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
