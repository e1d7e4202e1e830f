"""Libraries of ``export_library``: graph and parameters lie in their data as TVM serializes them.

No library of TVM is small enough to keep: these are compiled from the C source that TVM's
``PackImportsToC`` prints (src/target/codegen.cc @ v0.8 to v0.19).
"""

import io
import json
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document, null, operator
from tvmdbg_widgets.formats.tvm.model_library import inside_library
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource

pytestmark = pytest.mark.spec_only

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)
NODES = [null("x"), null("w"), operator("fused_add", "tvmgen_fused_add", [0, 1])]
GRAPH = document(NODES, shapes=(2, 3))


def text(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def array(values: np.ndarray) -> bytes:
    head = struct.pack("<QQiii", 0xDD5E40F096B4A13F, 0, 1, 0, values.ndim)
    head += struct.pack("<BBH", 2, 32, 1) + struct.pack(f"<{values.ndim}q", *values.shape)
    return head + struct.pack("<q", values.nbytes) + values.tobytes()


def blob(
    *, key: bytes = b"GraphExecutorFactory", params: bool = True, cut: int | None = None
) -> bytes:
    names = [b"w"] if params else []
    factory = text(json.dumps(GRAPH).encode()) + struct.pack("<QQ", len(names), len(names))
    factory += b"".join(map(text, names)) + (array(VALUES) if params else b"") + text(b"default")
    tree = text(b"_import_tree") + struct.pack("<QQQQQ", 3, 0, 1, 1, 1) + struct.pack("<Q", 1)
    data = struct.pack("<Q", 3) + text(key) + factory + text(b"_lib") + tree
    data = data[:cut]
    return struct.pack("<Q", len(data)) + data


def in_c(data: bytes) -> bytes:
    numbers = ",".join(f"0x{byte:x}" for byte in data)
    return (
        b"#ifdef _WIN32\n#define TVM_EXPORT __declspec(dllexport)\n#else\n#define TVM_EXPORT\n"
        b"#endif\nTVM_EXPORT extern const unsigned char __tvm_dev_mblob[];\n"
        + f"const unsigned char __tvm_dev_mblob[{len(data)}] = {{\n  {numbers}\n}};\n".encode()
    )


def compiled(folder: Path, data: bytes, *flags: str) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (folder / "devc.c").write_bytes(in_c(data))
    made = folder / ("devc.o" if "-c" in flags else "net.so")
    command = [compiler, *flags, "-o", str(made), str(folder / "devc.c")]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip(f"the compiler cannot do {' '.join(flags)}")
    (folder / "devc.c").unlink()
    return made


def assert_whole(run: tvmdbg.DebugRun, *, params: bool = True) -> None:
    assert list(run.graph.names) == ["x", "w", "fused_add"]
    found = {tensor.key: tensor.numpy() for tensor in (run.tensors or {}).values()}
    assert set(found) == ({"w"} if params else set())
    if params:
        assert np.array_equal(found["w"], VALUES)
        assert run.graph.nodes[1].kind.name == "PARAMETER"
    assert not [issue for issue in run.check() if issue.severity == "error"]
    assert not run.check().by_rule("trailing-bytes")


@pytest.mark.parametrize("flags", [("-shared",), ("-shared", "-s"), ("-c",), ("-m32", "-c")])
@pytest.mark.parametrize("params", [True, False], ids=["linked", "graph alone"])
def test_a_compiled_library_opens(tmp_path: Path, flags: tuple[str, ...], params: bool) -> None:
    assert_whole(tvmdbg.open(compiled(tmp_path, blob(params=params), *flags)), params=params)
    assert_whole(tvmdbg.open(tmp_path), params=params)


@pytest.mark.parametrize("key", [b"GraphExecutorFactory", b"GraphRuntimeFactory"])
@pytest.mark.parametrize(
    "magic", [b"\xcf\xfa\xed\xfe", b"MZ\x90\0", b"\x7fELF\2\2", b"\x64\x86\4\0"]
)
def test_foreign_containers_are_searched_for_serialized_graph(magic: bytes, key: bytes) -> None:
    for before in (100, (1 << 22) - 40, (1 << 22) + 3):
        assert_whole(tvmdbg.open(magic + bytes(before) + blob(key=key) + bytes(50)))


@pytest.mark.parametrize("member", ["devc.o", "devc.c"])
def test_an_archive_of_objects_opens(tmp_path: Path, member: str) -> None:
    data = in_c(blob())
    if member == "devc.o":
        data = compiled(tmp_path, blob(), "-c").read_bytes()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in (("lib0.o", b"\x7fELF" + bytes(300)), (member, data)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    assert_whole(tvmdbg.open(packed.getvalue()))


def test_library_without_graph_is_refused() -> None:
    for inside in (b"", text(b"GraphExecutorFactory"), b"GraphExecutorFactory and words"):
        with pytest.raises(FormatError, match="a library without a graph"):
            tvmdbg.open(b"\x7fELF" + bytes(60) + inside + bytes(60))


@pytest.mark.parametrize("lie", [1, 2**31, 2**63, 2**64 - 1])
def test_false_counts_are_refused(lie: int) -> None:
    data = b"\x7fELF" + bytes(60) + blob()
    graph = len(json.dumps(GRAPH))
    start = data.index(b"GraphExecutorFactory") + len(b"GraphExecutorFactory")
    for at in (start, start + 8 + graph, start + 16 + graph, start + 24 + graph):
        broken = data[:at] + struct.pack("<Q", lie) + data[at + 8 :]
        if broken != data:
            with pytest.raises(FormatError):
                tvmdbg.open(broken)


def test_names_and_keys_of_a_library_are_read_in_large_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each was a read of the file: 500,000 empty names took four seconds."""
    reads = []
    whole = BytesSource.read

    def counted_read(self: BytesSource, offset: int, length: int) -> bytes:
        reads.append(length)
        return bytes(whole(self, offset, length))

    monkeypatch.setattr(BytesSource, "read", counted_read)
    key, count = text(b"GraphExecutorFactory"), 5_000
    factory = key + text(json.dumps(GRAPH).encode()) + struct.pack("<QQ", count, count)
    data = b"\x7fELF" + bytes(60) + (key + text(b"x" * 8)) * count + factory + bytes(8 * count)
    parts = inside_library(BytesSource(data + array(VALUES) * count, "lib.so"))
    assert [kind for kind, _ in parts] == ["graph", "params"]
    assert len(reads) < 300


POINTER = b"""version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
"""


def test_git_lfs_pointer_is_reported(tmp_path: Path) -> None:
    for data in (POINTER, POINTER.replace(b"\n", b"\r\n")):
        with pytest.raises(FormatError) as caught:
            tvmdbg.open(data)
        assert "Git LFS pointer to a file of 12,345 bytes (sha256:4d7a2146" in str(caught.value)
        assert "git lfs pull" in str(caught.value)
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    (tmp_path / "net.params").write_bytes(POINTER)
    (issue,) = tvmdbg.open(tmp_path).check().by_rule("lfs-pointer")
    assert issue.file == "net.params"
    assert "git lfs pull" in issue.message
    with pytest.raises(FormatError, match="git lfs pull"):
        tvmdbg.load_params(POINTER)


def test_mxnet_parameters_are_named_in_error() -> None:
    data = struct.pack("<QQ", 0x112, 0) + bytes(40)
    with pytest.raises(FormatError, match="MXNet's parameters"):
        tvmdbg.open(data)
    with pytest.raises(FormatError, match="MXNet's parameters"):
        tvmdbg.load_params(data)
