"""Capture files: containers, link types, what is left out, and damage."""

import io
import struct
import sys
from pathlib import Path
from typing import Any

import dpkt
import pytest
from formats.capture_files import (
    ETHERNET,
    LOOP,
    NULL,
    RAW,
    RST,
    SLL,
    SLL2,
    START,
    SYN,
    Tcp,
    block,
    conversation,
    enhanced_packet,
    frame,
    interface,
    obsolete_packet,
    pcap,
    pcapng,
    section,
    simple_packet,
    time_at,
)

from tvmdbg_widgets.formats.rpc.capture import Capture, read_capture
from tvmdbg_widgets.formats.rpc.conversations import MOST_CONNECTIONS
from tvmdbg_widgets.formats.rpc.frames import sniff
from tvmdbg_widgets.formats.rpc.reassembly import CapturedStream
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource

DATA = Path(__file__).parents[1] / "data" / "capture"
LINKS = (NULL, ETHERNET, RAW, LOOP, SLL, SLL2)
SENT = (b"ask ", b"for it")
ANSWERED = (b"given",)
MS = 1_000_000
IPV4 = Tcp()
IPV6 = Tcp(source=("::1", 40000), destination=("::1", 9090))


def frames(link_type: int = ETHERNET, like: Tcp = IPV4) -> list[bytes]:
    return [frame(each.ip(), link_type) for each in conversation(SENT, ANSWERED, like=like)]


def read(data: bytes) -> Capture:
    return read_capture(BytesSource(data, "test.pcap"))


def stream(direction: CapturedStream) -> bytes:
    return direction.read(0, direction.size)


def only(data: bytes) -> tuple[bytes, bytes]:
    """Both streams of the only connection; nothing was wrong."""
    capture = read(data)
    (connection,) = capture.connections
    assert not capture.issues
    assert not connection.issues
    return stream(connection.to_server), stream(connection.to_client)


def rules(capture: Capture) -> list[str]:
    return [issue.rule for issue in capture.issues]


BOTH = (b"".join(SENT), b"".join(ANSWERED))


@pytest.mark.parametrize("name", ["any_interface.pcap", "loopback.pcapng"])
def test_recorded_conversation_matches_the_bytes_sent(name: str) -> None:
    capture = read_capture(FileSource(DATA / name))
    (connection,) = capture.connections
    assert stream(connection.to_server) == b"".join(b"%05d " % i for i in range(400))
    assert stream(connection.to_client) == b"".join(b"%04x " % i for i in range(900))
    assert not connection.issues.by_rule("client-unknown")
    assert connection.server == ("127.0.0.1", 19099)
    assert capture.packets == 16
    assert not capture.issues
    assert not connection.issues


FIRST_TIME, NEXT_TIME = 1_795_766_859_314_524_127, 1_795_766_859_319_660_183


def test_times_match_tcpdump() -> None:
    # tcpdump -r any_interface.pcap -tt --time-stamp-precision=nano
    (connection,) = read_capture(FileSource(DATA / "any_interface.pcap")).connections
    sent = connection.to_server
    assert [time_at(sent, at) for at in (0, 700, 701)] == [FIRST_TIME, FIRST_TIME, NEXT_TIME]
    assert time_at(sent, sent.size) is None
    assert time_at(sent, -1) is None


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("like", [Tcp(), IPV6, Tcp(options=b"\1" * 12)])
@pytest.mark.parametrize("link_type", LINKS)
def test_every_link_type_in_both_containers(link_type: int, like: Tcp, order: str) -> None:
    listed = frames(link_type, like)
    assert only(pcap(listed, link_type, order=order)) == BOTH
    assert only(pcapng(listed, link_type, order=order)) == BOTH


def test_both_resolutions_of_pcap() -> None:
    for nanoseconds, time in ((True, START + 3 * MS), (False, START // 1000 * 1000 + 3 * MS)):
        for order in "<>":
            data = pcap(frames(), nanoseconds=nanoseconds, order=order)
            assert sniff(data)
            (connection,) = read(data).connections
            assert time_at(connection.to_server, 0) == time


def test_vlan_tags_and_extension_headers_are_skipped() -> None:
    tagged = [frame(each.ip(), vlans=(7, 4000)) for each in conversation(SENT, ANSWERED)]
    assert only(pcap(tagged)) == BOTH
    extended = Tcp(source=("fe80::1", 1), destination=("fe80::2", 2), extension=b"\6\0" + bytes(6))
    assert only(pcap(frames(RAW, extended), RAW)) == BOTH


def test_padding_of_short_ethernet_frames_is_not_payload() -> None:
    assert only(pcap(each.ljust(60, b"P") for each in frames())) == BOTH


def test_zero_ip_length_is_read() -> None:
    assert only(pcap(frames(like=Tcp(total=0)))) == BOTH


def test_captures_written_by_dpkt_are_read() -> None:
    for writer in (dpkt.pcap.Writer, dpkt.pcapng.Writer):
        file = io.BytesIO()
        writer(file).writepkts([(1.5 + i, each) for i, each in enumerate(frames())])
        assert only(file.getvalue()) == BOTH
        (connection,) = read(file.getvalue()).connections
        assert time_at(connection.to_server, 0) == 4_500_000_000


@pytest.mark.spec_only
def test_sections_and_interfaces_have_their_own_resolution() -> None:
    parts = conversation([b"ns", b"us", b"2^-10", b"old", b"now"], like=Tcp())[3:8]
    ns, us, binary, old, now = (frame(each.ip()) for each in parts)
    data = b"".join(
        [
            section(),
            interface(resolution=9),
            interface(resolution=None, comment=b"\xff\xfe is no text"),
            interface(resolution=0x80 | 10, seconds=100),
            block(0xBAD, b"unknown"),
            enhanced_packet(ns, 1_500_000_001),
            enhanced_packet(us, 1_500_002, number=1),
            enhanced_packet(binary, 512, number=2),
            section(">"),
            interface(resolution=0, order=">"),
            obsolete_packet(old, 3, order=">"),
            simple_packet(now, order=">"),
        ]
    )
    capture = read(data)
    (connection,) = capture.connections
    sent = connection.to_server
    assert stream(sent) == b"nsus2^-10oldnow"
    times = [time_at(sent, at) for at in (0, 2, 4, 9, 12)]
    assert times == [1_500_000_001, 1_500_002_000, 100_500_000_000, 3_000_000_000, None]
    assert not capture.issues


@pytest.mark.spec_only
def test_simple_packets_cut_by_the_snapshot_length() -> None:
    listed = conversation([b"0123456789"])
    packets = [simple_packet(frame(each.ip(), RAW), snaplen=44) for each in listed]
    (connection,) = read(section() + interface(RAW, snaplen=44) + b"".join(packets)).connections
    assert connection.to_server.gaps == ((4, 6),)
    assert connection.to_server.size == 10


def test_a_snapshot_length_leaves_gaps() -> None:
    (connection,) = read(pcap(frames(), snaplen=14 + 20 + 20 + 3)).connections
    assert connection.to_server.gaps == ((3, 1), (7, 3))
    assert connection.to_server.size == 10
    assert connection.to_server.read(4, 3) == b"for"
    assert {issue.rule for issue in connection.issues} == {"missing-bytes", "cut-segments"}
    with pytest.raises(FormatError, match="a gap from byte 3 to byte 4"):
        connection.to_server.read(0, 5)


def test_skipped_packets_are_counted_and_named() -> None:
    udp = bytearray(Tcp(b"x").ip())
    udp[9] = 17
    others = [
        b"\2" * 12 + b"\x08\x06" + bytes(28),
        frame(bytes(udp)),
        frame(Tcp(b"x", fragment=0x2000).ip()),
        frame(Tcp(b"x", fragment=0x0001).ip()),
        frame(Tcp(b"x").ip()[:30]),
    ]
    capture = read(pcap(frames() + others))
    assert capture.left_out == {
        "packets that are not IP but ARP": 1,
        "packets that are not TCP but UDP": 1,
        "IP fragments": 2,
        "packets whose headers are cut off": 1,
    }
    (issue,) = capture.issues
    assert "IP fragments (2)" in issue.message
    assert (stream(capture.connections[0].to_server)) == BOTH[0]
    unknown = read(pcap(frames(), 147))
    assert unknown.left_out == {"packets of link type 147, which is not read": len(frames())}
    assert unknown.connections == ()


def test_reused_port_is_another_connection() -> None:
    capture = read(
        pcap(
            frame(each.ip())
            for each in [
                *conversation([b"one"], [b"1"]),
                *conversation([b"two"], [b"2"], first=77, answer_first=88),
            ]
        )
    )
    assert [stream(each.to_server) for each in capture.connections] == [b"one", b"two"]
    assert [stream(each.to_client) for each in capture.connections] == [b"1", b"2"]


def test_connections_without_data_are_not_listed() -> None:
    refused = Tcp(source=("127.0.0.1", 9090), destination=("127.0.0.1", 40001), flags=RST)
    asked = Tcp(source=("127.0.0.1", 40001), flags=SYN)
    capture = read(pcap(frame(each.ip()) for each in (asked, refused)))
    assert capture.connections == ()
    assert capture.packets == 2


def test_client_is_unknown_without_a_handshake() -> None:
    (connection,) = read(pcap(frames()[3:])).connections
    assert connection.client.port == 40000
    assert str(connection.server) == "127.0.0.1:9090"
    assert connection.issues.by_rule("client-unknown")
    (answered,) = read(pcap(frames()[1:])).connections  # SYN and ACK say who was asked
    assert not answered.issues.by_rule("client-unknown")
    assert answered.client.port == 40000


def test_port_scan_does_not_fill_memory() -> None:
    seen = MOST_CONNECTIONS + 5
    scan = [
        frame(Tcp(source=(f"10.0.{i >> 8}.{i & 255}", 7), flags=SYN).ip(), RAW) for i in range(seen)
    ]
    capture = read(pcap(scan, RAW))
    assert list(capture.left_out.values()) == [5]


def test_truncated_capture_keeps_the_bytes_before_the_cut() -> None:
    for data in (pcap(frames()), pcapng(frames())):
        whole = len(data)
        for count in range(12, whole):
            try:
                capture = read(data[:count])
            except FormatError:
                assert count < 24
                continue
            for connection in capture.connections:
                for gap in connection.to_server.gaps:
                    assert sum(gap) <= len(BOTH[0])
                if not connection.to_server.gaps:
                    assert BOTH[0].startswith(stream(connection.to_server))
            assert set(rules(capture)) <= {"truncated-capture", "packets-left-out"}


def test_damaged_record_stops_reading() -> None:
    listed = frames()
    data = bytearray(pcap(listed))
    last = len(data) - len(listed[-1]) - 16
    struct.pack_into("<I", data, last + 8, 0x7FFFFFFF)
    capture = read(bytes(data))
    assert rules(capture) == ["damaged-capture"]
    assert f"record at byte {last}: captured length 2,147,483,647" in str(capture.issues)
    assert stream(capture.connections[0].to_server) == BOTH[0]


@pytest.mark.parametrize(("where", "value"), [(4, 30), (4, 0), (-4, 8)])
def test_wrong_block_length_stops_reading(where: int, value: int) -> None:
    wrong = bytearray(block(6, bytes(64)))
    struct.pack_into("<I", wrong, where % len(wrong), value)
    capture = read(pcapng(frames()) + wrong + pcapng(frames()))
    assert "damaged-capture" in rules(capture)
    assert "what follows was not read" in str(capture.issues)
    assert stream(capture.connections[0].to_server) == BOTH[0]


def test_invalid_packet_blocks_are_reported() -> None:
    listed = frames()
    lying = bytearray(enhanced_packet(listed[0], 0))
    struct.pack_into("<I", lying, 20, 1 << 30)
    capture = read(
        section() + enhanced_packet(listed[0], 0) + interface() + lying + block(6, b"short")
    )
    told = str(capture.issues)
    assert "interface 0 is not described before it" in told
    assert "3 times" in told
    assert read(section() + interface() + lying).packets == 1


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "found an empty file"),
        (b"not a capture at all", "found 6e 6f 74 20"),
        (pcap([])[:23], "the file header is cut off"),
    ],
)
def test_other_files_are_refused(data: bytes, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read(data)


def test_a_second_section_without_a_byte_order() -> None:
    broken = bytearray(section())
    broken[8:12] = b"????"
    capture = read(pcapng(frames()) + broken)
    assert "names no byte order" in str(capture.issues)
    assert len(capture.connections) == 1


def test_empty_capture_has_no_packets() -> None:
    for data in (pcap([]), pcapng([]), section()):
        capture = read(data)
        assert capture.packets == 0
        assert capture.connections == ()
        assert not capture.issues


def test_sniff_recognizes_captures_by_content() -> None:
    assert not sniff(b"")
    assert not sniff(b"\x0a\x0d\x0d\x0a" + bytes(8))
    for order in "<>":
        assert sniff(pcapng([], order=order))
        assert sniff(pcap([], order=order))


def test_missing_dpkt_error_names_the_extra(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "dpkt", None)
    with pytest.raises(ImportError, match=r'pip install "tvmdbg-widgets\[rpc\]"'):
        read(pcap([]))
    assert sniff(pcap([]))
