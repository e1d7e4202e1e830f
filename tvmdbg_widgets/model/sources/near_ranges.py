"""Ranges of a source that lie close together, read at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.ranges import coalesced, cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.model.sources.byte_source import ByteSource

#: Bytes that are read though nobody wants them, rather than read again behind them: what a read
#: costs on a disk that has them in memory, and over a network.
_GAP, _FAR_GAP = 1 << 12, 1 << 16


def read_near(source: ByteSource, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    """Return the bytes of ranges ``(offset, length)`` in as few reads as possible."""
    spans = coalesced(ranges, _FAR_GAP if source.far else _GAP)
    return cut(ranges, spans, source.read_ranges(spans))
