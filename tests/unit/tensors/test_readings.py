"""What bytes can be read as, against the bytes TVM saved and against numpy."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.model.base import number_text
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord, storage_notes
from tvmdbg_widgets.model.tensors.dtypes import DataType, from_numpy
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.sources.byte_source import BytesSource

RELAX = Path(__file__).parents[2] / "data" / "params" / "relax"
SMALL = sorted(
    path
    for path in RELAX.glob("sub_*.bin")
    if "x" not in path.stem.split("_")[1] and "bool" not in path.stem
)
FACES = {
    "complex": lambda array: array,
    "magnitude": np.abs,
    "phase": np.angle,
    "real": np.real,
    "imag": np.imag,
}


def tensor(record: ArrayRecord) -> Tensor:
    return Tensor(record, 0, 0, name="t")


def stored(dtype: DataType, shape: tuple[int, ...], data: bytes, **more: object) -> Tensor:
    return tensor(ArrayRecord("k", dtype, shape, len(data), 0, BytesSource(data, "f"), **more))


def test_every_type_tvm_saves_keeps_its_bits() -> None:
    told = json.loads((RELAX / "params_all.json").read_text())["params"]
    records = {each.key: each for each in read_params(RELAX / "params_all.bin").records}
    with np.load(RELAX / "params_all_raw_u8.npz") as raw:
        for item in told:
            values = records[item["name"]].values().codes
            size = values.numpy_dtype.itemsize
            codes = raw[item["npz"]].view(f"<u{size}").ravel().tolist()
            found = values.window(...)
            assert number_text.hex_text(found) == [f"0x{code:0{2 * size}X}" for code in codes]
            assert number_text.bit_text(found) == [f"{code:0{8 * size}b}" for code in codes]
            keys = number_text.ordered(found).ravel()
            order = np.argsort(keys, kind="stable")
            numbers = found.ravel()[order].astype(np.longdouble)
            numbers = numbers[~np.isnan(numbers)]
            assert (numbers[:-1] <= numbers[1:]).all()


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_types_below_a_byte_have_two_readings(path: Path) -> None:
    told = json.loads(path.with_suffix(".json").read_text())
    (record,) = read_params(path, float8="current").records
    with np.load(path.with_name(path.stem + "_memory_u8.npz")) as loaded:
        memory = loaded["memory"]
    shown = tensor(record)
    assert shown.readings == ("packed", "bytes")
    width, mask = told["bits"], (1 << told["bits"]) - 1
    whole = int.from_bytes(memory.tobytes(), "little")
    truth = {
        "packed": [whole >> (width * at) & mask for at in range(record.size)],
        "bytes": (record.raw() & mask).tolist(),
    }
    for reading, codes in truth.items():
        values = shown.values(reading)
        assert values.reading == reading
        assert values.view_shape == record.shape
        assert number_text.codes(values.window(...)).ravel().tolist() == codes
        assert number_text.hex_text(values.window(...)) == [
            f"0x{c:0{-(-width // 4)}X}" for c in codes
        ]
        assert np.array_equal(shown.window(..., reading), shown.numpy(reading))
        row = values.window((slice(1, 3), slice(None, None, 2))) if len(record.shape) > 1 else None
        if row is not None:
            expected = np.array(codes).reshape(record.shape)[1:3, ::2]
            assert number_text.codes(row).tolist() == expected.tolist()
    assert shown.values().reading == "packed"


@given(
    st.sampled_from([np.complex64, np.complex128]).flatmap(
        lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, max_side=4))
    )
)
def test_complex_readings_match_numpy(array: np.ndarray) -> None:
    shown = stored(from_numpy(array.dtype), array.shape, array.tobytes())
    assert shown.readings == ("magnitude", "phase", "real", "imag", "complex")
    assert shown.values().reading == "complex"
    for reading, face in FACES.items():
        values = shown.values(reading)
        with np.errstate(all="ignore"):
            expected = np.asarray(face(array))
        assert values.numpy_dtype == expected.dtype
        assert values.view_shape == array.shape
        assert np.array_equal(values.numpy(), expected, equal_nan=True)
        chunks = list(values.chunks(16))
        assert np.array_equal(np.concatenate(chunks), expected.ravel(), equal_nan=True)
        if array.ndim:
            found = values.window((-1, ...))
            assert found.dtype == expected.dtype
            assert np.array_equal(found, expected[-1], equal_nan=True)


@pytest.mark.parametrize("code", [6, 7])
def test_ambiguous_type_codes_are_read_in_both_ways(code: int) -> None:
    dtype = DataType(code, 8)
    data = bytes(range(120, 136))
    shown = stored(dtype, (16,), data, alternatives=dtype.alternatives)
    other = dtype.alternatives[0]
    assert shown.readings == (f"as {dtype}", f"as {other}")
    assert shown.values().dtype == dtype
    for each in (dtype, other):
        values = shown.values(f"as {each}")
        assert (values.reading, values.dtype) == (f"as {each}", each)
        assert np.array_equal(values.numpy(), stored(each, (16,), data).numpy(), equal_nan=True)
    with pytest.raises(ValueError, match="with_dtype"):
        shown.values("as float8_e8m0fnu")
    settled = tensor(shown.record.with_dtype(other))
    assert settled.readings == ()


def test_bools_below_a_byte_may_be_packed() -> None:
    shown = stored(DataType(1, 1), (10,), bytes([0b101, 2, 0, 0, 0, 0, 0, 0, 0, 1]))
    assert shown.readings == ("bytes", "packed")
    assert shown.numpy().tolist() == [True, True, *[False] * 7, True]
    assert shown.numpy("packed").astype(int).tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert number_text.hex_text(shown.values("packed").window(slice(2))) == ["0x1", "0x0"]
    assert number_text.hex_text(shown.values().codes.window(slice(2))) == ["0x05", "0x02"]


def test_fully_stored_lanes_form_an_axis() -> None:
    array = np.arange(24, dtype=np.float32)
    whole = stored(DataType.parse("float32x4"), (3, 2), array.tobytes())
    assert whole.complete
    assert whole.view_shape == (3, 2, 4)
    assert np.array_equal(whole.numpy(), array.reshape(3, 2, 4))
    assert np.array_equal(whole[1, :, 2], array.reshape(3, 2, 4)[1, :, 2])
    assert storage_notes(whole.dtype, (3, 2), 96) == ()
    part = stored(DataType.parse("float32x4"), (3, 2), array[:6].tobytes())
    assert part.view_shape == (6,)


def test_custom_types_are_shown_as_bytes() -> None:
    shown = stored(DataType.parse("custom[posit]16"), (2, 2), bytes(range(8)))
    assert shown.readings == ()
    assert shown.view_shape == (2, 2, 2)
    assert number_text.hex_text(shown[1, 0]) == ["0x04", "0x05"]


@pytest.mark.parametrize("name", ["float32", "int8", "handle", "bfloat16", "int64", "bool"])
def test_most_types_have_one_reading(name: str) -> None:
    dtype = DataType.parse(name)
    shown = stored(dtype, (2,), bytes(2 * dtype.itemsize))
    assert shown.readings == ()
    assert np.array_equal(shown.numpy("bytes"), shown.numpy())
    for wrong in ("magnitude", "loose", "as float32x2"):
        with pytest.raises(ValueError, match="no reading "):
            shown.values(wrong)


def test_value_windows_match_numpy_and_reject_bad_index() -> None:
    array = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    values = stored(from_numpy(array.dtype), array.shape, array.tobytes()).values()
    assert np.array_equal(values.window((1, slice(None, None, 2))), array[1, ::2])
    with pytest.raises(IndexError):
        values.window(2)
    assert values.codes is values
