"""A file object that somebody else opened."""

from __future__ import annotations

import io
import os
import threading
from typing import IO

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.sources.byte_source import ByteSource


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
