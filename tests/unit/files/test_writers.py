"""Every writer of the package under faults: the old file survives, or the new one is whole."""

import ast
import errno
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.fuzz.seeds import made_tunings
from tests.make.params import write_params
from tvmdbg_widgets.model.base.writing import new_folder, replacing, replacing_all

resource = pytest.importorskip("resource")

PACKAGE = Path(tvmdbg.__file__).parent
DATA = Path(__file__).parents[2] / "data"
DUMP = [
    DATA / "graph/split_multi_v0.19/_tvmdbg_graph_dump.json",
    *sorted((DATA / "times/split_multi_v0.19").iterdir()),
]
#: What may open a file to write, or put one in another's place, and why.
MAY_WRITE = {
    "model/base/writing.py": "the one way to write a file, and a folder",
    "formats/writer.py:_copy": "in a folder that is not in its place yet",
    "formats/writer.py:write_recording": "in a folder that is not in its place yet",
    "export/extract.py:_write": "in a folder that is not in its place yet",
    "export/extract.py:_write_json": "in a folder that is not in its place yet",
    "export/rerun_script.py:write": "a script that runs where this package is not",
    "export/rerun_script.py:copies": "a script that runs where this package is not",
    "cli/common/terminal.py:prepare": "the null device",
    "cli/common/verbs.py:_close_stdout": "the null device",
    "sources/file_source.py:_at_once": "opens to read",
    "cli/convert.py:_opened": "a temporary file without a name",
}
METHODS = {
    *("write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "tofile", "fdopen"),
    *("savez", "savez_compressed", "savetxt", "copyfileobj", "copy2", "copyfile", "copytree"),
    *("to_csv", "to_parquet", "to_excel", "to_pickle", "to_feather"),
    *("mkstemp", "NamedTemporaryFile", "TemporaryFile"),
}
FUNCTIONS = {
    *(("np", "save"), ("json", "dump"), ("pickle", "dump")),
    *(("shutil", "copy"), ("shutil", "move"), ("os", "replace"), ("os", "rename"), ("os", "link")),
}


def run() -> tvmdbg.DebugRun:
    return tvmdbg.open(DUMP)


def log() -> tvmdbg.TuningLog:
    files = next(each for each in made_tunings() if each.kind == "Ansor log")
    return tvmdbg.open_tuning(next(iter(files.contents.values())))


def events() -> Any:
    return tvmdbg.open(DATA / "executorch/01_mlp_portable").inspector


def traced(path: Path) -> None:
    pytest.importorskip("flatbuffers")
    tracer = tvmdbg.executorch.EventTracer()
    with tracer.event_block("Execute"):
        tracer.log_evalue(np.arange(64, dtype=np.float32))
    tracer.save(path)


def array(path: Path) -> None:
    write_params(path, {"a": np.arange(64, dtype=np.float32)})


WRITERS: dict[str, Callable[[Path], Any]] = {
    "page.html": lambda path: run().save_html(path),
    "view.html": lambda path: tvmdbg.GraphView(run()).save_html(path),
    "log.html": lambda path: log().save_html(path),
    "figure.svg": lambda path: run().figure("graph").save(path),
    "figure.png": lambda path: run().figure("graph").save(path),
    "report.md": lambda path: run().report().save(path),
    "trace.json": lambda path: run().to_chrome_trace(path),
    "model.json": lambda path: run().to_model_explorer().save(path),
    "log.json": lambda path: log().write(path),
    "reuse.py": lambda path: log().reuse().save(path),
    "trace.etdp": traced,
    "array.params": array,
    "events.tsv": lambda path: events().save_data_to_tsv(path),
}
FOLDERS: dict[str, Callable[[Path], Any]] = {
    "save": lambda path: run().save(path),
    "extract": lambda path: run().extract([1, 2], path),
}


@contextmanager
def full_disk(size: int = 16) -> Iterator[None]:
    """Let no file become larger, as a full disk does; Python would leave half of its bytecode."""
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        monkeypatch.undo()


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.rglob("*") if each.is_file()}


@pytest.mark.parametrize("name", WRITERS)
def test_full_disk_keeps_old_file_and_no_temporary_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    with (
        full_disk(),
        pytest.raises(OSError, match="what was there before stays; make room") as told,
    ):
        WRITERS[name](path)
    assert str(tmp_path) in str(told.value.filename)
    assert contents(tmp_path) == {name: b"old"}
    WRITERS[name](path)
    assert path.read_bytes() != b"old"
    assert not [each for each in contents(tmp_path) if each.startswith(".")]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_full_disk_leaves_no_half_folder(name: str, tmp_path: Path) -> None:
    with full_disk(), pytest.raises(OSError, match="make room"):
        FOLDERS[name](tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["figure.svg", "events.tsv", "trace.etdp", "log.json"])
def test_writer_refuses_folder_and_follows_symlink(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError, match="name a file in it"):
        WRITERS[name](tmp_path / name)
    (tmp_path / name).rmdir()
    below = tmp_path / "below"
    below.mkdir()
    (below / "target").write_bytes(b"old")
    (tmp_path / name).symlink_to(below / "target")
    WRITERS[name](tmp_path / name)
    assert (tmp_path / name).is_symlink()
    assert (below / "target").read_bytes() not in (b"", b"old")


def test_permission_error_names_the_target_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Any, *_args: Any, **_how: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))

    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(PermissionError, match="name a folder that you may write to") as told:
        replacing(tmp_path / "a").__enter__()
    assert told.value.filename == str(tmp_path / "a")
    with pytest.raises(PermissionError, match="name a folder that you may write to"):
        new_folder(tmp_path / "b").__enter__()
    assert contents(tmp_path) == {"a": b"old"}


def test_permission_error_of_another_file_is_unchanged(tmp_path: Path) -> None:
    def read_another() -> None:
        with replacing(tmp_path / "a"):
            raise PermissionError(errno.EACCES, "Permission denied", "/elsewhere/b")

    with pytest.raises(PermissionError, match="Permission denied: '/elsewhere/b'"):
        read_another()


def test_file_pair_is_kept_when_either_write_fails(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for each in paths:
        each.write_bytes(b"old")

    def write(large: int) -> None:
        with replacing_all(paths) as files:
            for at, file in enumerate(files):
                file.write(bytes(4096 if at == large else 8))

    for large in (0, 1):
        with full_disk(), pytest.raises(OSError, match="make room"):
            write(large)
        assert contents(tmp_path) == {"a": b"old", "b": b"old"}


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "a.svg"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    run().figure("graph").save(pipe)
    reader.join(20)
    assert b"<svg" in got[0]
    assert pipe.is_fifo()
    with replacing(os.devnull) as file:
        file.write(b"x")
    assert Path(os.devnull).is_char_device()


def test_concurrent_writers_never_mix_their_data(tmp_path: Path) -> None:
    path, wrong = tmp_path / "a", []
    path.write_bytes(b"a" * 300_000)
    stop = threading.Event()

    def write(letter: bytes) -> None:
        for _ in range(40):
            with replacing(path) as file:
                for _ in range(30):
                    file.write(letter * 10_000)

    def read() -> None:
        while not stop.is_set():
            found = path.read_bytes()
            if len(found) != 300_000 or len(set(found)) != 1:
                wrong.append(len(found))

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(each,)) for each in (b"b", b"c")]
    for each in (reader, *writers):
        each.start()
    for each in writers:
        each.join(60)
    stop.set()
    reader.join(60)
    assert wrong == []
    assert list(contents(tmp_path)) == ["a"]


def endless(path: Path, begun: Any) -> None:
    with replacing(path) as file:
        file.write(b"half")
        file.flush()
        begun.set()
        time.sleep(600)


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    spawn = multiprocessing.get_context("fork")
    begun = spawn.Event()
    writer = spawn.Process(target=endless, args=(path, begun))
    writer.start()
    assert begun.wait(20)
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join(20)
    assert path.read_bytes() == b"old"
    with replacing(path) as file:
        file.write(b"new")
    assert contents(tmp_path) == {"a": b"new"}


_NAMES = "|".join({*METHODS, "rename", *(name for _, name in FUNCTIONS)})
_MAY_CALL = re.compile(rf"\b(\w*open|\w+File|{_NAMES})\(|\bos\.")
_MODE = re.compile(r"(?=.*[wax+])[rwaxbt+]{1,3}(:\w*)?")


class _Writes(ast.NodeVisitor):
    """The functions of a module that write files by themselves."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.inside = ["<module>"]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.inside.append(node.name)
        self.generic_visit(node)
        self.inside.pop()

    def visit_Call(self, node: ast.Call) -> None:
        if self._writes(node):
            self.found.add(self.inside[-1])
        self.generic_visit(node)

    def _writes(self, node: ast.Call) -> bool:
        called = node.func
        name = getattr(called, "attr", getattr(called, "id", ""))
        owner = called.value.id if _is_named(called) else ""
        if name in METHODS or (owner, name) in FUNCTIONS:
            return True
        if name == "rename":  # of a path; a column has keywords
            return len(node.args) == 1 and not isinstance(node.args[0], ast.Constant)
        if (owner, name) == ("os", "open"):
            return "O_RDONLY" not in ast.unparse(node)
        if name not in {"open", "ZipFile", "TarFile", "GzipFile", "LZMAFile", "BZ2File"}:
            return False
        given = [*node.args, *(each.value for each in node.keywords if each.arg == "mode")]
        modes = [str(each.value) for each in given if isinstance(each, ast.Constant)]
        return any(_MODE.fullmatch(mode) for mode in modes)


def _is_named(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)


def test_only_listed_modules_write_files() -> None:
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if not _MAY_CALL.search(text):
            continue
        visitor = _Writes()
        visitor.visit(ast.parse(text))
        file = path.relative_to(PACKAGE).as_posix()
        found |= {file if file in MAY_WRITE else f"{file}:{each}" for each in visitor.found}
    assert found == set(MAY_WRITE), "write through model/base/writing.py, or say why not"
