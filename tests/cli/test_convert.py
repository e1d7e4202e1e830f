"""convert: bytes in, bytes out, and nothing else."""

import re
import signal
import struct
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from cli.start import COMMAND, Run, environment, refused

from tvmdbg_widgets import samples
from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.formats.tvm.params.survey import conversion
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.given import as_source

SAMPLE = samples.resnet20_cifar / "_tvmdbg_device_CPU_0/output_tensors.params"
# formats/tvm.md §3.6: written by TVM, and by a build whose DLDataType is wide.
HEAD = bytes.fromhex(
    "b79c04054f8de5f7 0000000000000000 0100000000000000 0100000000000000 78 0100000000000000"
    "3fa1b496f0405edd 0000000000000000 01000000 00000000 02000000"
)
REST = struct.pack("<qqq6f", 2, 3, 24, *range(6))
NARROW = HEAD + bytes.fromhex("02200100") + REST
WIDE = HEAD + bytes.fromhex("0200200001000000") + REST


def _converted(data: bytes, to: Any) -> bytes:
    target = BytesIO()
    planned = conversion(as_source(data), to)
    planned.write(target)
    assert len(target.getvalue()) == planned.size
    return target.getvalue()


def test_worked_example_converts_both_ways(tvmdbg: Run, tmp_path: Path) -> None:
    for name, data, to, expected in (("n", NARROW, "wide", WIDE), ("w", WIDE, "narrow", NARROW)):
        source, target = tmp_path / name, tmp_path / f"{name}.out"
        source.write_bytes(data)
        done = tvmdbg("convert", source, "-o", target, "--dtype-layout", to)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
        assert target.read_bytes() == expected
        assert source.read_bytes() == data


def test_recorded_files_survive_a_round_trip(corpus: Path) -> None:
    files = sorted([*corpus.glob("tvm/**/*.params"), *corpus.glob("relax/**/params*.bin")])
    assert len(files) > 60
    told = 0
    for path in files:
        data = path.read_bytes()
        try:
            before = read_params(data)
        except FormatError:
            continue
        if before.error is not None:
            continue
        wide = _converted(data, "wide")
        assert _converted(wide, "narrow") == data, path
        assert _converted(wide, "wide") == wide
        after = read_params(wide)
        assert after.keys == before.keys
        assert [r.stored_dtype for r in after.records] == [r.stored_dtype for r in before.records]
        assert all(
            mine.source.read(mine.offset, mine.nbytes) == its.source.read(its.offset, its.nbytes)
            for mine, its in zip(after.records, before.records, strict=True)
        )
        told += bool(before.records)
    assert told > 60


def test_conversion_works_through_pipes(tvmdbg: Run) -> None:
    data = SAMPLE.read_bytes()
    wide = tvmdbg("convert", "-", "-o", "-", "--dtype-layout", "wide", input=data, text=False)
    assert wide.returncode == 0
    assert wide.stdout == _converted(data, "wide")
    back = tvmdbg(
        "convert", "-", "-o", "-", "--dtype-layout", "narrow", input=wide.stdout, text=False
    )
    assert back.stdout == data
    assert b"72 arrays" in back.stderr


def test_the_input_is_never_written_to(tvmdbg: Run, tmp_path: Path) -> None:
    source = tmp_path / "a.params"
    source.write_bytes(NARROW)
    (tmp_path / "link").symlink_to(source)
    (tmp_path / "hard").hardlink_to(source)
    for target in (source, tmp_path / "link", tmp_path / "hard"):
        assert "never overwritten" in refused(
            tvmdbg("convert", source, "-o", target, "--dtype-layout", "wide")
        )
        assert source.read_bytes() == NARROW


def test_value_too_large_for_narrow_layout_is_refused_by_name(tvmdbg: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    at = len(HEAD)
    for field, offset, form, value in (
        ("dtype code", 0, "<H", 300),
        ("dtype lanes", 4, "<i", 70_000),
    ):
        data = bytearray(WIDE)
        struct.pack_into(form, data, at + offset, value)
        source.write_bytes(_two(bytes(data)))
        target.write_bytes(b"before")
        done = tvmdbg(
            "convert",
            source,
            "-o",
            target,
            "--from-dtype-layout",
            "wide",
            "--dtype-layout",
            "narrow",
        )
        assert done.returncode == 2, done.stderr
        told = " ".join(done.stderr.split())
        assert "does not fit into the narrow layout" in told
        assert "('x')" in told
        assert field in told
        assert target.read_bytes() == b"before"


def test_unknown_type_code_asks_for_the_layout(tvmdbg: Run, tmp_path: Path) -> None:
    source = tmp_path / "a"
    data = bytearray(WIDE)
    struct.pack_into("<H", data, len(HEAD), 300)
    source.write_bytes(_two(bytes(data)))
    done = tvmdbg("convert", source, "-o", tmp_path / "b", "--dtype-layout", "narrow")
    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert "no release of TVM has this type code" in told
    assert "Give the layout that the file has" in told


def test_custom_layout_round_trips(tvmdbg: Run, tmp_path: Path) -> None:
    own = "code:u8 bits:u8 lanes:u32"
    source, mine, back = tmp_path / "n", tmp_path / "m", tmp_path / "b"
    source.write_bytes(NARROW)
    assert tvmdbg("convert", source, "-o", mine, "--dtype-layout", own).returncode == 0
    assert mine.read_bytes() == HEAD + bytes.fromhex("02 20 01000000") + REST
    done = tvmdbg(
        "convert",
        mine,
        "-o",
        back,
        "--from-dtype-layout",
        f"auto | {own}",
        "--dtype-layout",
        "narrow",
    )
    assert done.returncode == 0, done.stderr
    assert back.read_bytes() == NARROW


def test_invalid_layout_declaration_is_refused(tvmdbg: Run, tmp_path: Path) -> None:
    source = tmp_path / "n"
    source.write_bytes(NARROW)
    for option in ("--dtype-layout", "--from-dtype-layout"):
        words = {"--dtype-layout": "narrow", "--from-dtype-layout": "auto"} | {option: "code:u9"}
        given = [word for pair in words.items() for word in pair]
        assert "code:u16 bits:u16 lanes:i32" in refused(
            tvmdbg("convert", source, "-o", tmp_path / "m", *given)
        )


def _two(data: bytes) -> bytes:
    """Put a sound wide array named ``a`` before the one of a file."""
    record = slice(41, None)
    head = struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, 2)
    names = struct.pack("<Q", 1) + b"a" + struct.pack("<Q", 1) + b"x"
    return head + names + struct.pack("<Q", 2) + WIDE[record] + data[record]


def test_truncated_file_on_the_command_line_writes_nothing(tvmdbg: Run, tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(SAMPLE.read_bytes()[:-1])
    assert "ends too early" in refused(
        tvmdbg("convert", tmp_path / "cut", "-o", tmp_path / "out", "--dtype-layout", "wide")
    )
    assert [path.name for path in tmp_path.iterdir()] == ["cut"]


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A list of one array of 1 GB of zeros, of which the disk holds none."""
    path = tmp_path / "large.params"
    size = 1 << 30
    with path.open("wb") as file:
        file.write(HEAD[:-4] + struct.pack("<i", 1) + bytes.fromhex("02200100"))
        file.write(struct.pack("<qq", size // 4, size))
        file.truncate(file.tell() + size)
    return path


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the peak memory of a process")
def test_a_gigabyte_needs_little_memory(large: Path) -> None:
    command = [*COMMAND, "convert", str(large), "-o", "-", "--dtype-layout", "wide"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE) as process:
        size = peak = 0
        while piece := process.stdout.read(1 << 22):
            size += len(piece)
            peak = max(peak, _peak_kb(process.pid))
    assert process.returncode == 0
    assert size == large.stat().st_size + 4
    assert 0 < peak < 128 * 1024


def _peak_kb(pid: int) -> int:
    """Of the program itself: what `getrusage` tells of a child begins with its parent's peak."""
    from pathlib import Path as Place

    for line in Place(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0  # it has ended, and waits to be asked for its exit code


@pytest.mark.skipif(sys.platform != "linux", reason="files without a name are Linux's")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_killed_conversion_leaves_no_file(tvmdbg: Run, large: Path, number: signal.Signals) -> None:
    target = large.with_name("out.params")
    process = subprocess.Popen(
        [*COMMAND, "convert", str(large), "-o", str(target), "--dtype-layout", "wide"],
        env=environment(),
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not _writes(process.pid, large.parent):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(number)
    assert process.wait(timeout=60) != 0
    left = {path.name for path in large.parent.iterdir()} - {large.name}
    if number == signal.SIGKILL:  # nothing can tidy up: the next conversion does
        assert all(re.fullmatch(r"\.out\.params\.\w+\.part", name) for name in left)
        large.write_bytes(NARROW)
        assert tvmdbg("convert", large, "-o", target, "--dtype-layout", "wide").returncode == 0
        left = {path.name for path in large.parent.iterdir()}
        assert left == {large.name, target.name}
    else:
        assert left == set()


def _writes(pid: int, folder: Path) -> bool:
    """Whether a process has a file open in a folder that is not the input, with bytes in it."""
    from pathlib import Path as Place

    for each in Place(f"/proc/{pid}/fd").glob("*"):
        try:
            name = str(each.readlink())
            written = each.stat().st_blocks > 0
        except OSError:
            continue
        if name.startswith(f"{folder}/") and not name.endswith("large.params") and written:
            return True
    return False
