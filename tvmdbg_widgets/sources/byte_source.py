"""Bytes at an offset: the one way the readers reach files, buffers and streams."""

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
#: Bytes that one file may become in memory, however large it is.
MOST_UNPACKED: Final = 512 * _MB
#: Unpacked bytes by packed byte. The largest ratio of a real file is 57 of gzip and 97 of bzip2: a
#: log of Ansor for one task.
RATIO: Final = 150
#: Bytes for which the ratio does not count: of texts, whose bytes are all looked at; of tensors,
#: which may be nothing but zeros.
SMALL_TEXT: Final = 1 * _MB
SMALL_TENSORS: Final = 64 * _MB
#: Bytes of Python objects by byte of a text. The densest real file that is parsed whole makes 11;
#: a list of empty maps makes 73 by the same count.
DENSITY: Final = 16
_ANY_DENSITY: Final = 64 * _MB
#: Bytes that Python's objects take at most, by the character that begins, ends or parts them.
_COSTS: Final = {b"{": 184, b"[": 56, b",": 28, b'"': 25, b"\n": 57}


class Allowance:
    """What may still be unpacked of one file; all that lies in it shares this, however nested."""

    def __init__(self, packed: int, chosen: int = 0) -> None:
        self.packed, self.chosen = packed, chosen
        self.most = max(chosen, min(MOST_UNPACKED, max(SMALL_TENSORS, RATIO * packed)))
        # The head of a member is looked at before the whole.
        self.most_text = max(2 * chosen, SMALL_TEXT, RATIO * packed)
        self._left, self._left_text = self.most, self.most_text
        self._lock = threading.Lock()

    def take(self, count: int, name: str) -> None:
        """Take so many bytes; FormatError where they are not left."""
        with self._lock:
            if count > self._left:
                raise self._too_large(name, self.most - self._left + count, self.most)
            self._left -= count

    def take_text(self, size: int, name: str) -> None:
        """Take so many bytes that are looked through; FormatError where they are not left."""
        with self._lock:
            if size > self._left_text:
                raise self._too_large(name, self.most_text - self._left_text + size, self.most_text)
            self._left_text -= size

    def check_density(self, content: bytes | bytearray, name: str) -> None:
        """Raise FormatError where parsing these unpacked bytes may take too much memory each."""
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
    """Return the bytes of memory that a text takes at most once it is parsed, about."""
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
        """Return the bytes of several ranges ``(offset, length)``, at once where that helps."""
        return [self.read(offset, length) for offset, length in ranges]

    def allowance(self, chosen: int = 0) -> Allowance:
        """Return what may be unpacked of the file that these bytes are or lie in."""
        if self.container is not None:
            return self.container.allowance(chosen)
        if self._allowance is None:
            self._allowance = Allowance(self.size, chosen)
        return self._allowance

    def sibling(self, name: str) -> ByteSource:
        """Return a file beside this one, or in a folder below."""
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
                expected=counted(length, "byte"),
                found=counted(max(0, self.size - offset) if offset >= 0 else 0, "byte"),
                hint="The file may be cut off: copy or write it again.",
            )

    def hold(self, ranges: Iterable[tuple[int, int]]) -> None:  # noqa: B027 (most need not)
        """Note the headers that all further reads rest on, to tell a change of the file by them.

        Does nothing where the bytes cannot change, or where a change is told by other means.
        """

    def next_gap(self, offset: int) -> tuple[int, int]:  # noqa: ARG002 (most have none)
        """Return start and end of the first gap that ends behind ``offset``; the end if none does.

        A number in a file may claim a gap of any length: whoever looks for something leaps over it.
        """
        return self.size, self.size

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now, as far as that can be told at once."""
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


class PartSource(ByteSource):
    """Bytes ``offset`` to ``offset + size`` of a source: a member of an archive, not unpacked."""

    def __init__(self, whole: ByteSource, offset: int, size: int, name: str) -> None:
        if offset < 0 or size < 0 or offset + size > whole.size:
            raise FormatError(
                "the archive ends before this member does",
                file=name,
                offset=offset,
                expected=counted(size, "byte"),
                found=counted(max(0, whole.size - offset), "byte"),
                hint="The archive may be cut off: copy or write it again.",
            )
        self.whole = self.container = whole
        self.offset = offset
        self.size = size
        self.name = name
        self.far = whole.far

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of several ranges ``(offset, length)``."""
        for offset, length in ranges:
            self._check(offset, length)
        return self.whole.read_ranges([(self.offset + at, length) for at, length in ranges])

    def hold(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Note bytes that what was read rests on; see :class:`ByteSource`."""
        self.whole.hold((self.offset + at, length) for at, length in ranges)

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now; see :class:`ByteSource`."""
        return self.whole.trouble()

    def _fill(self, offset: int, view: memoryview) -> None:
        self.whole.read_into(self.offset + offset, view)


#: Bytes that are read though nobody wants them, rather than read again behind them: what a read
#: costs on a disk that has them in memory, and over a network.
_GAP, _FAR_GAP = 1 << 12, 1 << 16


def read_near(source: ByteSource, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    """Return the bytes of ranges ``(offset, length)`` in as few reads as possible."""
    spans = coalesced(ranges, _FAR_GAP if source.far else _GAP)
    return cut(ranges, spans, source.read_ranges(spans))


_NEAR, _FAR = 1 << 16, 1 << 20


class SourceFile(io.RawIOBase):
    """A binary file object over a source; closing it leaves the source as it is."""

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
    """Return a buffered file object over a source; few large reads where it is far."""
    return io.BufferedReader(SourceFile(source), _FAR if source.far else _NEAR)


_SMALLEST = 1 << 12
_LARGEST = 1 << 20
_DENSE = 16


class ReadAhead:
    """A window on a source that grows while headers lie close together.

    Where each window served but a few headers, payloads lie between them, and the window stays
    small so that the payloads are skipped. It ends where a gap begins, or ends.
    """

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
        """Make sure ``buffer`` holds the bytes at ``offset``; return their position in it."""
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
