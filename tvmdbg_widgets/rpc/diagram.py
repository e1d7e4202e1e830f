"""A log as pictures: the sequence diagram, and the table below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.rpc.messages import SequenceMessage, Status
    from tvmdbg_widgets.formats.rpc.desync import Desync
    from tvmdbg_widgets.rpc.packet import Packet

#: Packets at both ends whose bytes are told where the pointer rests.
_HOVERED = 150
_HOVER_BYTES = 48
_ROWS = 40
#: Rows that open to their bytes, beside those in trouble: a view in a notebook takes 100 KB.
_OPENING = 5
_BYTES = 1024


def messages(
    packets: Sequence[Packet], desync: Desync | None, rows: range
) -> list[SequenceMessage]:
    """Return rows of a log as messages of a sequence diagram."""
    shown = {*rows[:_HOVERED], *rows[-_HOVERED:]}
    return [_message(packets[row], desync, rows.start, hovered=row in shown) for row in rows]


def _message(
    packet: Packet, desync: Desync | None, first: int, *, hovered: bool
) -> SequenceMessage:
    from tvmdbg_widgets.figures.rpc.messages import SequenceMessage

    told = packet.name if packet.function is None else f"{packet.name} {packet.function}"
    reply = packet.replies_to
    status = _status(desync, packet)
    label = f"{packet.name} {packet.about}".rstrip() if hovered else told
    if status == "desynchronised" and desync is not None:
        label = f"{packet.name}, data type sent {desync.sent}, read {desync.read}"
    return SequenceMessage(
        side="client" if packet.side == "client" else "server",
        label=label,
        nbytes=packet.size,
        time_ns=packet.time_ns,
        status=status,
        reply_to=None if reply is None or reply < first else reply - first,
        hover=_hover(packet) if hovered else "",
        kind=told,
    )


def _status(desync: Desync | None, packet: Packet) -> Status:
    if desync is not None and (packet.side, packet.number) == (desync.side, desync.packet):
        return "desynchronised"
    if not packet.complete:
        return "incomplete"
    return "exception" if packet.name == "Exception" else "ok"


def _hover(packet: Packet) -> str:
    from tvmdbg_widgets.model.base.byte_map import byte_rows
    from tvmdbg_widgets.model.base.errors import FormatError

    try:
        data = packet.data(_HOVER_BYTES)
    except FormatError:
        return "not captured"
    more = " …" if packet.size > len(data) else ""
    fields = [
        f"{name.strip()}: {value}"
        for _, _, name, _, value in byte_rows(packet.fields, data)[1:13]
        if value
    ]
    return "\n".join([f"{data.hex(' ')}{more}", *fields])


def table(packets: Sequence[Packet], desync: Desync | None) -> str:
    """Return the first packets as an HTML table, each opening to its bytes."""
    from tvmdbg_widgets.figures.bytes.html import byte_map_html
    from tvmdbg_widgets.figures.rpc.packet_table import PacketRow, packet_table_html
    from tvmdbg_widgets.model.base.errors import FormatError
    from tvmdbg_widgets.model.base.numbers import bytes_text, duration_text

    shown = packets[:_ROWS]
    origin = next((each.time_ns for each in shown if each.time_ns is not None), None)
    rows = []
    for each in shown:
        since = None if each.time_ns is None or origin is None else each.time_ns - origin
        cells = (
            str(each.row),
            "" if since is None else duration_text(since),
            each.side,
            each.name,
            each.function or "",
            each.about,
            bytes_text(each.size),
        )
        details = ""
        if each.row < _OPENING or _status(desync, each) != "ok":
            try:
                details = byte_map_html("", each.fields, each.data(_BYTES))
            except FormatError:
                details = "not captured"
        rows.append(PacketRow(cells, details))
    return packet_table_html(rows, len(packets) - len(rows))
