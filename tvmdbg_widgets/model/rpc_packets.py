"""Contents of packets of TVM's RPC: values, spans of the stream, and damage."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tvmdbg_widgets.model.base.numbers import bytes_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import device_name
from tvmdbg_widgets.model.tensors.dtypes import DataType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
from tvmdbg_widgets.model.dtype_layout import SESSION_MASK


class PacketState(enum.IntEnum):
    """Completeness of a packet."""

    WHOLE = 0
    #: The stream ends inside it.
    CUT_OFF = 1
    #: A part of its payload was not captured.
    MISSING_BYTES = 2


class DamagedBytes(NamedTuple):
    """Bytes of a stream that are no packets."""

    offset: int
    size: int
    packets_before: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class StreamPackets:
    """The packets of one side."""

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


_SHOWN = 60


class Device(NamedTuple):
    """A ``DLDevice``."""

    type: int
    id: int

    def __str__(self) -> str:
        session, kind = divmod(self.type, SESSION_MASK)
        name = f"{device_name(kind)}({self.id})"
        return f"session {session}'s {name}" if session else name


class TensorMeta(NamedTuple):
    """A ``DLTensor`` without its values."""

    data: int
    device: Device
    dtype: DataType
    shape: tuple[int, ...]
    byte_offset: int | None

    def __str__(self) -> str:
        dims = ", ".join(map(str, self.shape))
        return f"{self.dtype}[{dims}] at {self.data:#x} on {self.device}"


class StreamSpan(NamedTuple):
    """Bytes of a stream that are read on demand."""

    offset: int
    size: int


class PackedArgument(NamedTuple):
    """One value of a packed sequence.

    Attributes
    ----------
    kind : str
        ``"int"``, ``"uint"``, ``"float"``, ``"bool"``, ``"null"``, ``"dtype"``, ``"device"``,
        ``"tensor"``, ``"handle"``, ``"function"``, ``"module"``, ``"object"``, ``"str"`` or
        ``"bytes"``.
    value : object
        int, float, None, ``DataType``, ``Device``, ``TensorMeta``, or text; a ``StreamSpan`` where
        a text or the bytes are long.
    code : int
        As the packet has it: a type code, or a type index from v0.21 on.
    code_offset, offset : int
        Of the code and of the value, in the stream.
    size : int
        Bytes of the value.
    """

    kind: str
    value: Any
    code: int = -1
    code_offset: int = 0
    offset: int = 0
    size: int = 0

    def __str__(self) -> str:
        value = self.value
        if self.kind == "null":
            return "None"
        if self.kind in ("str", "bytes"):
            if isinstance(value, StreamSpan):
                return f"{self.kind} of {bytes_text(value.size)}"
            text = repr(value)
            return one_line(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")
        if self.kind in ("handle", "function", "module", "object"):
            return f"{self.kind} {value:#x}"
        return str(value)
