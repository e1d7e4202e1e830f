import copy
import errno
import gc
import gzip
import io
import os
import threading
from pathlib import Path

import pytest

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources import file_source as sources
from tvmdbg_widgets.sources import file_source as sources_state
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource, PartSource
from tvmdbg_widgets.sources.file_source import FileSource
from tvmdbg_widgets.sources.given import StreamSource, as_source

DESCRIPTORS = Path("/proc/self/fd")
CONTENT = bytes(range(256)) * 40


@pytest.fixture(params=["file", "bytes", "stream"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> ByteSource:
    if request.param == "bytes":
        return BytesSource(CONTENT, "content")
    if request.param == "stream":
        return StreamSource(io.BytesIO(CONTENT), "content")
    path = tmp_path / "content"
    path.write_bytes(CONTENT)
    return FileSource(path, "content")


def test_source_reads_exact_bytes(source: ByteSource) -> None:
    assert source.size == len(CONTENT)
    assert source.read(300, 17) == CONTENT[300:317]
    assert source.read(len(CONTENT), 0) == b""
    buffer = bytearray(b"..........")
    source.read_into(5, memoryview(buffer)[2:6])
    assert buffer == b".." + CONTENT[5:9] + b"...."
    assert "content" in repr(source)
    assert "10,240" in repr(source)


@pytest.mark.parametrize(
    ("offset", "length"), [(10240, 1), (0, 10241), (-1, 1), (5, -1), (2**70, 1)]
)
def test_out_of_range_read_raises_format_error(
    source: ByteSource, offset: int, length: int
) -> None:
    with pytest.raises(FormatError) as caught:
        source.read(offset, length)
    error = caught.value
    assert (error.file, error.offset) == ("content", offset)
    assert error.expected == counted(length, "byte")
    assert error.found is not None


def test_many_threads_read_one_source(source: ByteSource) -> None:
    wrong: list[int] = []

    def work(start: int) -> None:
        for step in range(200):
            offset = (start * 37 + step * 101) % 10_000
            if source.read(offset, 64) != CONTENT[offset : offset + 64]:
                wrong.append(offset)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("change", ["grow", "shrink", "touch", "replace"])
def test_changed_file_raises_format_error(tmp_path: Path, change: str) -> None:
    path = tmp_path / "f"
    path.write_bytes(CONTENT)
    os.utime(path, ns=(10**18, 10**18))
    source = FileSource(path)
    assert source.read(0, 4) == CONTENT[:4]
    if change == "grow":
        path.write_bytes(CONTENT + b"x")
    elif change == "shrink":
        path.write_bytes(CONTENT[:100])
    elif change == "touch":
        os.utime(path, ns=(10**18, 10**18 + 1))
    else:
        other = tmp_path / "g"
        other.write_bytes(CONTENT)
        other.replace(path)
        os.utime(path, ns=(10**18, 10**18))
    with pytest.raises(FormatError, match="file changed after it was opened") as caught:
        source.read(0, 4)
    assert caught.value.hint


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="no /proc on this system")
def test_many_sources_keep_few_descriptors_open(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(CONTENT)
    gc.collect()
    before = len(list(DESCRIPTORS.iterdir()))
    many = [FileSource(path) for _ in range(3000)]
    for _ in range(2):
        assert all(source.read(7, 2) == CONTENT[7:9] for source in many)
    assert len(list(DESCRIPTORS.iterdir())) <= before + 32
    del many
    gc.collect()
    assert len(list(DESCRIPTORS.iterdir())) <= before


def test_deleted_source_releases_its_descriptor(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(CONTENT)
    source = FileSource(path)
    source.read(0, 1)
    owner = source._owner
    del source
    gc.collect()
    assert sources._DESCRIPTORS.take(owner) is None


def test_removed_file_raises_format_error(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(CONTENT)
    source = FileSource(path)
    source.read(0, 1)
    path.unlink()
    for _ in range(2):
        with pytest.raises(FormatError, match="gone"):
            source.read(0, 1)


def rewrite(path: Path, at: int, data: bytes) -> None:
    """Change bytes in place and set the modification time back, as backup tools do."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_rewrite_keeping_size_and_time_is_detected_by_headers(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(CONTENT)
    source = FileSource(path)
    source.hold([(0, 8), (9000, 8)])
    part = PartSource(source, 4000, 100, "part")
    part.hold([(50, 8)])
    sent = copy.deepcopy(source)
    rewrite(path, 4052, b"!")
    for each in (source, sent, part):
        with pytest.raises(FormatError, match="headers that were read then; found others"):
            each.read(0, 4)
    rewrite(path, 4052, CONTENT[4052:4053])
    assert source.read(0, 4) == CONTENT[:4]


def test_metadata_only_change_is_accepted_after_one_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_bytes(CONTENT)
    source = FileSource(path)
    source.hold([(0, 8), (20, 8)])
    compared: list[object] = []
    real = sources_state._digest
    monkeypatch.setattr(
        sources_state, "_digest", lambda *each: compared.append(each) or real(*each)
    )
    for change in (
        lambda: path.chmod(0o600),
        lambda: os.link(path, tmp_path / "g"),
        lambda: rewrite(path, 9000, CONTENT[9000:9010]),
    ):
        compared.clear()
        change()
        for _ in range(3):
            assert source.read(300, 17) == CONTENT[300:317]
        assert len(compared) == 1


@pytest.mark.parametrize("known", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize("what", ["folder", "parent"])
def test_path_that_is_no_longer_a_file_raises_format_error(
    tmp_path: Path, what: str, known: bool
) -> None:
    path = tmp_path / "dump" / "f"
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    source = FileSource(path)
    if known:
        source.read(0, 1)  # leaves a descriptor
    path.unlink()
    if what == "folder":
        path.mkdir()
    else:
        path.parent.rmdir()
        path.parent.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(FormatError, match="it was there when it was opened") as caught:
            source.read(0, 1)
        assert ("a folder has taken" in str(caught.value)) == (what == "folder")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_failed_read_reports_errno_and_can_be_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = tmp_path / "f"
    path.write_bytes(CONTENT)
    source = FileSource(path, "f")

    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(sources, "_pread_into", refuse)
        with pytest.raises(OSError, match="it was there when it was opened") as caught:
            source.read(0, 1)
    assert caught.value.errno == number
    assert os.strerror(number) in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert source.read(0, 1) == CONTENT[:1]


def test_closed_stream_raises_format_error(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(CONTENT)
    with path.open("rb") as stream:
        source = StreamSource(stream)
    with pytest.raises(FormatError, match=r"closed file.*Keep it open"):
        source.read(0, 1)


def test_relative_path_survives_change_of_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_bytes(CONTENT)
    monkeypatch.chdir(tmp_path)
    source = FileSource("f")
    monkeypatch.chdir("/")
    assert source.read(1, 1) == b"\x01"
    assert source.name == "f"


def test_mutable_bytes_are_copied_and_immutable_are_not() -> None:
    data = bytearray(CONTENT)
    source = BytesSource(data)
    data[0:4] = b"zzzz"
    data.clear()
    assert source.read(0, 4) == CONTENT[:4]
    assert BytesSource(memoryview(CONTENT)[::2]).read(1, 2) == b"\x02\x04"
    assert BytesSource(CONTENT)._view.obj is CONTENT


def test_a_stream_keeps_its_position_and_stays_open() -> None:
    stream = io.BytesIO(CONTENT)
    stream.seek(11)
    source = StreamSource(stream)
    assert source.read(100, 3) == CONTENT[100:103]
    assert stream.tell() == 11
    del source
    assert not stream.closed


def test_truncated_stream_raises_format_error() -> None:
    stream = io.BytesIO(CONTENT)
    source = StreamSource(stream)
    stream.truncate(10)
    with pytest.raises(FormatError, match="changed after it was opened"):
        source.read(5, 20)


def test_as_source_accepts_paths_bytes_and_streams(tmp_path: Path) -> None:
    path = tmp_path / "f.gz"
    path.write_bytes(gzip.compress(CONTENT))
    assert isinstance(as_source(path), FileSource)
    assert isinstance(as_source(str(path)), FileSource)
    assert as_source(CONTENT).read(0, 2) == CONTENT[:2]
    assert as_source(bytearray(CONTENT), "named").name == "named"
    with gzip.open(path) as stream:
        assert as_source(stream).read(9000, 5) == CONTENT[9000:9005]
    source = BytesSource(CONTENT)
    assert as_source(source) is source
    read_end, write_end = os.pipe()
    os.write(write_end, b"from a pipe")
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        assert as_source(pipe).read(0, 11) == b"from a pipe"


def test_as_source_refuses_text_streams_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="text"):
        as_source(io.StringIO("text"))
    with pytest.raises(TypeError, match="int"):
        as_source(3)
    with pytest.raises(FileNotFoundError):
        as_source(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        as_source(tmp_path)


def test_format_error_shows_all_fields_and_can_be_copied() -> None:
    error = FormatError(
        "wrong", file="f", field="ndim", offset=24, expected="0 to 64", found=0, hint="Try it."
    )
    text = "f, field ndim, at byte 24: wrong; expected 0 to 64; found 0. Try it."
    assert str(error) == text
    other = copy.copy(error)
    assert (str(other), other.offset, other.hint) == (text, 24, "Try it.")
    assert str(FormatError("wrong", file="f")) == "f: wrong."
