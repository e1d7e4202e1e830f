"""Bytes of a packet: one layout, shown as nested fields or written from arguments."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from tvmdbg_widgets.formats.rpc.grammar import FFI_BOXED, FFI_DYNAMIC, OBJECT_REF, Grammar
from tvmdbg_widgets.formats.rpc.packets import F64, I32, I64, U32, U64, Body, CopyRange
from tvmdbg_widgets.formats.rpc.resync import RawPacket
from tvmdbg_widgets.model.base.numbers import ByteField, ByteKind, bytes_text
from tvmdbg_widgets.model.rpc_packets import Device, PackedArgument, StreamSpan, TensorMeta
from tvmdbg_widgets.model.tensors.dtypes import DataType

#: ``kRPCMagic``, src/runtime/rpc/rpc_endpoint.h @ v0.7.
MAGIC = 0xFF271
#: Type indices of raw texts and bytes in tvm-ffi.
_FFI_PREFERRED = {"str": 8, "bytes": 9}
_NUMBERS = {"int": I64, "uint": I64, "bool": I64, "float": F64}


class _PacketPiece(NamedTuple):
    """A field and its bytes, which are empty if they stay in the stream."""

    name: str
    kind: ByteKind
    value: str
    size: int
    data: bytes
    children: tuple[_PacketPiece, ...] = ()

    def field(self, at: int) -> ByteField:
        fields, inner = [], at
        for child in self.children:
            fields.append(child.field(inner))
            inner += child.size
        return ByteField(self.name, at, self.size, self.kind, self.value, "", tuple(fields))


def _leaf(name: str, kind: ByteKind, value: str, data: bytes, size: int = -1) -> _PacketPiece:
    return _PacketPiece(name, kind, value, len(data) if size < 0 else size, data)


def _number(name: str, form: struct.Struct, value: Any, text: str = "") -> _PacketPiece:
    return _leaf(name, "number", text or str(value), form.pack(value))


def _pointer(name: str, value: int) -> _PacketPiece:
    return _leaf(name, "pointer", f"{value:#x}", U64.pack(value))


def _group(name: str, value: str, children: Sequence[_PacketPiece]) -> _PacketPiece:
    data = b"".join(child.data for child in children)
    return _PacketPiece(
        name, "group", value, sum(child.size for child in children), data, (*children,)
    )


def packet_fields(packet: RawPacket, grammar: Grammar) -> ByteField:
    """Return the fields of a packet; offsets count from its first byte, its length included."""
    pieces = _pieces(grammar, packet.code, packet.name, packet.body)
    if grammar.prefixed:
        pieces.insert(0, _number("packet_nbytes", U64, packet.size - 8))
    return _group(f"{packet.name} packet", "", pieces).field(0)


def _pieces(
    grammar: Grammar, code: int, name: str, body: Body, payload: bytes = b""
) -> list[_PacketPiece]:
    """Return the fields of a packet behind its length, in the order of its reader."""
    pieces = [_number("code", I32, code, f"{code}, {name}")]
    if body.function is not None:
        pieces.append(_pointer("function", body.function))
    if name == "InitServer":
        protocol = body.protocol.encode()
        pieces.append(_number("length", U64, len(protocol)))
        pieces.append(_leaf("protocol", "text", repr(body.protocol), protocol))
    copied = body.copied
    if isinstance(copied, CopyRange):
        pieces.append(_pointer("handle", copied.handle))
        pieces += [_number("offset", U64, copied.offset), _number("size", U64, copied.size)]
        pieces.append(_group("device", str(copied.device), _device(copied.device)))
        pieces.append(_group("dtype", str(copied.dtype), _dtype(grammar, copied.dtype)))
    elif isinstance(copied, TensorMeta):
        pieces.append(_group("tensor", str(copied), _tensor(grammar, copied)))
        pieces.append(_number("nbytes", U64, body.nbytes))
    if body.payload is not None:
        size = body.payload.size
        pieces.append(_leaf("data", "data", bytes_text(size), payload, size))
    return pieces if body.arguments is None else pieces + _sequence(grammar, body.arguments)


def _sequence(grammar: Grammar, arguments: Sequence[PackedArgument]) -> list[_PacketPiece]:
    codes = [_code(grammar, argument) for argument in arguments]
    pieces = [_number("num_args", I32, len(arguments))]
    texts = [f"{code}, {each.kind}" for code, each in zip(codes, arguments, strict=True)]
    if not grammar.interleaved:
        for index, (code, text) in enumerate(zip(codes, texts, strict=True)):
            pieces.append(_number(f"type_code[{index}]", I32, code, text))
    for index, argument in enumerate(arguments):
        children: list[_PacketPiece] = []
        if grammar.interleaved:
            code = codes[index]
            children.append(_number("type_index", I32, code, texts[index]))
            if code in FFI_BOXED or code >= FFI_DYNAMIC:
                children.append(_leaf("type_index again", "number", "", I32.pack(code)))
        children += _value(grammar, argument)
        if children:
            pieces.append(_group(f"argument {index}", str(argument), children))
    return pieces


def _code(grammar: Grammar, argument: PackedArgument) -> int:
    if argument.code >= 0:
        return argument.code
    if grammar.interleaved and argument.kind in _FFI_PREFERRED:
        return _FFI_PREFERRED[argument.kind]
    if grammar.interleaved and argument.kind == "object":
        return FFI_DYNAMIC
    number = next((code for code, kind in grammar.kinds.items() if kind == argument.kind), None)
    if number is None:
        raise KeyError(argument.kind)
    return number


def _value(grammar: Grammar, argument: PackedArgument) -> list[_PacketPiece]:
    kind, value = argument.kind, argument.value
    match kind:
        case "null":
            return []
        case "dtype":
            padding = [_leaf("padding", "padding", "", bytes(grammar.padding))]
            return _dtype(grammar, value) + (padding if grammar.padding else [])
        case "device":
            return _device(value)
        case "tensor":
            return _tensor(grammar, value)
        case "str" | "bytes":
            return _text(argument)
        case "int" | "uint" | "bool" | "float":
            return [_number("value", _NUMBERS[kind], value)]
        case "object" if not grammar.interleaved:
            index = _number("type_index", U32, OBJECT_REF, "RPCObjectRef")
            return [index, _pointer("value", value)]
    return [_pointer("value", value)]


def _text(argument: PackedArgument) -> list[_PacketPiece]:
    value, data = argument.value, b""
    if not isinstance(value, StreamSpan):
        data = value.encode() if isinstance(value, str) else value
    size = argument.size - 8 if argument.size else len(data)
    kind: ByteKind = "text" if argument.kind == "str" else "data"
    return [_number("length", U64, size), _leaf(argument.kind, kind, str(argument), data, size)]


def _dtype(grammar: Grammar, dtype: DataType) -> list[_PacketPiece]:
    data = grammar.dtype.pack(dtype)
    values = {"code": dtype.code, "bits": dtype.bits, "lanes": dtype.lanes}
    return [
        _leaf(part.name, "number", str(values[part.name]), data[part.offset :][: part.size])
        for part in grammar.dtype.fields
    ]


def _device(device: Device) -> list[_PacketPiece]:
    return [_number("device_type", I32, device.type), _number("device_id", I32, device.id)]


def _tensor(grammar: Grammar, tensor: TensorMeta) -> list[_PacketPiece]:
    pieces = [
        _pointer("data", tensor.data),
        _group("device", str(tensor.device), _device(tensor.device)),
        _number("ndim", I32, len(tensor.shape)),
        _group("dtype", str(tensor.dtype), _dtype(grammar, tensor.dtype)),
    ]
    pieces += [_number(f"shape[{at}]", I64, dim) for at, dim in enumerate(tensor.shape)]
    if grammar.sends_offsets:
        pieces.append(_number("byte_offset", U64, tensor.byte_offset or 0))
    return pieces


def handshake(key: str, code: int = MAGIC) -> bytes:
    """Return a handshake: magic or answer code, and the key."""
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
    size = len(payload)
    match name:
        case "Shutdown":
            body = Body()
        case "CopyAck":
            body = Body(payload=StreamSpan(0, size))
        case "CopyFromRemote" | "CopyToRemote":
            if isinstance(copied, TensorMeta) is not grammar.sends_offsets or copied is None:
                wanted = ("v0.8 or later", "TensorMeta"), ("v0.7 or earlier", "CopyRange")
                raise TypeError(
                    "a copy of {} is of a {}".format(*wanted[not grammar.sends_offsets])
                )
            if isinstance(copied, CopyRange):
                copied = copied._replace(size=size)
            span = StreamSpan(0, size) if name == "CopyToRemote" else None
            body = Body(copied=copied, nbytes=size, payload=span)
        case _:
            given = [
                argument if isinstance(argument, PackedArgument) else PackedArgument(*argument)
                for argument in arguments
            ]
            body = Body(function if name == "CallFunc" else None, protocol, arguments=given)
    packet = b"".join(piece.data for piece in _pieces(grammar, code, name, body, payload))
    return U64.pack(len(packet)) + packet if grammar.prefixed else packet
