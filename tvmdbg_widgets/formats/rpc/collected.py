"""Columns of packets that grow as a stream is read."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.formats.rpc.grammar import REPLIES
from tvmdbg_widgets.model.rpc.packets import Damage, PacketState, StreamPackets

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.rpc.grammar import Grammar
    from tvmdbg_widgets.formats.rpc.packet_reader import RawPacket

_ASKING = ("GetGlobalFunc", "ModuleGetFunc")
_HIGHEST = 2**63 - 1
_FUNCTIONS = ("function", "handle")


class Collected:
    """Columns that grow with each packet."""

    def __init__(self) -> None:
        self.offsets = array("q")
        self.sizes = array("q")
        self.codes = array("h")
        self.states = array("B")
        self.functions = array("Q")
        self.payloads = array("q")
        self.asked = array("q")
        self.names: dict[int, str] = {}
        self.handles: dict[int, int] = {}
        self.damages: list[Damage] = []
        self.protocol = ""
        self.replies = 0

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, packet: RawPacket, state: PacketState) -> None:
        """Append one packet."""
        index = len(self.offsets)
        body = packet.body
        self._append(packet.offset, packet.size, packet.code, state)
        self.functions[index] = body.function or 0
        self.payloads[index] = body.payload.size if body.payload else 0
        if packet.name == "CopyFromRemote":
            self.asked[index] = min(body.nbytes or 0, _HIGHEST)
        self.replies += packet.name in REPLIES
        self.protocol = self.protocol or body.protocol
        arguments = body.arguments or ()
        if packet.name in _ASKING:
            named = [each.value for each in arguments if isinstance(each.value, str)]
            if named:
                self.names[index] = named[0]
        elif packet.name == "CallFunc" and len(arguments) > 1 and arguments[0].kind == "module":
            if isinstance(arguments[1].value, str):
                self.names[index] = arguments[1].value
        elif packet.name == "Return" and arguments and arguments[-1].kind in _FUNCTIONS:
            self.handles[index] = arguments[-1].value

    def last_copy(self, grammar: Grammar) -> tuple[int, int] | None:
        """Return offset and size of the last packet, if it is a ``CopyAck``."""
        if not len(self) or grammar.codes.get(self.codes[-1]) != "CopyAck":
            return None
        return self.offsets[-1], self.sizes[-1]

    def drop_last_copy(self) -> None:
        """Take back the last packet, a ``CopyAck``."""
        for column in (self.offsets, self.sizes, self.codes, self.states, self.functions):
            column.pop()
        self.payloads.pop()
        self.asked.pop()
        self.replies -= 1

    def add_cut_off(self, offset: int, size: int, code: int) -> None:
        """Append a packet of which the end is missing."""
        self._append(offset, size, code, PacketState.CUT_OFF)

    def _append(self, offset: int, size: int, code: int, state: PacketState) -> None:
        self.offsets.append(offset)
        self.sizes.append(size)
        self.codes.append(code)
        self.states.append(state)
        self.functions.append(0)
        self.payloads.append(0)
        self.asked.append(0)

    def packets(self, size: int) -> StreamPackets:
        """Return the columns, which grow no more."""
        return StreamPackets(
            offsets=np.frombuffer(self.offsets, np.int64),
            sizes=np.frombuffer(self.sizes, np.int64),
            codes=np.frombuffer(self.codes, np.int16),
            states=np.frombuffer(self.states, np.uint8),
            functions=np.frombuffer(self.functions, np.uint64),
            payloads=np.frombuffer(self.payloads, np.int64),
            asked=np.frombuffer(self.asked, np.int64),
            names=self.names,
            handles=self.handles,
            damages=tuple(self.damages),
            protocol=self.protocol,
            size=size,
        )
