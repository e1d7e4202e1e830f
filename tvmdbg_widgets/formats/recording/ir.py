"""Our own file of IR text, ``tvmdbg_ir.json``; ``docs/recording.md`` specifies it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.json_fields import Fields
from tvmdbg_widgets.formats.recording.version import require_version
from tvmdbg_widgets.sources.byte_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tvmdbg_widgets.sources.byte_source import ByteSource

FORMAT, VERSION = "tvmdbg-ir", 1

_SNIFF = re.compile(rb'\s*\{\s*"format"\s*:\s*"tvmdbg-ir"')


def sniff(head: bytes) -> bool:
    """Tell whether a file holds IR text: ``format`` is its first field."""
    return _SNIFF.match(head) is not None


def read_ir(source: ByteSource) -> dict[str, ByteSource]:
    """Read IR text: one source a stage, by name, in the compiler's order."""
    top = Fields.of(source)
    require_version(top, FORMAT, VERSION)
    stages = top.objects("stages")
    return {
        each.text("name"): BytesSource(each.encoded("text"), each.text("name")) for each in stages
    }


def ir_document(ir: Mapping[str, ByteSource]) -> dict[str, Any]:
    """Return IR text as the JSON value of a file."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "stages": [{"name": name, "text": ir_text(source)} for name, source in ir.items()],
    }


def ir_text(source: ByteSource) -> str:
    """Return the text of a stage; bytes that are not UTF-8 survive being saved."""
    return source.read(0, source.size).decode("utf-8", "surrogateescape")
