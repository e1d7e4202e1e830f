"""Text of a trace or a log: whatever a shell or an editor made of it."""

from __future__ import annotations

import codecs

from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.sources.byte_source import ByteSource

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes, file: str) -> tuple[str, list[Issue]]:
    """Decode text: UTF-8 unless a byte order mark says otherwise.

    Windows PowerShell redirects a program's output as UTF-16 with a byte order mark. Bytes that
    are not text become U+FFFD, with an issue that tells where.
    """
    mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
    body = data[len(mark) :]
    try:
        return body.decode(encoding), []
    except UnicodeDecodeError as error:
        message = (
            f"bytes at offset {len(mark) + error.start} are not {encoding.upper()}; "
            "they are shown as U+FFFD"
        )
        return body.decode(encoding, errors="replace"), [
            Issue("not-text", IssueSeverity.WARNING, message, file=file)
        ]


def read_text(source: ByteSource) -> tuple[str, list[Issue]]:
    """Read a whole source as text; see :func:`decode`."""
    return decode(source.read(0, source.size), source.name)
