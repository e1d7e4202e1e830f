"""What a caller may give as a source: a path, a URL, bytes, or a file object."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, TypeAlias

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.urls import is_url, local_path
from tvmdbg_widgets.sources.byte_source import BytesLike, ByteSource, BytesSource
from tvmdbg_widgets.sources.file_source import FileSource
from tvmdbg_widgets.sources.remote import RemoteSource


class StreamSource(ByteSource):
    """A seekable binary file object. It is never closed here, and its position is put back."""

    def __init__(self, stream: IO[bytes], name: str | None = None) -> None:
        if isinstance(stream, io.TextIOBase):
            raise TypeError("this stream yields text; open the file in binary mode ('rb')")
        if not stream.seekable():
            raise TypeError("this stream cannot seek; read() it and pass the bytes")
        self._stream = stream
        self._lock = threading.Lock()
        own_name = getattr(stream, "name", None)
        self.name = name or (own_name if isinstance(own_name, str) else "<stream>")
        with self._lock:
            before = stream.tell()
            self.size = stream.seek(0, os.SEEK_END)
            stream.seek(before)

    def _fill(self, offset: int, view: memoryview) -> None:
        try:
            done = self._read_at(offset, view)
        except ValueError as problem:  # what closed streams raise
            raise FormatError(
                f"the stream cannot be read any more ({problem})",
                file=self.name,
                offset=offset,
                hint="Keep it open as long as the run is used, or pass the path.",
            ) from problem
        if done < len(view):
            raise FormatError(
                "the file changed after it was opened",
                file=self.name,
                offset=offset + done,
                expected=counted(len(view) - done, "more byte"),
                found="the end of the stream",
            )

    def _read_at(self, offset: int, view: memoryview) -> int:
        done = 0
        with self._lock:
            before = self._stream.tell()
            try:
                self._stream.seek(offset)
                while done < len(view):
                    part = self._stream.read(len(view) - done)
                    if not part:
                        break
                    view[done : done + len(part)] = part
                    done += len(part)
            finally:
                self._stream.seek(before)
        return done


SourceLike: TypeAlias = "str | os.PathLike[str] | BytesLike | IO[bytes] | ByteSource"


def as_source(
    obj: SourceLike, name: str | None = None, *, follow_links: bool = False
) -> ByteSource:
    """Make a byte source of a path, of bytes, or of a binary file object."""
    if isinstance(obj, ByteSource):
        return obj
    if isinstance(obj, bytes | bytearray | memoryview):
        return BytesSource(obj, name)
    if isinstance(obj, str | os.PathLike):
        if "\0" in os.fsdecode(obj):
            raise TypeError("this str holds NUL: it is content, not a path; pass it as bytes")
        if isinstance(obj, str) and is_url(obj):
            return RemoteSource(obj, name)
        return FileSource(obj, name, follow_links=follow_links)
    if isinstance(obj, io.TextIOBase):
        raise TypeError("this stream yields text; open the file in binary mode ('rb')")
    if hasattr(obj, "read"):
        if not obj.seekable():
            return BytesSource(obj.read(), name or getattr(obj, "name", None))
        return StreamSource(obj, name)
    raise TypeError(
        f"cannot read bytes from {type(obj).__name__}; pass a path, bytes or a binary file object"
    )


def flat(sources: Iterable[Any]) -> list[SourceLike]:
    """Return sources of which some are lists of sources as one list."""
    nested = [each if isinstance(each, list | tuple) else [each] for each in sources]
    return [source for group in nested for source in group]


def content_of(source: SourceLike) -> SourceLike:
    """Text that is JSON itself becomes its bytes, and a path its user's; the rest stays."""
    if not isinstance(source, str):
        return source
    if source.lstrip()[:1] in ("{", '"'):
        return source.encode()
    if not source.strip():
        raise ValueError("the path is empty; pass the folder that the debugger wrote")
    return Path(source).expanduser() if source.startswith("~") else local_path(source)
