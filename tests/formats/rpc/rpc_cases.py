"""Grammars and values that the tests of the RPC's packets draw from."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from tvmdbg_widgets.formats.rpc.grammar import ERAS, Grammar, grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet, handshake
from tvmdbg_widgets.formats.rpc.packets import I32, U64, Body, CopyRange, Reader, read_body
from tvmdbg_widgets.model.rpc_packets import Device, PackedArgument, TensorMeta
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import ReadAhead
from tvmdbg_widgets.sources.given import as_source

LANES_U32 = "code:u8 bits:u8 lanes:u32"
GRAMMARS = [grammar(era, layout) for era in ERAS for layout in ("narrow", "wide", LANES_U32)]
GRAMMARS += [grammar(era, "wide", padding=4) for era in ERAS]

_CODES = st.sampled_from([0, 1, 2, 4, 5, 6, 10, 17, 129])
_BITS = st.sampled_from([1, 4, 8, 16, 32, 64])
HANDLES = st.integers(0, 2**64 - 1)
DEVICES = st.builds(Device, st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1))


def dtypes(own: Grammar) -> st.SearchStrategy[DataType]:
    lanes = min(own.dtype.field("lanes").highest, 2**31 - 1)
    return st.builds(DataType, _CODES, _BITS, st.integers(1, lanes))


def tensors(own: Grammar) -> st.SearchStrategy[TensorMeta]:
    shapes = st.lists(st.integers(0, 2**63 - 1), max_size=5).map(tuple)
    offsets = HANDLES if own.sends_offsets else st.none()
    return st.builds(TensorMeta, HANDLES, DEVICES, dtypes(own), shapes, offsets)


def copied(own: Grammar) -> st.SearchStrategy[CopyRange | TensorMeta]:
    if own.sends_offsets:
        return tensors(own)
    return st.builds(CopyRange, HANDLES, HANDLES, st.just(0), DEVICES, dtypes(own))


def arguments(own: Grammar) -> st.SearchStrategy[PackedArgument]:
    integers = st.integers(-(2**63), 2**63 - 1)
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    values: dict[str, st.SearchStrategy[Any]] = {
        "int": integers,
        "uint": integers,
        "float": st.floats(allow_nan=False),
        "bool": st.booleans(),
        "null": st.none(),
        "dtype": dtypes(own) | st.just(DataType(3, 0, 0)),
        "device": DEVICES,
        "tensor": tensors(own),
        "handle": HANDLES,
        "object": HANDLES,
        "module": HANDLES,
        "function": HANDLES,
        "str": text,
        "bytes": st.binary(max_size=20),
    }
    kinds = [*dict.fromkeys(own.kinds.values()), *(["object"] if own.interleaved else [])]
    return st.one_of([values[kind].map(_as(kind)) for kind in kinds])


def _as(kind: str) -> Any:
    return lambda value: PackedArgument(kind, value)


def read_packet(data: bytes, own: Grammar, copied: int | None = None) -> tuple[str, Body]:
    """Read one packet that must end where the bytes do."""
    reader = Reader(ReadAhead(as_source(data)), 0, len(data))
    if own.prefixed:
        assert reader.number(U64, "length") == len(data) - 8
    name = own.codes[reader.number(I32, "code")]
    body = read_body(reader, own, name, copied)
    assert reader.left == 0
    return name, body


def joined(packets: Iterable[bytes]) -> bytes:
    return b"".join(packets)


FLOAT32 = DataType(2, 32)
TENSOR = TensorMeta(0x7F0010, Device(1, 0), FLOAT32, (6,), 0)
FUNCTION = 0x5500
VALUES = bytes(range(24))


def conversation(
    client: Grammar, server: Grammar | None = None, *, kept: bool = True
) -> tuple[bytes, bytes]:
    """Both directions of a short session, each side with its own grammar, after a handshake.

    A function is looked up, memory for six float32 allocated and filled, the function called with
    its tensor and a data type, the values copied back, and a call that fails.
    """
    server = server or client
    what: CopyRange | TensorMeta = TENSOR
    if not client.sends_offsets:
        what = CopyRange(TENSOR.data, 0, 24, TENSOR.device, FLOAT32)
    void = [("null", None)]
    result = void if client.era == "v0.5" else [("int", 4), ("null", None)]
    number = [("int", 0), ("int", 7)] if client.era != "v0.5" else [("int", 7)]
    device = ("device", Device(1, 0))
    allocated = [device, ("int", 24), ("int", 64), ("dtype", FLOAT32)]
    called = [("tensor", TENSOR._replace(byte_offset=None if not client.sends_offsets else 0))]
    called += [("dtype", FLOAT32), ("str", "mode"), ("int", 3)]
    asked = [
        encode_packet(client, "GetGlobalFunc", [("str", "my.add")]),
        encode_packet(client, "DevAllocData", allocated),
        encode_packet(client, "CopyToRemote", copied=what, payload=VALUES),
        encode_packet(client, "CallFunc", called, function=FUNCTION),
        encode_packet(client, "CopyFromRemote", copied=what, payload=VALUES),
        encode_packet(client, "CallFunc", [("float", 2.5), ("str", "x")], function=FUNCTION),
        encode_packet(client, "Shutdown"),
    ]
    answered = [
        encode_packet(server, "Return", [("handle", FUNCTION)]),
        encode_packet(server, "Return", [("handle", TENSOR.data)]),
        encode_packet(server, "Return", void),
        encode_packet(server, "Return", result),
        encode_packet(server, "CopyAck", payload=VALUES),
        encode_packet(server, "Exception", [("str", "TVMError: no")]),
    ]
    if client.prefixed:
        protocol = "0.7.0" if client.era == "v0.7" else "0.8.0"
        names = [("str", "rpc.PopenSession"), ("str", "server.py")]
        asked.insert(0, encode_packet(client, "InitServer", names, protocol=protocol))
        answered.insert(0, encode_packet(server, "Return", void))
        asked.insert(4, encode_packet(client, "CallFunc", [("int", 1)], function=FUNCTION))
        answered.insert(4, encode_packet(server, "Return", number))
    if not kept:
        return joined(asked), joined(answered)
    return (handshake("client:test") + joined(asked), handshake("server:test") + joined(answered))
