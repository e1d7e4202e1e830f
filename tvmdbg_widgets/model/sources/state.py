"""Which file it was when it was opened, and whether it still is."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeAlias

from tvmdbg_widgets.model.base.errors import FormatError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    Read: TypeAlias = Callable[[int, int], bytes]


class FileState:
    """The state of a file as it was opened.

    A file has changed where its size, modification time, device or inode has. Where only the time
    of the last change of its status has (ctime), the bytes that readers hold are compared again:
    chmod, a new hard link and backup tools set that time and leave the bytes alone, a rewrite that
    sets the modification time back does not. Readers hold headers, with the tensors of up to 16 KiB
    between them: a rewrite of the same size that changes nothing but values of other tensors, and
    sets the modification time back, cannot be noticed.
    """

    def __init__(self, status: os.stat_result) -> None:
        self._identity = _identity(status)
        self._ctime = status.st_ctime_ns
        self._held: dict[tuple[tuple[int, int], ...], bytes] = {}

    def hold(self, ranges: Iterable[tuple[int, int]], read: Read) -> None:
        """Note the bytes of ranges ``(offset, length)`` as they are now."""
        kept = tuple(ranges)
        if kept not in self._held:
            self._held[kept] = _digest(kept, read)

    def is_still(self, status: os.stat_result, read: Read) -> bool:
        """Whether a status is that of the same file, unchanged; ``read`` reads it."""
        if _identity(status) != self._identity:
            return False
        if status.st_ctime_ns != self._ctime:
            if any(_digest(ranges, read) != before for ranges, before in self._held.items()):
                return False
            self._ctime = status.st_ctime_ns
        return True

    def changed(self, status: os.stat_result, file: str, offset: int) -> FormatError:
        """Return the error that tells of a change."""
        expected, found = self._identity, _identity(status)
        same = expected == found
        return FormatError(
            "the file changed after it was opened",
            file=file,
            offset=offset,
            expected="the headers that were read then" if same else _in_words(expected),
            found="others, though size and modification time are as they were"
            if same
            else _in_words(found),
            hint="Open it again when nothing writes to it any more.",
        )


def _identity(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino


def _in_words(identity: tuple[int, int, int, int]) -> str:
    return "{} bytes, mtime_ns {}, device {}, inode {}".format(*identity)


def _digest(ranges: Iterable[tuple[int, int]], read: Read) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for offset, length in ranges:
        digest.update(read(offset, length))
    return digest.digest()
