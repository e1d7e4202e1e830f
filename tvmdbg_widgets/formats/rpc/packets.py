"""The contents of a packet: numbers, sequences of arguments, and the body of a code."""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from tvmdbg_widgets.formats.rpc.grammar import FFI_BOXED, FFI_DYNAMIC, Grammar
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.rpc_packets import Device, PackedArgument, StreamSpan, TensorMeta
from tvmdbg_widgets.model.tensors.dtypes import STORABLE_BITS, DataType
from tvmdbg_widgets.sources.byte_source import ReadAhead

I32 = struct.Struct("<i")
U32 = struct.Struct("<I")
I64 = struct.Struct("<q")
U64 = struct.Struct("<Q")
F64 = struct.Struct("<d")
DEVICE = struct.Struct("<ii")


class WireError(ValueError):
    """Bytes that contradict the grammar."""

    def __init__(
        self, field: str, offset: int, expected: object, found: object, *, is_short: bool = False
    ) -> None:
        self.is_short = is_short
        self.field = field
        self.offset = offset
        self.expected = str(expected)
        self.found = str(found)
        super().__init__(f"{field} at byte {offset}: expected {expected}, found {found}")


class Reader:
    """Reads one packet."""

    __slots__ = ("_ahead", "at", "end", "lenient", "values")

    def __init__(self, ahead: ReadAhead, at: int, end: int, *, lenient: bool = False) -> None:
        self._ahead = ahead
        self.lenient = lenient
        self.values = 0
        self.at = at
        self.end = end

    @property
    def left(self) -> int:
        """Number of unread bytes of the packet."""
        return self.end - self.at

    @property
    def captured(self) -> int:
        """Number of captured bytes of the stream."""
        return self._ahead.captured

    def number(self, form: struct.Struct, field: str) -> int:
        """Read one number."""
        value: int = self.numbers(form, field)[0]
        return value

    def numbers(self, form: struct.Struct, field: str) -> tuple[int, ...]:
        """Read several consecutive numbers."""
        at, size = self.at, form.size
        if at + size > self.end:
            raise self._short(field, size)
        self.at = at + size
        ahead = self._ahead
        position = ahead.locate(at, size)
        return form.unpack_from(ahead.buffer, position)

    def data(self, size: int, field: str) -> bytes:
        """Read bytes."""
        at = self.skip(size, field)
        return self._ahead.bytes(at, size)

    def skip(self, size: int, field: str) -> int:
        """Skip some bytes and return their offset."""
        at = self.at
        if size > self.end - at:
            raise self._short(field, size)
        self.at = at + size
        return at

    def _short(self, field: str, size: int) -> WireError:
        available = f"{max(0, self.left)}, where the packet ends"
        return WireError(field, self.at, counted(size, "byte"), available, is_short=True)


# Packed sequences: the arguments of a call, and its result.


#: Longer texts and bytes stay in the file.
LONGEST_READ = 4096
#: Limits of argument counts and lengths in a stream that breaks off.
_MOST_ARGUMENTS = 1 << 12
_LONGEST = 1 << 40
#: As many dimensions as any array has (numpy's limit; TVM sets none).
_MOST_DIMS = 64
_HIGHEST_CODE = 0xFF
_BLOCK = 256
_NUMBERS = {"int": I64, "uint": I64, "bool": I64, "float": F64}


def read_sequence(reader: Reader, grammar: Grammar) -> list[PackedArgument]:
    """Read one sequence."""
    at = reader.at
    count = reader.number(I32, "number of arguments")
    # Gaps are read as zeros, and hold no arguments.
    most = min(reader.left, reader.captured) // 4
    if not 0 <= count <= most:
        short = 0 < count <= _MOST_ARGUMENTS
        raise WireError("number of arguments", at, f"0 to {most}", count, is_short=short)
    if grammar.interleaved:
        return [_read_interleaved(reader, grammar, index) for index in range(count)]
    codes_at = reader.at
    codes = _type_codes(reader, grammar, count)
    return [
        _read_value(reader, grammar, code, codes_at + 4 * index, index)
        for index, code in enumerate(codes)
    ]


def _type_codes(reader: Reader, grammar: Grammar, count: int) -> tuple[int, ...]:
    """Read type codes in blocks, so that wrong bytes cost no more than one."""
    codes: tuple[int, ...] = ()
    blocks: list[tuple[int, ...]] = []
    while count > 0:
        at, size = reader.at, min(count, _BLOCK)
        codes = reader.numbers(_codes(size), "type codes")
        if count > size or blocks:
            for index, code in enumerate(codes):
                if code not in grammar.kinds:
                    field = f"argument {len(blocks) * _BLOCK + index}: type code"
                    raise _unknown_code(field, at + 4 * index, grammar, code)
            reader.values += size
            blocks.append(codes)
        count -= size
    return tuple(chain.from_iterable(blocks)) if blocks else codes


def _unknown_code(field: str, at: int, grammar: Grammar, code: int) -> WireError:
    return WireError(field, at, f"one that is known, up to {max(grammar.kinds)}", code)


def _read_interleaved(reader: Reader, grammar: Grammar, index: int) -> PackedArgument:
    code_at = reader.at
    code = reader.number(I32, f"argument {index}: type index")
    if code in FFI_BOXED or code >= FFI_DYNAMIC:
        again = reader.number(U32, f"argument {index}: second type index")
        if code in FFI_BOXED and grammar.kinds.get(again) != grammar.kinds[code]:
            raise WireError(
                f"argument {index}: second type index",
                reader.at - 4,
                f"that of a {grammar.kinds[code]}",
                again,
            )
    return _read_value(reader, grammar, code, code_at, index)


def _read_value(
    reader: Reader, grammar: Grammar, code: int, code_at: int, index: int
) -> PackedArgument:
    kind = grammar.kinds.get(code)
    if kind is None and grammar.interleaved and code >= FFI_DYNAMIC:
        kind = "object"
    if kind is None:
        raise _unknown_code(f"argument {index}: type code", code_at, grammar, code)
    reader.values += 1
    at = reader.at
    value = _value(reader, grammar, kind, f"argument {index}")
    return PackedArgument(kind, value, code, code_at, at, reader.at - at)


def _value(reader: Reader, grammar: Grammar, kind: str, field: str) -> Any:
    match kind:
        case "null":
            return None
        case "str" | "bytes":
            return _text(reader, kind, field)
        case "dtype":
            dtype = read_dtype(reader, grammar.dtype, f"{field}: dtype", is_argument=True)
            padding = reader.data(grammar.padding, f"{field}: padding") if grammar.padding else b""
            if padding.strip(b"\0") and not reader.lenient:
                at = reader.at - len(padding)
                raise WireError(f"{field}: padding", at, "zeros", "other bytes")
            return dtype
        case "device":
            return read_device(reader, field)
        case "tensor":
            return read_tensor(reader, grammar, field)
        case "object" if not grammar.interleaved:
            reader.number(U32, f"{field}: type index of the object")
    return _number(reader, kind, field)


def _number(reader: Reader, kind: str, field: str) -> int | float | bool:
    value = reader.number(_NUMBERS.get(kind, U64), field)
    if kind != "bool":
        return value
    if value not in (0, 1) and not reader.lenient:
        raise WireError(field, reader.at - 8, "0 or 1", value)
    return bool(value)


def _text(reader: Reader, kind: str, field: str) -> str | bytes | StreamSpan:
    size = reader.number(U64, f"{field}: length")
    if size > reader.left:
        short = size <= _LONGEST
        at = reader.at - 8
        raise WireError(f"{field}: length", at, f"at most {reader.left}", size, is_short=short)
    if size > LONGEST_READ:
        return StreamSpan(reader.skip(size, field), size)
    data = reader.data(size, field)
    return data.decode("utf-8", "backslashreplace") if kind == "str" else data


def read_dtype(
    reader: Reader, layout: DTypeLayout, field: str, *, is_argument: bool = False
) -> DataType:
    """Read a ``DLDataType``; an argument's may be void, or a handle."""
    at = reader.at
    code, bits, lanes = layout.in_order(reader.numbers(_dtype_struct(layout), field))
    void = is_argument and bits == 0 and lanes == 0
    possible = 0 <= code <= _HIGHEST_CODE and (void or (bits in STORABLE_BITS and lanes != 0))
    if not possible and not reader.lenient:
        fields = f"code {code}, bits {bits}, lanes {lanes}"
        raise WireError(field, at, f"a data type of the {layout.name} layout", fields)
    return _data_type(code, bits, lanes)


def read_device(reader: Reader, field: str) -> Device:
    """Read a ``DLDevice``."""
    device = Device(*reader.numbers(DEVICE, field))
    if (device.type < 0 or device.id < 0) and not reader.lenient:
        raise WireError(field, reader.at - 8, "a device", f"type {device.type}, id {device.id}")
    return device


def read_tensor(reader: Reader, grammar: Grammar, field: str) -> TensorMeta:
    """Read a ``DLTensor`` without values: data, device, ndim, dtype, shape, byte_offset (v0.8)."""
    data = reader.number(U64, f"{field}: data")
    device = read_device(reader, f"{field}: device")
    ndim = reader.number(I32, f"{field}: ndim")
    if not 0 <= ndim <= _MOST_DIMS:
        raise WireError(f"{field}: ndim", reader.at - 4, f"0 to {_MOST_DIMS}", ndim)
    dtype = read_dtype(reader, grammar.dtype, f"{field}: dtype")
    shape = reader.numbers(_dims(ndim), f"{field}: shape") if ndim else ()
    if ndim and min(shape) < 0 and not reader.lenient:
        at = reader.at - 8 * ndim
        raise WireError(f"{field}: shape", at, "dimensions of 0 or more", list(shape))
    offset = reader.number(U64, f"{field}: byte_offset") if grammar.sends_offsets else None
    return TensorMeta(data, device, dtype, shape, offset)


@lru_cache(maxsize=64)
def _dtype_struct(layout: DTypeLayout) -> struct.Struct:
    return struct.Struct(f"<{layout.format}")


@lru_cache(maxsize=256)
def _data_type(code: int, bits: int, lanes: int) -> DataType:
    return DataType(code, bits, lanes)


@lru_cache(maxsize=256)
def _codes(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}i")


@lru_cache(maxsize=_MOST_DIMS)
def _dims(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}q")


# What follows the code of a packet.


_LONGEST_PROTOCOL = 64


class CopyRange(NamedTuple):
    """The bytes of the server's memory that a copy is of, up to v0.7."""

    handle: int
    offset: int
    size: int
    device: Device
    dtype: DataType

    def __str__(self) -> str:
        return f"{self.handle:#x} + {self.offset} on {self.device}, {self.dtype}"


class Body(NamedTuple):
    """The body of a packet behind its code."""

    function: int | None = None
    protocol: str = ""
    copied: CopyRange | TensorMeta | None = None
    nbytes: int | None = None
    arguments: list[PackedArgument] | None = None
    payload: StreamSpan | None = None


def read_body(reader: Reader, grammar: Grammar, name: str, copied: int | None = None) -> Body:
    """Read a body up to the expected end of the packet."""
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
            return Body(nbytes=size, payload=StreamSpan(reader.skip(size, "bytes"), size))
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
    payload = StreamSpan(reader.skip(size, "bytes"), size) if to_remote else None
    return Body(copied=copied, nbytes=size, payload=payload)
