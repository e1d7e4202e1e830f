"""The first bytes of a program file: which release wrote it, and where its parts lie.

``schema/extended_header.cpp`` and ``docs/source/pte-file-format.md`` @ v1.4.1.
"""

from __future__ import annotations

import re
import struct

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.program import ProgramHeader
from tvmdbg_widgets.sources.byte_source import ByteSource

HINT = "The file may be cut off or damaged: copy or export it again."

_IDENTIFIER = re.compile(rb"ET\d\d")
#: Root offset, identifier, magic, length, program size, segment base offset.
_FIXED = struct.Struct("<I4s4sIQQ")


def sniff(head: bytes) -> bool:
    """Tell whether a file that starts with these bytes is a program, readable or not."""
    return _IDENTIFIER.fullmatch(head[4:8]) is not None


def read_header(source: ByteSource) -> ProgramHeader | None:
    """Return the extended header, None where the program has none."""
    head = source.read(0, min(source.size, 40))
    if head[4:8] != b"ET12":
        raise FormatError(
            "no program that a runtime of ExecuTorch reads"
            if sniff(head)
            else "no program of ExecuTorch",
            file=source.name,
            field="identifier",
            offset=4,
            expected="ET12, as in every release from 0.1 on",
            found=repr(head[4:8])[1:],
            hint="A newer release may have changed the format." if sniff(head) else HINT,
        )
    if head[8:12] != b"eh00":
        return None
    if len(head) < _FIXED.size:
        raise _broken(source, "length", 12, f"{_FIXED.size} bytes", counted(len(head), "byte"))
    *_, length, program_size, base = _FIXED.unpack_from(head)
    if length < 24:
        raise _broken(source, "length", 12, "24 or more", length)
    if not 8 + length <= program_size <= source.size:
        raise _broken(source, "program_size", 16, _within(source), f"{program_size:,}")
    if base and not program_size <= base <= source.size:
        raise _broken(source, "segment_base_offset", 24, _within(source), f"{base:,}")
    if length < 32:
        return ProgramHeader(length, program_size, base, None)
    (size,) = struct.unpack_from("<Q", head, 32) if len(head) == 40 else (0,)
    if base + size > source.size:
        raise _broken(
            source,
            "segment_data_size",
            32,
            counted(base + size, "byte"),
            f"a file of {counted(source.size, 'byte')}",
        )
    return ProgramHeader(length, program_size, base, size)


def _within(source: ByteSource) -> str:
    return f"a size within the {counted(source.size, 'byte')} of the file"


def _broken(
    source: ByteSource, field: str, offset: int, expected: object, found: object
) -> FormatError:
    return FormatError(
        "the header does not fit the file",
        file=source.name,
        field=f"extended header: {field}",
        offset=offset,
        expected=expected,
        found=found,
        hint=HINT,
    )
