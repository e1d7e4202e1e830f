"""Bytes made to keep the reader busy: what it may do is bounded, counted in values and bytes."""

import contextlib
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest
from formats.rpc.rpc_cases import conversation

from tests.counted_source import CountedSource
from tvmdbg_widgets.formats.rpc import detect as fits
from tvmdbg_widgets.formats.rpc import streams
from tvmdbg_widgets.formats.rpc.connection import FilledSource, RpcStream, read_connection
from tvmdbg_widgets.formats.rpc.detect import Side, detect, rare_packets
from tvmdbg_widgets.formats.rpc.grammar import ERAS, Grammar, grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet
from tvmdbg_widgets.formats.rpc.packets import Reader, WireError, read_sequence
from tvmdbg_widgets.formats.rpc.resync import PacketReader, Resync
from tvmdbg_widgets.formats.rpc.streams import read_stream
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE
from tvmdbg_widgets.sources.byte_source import BytesSource, ReadAhead
from tvmdbg_widgets.sources.given import as_source

pytestmark = pytest.mark.spec_only

#: What reading may do for each byte of the stream, and for any stream at all.
VALUES_A_BYTE, VALUES_ALWAYS = 0.4, 20_000
READ_A_BYTE, READ_ALWAYS = 15, 100_000


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> list[PacketReader]:
    """The readers that were made, which count the values they read."""
    made: list[PacketReader] = []

    def make(*given: Any) -> PacketReader:
        made.append(PacketReader(*given))
        return made[-1]

    monkeypatch.setattr(streams, "PacketReader", make)
    return made


def into_one(own: Grammar) -> bytes:
    """Many short packets that each end where one long packet lies, whose last value is none."""
    values, many = 2000, 1000
    code = struct.pack("<i", next(code for code, name in own.codes.items() if name == "Return"))
    null, unknown = struct.pack("<i", 0 if own.interleaved else 4), struct.pack("<i", 99)
    long = code + struct.pack("<i", values + 1) + null * values + unknown
    text = 8 if own.interleaved else 11
    size = (8 if own.prefixed else 0) + 20
    heads = []
    for number in range(many):
        left = size * (many - 1 - number)
        head = code + struct.pack("<iiQ", 1, text, left)
        heads.append(_with_length(own, head, left) + head)
    return b"\xff" * 13 + b"".join(heads) + _with_length(own, long) + long


def nested(own: Grammar) -> bytes:
    """Many packets whose text ends where the values of all of them lie."""
    values, many = 2000, 1000
    code = struct.pack("<i", next(code for code, name in own.codes.items() if name == "Return"))
    null = struct.pack("<i", 0 if own.interleaved else 4)
    text = 8 if own.interleaved else 11
    tail = null * values + struct.pack("<i", 99)
    size = (8 if own.prefixed else 0) + 20
    heads = []
    for number in range(many):
        left = size * (many - 1 - number)
        head = code + struct.pack("<iiQ", values + 2, text, left)
        heads.append(_with_length(own, head, left + len(tail)) + head)
    return b"\xff" * 13 + b"".join(heads) + tail


def _with_length(own: Grammar, packet: bytes, more: int = 0) -> bytes:
    return struct.pack("<Q", len(packet) + more) if own.prefixed else b""


def many_codes(own: Grammar) -> bytes:
    """Places that each name 20,000 arguments."""
    if own.prefixed:
        return struct.pack("<Qii", 90_000, 4, 20_000) * 12_500
    return struct.pack("<ii", 2, 20_000) * 25_000


def small_numbers(own: Grammar) -> bytes:
    numbers = random.Random(1)
    return bytes(numbers.choice((0, 0, 0, 0, 0, 1, 2, 3, 4, 8, 12)) for _ in range(200_000))


def often_wrong(own: Grammar) -> bytes:
    numbers = random.Random(1)
    stream = bytearray(conversation(own, kept=False)[0] * 200)
    for _ in range(len(stream) // 200):
        stream[numbers.randrange(len(stream))] = numbers.randrange(256)
    return bytes(stream)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("make", [into_one, nested, many_codes, small_numbers, often_wrong])
def test_work_is_bounded_by_the_size_of_the_stream(
    era: Any, make: Callable[[Grammar], bytes], readers: list[PacketReader]
) -> None:
    own = grammar(era)
    data = make(own)
    source = CountedSource(data)
    found = read_stream(source, own)
    assert sum(each.values for each in readers) < VALUES_ALWAYS + VALUES_A_BYTE * len(data)
    assert source.taken < READ_ALWAYS + READ_A_BYTE * len(data)
    covered = sum(found.sizes.tolist()) + sum(each.size for each in found.damages)
    assert covered <= len(data)


def test_grammar_detection_shares_one_work_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte in which nothing fits: all grammars together try as many places as one may."""
    tried = 0

    class Tried(PacketReader):
        def packet(self, at: int, replies: int = 0) -> Any:
            nonlocal tried
            tried += 1
            return super().packet(at, replies)

    monkeypatch.setattr(fits, "PacketReader", Tried)
    data = small_numbers(grammar("v0.8")) * 5
    detect([Side("client", as_source(data))], ERAS, [NARROW, WIDE])
    assert tried < 40_000


def test_abandoned_packet_search_is_reported() -> None:
    """A million places, none of them a packet: the damage tells that the rest was not searched."""
    own = grammar("v0.8")
    data = struct.pack("<Qi", 400, 4) * 20_000
    found = read_stream(as_source(data), own)
    assert not len(found)
    assert "the rest was not searched" in found.damages[0].reason
    quiet = read_stream(as_source(b"\xff" * 5000), own)
    assert "searched" not in quiet.damages[0].reason


def test_unknown_code_among_a_thousand_arguments_is_named() -> None:
    """Type codes come in blocks: the offset is that of the code, whichever block it lies in."""
    for era in ("v0.5", "v0.8"):
        own = grammar(era)
        many = [("int", number) for number in range(1000)]
        packet = encode_packet(own, "CallFunc", many, function=1)
        body = PacketReader(as_source(packet), own).packet(0).body
        assert [each.value for each in body.arguments] == list(range(1000))
        at = body.arguments[600].code_offset
        broken = packet[:at] + struct.pack("<i", 99) + packet[at + 4 :]
        reason = read_stream(as_source(broken), own).damages[0].reason
        assert f"argument 600: type code at byte {at}" in reason


def test_v05_answers_around_a_copy_are_recovered_after_damage() -> None:
    """v0.5 tells the size of a CopyAck by its request: the answers before it must be counted."""
    own = grammar("v0.5")
    void = encode_packet(own, "Return", [("null", None)])
    ack = encode_packet(own, "CopyAck", payload=bytes(range(1, 25)))
    stream = void + b"\xff" * 7 + void + ack + void * 3
    found = read_stream(as_source(stream), own, asked=[0, 0, 24, 0, 0, 0])
    names = [own.codes[code] for code in found.codes.tolist()]
    assert names == ["Return", "Return", "CopyAck", "Return", "Return", "Return"]
    assert [(each.offset, each.size) for each in found.damages] == [(len(void), 7)]


@pytest.mark.parametrize("missing", [False, True])
def test_rare_packet_search_stops_in_empty_regions(missing: bool) -> None:
    """Half a gigabyte that was not captured took half a minute, a zero length at a time."""
    packet = encode_packet(grammar("v0.8"), "Return", [("null", None)])
    source = CountedSource(packet * 2 + bytes(1 << 20), "a capture")
    captured = FilledSource(source, [(2 * len(packet), 1 << 20)] if missing else [])
    assert rare_packets(captured, 0, most=8) == [0, len(packet)]
    assert source.taken < READ_ALWAYS


@pytest.mark.parametrize("own", [grammar("v0.8"), grammar("v0.5")])
@pytest.mark.parametrize("gaps", [1, 300])
def test_missing_bytes_are_not_searched(
    monkeypatch: pytest.MonkeyPatch, own: Grammar, gaps: int
) -> None:
    """One flipped bit of a sequence number says that 2 GB are missing: they cost nothing."""
    zeros = 0
    fill = FilledSource._fill

    def counted(self: FilledSource, offset: int, view: memoryview) -> None:
        nonlocal zeros
        zeros += len(view)
        fill(self, offset, view)

    monkeypatch.setattr(FilledSource, "_fill", counted)
    packet = encode_packet(own, "Return", [("null", None)])
    piece, gap = packet * 2, (2 << 30) // gaps
    starts = [len(packet) + number * (len(piece) + gap) for number in range(gaps)]
    source = Spread(piece, len(packet), gap, gaps)
    stream = RpcStream("client", source, tuple((at, gap) for at in starts))
    found = read_connection([stream], title="", layouts=[NARROW])
    whole = len(found.directions[0].packets)
    assert whole >= (2 * gaps if own.prefixed else 1)
    assert zeros < (gaps + 10) * (1 << 14)


def test_missing_bytes_are_not_read_as_arguments() -> None:
    """A gap of a megabyte was read as a quarter of a million arguments of the value 0."""
    count = 250_000
    whole = BytesSource(struct.pack("<i", count) + bytes(3 << 20), "a capture")
    captured = FilledSource(whole, [(4, 3 << 20)])
    for source, enough in ((whole, True), (captured, False)):
        reader = Reader(ReadAhead(source), 0, source.size)
        with contextlib.nullcontext() if enough else pytest.raises(WireError, match="arguments"):
            assert len(read_sequence(reader, grammar("v0.8"))) == count
        assert reader.values == (2 * count if enough else 0)


class Spread(BytesSource):
    """A packet, then others far from each other."""

    def __init__(self, piece: bytes, first: int, gap: int, count: int) -> None:
        super().__init__(piece, "a capture")
        self._first, self._every = first, len(piece) + gap
        self._own = len(piece)
        self.size = first + count * self._every

    def _fill(self, offset: int, view: memoryview) -> None:
        for at in range(len(view)):
            place = offset + at
            within = place if place < self._first else (place - self._first) % self._every
            within -= 0 if place < self._first else self._every - self._own
            assert within >= 0, "a byte that was not captured"
            view[at] = self._view[within]


def test_bounded_search_stops_at_its_end() -> None:
    """Each grammar that is tried looks through the start of a stream, not through all of it."""
    source = CountedSource(b"\7" * (1 << 20), "a capture")
    reader = PacketReader(source, grammar("v0.8"))
    assert Resync(reader).next_packet(1, stop=1000) is None
    assert source.taken < 2000
