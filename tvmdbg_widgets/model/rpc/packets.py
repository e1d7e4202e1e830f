"""The packets of one direction as columns."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt


class PacketState(enum.IntEnum):
    """How much of a packet is there."""

    WHOLE = 0
    #: The stream ends inside it.
    CUT_OFF = 1
    #: Bytes that it carries were not captured.
    MISSING_BYTES = 2


class Damage(NamedTuple):
    """Bytes of a stream that are no packets.

    Attributes
    ----------
    offset, size : int
        Bytes from the start of the stream.
    packets_before : int
        How many packets of the stream lie before it.
    reason : str
        Which field is wrong, and how.
    """

    offset: int
    size: int
    packets_before: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class StreamPackets:
    """What one side sent.

    Attributes
    ----------
    offsets, sizes : int64[N]
        Bytes; a length before the packet belongs to it.
    codes : int16[N]
    states : uint8[N]
        A :class:`PacketState` each.
    functions : uint64[N]
        Handle of the function that is called; 0 in other packets.
    payloads : int64[N]
        Bytes that are copied; 0 in other packets.
    asked : int64[N]
        Bytes that ``CopyFromRemote`` asks for; 0 in other packets.
    names : mapping of int to str
        Packets that ask for a function of a name, or pass a module and a name.
    handles : mapping of int to int
        Packets that return a function, with its handle.
    damages : tuple of Damage
    protocol : str
        That ``InitServer`` names; empty where there is none.
    size : int
        Bytes of the stream.
    """

    offsets: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int16]
    states: npt.NDArray[np.uint8]
    functions: npt.NDArray[np.uint64]
    payloads: npt.NDArray[np.int64]
    asked: npt.NDArray[np.int64]
    names: Mapping[int, str] = field(default_factory=dict)
    handles: Mapping[int, int] = field(default_factory=dict)
    damages: tuple[Damage, ...] = ()
    protocol: str = ""
    size: int = 0

    def __len__(self) -> int:
        return len(self.offsets)
