"""The files that mutants are made of, alone and as the folders they came in: of every format."""

import base64
import gzip
import json
import lzma
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import tvmdbg_widgets as tvmdbg
from benchmarks.growing import GROWING
from tests.formats.rpc.rpc_cases import GRAMMARS, conversation
from tests.make import tuning_cases
from tests.make.fuzz.files import Files, tarred, zipped
from tvmdbg_widgets.formats.families import KINDS
from tvmdbg_widgets.formats.family import identify
from tvmdbg_widgets.sources.byte_source import BytesSource

DATA = Path(__file__).parents[2] / "data"
#: Bytes. Hardly any recorded file is larger, and a mutant of it says nothing that one of a smaller
#: file would not.
LARGEST = 400_000
CORPUS = ("tvm", "tuning", "executorch", "relax", "public")
_PASSED_OVER = {".npz", ".png", ".md", ".npy"}
#: Openers that tell files by content.
_READING = {"open", "open_tuning"}

_DELEGATION = """\
Total delegated subgraphs: 2
Number of delegated nodes: 203
Number of non-delegated nodes: 7

│    │ op_type       │   occurrences_in_delegated_graphs │ occurrences_in_non_delegated_graphs │
├────┼───────────────┼───────────────────────────────────┼─────────────────────────────────────┤
│  0 │ aten_add      │                               200 │                                   0 │
│  1 │ aten_mean_dim │                                 3 │                                   1 │
│  2 │ Total         │                               203 │                                   7 │
"""
_VM = f"""\
{"#OpName":<80}\t{"#InvokeCount":<10}\t#Duration(us): Sum/Mean/Min/Max
{"fused_nn_dense":<80}\t{3:<10}\t299.75/99.9167/80.25/120.5
{"fused_add":<80}\t{1:<10}\t1.5/1.5/1.5/1.5

Total Duration: 301.25 us.\tTotal Packed Functions: 4
"""
_IR = """\
%0 = type { ptr, %1, i32, %2, ptr, ptr, i64 }
%1 = type { i32, i32 }
%2 = type { i8, i8, i16 }
define i32 @tvmgen_add(ptr %args, ptr %codes, i32 %count) {
entry:
  %3 = load ptr, ptr %args, align 8
  %4 = getelementptr inbounds %0, ptr %3, i64 0, i32 4
  %shape = load ptr, ptr %4, align 8
  %5 = getelementptr inbounds i8, ptr %3, i64 20
  %code = load i8, ptr %5, align 1
  ret i32 0
}
"""
_MESSAGE = """\
Traceback (most recent call last):
  2: TVMFuncCall
  1: tvm::runtime::GraphExecutor::SetInput(int, DLTensor*)
  0: tvm::runtime::NDArray::CopyFrom(DLTensor const*) const
  File "/home/me/tvm/src/runtime/ndarray.cc", line 127
TVMError: Check failed: (to_size == from_size) is false: \
TVMArrayCopyFromTo: The size must exactly match
Assert fail: (((code == 2) && (bits == 32)) && (lanes == 1)), \
tvmgen_add: expect p0.dtype to be float32
"""


def seeds(*, corpus: bool = True) -> list[Files]:
    """Return all seeds in a fixed order; those of the corpus where there is one."""
    roots = [tvmdbg.samples.resnet20_cifar.parent, DATA]
    folder = os.environ.get("TVMDBG_CORPUS") if corpus else None
    roots += [Path(folder) / name for name in CORPUS] if folder else []
    found: dict[bytes, Files] = {}
    together: list[Files] = []
    for root in roots:
        for each in _single(root):
            found.setdefault(*each)
        together += _folders(root)
        together += _runs(root)
    together += [*_made(), *made_tunings(), *_texts(), *_remote()]
    for each in together:
        for name, content in each.contents.items():
            known = identify(BytesSource(content, name), KINDS) if each.opener in _READING else None
            if known is not None:
                found.setdefault(content, Files(known.what, {name: content}))
    return [*found.values(), *together]


def _read(paths: list[Path]) -> Iterator[tuple[Path, bytes, str | None]]:
    for path in paths:
        if path.suffix in _PASSED_OVER or path.stat().st_size > LARGEST:
            continue
        content = path.read_bytes()
        if path.suffix == ".xz":
            content = lzma.decompress(content)
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        if len(content) <= LARGEST:
            known = identify(BytesSource(content, path.name), KINDS)
            yield path, content, known.what if known else None


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def _single(root: Path) -> Iterator[tuple[bytes, Files]]:
    """Every file of a known format, and texts for :func:`tvmdbg_widgets.explain`."""
    for path, content, what in _read(_files(root)):
        if what is not None:
            yield content, Files(what, {path.name: content})
        elif path.parent.name == "messages":
            yield content, Files("message", {path.name: content}, opener="explain")


def _folders(root: Path) -> list[Files]:
    """The files of a dump together: those of a folder and of the debugger's folder in it."""
    found = []
    for folder in sorted({path.parent for path in root.rglob("*.json")}):
        contents = {
            os.fspath(path.relative_to(folder)): data
            for path, data, what in _read(_files(folder))
            if what is not None
        }
        if 2 <= len(contents) <= 12 and sum(map(len, contents.values())) <= LARGEST:
            found.append(Files("dump", contents, "folder" if len(found) % 4 == 0 else "bytes"))
    return found


def _runs(root: Path) -> Iterator[Files]:
    """What one run of ExecuTorch left: ETDump, record, program, and the buffer without a head."""
    kept = {".etdp", ".bin", ".pte", ".bpte", ".ptd"}
    for dump in sorted(root.rglob("etdump.etdp")):
        paths = [path for path in _files(dump.parent) if path.suffix in kept]
        contents = {path.name: path.read_bytes() for path in paths}
        if len(contents) > 1 and sum(map(len, contents.values())) <= LARGEST:
            yield Files("ExecuTorch run", contents, "folder")


def made_tunings() -> list[Files]:
    """Logs of each tuner, made by hand, with what is printed beside them."""
    random = Random(1)
    ansor = b"\n".join(tuning_cases.ansor(random, usual=i < 9).line for i in range(12))
    autotvm = b"\n".join(tuning_cases.autotvm(random).line for _ in range(6))
    records = b"\n".join(tuning_cases.metaschedule(random, i % 2).line for i in range(6))
    workload = b'["%d", "%s"]\n'
    workloads = b"".join(workload % (i, base64.b64encode(bytes(8) + b"{}")) for i in range(2))
    dag = "A = PLACEHOLDER [4, 8]\nB = PLACEHOLDER [8, 4]\nC(i, j) += (A[i, k]*B[k, j])\n"
    dags = json.dumps({tuning_cases.KEYS[0]: dag, tuning_cases.KEYS[2]: dag}).encode()
    return [
        Files("Ansor log", {"ansor.json": ansor}),
        Files("AutoTVM log", {"autotvm.log": autotvm}),
        Files("MetaSchedule", {"records.json": records, "workloads.json": workloads}),
        Files("tuning", {"ansor.json": ansor, "output.txt": tuning_cases.OUTPUT}, "folder"),
        Files("tuning and DAGs", {"ansor.json": ansor, "dags.json": dags}, opener="open_tuning"),
    ]


def _texts() -> Iterator[Files]:
    """Texts that people paste: tables, memory, IR, messages."""
    yield Files("dump and delegation", {"delegation.txt": _DELEGATION.encode()})
    yield Files("VM profiler's table", {"vm.txt": _VM.encode()})
    yield Files("message", {"message.txt": _MESSAGE.encode()}, opener="explain")
    yield Files("LLVM IR", {"module.ll": _IR.encode()}, opener="LLVM IR")
    memory = Random(2).randbytes(96)
    rows = [
        f"{at:08x}: {memory[at : at + 16].hex(' ', 2)}  {'.' * 16}\n"
        for at in range(0, len(memory), 16)
    ]
    yield Files("hex dump", {"dump.txt": "".join(rows).encode()}, opener="hex dump")
    for path in sorted((DATA / "executorch").glob("0*/inspector.json.xz"))[:4]:
        frame = json.loads(lzma.decompress(path.read_bytes())).get("inspector", {}).get("dataframe")
        if isinstance(frame, dict) and frame.get("rows"):
            rows = [frame["columns"], *frame["rows"][:20]]
            lines = ["\t".join(str(cell) for cell in row) for row in rows]
            yield Files("Inspector's table", {"events.tsv": "\n".join(lines).encode()})


def _remote() -> Iterator[Files]:
    """Both directions of a remote run, of each release; with and without handshakes."""
    for own in GRAMMARS:
        client, server = conversation(own)
        yield Files("RPC session", {"client.bin": client, "server.bin": server})
        asked, answered = conversation(own, kept=False)
        yield Files("RPC part", {"c.bin": asked, "s.bin": answered}, opener="open_rpc")


def _made() -> Iterator[Files]:
    """What the package itself writes of small runs: recordings, traces, small dumps, archives."""
    cache = DATA / "params/cache"
    for name in ("halved", "raw"):
        paths = sorted((cache / name).glob("*.*"))
        yield Files("tensor cache", {path.name: path.read_bytes() for path in paths}, "folder")
    graph = DATA / "graph/split_multi_v0.19/_tvmdbg_graph_dump.json"
    run = tvmdbg.open([graph, *sorted((DATA / "times/split_multi_v0.19").iterdir())])
    whole = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    with tempfile.TemporaryDirectory() as folder:
        below = Path(folder)
        run.save(below / "kept")
        run.to_chrome_trace(below / "trace.json")
        whole.extract([5, 6, 7], below / "mini", hops=1)
        yield Files("Chrome trace", {"trace.json": (below / "trace.json").read_bytes()})
        (below / "reports").mkdir()
        GROWING["rows of reports"](below / "reports", 6)
        for name in ("reports", "kept", "mini"):
            contents = {
                os.fspath(p.relative_to(below / name)): p.read_bytes() for p in _files(below / name)
            }
            for pack in ("folder", "tar", "zip"):
                yield Files(f"folder {name}", contents, pack)
            if name != "reports":
                yield Files("archive", {"a.tar.gz": tarred(contents)})
                yield Files("archive", {"a.zip": zipped(contents)})
    stages = [{"name": "relax", "text": "def main(x):\n  return x\n"}]
    text = json.dumps({"format": "tvmdbg-ir", "version": 1, "stages": stages})
    yield Files("IR text", {"tvmdbg_ir.json": text.encode()})
    for version in (3, 5, 7):
        yield _library(version)
    from tests.formats.tvm.test_exported_library import blob, in_c

    object_file = b"\x7fELF\2\2" + bytes(100) + blob() + bytes(50)
    yield Files("exported library", {"net.so": object_file})
    yield Files("exported library", {"devc.c": in_c(blob()), "lib0.o": b"\x7fELF"}, "tar")


def _library(version: int) -> Files:
    """A model library as ``python/tvm/micro/model_library_format.py`` lays it out."""
    from tests.formats.tvm.test_model_library import files_of

    return Files("model library folder", files_of(version, "net"), "tar")
