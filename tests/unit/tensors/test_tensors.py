import math
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.counted_source import CountedSource
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.tensors.array_record import storage_notes
from tvmdbg_widgets.model.tensors.dtypes import DataType, from_numpy
from tvmdbg_widgets.model.tensors.tensors import ArrayRecord, Tensor, Tensors
from tvmdbg_widgets.sources.byte_source import BytesSource


def record(array: np.ndarray, key: str = "k", skip: int = 3) -> ArrayRecord:
    data = b"\xaa" * skip + array.tobytes()
    dtype = from_numpy(array.dtype)
    return ArrayRecord(key, dtype, array.shape, array.nbytes, skip, CountedSource(data, "f"))


def stored(dtype: str, shape: tuple[int, ...], data: bytes) -> ArrayRecord:
    parsed = DataType.parse(dtype)
    notes = storage_notes(parsed, shape, len(data))
    return ArrayRecord("k", parsed, shape, len(data), 0, BytesSource(data, "f"), notes)


def tensor(array: np.ndarray, node: int = 4, output: int = 0, name: str = "conv") -> Tensor:
    return Tensor(record(array), node, output, name=name)


GRID = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6)


@st.composite
def windows(draw: st.DrawFn) -> tuple[tuple[int, ...], object]:
    shape = tuple(draw(st.lists(st.integers(0, 7), min_size=0, max_size=4)))
    items: list[object] = []
    for length in shape[: draw(st.integers(0, len(shape)))]:
        if length and draw(st.booleans()):
            items.append(draw(st.integers(-length, length - 1)))
        else:
            ends = st.none() | st.integers(-9, 9)
            items.append(slice(draw(ends), draw(ends), draw(st.none() | st.integers(1, 4))))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
        # What follows the dots counts from the end: keep it in range.
        after = len(items) - items.index(Ellipsis) - 1
        items = items[: len(items) - after]
    return shape, tuple(items)


@given(windows(), st.sampled_from(["int16", "float64", "bool", "bfloat16"]))
def test_windows_match_numpy(case: tuple, name: str) -> None:
    shape, selection = case
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    found = tensor(array).window(selection)
    expected = array[selection]
    assert found.shape == expected.shape
    assert found.dtype == dtype
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


@given(st.integers(0, 40), st.integers(1, 9), st.sampled_from([1, 2, 4, 6]))
def test_windows_of_packed_values(start: int, step: int, bits: int) -> None:
    name = {1: "int1", 2: "uint2", 4: "int4", 6: "float6_e2m3fn"}[bits]
    data = bytes((i * 37 + 11) % 256 for i in range(5 * 9))
    packed = stored(name, (5, 9), data)
    whole = packed.numpy()
    assert whole.shape == (5, 9)
    found = packed.window((slice(None), slice(start % 9, None, step)))
    assert found.tobytes() == np.ascontiguousarray(whole[:, start % 9 :: step]).tobytes()
    flat = whole.reshape(-1)
    joined = np.concatenate(list(packed.chunks(7)))
    assert joined.tobytes() == flat.tobytes()


def test_windows_reject_unsupported_selections() -> None:
    t = tensor(GRID)
    for bad in [(0, 0, 0, 0), (Ellipsis, Ellipsis), 4, (0, -6)]:
        with pytest.raises(IndexError):
            t.window(bad)
    with pytest.raises(ValueError, match="backwards"):
        t.window(np.s_[::-1])
    for bad in [True, "a", 1.5, None]:
        with pytest.raises(TypeError):
            t.window(bad)


def test_a_window_reads_little_more_than_it_returns() -> None:
    array = np.zeros((200, 300, 64), np.float32)
    t = tensor(array)
    source = t.record.source
    t.window((5, slice(10, 20)))
    assert (source.taken, source.calls) == (10 * 64 * 4, 1)
    source.taken = source.calls = 0
    assert t.window((slice(None), 7, 3)).shape == (200,)
    assert source.taken <= 200 * 4096
    assert source.calls == 200
    source.taken = source.calls = 0
    t.window((slice(None, None, 50), slice(None), 3))
    assert source.taken <= 4 * 300 * 64 * 4
    assert source.calls == 4


def test_large_spans_are_read_in_parts() -> None:
    array = np.arange(2_000_000, dtype=np.float64).reshape(2, 1_000_000)
    source = CountedSource(array.tobytes())
    r = ArrayRecord("k", DataType(2, 64), array.shape, array.nbytes, 0, source)
    assert np.array_equal(r.window(np.s_[:, ::2]), array[:, ::2])
    assert source.largest <= 4 << 20


def test_numpy_protocol() -> None:
    t = tensor(GRID)
    assert np.array_equal(np.asarray(t), GRID)
    assert np.asarray(t, dtype=np.float32).dtype == np.float32
    assert np.array(t, copy=True)[0, 0, 0] == 0
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        with pytest.raises(ValueError, match="copy"):
            np.array(t, copy=False)
    assert np.asarray(t).flags.writeable
    assert np.array_equal(t[1, 2:4], GRID[1, 2:4])
    assert t.raw().tobytes() == GRID.tobytes()


def test_chunks_are_bounded_and_complete() -> None:
    array = np.arange(100_000, dtype=np.float64)
    chunks = list(tensor(array).chunks(4096))
    assert max(chunk.nbytes for chunk in chunks) <= 4096
    assert np.array_equal(np.concatenate(chunks), array)
    assert [c.tolist() for c in tensor(np.array(3.5)).chunks(1)] == [[3.5]]


def test_statistics_and_chunks_need_little_memory() -> None:
    t = tensor(np.ones(8_000_000, np.float32))
    packed = stored("int4", (8_000_000,), bytes(8_000_000))
    tracemalloc.start()
    try:
        t.statistics()
        Tensor(packed, 0, 0, name="p").statistics()
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_repr_and_properties_show_metadata() -> None:
    t = Tensor(record(GRID), 4, 1, name="conv", trust=Trust.BY_NAME, notes=("stale",))
    assert (t.key, t.file, t.offset, t.nbytes, t.size, t.shape) == (
        "k",
        "f",
        3,
        240,
        120,
        (4, 5, 6),
    )
    assert "conv" in repr(t)
    assert "int16[4, 5, 6]" in repr(t)
    assert "by name" in repr(t)
    assert "stale" in repr(t)


def test_vectors_give_the_stored_scalars() -> None:
    r = stored("float32x4", (3, 2), np.arange(6, dtype=np.float32).tobytes())
    t = Tensor(r, 0, 0, name="v")
    assert (t.shape, t.view_shape, t.complete) == ((3, 2), (6,), False)
    with pytest.warns(UserWarning, match="stores 24 of 96 bytes"):
        assert t.numpy().tolist() == [0, 1, 2, 3, 4, 5]
    assert t.window(np.s_[2:4]).tolist() == [2, 3]
    assert "stores 24 of 96 bytes" in t.notes[0]
    assert t.statistics().size == 6


def test_raw_types_are_rows_of_bytes() -> None:
    t = Tensor(stored("handle", (2, 3), bytes(range(48))), 0, 0, name="h")
    assert t.view_shape == (2, 3, 8)
    assert t.numpy()[1, 0].tolist() == list(range(24, 32))
    assert t.window((1, 2, slice(0, 2))).tolist() == [40, 41]
    assert t.complete
    assert not t.statistics().applicable
    assert "custom" in stored("custom[p]16", (1,), b"\1\2").notes[0]


@pytest.mark.parametrize("bits", range(1, 8))
@pytest.mark.parametrize("kind", ["int", "uint"])
def test_elements_of_any_width_are_unpacked(kind: str, bits: int) -> None:
    data = np.random.default_rng(bits).bytes(5 * 7 * 3)
    count = len(data) * 8 // bits
    number = int.from_bytes(data, "little")
    codes = np.array([number >> bits * i & (1 << bits) - 1 for i in range(count)])
    if kind == "int":
        codes = np.where(codes >> bits - 1, codes - (1 << bits), codes)
    found = stored(f"{kind}{bits}", (count,), data)
    assert found.numpy("packed").astype(int).tolist() == codes.tolist()
    assert found.values("packed").values(3, count - 2).astype(int).tolist() == codes[3:-2].tolist()


def test_with_dtype_reinterprets_the_same_bytes() -> None:
    t = Tensor(record(np.array([0x3F80, 0xC000], np.uint16)), 0, 0, name="w", notes=("own",))
    other = t.with_dtype(DataType.parse("bfloat16"))
    assert other.numpy().astype(float).tolist() == [1.0, -2.0]
    assert other.notes == ("own",)
    assert other.record.stored_dtype == t.dtype
    with pytest.raises(ValueError, match="cannot be read"):
        t.with_dtype(DataType.parse("float32"))


def test_tensors_by_entry_and_by_name() -> None:
    one = Tensor(record(GRID), 7, 1, name="split")
    zero = Tensor(record(GRID), 7, 0, name="split")
    first = Tensor(record(GRID), 2, 0, name="conv")
    same = [Tensor(record(GRID), node, 0, name="reshape_nop") for node in (9, 11)]
    tensors = Tensors([one, *same, zero, first])
    assert list(tensors) == [(2, 0), (7, 0), (7, 1), (9, 0), (11, 0)]
    assert tensors[7] is tensors[7, 0] is tensors["split"] is zero
    assert tensors["split", 1] is one
    assert tensors.names == ("conv", "split", "reshape_nop")
    with pytest.raises(KeyError, match="take one by id"):
        tensors["reshape_nop"]
    with pytest.raises(KeyError, match="conv"):
        tensors["cnv"]
    with pytest.raises(KeyError, match="outputs are"):
        tensors[7, 2]
    with pytest.raises(
        KeyError, match="no node 999 with a tensor; ids are 2 to 11, not all of them"
    ):
        tensors[999]
    with pytest.raises(KeyError, match="ids are 2 to 2'"):
        Tensors([first])[999]
    for odd in (True, (7, False), 7.0):
        with pytest.raises(KeyError, match="is no node id"):
            tensors[odd]
    assert 7 in tensors
    assert "conv" in tensors
    assert (3, 0) not in tensors
    assert None not in tensors
    assert "5 of 4 nodes" in repr(tensors)
    frame = tensors.to_dataframe()
    assert frame["dtype"].tolist() == ["int16"] * 5
    assert len(Tensors()) == 0
