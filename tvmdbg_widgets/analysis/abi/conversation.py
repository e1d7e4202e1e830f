"""Packets of both directions as one conversation, replies paired with requests.

A side waits for its reply before it goes on, and may be called back meanwhile
(``HandleUntilReturnEvent``, src/runtime/rpc/rpc_endpoint.cc @ v0.7): packets of the two sides
alternate, and a reply belongs to the latest open request of the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.rpc.connection import RpcConnection, RpcDirection
from tvmdbg_widgets.formats.rpc.desync import Desync, find_desync
from tvmdbg_widgets.formats.rpc.grammar import REPLIES
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, bytes_text, counted
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity, one_line
from tvmdbg_widgets.model.timeline.timeline import WALL, Timeline

#: Looks up a function of a module by name (src/runtime/module.cc @ v0.7).
_GET_FUNCTION = "runtime.ModuleGetFunction"
_UNANSWERED = frozenset({"Shutdown"})


@dataclass(frozen=True, eq=False)
class RpcConversation:
    """M packets in the order they were sent."""

    sides: npt.NDArray[np.uint8]
    packets: npt.NDArray[np.int64]
    replies_to: npt.NDArray[np.int64]
    replies: npt.NDArray[np.int64]
    depths: npt.NDArray[np.int32]
    times: npt.NDArray[np.int64] | None
    functions: dict[int, str]
    called: dict[int, str]
    certain_until: int
    problems: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.sides)


def conversation(connection: RpcConnection) -> RpcConversation:
    """Merge the packets of both directions in order and pair them."""
    order = _packets_in_order(connection)
    pairing = _Pairing(connection)
    for row, (side, packet) in enumerate(order):
        pairing.add(row, side, packet)
    sides = np.array([side for side, _ in order], np.uint8)
    packets = np.array([packet for _, packet in order], np.int64)
    replies_to = np.array(pairing.replies_to, np.int64)
    replies = np.full(len(order), -1, np.int64)
    answered = np.flatnonzero(replies_to >= 0)
    replies[replies_to[answered]] = answered
    return RpcConversation(
        sides=sides,
        packets=packets,
        replies_to=replies_to,
        replies=replies,
        depths=np.array(pairing.depths, np.int32),
        times=_times(connection, sides, packets),
        functions=pairing.functions,
        called=pairing.called,
        certain_until=_certain_until(connection, order),
        problems=tuple(pairing.problems),
    )


def _packets_in_order(connection: RpcConnection) -> list[tuple[int, int]]:
    lengths = [len(direction.packets) for direction in connection.directions]
    known = [
        direction.times is not None and bool((direction.times >= 0).all())
        for direction in connection.directions
    ]
    if len(lengths) == 2 and all(known):
        times = np.concatenate([direction.times for direction in connection.directions])
        sides = np.repeat(np.arange(2), lengths)
        packets = np.concatenate([np.arange(length) for length in lengths])
        rows = np.argsort(times, kind="stable")
        return list(zip(sides[rows].tolist(), packets[rows].tolist(), strict=True))
    longest, by_side = max(lengths, default=0), list(enumerate(lengths))
    return [(side, at) for at in range(longest) for side, length in by_side if at < length]


def _times(
    connection: RpcConnection, sides: npt.NDArray[np.uint8], packets: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | None:
    if not any(direction.times is not None for direction in connection.directions):
        return None
    times = np.full(len(sides), -1, np.int64)
    for side, direction in enumerate(connection.directions):
        if direction.times is not None:
            rows = np.flatnonzero(sides == side)
            times[rows] = direction.times[packets[rows]]
    return times


def _certain_until(connection: RpcConnection, order: list[tuple[int, int]]) -> int:
    first = {
        side: direction.packets.damages[0].packets_before
        for side, direction in enumerate(connection.directions)
        if direction.packets.damages
    }
    for row, (side, packet) in enumerate(order):
        if packet >= first.get(side, packet + 1):
            return row
    return len(order)


class _Pairing:
    def __init__(self, connection: RpcConnection) -> None:
        self._directions = connection.directions
        self._names = [
            [direction.grammar.codes.get(code, "") for code in direction.packets.codes.tolist()]
            for direction in connection.directions
        ]
        self._called = [direction.packets.functions.tolist() for direction in connection.directions]
        self._open: list[tuple[int, int, int]] = []  # open requests: row, side, packet
        self.replies_to: list[int] = []
        self.depths: list[int] = []
        self.functions: dict[int, str] = {}
        self.called: dict[int, str] = {}
        self.problems: list[str] = []

    def add(self, row: int, side: int, packet: int) -> None:
        name = self._names[side][packet]
        if name in REPLIES:
            self._answer(row, side, packet, name)
            return
        self._place(-1)
        function = self.functions.get(self._called[side][packet])
        if name == "CallFunc" and function is not None:
            self.called[row] = function
        if name not in _UNANSWERED:
            self._open.append((row, side, packet))

    def _place(self, replies_to: int) -> None:
        self.replies_to.append(replies_to)
        self.depths.append(len(self._open))

    def _answer(self, row: int, side: int, packet: int, name: str) -> None:
        if len(self._directions) == 1 or not self._open or self._open[-1][1] == side:
            if len(self._directions) > 1:
                self.problems.append(f"row {row}: {name} answers no request that was captured")
            self._place(-1)
            return
        asked_row, asked_side, asked = self._open.pop()
        request = self._names[asked_side][asked]
        if name == "CopyAck" and request != "CopyFromRemote":
            self.problems.append(f"row {row}: CopyAck cannot answer {request} of row {asked_row}")
        self._place(asked_row)
        handle = self._directions[side].packets.handles.get(packet)
        wanted = self._directions[asked_side].packets.names.get(asked)
        asks = request != "CallFunc" or self.called.get(asked_row) == _GET_FUNCTION
        if handle and wanted is not None and asks:
            self.functions[handle] = wanted


def described(connection: RpcConnection) -> list[str]:
    """Return a line per direction, then era and layouts with their evidence."""
    lines = [_direction(direction) for direction in connection.directions]
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
    copy_note = f", {bytes_text(copied)} copied" if copied else ""
    kinds = f" ({', '.join(names)})" if names else ""
    return f"{direction.name}{called}: {counted(len(packets), 'packet')}{kinds}{copy_note}"


def disagreement(connection: RpcConnection) -> Desync | None:
    """Return the first packet that the other side would parse differently, if known."""
    if len(connection.directions) < 2:
        return None
    client, server = connection.directions
    for sender, receiver in ((client, server), (server, client)):
        if sender.alike or receiver.alike:
            continue
        desync = find_desync(
            sender.readable, sender.packets, sender.grammar, receiver.grammar, sender.name
        )
        if desync is not None:
            return desync
    return None


def all_issues(connection: RpcConnection, talk: RpcConversation, desync: Desync | None) -> Issues:
    """Return the issues of reading, of pairing, and of conflicting layouts."""
    issues = list(connection.issues)
    file = connection.title
    if desync is not None:
        issues.insert(0, Issue("rpc-out-of-sync", IssueSeverity.ERROR, desync.summary, file=file))
    if talk.certain_until < len(talk) and len(connection.directions) > 1:
        text = (
            f"from row {talk.certain_until:,} on, which answer belongs to which request rests on "
            "their order alone: bytes before could not be read"
        )
        issues.append(Issue("rpc-pairing-unsure", IssueSeverity.WARNING, text, file=file))
    issues += [
        Issue("rpc-unpaired", IssueSeverity.WARNING, problem, file=file)
        for problem in talk.problems
    ]
    return Issues(issues)


_TRACKS = {"client": "client waits for the server", "server": "server waits for the client"}


def waiting_times(
    talk: RpcConversation, directions: Sequence[str], labels: Sequence[str], source: str
) -> Timeline | None:
    """Return a slice per request, from its first byte to the first byte of its reply."""
    if talk.times is None:
        return None
    asked = np.flatnonzero(talk.replies >= 0)
    start, end = talk.times[asked], talk.times[talk.replies[asked]]
    known = (start >= 0) & (end >= start)
    asked, start, end = asked[known], start[known], end[known]
    if not len(asked):
        return None
    first = int(start.min())
    sides = talk.sides[asked]
    used = np.unique(sides).tolist()
    count = len(asked)
    return Timeline(
        slice_node=np.full(count, -1, np.int32),
        slice_start_ns=(start - first).astype(np.float64),
        slice_duration_ns=(end - start).astype(np.float64),
        slice_track=np.searchsorted(used, sides).astype(np.int32),
        slice_names=StringColumn.from_strings([labels[row] for row in asked.tolist()]),
        slice_trust=np.full(count, Trust.ABSENT, np.uint8),
        slice_occurrence=np.arange(count, dtype=np.int32),
        tracks=tuple(_TRACKS[directions[side]] for side in used),
        repeats_offsets=np.zeros(1, np.int64),
        repeats_ns=np.zeros(0),
        node_ns=np.zeros(0),
        node_trust=np.zeros(0, np.uint8),
        synthetic=False,
        clock=WALL,
        sources=(source,),
        issues=Issues(),
        origin_ns=first,
    )
