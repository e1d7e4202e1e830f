"""Files cut off, damaged, mixed, or not params at all: an error or what is right, nothing else."""

import io
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.counted_source import CountedSource
from tests.make.params import write_params
from tvmdbg_widgets.formats.tvm.params.file import ParamsFile, load_params, read_params, sniff
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource

ARRAYS = {
    "x": np.arange(6, dtype=np.float32).reshape(2, 3),
    "flag": np.array([True, False, True]),
    "empty": np.zeros((0, 4), np.int64),
    "scalar": np.array(7, np.int16),
}


def written(layout: str = "narrow", arrays: object = None) -> bytes:
    out = io.BytesIO()
    write_params(out, ARRAYS if arrays is None else arrays, layout=layout, codes="legacy")
    return out.getvalue()


def raises(data: bytes, **arguments: object) -> FormatError:
    with pytest.raises(FormatError) as caught:
        read_params(BytesSource(data, "f.params"), **arguments)
    assert caught.value.file == "f.params"
    return caught.value


def same_as_arrays(file: ParamsFile) -> bool:
    return all(
        record.shape == ARRAYS[record.key].shape
        and record.numpy().dtype == ARRAYS[record.key].dtype
        and np.array_equal(record.numpy(), ARRAYS[record.key])
        for record in file.records
    )


@pytest.mark.parametrize("layout", ["narrow", pytest.param("wide", marks=pytest.mark.spec_only)])
def test_cut_at_every_byte(layout: str) -> None:
    whole = written(layout)
    ends = [r.offset + r.nbytes for r in read_params(whole).records]
    for length in range(len(whole)):
        if length < ends[0]:
            assert raises(whole[:length]).offset is not None
            continue
        file = read_params(whole[:length])
        assert len(file.records) == sum(end <= length for end in ends)
        assert file.truncated
        assert file.error.field is not None
        (issue,) = file.issues.by_rule("params-incomplete")
        assert str(file.error) in issue.message
        assert same_as_arrays(file)
        with pytest.raises(FormatError):
            load_params(whole[:length])


WHOLE = {layout: written(layout) for layout in ("narrow", "wide")}


@given(st.sampled_from(["narrow", "wide"]), st.data())
def test_damaged_bytes_are_refused_or_read_verbatim(layout: str, data: st.DataObject) -> None:
    damaged = bytearray(WHOLE[layout])
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        file = read_params(bytes(damaged))
    except FormatError:
        return
    end = 0
    for record in file.records:
        assert end <= record.offset
        end = record.offset + record.nbytes
        assert end <= len(damaged)
        assert record.raw().tobytes() == bytes(damaged[record.offset : end])
        record.numpy()
        assert record.nbytes in (record.size * record.dtype.itemsize, 0)


def test_huge_counts_allocate_nothing() -> None:
    count = struct.pack("<Q", 2**63 - 1)
    whole = bytearray(written())
    header = bytes(whole[:16])
    first = whole.index(struct.pack("<Q", 0xDD5E40F096B4A13F))
    cases = [
        header + count + whole[24:],
        bytes(whole[:24]) + count + whole[32:],
        bytes(whole[: first - 8]) + count + whole[first:],
        bytes(whole[: first + 24]) + struct.pack("<i", 2**31 - 1) + whole[first + 28 :],
        bytes(whole[: first + 32]) + struct.pack("<qqq", 2**62, 3, 2**63 - 1) + whole[first + 56 :],
        bytes(whole[: first + 32]) + struct.pack("<qqq", 2**62, 2**62, 0) + whole[first + 56 :],
        bytes(whole[: first + 32]) + struct.pack("<qqq", 2**40, 1, 2**42) + whole[first + 56 :],
        bytes(whole[: first + 32]) + struct.pack("<qqq", 2**62, 0, 0) + whole[first + 56 :],
    ]
    for data in cases:
        tracemalloc.start()
        try:
            with pytest.raises(FormatError):
                read_params(bytes(data))
            assert tracemalloc.get_traced_memory()[1] < 200_000
        finally:
            tracemalloc.stop()


def test_opening_skips_values() -> None:
    arrays = {f"w{i}": np.zeros(1 << 18, np.float32) for i in range(20)}
    source = CountedSource(written(arrays=arrays))
    file = read_params(source)
    assert len(file.records) == 20
    assert source.taken < 25 * 4096
    file.records[7].numpy()
    assert source.taken < 25 * 4096 + (1 << 20)


def test_many_small_arrays_take_few_reads() -> None:
    arrays = {f"p{i}": np.zeros(3, np.float32) for i in range(20_000)}
    source = CountedSource(written(arrays=arrays))
    assert len(read_params(source).records) == 20_000
    assert source.calls < 40


@pytest.mark.spec_only
def test_forced_layout_is_used_or_rejected() -> None:
    assert read_params(WHOLE["wide"], dtype_layout="wide").layout == "wide"
    error = raises(WHOLE["narrow"], dtype_layout="wide")
    assert "dtype field is narrow" in str(error)
    assert "dtype_layout='narrow'" in str(error)
    error = raises(WHOLE["wide"], dtype_layout="narrow")
    assert "dtype_layout='wide'" in str(error)
    with pytest.raises(ValueError, match="dtype_layout"):
        read_params(WHOLE["wide"], dtype_layout="broad")


@pytest.mark.spec_only
def test_mixed_layouts_name_the_record() -> None:
    narrow, wide = WHOLE["narrow"], WHOLE["wide"]
    second_narrow = read_params(narrow).records[1].offset - 48
    second_wide = read_params(wide).records[1].offset - 52
    error = raises(narrow[:second_narrow] + wide[second_wide:])
    assert error.field == "array 1 ('flag'): dtype"
    assert error.offset == second_narrow + 28
    assert "mixes narrow and wide" in str(error)
    error = raises(wide[:second_wide] + narrow[second_narrow:])
    assert error.field == "array 1 ('flag'): dtype"


@pytest.mark.parametrize(
    ("at", "value", "field", "offset"),
    [
        (0, b"\0", "magic", 0),
        (16, b"\3", "device_type", 16),
        (24, b"\x41", "ndim", 24),
        (29, b"\x05", "dtype bits", 29),
        (31, b"\x80", "dtype lanes", 30),
        (39, b"\x80", "shape[0]", 32),
        (47, b"\x80", "shape[1]", 40),
        (48, b"\x17", "nbytes", 48),
        (55, b"\x80", "nbytes", 48),
    ],
)
def test_error_names_invalid_field_and_offset(
    at: int, value: bytes, field: str, offset: int
) -> None:
    whole = bytearray(WHOLE["narrow"])
    first = whole.index(struct.pack("<Q", 0xDD5E40F096B4A13F))
    whole[first + at : first + at + 1] = value
    error = raises(bytes(whole))
    assert error.field == f"array 0 ('x'): {field}"
    assert error.offset == first + offset
    assert error.expected is not None
    assert error.found is not None


def test_ignored_fields_are_noted() -> None:
    whole = bytearray(WHOLE["narrow"])
    first = whole.index(struct.pack("<Q", 0xDD5E40F096B4A13F))
    whole[8], whole[first + 8], whole[first + 20] = 1, 2, 3
    file = read_params(bytes(whole) + b"tail")
    assert same_as_arrays(file)
    assert len(file.issues.by_rule("reserved-not-zero")) == 3
    assert "4 bytes follow" in file.issues.by_rule("trailing-bytes")[0].message
    assert not file.truncated


def test_bare_array() -> None:
    whole = WHOLE["narrow"]
    first = whole.index(struct.pack("<Q", 0xDD5E40F096B4A13F))
    file = read_params(whole[first : first + 80])
    assert file.bare
    assert file.keys == ("",)
    assert np.array_equal(file.records[0].numpy(), ARRAYS["x"])
    assert load_params(whole[first : first + 80])[""].shape == (2, 3)
    assert sniff(whole[first:])


def test_repeated_names_keep_the_last() -> None:
    pairs = [("a", np.array([1, 2])), ("b", np.array([3])), ("a", np.array([4]))]
    data = written(arrays=pairs)
    file = read_params(data)
    assert file.keys == ("a", "b", "a")
    assert "'a'" in file.issues.by_rule("duplicate-name")[0].message
    assert {k: v.tolist() for k, v in load_params(data).items()} == {"a": [4], "b": [3]}


def test_names_that_are_not_utf8() -> None:
    data = written(arrays={"xyz": np.zeros(1)}).replace(b"xyz", b"x\xffz")
    file = read_params(data)
    assert file.keys == ("x\\xffz",)
    assert file.issues.by_rule("name-not-utf8")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\x1d\x15\x14\x42\x2f\xde\x25\xd2rest", "VM executable"),
        (b"\x1e\x15\x14\x42\x2f\xde\x25\xd2rest", "VM executable"),
        (b'{"metadata": {}, "records": []}', "tensor cache"),
        (b'{"nodes": []}', "graph"),
        (b'"{\\"nodes\\": []}"', "graph"),
        (b"PK\3\4aaaaaaaa", "zip"),
        (b"\x93NUMPY\1\0v\0", "npy"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "gzip"),
        (b"/home/me/model.params", "path given as bytes"),
        (bytes.fromhex("f7e58d4f05049cb7"), "big-endian"),
        (b"\xb7\x9c\x04", "too short"),
        (b"something else", "no params file"),
    ],
)
def test_other_files_are_recognised(data: bytes, words: str) -> None:
    error = raises(data)
    assert words in str(error)
    assert error.offset == 0
    assert error.hint
    assert not sniff(data[:8])


def test_a_path_works_like_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "p.params"
    path.write_bytes(WHOLE["narrow"])
    for given_as in (path, str(path), WHOLE["narrow"], bytearray(WHOLE["narrow"])):
        loaded = load_params(given_as)
        assert np.array_equal(loaded["x"], ARRAYS["x"])
    with path.open("rb") as file:
        assert np.array_equal(load_params(file)["x"], ARRAYS["x"])
        assert not file.closed
    with pytest.raises(FileNotFoundError):
        load_params(str(tmp_path / "missing.params"))
    with pytest.raises(TypeError, match="NUL"):
        load_params(WHOLE["narrow"].decode("latin-1"))
