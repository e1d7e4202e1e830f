"""Where packets of each kind lie in a long stream, by lengths and codes alone."""

from __future__ import annotations

import struct
from collections import Counter
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.sources.readahead import ReadAhead

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

_HEAD = struct.Struct("<QI")
#: Packets of the same code and length that are noted.
_OF_A_KIND = 3
#: Lengths of 0 in a row; TVM skips one.
_MOST_EMPTY = 1000


def rare_packets(source: ByteSource, start: int, most: int) -> list[int]:
    """Return where up to ``most`` packets lie, few of each code and length."""
    ahead = ReadAhead(source)
    seen: Counter[tuple[int, int]] = Counter()
    found: list[int] = []
    at, empty = start, 0
    while at + _HEAD.size <= source.size and len(found) < most and empty < _MOST_EMPTY:
        if source.next_gap(at)[0] <= at:
            break
        length, code = _HEAD.unpack(ahead.bytes(at, _HEAD.size))
        empty = 0 if length else empty + 1
        if length and not 4 <= length <= source.size - at - 8:
            break
        if length:
            kind = code, length
            seen[kind] += 1
            if seen[kind] <= _OF_A_KIND:
                found.append(at)
        at += 8 + length
    return found
