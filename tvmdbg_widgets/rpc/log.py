"""``RpcLog``: the packets of one connection in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from tvmdbg_widgets.model.base.slips import public_class, row_of
from tvmdbg_widgets.rpc.packet import Packet

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.abi.conversation import RpcConversation
    from tvmdbg_widgets.analysis.abi.folding import SequenceMessage, Status
    from tvmdbg_widgets.figures.raster import Figure
    from tvmdbg_widgets.formats.rpc.connection import RpcConnection, RpcDirection
    from tvmdbg_widgets.formats.rpc.desync import Desync
    from tvmdbg_widgets.model.base.text import Issues
    from tvmdbg_widgets.model.dtype_layout import DTypeLayout
    from tvmdbg_widgets.model.timeline.timeline import Timeline
    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.widgets.timeline import Flamechart


@public_class
class RpcLog(Sequence[Packet]):
    """The conversation of a client and a server, packet by packet, in the order they were sent.

    At the end of a notebook cell it shows a sequence diagram and the first packets, opening
    to its bytes. Made by :func:`tvmdbg_widgets.open_rpc` or :func:`tvmdbg_widgets.open`.

    Attributes
    ----------
    connection : Connection
        What both sides sent, as functions of :mod:`tvmdbg_widgets.analysis` take it.
    """

    def __init__(self, connection: RpcConnection) -> None:
        self.connection = connection

    def __reduce__(self) -> tuple[Any, ...]:
        return RpcLog, (self.connection,)

    @property
    def title(self) -> str:
        """Name of the opened file."""
        return self.connection.title

    @property
    def era(self) -> str:
        """Releases that write such packets; several if the packets leave it open."""
        from tvmdbg_widgets.formats.rpc.grammar import RELEASES

        return " or ".join(RELEASES[era] for era in self.connection.eras)

    @property
    def dtype_layouts(self) -> dict[str, tuple[str, ...]]:
        """Layout of data types by sending side; several if the packets leave it open."""
        layouts = {}
        for direction in self.connection.directions:
            grammars = (direction.grammar, *direction.alike)
            names = dict.fromkeys(grammar.dtype.name for grammar in grammars)
            layouts[direction.name] = tuple(names)
        return layouts

    @property
    def reasons(self) -> tuple[str, ...]:
        """Evidence for era and layouts."""
        return self.connection.reasons

    @cached_property
    def issues(self) -> Issues:
        """Damaged, missing or ambiguous packets."""
        from tvmdbg_widgets.analysis.abi.conversation import all_issues

        return all_issues(self.connection, self.conversation, self.desync)

    @cached_property
    def conversation(self) -> RpcConversation:
        """Packets in order, paired with replies."""
        from tvmdbg_widgets.analysis.abi.conversation import conversation

        return conversation(self.connection)

    @property
    def functions(self) -> Mapping[int, str]:
        """Known names of remote functions by handle."""
        return self.conversation.functions

    @cached_property
    def desync(self) -> Desync | None:
        """First packet that one side misreads, by the layouts of both.

        None if the layouts agree, or a side's layout is unknown; see :meth:`desync_with`.
        """
        from tvmdbg_widgets.analysis.abi.conversation import disagreement

        return disagreement(self.connection)

    def desync_with(
        self, dtype_layout: DTypeLayout | str, *, side: str = "client", padding: int | None = None
    ) -> Desync | None:
        """Return where a receiver with another layout would misread the packets.

        Parameters
        ----------
        dtype_layout : DTypeLayout or str
            The receiver's.
        side : str
            Whose packets it receives: ``"client"`` or ``"server"``.
        padding : int or None
            Bytes behind a data type in a sequence; default as many as fill it up to 8. 4 is what
            a build with a wide type has that kept TVM's own.

        Raises
        ------
        ValueError
            No such layout, or nothing of that side was captured.
        """
        from tvmdbg_widgets.formats.rpc.desync import find_desync
        from tvmdbg_widgets.formats.rpc.grammar import grammar
        from tvmdbg_widgets.model.base.slips import one_of

        sent = self.connection.direction(one_of("side", side, ("client", "server")))
        if sent is None:
            raise ValueError(f"nothing was captured of {side!r}")
        receiver = grammar(sent.grammar.era, dtype_layout, padding)
        return find_desync(sent.readable, sent.packets, sent.grammar, receiver, side)

    def __len__(self) -> int:
        return len(self.conversation)

    @overload
    def __getitem__(self, index: int) -> Packet: ...
    @overload
    def __getitem__(self, index: slice) -> list[Packet]: ...
    def __getitem__(self, index: int | slice) -> Packet | list[Packet]:
        if isinstance(index, slice):
            return [self._packet(row) for row in range(*index.indices(len(self)))]
        return self._packet(row_of("packet", index, len(self)))

    def __iter__(self) -> Iterator[Packet]:
        return (self._packet(row) for row in range(len(self)))

    def _packet(self, row: int) -> Packet:
        talk = self.conversation
        direction: RpcDirection = self.connection.directions[talk.sides[row]]
        number = int(talk.packets[row])
        packets = direction.packets
        reply, asked = int(talk.replies[row]), int(talk.replies_to[row])
        time = -1 if talk.times is None else int(talk.times[row])
        answered = -1 if talk.times is None or reply < 0 else int(talk.times[reply])
        return Packet(
            row=row,
            side=direction.name,
            number=number,
            name=direction.name_of(number),
            function=talk.called.get(row),
            offset=int(packets.offsets[number]),
            size=int(packets.sizes[number]),
            time_ns=None if time < 0 else time,
            waited_ns=float(answered - time) if min(time, answered) >= 0 else None,
            replies_to=None if asked < 0 else asked,
            reply=None if reply < 0 else reply,
            complete=not packets.states[number],
            direction=direction,
            desync=self.desync if self._is_misread(direction.name, number) else None,
        )

    def _is_misread(self, side: str, number: int) -> bool:
        desync = self.desync
        return desync is not None and (desync.side, desync.packet) == (side, number)

    @cached_property
    def labels(self) -> list[str]:
        """Names of rows: the called function, else the packet's name."""
        talk = self.conversation
        return [
            talk.called.get(row)
            or self.connection.directions[talk.sides[row]].name_of(int(talk.packets[row]))
            for row in range(len(self))
        ]

    @cached_property
    def timeline(self) -> Timeline | None:
        """Waiting times of both sides; None without capture times."""
        from tvmdbg_widgets.analysis.abi.conversation import waiting_times

        sides = [direction.name for direction in self.connection.directions]
        return waiting_times(self.conversation, sides, self.labels, self.title)

    def run(self) -> DebugRun:
        """Return the waiting times as a run, which has a flamechart and tables.

        Raises
        ------
        ValueError
            No capture times are known.
        """
        from tvmdbg_widgets.model.parts import RunParts
        from tvmdbg_widgets.run import DebugRun

        if self.timeline is None:
            raise ValueError(
                "no capture times are known: open a capture file (pcap or pcapng) for them"
            )
        return DebugRun(RunParts(title=self.title, timeline=self.timeline))

    def flamechart(self, **traits: Any) -> Flamechart:
        """Return a flamechart of waiting times.

        Raises
        ------
        ValueError
            No capture times are known.
        """
        from tvmdbg_widgets.widgets.timeline import Flamechart

        return Flamechart(self.run(), **traits)

    def to_dataframe(self) -> Any:
        """One row per packet (``pandas.DataFrame``); ImportError without pandas."""
        from tvmdbg_widgets.model.base.text import data_frame

        rows = list(self)
        names = ("time_ns", "side", "name", "function", "about", "size", "waited_ns", "reply")
        return data_frame({name: [getattr(row, name) for row in rows] for name in names})

    def figure(
        self, start: int = 0, stop: int | None = None, *, width: float = 720, theme: str = "light"
    ) -> Figure:
        """Return a sequence diagram.

        Parameters
        ----------
        start, stop : int
            Rows to draw; equal consecutive packets are drawn as one.
        width : float
            px.
        theme : str
            ``"light"``, ``"dark"`` or ``"auto"``.
        """
        from tvmdbg_widgets.figures.sequence import sequence_figure

        rows = range(*slice(start, stop).indices(len(self)))
        notes = [*self.reasons[:1], *(issue.message for issue in self.issues)]
        sent = messages(self, self.desync, rows)
        return sequence_figure(self.title, sent, notes[:4], width=width, theme=theme)

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        return self.figure(theme="auto").bundle(repr(self), table(self, self.desync))

    def __repr__(self) -> str:
        from tvmdbg_widgets.analysis.abi.conversation import described

        return "\n  ".join([f"RpcLog {self.title!r}", *described(self.connection)])


#: Packets at both ends with bytes in their tooltip.
_HOVERED = 150
_HOVER_BYTES = 48
_ROWS = 40
#: Rows that open to their bytes, beside faulty ones: a view in a notebook takes 100 KB.
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
    from tvmdbg_widgets.analysis.abi.folding import SequenceMessage

    name = packet.name if packet.function is None else f"{packet.name} {packet.function}"
    reply = packet.replies_to
    status = _status(desync, packet)
    label = f"{packet.name} {packet.about}".rstrip() if hovered else name
    if status == "out of sync" and desync is not None:
        label = f"{packet.name}, {desync.summary.partition(':')[0]}"
    return SequenceMessage(
        side="client" if packet.side == "client" else "server",
        label=label,
        nbytes=packet.size,
        time_ns=packet.time_ns,
        status=status,
        reply_to=None if reply is None or reply < first else reply - first,
        hover=_hover(packet) if hovered else "",
        kind=name,
    )


def _status(desync: Desync | None, packet: Packet) -> Status:
    if desync is not None and (packet.side, packet.number) == (desync.side, desync.packet):
        return "out of sync"
    if not packet.complete:
        return "incomplete"
    return "exception" if packet.name == "Exception" else "ok"


def _hover(packet: Packet) -> str:
    from tvmdbg_widgets.model.base.numbers import byte_rows
    from tvmdbg_widgets.model.base.text import FormatError

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


_HEADS = ("row", "time", "from", "packet", "function", "what", "bytes")
_LETTERS = 160
_TOP = ' style="vertical-align:top;text-align:left"'


def table(packets: Sequence[Packet], desync: Desync | None) -> str:
    """Return the first packets as an HTML table that opens to their bytes."""
    from html import escape

    from tvmdbg_widgets.figures.byte_map import byte_map_html
    from tvmdbg_widgets.model.base.numbers import bytes_text, counted, duration_text
    from tvmdbg_widgets.model.base.text import FormatError, cut, one_line

    def row(cells: Iterable[str], tag: str = "td") -> str:
        return "".join(f"<{tag}{_TOP}>{cell}</{tag}>" for cell in cells)

    shown = packets[:_ROWS]
    origin = next((packet.time_ns for packet in shown if packet.time_ns is not None), None)
    rows = []
    for packet in shown:
        since = None if packet.time_ns is None or origin is None else packet.time_ns - origin
        time = "" if since is None else duration_text(since)
        said = (packet.side, packet.name, packet.function or "", packet.about)
        cells = [escape(cut(one_line(text[: _LETTERS + 1]), _LETTERS)) for text in said]
        if packet.row < _OPENING or _status(desync, packet) != "ok":
            try:
                details = byte_map_html("", packet.fields, packet.data(_BYTES))
            except FormatError:
                details = "not captured"
            cells[1] = f"<details><summary>{cells[1]}</summary>{details}</details>"
        cells = [str(packet.row), time, *cells, bytes_text(packet.size)]
        cells[1], cells[-1] = (cells[at].replace(" ", "&nbsp;") for at in (1, -1))
        rows.append(f"<tr>{row(cells)}</tr>")
    head, body = row(_HEADS, "th"), "".join(rows)
    told = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    if left_out := len(packets) - len(rows):
        told += f"<p>and {counted(left_out, 'more packet')}, from log[{len(rows)}] on</p>"
    return told
