"""The packet at which a receiver with another layout loses its place in a stream."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from tvmdbg_widgets.formats.rpc.grammar import Grammar
from tvmdbg_widgets.formats.rpc.packets import (
    I32,
    U64,
    Body,
    CopyRange,
    Reader,
    WireError,
    read_body,
)
from tvmdbg_widgets.formats.rpc.resync import PacketReader, RawPacket
from tvmdbg_widgets.model.base.numbers import ByteField, counted
from tvmdbg_widgets.model.base.text import hanging, rows_html
from tvmdbg_widgets.model.rpc_packets import StreamPackets, TensorMeta
from tvmdbg_widgets.sources.byte_source import ByteSource, ReadAhead

#: Bytes up to which TVM fills a data type in a sequence.
_FILLED = 8


@dataclass(frozen=True, repr=False)
class Desync:
    """The first packet that a receiver misreads.

    It prints as its sentence and the facts behind it.

    Attributes
    ----------
    side : str
        Who sent it.
    packet : int
        Its number in the sender's stream.
    name : str
    offset : int
        Of the data type at fault, in the stream.
    field : str
    sent, read : str
        The data type as it was written and as it is read, with its bytes.
    too_many : int
        Bytes that the receiver reads more than were written; negative where it reads fewer.
    next_offset : int or None
        Where it looks for the next packet; None where it waits for bytes that never come.
    next_found : int or None
        The length that it reads there, or the code of packets without length.
    summary : str
        One sentence: who sends how many bytes, and the packet at which the sides are out of sync.
    facts : tuple of (str, str)
        What was sent and read there, why, and what follows.
    """

    side: str
    packet: int
    name: str
    offset: int
    field: str
    sent: str
    read: str
    too_many: int
    next_offset: int | None
    next_found: int | None
    summary: str
    facts: tuple[tuple[str, str], ...]

    @property
    def receiver(self) -> str:
        """The other side."""
        return _other(self.side)

    @property
    def text(self) -> str:
        """The sentence and the facts, in lines of at most 100 columns."""
        lines = [hanging(f"{label:<7}", fact) for label, fact in self.facts]
        return "\n".join([self.summary, *chain.from_iterable(lines)])

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(self.summary)}</b></p>{rows_html(self.facts)}"

    def marked(self, packet: ByteField, offset: int) -> ByteField:
        """Return the fields of the packet at an offset, the misread ones with notes."""
        return _marked(self, packet, self.offset - offset)


def _other(side: str) -> str:
    return "server" if side == "client" else "client"


def _marked(desync: Desync, field: ByteField, at: int) -> ByteField:
    """Mark the data type at an offset: the bytes that the receiver takes for it, and the others."""
    if not field.offset <= at < field.end:
        return field
    if field.offset != at or any(child.offset == at and child.children for child in field.children):
        inside = tuple(_marked(desync, child, at) for child in field.children)
        return replace(field, children=inside)
    taken, who = field.size + desync.too_many, desync.receiver
    note = f"out of sync: the {who} reads {counted(taken, 'byte')} here, {field.size} were sent"
    if not desync.too_many:
        note = f"out of sync: the {who} reads these bytes as another data type"
    read = f"the {who} reads {desync.read}"
    same, beyond = f"within the same {counted(taken, 'byte')}", "taken for the next value"
    notes = [
        read if child.offset == at else same if child.offset - at < taken else beyond
        for child in field.children
    ]
    children = tuple(
        replace(child, note=own) for child, own in zip(field.children, notes, strict=True)
    )
    return replace(field, note=note if children else f"{note}: {desync.read}", children=children)


def find_desync(
    source: ByteSource,
    packets: StreamPackets,
    sender: Grammar,
    receiver: Grammar,
    side: str = "client",
) -> Desync | None:
    """Read a sender's packets as an unchecking receiver does, up to the first difference."""
    if sender == receiver:
        return None
    reader = PacketReader(source, sender)
    ahead = ReadAhead(source)
    for index, at in enumerate(packets.offsets.tolist()):
        try:
            sent = reader.packet(at)
        except WireError:
            continue
        if isinstance(sent, int):
            continue
        received = _receive(ahead, source, sent, receiver)
        if received.end == sent.offset + sent.size and _same(received.body, sent.body):
            continue
        return _described(sent, received, source, sender, receiver, index=index, side=side)
    return None


class _Received(NamedTuple):
    """The receiver's reading of a packet: body and end, or its problem."""

    body: Body | None
    end: int | None
    problem: str


def _receive(ahead: ReadAhead, source: ByteSource, sent: RawPacket, receiver: Grammar) -> _Received:
    start = sent.offset + 8 * receiver.prefixed
    reader = Reader(ahead, start, source.size, lenient=True)
    try:
        reader.number(I32, "code")
        if sent.name == "CopyAck":
            reader.end = sent.offset + sent.size
        copied = sent.body.nbytes if sent.name == "CopyAck" else None
        body = read_body(reader, receiver, sent.name, copied)
    except WireError as error:
        return _Received(None, None, str(error))
    return _Received(body, reader.at, "")


def _same(body: Body | None, sent: Body) -> bool:
    if body is None:
        return False
    mine = [(a.kind, repr(a.value)) for a in body.arguments or ()]
    its = [(a.kind, repr(a.value)) for a in sent.arguments or ()]
    return mine == its and repr(body.copied) == repr(sent.copied) and body.nbytes == sent.nbytes


def _described(
    sent: RawPacket,
    received: _Received,
    source: ByteSource,
    sender: Grammar,
    receiver: Grammar,
    *,
    index: int,
    side: str,
) -> Desync:
    field, offset, is_argument = _first_dtype(sent, sender)
    written = sender.dtype.size + (sender.padding if is_argument else 0)
    taken = receiver.dtype.size + (receiver.padding if is_argument else 0)
    meant, read = (_dtype_text(source, offset, own) for own in (sender, receiver))
    where, value = _next(received, source, receiver)
    who = _other(side)
    numbers = f"as {counted(written, 'byte')}, {who} reads {taken}"
    if written == taken:
        numbers = f"as {sender.dtype.name}, {who} reads {receiver.dtype.name}"
    state = "misread" if where == sent.offset + sent.size else "out of sync"
    summary = f"{side} sends the dtype {numbers}: {state} from packet {index} ({sent.name})"
    if field == "the packet":
        summary = f"{who} reads the {side}'s packet {index} ({sent.name}) differently: {state}"
    facts = [
        ("where", f"{field}, at byte {offset} (packet at byte {sent.offset})"),
        ("sent", f"{meant}, in {_bytes(sender, is_argument)}"),
        ("read", f"{read}, in {_bytes(receiver, is_argument)}"),
        ("cause", _kept(sender, receiver, offset) if is_argument else ""),
        ("effect", _consequence(received, sent.offset + sent.size, value, receiver, who)),
    ]
    facts = [(label, fact) for label, fact in facts if fact]
    return Desync(
        side,
        index,
        sent.name,
        offset,
        field,
        meant,
        read,
        taken - written,
        where,
        value,
        summary,
        tuple(facts),
    )


def _next(got: _Received, source: ByteSource, receiver: Grammar) -> tuple[int | None, int | None]:
    if got.end is None:
        return None, None
    form = U64 if receiver.prefixed else I32
    if got.end + form.size > source.size:
        return got.end, None
    value: int = form.unpack(source.read(got.end, form.size))[0]
    return got.end, value


def _kept(sender: Grammar, receiver: Grammar, offset: int) -> str:
    """Return which side kept TVM's padding behind a data type that fills 8 bytes by itself."""
    if sender.dtype.size >= _FILLED and sender.padding:
        where = offset + sender.dtype.size
        return (
            f"the sender kept {counted(sender.padding, 'byte')} of TVM's padding, at byte {where}"
        )
    if receiver.dtype.size >= _FILLED and receiver.padding:
        kept = counted(receiver.padding, "byte")
        return f"the receiver expects {kept} of TVM's padding, which the sender left out"
    return ""


def _consequence(
    reading: _Received, end: int, value: int | None, receiver: Grammar, who: str
) -> str:
    """Describe the consequence for the session."""
    where = reading.end
    if where is None:
        return (
            f"the {who} reads on at the wrong place ({reading.problem}) and waits for bytes that "
            "never come: the session hangs"
        )
    if where == end:
        return "the packet ends where it should: the session goes on with a wrong value"
    many = "too many" if where > end else "too few"
    what = "length of the next packet" if receiver.prefixed else "next code"
    then = f"; it reads {value} at byte {where} as the {what}" if value is not None else ""
    stop = (
        "; a C++ server or client stops there with a failed check of pending_request_bytes_, "
        "minrpc on a device goes on"
        if receiver.prefixed
        else ""
    )
    return f"the {who} reads {counted(abs(where - end), 'byte')} {many}{then}{stop}"


def _first_dtype(sent: RawPacket, sender: Grammar) -> tuple[str, int, bool]:
    """Return the owner and offset of a packet's first data type, and if it is an argument."""
    if isinstance(sent.body.copied, CopyRange):
        return "the data type of the copy", sent.offset + 8 * sender.prefixed + 4 + 32, False
    if isinstance(sent.body.copied, TensorMeta):
        return "the data type of the copied tensor", sent.offset + 12 + 20, False
    for index, argument in enumerate(sent.body.arguments or ()):
        if argument.kind == "dtype":
            return f"argument {index}, a data type", argument.offset, True
        if argument.kind == "tensor":
            return f"the data type of argument {index}, a tensor", argument.offset + 20, False
    return "the packet", sent.offset, False


def _dtype_text(source: ByteSource, offset: int, own: Grammar) -> str:
    size = min(own.dtype.size, source.size - offset)
    data = source.read(offset, size)
    if size < own.dtype.size:
        return data.hex(" ")
    code, bits, lanes = own.dtype.unpack(data)
    return f"{data.hex(' ')} (code {code}, bits {bits}, lanes {lanes})"


def _bytes(own: Grammar, is_argument: bool) -> str:
    padding = own.padding if is_argument else 0
    count = own.dtype.size + padding
    return counted(count, "byte") + (f" ({padding} of them padding)" if padding else "")
