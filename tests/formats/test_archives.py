"""Archives open like the folders they hold, and no archive reaches further than its bytes."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import shutil
import struct
import tarfile
import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats import limits
from tvmdbg_widgets.formats.sources import unpacking
from tvmdbg_widgets.formats.sources.archives import ArchiveTree, open_archive
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.sources.byte_source import ByteSource, BytesSource, FileSource

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_packed_dump_is_the_same_run(archive: Path) -> None:
    folder, packed = tvmdbg.open(SAMPLE), tvmdbg.open(archive)
    assert packed.title == archive.name
    assert list(packed.tensors) == list(folder.tensors)
    for entry, tensor in folder.tensors.items():
        assert packed.tensors[entry].raw().tobytes() == tensor.raw().tobytes()
    assert repr(packed.table()).splitlines()[1:] == repr(folder.table()).splitlines()[1:]
    assert packed.provenance.device == "CPU:0"
    assert packed.provenance.releases == folder.provenance.releases
    assert [i.rule for i in packed.check()] == [i.rule for i in folder.check()]


def test_archives_come_as_bytes_too_and_survive_pickling(archive: Path) -> None:
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


def test_members_outside_and_links_are_left_out_and_told() -> None:
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


def test_a_member_finds_its_siblings_in_the_archive_alone() -> None:
    tree = tree_of(tar_of([("d/index", b"i", {}), ("d/shard", b"s", {}), ("out", b"o", {})]))
    member = next(source for path, source in tree.members.items() if path.name == "index")
    assert member.sibling("shard").read(0, 1) == b"s"
    with pytest.raises(FileNotFoundError):
        member.sibling("passwd")
    for name in ("../out", "/etc/passwd"):
        with pytest.raises(ValueError, match=r"folder|absolute"):
            member.sibling(name)


def test_of_one_name_the_last_member_counts() -> None:
    tree = tree_of(tar_of([("a", b"old", {}), ("a", b"new", {})]))
    (member,) = tree.members.values()
    assert member.read(0, 3) == b"new"


def test_cut_tars_keep_whole_members_and_say_so() -> None:
    whole = tar_of([("a", b"x" * 700, {}), ("b", b"y" * 10, {})])
    for length in range(512, 4096, 64):
        content = open_archive(BytesSource(whole[:length], "a.tar"))
        assert isinstance(content, ArchiveTree)
        for path, member in content.members.items():
            assert member.read(0, member.size) == (b"x" * 700 if path.name == "a" else b"y" * 10)
        if length < 3072:  # two headers, three blocks of content, one of zeros
            assert any(issue.rule == "archive-cut-off" for issue in content.issues)


def zip_of(name: str, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(name, data)
    return bytearray(out.getvalue())


def test_a_zip_member_of_another_size_than_declared_is_refused() -> None:
    for declared in (200_000, 1_000_000):
        data = zip_of("a", bytes(400_000))
        directory = data.rindex(b"PK\1\2")
        data[directory + 24 : directory + 28] = struct.pack("<I", declared)
        tree = tree_of(bytes(data))
        (member,) = tree.members.values()
        assert member.read(0, 10) == bytes(10)
        with pytest.raises(FormatError, match=r"damaged|cannot be unpacked"):
            member.read(declared - 100, 100)


def test_a_damaged_zip_member_is_told_by_its_crc() -> None:
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


@pytest.mark.parametrize("name", ["bomb.gz", "bomb.zip"])
def test_bombs_are_refused_by_what_they_unpack_to(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_UNPACKED", 1 << 20)
    bomb = bytes(64 << 20)
    packed = gzip.compress(bomb) if name == "bomb.gz" else bytes(zip_of("a", bomb))
    tracemalloc.start()
    with pytest.raises(FormatError, match=r"too large to be unpacked|nothing of a run"):
        tvmdbg.open(packed)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 << 20


def test_members_share_one_allowance() -> None:
    allowance = unpacking.Allowance(150)
    sources = []
    for _ in range(2):
        data = bytes(zip_of("a", bytes(100)))
        (member,) = tree_of(data).members.values()
        inner = member.whole
        assert isinstance(inner, unpacking.DeflatedSource)
        inner._allowance = allowance
        inner._whole, inner._head = None, b""
        sources.append(inner)
    allowance.take(100, "first")
    with pytest.raises(FormatError, match="too large"):
        allowance.take(100, "second")


def test_an_encrypted_member_and_a_link_are_left_out() -> None:
    data = zip_of("a", b"x")
    directory = data.rindex(b"PK\1\2")
    data[directory + 8] |= 1
    assert not tree_of(bytes(data)).members
    data = zip_of("a", b"/etc/passwd")
    directory = data.rindex(b"PK\1\2")
    data[directory + 38 : directory + 42] = struct.pack("<I", 0o120777 << 16)
    assert not tree_of(bytes(data)).members


def test_a_numpy_archive_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(bytes(zip_of("x.npy", b"\x93NUMPY")))
    with pytest.raises(FormatError, match="numpy"):
        tvmdbg.open(tmp_path / "a.npz")


WHOLE = {
    "tar": tar_of([("a", b"x" * 600, {}), ("n" * 150, b"y", {})]),
    "zip": bytes(zip_of("a", b"xyz" * 50)),
    "gz": gzip.compress(tar_of([("a", b"x", {})])),
}


def survive(data: bytes) -> None:
    try:
        content = open_archive(BytesSource(data, "a"))
        members = [content] if isinstance(content, ByteSource) else []
        if isinstance(content, ArchiveTree):
            list(content.files([]))
            members = list(content.members.values())
        for member in members:
            member.read(0, min(member.size, 2000))
    except FormatError as error:
        assert str(error)  # noqa: PT017 (any reason will do)


@pytest.mark.parametrize("kind", [*WHOLE])
def test_cut_at_every_byte(kind: str) -> None:
    for length in range(0, len(WHOLE[kind]), 1 if kind != "tar" else 7):
        survive(WHOLE[kind][:length])


@given(st.sampled_from([*WHOLE]), st.data())
def test_damaged_bytes_give_an_error_or_members(kind: str, data: st.DataObject) -> None:
    damaged = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    survive(bytes(damaged))


def test_reading_a_plain_tar_reads_only_headers(tmp_path: Path) -> None:
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
