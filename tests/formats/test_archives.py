"""Archives open like the folders they hold, and no archive reaches further than its bytes."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import shutil
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.fuzz.files import zipped
from tests.make.params import write_params
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources import byte_source
from tvmdbg_widgets.sources.archives import ArchiveTree, open_archive
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource
from tvmdbg_widgets.sources.unpacking import read_directory

SAMPLE = tvmdbg.samples.resnet20_cifar
TARS = {"dump.tar": "w", "dump.tar.gz": "w:gz", "dump.tar.bz2": "w:bz2", "dump.tar.xz": "w:xz"}
ZIPS = {"stored.zip": zipfile.ZIP_STORED, "deflated.zip": zipfile.ZIP_DEFLATED}


def pack(folder: Path, target: Path) -> Path:
    if target.name in TARS:
        with tarfile.open(target, TARS[target.name]) as archive:
            archive.add(folder, arcname=".")
    else:
        with zipfile.ZipFile(target, "w", ZIPS[target.name]) as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder.parent).as_posix())
    return target


@pytest.fixture(scope="module", params=[*TARS, *ZIPS])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack(SAMPLE, tmp_path_factory.mktemp("packed") / request.param)


def test_packed_dump_opens_as_the_same_run(archive: Path) -> None:
    folder, packed = tvmdbg.open(SAMPLE), tvmdbg.open(archive)
    assert packed.title == archive.name
    assert list(packed.tensors) == list(folder.tensors)
    for entry, tensor in folder.tensors.items():
        assert packed.tensors[entry].raw().tobytes() == tensor.raw().tobytes()
    assert repr(packed.table()).splitlines()[1:] == repr(folder.table()).splitlines()[1:]
    assert packed.provenance.device == "CPU:0"
    assert packed.provenance.releases == folder.provenance.releases
    assert [i.rule for i in packed.check()] == [i.rule for i in folder.check()]


def test_archive_bytes_open_and_survive_pickling(archive: Path) -> None:
    run = pickle.loads(pickle.dumps(tvmdbg.open(archive.read_bytes())))  # noqa: S301 (our own)
    assert run.tensors[12].numpy().shape == tvmdbg.open(SAMPLE).tensors[12].shape


def test_several_dumps_in_an_archive_are_named(tmp_path: Path) -> None:
    for device in ("CPU_0", "CUDA_0"):
        dump = tmp_path / "in" / f"_tvmdbg_device_{device}"
        shutil.copytree(SAMPLE / "_tvmdbg_device_CPU_0", dump)
    packed = pack(tmp_path / "in", tmp_path / "dump.tar")
    with pytest.raises(FormatError, match=r"device='CPU_0'") as caught:
        tvmdbg.open(packed)
    assert "_tvmdbg_device_CUDA_0" in str(caught.value)
    assert tvmdbg.open(packed, device="CUDA").provenance.device == "CUDA:0"


def test_one_packed_file(tmp_path: Path) -> None:
    params = SAMPLE / "_tvmdbg_device_CPU_0" / "output_tensors.params"
    (tmp_path / "p.params.gz").write_bytes(gzip.compress(params.read_bytes()))
    run = tvmdbg.open(tmp_path / "p.params.gz")
    assert run.provenance.files[0].startswith(os.fspath(tmp_path / "p.params "))


def test_a_tensor_cache_in_an_archive(data: Path, tmp_path: Path) -> None:
    run = tvmdbg.open(pack(data / "params/cache/raw", tmp_path / "deflated.zip"))
    assert not run.check()
    assert len(run.tensors) == 27


def tar_of(members: list[tuple[str, bytes, dict[str, object]]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data, changes in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in changes.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def tree_of(data: bytes) -> ArchiveTree:
    tree = open_archive(BytesSource(data, "a.tar"))
    assert isinstance(tree, ArchiveTree)
    return tree


def test_outside_members_and_links_are_left_out_and_reported() -> None:
    tree = tree_of(
        tar_of(
            [
                ("../up", b"1", {}),
                ("/etc/passwd", b"2", {}),
                ("a/../../b", b"3", {}),
                ("link", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}),
                ("hard", b"", {"type": tarfile.LNKTYPE, "linkname": "good"}),
                ("dev", b"", {"type": tarfile.CHRTYPE}),
                ("./good", b"5", {}),
            ]
        )
    )
    issues: list[object] = []
    # Python's tarfile takes the leading slash off by itself only when it unpacks.
    assert [entry.name for entry in tree.files(issues)] == ["good"]
    (note,) = issues
    assert note.rule == "members-left-out"
    assert note.message.startswith("6 members")


def test_member_siblings_are_found_only_in_the_archive() -> None:
    tree = tree_of(tar_of([("d/index", b"i", {}), ("d/shard", b"s", {}), ("out", b"o", {})]))
    member = next(source for path, source in tree.members.items() if path.name == "index")
    assert member.sibling("shard").read(0, 1) == b"s"
    with pytest.raises(FileNotFoundError):
        member.sibling("passwd")
    for name in ("../out", "/etc/passwd"):
        with pytest.raises(ValueError, match=r"folder|absolute"):
            member.sibling(name)


def test_last_member_of_a_repeated_name_is_used() -> None:
    tree = tree_of(tar_of([("a", b"old", {}), ("a", b"new", {})]))
    (member,) = tree.members.values()
    assert member.read(0, 3) == b"new"


def test_truncated_tar_keeps_whole_members_and_is_reported() -> None:
    whole = tar_of([("a", b"x" * 700, {}), ("b", b"y" * 10, {})])
    for length in range(512, 4096, 64):
        content = open_archive(BytesSource(whole[:length], "a.tar"))
        assert isinstance(content, ArchiveTree)
        for path, member in content.members.items():
            assert member.read(0, member.size) == (b"x" * 700 if path.name == "a" else b"y" * 10)
        if length < 3072:  # two headers, three blocks of content, one of zeros
            assert any(issue.rule == "archive-cut-off" for issue in content.issues)


def zip_of(name: str, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    return bytearray(zipped({name: data}, method))


def test_zip_member_with_wrong_declared_size_is_refused() -> None:
    for declared in (200_000, 1_000_000):
        data = zip_of("a", bytes(400_000))
        directory = data.rindex(b"PK\1\2")
        data[directory + 24 : directory + 28] = struct.pack("<I", declared)
        tree = tree_of(bytes(data))
        (member,) = tree.members.values()
        assert member.read(0, 10) == bytes(10)
        with pytest.raises(FormatError, match=r"damaged|cannot be unpacked"):
            member.read(declared - 100, 100)


def test_damaged_zip_member_is_refused() -> None:
    data = zip_of("a", os.urandom(100_000))
    data[50_000] ^= 1
    (member,) = tree_of(bytes(data)).members.values()
    with pytest.raises(FormatError, match=r"CRC|cannot be unpacked"):
        member.read(90_000, 1)


def test_a_zip_member_without_a_name_is_left_out() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo(""), b"nameless")
        archive.writestr("graph.json", (SAMPLE / "graph.json").read_bytes())
    run = tvmdbg.open(out.getvalue())
    assert run.graph is not None
    assert run.check().by_rule("members-left-out")


MB = 1 << 20


def peak_of(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


PACKS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda data: bytes(zip_of("a", data)),
    "tar.gz": lambda data: gzip.compress(tar_of([("a", data, {})])),
}


@pytest.mark.parametrize("kind", [*PACKS])
def test_unpacked_text_is_limited_to_a_ratio_of_packed_bytes(kind: str) -> None:
    trace = b'{"traceEvents": [' + b" " * (8 * MB) + b"]}"
    packed = PACKS[kind](trace)
    assert len(packed) * byte_source.RATIO < len(trace)
    with pytest.raises(FormatError, match=r"too large to be unpacked|nothing of a run") as caught:
        tvmdbg.open(packed)
    most = max(byte_source.SMALL_TEXT, byte_source.RATIO * len(packed))
    assert f"at most {most:,} bytes" in str(caught.value)
    assert tvmdbg.open(packed, limits={"trace": len(trace)}).timeline is not None


@pytest.mark.parametrize("kind", [*PACKS])
def test_decompression_bombs_are_refused_before_unpacking(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byte_source, "SMALL_TENSORS", MB)
    packed = PACKS[kind](bytes(48 * MB))

    def open_it() -> None:
        with pytest.raises(FormatError, match=r"too large to be unpacked|nothing of a run"):
            tvmdbg.open(packed)

    assert peak_of(open_it) < 24 * MB


def test_tensors_of_zeros_may_exceed_the_ratio() -> None:
    values = {"w": np.zeros((1000, 4000), "float32")}
    file = io.BytesIO()
    write_params(file, values)
    packed = gzip.compress(file.getvalue(), 1)
    assert len(packed) * byte_source.RATIO < 16_000_000
    assert not tvmdbg.open(packed).tensors["w"].numpy().any()


@pytest.mark.parametrize("unit", [b"{},", b"[],", b'"ab",', b'{"a":0},', b"[[],[]],", b"1.5,"])
def test_estimated_json_cost_covers_most_of_the_memory_used(unit: bytes) -> None:
    text = b"[" + unit * 10_000 + b"0]"
    kept: list[object] = []
    peak = peak_of(lambda: kept.append(json.loads(text)))
    assert byte_source.cost(text) > 0.7 * (peak - len(text))


@pytest.mark.parametrize("unit", [b"{},", b'{"a":0},'])
def test_unpacked_entries_are_limited_as_well_as_bytes(unit: bytes) -> None:
    text = b'{"traceEvents": [' + unit * (9 * MB // 2 // len(unit)) + b"0]}"
    noise = os.urandom(len(text) // 100)  # so that the ratio alone is fine
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trace.json", text)
        archive.writestr("noise", noise)

    def open_it() -> None:
        with pytest.raises(FormatError, match="brackets, commas and lines"):
            tvmdbg.open(out.getvalue())

    assert peak_of(open_it) < 64 * MB


@pytest.mark.slow
def test_real_files_stay_below_the_ratio(corpus: Path) -> None:
    for path in corpus.rglob("*"):
        if path.suffix not in (".json", ".jsonl", ".log", ".txt", ".csv") or not path.is_file():
            continue
        content = path.read_bytes()
        if len(content) > MB // 10:
            packed = bz2.compress(content)
            assert len(content) < 0.75 * byte_source.RATIO * len(packed), path
            assert byte_source.cost(content) < 0.9 * byte_source.DENSITY * len(content), path


def test_members_share_one_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_source, "SMALL_TENSORS", 150_000)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(100_000))
        archive.writestr("b", bytes(100_000))
    first, second = tree_of(out.getvalue()).members.values()
    assert first.read(0, first.size) == bytes(100_000)
    with pytest.raises(FormatError, match="too large"):
        second.read(0, second.size)
    assert first.read(0, first.size) == bytes(100_000)


def test_nested_archive_shares_the_outer_allowance() -> None:
    inner = bytes(zip_of("debug_handle_map", b"{" + b" " * 8_000_000 + b"}"))
    inner = zipped({"ETRECORD_V0": b"", "inner": inner})
    outer = zipped({"etrecord.bin": inner})
    (member,) = tree_of(outer).members.values()
    assert member.allowance().packed == len(outer)
    (first, *_) = read_directory(member).members.values()
    assert first.source.allowance() is member.allowance()


def test_stored_members_that_overlap_are_read_once() -> None:
    data = bytes(zip_of("a", b"x" * 50_000, zipfile.ZIP_STORED))
    start = data.rindex(b"PK\1\2")
    end = data.rindex(b"PK\5\6")
    entry = data[start:end]
    tail = bytearray(data[end:])
    tail[8:12] = struct.pack("<HH", 20, 20)
    tail[12:16] = struct.pack("<I", 20 * len(entry))
    entries = [entry[:46] + bytes([65 + at]) for at in range(20)]
    tree = tree_of(data[:start] + b"".join(entries) + bytes(tail))
    assert len(tree.members) == 1
    assert len([each for each in tree.issues if "cannot all lie in it" in each.message]) == 19


def test_an_encrypted_member_and_a_link_are_left_out() -> None:
    data = zip_of("a", b"x")
    directory = data.rindex(b"PK\1\2")
    data[directory + 8] |= 1
    assert not tree_of(bytes(data)).members
    data = zip_of("a", b"/etc/passwd")
    directory = data.rindex(b"PK\1\2")
    data[directory + 38 : directory + 42] = struct.pack("<I", 0o120777 << 16)
    assert not tree_of(bytes(data)).members


def test_numpy_archive_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(bytes(zip_of("x.npy", b"\x93NUMPY")))
    with pytest.raises(FormatError, match="numpy"):
        tvmdbg.open(tmp_path / "a.npz")


def test_opening_a_plain_tar_reads_only_headers(tmp_path: Path) -> None:
    path = tmp_path / "big.tar"
    path.write_bytes(tar_of([(f"m{i}", bytes(1 << 20), {}) for i in range(8)]))
    source = FileSource(path)
    tracemalloc.start()
    tree = open_archive(source)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(tree, ArchiveTree)
    assert len(tree.members) == 8
    assert peak < 1 << 20
