"""Our own file of IR text, ``tvmdbg_ir.json``; ``docs/recording.md`` specifies it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tvmdbg_widgets.formats.recording.version import read_versioned
from tvmdbg_widgets.model.base.text import paired
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource

FORMAT, VERSION = "tvmdbg-ir", 1

_SNIFF = re.compile(rb'\s*\{\s*"format"\s*:\s*"tvmdbg-ir"')


class _IrStage(msgspec.Struct):
    name: str
    text: str


class _IrDocument(msgspec.Struct):
    stages: list[_IrStage]


def sniff(head: bytes) -> bool:
    """Tell whether a file holds IR text: ``format`` is its first field."""
    return _SNIFF.match(head) is not None


def read_ir(source: ByteSource) -> dict[str, ByteSource]:
    """Read IR text: one source a stage, by name, in the compiler's order."""
    found: dict[str, ByteSource] = {}
    for stage in read_versioned(source, _IrDocument, FORMAT, VERSION, halves=True).stages:
        name = paired(stage.name)
        try:
            text = stage.text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            text = paired(stage.text).encode()
        found[name] = BytesSource(text, name)
    return found


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
