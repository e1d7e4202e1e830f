"""TCP streams put together again: any cut, order, repetition and loss."""

import random
import time
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from formats.capture_files import (
    ACK,
    FIN,
    RAW,
    RST,
    SYN,
    Tcp,
    conversation,
    frame,
    interface,
    pcap,
    pcapng,
    section,
    time_at,
)
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.formats.rpc.capture import TcpConnection, read_capture
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource

DATA = bytes(range(256)) * 2
FIRSTS = st.sampled_from([0, 1000, 2**31 - 100, 2**32 - 200, 2**32 - 1])
RANGES = st.lists(st.tuples(st.integers(0, 511), st.integers(1, 200)), max_size=12)


def connection_of(segments: list[Tcp]) -> TcpConnection:
    data = pcap((frame(each.ip(), RAW) for each in segments), RAW, times=range(len(segments)))
    (connection,) = read_capture(BytesSource(data)).connections
    return connection


def piece(first: int, start: int, stop: int) -> Tcp:
    return Tcp(DATA[start:stop], first + 1 + start)


def rules(connection: TcpConnection) -> set[str]:
    return {issue.rule for issue in connection.issues}


@given(FIRSTS, st.sets(st.integers(1, 511)), RANGES, st.randoms(use_true_random=False))
def test_cuts_order_and_repetition_do_not_change_the_bytes(
    first: int, cuts: set[int], again: list[tuple[int, int]], chance: random.Random
) -> None:
    parts = [piece(first, *each) for each in pairwise([0, *sorted(cuts), 512])]
    parts += [piece(first, start, min(512, start + length)) for start, length in again]
    chance.shuffle(parts)
    sent = connection_of([Tcp(sequence=first, flags=SYN), *parts])
    direction = sent.to_server
    assert direction.read(0, direction.size) == DATA
    assert direction.gaps == ()
    assert "differing-copies" not in rules(sent)
    # Times count segments: SYN is 0.
    for at in range(0, 512, 37):
        covers = [
            i + 1
            for i, each in enumerate(parts)
            if (each.sequence - first - 1) <= at < each.sequence - first - 1 + len(each.payload)
        ]
        assert time_at(direction, at) == covers[0]


@given(FIRSTS, RANGES.filter(bool), st.booleans())
def test_lost_bytes_are_exactly_the_gaps(
    first: int, kept: list[tuple[int, int]], ends: bool
) -> None:
    there = bytearray(512)
    parts = []
    for start, length in kept:
        stop = min(512, start + length)
        there[start:stop] = b"\1" * (stop - start)
        parts.append(piece(first, start, stop))
    segments = [Tcp(sequence=first, flags=SYN), *parts]
    if ends:
        segments.append(Tcp(sequence=first + 1 + 512, flags=FIN | ACK))
    connection = connection_of(segments)
    direction = connection.to_server
    size = 512 if ends else there.rindex(1) + 1
    assert direction.size == size
    missing = {at for start, length in direction.gaps for at in range(start, start + length)}
    assert missing == {at for at in range(size) if not there[at]}
    assert ("missing-bytes" in rules(connection)) == bool(missing)
    for at in range(size):
        if at in missing:
            assert time_at(direction, at) is None
            with pytest.raises(FormatError, match="not captured"):
                direction.read(at, 1)
        else:
            assert direction.read(at, 1) == DATA[at : at + 1]


@given(FIRSTS, st.permutations(range(4)))
def test_without_syn_the_stream_starts_at_the_lowest_number(first: int, order: list[int]) -> None:
    parts = [piece(first, 100 + 50 * i, 150 + 50 * i) for i in order]
    direction = connection_of(parts).to_server
    assert direction.read(0, direction.size) == DATA[100:300]


def test_stream_longer_than_the_sequence_numbers_is_read() -> None:
    step = 1 << 30
    parts = [Tcp(b"%d" % i, 1 + i * step) for i in range(9)]
    direction = connection_of([Tcp(flags=SYN), *parts]).to_server
    assert direction.size == 8 * step + 1
    assert [direction.read(i * step, 1) for i in range(9)] == [b"%d" % i for i in range(9)]
    assert direction.gaps == tuple((i * step + 1, step - 1) for i in range(8))


def test_first_of_differing_segment_copies_is_used_and_reported() -> None:
    connection = connection_of(
        [Tcp(flags=SYN), Tcp(b"abcdef", 1), Tcp(b"cdXfgh", 3), Tcp(b"abc", 1)]
    )
    assert connection.to_server.read(0, 8) == b"abcdefgh"
    (issue,) = connection.issues.by_rule("differing-copies")
    assert "1 segment, first byte 4" in issue.message
    (note,) = connection.issues.by_rule("repeated-bytes")
    assert "2 segments: 7 bytes" in note.message


def test_keep_alives_are_not_data() -> None:
    connection = connection_of(
        [Tcp(flags=SYN), Tcp(b"abc", 1), Tcp(b"\0", 3), Tcp(b"", 3), Tcp(b"de", 4)]
    )
    assert connection.to_server.read(0, 5) == b"abcde"
    assert rules(connection) == {"repeated-bytes"}


def test_bytes_before_the_start_are_left_out() -> None:
    connection = connection_of([Tcp(sequence=10, flags=SYN), Tcp(b"??abc", 9)])
    assert connection.to_server.read(0, 3) == b"abc"
    assert rules(connection) == {"bytes-before-start"}


def test_data_of_syn_and_fin_is_kept_and_of_rst_ignored() -> None:
    connection = connection_of(
        [Tcp(b"early", 0, SYN), Tcp(b"late", 6, FIN | ACK), Tcp(b"no thanks", 10, RST)]
    )
    direction = connection.to_server
    assert direction.read(0, direction.size) == b"earlylate"


def test_a_lost_end_is_a_gap_up_to_fin() -> None:
    kept = [each for each in conversation([b"one", b"two"], [b"all"]) if each.payload != b"two"]
    connection = connection_of([each for each in kept if each.payload != b"all"])
    assert connection.to_server.gaps == ((3, 3),)
    assert connection.to_client.gaps == ((0, 3),)
    assert connection.to_client.size == 3


def test_reads_across_many_extents_of_a_file(tmp_path: Path) -> None:
    chance = random.Random(3)
    sent, answered = chance.randbytes(3_000_000), chance.randbytes(700_000)
    parts = [
        [data[at : at + 1448] for at in range(0, len(data), 1448)] for data in (sent, answered)
    ]
    segments = conversation(*parts)
    body = segments[3:]
    for i in range(0, len(body) - 3, 3):  # three of a kind, backwards
        body[i : i + 3] = body[i : i + 3][::-1]
    path = tmp_path / "long.pcapng"
    path.write_bytes(pcapng(frame(each.ip()) for each in segments[:3] + body))
    (connection,) = read_capture(FileSource(path)).connections
    for direction, data in ((connection.to_server, sent), (connection.to_client, answered)):
        assert direction.read(0, direction.size) == data
        for _ in range(50):
            start = chance.randrange(len(data))
            length = chance.randrange(len(data) - start + 1)
            assert direction.read(start, length) == data[start : start + length]
    with pytest.raises(FormatError):
        connection.to_server.read(0, connection.to_server.size + 1)


def test_changed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "live.pcap"
    path.write_bytes(pcap(frame(each.ip()) for each in conversation([b"abc"])))
    (connection,) = read_capture(FileSource(path)).connections
    path.write_bytes(b"")
    with pytest.raises(FormatError, match="changed"):
        connection.to_server.read(0, 3)


def small(payload: bytes, at: int, flags: int = ACK, port: int = 40000) -> bytes:
    return frame(Tcp(payload, at, flags, ("127.0.0.1", port)).ip(), RAW)


def hostile() -> dict[str, bytes]:
    """Captures of about 1 MB each that make slow readers slow."""
    chance = random.Random(1)
    count = 1_000_000 // 57
    apart = [small(b"x", i) for i in range(250)]
    spread = [each for one in apart for each in (one, small(bytes(3000), 0, port=2))]
    return {
        "noise": pcap([], RAW) + chance.randbytes(1_000_000),
        "noise in blocks": section() + interface() + chance.randbytes(1_000_000),
        "zeros": pcap([], RAW) + bytes(1_000_000),
        "interfaces": (section() + interface(resolution=127)) * 13_000,
        "backwards": pcap([small(b"x", count - i) for i in range(count)], RAW),
        "gaps": pcap([small(b"x", 2 * i) for i in range(count)], RAW),
        "overlaps": pcap([small(b"xyz", chance.randrange(count)) for i in range(count)], RAW),
        "copies of many": pcap(apart + [small(bytes(250), 0) for _ in range(3000)], RAW),
        "copies of what is far apart": pcap(spread + [small(bytes(250), 0)] * 800, RAW),
        "beginnings": pcap([small(b"x", 7 * i, SYN) for i in range(count)], RAW),
        "jumps": pcap(
            [small(b"x", chance.randrange(2**32), chance.randrange(32)) for _ in range(count)], RAW
        ),
    }


@pytest.mark.slow
def test_hostile_captures_take_under_a_second_per_megabyte(tmp_path: Path) -> None:
    for name, data in hostile().items():
        path = tmp_path / "hostile.pcap"
        path.write_bytes(data)
        begin = time.process_time()
        read_capture(FileSource(path))
        assert time.process_time() - begin < len(data) / 1e6, name


def test_connection_with_equal_endpoints_is_read() -> None:
    same = ("127.0.0.1", 5000)
    connection = connection_of(
        [
            replace(Tcp(source=same, destination=same), payload=b"abc", sequence=1),
            replace(Tcp(source=same, destination=same), payload=b"def", sequence=4),
        ]
    )
    assert connection.to_server.read(0, 6) == b"abcdef"


def test_uncaptured_range_takes_no_memory() -> None:
    """Two segments whose numbers lie 2 GB apart: what is between them is refused, not made."""
    connection = connection_of([Tcp(b"a", 1000), Tcp(b"b", 1000 + 2**31 - 2)])
    source = connection.to_server
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="were not captured"):
            source.read(0, source.size)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
