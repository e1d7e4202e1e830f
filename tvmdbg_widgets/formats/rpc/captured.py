"""The connections of TVM's RPC in a network capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.rpc.connection import Stream
from tvmdbg_widgets.formats.rpc.filled import FilledSource
from tvmdbg_widgets.formats.rpc.handshake import Handshake, read_handshake
from tvmdbg_widgets.model.base.errors import FormatError

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.capture.connection import Capture, TcpConnection, TcpDirection

_LISTED = 8


def choose_connection(capture: Capture, wanted: int | str | None) -> TcpConnection:
    """Return the connection that is asked for, or the only one that can be meant."""
    every = capture.connections
    if not every:
        raise _without_tcp(capture)
    if isinstance(wanted, int):
        found = [every[wanted]] if 0 <= wanted < len(every) else []
    elif wanted is not None:
        found = [each for each in every if wanted in str(each)]
    else:
        shaken = [each for each in every if _has_handshake(each)]
        found = shaken or list(every)
    if len(found) == 1:
        return found[0]
    listed = "; ".join(f"{number}: {each}" for number, each in enumerate(every[:_LISTED]))
    more = f"; and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    raise FormatError(
        "several connections may be meant" if found else "no such connection was captured",
        file=capture.name,
        expected="one connection of TVM's RPC",
        found=f"{listed}{more}",
        hint="Choose one: open_rpc(capture, connection=0).",
    )


def _without_tcp(capture: Capture) -> FormatError:
    left = sorted(capture.left_out.items(), key=lambda each: -each[1])
    used = capture.packets - sum(capture.left_out.values())
    told = [f"{reason} ({count:,})" for reason, count in left]
    told += [f"TCP packets without data ({used:,})"] if used else []
    return FormatError(
        "the capture holds no TCP data",
        file=capture.name,
        expected="TCP packets with data, as TVM's RPC sends them",
        found="; ".join(told) or "no packets",
        hint="Capture the port of the RPC server: tcpdump -i any -w session.pcap tcp port 9090.",
    )


def streams_of(connection: TcpConnection) -> list[Stream]:
    """Return both directions with the times of their bytes; the client's by the keys, if they say.

    Who opened the TCP connection is the client, unless the handshake tells otherwise: a server
    behind a proxy connects to it.
    """
    sent, answered = connection.to_server, connection.to_client
    shake = _handshake(sent)
    if shake is not None and shake.side == "server":
        sent, answered = answered, sent
    return [
        Stream(name, each.source, each.gaps, each.times_at)
        for name, each in (("client", sent), ("server", answered))
    ]


def _has_handshake(connection: TcpConnection) -> bool:
    return any(_handshake(each) for each in (connection.to_server, connection.to_client))


def _handshake(direction: TcpDirection) -> Handshake | None:
    return read_handshake(FilledSource(direction.source, direction.gaps))
