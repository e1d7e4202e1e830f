"""One file of a run: before it is read, and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from tvmdbg_widgets.formats.registry import Format
from tvmdbg_widgets.sources.byte_source import ByteSource


@dataclass(frozen=True)
class FileCandidate:
    """A file of a known format."""

    source: ByteSource
    format: Format
    folder: PurePath | None = None
    path: PurePath = field(default_factory=PurePath)


@dataclass(frozen=True)
class Part:
    """One file as it was read: what it gives a run, its content, and the folder it lay in."""

    kind: str
    value: Any
    source: ByteSource
    folder: PurePath | None
