"""Values in the packets of TVM's RPC."""

from __future__ import annotations

from typing import Any, NamedTuple

from tvmdbg_widgets.model.base.numbers import bytes_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.devices import device_name
from tvmdbg_widgets.model.tensors.dtypes import DataType

#: Device types of remote devices carry the number of their session: type + 128 × (session + 1)
#: (``kRPCSessMask``, src/runtime/rpc/rpc_session.h @ v0.7).
SESSION_MASK = 128
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
    """A ``DLTensor`` without its values, which stay where they are."""

    data: int
    device: Device
    dtype: DataType
    shape: tuple[int, ...]
    byte_offset: int | None

    def __str__(self) -> str:
        dims = ", ".join(map(str, self.shape))
        return f"{self.dtype}[{dims}] at {self.data:#x} on {self.device}"


class StreamSpan(NamedTuple):
    """Bytes of a stream that are not read unless asked for."""

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
