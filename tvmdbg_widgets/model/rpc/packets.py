"""The packets of one direction as columns."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class PacketState(enum.IntEnum):
    """How much of a packet is there."""

    WHOLE = 0
    #: The stream ends inside it.
    CUT_OFF = 1
    #: Bytes that it carries were not captured.
    MISSING_BYTES = 2


class DamagedBytes(NamedTuple):
    """Bytes of a stream that are no packets."""

    offset: int
    size: int
    packets_before: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class StreamPackets:
    """What one side sent."""

    offsets: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int16]
    states: npt.NDArray[np.uint8]
    functions: npt.NDArray[np.uint64]
    payloads: npt.NDArray[np.int64]
    asked: npt.NDArray[np.int64]
    names: Mapping[int, str] = field(default_factory=dict)
    handles: Mapping[int, int] = field(default_factory=dict)
    damages: tuple[DamagedBytes, ...] = ()
    protocol: str = ""
    size: int = 0

    def __len__(self) -> int:
        return len(self.offsets)
