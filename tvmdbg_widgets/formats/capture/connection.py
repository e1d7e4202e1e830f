"""A capture as its readers hand it on: TCP connections, and two streams of bytes in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tvmdbg_widgets.formats.capture.frames import NO_TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from tvmdbg_widgets.formats.capture.stream import CapturedStream
    from tvmdbg_widgets.model.base.issues import Issues


class Endpoint(NamedTuple):
    """One side of a connection."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else ":".join(map(str, self))


@dataclass(frozen=True, slots=True, eq=False)
class TcpDirection:
    """What one side sent."""

    source: CapturedStream
    gaps: tuple[tuple[int, int], ...]
    segments: int
    begun: bool
    ended: bool
    reset: bool

    @property
    def size(self) -> int:
        """Bytes of the stream, gaps included."""
        return self.source.size

    def read_into(self, offset: int, buffer: bytearray | memoryview) -> None:
        """Fill a buffer with the bytes of the stream at ``offset``."""
        self.source.read_into(offset, buffer)

    def times_at(self, offsets: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return when the segments that first carried some bytes were captured."""
        wanted = np.asarray(offsets, np.int64)
        extents = self.source.extents
        if not len(extents.starts):
            return np.full(len(wanted), NO_TIME, np.int64)
        rows = np.searchsorted(extents.starts, wanted, "right") - 1
        held = (rows >= 0) & (wanted < extents.starts[rows] + extents.lengths[rows])
        return np.where(held, extents.times[rows], NO_TIME)


@dataclass(frozen=True, slots=True, eq=False)
class TcpConnection:
    """One TCP connection."""

    client: Endpoint
    server: Endpoint
    client_known: bool
    to_server: TcpDirection
    to_client: TcpDirection
    issues: Issues

    def __str__(self) -> str:
        return f"{self.client} to {self.server}"


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """The TCP connections of a capture file."""

    name: str
    packets: int
    connections: tuple[TcpConnection, ...]
    left_out: Mapping[str, int]
    issues: Issues
