"""Bytes at an offset: the one way the readers reach files, buffers and streams."""

from __future__ import annotations

import errno
import io
import itertools
import os
import stat
import threading
import weakref
from abc import ABC, abstractmethod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from tvmdbg_widgets.model.descriptors import Descriptors
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.relative_names import below, leads_below
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import PurePosixPath

BytesLike: TypeAlias = bytes | bytearray | memoryview


class ByteSource(ABC):
    """A fixed number of bytes that can be read at any offset, from any thread.

    Attributes
    ----------
    name
        What to call the bytes in messages: the path as given, or a name chosen by the caller.
    size
        Number of bytes.
    far
        Whether each read costs a round trip over a network, so that few large ones are wanted.
    """

    name: str
    size: int
    far: bool = False

    def read_into(self, offset: int, buffer: bytearray | memoryview) -> None:
        """Fill a writable buffer with the bytes that start at ``offset``.

        Raises
        ------
        FormatError
            The range does not lie within the source, or the source changed while it was read.
        """
        view = memoryview(buffer).cast("B")
        self._check(offset, len(view))
        if len(view):
            self._fill(offset, view)

    def read(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes that start at ``offset``.

        Raises
        ------
        FormatError
            The range does not lie within the source, or the source changed while it was read.
        """
        self._check(offset, length)
        buffer = bytearray(length)
        if length:
            self._fill(offset, memoryview(buffer))
        return bytes(buffer)

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of several ranges ``(offset, length)``, at once where that helps.

        Raises
        ------
        FormatError
            As :meth:`read`.
        """
        return [self.read(offset, length) for offset, length in ranges]

    def sibling(self, name: str) -> ByteSource:
        """Return a file beside this one, or in a folder below.

        Parameters
        ----------
        name
            Relative path with ``/``, as this file gives it.

        Raises
        ------
        ValueError
            The name, or a link that it leads to, leaves the folder.
        OSError
            There is no such file, or nothing is known to lie beside these bytes.
        """
        raise FileNotFoundError(errno.ENOENT, "these bytes have no folder", one_line(name))

    def _beside(self, path: PurePosixPath) -> str:
        """Name a sibling in messages as this source is named."""
        return self.name[: len(self.name) - len(self.name.rpartition("/")[2])] + str(path)

    def _check(self, offset: int, length: int) -> None:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise FormatError(
                "the file ends before what should be read here",
                file=self.name,
                offset=offset,
                expected=f"{length} bytes",
                found=f"{max(0, self.size - offset) if offset >= 0 else 0} bytes",
                hint="The file may be cut off: copy or write it again.",
            )

    @abstractmethod
    def _fill(self, offset: int, view: memoryview) -> None:
        """Fill ``view`` (not empty, range checked) with the bytes at ``offset``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.size:,} bytes)"


class FileSource(ByteSource):
    """A file on disk. All sources together hold a few descriptors, however many there are.

    Size, modification time, device and inode are noted when the source is made and compared after
    each read.

    Parameters
    ----------
    path
        The file.
    name
        What to call it in messages; the path as given if left out.
    within
        Folder that the files it names must lie in, links followed; its own if left out.
    follow_links
        Whether links may lead out of that folder.

    Raises
    ------
    OSError
        The file is not there, is a folder, a pipe or a device, or may not be read.
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
        mode = self.path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise OSError(
                errno.EINVAL, "not a regular file; read() it and pass the bytes", self.name
            )
        with io.FileIO(self.path) as file:
            self._identity = _identity(os.fstat(file.fileno()))
        self.size = self._identity[0]
        self._own()

    def sibling(self, name: str) -> ByteSource:
        """Return a file beside this one, or in a folder below; see :class:`ByteSource`."""
        relative = below(name)
        path = self.path.parent / relative
        if not (self._follow_links or leads_below(path, self._within or self.path.parent)):
            raise ValueError("a link out of the folder; open(…, follow_links=True) follows it")
        return FileSource(
            path, self._beside(relative), within=self._within, follow_links=self._follow_links
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
            file = _DESCRIPTORS.take(self._owner) or io.FileIO(self.path)
        except FileNotFoundError as error:
            raise self._gone(offset) from error
        try:
            done = _pread_into(file, offset, view)
            identity = _identity(self.path.stat())
        except FileNotFoundError as error:
            file.close()
            raise self._gone(offset) from error
        except BaseException:
            file.close()
            raise
        if identity == self._identity and done == len(view):
            _DESCRIPTORS.give(self._owner, file)
            return
        file.close()
        raise FormatError(
            "file changed while reading",
            file=self.name,
            offset=offset,
            expected="{} bytes, mtime_ns {}, device {}, inode {}".format(*self._identity),
            found="{} bytes, mtime_ns {}, device {}, inode {}".format(*identity),
            hint="Open it again when nothing writes to it any more.",
        )

    def _gone(self, offset: int) -> FormatError:
        hint = "TVM's debugger removes its dump folder on exit(): keep a copy of it."
        return FormatError("the file is gone", file=self.name, offset=offset, hint=hint)


_OWNERS = itertools.count()
_DESCRIPTORS = Descriptors(32)


def _identity(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino


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


class BytesSource(ByteSource):
    """Bytes in memory. ``bytes`` are not copied; a buffer that can still change is.

    Parameters
    ----------
    data
        The bytes.
    name
        What to call them in messages.
    """

    def __init__(self, data: BytesLike, name: str | None = None) -> None:
        view = memoryview(data)
        if not view.readonly or not view.c_contiguous:
            view = memoryview(view.tobytes())
        self._view = view.cast("B")
        self.size = len(self._view)
        self.name = f"<{self.size:,} bytes>" if name is None else name

    def __reduce__(self) -> tuple[Any, ...]:
        return BytesSource, (bytes(self._view), self.name)

    def _fill(self, offset: int, view: memoryview) -> None:
        view[:] = self._view[offset : offset + len(view)]


class StreamSource(ByteSource):
    """A seekable binary file object. It is never closed here, and its position is put back.

    Parameters
    ----------
    stream
        Opened by the caller in binary mode, with ``seek``, ``tell`` and ``read``.
    name
        What to call it in messages; its own ``name`` if left out.

    Raises
    ------
    TypeError
        The stream is a text stream or cannot seek.
    """

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
        if done < len(view):
            raise FormatError(
                "file changed while reading",
                file=self.name,
                offset=offset + done,
                expected=f"{len(view) - done} more bytes",
                found="the end of the stream",
            )
