"""Whether both sides of a connection have one layout of data types, and what comes of it."""

from __future__ import annotations

from tvmdbg_widgets.formats.rpc.connection import RpcConnection
from tvmdbg_widgets.formats.rpc.desync import Desync, find_desync


def disagreement(connection: RpcConnection) -> Desync | None:
    """Return the first packet that the other side reads otherwise than it was written.

    None where the layouts agree, or where a side sent nothing that tells its own.
    """
    if len(connection.directions) < 2:
        return None
    client, server = connection.directions
    for sender, receiver in ((client, server), (server, client)):
        if sender.alike or receiver.alike:
            continue
        found = find_desync(
            sender.readable, sender.packets, sender.grammar, receiver.grammar, sender.name
        )
        if found is not None:
            return found
    return None
