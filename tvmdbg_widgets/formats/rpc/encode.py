"""Packets written as TVM writes them, in any grammar: for samples, and to prove the readers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from tvmdbg_widgets.formats.rpc.grammar import FFI_BOXED, FFI_DYNAMIC, OBJECT_REF, Grammar
from tvmdbg_widgets.formats.rpc.packets import I32, I64, U64, CopyRange
from tvmdbg_widgets.model.rpc.values import Device, PackedArgument, TensorMeta

#: ``kRPCMagic``, src/runtime/rpc/rpc_endpoint.h @ v0.7.
MAGIC = 0xFF271
#: Type indices that tvm-ffi gives texts and bytes: as raw pointers, not as objects.
_FFI_PREFERRED = {"str": 8, "bytes": 9}


def handshake(key: str, code: int = MAGIC) -> bytes:
    """Return what each side sends first: magic or answer code, and its key."""
    data = key.encode()
    return I32.pack(code) + I32.pack(len(data)) + data


def encode_packet(
    grammar: Grammar,
    name: str,
    arguments: Sequence[PackedArgument | tuple[str, Any]] = (),
    *,
    function: int = 0,
    protocol: str = "0.8.0",
    copied: CopyRange | TensorMeta | None = None,
    payload: bytes = b"",
) -> bytes:
    """Return one packet, its length before it where the era has one.

    Parameters
    ----------
    name : str
        Such as ``"CallFunc"``.
    arguments : sequence of Argument or (kind, value)
        Of an ``PackedArgument`` with a type code, that code is written.
    function : int
        Handle that ``CallFunc`` calls.
    protocol : str
        Of ``InitServer``.
    copied : CopyRange or TensorMeta
        What a copy is of: a range up to v0.7, a tensor from v0.8 on.
    payload : bytes
        What ``CopyToRemote`` and ``CopyAck`` carry; of ``CopyFromRemote`` its length counts.

    Raises
    ------
    KeyError
        The era has no such packet or kind of value.
    ValueError
        The layout cannot hold a data type.
    """
    code = next((code for code, known in grammar.codes.items() if known == name), None)
    if code is None:
        raise KeyError(name)
    match name:
        case "Shutdown":
            body = b""
        case "CopyAck":
            body = payload
        case "CopyFromRemote":
            body = _copied(grammar, copied, len(payload))
        case "CopyToRemote":
            body = _copied(grammar, copied, len(payload)) + payload
        case _:
            given = [
                each if isinstance(each, PackedArgument) else PackedArgument(*each)
                for each in arguments
            ]
            body = _before_sequence(name, function, protocol) + encode_sequence(grammar, given)
    packet = I32.pack(code) + body
    return U64.pack(len(packet)) + packet if grammar.prefixed else packet


def _before_sequence(name: str, function: int, protocol: str) -> bytes:
    if name == "CallFunc":
        return U64.pack(function)
    data = protocol.encode()
    return U64.pack(len(data)) + data if name == "InitServer" else b""


def _copied(grammar: Grammar, copied: CopyRange | TensorMeta | None, size: int) -> bytes:
    if grammar.sends_offsets:
        if not isinstance(copied, TensorMeta):
            raise TypeError("a copy of v0.8 or later is of a TensorMeta")
        return _tensor(grammar, copied) + U64.pack(size)
    if not isinstance(copied, CopyRange):
        raise TypeError("a copy of v0.7 or earlier is of a CopyRange")
    numbers = struct.pack("<QQQ", copied.handle, copied.offset, size)
    return numbers + _device(copied.device) + grammar.dtype.pack(copied.dtype)


def encode_sequence(grammar: Grammar, arguments: Sequence[PackedArgument]) -> bytes:
    """Return a packed sequence."""
    codes = [_code(grammar, each) for each in arguments]
    values = [_value(grammar, each) for each in arguments]
    count = I32.pack(len(arguments))
    if not grammar.interleaved:
        return count + b"".join(I32.pack(code) for code in codes) + b"".join(values)
    pairs = zip(codes, values, strict=True)
    return count + b"".join(_index(code) + value for code, value in pairs)


def _code(grammar: Grammar, argument: PackedArgument) -> int:
    if argument.code >= 0:
        return argument.code
    if grammar.interleaved and argument.kind in _FFI_PREFERRED:
        return _FFI_PREFERRED[argument.kind]
    if grammar.interleaved and argument.kind == "object":
        return FFI_DYNAMIC
    found = next((code for code, kind in grammar.kinds.items() if kind == argument.kind), None)
    if found is None:
        raise KeyError(argument.kind)
    return found


def _index(code: int) -> bytes:
    """Return a type index, twice where the class of an object follows."""
    return I32.pack(code) * (2 if code in FFI_BOXED or code >= FFI_DYNAMIC else 1)


def _value(grammar: Grammar, argument: PackedArgument) -> bytes:
    kind, value = argument.kind, argument.value
    match kind:
        case "null":
            return b""
        case "int" | "uint" | "bool":
            return I64.pack(value)
        case "float":
            return struct.pack("<d", value)
        case "dtype":
            return grammar.dtype.pack(value) + bytes(grammar.padding)
        case "device":
            return _device(value)
        case "tensor":
            return _tensor(grammar, value)
        case "str" | "bytes":
            data = value.encode() if isinstance(value, str) else value
            return U64.pack(len(data)) + data
        case "object" if not grammar.interleaved:
            return struct.pack("<IQ", OBJECT_REF, value)
    return U64.pack(value)


def _device(device: Device) -> bytes:
    return struct.pack("<ii", *device)


def _tensor(grammar: Grammar, tensor: TensorMeta) -> bytes:
    ndim = len(tensor.shape)
    head = U64.pack(tensor.data) + _device(tensor.device) + I32.pack(ndim)
    shape = struct.pack(f"<{ndim}q", *tensor.shape)
    offset = U64.pack(tensor.byte_offset or 0) if grammar.sends_offsets else b""
    return head + grammar.dtype.pack(tensor.dtype) + shape + offset
