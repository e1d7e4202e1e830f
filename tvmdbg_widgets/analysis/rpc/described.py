"""A connection in a few lines."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.formats.rpc.connection import RpcConnection, RpcDirection
from tvmdbg_widgets.model.base.numbers import bytes_text, counted
from tvmdbg_widgets.model.base.text import one_line


def described(connection: RpcConnection) -> list[str]:
    """Return a line for each direction, then by what era and layouts are known."""
    lines = [_direction(each) for each in connection.directions]
    return [*lines, *connection.reasons, *([connection.issues.summary()] * bool(connection.issues))]


def _direction(direction: RpcDirection) -> str:
    packets = direction.packets
    codes, counts = np.unique(packets.codes, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:4]
    names = [
        f"{counts[at]:,} {direction.grammar.codes.get(int(codes[at]), f'code {codes[at]}')}"
        for at in order
    ]
    key = direction.handshake.key if direction.handshake else ""
    called = f" {one_line(key)!r}" if key else ""
    copied = int(packets.payloads.sum())
    told = f", {bytes_text(copied)} copied" if copied else ""
    kinds = f" ({', '.join(names)})" if names else ""
    return f"{direction.name}{called}: {counted(len(packets), 'packet')}{kinds}{told}"
