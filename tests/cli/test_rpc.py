"""rpc: a captured session in a terminal."""

import json
from pathlib import Path

import pytest
from cli.start import Run, refused
from formats.capture_files import frame, pcap
from formats.rpc.captured import segments
from formats.rpc.rpc_cases import FLOAT32, conversation

from tvmdbg_widgets.formats.rpc.grammar import grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet

pytestmark = pytest.mark.spec_only

NARROW, WIDE = grammar("v0.8"), grammar("v0.8", "wide")


def test_a_capture_is_listed(tvmdbg: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.pcap"
    path.write_bytes(pcap([frame(each.ip()) for each in segments(*conversation(NARROW), NARROW)]))
    done = tvmdbg("rpc", path)
    assert done.returncode == 0, done.stderr
    assert "packets of TVM v0.8 to v0.20" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["0", "0", "ns", "1.000", "ms", "client", "InitServer"] in [row[:7] for row in rows]
    assert any("my.add" in line and "float32[6]" in line for line in done.stdout.splitlines())
    short = tvmdbg("rpc", path, "--top", "3")
    assert "14 more packets: --top 0 lists all" in short.stderr


def test_layouts_that_disagree_end_with_status_1(tvmdbg: Run, tmp_path: Path) -> None:
    back = encode_packet(NARROW, "CallFunc", [("dtype", FLOAT32), ("int", 1)], function=9)
    (tmp_path / "c").write_bytes(conversation(WIDE)[0])
    (tmp_path / "s").write_bytes(conversation(NARROW)[1] + back)
    done = tvmdbg("rpc", tmp_path / "c", tmp_path / "s")
    assert done.returncode == 1
    assert "goes on with a wrong value" in done.stdout
    told = json.loads(tvmdbg("rpc", tmp_path / "c", tmp_path / "s", "--json").stdout)
    assert told["dtype_layouts"] == {"client": ["wide"], "server": ["narrow"]}
    assert told["out_of_sync"]["too_many_bytes"] == 0
    assert [each["name"] for each in told["packets"][:2]] == ["InitServer", "Return"]


def test_one_packet_is_shown_byte_by_byte(tvmdbg: Run, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(conversation(NARROW, kept=False)[0])
    done = tvmdbg("rpc", tmp_path / "c", "--packet", "2")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["8", "4", "code", "0d", "00", "00", "00", "13,", "DevAllocData"] in lines
    assert ["1", "bits", "20", "32"] in [line[1:] for line in lines]
    assert "there is no packet 99" in refused(tvmdbg("rpc", tmp_path / "c", "--packet", "99"))


def test_summary_of_a_stream_suggests_rpc(tvmdbg: Run, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(conversation(NARROW)[0])
    assert "tvmdbg rpc" in refused(tvmdbg("summary", tmp_path / "c"))


def test_hostile_names_stay_text(tvmdbg: Run, tmp_path: Path) -> None:
    evil = "\x1b[31m<script>\x07"
    data = encode_packet(NARROW, "GetGlobalFunc", [("str", evil)]) * 2
    (tmp_path / "c").write_bytes(data)
    done = tvmdbg("rpc", tmp_path / "c")
    assert "\x1b" not in done.stdout
    assert "\\x1b[31m" in done.stdout
