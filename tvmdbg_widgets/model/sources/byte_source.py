"""Bytes at an offset: the one way the readers reach files, buffers and streams."""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeAlias

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.sources.allowance import Allowance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import PurePosixPath


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
