"""Connections opened from captures, and from streams in any order."""

from collections.abc import Callable
from pathlib import Path

import pytest
from formats.capture_files import START, Tcp, conversation, frame, pcap, pcapng
from formats.rpc.captured import segments
from formats.rpc.rpc_cases import FUNCTION
from formats.rpc.rpc_cases import conversation as session

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.rpc.grammar import grammar
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.rpc import RpcLog

pytestmark = pytest.mark.spec_only

OWN = grammar("v0.8")


def test_every_public_name_is_there() -> None:
    assert all(getattr(tvmdbg.rpc, name) for name in tvmdbg.rpc.__all__)
    assert tvmdbg.rpc.Argument("int", 3).value == 3


def frames(*, lost: int = -1) -> list[bytes]:
    sent = segments(*session(OWN), OWN)
    return [frame(each.ip()) for number, each in enumerate(sent) if number != lost]


@pytest.mark.parametrize("write", [pcap, pcapng])
def test_a_capture_is_a_log_with_times(write: Callable[..., bytes]) -> None:
    log = tvmdbg.open(write(frames()))
    assert isinstance(log, RpcLog)
    assert [packet.side for packet in log] == ["client", "server"] * 8 + ["client"]
    assert log.functions == {FUNCTION: "my.add"}
    assert not log.issues
    # Segments are 1 ms apart; the first two open the connection, then come the handshakes.
    assert [packet.time_ns for packet in log[:3]] == [START + n * 10**6 for n in (4, 5, 6)]
    assert log[0].waited_ns == 1e6
    assert log.timeline.num_slices == 8
    assert set(log.timeline.slice_duration_ns.tolist()) == {1e6}


def test_lost_segment_is_reported_as_missing_bytes() -> None:
    whole = tvmdbg.open_rpc(pcap(frames()))
    lost = tvmdbg.open_rpc(pcap(frames(lost=8)))
    rules = [issue.rule for issue in lost.issues]
    assert "missing-bytes" in rules
    assert "rpc-damaged" in rules
    missing = len(whole) - len(lost)
    assert missing == 1


def test_capture_of_several_connections_requires_a_choice() -> None:
    other = Tcp(source=("127.0.0.1", 40002))
    both = frames() + [frame(each.ip()) for each in segments(*session(OWN), OWN, other)]
    with pytest.raises(FormatError) as caught:
        tvmdbg.open_rpc(pcap(both))
    assert "0: 127.0.0.1:40000 to 127.0.0.1:9090; 1: 127.0.0.1:40002" in str(caught.value)
    assert "connection=0" in str(caught.value)
    assert len(tvmdbg.open_rpc(pcap(both), connection=1)) == 17
    assert len(tvmdbg.open_rpc(pcap(both), connection=":40000")) == 17
    noise = [frame(each.ip()) for each in conversation([b"GET / HTTP/1.1"], like=other)]
    assert len(tvmdbg.open_rpc(pcap(frames() + noise))) == 17
    with pytest.raises(FormatError, match="no such connection"):
        tvmdbg.open_rpc(pcap(both), connection=7)


def test_streams_are_identified_by_handshake(tmp_path: Path) -> None:
    client, server = session(OWN)
    for name, data in (("a.bin", server), ("b.bin", client)):
        (tmp_path / name).write_bytes(data)
    log = tvmdbg.open(tmp_path / "a.bin", tmp_path / "b.bin")
    assert isinstance(log, RpcLog)
    assert [each.name for each in log.connection.directions] == ["client", "server"]
    assert log.connection.directions[0].handshake.key == "client:test"
    assert log[1].replies_to == 0
    assert isinstance(tvmdbg.open(tmp_path), RpcLog)


def test_capture_with_second_stream_is_refused() -> None:
    with pytest.raises(ValueError, match="pass it alone"):
        tvmdbg.open_rpc(pcap(frames()), b"")


def test_capture_without_tcp_reports_its_content() -> None:
    udp = bytearray(Tcp(b"x").ip())
    udp[9] = 17
    arp = b"\2" * 12 + b"\x08\x06" + bytes(28)
    for held, told in (
        ([*[frame(bytes(udp))] * 3, arp], ["not TCP but UDP (3)", "not IP but ARP (1)"]),
        ([frame(Tcp(b"").ip())], ["TCP packets without data (1)"]),
        ([], ["no packets"]),
    ):
        for chosen in (None, 0):
            with pytest.raises(FormatError) as caught:
                tvmdbg.open_rpc(pcap(held), connection=chosen)
            text = str(caught.value)
            assert "the capture holds no TCP data" in text
            assert "connection=" not in text
            assert all(each in text for each in told)
        with pytest.raises(FormatError, match="no TCP data"):
            tvmdbg.open(pcap(held))
