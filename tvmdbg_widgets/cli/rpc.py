"""``tvmdbg rpc``: a captured session of TVM's RPC, packet by packet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json, quiet_unless_terminal, read_once, source_of
from tvmdbg_widgets.cli.common.terminal import grid, note, say, styled
from tvmdbg_widgets.cli.common.verbs import (
    FOUND,
    UsageError,
    argument,
    examples,
    flag,
    option,
    usage_errors,
    verb,
)
from tvmdbg_widgets.model.base.numbers import agree, byte_rows, bytes_text, counted, duration_text

if TYPE_CHECKING:
    from tvmdbg_widgets.rpc import RpcLog
    from tvmdbg_widgets.rpc.packet import Packet

EXAMPLES = examples(
    ("Who asked what, and where it went wrong", "tvmdbg rpc session.pcap"),
    ("Of two streams: what the client sent, and what the server sent", "tvmdbg rpc c.bin s.bin"),
    ("The bytes of a packet, field by field", "tvmdbg rpc session.pcap --packet 12"),
    (
        "Sent by a build with another DLDataType",
        "tvmdbg rpc session.pcap --dtype-layout 'auto | code:u8 bits:u8 lanes:u32'",
    ),
)
_SHOWN = 200
_ISSUES_SHOWN = 20
#: Shown bytes of a packet.
_BYTES_SHOWN = 4096


@verb
def rpc(
    client: Annotated[
        str,
        argument(
            "CAPTURE",
            "A network capture (pcap, pcapng), or what the client sent.",
            show_default=False,
        ),
    ],
    server: Annotated[str | None, argument("[SERVER]", "What the server sent.")] = None,
    *,
    packet: Annotated[int | None, option("ROW", "Show the bytes of one packet.")] = None,
    top: Annotated[int, option("N", "Rows to list; 0 lists all.", min=0)] = _SHOWN,
    connection: Annotated[
        str | None,
        option("WHICH", "Of a capture of several: its number, or part of its addresses."),
    ] = None,
    dtype_layout: Annotated[
        str, option("LAYOUT", "auto, narrow, wide, or your own, declared.")
    ] = "auto",
    era: Annotated[
        str | None,
        option(
            "RELEASE",
            "First release with such packets: v0.5, v0.7, v0.8 or v0.21.",
            show_default="as the packets say",
        ),
    ] = None,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """List a captured session of TVM's RPC, and find where its sides get out of sync.

    Packets of every release are read, with DLDataType in TVM's own layout or another. Exits with
    status 1 if one side misreads the other's data types.
    """
    log = _opened(client, server, connection, dtype_layout, era)
    if packet is not None:
        if not 0 <= packet < len(log):
            raise UsageError(
                f"there is no packet {packet}",
                f"There {agree(len(log), 'is')} {len(log):,}, from 0 on.",
            )
        _tell_packet(log[packet])
        return
    rows = log[: top or None]
    if as_json:
        print_json(_as_json(log, rows))
    else:
        _tell(log, rows)
    if log.desync is not None:
        raise typer.Exit(FOUND)


def _opened(
    client: str, server: str | None, connection: str | None, layout: str, era: Any
) -> RpcLog:
    from tvmdbg_widgets.rpc import open_rpc

    quiet_unless_terminal()
    wanted: int | str | None = connection
    if connection is not None and connection.isdecimal():
        wanted = int(connection)
    read_once(client, server)
    sides = source_of(client), source_of(server)
    with usage_errors():
        return open_rpc(*sides, connection=wanted, dtype_layout=layout, era=era)


def _tell(log: RpcLog, rows: Sequence[Packet]) -> None:
    for line in repr(log).splitlines():
        say(line)
    for issue in log.issues[:_ISSUES_SHOWN]:
        say(styled(f"{issue.severity}: ", "bold"), issue.message)
        if log.desync is not None and issue.message == log.desync.summary:
            for line in log.desync.text.splitlines()[1:]:
                say(line)
    if len(log.issues) > _ISSUES_SHOWN:
        note(f"{len(log.issues) - _ISSUES_SHOWN:,} more of these: --json lists all.")
    first = next((row.time_ns for row in rows if row.time_ns is not None), None)
    timed = first is not None
    head = ("row", *(["time", "waited"] * timed), "from", "packet", "bytes", "what")
    cells = []
    for row in rows:
        times = []
        if timed:
            since = None if row.time_ns is None or first is None else row.time_ns - first
            times.append("unknown" if since is None else duration_text(since))
            times.append(duration_text(row.waited_ns) if row.waited_ns is not None else "")
        size = bytes_text(row.size).partition(" (")[0]
        cells.append((f"{row.row:,}", *times, row.side, row.name, size, row.about))
    grid(head, cells, right=(0,), give=len(head) - 1)
    if len(rows) < len(log):
        note(f"{counted(len(log) - len(rows), 'more packet')}: --top 0 lists all.")


def _tell_packet(packet: Packet) -> None:
    say(repr(packet))
    head = ("offset", "bytes", "field", "hex", "value")
    grid(head, byte_rows(packet.fields, packet.data(_BYTES_SHOWN)), right=(0, 1), give=3)


def _as_json(log: RpcLog, rows: Sequence[Packet]) -> dict[str, Any]:
    desync = log.desync
    return {
        "session": log.title,
        "releases": log.era,
        "dtype_layouts": {side: list(names) for side, names in log.dtype_layouts.items()},
        "reasons": list(log.reasons),
        "issues": [
            {"rule": issue.rule, "severity": str(issue.severity), "message": issue.message}
            for issue in log.issues
        ],
        "out_of_sync": None
        if desync is None
        else {
            "packet": desync.packet,
            "offset": desync.offset,
            "field": desync.field,
            "too_many_bytes": desync.too_many,
            "text": desync.text,
        },
        "packets": [
            {
                "row": row.row,
                "from": row.side,
                **{name: getattr(row, name) for name in ("name", "function", "about", "offset")},
                "bytes": row.size,
                **{name: getattr(row, name) for name in ("time_ns", "waited_ns", "reply")},
            }
            for row in rows
        ],
    }
