"""The members of a zip archive, read in place: an ETRecord, and what ``torch.save`` writes."""

from __future__ import annotations

import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tvmdbg_widgets.formats.limits import MOST_UNPACKED
from tvmdbg_widgets.formats.sources.unpacking import Allowance, DeflatedSource
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.sources.file import as_file
from tvmdbg_widgets.model.sources.part import PartSource
from tvmdbg_widgets.model.sources.relative_names import below

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

LOCAL_HEADER: Final = b"PK\x03\x04"
#: Magic, flags, packed size, length of the name, length of the extra field.
LOCAL: Final = struct.Struct("<4s2xH10xL4xHH")
_ENCRYPTED = 1
_MOST_MEMBERS = 100_000
_BROKEN = (
    *(zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, OverflowError),
    struct.error,
)


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One member: its bytes, and their CRC as the archive says."""

    source: ByteSource
    crc: int

    def read(self) -> bytes:
        """Return the whole content.

        Raises
        ------
        FormatError
            It is too large to be read whole, or does not have its CRC.
        """
        if self.source.size > MOST_UNPACKED:
            raise FormatError(
                "this member is larger than is read into memory",
                file=self.source.name,
                expected=f"at most {MOST_UNPACKED:,} bytes",
                found=counted(self.source.size, "byte"),
            )
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


@dataclass(frozen=True, slots=True)
class ZipDirectory:
    """What an archive's central directory lists, folders left out.

    Attributes
    ----------
    members : dict of str to ZipMember
        By name, in the order of the file. Of several with one name the last counts, as for Python.
    twice : list of str
        Names that more than one member has.
    refused : dict of str to str
        Members that cannot be read, and why.
    """

    members: dict[str, ZipMember] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def read_directory(source: ByteSource) -> ZipDirectory:
    """List the members of a zip archive.

    Raises
    ------
    FormatError
        It is no zip archive, or its members claim more bytes than it has.
    """
    try:
        with as_file(source) as file, zipfile.ZipFile(file) as archive:
            infos = [info for info in archive.infolist() if not info.filename.endswith("/")]
    except _BROKEN as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(
            "this is no zip archive, or a broken one",
            file=source.name,
            expected="a whole zip archive",
            found=one_line(str(problem)),
            hint="It may be cut off: copy or write it again.",
        ) from None
    claimed = sum(info.compress_size for info in infos)
    if claimed > source.size or len(infos) > _MOST_MEMBERS:
        raise FormatError(
            "the members of this zip archive cannot all lie in it",
            file=source.name,
            expected=f"at most {counted(source.size, 'byte')} and {_MOST_MEMBERS:,} members",
            found=f"{counted(claimed, 'byte')} in {len(infos):,} members",
        )
    directory, allowance = ZipDirectory(), Allowance()
    for info in infos:
        name = info.filename
        if name in directory.members or name in directory.refused:
            directory.twice.append(name)
        try:
            below(name)
            directory.members[name] = _member(source, info, allowance)
        except FormatError as problem:
            directory.refused[name] = problem.problem
        except ValueError as problem:
            directory.refused[name] = f"its name is not read: {problem}"
    return directory


def _member(source: ByteSource, info: zipfile.ZipInfo, allowance: Allowance) -> ZipMember:
    name = one_line(f"{source.name}: {info.filename}")
    stored = info.compress_type == zipfile.ZIP_STORED and info.file_size == info.compress_size
    magic, _, _, name_length, extra = LOCAL.unpack(source.read(info.header_offset, LOCAL.size))
    if info.flag_bits & _ENCRYPTED:
        raise FormatError("this member is encrypted", file=name)
    if magic != LOCAL_HEADER or not (stored or info.compress_type == zipfile.ZIP_DEFLATED):
        raise FormatError(
            "this member cannot be read: it is neither stored nor deflated, or not there", file=name
        )
    start = info.header_offset + LOCAL.size + name_length + extra
    packed = PartSource(source, start, info.compress_size, name)
    content = packed if stored else DeflatedSource(packed, info.file_size, info.CRC, allowance)
    return ZipMember(content, info.CRC)
