"""A file that another process may append to: its first bytes, as they were when it was opened."""

from __future__ import annotations

import hashlib
import os
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.sources.file_source import FileSource
from tvmdbg_widgets.model.sources.state import FileState

if TYPE_CHECKING:
    import io
    from pathlib import Path

    from tvmdbg_widgets.model.sources.state import Read

#: Bytes at the start and before the end that tell whether a file was rewritten.
_HEAD, _TAIL = 4 << 10, 64 << 10


class GrowingFile(FileSource):
    """A file on disk that may grow while it is read; what is appended is not seen.

    It has changed where it was replaced or cut off, or where its first 4 KiB or the last 64 KiB
    before the end it had are others. A rewrite that leaves both alone cannot be noticed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        name: str | None = None,
        *,
        within: Path | None = None,
        follow_links: bool = False,
    ) -> None:
        super().__init__(path, name, within=within, follow_links=follow_links)
        self._state = self._growing = _GrowingState(self.path.stat(), self.size, self.read)

    def change(self) -> Change:
        """Tell what became of the file since it was opened."""
        with self._open() as file:
            status = os.fstat(file.fileno())
            if not self._growing.is_still(status, partial(_read, file)):
                return Change.REWRITTEN
        return Change.GROWN if status.st_size > self.size else Change.NONE


class Change(Enum):
    """What became of a file: nothing, more bytes, or other bytes than there were."""

    NONE = 0
    GROWN = 1
    REWRITTEN = 2


class _GrowingState(FileState):
    def __init__(self, status: os.stat_result, size: int, read: Read) -> None:
        super().__init__(status)
        self._file = _file(status)
        self._size = size
        self._seen = status.st_mtime_ns, status.st_size
        self.digest = self._digest_now(read)

    def is_still(self, status: os.stat_result, read: Read) -> bool:
        """Whether a status is that of the same file, with the same bytes up to its old end."""
        if status.st_size < self._size or _file(status) != self._file:
            return False
        seen = status.st_mtime_ns, status.st_size
        if seen != self._seen:
            if self._digest_now(read) != self.digest:
                return False
            self._seen = seen
        return True

    def _digest_now(self, read: Read) -> bytes:
        head, tail = min(_HEAD, self._size), min(_TAIL, self._size)
        digest = hashlib.blake2b(read(0, head), digest_size=16)
        digest.update(read(self._size - tail, tail))
        return digest.digest()


def _file(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _read(file: io.FileIO, offset: int, length: int) -> bytes:
    """Return the bytes at ``offset``, fewer where the file ends before."""
    file.seek(offset)
    return file.read(length)
