"""A stretch of another source, read in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.sources.byte_source import ByteSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
