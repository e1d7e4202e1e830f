"""Tensor caches against what TVM saved, and caches that are damaged, incomplete or hostile."""

import copy
import json
import shutil
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from formats.tvm.params.params_truth import DATA
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.tvm.cache import TensorCache, read_cache, sniff
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, IssueSeverity
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource
from tvmdbg_widgets.sources.file_source import FileSource

RAW, HALVED = DATA / "cache" / "raw", DATA / "cache" / "halved"
MODELS = ("convnet_cpu", "mlp_cpu", "onnx_small_default", "transformer_default")


class Folder(BytesSource):
    """An index in memory with shards beside it."""

    def __init__(self, index: bytes, shards: dict[str, bytes]) -> None:
        super().__init__(index, "cache/tensor-cache.json")
        self.shards = shards

    def sibling(self, name: str) -> ByteSource:
        if name not in self.shards:
            raise FileNotFoundError(2, "No such file", name)
        return BytesSource(self.shards[name], f"cache/{name}")


def record(name: str, values: np.ndarray, offset: int, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "shape": list(values.shape),
        "dtype": str(values.dtype),
        "format": "raw",
        "nbytes": values.nbytes,
        "byteOffset": offset,
        **changes,
    }


A, B = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, -2, 3], np.int8)
SHARDS = {"s0": A.tobytes() + B.tobytes(), "s1": B.tobytes()}
INDEX: dict[str, Any] = {
    "metadata": {"ParamSize": 3},
    "records": [
        {
            "dataPath": "s0",
            "format": "raw-shard",
            "nbytes": 27,
            "records": [record("a", A, 0), record("b", B, 24)],
        },
        {"dataPath": "s1", "format": "raw-shard", "nbytes": 3, "records": [record("c", B, 0)]},
    ],
}


def read(index: Any = None, shards: dict[str, bytes] | None = None) -> TensorCache:
    text = json.dumps(INDEX if index is None else index).encode()
    return read_cache(Folder(text, SHARDS if shards is None else shards))


def changed(path: list[Any], value: Any) -> dict[str, Any]:
    index = copy.deepcopy(INDEX)
    place: Any = index
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return index


FIRST = ["records", 0, "records", 0]


@pytest.mark.filterwarnings("ignore:.*type code:UserWarning")
@pytest.mark.parametrize("given", [RAW, RAW / "tensor-cache.json"])
def test_arrays_of_all_types_equal_saved_ones(given: Path) -> None:
    saved = tvmdbg.load_params(DATA / "relax" / "params_all.bin", float8="current")
    found = tvmdbg.load_params(given, verify=True)
    assert len(found) == 27
    for name, array in found.items():
        assert array.dtype == saved[name].dtype, name
        assert array.shape == saved[name].shape, name
        assert array.tobytes() == saved[name].tobytes(), name
    index = json.loads((RAW / "tensor-cache.json").read_text("utf-8"))
    assert list(found) == [each["name"] for each in index["records"][0]["records"]]


@pytest.mark.parametrize("model", MODELS)
def test_raw_caches_match_params_npz(corpus: Path, model: str) -> None:
    folder = corpus / "relax" / model / "params"
    with np.load(folder / "params.npz") as saved:
        truth = dict(saved)
    found = tvmdbg.load_params(folder / "tensor_cache_raw", verify=True)
    run = tvmdbg.open(folder / "tensor_cache_raw")
    assert not run.check()
    assert list(found) == list(truth) == [tensor.key for tensor in run.tensors.values()]
    for tensor in run.tensors.values():
        for array in (found[tensor.key], tensor.numpy()):
            assert array.dtype == truth[tensor.key].dtype
            assert array.shape == truth[tensor.key].shape
            assert array.tobytes() == truth[tensor.key].tobytes()


def rounded(values: np.ndarray) -> np.ndarray:
    """float32 to the nearest bfloat16, ties to even, as float32; integer arithmetic alone."""
    bits = values.view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


def test_halved_floats_are_exact_and_reported() -> None:
    with np.load(HALVED / "params.npz") as saved:
        _check_halved(HALVED, dict(saved))


def test_halved_floats_of_the_corpus(corpus: Path) -> None:
    for folder in [
        corpus / "relax" / model / "params" / "tensor_cache_f32_to_bf16" for model in MODELS
    ]:
        with np.load(folder.parent / "params.npz") as saved:
            _check_halved(folder, dict(saved))


def _check_halved(folder: Path, truth: dict[str, np.ndarray]) -> None:
    found = tvmdbg.load_params(folder)
    sibling = tvmdbg.load_params(folder / "tensor-cache-b16.json")
    run = tvmdbg.open(folder)
    for tensor in run.tensors.values():
        expected = rounded(truth[tensor.key])
        assert str(sibling[tensor.key].dtype) == "bfloat16"
        for array in (tensor.numpy(), found[tensor.key], sibling[tensor.key].astype(np.float32)):
            assert array.tobytes() == expected.tobytes()
        assert tensor.window((-1,)).tobytes() == expected[-1:].tobytes()
        chunked = np.concatenate(list(tensor.chunks(12)))
        assert chunked.tobytes() == expected.tobytes()
        assert str(tensor.dtype) == "float32"
        assert "stored as bfloat16 (f32-to-bf16)" in tensor.notes[0]
    (note,) = run.check().by_rule("stored-as")
    assert note.severity is IssueSeverity.NOTE
    (left,) = run.check().by_rule("index-left-out")
    assert "tensor-cache-b16.json" in left.message


def test_halved_floats_are_read_at_odd_ranges() -> None:
    record = read_cache(FileSource(HALVED / "tensor-cache.json")).records[0]
    whole = record.raw().tobytes()
    for offset, length in [(0, 1), (1, 3), (3, 7), (len(whole) - 5, 5), (2, len(whole) - 3)]:
        assert record.source.read(record.offset + offset, length) == whole[offset:][:length]


def test_parameters_join_the_graph_like_a_params_file(corpus: Path) -> None:
    for model in MODELS:
        case = corpus / "relax" / model
        dump = case / "capture"
        plain = tvmdbg.open(dump, params=case / "params" / "params.bin")
        cached = tvmdbg.open(dump, params=case / "params" / "tensor_cache_raw")
        assert [p.name for p in cached.graph.parameters] == [p.name for p in plain.graph.parameters]
        assert len(cached.graph.parameters)
        rules = [[issue.rule for issue in run.check()] for run in (plain, cached)]
        assert rules[0] == rules[1]


def test_old_names_of_the_index(tmp_path: Path) -> None:
    shutil.copytree(HALVED, tmp_path / "old")
    for new, old in (("tensor-cache", "ndarray-cache"), ("tensor-cache-b16", "ndarray-cache-b16")):
        (tmp_path / "old" / f"{new}.json").rename(tmp_path / "old" / f"{old}.json")
    assert list(tvmdbg.load_params(tmp_path / "old")) == list(tvmdbg.load_params(HALVED))


def test_several_shards() -> None:
    cache = read()
    assert not cache.issues
    assert cache.keys == ("a", "b", "c")
    assert [each.numpy().tobytes() for each in cache.records] == [A.tobytes(), *[B.tobytes()] * 2]
    assert cache.metadata == {"ParamSize": 3}
    assert "3 arrays, 30 bytes in 2 shards" in repr(cache)


@pytest.mark.parametrize("length", range(27))
def test_short_shard_keeps_its_complete_arrays(length: int) -> None:
    cache = read(shards={**SHARDS, "s0": SHARDS["s0"][:length]})
    assert cache.keys == (("a", "c") if length >= 24 else ("c",))
    assert cache.truncated
    issue = cache.issues.by_rule("shard-size")[0]
    assert "cache/s0" in issue.message
    assert "27 bytes" in issue.message
    assert f"found {counted(length, 'byte')}" in issue.message


def test_a_missing_shard_is_named_and_the_rest_is_readable(tmp_path: Path) -> None:
    (tmp_path / "tensor-cache.json").write_text(json.dumps(INDEX))
    (tmp_path / "s1").write_bytes(SHARDS["s1"])
    run = tvmdbg.open(tmp_path)
    tensors = {tensor.key: tensor for tensor in run.tensors.values()}
    assert set(tensors) == {"a", "b", "c"}
    assert tensors["c"].numpy().size
    with pytest.raises(FormatError, match="values are not here: shard s0 is missing"):
        tensors["a"].numpy()
    (issue,) = run.check().by_rule("shard-unreadable")
    assert "'s0'" in issue.message
    assert "2 arrays" in issue.message
    with pytest.raises(FormatError, match="a shard is missing"):
        tvmdbg.load_params(tmp_path)


def test_oversized_shard_is_reported() -> None:
    cache = read(shards={**SHARDS, "s1": b"\1\2\3\4"})
    (issue,) = cache.issues
    assert (issue.rule, issue.severity, cache.truncated) == (
        "shard-size",
        IssueSeverity.WARNING,
        False,
    )


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../s0", "a/../../s0", "C:\\s0", "C:/s0", "", ".", "a\0b", "\\\\h\\s0"]
)
def test_shards_outside_the_folder_are_not_read(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "s0").write_bytes(SHARDS["s0"])
    (folder / "s1").write_bytes(SHARDS["s1"])
    index = changed(["records", 0, "dataPath"], path)
    (folder / "tensor-cache.json").write_text(json.dumps(index))
    cache = read_cache(FileSource(folder / "tensor-cache.json"))
    assert cache.keys == ("c",)
    (issue,) = cache.issues
    assert issue.rule == "shard-unreadable"
    assert "records[0].dataPath" in issue.message


def test_index_from_bytes_is_refused() -> None:
    with pytest.raises(FormatError, match="Open the index by its path"):
        tvmdbg.load_params(json.dumps(INDEX).encode())


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        ("nbytes", 23, "nbytes"),
        ("nbytes", 2**70, "nbytes"),
        ("nbytes", -1, "nbytes"),
        ("nbytes", "24", "nbytes"),
        ("byteOffset", 4, "records[0].records[0] ('a')"),
        ("byteOffset", 2**80, "records[0].records[0] ('a')"),
        ("shape", [2, 4], "nbytes"),
        ("shape", [-2, -3], "shape"),
        ("shape", [2**62, 2**62], "shape"),
        ("shape", [0, 2**62, 2**62], "shape"),
        ("shape", [1] * 65, "shape"),
        ("shape", [2.0, 3], "shape"),
        ("dtype", "float99", "dtype"),
        ("dtype", "", "dtype"),
        ("dtype", "float64", "nbytes"),
        ("format", "gzip", "format"),
        ("format", "f32-to-bf16", "nbytes"),
        ("name", 3, "name"),
    ],
)
def test_contradictory_field_drops_only_its_array(key: str, value: Any, field: str) -> None:
    cache = read(changed([*FIRST, key], value))
    assert cache.keys == ("b", "c")
    (issue,) = cache.issues
    assert issue.rule == "array-unreadable"
    assert field in issue.message
    assert cache.error is not None


def test_duplicate_names_and_overlapping_arrays_are_reported() -> None:
    index = changed([*FIRST[:-1], 1], record("a", A, 3))
    rules = [issue.rule for issue in read(index).issues]
    assert rules == ["arrays-overlap", "duplicate-name"]


def test_issues_of_many_broken_arrays_are_summarized() -> None:
    broken = [record(f"x{i}", A, 1000) for i in range(5000)]
    index = changed(["records", 1, "records"], broken)
    cache = read(index)
    assert len(cache.issues) == 26
    assert "4,975 more issues" in cache.issues[-1].message


def shared(count: int) -> dict[str, Any]:
    """An index of arrays that all have the same bytes, each in a record of its shard."""
    values = np.zeros(1 << 18, np.float32)
    shard = {"dataPath": "s", "format": "raw-shard", "nbytes": values.nbytes, "md5sum": "0" * 32}
    return {"records": [{**shard, "records": [record(f"w{i}", values, 0)]} for i in range(count)]}


@pytest.mark.parametrize("paths", [["s"], ["s", "./s"]])
def test_reuse_of_shard_bytes_is_limited(paths: list[str]) -> None:
    """A page of an index would make terabytes of one megabyte."""
    index = shared(1000)
    for at, each in enumerate(index["records"]):
        each["dataPath"] = paths[at % len(paths)]
    folder = Folder(json.dumps(index).encode(), {})
    folder.sibling = lambda _name: BytesSource(bytes(1 << 20), "cache/s")  # type: ignore[method-assign]
    cache = read_cache(folder)
    assert 10 < len(cache.records) < 20
    assert cache.truncated
    assert "again and again" in str(cache.error)
    assert len(cache.issues) < 60


def test_verify_reads_a_shared_shard_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = read(shared(12), {"s": bytes(1 << 20)})
    sizes = []
    whole = BytesSource.read

    def counted_read(self: BytesSource, offset: int, length: int) -> bytes:
        sizes.append(length)
        return bytes(whole(self, offset, length))

    monkeypatch.setattr(BytesSource, "read", counted_read)
    assert {issue.rule for issue in cache.verify(progress=False)} == {"shard-damaged"}
    assert sum(sizes) == 1 << 20


def test_long_names_of_arrays_are_cut_in_messages() -> None:
    long = "w" * 100_000
    index = changed([*FIRST[:-1], 1], record(long, A, 3))
    index["records"][0]["records"][0]["name"] = long
    assert [issue.rule for issue in read(index).issues] == ["arrays-overlap", "duplicate-name"]
    assert max(len(issue.message) for issue in read(index).issues) < 500


def test_verify_reads_and_compares_only_when_asked(tmp_path: Path) -> None:
    shutil.copytree(RAW, tmp_path / "cache")
    shard = tmp_path / "cache" / "params_shard_0.bin"
    data = bytearray(shard.read_bytes())
    data[100] ^= 1
    shard.write_bytes(data)
    index = json.loads((tmp_path / "cache" / "tensor-cache.json").read_text())
    good = read_cache(FileSource(RAW / "tensor-cache.json"))
    cache = read_cache(FileSource(tmp_path / "cache" / "tensor-cache.json"))
    summed = "md5sum" in index["records"][0]
    assert summed
    assert not good.verify(progress=False)
    assert not cache.issues
    (issue,) = cache.verify(progress=False)
    assert (issue.rule, issue.severity) == ("shard-damaged", IssueSeverity.ERROR)
    assert tvmdbg.load_params(tmp_path / "cache")
    with pytest.raises(FormatError, match="md5sum"):
        tvmdbg.load_params(tmp_path / "cache", verify=True)
    (issue, _) = read().verify()
    assert issue.rule == "shard-not-summed"


def test_vectors_and_small_types() -> None:
    values = np.arange(12, dtype=np.float32)
    whole = changed(FIRST, record("v", values, 0, shape=[3], dtype="float32x4"))
    whole["records"][0]["nbytes"] = 48
    cache = read(whole, {**SHARDS, "s0": values.tobytes()})
    assert cache.records[0].numpy().tolist() == values.reshape(3, 4).tolist()
    packed = changed(FIRST, record("i", B, 0, shape=[6], dtype="int4"))
    cache = read(packed)
    assert cache.keys[0] == "i"
    assert cache.records[0].numpy().shape == (6,)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    inner = value if isinstance(value, dict) else {}
    inner = dict(enumerate(value)) if isinstance(value, list) else inner
    for key, each in inner.items():
        found += _places(each, (*path, key))
    return found


ODD = st.one_of(
    st.sampled_from([None, True, 1.5, "", "s1", "raw", "float16", [], {}, [1], [[2]], -1, 2**63]),
    st.integers(-3, 40),
)


@given(st.lists(st.tuples(st.sampled_from(_places(INDEX)), ODD), min_size=1, max_size=3))
def test_values_of_altered_index_are_bytes_of_the_shards(changes: list[Any]) -> None:
    index = copy.deepcopy(INDEX)
    for path, value in changes:
        place: Any = index
        try:
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue
    try:
        cache = read(index)
    except FormatError:
        return
    for each in cache.records:
        values = each.numpy()
        assert values.nbytes <= 64 * 1024
        if each.offset or "stored as" not in "".join(each.notes):
            assert each.raw().tobytes() in (SHARDS["s0"] + b"|" + SHARDS["s1"])


def test_oversized_shape_allocates_little_memory() -> None:
    index = changed([*FIRST, "shape"], [2**40])
    index["records"][0]["records"][0]["nbytes"] = 2**42
    index["records"][0]["nbytes"] = 2**42
    tracemalloc.start()
    cache = read(index)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    assert cache.keys == ("b", "c")


def test_non_index_is_not_a_tensor_cache() -> None:
    for head in (b"", b"[]", b'{"records": 1}', b'{"nodes": []}', struct.pack("<Q", 7)):
        assert not sniff(head)
    with pytest.raises(FormatError, match="no tensor cache in this folder"):
        tvmdbg.load_params(Path(__file__).parents[1])
