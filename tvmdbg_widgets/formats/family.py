"""Families of formats: the kinds of their files, how to identify, read and join them."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, TypeVar

from tvmdbg_widgets.formats.limits import GB, LIMITS
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity, one_line
from tvmdbg_widgets.model.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.parts import RunFile
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.file_source import FileSource, GrowingFile

T = TypeVar("T")
_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cycle collector, which takes half of the time of reading a large graph."""
    global _pauses, _was_enabled  # noqa: PLW0603
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()


@dataclass(frozen=True)
class Kind:
    """Files of one format; ``sniff`` identifies them by their first bytes, ``what`` names them."""

    part: str
    what: str
    sniff: Callable[[bytes], bool]
    read: Callable[..., Any]
    #: Name in ``LIMITS``; None if only headers are read, or line by line.
    limit: str | None = None
    #: Bytes are mostly tensors, which are not parsed.
    has_tensors: bool = False
    #: Kinds of lower rank are tried first; 1 if a line anywhere in a text identifies the kind.
    rank: int = 0
    #: Pasted texts may be identified as this kind and be misread.
    pasted: bool = False
    #: Files may be appended to after they are opened.
    grows: bool = False


#: Bytes from the start of a file that identify its kind.
HEAD_BYTES = 64 * 1024


def head(source: ByteSource) -> bytes:
    """Return the first bytes of a file, which identify its kind."""
    return source.read(0, min(HEAD_BYTES, source.size))


def identify(source: ByteSource, among: Sequence[Kind]) -> Kind | None:
    """Return the kind of a source, or None."""
    start = head(source)
    return next((kind for kind in among if kind.sniff(start)), None)


@dataclass(frozen=True)
class Part:
    """One file after reading: its kind, content and folder."""

    kind: str
    value: Any
    source: ByteSource
    folder: PurePath | None


def of_kind(parts: Sequence[Part], kind: str) -> list[Any]:
    """Return the contents of the parts of a kind."""
    return [part.value for part in parts if part.kind == kind]


def only(values: Sequence[T], what: str, issues: list[Issue]) -> T | None:
    """Return the first of some values; several are an issue."""
    if len(values) > 1:
        text = f"{counted(len(values), 'file')} are each a {what}; only the first is used"
        issues.append(Issue("more-than-one", IssueSeverity.WARNING, text))
    return values[0] if values else None


def run_file(part: Part) -> RunFile:
    """Name a file by its folder; a bare dump folder keeps its name, which has the device."""
    name = part.source.name.replace("\\", "/")
    if part.folder is None:
        bare = part.kind if name.startswith("<") else name.rpartition("/")[2]
        return RunFile(part.kind, bare, part.source)
    if "/" not in name and part.folder.name.startswith("_tvmdbg_"):
        name = f"{part.folder.name}/{name}"
    return RunFile(part.kind, name, part.source)


def file_texts(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the names of the files with sizes."""
    return tuple(f"{part.source.name} ({counted(part.source.size, 'byte')})" for part in parts)


@dataclass(frozen=True)
class FileCandidate:
    """A file of a known kind, before it is read."""

    source: ByteSource
    kind: Kind
    folder: PurePath | None = None
    path: PurePath = field(default_factory=PurePath)

    def read(self, **options: Any) -> Part:
        """Read the file; FormatError if it is unreadable."""
        source = self.source
        if self.kind.grows and type(source) is FileSource:
            source = source.again(GrowingFile)
        with collector_paused():
            value = self.kind.read(source, **options)
        return Part(self.kind.part, value, source, self.folder)


@dataclass(frozen=True)
class JoinOptions:
    """Arguments of ``open`` that say how files are joined."""

    title: str
    params: Mapping[str, Any] = field(default_factory=dict)
    method: str | None = None
    execution: int | None = None
    dtype_layout: str | DTypeLayout | Sequence[str | DTypeLayout] = "auto"


@dataclass(frozen=True)
class Family:
    """Kinds of files that one tool writes, the function that joins them, and parts of dumps."""

    name: str
    kinds: tuple[Kind, ...]
    join: Callable[[Sequence[Part], Sequence[Issue], JoinOptions], Any]
    dumps: tuple[frozenset[str], ...] = ()

    def __contains__(self, part: str) -> bool:
        return any(kind.part == part for kind in self.kinds)


class Limits:
    """The limits of one call of ``open``, by the names of size limits."""

    def __init__(self, chosen: Mapping[str, int] | None = None) -> None:
        self._chosen = chosen or {}
        #: Unpacked bytes that are allowed whatever their ratio; 0 where nothing is chosen.
        self.unpacked = max(self._chosen.values(), default=0)

    def check(self, source: ByteSource, kind: Kind) -> None:
        """Raise FormatError if a file or its packed bytes are larger than allowed."""
        if not kind.has_tensors:
            source.allowance().take_text(source.size, one_line(source.name))
        if kind.limit is None:
            return
        most = self._chosen.get(kind.limit, LIMITS[kind.limit])
        if source.size <= most:
            return
        call = f"open(…, limits={{{kind.limit!r}: {max(1, -(-source.size // GB))} * 2**30}})"
        raise FormatError(
            f"this {kind.what} is larger than is read into memory",
            file=one_line(source.name),
            expected=f"at most {counted(most, 'byte')}",
            found=counted(source.size, "byte"),
            hint=f"If it is the right file, {call} still reads it.",
        )
