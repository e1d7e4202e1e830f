"""Sessions as a capture of loopback TCP would hold them."""

from dataclasses import replace
from itertools import pairwise

from formats.capture_files import ACK, PSH, SYN, Tcp

from tvmdbg_widgets.formats.rpc.grammar import Grammar
from tvmdbg_widgets.formats.rpc.streams import read_stream
from tvmdbg_widgets.sources.given import as_source


def segments(client: bytes, server: bytes, own: Grammar, like: Tcp | None = None) -> list[Tcp]:
    """A connection from its first SYN on, the packets of both sides in turn, one a segment."""
    like = like or Tcp()
    pieces = [_pieces(client, own), _pieces(server, own)]
    ends = (like.source, like.destination)
    at = [1001, 5001]
    found = [replace(like, sequence=1000, flags=SYN)]
    found.append(replace(like, source=ends[1], destination=ends[0], sequence=5000, flags=SYN | ACK))
    for turn in range(max(map(len, pieces))):
        for side in (0, 1):
            if turn < len(pieces[side]):
                piece = pieces[side][turn]
                found.append(
                    replace(
                        like,
                        payload=piece,
                        sequence=at[side],
                        flags=PSH | ACK,
                        source=ends[side],
                        destination=ends[1 - side],
                    )
                )
                at[side] += len(piece)
    return found


def _pieces(stream: bytes, own: Grammar) -> list[bytes]:
    """A stream as handshake and packets."""
    start = 8 + int.from_bytes(stream[4:8], "little")
    read = read_stream(as_source(stream), own, start=start)
    cuts = [start, *(read.offsets + read.sizes).tolist()]
    return [stream[:start], *(stream[a:b] for a, b in pairwise(cuts))]
