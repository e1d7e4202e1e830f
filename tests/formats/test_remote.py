"""Files behind a URL: read by range, told apart when they change, and as right as local ones."""

import contextlib
import io
import json
import pickle
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from formats.web import Site, serving
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.graph_json import graph_json, null
from tests.make.fuzz.files import zipped
from tests.make.params import write_params
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.formats.tvm.params.file import ParamsFile, read_params
from tvmdbg_widgets.model.base import text
from tvmdbg_widgets.model.base.text import FormatError, without_secrets
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.sources import given as sources_remote
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.given import RemoteSource, as_source

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

SAMPLE = tvmdbg.samples.resnet20_cifar
CONTENT = bytes(range(256)) * 2000


def sample_files(prefix: str = "/run") -> dict[str, bytes]:
    paths = [path for path in SAMPLE.rglob("*") if path.is_file()]
    return {f"{prefix}/{p.relative_to(SAMPLE).as_posix()}": p.read_bytes() for p in paths}


@pytest.fixture
def memory() -> Any:
    files = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


def same_run(run: tvmdbg.DebugRun) -> None:
    local = tvmdbg.open(SAMPLE)
    assert list(run.tensors) == list(local.tensors)
    for entry in list(local.tensors)[::7]:
        assert run.tensors[entry].raw().tobytes() == local.tensors[entry].raw().tobytes()
    assert run.provenance.device == "CPU:0"
    assert run.provenance.evidence == local.provenance.evidence
    assert np.array_equal(run.timeline.node_ns, local.timeline.node_ns)


@pytest.mark.parametrize(
    "options", [{}, {"ranges": False}, {"lengths": False}], ids=["ranges", "whole", "no length"]
)
@pytest.mark.parametrize("path", ["/run", "/run/", "/d.zip"])
def test_dump_over_http_opens_as_the_same_run(options: dict[str, bool], path: str) -> None:
    with serving({**sample_files(), "/d.zip": zipped(sample_files("run"))}, **options) as site:
        run = tvmdbg.open(site.url + path)
        assert run.title == path.strip("/")
        same_run(run)


@pytest.mark.parametrize("url", ["memory://run", "memory://d.zip", "zip://run::memory://d.zip"])
def test_a_dump_in_any_store_is_the_same_run(memory: Any, url: str) -> None:
    for name, data in {**sample_files(), "/d.zip": zipped(sample_files("run"))}.items():
        memory.pipe(name, data)
    same_run(tvmdbg.open(url))


def test_only_headers_are_fetched_until_values_are_asked_for() -> None:
    files = sample_files()
    with serving(files) as site:
        run = tvmdbg.open(f"{site.url}/run/_tvmdbg_device_CPU_0/output_tensors.params")
        params = len(files["/run/_tvmdbg_device_CPU_0/output_tensors.params"])
        assert site.sent < params / 2
        before = site.sent
        tensor = run.tensors[max(run.tensors, key=lambda e: run.tensors[e].nbytes)]
        assert tensor.window((0,)).size
        assert site.sent - before < tensor.nbytes


def test_server_without_ranges_is_not_asked_once_per_header() -> None:
    path = "/run/_tvmdbg_device_CPU_0/output_tensors.params"
    with serving(sample_files(), ranges=False) as site:
        run = tvmdbg.open(site.url + path)
        for tensor in run.tensors.values():
            tensor.raw()
        assert site.count(path) <= 3


def test_a_file_too_large_for_a_server_without_ranges_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sources_remote, "MOST_WHOLE", 100_000)
    for options in ({"ranges": False}, {"lengths": False}):
        with serving({"/f": CONTENT}, **options) as site:
            with pytest.raises(FormatError, match="only be read whole") as caught:
                RemoteSource(f"{site.url}/f").read(200_000, 1)
            assert caught.value.hint == "Download it and open the copy."
            assert site.count("/f") <= 3


def test_ranges_are_read_correctly_from_many_threads() -> None:
    with serving({"/f": CONTENT}) as site:
        source = pickle.loads(pickle.dumps(as_source(f"{site.url}/f")))  # noqa: S301 (our own)
        wrong = []

        def work(start: int) -> None:
            for step in range(10):
                offset = (start * 37_123 + step * 10_111) % (len(CONTENT) - 64)
                if source.read(offset, 64) != CONTENT[offset : offset + 64]:
                    wrong.append(offset)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert source.size == len(CONTENT)
        with pytest.raises(FormatError, match="ends before"):
            source.read(len(CONTENT) - 1, 2)
        ranges = [(400_000, 5), (10, 10), (100_000, 100), (100_050, 3)]
        assert source.read_ranges(ranges) == [CONTENT[a : a + n] for a, n in ranges]


def test_changed_remote_file_raises(memory: Any) -> None:
    memory.pipe("/f", CONTENT)
    source = RemoteSource("memory://f")
    assert source.read(70_000, 4) == CONTENT[70_000:70_004]
    memory.pipe("/f", CONTENT[:-1] + b"!")
    with pytest.raises(FormatError, match="file changed after it was opened"):
        source.read(70_000, 4)
    with serving({"/f": CONTENT}) as site:
        source = RemoteSource(f"{site.url}/f")
        assert source.read(70_000, 4) == CONTENT[70_000:70_004]
        site.files["/f"] = CONTENT[::-1]
        with pytest.raises(FormatError, match="file changed after it was opened"):
            source.read(70_000, 4)
        site.files["/f"] = CONTENT[:80_000]
        with pytest.raises(FormatError, match="file changed after it was opened"):
            source.read(79_000, 4_000)


def test_deleted_remote_file_raises(memory: Any) -> None:
    memory.pipe("/f", CONTENT)
    source = RemoteSource("memory://f")
    memory.rm("/f")
    with pytest.raises(FormatError, match="is gone; it was there when it was opened"):
        source.read(70_000, 4)
    with serving({"/f": CONTENT}) as site:
        fetched, other = RemoteSource(f"{site.url}/f"), RemoteSource(f"{site.url}/f")
        assert fetched.read(70_000, 4) == CONTENT[70_000:70_004]
        del site.files["/f"]
        for each in (fetched, other):
            with pytest.raises((FormatError, OSError), match="it was there when it was opened"):
                each.read(70_000, 4)
            with pytest.raises((FormatError, OSError), match="it was there when it was opened"):
                each.read_ranges([(70_000, 4)])


def test_missing_file_protocol_or_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({}) as site, pytest.raises(FileNotFoundError, match="there is no such file"):
        tvmdbg.open(f"{site.url}/nothing")
    with pytest.raises(ValueError, match="foo://x: Protocol not known"):
        tvmdbg.open("foo://x")
    with pytest.raises(ImportError, match=r"s3fs.*tvmdbg-widgets\[remote\]"):
        tvmdbg.open("s3://bucket/dump")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r'pip install "tvmdbg-widgets\[remote\]"'):
        tvmdbg.load_params("http://127.0.0.1/x.params")


@pytest.mark.parametrize(
    ("status", "kind"), [(403, PermissionError), (500, OSError), (404, FileNotFoundError)]
)
def test_server_status_is_mapped_to_the_matching_error(status: int, kind: type[OSError]) -> None:
    with serving({"/f": CONTENT}, status=status) as site, pytest.raises(OSError) as caught:
        RemoteSource(f"{site.url}/f?Signature=secret")
    assert type(caught.value) is kind
    assert "secret" not in str(caught.value)
    assert status == 404 or str(status) in str(caught.value)


def test_unreachable_server_is_not_reported_as_missing_file() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/f"
        for read in (RemoteSource, tvmdbg.open):
            with pytest.raises(OSError, match="cannot be read over the network") as caught:
                read(url)
            assert not isinstance(caught.value, FileNotFoundError)
            assert "onnect" in str(caught.value)


def test_secrets_of_a_url_are_not_shown() -> None:
    assert without_secrets("https://me:pw@h/a.zip?Signature=1") == "https://h/a.zip"
    assert without_secrets("zip://x::https://h/a.zip?s=1/2@3") == "zip://x::https://h/a.zip"
    assert without_secrets("https://me:p@s:w@h:8080/a@b.zip") == "https://h:8080/a@b.zip"
    assert without_secrets("https://me:p/w@h/a.zip") == "https://h/a.zip"
    assert without_secrets("https://h:8080/a@b.zip") == "https://h:8080/a@b.zip"
    with serving({"/d.zip": zipped(sample_files("run"))}) as site:
        run = tvmdbg.open(f"{site.url}/d.zip?Signature=secret")
        assert "secret" not in repr(run) + repr(run.provenance) + repr(run.check())


def test_tensor_cache_is_read_from_a_url(data: Path) -> None:
    folder = data / "params" / "cache" / "halved"
    files = {f"/c/{path.name}": path.read_bytes() for path in folder.iterdir()}
    local = tvmdbg.load_params(folder)
    with serving(files) as site:
        for url in ("/c/", "/c/tensor-cache.json"):
            found = tvmdbg.load_params(site.url + url, verify=True)
            assert {k: v.tobytes() for k, v in found.items()} == {
                k: v.tobytes() for k, v in local.items()
            }
        index = json.loads(files["/c/tensor-cache.json"])
        index["records"][0]["dataPath"] = "../secret"
        site.files["/c/tensor-cache.json"] = json.dumps(index).encode()
        site.files["/secret"] = files["/c/params_shard_0.bin"]
        with pytest.raises(FormatError, match="leaves the folder"):
            tvmdbg.load_params(site.url + "/c/tensor-cache.json")
        assert not site.count("/secret")


ARRAYS = 200


def graph_of(shapes: Sequence[Sequence[int]], dtypes: Sequence[str]) -> Graph:
    nodes = [null(f"n{i}") for i in range(len(shapes))]
    raw = graph_json(nodes, shapes=list(map(list, shapes)), dtypes=dtypes)
    return read_graph(BytesSource(raw, "graph.json"))


def params_of(arrays: Sequence[np.ndarray], *, outputs: bool = True) -> bytes:
    out = io.BytesIO()
    names = [f"n{i}____topo-index:{i}____output-num:0" for i in range(len(arrays))]
    names = names if outputs else [f"n{i}" for i in range(len(arrays))]
    write_params(out, list(zip(names, arrays, strict=True)))
    return out.getvalue()


def same_records(found: ParamsFile, expected: ParamsFile) -> None:
    columns = ("key", "dtype", "shape", "nbytes", "offset", "notes")
    assert len(found.records) == len(expected.records)
    for one, other in zip(found.records, expected.records, strict=True):
        assert [getattr(one, c) for c in columns] == [getattr(other, c) for c in columns]
    assert found.truncated == expected.truncated
    assert [i.rule for i in found.issues] == [i.rule for i in expected.issues]


def fetched(site: Site, graph: Graph | None) -> tuple[ParamsFile, int]:
    site.asked.clear()
    file = read_params(f"{site.url}/p", graph=graph)
    return file, len(site.asked)


@pytest.mark.parametrize("outputs", [True, False])
def test_headers_at_offsets_from_the_graph_are_fetched_in_parallel(outputs: bool) -> None:
    shapes = [(64, 100 + i % 7) if i % 5 else (i,) for i in range(ARRAYS)]
    arrays = [np.zeros(shape, np.float32) for shape in shapes]
    data = params_of(arrays, outputs=outputs)
    graph = graph_of(shapes, ["float32"] * ARRAYS)
    local = read_params(data)
    with serving({"/p": data}, latency=0.005) as site:
        plain, one_by_one = fetched(site, None)
        assert site.busiest == 1
        fast, together = fetched(site, graph)
        assert 4 < site.busiest <= 16
        same_records(plain, local)
        same_records(fast, local)
        assert site.sent < len(data) / 2
        assert together <= one_by_one + 20


@given(st.data())
def test_prediction_does_not_change_read_records(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    sizes = data.draw(st.lists(st.integers(0, 9000), min_size=count, max_size=count))
    told = [data.draw(st.sampled_from([size, size + 1, 0])) for size in sizes]
    whole = bytearray(params_of([np.zeros(size, np.float32) for size in sizes]))
    if data.draw(st.booleans()):
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    cut_off = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    for content in (bytes(whole), cut_off):
        far = BytesSource(content, "p")
        far.far = True
        graph = graph_of([(size,) for size in told], ["float32"] * count)
        expected = told_of(BytesSource(content, "p"))
        found = told_of(far, graph=graph)
        if isinstance(expected, str) or isinstance(found, str):
            assert found == expected
        else:
            same_records(found, expected)


def told_of(source: BytesSource, **options: Any) -> ParamsFile | str:
    try:
        return read_params(source, **options)
    except FormatError as problem:
        return str(problem)


def test_opening_a_dump_reads_the_graph_first_and_predicts() -> None:
    with serving(sample_files()) as site:
        run = tvmdbg.open(f"{site.url}/run/")
        path = "/run/_tvmdbg_device_CPU_0/output_tensors.params"
        assert len(run.tensors) == 72
        assert site.busiest > 1
        assert site.count(path) < 72


def test_stalled_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_SILENCE_S", 0.3)
    answer = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-999/1000\r\n"
    answer += b"Accept-Ranges: bytes\r\nContent-Length: 1000\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    asked = connection.recv(4096)
                    kept.append(connection)
                    connection.sendall(answer + (b"" if asked.startswith(b"HEAD") else b"few"))

        kept: list[socket.socket] = []
        threading.Thread(target=serve, daemon=True).start()
        start = time.monotonic()
        with pytest.raises(OSError, match="over the network"):
            RemoteSource(f"http://127.0.0.1:{server.getsockname()[1]}/f").read(0, 1000)
        assert time.monotonic() - start < 20
        for connection in kept:
            connection.close()
