"""Whole directions: told apart, read through damage, cut anywhere."""

import random
from typing import Any

import pytest
from formats.rpc.rpc_cases import GRAMMARS, VALUES, conversation
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.formats.rpc.connection import read_handshake
from tvmdbg_widgets.formats.rpc.desync import find_desync
from tvmdbg_widgets.formats.rpc.detect import Side, detect
from tvmdbg_widgets.formats.rpc.grammar import ERAS, Grammar, grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet
from tvmdbg_widgets.formats.rpc.streams import read_stream
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.rpc_packets import PacketState, StreamPackets
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.given import as_source

pytestmark = pytest.mark.spec_only

FLOAT32 = DataType(2, 32)


def sides(client: bytes, server: bytes) -> list[Side]:
    found = []
    for name, data in (("client", client), ("server", server)):
        source = as_source(data)
        said = read_handshake(source)
        found.append(Side(name, source, said.size if said else 0))
    return found


def names_of(packets: StreamPackets, own: Grammar) -> list[str]:
    return [own.codes[code] for code in packets.codes.tolist()]


def asked_of(own: Grammar) -> list[int] | None:
    """What the requests of `conversation` copy, where packets have no length."""
    return None if own.prefixed else [0, 0, 0, 0, len(VALUES), 0]


@pytest.mark.parametrize("own", GRAMMARS, ids=str)
def test_both_directions_are_read_whole(own: Grammar) -> None:
    client, server = sides(*conversation(own))
    packets = read_stream(client.source, own, start=client.start)
    assert not packets.damages
    expected = ["GetGlobalFunc", "DevAllocData", "CopyToRemote"]
    expected += ["CallFunc", "CallFunc"] if own.prefixed else ["CallFunc"]
    expected += ["CopyFromRemote", "CallFunc", "Shutdown"]
    if own.prefixed:
        expected = ["InitServer", *expected]
        assert packets.protocol == ("0.7.0" if own.era == "v0.7" else "0.8.0")
    assert names_of(packets, own) == expected
    assert packets.payloads.sum() == len(VALUES)
    assert list(packets.names.values()) == ["my.add"]
    ends = packets.offsets + packets.sizes
    assert ends[-1] == client.source.size
    assert (ends[:-1] == packets.offsets[1:]).all()
    answers = read_stream(server.source, own, start=server.start, asked=asked_of(own))
    assert not answers.damages
    assert names_of(answers, own)[-2:] == ["CopyAck", "Exception"]
    assert answers.payloads.sum() == len(VALUES)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("client_layout", ["narrow", "wide", "code:u8 bits:u8 lanes:u32"])
@pytest.mark.parametrize("padding", [None, 4])
def test_era_and_layout_are_detected(era: Any, client_layout: str, padding: int | None) -> None:
    own = grammar(era, client_layout, padding)
    layouts = [NARROW, WIDE, DTypeLayout("code:u8 bits:u8 lanes:u32")]
    client, _ = sides(*conversation(own))
    found = detect([client], ERAS, layouts)
    assert found.eras == (era,)
    assert found.sides[0].grammar == own, found.reasons
    assert not found.sides[0].alike


def test_client_and_server_layouts_may_differ() -> None:
    wide, narrow = grammar("v0.8", "wide"), grammar("v0.8", "narrow")
    client, _ = conversation(wide)
    calls_back = encode_packet(narrow, "CallFunc", [("dtype", FLOAT32), ("int", 1)], function=9)
    found = detect(sides(client, conversation(narrow)[1] + calls_back), ERAS, [NARROW, WIDE])
    assert [each.grammar for each in found.sides] == [wide, narrow]


def test_ambiguous_layouts_and_eras_are_reported() -> None:
    own = grammar("v0.8")
    client = encode_packet(own, "GetGlobalFunc", [("str", "f")])
    client += encode_packet(own, "CallFunc", [("str", "one argument has one layout")], function=1)
    found = detect(sides(client, b""), ["v0.8", "v0.21"], [NARROW, WIDE])
    assert "narrow or wide" in found.reasons[-2]
    assert len(found.sides[0].alike) >= 1
    assert found.eras == ("v0.8",)
    client = encode_packet(own, "CallFunc", [("tensor", None)][:0], function=1)
    found = detect(sides(client, b""), ERAS[1:], [NARROW])
    assert set(found.eras) == {"v0.7", "v0.8", "v0.21"}
    assert "nothing captured tells them apart" in found.reasons[0]


def test_era_is_detected_behind_many_ambiguous_packets() -> None:
    own = grammar("v0.8")
    alike = encode_packet(own, "CallFunc", [("dtype", FLOAT32)], function=1) * 1000
    found = detect(sides(alike, b""), ERAS[1:], [NARROW])
    assert {"v0.8", "v0.21"} <= set(found.eras)
    client, _ = sides(*conversation(own))
    telling = client.source.read(client.start, client.source.size - client.start)
    for stream in (alike + telling, alike + telling + alike):
        found = detect(sides(stream, b""), ERAS[1:], [NARROW])
        assert found.eras == ("v0.8",)
        assert "packets of TVM v0.8" in found.reasons[0]
        assert any(reason.startswith("not v0.21") for reason in found.reasons)


@pytest.mark.parametrize("era", ["v0.7", "v0.8", "v0.21"])
@given(data=st.data())
def test_undamaged_packets_are_kept(era: Any, data: st.DataObject) -> None:
    own = grammar(era)
    stream = conversation(own, kept=False)[0] * 3
    whole = read_stream(as_source(stream), own)
    at = data.draw(st.integers(0, len(stream) - 1))
    junk = data.draw(st.binary(min_size=1, max_size=12))
    broken = stream[:at] + junk + stream[at + len(junk) :]
    found = read_stream(as_source(broken), own)
    kept = set(zip(found.offsets.tolist(), found.sizes.tolist(), strict=True))
    touched = range(at, at + len(junk))
    ends = [end for start, size in _places(whole) for end in [start + size] if start <= at < end]
    behind = max(ends, default=at) + len(junk)
    for start, size in _places(whole):
        if start + size <= touched.start or start >= behind + 600:
            assert (start, size) in kept
    covered = sum(size for _, size in kept) + sum(damage.size for damage in found.damages)
    assert covered <= len(broken)


@pytest.mark.parametrize("side", [0, 1], ids=["client", "server"])
@pytest.mark.parametrize("era", ERAS[1:])
def test_intact_packets_between_damaged_ones_are_found(era: Any, side: int) -> None:
    """Every other packet has one wrong byte, once for each byte of the longest of them."""
    own = grammar(era)
    stream = conversation(own, kept=False)[side] * 2
    whole = _places(read_stream(as_source(stream), own))
    bad, good = whole[1::2], whole[::2]
    lost = invented = 0
    for step in range(max(size for _, size in bad)):
        broken = bytearray(stream)
        for start, size in bad:
            broken[start + step % size] ^= 0xA5
        found = set(_places(read_stream(as_source(bytes(broken)), own)))
        lost += len(set(good) - found)
        invented += len(found - set(whole))
    assert (lost, invented) == (0, 0)


@pytest.mark.parametrize("era", ERAS[1:])
def test_random_damage_loses_almost_no_intact_packet(era: Any) -> None:
    own = grammar(era)
    numbers = random.Random(7)
    for side in (0, 1):
        stream = conversation(own, kept=False)[side] * 30
        whole = _places(read_stream(as_source(stream), own))
        untouched = lost = 0
        for count in (1, 2, 5, 10, 30) * 10:
            broken = bytearray(stream)
            places = {numbers.randrange(len(stream)) for _ in range(count)}
            for at in places:
                broken[at] ^= numbers.randrange(1, 256)
            found = set(_places(read_stream(as_source(bytes(broken)), own)))
            clean = {
                (start, size)
                for start, size in whole
                if not any(start <= at < start + size for at in places)
            }
            untouched += len(clean)
            lost += len(clean - found)
        assert lost <= untouched / 1000


def _places(packets: StreamPackets) -> list[tuple[int, int]]:
    return list(zip(packets.offsets.tolist(), packets.sizes.tolist(), strict=True))


@pytest.mark.parametrize("own", [grammar(era) for era in ERAS], ids=str)
def test_truncated_stream_keeps_the_packets_before_the_cut(own: Grammar) -> None:
    stream = conversation(own, kept=False)[0]
    whole = _places(read_stream(as_source(stream), own))
    for end in range(len(stream)):
        found = read_stream(as_source(stream[:end]), own)
        before = [place for place in whole if sum(place) <= end]
        assert _places(found)[: len(before)] == before
        assert not found.damages
        rest = _places(found)[len(before) :]
        if end in {0, *map(sum, whole)}:
            assert not rest
        else:
            assert rest == [
                (max(map(sum, before), default=0), end - sum(size for _, size in before))
            ]
            assert found.states[-1] == PacketState.CUT_OFF


def test_uncaptured_bytes_are_damage_of_known_length() -> None:
    own = grammar("v0.8")
    stream = conversation(own, kept=False)[0]
    whole = _places(read_stream(as_source(stream), own))
    start, size = whole[2]
    found = read_stream(as_source(stream), own, gaps=((start + 10, 5),))
    assert found.damages[0].offset == start
    assert found.damages[0].size == size
    assert [place for place in whole if place[0] != start] == _places(found)
    copy = next(
        index for index, code in enumerate(found.codes) if own.codes[code] == "CopyToRemote"
    )
    at, length = _places(found)[copy]
    found = read_stream(as_source(stream), own, gaps=((at + length - 10, 4),))
    assert not found.damages
    assert found.states.tolist()[whole.index((at, length))] == PacketState.MISSING_BYTES


@given(st.sampled_from(GRAMMARS), st.binary(max_size=4000))
def test_any_bytes_are_packets_or_damage(own: Grammar, data: bytes) -> None:
    found = read_stream(as_source(data), own)
    assert sum(found.sizes.tolist()) + sum(each.size for each in found.damages) <= len(data)


@pytest.mark.parametrize(
    ("sender", "receiver", "too_many"),
    [
        (grammar("v0.8", "wide"), grammar("v0.8"), 0),
        (grammar("v0.8"), grammar("v0.8", "wide"), 0),
        (grammar("v0.8", "wide"), grammar("v0.8", "wide", 4), 4),
        (grammar("v0.8", "wide", 4), grammar("v0.8", "wide"), -4),
        (grammar("v0.21", "wide"), grammar("v0.21", "wide", 4), 4),
        (grammar("v0.7", "wide"), grammar("v0.7", "wide", 4), 4),
        (grammar("v0.5", "wide"), grammar("v0.5", "wide", 4), 4),
    ],
    ids=str,
)
def test_dtype_argument_desync_matches_the_specification(
    sender: Grammar, receiver: Grammar, too_many: int
) -> None:
    """§4.4: narrow and wide take 8 bytes, so the value is wrong; kept padding reads 4 too many."""
    call = encode_packet(sender, "CallFunc", [("dtype", FLOAT32)], function=1)
    stream = encode_packet(sender, "CallFunc", [("int", 5)], function=1) + call * 2
    packets = read_stream(as_source(stream), sender)
    found = find_desync(as_source(stream), packets, sender, receiver)
    first = len(stream) - 2 * len(call)
    assert (found.packet, found.name) == (1, "CallFunc")
    assert found.offset == first + len(call) - sender.dtype.size - sender.padding
    assert found.too_many == too_many
    assert found.next_offset == first + len(call) + too_many
    if too_many == 0:
        assert "goes on with a wrong value" in found.text
        read = "code 2, bits 0, lanes 32" if sender.dtype == WIDE else "code 8194, bits 1, lanes 0"
        assert read in found.read
    else:
        size = 8 if sender.prefixed else 4
        where = first + len(call) + too_many
        assert found.next_found == int.from_bytes(stream[where : where + size], "little")
        assert f"reads 4 bytes {'too many' if too_many > 0 else 'too few'}" in found.text


@pytest.mark.parametrize(("era", "at"), [("v0.7", 28), ("v0.8", 28), ("v0.21", 28), ("v0.5", 20)])
@pytest.mark.parametrize("layouts", [("wide", "narrow"), ("narrow", "wide")])
def test_tensor_dtype_layout_shifts_the_bytes_after_it(
    era: Any, at: int, layouts: tuple[str, str]
) -> None:
    sender, receiver = grammar(era, layouts[0]), grammar(era, layouts[1])
    stream, _ = conversation(sender, kept=False)
    packets = read_stream(as_source(stream), sender)
    found = find_desync(as_source(stream), packets, sender, receiver)
    # DevAllocData has a data type of 8 bytes in both: a wrong value, before any tensor.
    assert found.name == "DevAllocData"
    tensor = conversation_tensor(sender)
    packets = read_stream(as_source(tensor), sender)
    found = find_desync(as_source(tensor), packets, sender, receiver)
    assert found.offset == at + 20
    assert found.too_many == receiver.dtype.size - sender.dtype.size


def conversation_tensor(own: Grammar) -> bytes:
    from formats.rpc.rpc_cases import TENSOR

    tensor = TENSOR._replace(byte_offset=0 if own.sends_offsets else None)
    return encode_packet(own, "CallFunc", [("tensor", tensor)], function=1) * 2


def test_equal_layouts_do_not_desynchronise() -> None:
    own = grammar("v0.8", "wide")
    stream, _ = conversation(own, kept=False)
    packets = read_stream(as_source(stream), own)
    assert find_desync(as_source(stream), packets, own, own) is None
    kept = grammar("v0.8", "wide", 4)
    without = encode_packet(own, "CallFunc", [("int", 5)], function=1)
    packets = read_stream(as_source(without), own)
    assert find_desync(as_source(without), packets, own, kept) is None
