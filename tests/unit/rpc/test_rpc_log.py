"""A connection as users hold it: paired, named, timed, and what is wrong with it."""

from typing import Any

import numpy as np
import pytest
from formats.rpc.rpc_cases import FLOAT32, FUNCTION, TENSOR, VALUES, conversation

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.rpc.connection import RpcStream, read_connection
from tvmdbg_widgets.formats.rpc.grammar import ERAS, grammar
from tvmdbg_widgets.formats.rpc.packets import CopyRange
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE
from tvmdbg_widgets.rpc import RpcLog, encode_packet
from tvmdbg_widgets.sources.given import as_source

pytestmark = pytest.mark.spec_only


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("layout", ["narrow", "wide"])
def test_requests_and_answers_are_paired(era: Any, layout: str) -> None:
    log = tvmdbg.open_rpc(*conversation(grammar(era, layout)))
    names = [packet.name for packet in log]
    answers = ["Return"] * (6 if era != "v0.5" else 4) + ["CopyAck", "Exception"]
    assert [packet.name for packet in log if packet.side == "server"] == answers
    for packet in log:
        if packet.side == "server":
            assert packet.replies_to == packet.row - 1
            assert log[packet.replies_to].reply == packet.row
    assert names[-1] == "Shutdown"
    assert log[-1].reply is None
    assert log.functions == {FUNCTION: "my.add"}
    calls = [packet for packet in log if packet.name == "CallFunc"]
    assert {packet.function for packet in calls} == {"my.add"}
    assert not log.issues
    assert log.desync is None
    assert layout in log.dtype_layouts["client"]


def test_packets_describe_their_arguments() -> None:
    log = tvmdbg.open_rpc(*conversation(grammar("v0.8")))
    call = next(p for p in log if p.name == "CallFunc" and len(p.arguments) == 4)
    assert [each.kind for each in call.arguments] == ["tensor", "dtype", "str", "int"]
    assert call.arguments[0].value == TENSOR
    assert call.arguments[1].value == FLOAT32
    told = "my.add (float32[6] at 0x7f0010 on cpu(0), float32, 'mode', 3)"
    assert call.about == told
    assert told in repr(call)
    copy = next(p for p in log if p.name == "CopyToRemote")
    assert "24 B" in copy.about
    assert copy.data().endswith(VALUES)


@pytest.mark.parametrize("asked", [0, 24])
def test_copy_answer_length_is_taken_from_request(asked: int) -> None:
    own = grammar("v0.5")
    what = CopyRange(TENSOR.data, 0, asked, TENSOR.device, FLOAT32)
    client = encode_packet(own, "GetGlobalFunc", [("str", "my.add")])
    client += encode_packet(own, "CopyFromRemote", copied=what, payload=VALUES[:asked])
    server = encode_packet(own, "Return", [("handle", FUNCTION)])
    server += encode_packet(own, "CopyAck", payload=VALUES[:asked])
    log = tvmdbg.open_rpc(client, server, era="v0.5", dtype_layout="narrow")
    assert log[3].about == f"{asked} B"
    assert [each.fields.size for each in log] == [each.size for each in log]
    assert len(log.to_dataframe()) == 4


def test_a_callback_is_paired_within_its_call() -> None:
    own = grammar("v0.8")
    call = [("str", "x"), ("int", 1)]
    client = encode_packet(own, "CallFunc", call, function=1)
    client += encode_packet(own, "Return", [("int", 4), ("null", None)])
    client += encode_packet(own, "CallFunc", call, function=3)
    server = encode_packet(own, "CallFunc", call, function=2)
    server += encode_packet(own, "Return", [("int", 0), ("int", 9)])
    server += encode_packet(own, "Return", [("int", 0), ("int", 8)])
    log = tvmdbg.open_rpc(client, server)
    talk = log.conversation
    assert [packet.side for packet in log] == ["client", "server"] * 3
    assert talk.replies_to.tolist() == [-1, -1, 1, 0, -1, 4]
    assert talk.depths.tolist() == [0, 1, 1, 0, 0, 0]
    assert not log.issues


def test_functions_of_modules_have_names() -> None:
    own = grammar("v0.8")
    client = encode_packet(own, "GetGlobalFunc", [("str", "runtime.ModuleGetFunction")])
    wanted = [("module", 0x70), ("str", "default_function"), ("int", 0)]
    client += encode_packet(own, "CallFunc", wanted, function=0x10)
    client += encode_packet(own, "CallFunc", [("tensor", TENSOR)], function=0x20)
    server = encode_packet(own, "Return", [("handle", 0x10)])
    server += encode_packet(own, "Return", [("int", 10), ("handle", 0x20)])
    server += encode_packet(own, "Return", [("int", 4), ("null", None)])
    log = tvmdbg.open_rpc(client, server)
    assert log.functions == {0x10: "runtime.ModuleGetFunction", 0x20: "default_function"}
    assert log[4].function == "default_function"


def test_one_direction_alone_is_read_and_not_paired() -> None:
    client, server = conversation(grammar("v0.8"))
    for given in ((client, None), (None, server)):
        log = tvmdbg.open_rpc(*given)
        assert len(log) in {8, 9}
        assert all(packet.reply is None and packet.replies_to is None for packet in log)
        assert not log.issues


def test_a_patched_client_is_found_and_named() -> None:
    wide, narrow = grammar("v0.8", "wide"), grammar("v0.8")
    client, _ = conversation(wide)
    back = encode_packet(narrow, "CallFunc", [("dtype", FLOAT32), ("int", 1)], function=9)
    server = conversation(narrow)[1] + back
    log = tvmdbg.open_rpc(client, server)
    assert log.dtype_layouts == {"client": ("wide",), "server": ("narrow",)}
    assert log.desync.name == "DevAllocData"
    assert log.issues[0].rule == "rpc-out-of-sync"
    assert "02 00 20 00 01 00 00 00 (code 2, bits 32, lanes 1)" in log.desync.text
    assert "02 00 20 00 (code 2, bits 0, lanes 32)" in log.desync.text
    told = (
        "client sends the dtype as wide, server reads narrow: misread from packet 2 (DevAllocData)"
    )
    assert log.desync.summary == told
    assert log.issues[0].message == log.desync.summary == repr(log.desync).splitlines()[0]
    assert max(map(len, repr(log.desync).splitlines())) <= 100
    assert f"<b>{log.desync.summary}</b>" in log.desync._repr_html_()
    assert log.desync.summary in log.figure().text


def test_misread_bytes_of_a_packet_are_marked() -> None:
    log = tvmdbg.open_rpc(tvmdbg.samples.changed_dtype / "session.pcap")
    told = "client sends the dtype as 12 bytes, server reads 8: out of sync from packet 19 "
    assert log.desync.summary == f"{told}(DevAllocData)"
    (packet,) = (packet for packet in log if packet.desync is not None)
    assert (packet.side, packet.number) == (log.desync.side, log.desync.packet)
    noted = [field for _, field in packet.fields.walk() if field.note]
    assert noted[0].note == "out of sync: the server reads 8 bytes here, 12 were sent"
    assert [(field.name, field.note) for field in noted[1:]] == [
        ("code", "the server reads 02 00 20 00 (code 2, bits 0, lanes 32)"),
        ("bits", "within the same 8 bytes"),
        ("lanes", "within the same 8 bytes"),
        ("padding", "taken for the next value"),
    ]
    assert noted[0].offset + packet.offset == log.desync.offset
    assert noted[0].note in packet.figure().text


def test_desync_with_reports_kept_padding() -> None:
    log = tvmdbg.open_rpc(conversation(grammar("v0.8", "wide"))[0])
    assert log.desync is None
    found = log.desync_with("wide", padding=4)
    assert found.too_many == 4
    assert "12 bytes (4 of them padding)" in found.text
    assert "reads 4 bytes too many" in found.text
    assert log.desync_with("wide") is None


def test_timeline_shows_client_waiting_for_server() -> None:
    own = grammar("v0.8")
    client, server = conversation(own)
    streams = []
    for name, data, late in (("client", client, 0), ("server", server, 400)):
        at = _clock(late)
        streams.append(RpcStream(name, as_source(data), times_at=at))
    log = RpcLog(read_connection(streams, title="t", layouts=(NARROW, WIDE)))
    timeline = log.timeline
    assert timeline.tracks == ("client waits for the server",)
    waited = [packet.waited_ns for packet in log if packet.reply is not None]
    assert timeline.slice_duration_ns.tolist() == waited
    assert "my.add" in set(timeline.slice_names)
    assert log.run().timeline is timeline


def _clock(late: int) -> Any:
    """Packets of both sides in turn: the n-th of each at n milliseconds, the server's later."""

    def times(offsets: np.ndarray) -> np.ndarray:
        return np.arange(len(offsets), dtype=np.int64) * 1_000_000 + late

    return times


def test_damage_marks_pairing_unsure() -> None:
    client, server = conversation(grammar("v0.8"))
    start = len(client) // 2
    broken = client[:start] + b"\xff" * 40 + client[start + 40 :]
    log = tvmdbg.open_rpc(broken, server)
    rules = [issue.rule for issue in log.issues]
    assert "rpc-damaged" in rules
    assert "rpc-pairing-unsure" in rules


def test_invalid_connection_error_explains_expected_input() -> None:
    with pytest.raises(FormatError, match="no packet of TVM's RPC was found"):
        tvmdbg.open_rpc(b"hello, this is no stream of packets at all")
    with pytest.raises(ValueError, match="pass what the client sent"):
        tvmdbg.open_rpc(None)
    with pytest.raises(ValueError, match="no era 'v9'; known: "):
        tvmdbg.open_rpc(b"", era="v9")


def test_fields_cover_every_byte_of_a_packet() -> None:
    for era in ERAS:
        for layout, padding in (("narrow", None), ("wide", None), ("wide", 4)):
            log = tvmdbg.open_rpc(*conversation(grammar(era, layout, padding)))
            for packet in log:
                leaves = [each for _, each in packet.fields.walk() if not each.children]
                at = 0
                for leaf in leaves:
                    assert leaf.offset == at, (packet, leaf)
                    at = leaf.end
                assert at == packet.size, packet


def test_fields_contain_values_of_example_call() -> None:
    data = bytes.fromhex(
        "1c00000000000000030000008877665544332211010000000500000002200100000000 00"
    )
    log = tvmdbg.open_rpc(data + data)
    told = [
        (each.name, each.offset, each.size, each.value)
        for _, each in log[0].fields.walk()
        if not each.children
    ]
    assert told == [
        ("packet_nbytes", 0, 8, "28"),
        ("code", 8, 4, "3, CallFunc"),
        ("function", 12, 8, "0x1122334455667788"),
        ("num_args", 20, 4, "1"),
        ("type_code[0]", 24, 4, "5, dtype"),
        ("code", 28, 1, "2"),
        ("bits", 29, 1, "32"),
        ("lanes", 30, 2, "1"),
        ("padding", 32, 4, ""),
    ]
