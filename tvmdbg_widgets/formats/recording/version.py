"""What every file of a recording starts with: its format and version."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from tvmdbg_widgets.formats.json_fields import Count, convert, read_json
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.sources.byte_source import ByteSource

T = TypeVar("T")


class _Start(msgspec.Struct):
    format: str
    version: Count


def read_versioned(
    source: ByteSource, kind: type[T], form: str, version: int, *, halves: bool = False
) -> T:
    """Read a file; FormatError unless it is of this format, and of a version known here."""
    value = read_json(source, object, halves=halves)
    start = convert(value, _Start, source.name)
    if start.format != form:
        raise FormatError(
            "this is another kind of file",
            file=source.name,
            field="format",
            expected=repr(form),
            found=repr(start.format),
        )
    if start.version > version:
        raise FormatError(
            "this file is of a newer version",
            file=source.name,
            field="version",
            expected=f"at most {version}",
            found=start.version,
            hint="Update tvmdbg-widgets: pip install --upgrade tvmdbg-widgets.",
        )
    return convert(value, kind, source.name)
