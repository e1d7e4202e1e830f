"""The real files that mutants are made of, alone and as the folders they came in."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import tvmdbg_widgets as tvmdbg
from tests.make import tuning_cases
from tvmdbg_widgets.formats.registry import identify
from tvmdbg_widgets.model.sources.byte_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parents[1] / "data"
#: Bytes. No recorded file is larger; what someone adds to the folder may be.
LARGEST = 4_000_000
_PASSED_OVER = {".npz", ".png", ".md", ".log"}


@dataclass(frozen=True)
class Files:
    """What is opened together.

    Attributes
    ----------
    kind
        The format, or the kind of folder.
    contents
        Bytes by path.
    pack
        ``"bytes"`` hands the contents to ``open``, ``"folder"`` writes them, ``"tar"`` and
        ``"zip"`` make an archive of them.
    """

    kind: str
    contents: dict[str, bytes]
    pack: str = "bytes"

    @contextlib.contextmanager
    def opened(self) -> Iterator[Any]:
        """Yield what ``tvmdbg_widgets.open`` takes."""
        if self.pack == "folder":
            with tempfile.TemporaryDirectory() as folder:
                for name, content in self.contents.items():
                    path = Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                yield folder
        elif self.pack == "bytes":
            yield list(self.contents.values())
        else:
            yield _tar(self.contents) if self.pack == "tar" else _zip(self.contents)


def seeds() -> list[Files]:
    """Return all seeds in a fixed order."""
    corpus = os.environ.get("TVMDBG_CORPUS")
    roots = [tvmdbg.samples.resnet20_cifar.parent, DATA]
    if corpus:
        roots += [Path(corpus) / "tvm", Path(corpus) / "tuning"]
    found: list[Files] = []
    for root in roots:
        found += _single(root)
        found += _folders(root)
    return found + _made() + made_tunings()


def _read(paths: list[Path]) -> Iterator[tuple[Path, bytes, str]]:
    for path in paths:
        if path.suffix in _PASSED_OVER or path.stat().st_size > LARGEST:
            continue
        content = path.read_bytes()
        known = identify(BytesSource(content, path.name))
        if known is not None:
            yield path, content, known.what


def _single(root: Path) -> list[Files]:
    """Every file of a known format, the same content once."""
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    files = {content: Files(what, {path.name: content}) for path, content, what in _read(paths)}
    return list(files.values())


def _folders(root: Path) -> list[Files]:
    """The files of a dump together: those of a folder and of the debugger's folder in it."""
    found = []
    for folder in sorted({path.parent for path in root.rglob("*.json")}):
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        contents = {os.fspath(path.relative_to(folder)): data for path, data, _ in _read(paths)}
        if 2 <= len(contents) <= 12:
            found.append(Files("dump", contents, "folder" if len(found) % 4 == 0 else "bytes"))
    return found


def made_tunings() -> list[Files]:
    """Logs of each tuner, made by hand, with what is printed beside them."""
    random = Random(1)
    ansor = b"\n".join(tuning_cases.ansor(random, usual=i < 9).line for i in range(12))
    autotvm = b"\n".join(tuning_cases.autotvm(random).line for _ in range(6))
    records = b"\n".join(tuning_cases.metaschedule(random, i % 2).line for i in range(6))
    workload = b'["%d", "%s"]\n'
    workloads = b"".join(workload % (i, base64.b64encode(bytes(8) + b"{}")) for i in range(2))
    return [
        Files("Ansor log", {"ansor.json": ansor}),
        Files("AutoTVM log", {"autotvm.log": autotvm}),
        Files("MetaSchedule", {"records.json": records, "workloads.json": workloads}),
        Files("tuning", {"ansor.json": ansor, "output.txt": tuning_cases.OUTPUT}, "folder"),
    ]


def _made() -> list[Files]:
    """What the package itself writes of small runs: recordings, traces, small dumps, archives."""
    graph = DATA / "graph/split_multi_v0.19/_tvmdbg_graph_dump.json"
    times = DATA / "times/split_multi_v0.19"
    cache = DATA / "params/cache"
    found = [
        Files(
            "tensor cache",
            {path.name: path.read_bytes() for path in sorted((cache / name).glob("*.*"))},
            "folder",
        )
        for name in ("halved", "raw")
    ]
    run = tvmdbg.open([graph, *sorted(times.iterdir())])
    whole = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    with tempfile.TemporaryDirectory() as folder:
        below = Path(folder)
        run.save(below / "kept")
        run.to_chrome_trace(below / "trace.json")
        whole.extract([5, 6, 7], below / "mini", hops=1)
        found.append(Files("Chrome trace", {"trace.json": (below / "trace.json").read_bytes()}))
        for name in ("kept", "mini"):
            paths = sorted(path for path in (below / name).rglob("*") if path.is_file())
            contents = {os.fspath(p.relative_to(below / name)): p.read_bytes() for p in paths}
            found += [Files(f"folder {name}", contents, pack) for pack in ("folder", "tar", "zip")]
            found.append(Files("archive", {"a.tar.gz": _tar(contents)}))
            found.append(Files("archive", {"a.zip": _zip(contents)}))
    return found + [_library(version) for version in (3, 5, 7)]


def _library(version: int) -> Files:
    """A model library as ``python/tvm/micro/model_library_format.py`` lays it out."""
    from tests.formats.tvm.test_model_library import files_of

    return Files("model library", files_of(version, "net"), "tar")


def _tar(contents: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def _zip(contents: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return out.getvalue()
