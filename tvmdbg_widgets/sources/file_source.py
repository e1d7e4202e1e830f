"""Files on disk, read in place, also while they grow, and confined to their folder."""

from __future__ import annotations

import errno
import hashlib
import io
import itertools
import os
import stat
import threading
import weakref
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias

from tvmdbg_widgets.model.base.text import FormatError, one_line
from tvmdbg_widgets.sources.byte_source import ByteSource

Read: TypeAlias = Callable[[int, int], bytes]


def below(name: str) -> PurePosixPath:
    """Return a relative path that stays below its folder; ValueError for others."""
    if "\0" in name or "\\" in name:
        raise ValueError("it holds NUL or a backslash")
    path = PurePosixPath(name)
    if path.is_absolute() or PureWindowsPath(name).drive:
        raise ValueError("it is an absolute path")
    if ".." in path.parts:
        raise ValueError("'..' leaves the folder")
    if not path.parts:
        raise ValueError("it names no file")
    return path


def leads_below(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Return whether a path, with its links followed, lies in a folder or below."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


class Descriptors:
    """Idle open files, most recently used first, each lent to one thread at a time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._idle: dict[int, io.FileIO] = {}
        self._lock = threading.Lock()

    def take(self, owner: int) -> io.FileIO | None:
        """Lend the idle file of ``owner``, if there is one."""
        with self._lock:
            return self._idle.pop(owner, None)

    def give(self, owner: int, file: io.FileIO) -> None:
        """Keep ``file`` for the next reader of ``owner``."""
        with self._lock:
            surplus = [self._idle.pop(owner, None)]
            self._idle[owner] = file
            if len(self._idle) > self._limit:
                surplus.append(self._idle.pop(next(iter(self._idle))))
        for other in surplus:
            if other is not None:
                other.close()

    def drop(self, owner: int) -> None:
        """Close the idle file of ``owner``."""
        file = self.take(owner)
        if file is not None:
            file.close()


class FileState:
    """The state of a file as opened; held headers decide if only its status time changed."""

    def __init__(self, status: os.stat_result) -> None:
        self._identity = _identity(status)
        self._ctime = status.st_ctime_ns
        self._held: dict[tuple[tuple[int, int], ...], bytes] = {}

    def hold(self, ranges: Iterable[tuple[int, int]], read: Read) -> None:
        """Keep the current bytes of ranges ``(offset, length)``."""
        kept = tuple(ranges)
        if kept not in self._held:
            self._held[kept] = _digest(kept, read)

    def is_still(self, status: os.stat_result, read: Read) -> bool:
        """Return whether a status is that of the same file, unchanged; ``read`` reads it."""
        if _identity(status) != self._identity:
            return False
        if status.st_ctime_ns != self._ctime:
            if any(_digest(ranges, read) != before for ranges, before in self._held.items()):
                return False
            self._ctime = status.st_ctime_ns
        return True

    def changed(self, status: os.stat_result, file: str, offset: int) -> FormatError:
        """Return the error of a change."""
        expected, current = self._identity, _identity(status)
        same = expected == current
        return FormatError(
            "the file changed after it was opened",
            file=file,
            offset=offset,
            expected="the headers that were read then" if same else _in_words(expected),
            found="others, though size and modification time are as they were"
            if same
            else _in_words(current),
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


class FileSource(ByteSource):
    """A file on disk, compared with its :class:`FileState` after every read."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        name: str | None = None,
        *,
        within: Path | None = None,
        follow_links: bool = False,
    ) -> None:
        self._within = within
        self._follow_links = follow_links
        self.path = Path(os.fsdecode(path)).absolute()
        self.name = one_line(os.fsdecode(path) if name is None else name)
        self._root = within or Path(os.path.realpath(self.path)).parent
        with self._open() as file:
            status = os.fstat(file.fileno())
        self._state = FileState(status)
        self.size = status.st_size
        self._own()

    def hold(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Keep bytes to detect changes; see :class:`ByteSource`."""
        self._state.hold(ranges, self.read)

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now; see :class:`ByteSource`."""
        try:
            self.read(0, min(1, self.size))
        except (FormatError, OSError) as problem:
            return problem
        return None

    def sibling(self, name: str) -> ByteSource:
        """Return a file beside this one, or in a folder below; see :class:`ByteSource`."""
        relative = below(name)
        path = self.path.parent / relative
        if not (self._follow_links or leads_below(path, self._within or self.path.parent)):
            raise ValueError(_OUTSIDE)
        return FileSource(
            path, self._beside(relative), within=self._within, follow_links=self._follow_links
        )

    def again(self, kind: type[FileSource] | None = None) -> FileSource:
        """Reopen the file, also as another kind; raises as the class does."""
        return (kind or type(self))(
            self.path, self.name, within=self._root, follow_links=self._follow_links
        )

    def _open(self) -> io.FileIO:
        """Open the current file at the path without waiting for the writer of a pipe."""
        if not (self._follow_links or leads_below(self.path, self._root)):
            raise OSError(errno.EXDEV, _OUTSIDE, self.name)
        self._refuse_special(self.path.stat())
        file = io.FileIO(self.path, opener=_at_once)
        try:
            self._refuse_special(os.fstat(file.fileno()))
        except OSError:
            file.close()
            raise
        return file

    def _refuse_special(self, status: os.stat_result) -> None:
        # Of a folder the system says that it is one.
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise OSError(
                errno.EINVAL, "not a regular file; read() it and pass the bytes", self.name
            )

    def _own(self) -> None:
        self._owner = next(_OWNERS)
        weakref.finalize(self, _DESCRIPTORS.drop, self._owner)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The number of another process, or of another source, may not reach this one's files.
        self.__dict__.update(state)
        self._own()

    def _fill(self, offset: int, view: memoryview) -> None:
        try:
            file = _DESCRIPTORS.take(self._owner) or self._open()
            try:
                done = _pread_into(file, offset, view)
                status = self.path.stat()
                same = done == len(view) and self._state.is_still(status, partial(_pread, file))
            except BaseException:
                file.close()
                raise
        except OSError as problem:
            raise self._unreadable(problem, offset) from problem
        if same:
            _DESCRIPTORS.give(self._owner, file)
            return
        file.close()
        if stat.S_ISDIR(status.st_mode):
            raise self._gone(offset, "a folder has taken the place of the file")
        raise self._state.changed(status, self.name, offset)

    def _unreadable(self, problem: OSError, offset: int) -> Exception:
        if isinstance(problem, FileNotFoundError | NotADirectoryError):
            return self._gone(offset, "the file is gone")
        if isinstance(problem, IsADirectoryError):
            return self._gone(offset, "a folder has taken the place of the file")
        text = (
            f"cannot be read now ({problem.strerror or problem}); it was there when it was opened"
        )
        return OSError(problem.errno or errno.EIO, text, self.name)

    def _gone(self, offset: int, problem: str) -> FormatError:
        hint = "TVM's debugger removes its dump folder on exit(): keep a copy of it."
        problem = f"{problem}; it was there when it was opened"
        return FormatError(problem, file=self.name, offset=offset, hint=hint)


_OUTSIDE = "a link out of the folder; open(…, follow_links=True) follows it"
_OWNERS = itertools.count()
_DESCRIPTORS = Descriptors(32)


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _pread(file: io.FileIO, offset: int, length: int) -> bytes:
    """Return the bytes at ``offset``, fewer at the end of the file."""
    data = bytearray(length)
    return bytes(data[: _pread_into(file, offset, memoryview(data))])


def _pread_into(file: io.FileIO, offset: int, view: memoryview) -> int:
    """Fill ``view`` from ``offset`` up to the end of the file; return the bytes read."""
    done = 0
    while done < len(view):
        if hasattr(os, "preadv"):
            count = os.preadv(file.fileno(), [view[done:]], offset + done)
        else:
            file.seek(offset + done)
            count = file.readinto(view[done:]) or 0
        if count == 0:
            break
        done += count
    return done


#: Bytes at the start and before the end that are compared to detect a rewrite.
_HEAD, _TAIL = 4 << 10, 64 << 10


class GrowingFile(FileSource):
    """A file on disk that may grow; it is compared by its first 4 KiB and last 64 KiB."""

    def __init__(
        self, path: str | os.PathLike[str], name: str | None = None, **options: Any
    ) -> None:
        super().__init__(path, name, **options)
        self._state = self._growing = _GrowingState(self.path.stat(), self.size, self.read)

    def change(self) -> Change:
        """Return the change of the file since it was opened."""
        with self._open() as file:
            status = os.fstat(file.fileno())
            if not self._growing.is_still(status, partial(_pread, file)):
                return Change.REWRITTEN
        return Change.GROWN if status.st_size > self.size else Change.NONE


class Change(Enum):
    """Change of a file: none, appended bytes, or other bytes."""

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
        """Return whether a status is that of the same file with the same bytes."""
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
