"""A capture as its readers hand it on: TCP connections, and two streams of bytes in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tvmdbg_widgets.formats.capture.records import NO_TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from tvmdbg_widgets.formats.capture.stream import StreamSource
    from tvmdbg_widgets.model.base.issues import Issues


class Endpoint(NamedTuple):
    """One side of a connection.

    Attributes
    ----------
    address : str
        IPv4 or IPv6.
    port : int
    """

    address: str
    port: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else ":".join(map(str, self))


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """What one side sent.

    Attributes
    ----------
    source : StreamSource
        The bytes of the stream; reading across a gap raises FormatError.
    gaps : tuple of (int, int)
        Start and length of each stretch that was not captured.
    segments : int
        Segments with payload that were captured, copies included.
    begun, ended : bool
        Whether the first byte (SYN), and the byte after the last (FIN), are known.
    reset : bool
        Whether this side broke the connection off (RST).
    """

    source: StreamSource
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
        """Fill a buffer with the bytes of the stream at ``offset``.

        Raises
        ------
        FormatError
            The range goes beyond the stream or into a gap.
        """
        self.source.read_into(offset, buffer)

    def times_at(self, offsets: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return when the segments that first carried some bytes were captured.

        Parameters
        ----------
        offsets : int64[N]
            Of the bytes, in the stream.

        Returns
        -------
        int64[N]
            Nanoseconds since 1970; :data:`NO_TIME` where the byte or its time was not captured.
        """
        wanted = np.asarray(offsets, np.int64)
        extents = self.source.extents
        if not len(extents.starts):
            return np.full(len(wanted), NO_TIME, np.int64)
        rows = np.searchsorted(extents.starts, wanted, "right") - 1
        held = (rows >= 0) & (wanted < extents.starts[rows] + extents.lengths[rows])
        return np.where(held, extents.times[rows], NO_TIME)


@dataclass(frozen=True, slots=True, eq=False)
class Connection:
    """One TCP connection.

    Attributes
    ----------
    client, server : Endpoint
        The client is who sent SYN. Where no SYN was captured (``client_known`` is False), the
        side with the lower port is taken for the server.
    client_known : bool
    to_server, to_client : Direction
    issues : Issues
    """

    client: Endpoint
    server: Endpoint
    client_known: bool
    to_server: Direction
    to_client: Direction
    issues: Issues

    def __str__(self) -> str:
        return f"{self.client} to {self.server}"


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """The TCP connections of a capture file.

    Attributes
    ----------
    name : str
        Of the file.
    packets : int
        Packets in the file.
    connections : tuple of Connection
        Those that carried data, in the order of their first packets.
    left_out : mapping of str to int
        Packets that were not used, by reason.
    issues : Issues
        Of the file; each connection has its own.
    """

    name: str
    packets: int
    connections: tuple[Connection, ...]
    left_out: Mapping[str, int]
    issues: Issues
