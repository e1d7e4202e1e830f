"""Bytes of a packet: as nested fields, and written from arguments."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from tvmdbg_widgets.formats.rpc.grammar import FFI_BOXED, FFI_DYNAMIC, OBJECT_REF, Grammar
from tvmdbg_widgets.formats.rpc.packets import I32, I64, U64, CopyRange
from tvmdbg_widgets.formats.rpc.resync import RawPacket
from tvmdbg_widgets.model.base.numbers import ByteField, ByteKind, bytes_text
from tvmdbg_widgets.model.rpc_packets import Device, PackedArgument, StreamSpan, TensorMeta
from tvmdbg_widgets.model.tensors.dtypes import DataType

#: ``kRPCMagic``, src/runtime/rpc/rpc_endpoint.h @ v0.7.
MAGIC = 0xFF271
#: Type indices of raw texts and bytes in tvm-ffi.
_FFI_PREFERRED = {"str": 8, "bytes": 9}
_POINTERS = ("handle", "function", "module", "object")


def packet_fields(packet: RawPacket, grammar: Grammar) -> ByteField:
    """Return the fields of a packet; offsets count from its first byte, its length included."""
    return _PacketFields(packet, grammar).packet()


class _PacketFields:
    """Lays out one packet in the order of its reader."""

    def __init__(self, packet: RawPacket, grammar: Grammar) -> None:
        self._packet = packet
        self._grammar = grammar
        self._at = 0
        self._fields: list[ByteField] = []

    def packet(self) -> ByteField:
        packet, body, grammar = self._packet, self._packet.body, self._grammar
        if grammar.prefixed:
            self._add("packet_nbytes", 8, "number", str(packet.size - 8))
        self._add("code", 4, "number", f"{packet.code}, {packet.name}")
        if body.function is not None:
            self._add("function", 8, "pointer", f"{body.function:#x}")
        if packet.name == "InitServer":
            size = len(body.protocol.encode())
            self._add("length", 8, "number", str(size))
            self._add("protocol", size, "text", repr(body.protocol))
        if isinstance(body.copied, CopyRange):
            self._range(body.copied)
        elif isinstance(body.copied, TensorMeta):
            self._group("tensor", self._tensor(body.copied), str(body.copied))
            self._add("nbytes", 8, "number", str(body.nbytes))
        if body.payload is not None:
            self._add("data", body.payload.size, "data", bytes_text(body.payload.size))
        if body.arguments is not None:
            self._sequence(body.arguments)
        name = f"{packet.name} packet"
        return ByteField(name, 0, packet.size, "group", "", "", tuple(self._fields))

    def _add(self, name: str, size: int, kind: ByteKind, value: str) -> None:
        self._fields.append(ByteField(name, self._at, size, kind, value))
        self._at += size

    def _group(self, name: str, children: Sequence[ByteField], value: str) -> None:
        """Add fields from the end of the last one on."""
        end = children[-1].end
        size = end - self._at
        self._fields.append(ByteField(name, self._at, size, "group", value, "", tuple(children)))
        self._at = end

    def _range(self, copied: CopyRange) -> None:
        self._add("handle", 8, "pointer", f"{copied.handle:#x}")
        self._add("offset", 8, "number", str(copied.offset))
        self._add("size", 8, "number", str(copied.size))
        self._group("device", _device(self._at, copied.device), str(copied.device))
        self._group("dtype", self._dtype(self._at, copied.dtype), str(copied.dtype))

    def _sequence(self, arguments: Sequence[PackedArgument]) -> None:
        self._add("num_args", 4, "number", str(len(arguments)))
        if not self._grammar.interleaved:
            for index, argument in enumerate(arguments):
                code = f"{argument.code}, {argument.kind}"
                self._add(f"type_code[{index}]", 4, "number", code)
        for index, argument in enumerate(arguments):
            children: list[ByteField] = []
            at = self._at
            if self._grammar.interleaved:
                indexed = [("type_index", f"{argument.code}, {argument.kind}")]
                if argument.code in FFI_BOXED or argument.code >= FFI_DYNAMIC:
                    indexed.append(("type_index again", ""))
                for name, value in indexed:
                    children.append(ByteField(name, at, 4, "number", value))
                    at += 4
            children += self._value(argument, at)
            if children:
                self._group(f"argument {index}", children, str(argument))

    def _value(self, argument: PackedArgument, at: int) -> list[ByteField]:
        kind, value = argument.kind, argument.value
        match kind:
            case "null":
                return []
            case "dtype":
                padding = self._grammar.padding
                rest = [ByteField("padding", at + self._grammar.dtype.size, padding, "padding")]
                return self._dtype(at, value) + (rest if padding else [])
            case "device":
                return _device(at, value)
            case "tensor":
                return self._tensor(value, at)
            case "str" | "bytes":
                return _text(argument, at)
            case "object" if not self._grammar.interleaved:
                index = ByteField("type_index", at, 4, "number", "RPCObjectRef")
                return [index, ByteField("value", at + 4, 8, "pointer", f"{value:#x}")]
        if kind in _POINTERS:
            return [ByteField("value", at, 8, "pointer", f"{value:#x}")]
        return [ByteField("value", at, 8, "number", str(value))]

    def _dtype(self, at: int, dtype: DataType) -> list[ByteField]:
        values = {"code": dtype.code, "bits": dtype.bits, "lanes": dtype.lanes}
        return [
            ByteField(part.name, at + part.offset, part.size, "number", str(values[part.name]))
            for part in self._grammar.dtype.fields
        ]

    def _tensor(self, tensor: TensorMeta, at: int | None = None) -> list[ByteField]:
        at = self._at if at is None else at
        device = _device(at + 8, tensor.device)
        dtype = self._dtype(at + 20, tensor.dtype)
        fields = [
            ByteField("data", at, 8, "pointer", f"{tensor.data:#x}"),
            ByteField("device", at + 8, 8, "group", str(tensor.device), "", tuple(device)),
            ByteField("ndim", at + 16, 4, "number", str(len(tensor.shape))),
            ByteField(
                "dtype", at + 20, self._grammar.dtype.size, "group", str(tensor.dtype), "",
                tuple(dtype),
            ),
        ]  # fmt: skip
        at += 20 + self._grammar.dtype.size
        for index, dim in enumerate(tensor.shape):
            fields.append(ByteField(f"shape[{index}]", at, 8, "number", str(dim)))
            at += 8
        if tensor.byte_offset is not None:
            fields.append(ByteField("byte_offset", at, 8, "number", str(tensor.byte_offset)))
        return fields


def _device(at: int, device: Device) -> list[ByteField]:
    return [
        ByteField("device_type", at, 4, "number", str(device.type)),
        ByteField("device_id", at + 4, 4, "number", str(device.id)),
    ]


def _text(argument: PackedArgument, at: int) -> list[ByteField]:
    size = argument.value.size if isinstance(argument.value, StreamSpan) else argument.size - 8
    kind: ByteKind = "text" if argument.kind == "str" else "data"
    length = ByteField("length", at, 8, "number", str(size))
    return [length, ByteField(argument.kind, at + 8, size, kind, str(argument))]


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
                argument if isinstance(argument, PackedArgument) else PackedArgument(*argument)
                for argument in arguments
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
    return numbers + _device_bytes(copied.device) + grammar.dtype.pack(copied.dtype)


def encode_sequence(grammar: Grammar, arguments: Sequence[PackedArgument]) -> bytes:
    """Return a packed sequence."""
    codes = [_code(grammar, argument) for argument in arguments]
    values = [_value(grammar, argument) for argument in arguments]
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
    number = next((code for code, kind in grammar.kinds.items() if kind == argument.kind), None)
    if number is None:
        raise KeyError(argument.kind)
    return number


def _index(code: int) -> bytes:
    """Return a type index, twice if the class of an object follows."""
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
            return _device_bytes(value)
        case "tensor":
            return _tensor(grammar, value)
        case "str" | "bytes":
            data = value.encode() if isinstance(value, str) else value
            return U64.pack(len(data)) + data
        case "object" if not grammar.interleaved:
            return struct.pack("<IQ", OBJECT_REF, value)
    return U64.pack(value)


def _device_bytes(device: Device) -> bytes:
    return struct.pack("<ii", *device)


def _tensor(grammar: Grammar, tensor: TensorMeta) -> bytes:
    ndim = len(tensor.shape)
    head = U64.pack(tensor.data) + _device_bytes(tensor.device) + I32.pack(ndim)
    shape = struct.pack(f"<{ndim}q", *tensor.shape)
    offset = U64.pack(tensor.byte_offset or 0) if grammar.sends_offsets else b""
    return head + grammar.dtype.pack(tensor.dtype) + shape + offset
