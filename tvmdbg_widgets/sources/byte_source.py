"""Bytes at an offset: the interface of readers to files, buffers and streams."""

from __future__ import annotations

import errno
import io
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.ranges import coalesced, cut
from tvmdbg_widgets.model.base.text import FormatError, one_line

_MB = 1 << 20
#: Limit of unpacked bytes per file.
MOST_UNPACKED: Final = 512 * _MB
#: Unpacked bytes by packed byte. The largest ratio of a real file is 57 of gzip and 97 of bzip2: a
#: log of Ansor for one task.
RATIO: Final = 150
#: Bytes allowed at any ratio: of texts, which are read completely; of tensors,
#: which may be nothing but zeros.
SMALL_TEXT: Final = 1 * _MB
SMALL_TENSORS: Final = 64 * _MB
#: Bytes of Python objects by byte of a text. The densest real file that is parsed whole makes 11;
#: a list of empty maps makes 73 by the same count.
DENSITY: Final = 16
_ANY_DENSITY: Final = 64 * _MB
#: Largest size of Python objects by their first, last or separating character.
_COSTS: Final = {b"{": 184, b"[": 56, b",": 28, b'"': 25, b"\n": 57}


class Allowance:
    """Remaining unpacked bytes of one file, shared by everything nested in it."""

    def __init__(self, packed: int, chosen: int = 0) -> None:
        self.packed, self.chosen = packed, chosen
        self.most = max(chosen, min(MOST_UNPACKED, max(SMALL_TENSORS, RATIO * packed)))
        # The head of a member is read before the rest.
        self.most_text = max(2 * chosen, SMALL_TEXT, RATIO * packed)
        self._left, self._left_text = self.most, self.most_text
        self._lock = threading.Lock()

    def take(self, count: int, name: str) -> None:
        """Take `count` bytes; FormatError if they are not left."""
        with self._lock:
            if count > self._left:
                raise self._too_large(name, self.most - self._left + count, self.most)
            self._left -= count

    def take_text(self, size: int, name: str) -> None:
        """Take `size` bytes that are read completely; FormatError if they are not left."""
        with self._lock:
            if size > self._left_text:
                raise self._too_large(name, self.most_text - self._left_text + size, self.most_text)
            self._left_text -= size

    def check_density(self, content: bytes | bytearray, name: str) -> None:
        """Raise FormatError if parsing unpacked bytes may take too much memory per byte."""
        most = _ANY_DENSITY + DENSITY * len(content)
        if len(content) <= max(self.chosen, _ANY_DENSITY // max(_COSTS.values())):
            return
        if (may_take := cost(content)) > most:
            raise FormatError(
                "this has too many brackets, commas and lines to be parsed in memory",
                file=name,
                expected=f"what takes at most {most:,} bytes parsed, for {len(content):,} unpacked",
                found=f"up to {may_take:,}",
                hint=_hint(len(content)),
            )

    def _too_large(self, name: str, count: int, most: int) -> FormatError:
        return FormatError(
            "this is too large to be unpacked in memory",
            file=name,
            expected=f"at most {most:,} bytes unpacked, for {self.packed:,} packed",
            found=f"{count:,} or more",
            hint=_hint(2 * count),
        )

    def __getstate__(self) -> dict[str, int]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


def cost(content: bytes | bytearray) -> int:
    """Return an upper bound of the memory of a parsed text in bytes."""
    return sum(cost * content.count(mark) for mark, cost in _COSTS.items())


def _hint(count: int) -> str:
    return (
        "Unpack it yourself and open the folder, for which no such limit holds; or "
        f"open(…, limits={{'trace': {max(1, -(-count >> 30))} * 2**30}}) unpacks as much, where "
        "'trace' names the part it gives."
    )


BytesLike: TypeAlias = bytes | bytearray | memoryview


class ByteSource(ABC):
    """A fixed number of bytes that can be read at any offset, from any thread."""

    name: str
    size: int
    far: bool = False
    container: ByteSource | None = None
    _allowance: Allowance | None = None
    missing: int = 0

    def read_into(self, offset: int, buffer: bytearray | memoryview) -> None:
        """Fill a writable buffer with the bytes that start at ``offset``."""
        view = memoryview(buffer).cast("B")
        self._check(offset, len(view))
        if len(view):
            self._fill(offset, view)

    def read(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes that start at ``offset``."""
        self._check(offset, length)
        buffer = bytearray(length)
        if length:
            self._fill(offset, memoryview(buffer))
        return bytes(buffer)

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of ranges ``(offset, length)``, concurrently if that helps."""
        return [self.read(offset, length) for offset, length in ranges]

    def allowance(self, chosen: int = 0) -> Allowance:
        """Return the allowance of the file that contains these bytes."""
        if self.container is not None:
            return self.container.allowance(chosen)
        if self._allowance is None:
            self._allowance = Allowance(self.size, chosen)
        return self._allowance

    def sibling(self, name: str) -> ByteSource:
        """Return a file beside this one, or in a folder below."""
        raise FileNotFoundError(errno.ENOENT, "these bytes have no folder", one_line(name))

    def _beside(self, path: PurePosixPath) -> str:
        """Return a sibling's name for messages."""
        return self.name[: len(self.name) - len(self.name.rpartition("/")[2])] + str(path)

    def _check(self, offset: int, length: int) -> None:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise FormatError(
                "the file ends before what should be read here",
                file=self.name,
                offset=offset,
                expected=counted(length, "byte"),
                found=counted(max(0, self.size - offset) if offset >= 0 else 0, "byte"),
                hint="The file may be cut off: copy or write it again.",
            )

    def hold(self, ranges: Iterable[tuple[int, int]]) -> None:  # noqa: B027 (most need not)
        """Keep headers to detect changes of the file; does nothing if bytes cannot change."""

    def next_gap(self, offset: int) -> tuple[int, int]:  # noqa: ARG002 (most have none)
        """Return start and end of the first gap that ends behind ``offset``, or the end."""
        return self.size, self.size

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now, if that is known at once."""
        return None

    @abstractmethod
    def _fill(self, offset: int, view: memoryview) -> None:
        """Fill ``view`` (not empty, range checked) with the bytes at ``offset``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {counted(self.size, 'byte')})"


class BytesSource(ByteSource):
    """Bytes in memory. ``bytes`` are not copied; a buffer that can still change is."""

    def __init__(self, data: BytesLike, name: str | None = None) -> None:
        view = memoryview(data)
        if not view.readonly or not view.c_contiguous:
            view = memoryview(view.tobytes())
        self._view = view.cast("B")
        self.size = len(self._view)
        self.name = f"<{counted(self.size, 'byte')}>" if name is None else name

    def __reduce__(self) -> tuple[Any, ...]:
        return BytesSource, (bytes(self._view), self.name)

    def _fill(self, offset: int, view: memoryview) -> None:
        view[:] = self._view[offset : offset + len(view)]


class DerivedSource(ByteSource):
    """Bytes that are read from another source."""

    def __init__(self, stored: ByteSource, size: int, name: str | None = None) -> None:
        self.stored = stored
        self.size = size
        self.name = stored.name if name is None else name
        self.far = stored.far

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now; see :class:`ByteSource`."""
        return self.stored.trouble()


class PartSource(DerivedSource):
    """Bytes ``offset`` to ``offset + size`` of a source: a member of an archive, not unpacked."""

    def __init__(self, container: ByteSource, offset: int, size: int, name: str) -> None:
        if offset < 0 or size < 0 or offset + size > container.size:
            raise FormatError(
                "the archive ends before this member does",
                file=name,
                offset=offset,
                expected=counted(size, "byte"),
                found=counted(max(0, container.size - offset), "byte"),
                hint="The archive may be cut off: copy or write it again.",
            )
        super().__init__(container, size, name)
        self.container = container
        self.offset = offset

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of several ranges ``(offset, length)``."""
        for offset, length in ranges:
            self._check(offset, length)
        return self.stored.read_ranges([(self.offset + at, length) for at, length in ranges])

    def hold(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Keep bytes to detect changes; see :class:`ByteSource`."""
        self.stored.hold((self.offset + at, length) for at, length in ranges)

    def _fill(self, offset: int, view: memoryview) -> None:
        self.stored.read_into(self.offset + offset, view)


#: Unwanted bytes between ranges that are read along, on disk and over a network:
#: the cost of a separate read.
_GAP, _FAR_GAP = 1 << 12, 1 << 16


def read_near(source: ByteSource, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    """Return the bytes of ranges ``(offset, length)`` in few reads."""
    spans = coalesced(ranges, _FAR_GAP if source.far else _GAP)
    return cut(ranges, spans, source.read_ranges(spans))


_NEAR, _FAR = 1 << 16, 1 << 20


class SourceFile(io.RawIOBase):
    """A binary file object over a source, which stays open."""

    def __init__(self, source: ByteSource) -> None:
        super().__init__()
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """Position in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to ``offset`` from the start, the position, or the end; ValueError below 0."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.size}
        position = start[whence] + offset
        if position < 0:
            raise ValueError(f"position {position} lies before the start")
        self._position = position
        return position

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from the position on; return the number of bytes, 0 at the end."""
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._source.size - self._position))
        if count:
            self._source.read_into(self._position, view[:count])
            self._position += count
        return count


def as_file(source: ByteSource) -> io.BufferedReader:
    """Return a buffered file object over a source, with large reads if it is remote."""
    return io.BufferedReader(SourceFile(source), _FAR if source.far else _NEAR)


_SMALLEST = 1 << 12
_LARGEST = 1 << 20
_DENSE = 16


class ReadAhead:
    """A window on a source that grows while headers lie close together, up to the next gap."""

    def __init__(self, source: ByteSource, smallest: int = _SMALLEST) -> None:
        self._source = source
        self._smallest = smallest
        self.name = source.name
        self.size = source.size
        self.captured = source.size - source.missing
        self.buffer = b""
        self._start = 0
        self._window = smallest
        self._served = 0

    def locate(self, offset: int, length: int) -> int:
        """Fill ``buffer`` with the bytes at ``offset``; return their position in it."""
        position = offset - self._start
        if position < 0 or position + length > len(self.buffer):
            dense = self._served >= _DENSE
            self._window = min(self._window * 2, _LARGEST) if dense else self._smallest
            gap, behind = self._source.next_gap(offset)
            end = gap if gap > offset else behind
            wanted = max(length, min(self._window, end - offset))
            self.buffer = self._source.read(offset, wanted)
            self._start = offset
            self._served = 0
            position = 0
        self._served += 1
        return position

    def bytes(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes at ``offset``."""
        position = self.locate(offset, length)
        return self.buffer[position : position + length]
