"""Packets against the worked bytes of the specification, and read back as written.

No captured connection of a real TVM is at hand: formats/tvm.md §4 is the ground.
"""

from typing import Any

import pytest
from formats.rpc.rpc_cases import GRAMMARS, arguments, copied, read_packet
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.formats.rpc.grammar import ERAS, Grammar, grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet
from tvmdbg_widgets.formats.rpc.packets import CopyRange, WireError
from tvmdbg_widgets.formats.rpc.resync import PacketReader
from tvmdbg_widgets.model.rpc_packets import Device, TensorMeta
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.given import as_source

pytestmark = pytest.mark.spec_only

FLOAT32 = DataType(2, 32)
# formats/tvm.md §4.4: CallFunc(handle 0x1122334455667788, DataType float32).
WORKED = {
    "narrow": "1c00000000000000 03000000 8877665544332211 01000000 05000000 0220010000000000",
    "wide": "1c00000000000000 03000000 8877665544332211 01000000 05000000 0200200001000000",
}


@pytest.mark.parametrize("layout", ["narrow", "wide"])
@pytest.mark.parametrize("era", ["v0.7", "v0.8", "v0.21"])
def test_worked_call_is_written_and_read(layout: str, era: Any) -> None:
    expected = bytes.fromhex(WORKED[layout])
    own = grammar(era, layout)
    call = encode_packet(own, "CallFunc", [("dtype", FLOAT32)], function=0x1122334455667788)
    assert call == expected
    name, body = read_packet(expected, own)
    assert name == "CallFunc"
    assert body.function == 0x1122334455667788
    (argument,) = body.arguments
    assert (argument.kind, argument.value) == ("dtype", FLOAT32)
    assert (argument.code_offset, argument.offset, argument.size) == (24, 28, 8)


def test_wide_call_read_as_narrow_fails_as_specified() -> None:
    with pytest.raises(WireError, match="code 2, bits 0, lanes 32"):
        read_packet(bytes.fromhex(WORKED["wide"]), grammar("v0.8"))


def test_kept_padding_adds_4_bytes() -> None:
    kept = grammar("v0.8", "wide", padding=4)
    call = encode_packet(kept, "CallFunc", [("dtype", FLOAT32)], function=1)
    assert len(call) == len(bytes.fromhex(WORKED["wide"])) + 4
    assert call[:8] == (32).to_bytes(8, "little")
    with pytest.raises(WireError, match=r"end of the packet at byte 36: .* found 4 more"):
        PacketReader(as_source(call), grammar("v0.8", "wide")).packet(0)


@pytest.mark.parametrize(
    ("era", "layout", "base"),
    [
        ("v0.7", "narrow", 24),
        ("v0.8", "narrow", 32),
        ("v0.21", "narrow", 32),
        ("v0.8", "wide", 36),
        ("v0.21", "wide", 36),
    ],
)
@pytest.mark.parametrize("ndim", [0, 1, 4])
def test_tensor_size_matches_the_specification(era: Any, layout: str, base: int, ndim: int) -> None:
    tensor = TensorMeta(0x7F00, Device(1, 0), FLOAT32, (2,) * ndim, 0)
    packet = encode_packet(grammar(era, layout), "CallFunc", [("tensor", tensor)])
    assert len(packet) == 8 + 4 + 8 + 4 + 4 + base + 8 * ndim


def test_tensor_field_offsets_match_the_specification() -> None:
    tensor = TensorMeta(0x1122, Device(2, 3), FLOAT32, (5, 7), 9)
    for layout, shape_at in (("narrow", 24), ("wide", 28)):
        packet = encode_packet(grammar("v0.8", layout), "CallFunc", [("tensor", tensor)])
        meta = packet[28:]
        assert meta[0:8] == (0x1122).to_bytes(8, "little")
        assert meta[8:16] == bytes.fromhex("02000000 03000000")
        assert meta[16:20] == bytes.fromhex("02000000")
        assert meta[20:22] == bytes.fromhex("0220" if layout == "narrow" else "0200")
        assert meta[shape_at : shape_at + 16] == bytes.fromhex("0500000000000000 0700000000000000")
        assert meta[shape_at + 16 :] == (9).to_bytes(8, "little")


def test_copy_packet_length_counts_tensor_size_and_bytes() -> None:
    own = grammar("v0.8")
    tensor = TensorMeta(1, Device(1, 0), FLOAT32, (6,), 0)
    packet = encode_packet(own, "CopyToRemote", copied=tensor, payload=bytes(24))
    assert int.from_bytes(packet[:8], "little") == 4 + (32 + 8) + 8 + 24
    ask = encode_packet(own, "CopyFromRemote", copied=tensor, payload=bytes(24))
    assert int.from_bytes(ask[:8], "little") == 4 + (32 + 8) + 8
    old = grammar("v0.7")
    wanted = CopyRange(1, 0, 24, Device(1, 0), FLOAT32)
    packet = encode_packet(old, "CopyToRemote", copied=wanted, payload=bytes(24))
    assert int.from_bytes(packet[:8], "little") == 4 + 24 + 8 + 4 + 24


@pytest.mark.parametrize("era", ERAS)
def test_every_code_has_the_number_of_its_era(era: Any) -> None:
    told = {
        "v0.5": {"CallFunc": 1, "Return": 2, "Shutdown": 4, "CopyAck": 7, "NDArrayFree": 23},
        "v0.7": {"CallFunc": 3, "Return": 4, "Shutdown": 1, "CopyAck": 8, "CopyAmongRemote": 16},
    }.get(era, {"CallFunc": 3, "Return": 4, "DevAllocDataWithScope": 17, "DevSetStream": 20})
    own = grammar(era)
    for name, code in told.items():
        packet = encode_packet(own, name)
        assert packet[8 * own.prefixed :][:4] == code.to_bytes(4, "little"), name


@given(st.sampled_from(GRAMMARS), st.data())
def test_packets_with_arguments_round_trip(own: Grammar, data: st.DataObject) -> None:
    given_arguments = data.draw(st.lists(arguments(own), max_size=6))
    names = [name for name in own.codes.values() if not name.startswith("Copy")]
    name = data.draw(st.sampled_from([*names, "CopyAmongRemote"]))
    if name == "Shutdown":
        given_arguments = []
    function = data.draw(st.integers(0, 2**64 - 1))
    packet = encode_packet(own, name, given_arguments, function=function, protocol="0.8.0")
    found, body = read_packet(packet, own)
    assert found == name
    assert body.function == (function if name == "CallFunc" else None)
    assert body.protocol == ("0.8.0" if name == "InitServer" else "")
    if name == "Shutdown":
        assert body.arguments is None
        return
    assert len(body.arguments) == len(given_arguments)
    for was, now in zip(given_arguments, body.arguments, strict=True):
        assert now.kind == was.kind
        assert repr(now.value) == repr(was.value)


@given(st.sampled_from(GRAMMARS), st.data())
def test_copy_packets_round_trip(own: Grammar, data: st.DataObject) -> None:
    what = data.draw(copied(own))
    payload = data.draw(st.binary(max_size=64))
    for name in ("CopyToRemote", "CopyFromRemote"):
        packet = encode_packet(own, name, copied=what, payload=payload)
        found, body = read_packet(packet, own)
        assert found == name
        assert body.nbytes == len(payload)
        expected = what._replace(size=len(payload)) if isinstance(what, CopyRange) else what
        assert body.copied == expected
        if name == "CopyToRemote":
            at = body.payload.offset
            assert packet[at : at + body.payload.size] == payload
        else:
            assert body.payload is None
    packet = encode_packet(own, "CopyAck", payload=payload)
    found, body = read_packet(packet, own, copied=None if own.prefixed else len(payload))
    assert found == "CopyAck"
    assert packet[body.payload.offset :] == payload
