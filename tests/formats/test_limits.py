"""Files that are read whole are refused by their size, before a byte of it is allocated."""

import gzip
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.fuzz.files import tarred, zipped
from tvmdbg_widgets.formats.limits import LIMITS
from tvmdbg_widgets.model.base.text import FormatError

SAMPLE = tvmdbg.samples.resnet20_cifar
DUMP = SAMPLE / "_tvmdbg_device_CPU_0"
GRAPH = (DUMP / "_tvmdbg_graph_dump.json").read_bytes()
TRACE = (DUMP / "_tvmdbg_execution_trace.json").read_bytes()
TABLE = (SAMPLE / "run_stdout.txt").read_bytes()
STARTS = [
    ("graph", GRAPH),
    ("trace", TRACE),
    ("trace", b'{"traceEvents": [{"name": "a", "ph": "B", "ts": 1}'),
    ("table", TABLE),
    ("report", b"Count,Duration (us),Name\n"),
    ("report", b'{"calls":[{"Name":{"string":"a"}}'),
    ("times", b"[[1.0, 2.0]"),
    ("times", b'{"format": "tvmdbg-times", "version": 1}'),
    ("recording", b'{"format": "tvmdbg-recording", "version": 1}'),
    ("recording", b'{"format": "tvmdbg-ir", "version": 1}'),
    ("params", b'{"records": [{"dataPath": "x", "format": "raw-shard", "nbytes": 1, "records": []'),
    ("graph", b'{"schema_version": 5, "model_name": "a", "export_datetime": "", "runtimes": []}'),
]


def test_limits_exceed_real_file_sizes(corpus: Path) -> None:
    largest = max(path.stat().st_size for path in corpus.rglob("*") if path.suffix != ".params")
    assert min(LIMITS.values()) > 2 * largest


@pytest.mark.parametrize(("part", "start"), STARTS)
@pytest.mark.parametrize("beside", [False, True])
def test_a_sparse_file_is_refused_at_once(
    part: str, start: bytes, beside: bool, tmp_path: Path
) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(20 << 30)
    if beside:
        (tmp_path / "other").write_bytes(GRAPH)
    tracemalloc.start()
    try:
        if beside:
            (issue,) = tvmdbg.open(tmp_path).check().by_rule("file-unreadable")
            told = f"{issue.file}: {issue.message}"
        else:
            with pytest.raises(FormatError) as caught:
                tvmdbg.open(path)
            told = str(caught.value)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20
    assert "sparse" in told
    assert "21,474,836,480 bytes" in told
    assert f"{LIMITS[part]:,} bytes" in told
    assert f"limits={{{part!r}: 20 * 2**30}}" in told


MEMBER = {"dump/graph": GRAPH}


@pytest.mark.parametrize(
    "packed",
    [
        GRAPH,
        gzip.compress(GRAPH),
        zipped(MEMBER, zipfile.ZIP_STORED),
        zipped(MEMBER, zipfile.ZIP_DEFLATED),
        tarred(MEMBER, "w"),
        tarred(MEMBER),
    ],
)
def test_limits_apply_inside_archives_and_can_be_raised(packed: bytes) -> None:
    assert tvmdbg.open(packed, limits={"graph": len(GRAPH)}).graph.num_nodes == 72
    with pytest.raises(FormatError, match="larger than is read into memory"):
        tvmdbg.open(packed, limits={"graph": len(GRAPH) - 1})


def test_limits_apply_to_urls_and_named_parts() -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://limits/graph", "wb") as file:
        file.write(GRAPH)
    for url in ("memory://limits/graph", "memory://limits"):
        with pytest.raises(FormatError, match="larger than is read"):
            tvmdbg.open(url, limits={"graph": 100})
    with pytest.raises(FormatError, match="larger than is read"):
        tvmdbg.open([], trace=TRACE, limits={"trace": 100})
    assert tvmdbg.open(GRAPH, trace=TRACE, limits={"trace": 100}).check().by_rule("file-unreadable")


def test_an_index_of_parameters_has_the_same_limit(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        with (tmp_path / name).open("wb") as file:
            file.write(dict(STARTS)["params"])
            file.truncate(20 << 30)
    for source in (tmp_path, tmp_path / "a.json"):
        with pytest.raises(FormatError, match="larger than is read"):
            tvmdbg.load_params(source)
        with pytest.raises(FormatError, match="larger than is read"):
            tvmdbg.open([], params=source)


def test_tensors_have_no_limit() -> None:
    params = DUMP / "output_tensors.params"
    assert len(tvmdbg.open(params, limits={"params": 0}).tensors) == 72


def test_unpacking_limit_grows_with_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tvmdbg_widgets.sources.byte_source.MOST_UNPACKED", 1000)
    for packed in (gzip.compress(GRAPH), zipped(MEMBER, zipfile.ZIP_DEFLATED)):
        with pytest.raises(FormatError, match="limits="):
            tvmdbg.open(packed)
        assert tvmdbg.open(packed, limits={"graph": len(GRAPH)}).graph is not None


@pytest.mark.parametrize("limits", [{"graphs": 1}, {"chrome": 1}, {"graph": "1G"}, {"graph": -1}])
def test_invalid_limits_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"limits:? '(graphs?|chrome)'"):
        tvmdbg.open(GRAPH, limits=limits)
