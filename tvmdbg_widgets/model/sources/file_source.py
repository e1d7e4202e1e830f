"""Files on disk, read in place through a few descriptors."""

from __future__ import annotations

import errno
import io
import itertools
import os
import stat
import weakref
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.sources.byte_source import ByteSource
from tvmdbg_widgets.model.sources.descriptors import Descriptors
from tvmdbg_widgets.model.sources.relative_names import below, leads_below
from tvmdbg_widgets.model.sources.state import FileState

if TYPE_CHECKING:
    from collections.abc import Iterable


class FileSource(ByteSource):
    """A file on disk. All sources together hold a few descriptors, however many there are.

    After each read the file is compared with what it was when the source was made, as
    :class:`~tvmdbg_widgets.model.sources.state.FileState` tells. What is refused at first, as a
    pipe or a link out of the folder, is refused in its place later on, too.
    """

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
        """Compare these bytes again where the file may have changed; see :class:`ByteSource`."""
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
        """Return the file as it is now, also as another kind; raises as the class does."""
        return (kind or type(self))(
            self.path, self.name, within=self._root, follow_links=self._follow_links
        )

    def _open(self) -> io.FileIO:
        """Open what lies at the path now, and never wait for who writes to a pipe."""
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
    """Return the bytes at ``offset``, fewer where the file ends before."""
    data = bytearray(length)
    return bytes(data[: _pread_into(file, offset, memoryview(data))])


def _pread_into(file: io.FileIO, offset: int, view: memoryview) -> int:
    """Read at ``offset`` until ``view`` is full or the file ends; return the bytes read."""
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
