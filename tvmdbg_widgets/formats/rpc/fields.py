"""A packet as nested fields, byte by byte."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.formats.rpc.grammar import FFI_BOXED, FFI_DYNAMIC, Grammar
from tvmdbg_widgets.formats.rpc.packets import CopyRange
from tvmdbg_widgets.formats.rpc.resync import RawPacket
from tvmdbg_widgets.model.base.numbers import ByteField, ByteKind, bytes_text
from tvmdbg_widgets.model.rpc_packets import Device, PackedArgument, StreamSpan, TensorMeta
from tvmdbg_widgets.model.tensors.dtypes import DataType

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
