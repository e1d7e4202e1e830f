"""What follows the code of a packet.

src/runtime/rpc/rpc_session.cc @ v0.6.0; src/runtime/rpc/rpc_endpoint.cc @ v0.7 to v0.26. A copy
is ``handle, offset, size, device, dtype`` up to v0.7 and ``tensor, nbytes`` from v0.8 on;
``CopyAck`` is nothing but bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tvmdbg_widgets.formats.rpc.reader import U64, Reader, WireError
from tvmdbg_widgets.formats.rpc.sequences import (
    read_device,
    read_dtype,
    read_sequence,
    read_tensor,
)
from tvmdbg_widgets.model.rpc.values import Argument, Device, Span, TensorMeta

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.rpc.grammar import Grammar
    from tvmdbg_widgets.model.tensors.dtypes import DataType

_LONGEST_PROTOCOL = 64


class CopyRange(NamedTuple):
    """Which bytes of the server's memory a copy is of, up to v0.7."""

    handle: int
    offset: int
    size: int
    device: Device
    dtype: DataType

    def __str__(self) -> str:
        return f"{self.handle:#x} + {self.offset} on {self.device}, {self.dtype}"


class Body(NamedTuple):
    """What follows the code of a packet."""

    function: int | None = None
    protocol: str = ""
    copied: CopyRange | TensorMeta | None = None
    nbytes: int | None = None
    arguments: list[Argument] | None = None
    payload: Span | None = None


def read_body(reader: Reader, grammar: Grammar, name: str, copied: int | None = None) -> Body:
    """Read what follows a code, up to where the packet should end."""
    match name:
        case "Shutdown":
            return Body()
        case "CallFunc":
            function = reader.number(U64, "function")
            return Body(function, arguments=read_sequence(reader, grammar))
        case "InitServer":
            protocol = _protocol(reader)
            return Body(protocol=protocol, arguments=read_sequence(reader, grammar))
        case "CopyAck":
            if not grammar.prefixed and copied is None:
                raise WireError("bytes", reader.at, "a request that says how many", "none")
            size = reader.left if copied is None else copied
            return Body(nbytes=size, payload=Span(reader.skip(size, "bytes"), size))
        case "CopyFromRemote" | "CopyToRemote":
            return _copy(reader, grammar, to_remote=name == "CopyToRemote")
    return Body(arguments=read_sequence(reader, grammar))


def _protocol(reader: Reader) -> str:
    size = reader.number(U64, "length of the protocol's version")
    if size > _LONGEST_PROTOCOL:
        at = reader.at - 8
        raise WireError(
            "length of the protocol's version", at, f"at most {_LONGEST_PROTOCOL}", size
        )
    return reader.data(size, "protocol's version").decode("utf-8", "backslashreplace")


def _copy(reader: Reader, grammar: Grammar, *, to_remote: bool) -> Body:
    copied: CopyRange | TensorMeta
    if grammar.sends_offsets:
        copied = read_tensor(reader, grammar, "tensor")
        size = reader.number(U64, "nbytes")
    else:
        handle = reader.number(U64, "handle")
        offset = reader.number(U64, "offset")
        size = reader.number(U64, "size")
        device = read_device(reader, "device")
        dtype = read_dtype(reader, grammar.dtype, "dtype")
        copied = CopyRange(handle, offset, size, device, dtype)
    payload = Span(reader.skip(size, "bytes"), size) if to_remote else None
    return Body(copied=copied, nbytes=size, payload=payload)
