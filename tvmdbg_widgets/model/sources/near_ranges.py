"""Ranges of a source that lie close together, read at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.model.sources.byte_source import ByteSource

#: Bytes that are read though nobody wants them, rather than read again behind them: what a read
#: costs on a disk that has them in memory, and over a network.
_GAP, _FAR_GAP = 1 << 12, 1 << 16
#: Most bytes of a read that serves several ranges.
_LARGEST = 1 << 20


def read_near(source: ByteSource, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    """Return the bytes of ranges ``(offset, length)`` in as few reads as possible."""
    order = sorted(range(len(ranges)), key=ranges.__getitem__)
    gap = _FAR_GAP if source.far else _GAP
    windows: list[list[int]] = []
    served: list[list[int]] = []
    for index in order:
        offset, length = ranges[index]
        end = offset + length
        if windows and offset - windows[-1][1] <= gap and end - windows[-1][0] <= _LARGEST:
            windows[-1][1] = max(windows[-1][1], end)
            served[-1].append(index)
        else:
            windows.append([offset, end])
            served.append([index])
    found = [b""] * len(ranges)
    blocks = source.read_ranges([(start, end - start) for start, end in windows])
    for (start, _), indices, block in zip(windows, served, blocks, strict=True):
        for index in indices:
            offset, length = ranges[index]
            found[index] = block[offset - start : offset - start + length]
    return found
