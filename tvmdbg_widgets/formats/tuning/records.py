"""How a file of tuning records is told; what reads it is imported once one is read."""

from __future__ import annotations

import re
from typing import Any

from tvmdbg_widgets.formats.tuning.lines import BOM, COMMENT, pickled
from tvmdbg_widgets.formats.tuning.record_file import RecordFile
from tvmdbg_widgets.sources.byte_source import ByteSource

_LOOKED_AT = 50
_NUMBER = rb"\s*-?[0-9]+\s*"
_STARTS = (
    re.compile(rb'\{\s*"[irv]"\s*:'),
    re.compile(rb'\{\s*"(input|config|result|version|tvm_version)"\s*:'),
    re.compile(rb"\[" + _NUMBER + rb",\s*\[\s*\[\s*\["),
    re.compile(rb'\[\s*"[0-9]{1,20}"\s*,\s*"[A-Za-z0-9+/=]{12}'),
)
_NEEDED = ((b'"i"', b'"r"', b'"v"'), (b'"input"', b'"config"', b'"result"'))


def sniff(head: bytes) -> bool:
    """Whether a file that starts with these bytes holds tuning records."""
    lines = head.removeprefix(BOM).split(b"\n")
    told = [each for each in lines if each.strip() and each[:1] not in COMMENT]
    return any(map(_is_record, told[:_LOOKED_AT]))


def _is_record(line: bytes) -> bool:
    if pickled(line.rstrip(b"\r")) is not None:
        return True
    for start, needed in zip(_STARTS, (*_NEEDED, (), ()), strict=True):
        if start.match(line):
            # The end of a long line lies behind the head.
            return all(key in line for key in needed) or not line.rstrip().endswith(b"}")
    return False


def read_records(source: ByteSource, **options: Any) -> RecordFile:
    """Read the records of a file, as :func:`~.record_file.read_file` does."""
    from tvmdbg_widgets.formats.tuning.record_file import read_file

    return read_file(source, **options)
