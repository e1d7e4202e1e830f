"""``Packet``: one packet of an RPC connection."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import public_class

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.raster import Figure
    from tvmdbg_widgets.formats.rpc.connection import RpcDirection
    from tvmdbg_widgets.formats.rpc.desync import Desync
    from tvmdbg_widgets.formats.rpc.resync import RawPacket
    from tvmdbg_widgets.model.base.numbers import ByteField
    from tvmdbg_widgets.model.rpc_packets import PackedArgument

#: Shown bytes of a packet.
_SHOWN = 4096


@public_class
@dataclass(frozen=True, eq=False)
class Packet:
    """One packet of a conversation, made on access: ``log[12]``.

    At the end of a notebook cell it shows its bytes, field by field.

    Attributes
    ----------
    row : int
        Its place in the conversation.
    side : str
        ``"client"`` or ``"server"``: who sent it.
    number : int
        Its number among the packets of that side.
    name : str
        ``"CallFunc"``, ``"Return"``, …
    function : str or None
        Name of the called function, if the conversation contains it.
    offset, size : int
        In what that side sent; a length before the packet belongs to it.
    time_ns : int or None
        When its first byte was captured.
    waited_ns : float or None
        From a request's first byte to its answer's.
    replies_to, reply : int or None
        Rows of the request that it answers, and of its answer.
    complete : bool
        Whether all its bytes were captured.
    desync : Desync or None
        Why the other side misreads it; its fields mark the bytes.
    """

    row: int
    side: str
    number: int
    name: str
    function: str | None
    offset: int
    size: int
    time_ns: int | None
    waited_ns: float | None
    replies_to: int | None
    reply: int | None
    complete: bool
    direction: RpcDirection = field(repr=False)
    desync: Desync | None = field(default=None, repr=False)

    @cached_property
    def _raw(self) -> RawPacket | None:
        return self.direction.packet(self.number)

    @property
    def arguments(self) -> tuple[PackedArgument, ...]:
        """Passed or returned values; empty if there are none or the packet is cut off."""
        arguments = self._raw.body.arguments if self._raw else None
        return tuple(arguments or ())

    @property
    def fields(self) -> ByteField:
        """Nested fields of its bytes; offsets count from its first byte."""
        from tvmdbg_widgets.formats.rpc.packet_bytes import packet_fields
        from tvmdbg_widgets.model.base.numbers import ByteField, bytes_text

        if self._raw is None:
            note = "the stream ends within this packet"
            rest = ByteField("bytes", 0, self.size, "unknown", bytes_text(self.size), note)
            return ByteField(f"{self.name} packet", 0, self.size, "group", "", note, (rest,))
        fields = packet_fields(self._raw, self.direction.grammar)
        return fields if self.desync is None else self.desync.marked(fields, self.offset)

    def data(self, most: int | None = None) -> bytes:
        """Read its bytes, or the first ``most`` of them.

        Raises
        ------
        FormatError
            Some of them were not captured.
        """
        length = self.size if most is None else min(self.size, most)
        return self.direction.source.read(self.offset, length)

    @property
    def about(self) -> str:
        """Function, arguments and copied bytes in one line."""
        from tvmdbg_widgets.model.base.numbers import bytes_text
        from tvmdbg_widgets.model.base.text import one_line

        raw = self._raw
        if raw is None:
            return "cut off"
        body = raw.body
        words = []
        if body.function is not None:
            words.append(one_line(self.function) if self.function else f"{body.function:#x}")
        if body.protocol:
            words.append(f"protocol {one_line(body.protocol)}")
        if body.copied is not None:
            words.append(str(body.copied))
        if body.nbytes is not None:
            words.append(bytes_text(body.nbytes))
        if body.arguments:
            words.append(f"({', '.join(map(str, body.arguments))})")
        return " ".join(words)

    def figure(self, width: float = 720, theme: str = "light") -> Figure:
        """Return a picture of its bytes, field by field.

        Parameters
        ----------
        width : float
            px.
        theme : str
            ``"light"``, ``"dark"`` or ``"auto"``.
        """
        from tvmdbg_widgets.figures.byte_map import byte_map_figure
        from tvmdbg_widgets.model.base.numbers import bytes_text

        title = f"{self.name} of the {self.side}, {bytes_text(self.size)} at byte {self.offset:,}"
        return byte_map_figure(title, self.fields, self.data(_SHOWN), width=width, theme=theme)

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        from tvmdbg_widgets.figures.byte_map import byte_map_html

        opened = byte_map_html("field by field", self.fields, self.data(_SHOWN))
        more = f"<details><summary>open fields</summary>{opened}</details>"
        return self.figure(theme="auto").bundle(repr(self), more)

    def __repr__(self) -> str:
        from tvmdbg_widgets.model.base.numbers import counted, duration_text

        where = f"packet {self.row} ({self.side}'s {self.number}), at byte {self.offset:,}"
        waited = f", answered after {duration_text(self.waited_ns)}" if self.waited_ns else ""
        head = f"{self.name} {self.about}".rstrip()
        return f"<{where}, {counted(self.size, 'byte')}{waited}: {head}>"
