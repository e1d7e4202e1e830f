"""Every type TVM can save, against the bytes that went in."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from formats.tvm.params.params_truth import DATA

from tvmdbg_widgets.formats.tvm.params.file import load_params, read_params
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tensors.dtypes import DataType

ZOO = DATA / "zoo" / "zoo.params"
RELAX = DATA / "relax"
SUB = sorted(RELAX.glob("sub_*.bin"))


def test_zoo_arrays_match_saved_bytes() -> None:
    expected = json.loads(ZOO.with_name("zoo.expected.json").read_text())
    file = read_params(ZOO)
    assert set(file.keys) == set(expected)
    for record in file.records:
        told = expected[record.key]
        assert record.dtype == DataType.parse(told["dtype"]) or record.dtype.is_bool
        assert record.dtype.name == DataType.parse(told["dtype"]).name
        assert record.shape == tuple(told["shape"])
        whole = bytes.fromhex(told["hex"])
        assert record.raw().tobytes() == whole[: record.nbytes]
        assert record.complete == (record.dtype.lanes == 1)
        if record.complete:
            assert record.nbytes == len(whole)
            assert record.numpy().shape == tuple(told["numpy_shape"])
            assert record.numpy().tobytes() == whole


def test_zoo_values() -> None:
    with pytest.warns(UserWarning, match="fp8|vec_") as warned:
        arrays = load_params(ZOO)
    said = [str(warning.message) for warning in warned]
    assert sum("leaves out the lanes" in text for text in said) == 3
    assert sum("bytes other than 0 and 1" in text for text in said) == 2
    assert len(said) == 5
    assert arrays["i_uint64"].tolist() == [0, 0, 1, 2**64 - 1]
    assert arrays["bool"].tolist() == [[True, False], [False, True]]
    assert arrays["bf16"].dtype == ml_dtypes.bfloat16
    assert arrays["bf16"].astype(float)[:2].tolist() == [1.0, -1.0]
    assert arrays["fp8_e4m3"].dtype == ml_dtypes.float8_e4m3fn
    assert arrays["fp8_e4m3"].astype(float).tolist() == [0.5, 1.0, -2.0, 448.0]
    assert arrays["fp8_e5m2"].astype(float).tolist() == [0.5, 1.0, -2.0, np.inf]
    assert arrays["shape_"].shape == ()
    assert arrays["shape_0x3"].shape == (0, 3)
    assert arrays["vec_int8x8"].tolist() == [0, 1]


def test_relax_types_match_saved_bytes() -> None:
    told = json.loads((RELAX / "params_all.json").read_text())["params"]
    records = {record.key: record for record in read_params(RELAX / "params_all.bin").records}
    assert len(records) == len(told) == 29
    with np.load(RELAX / "params_all_raw_u8.npz") as raw:
        for item in told:
            record = records[item["name"]]
            assert record.dtype == DataType.parse(item["dtype"])
            assert record.shape == tuple(item["shape"])
            assert record.nbytes == item["nbytes"]
            assert record.raw().tobytes() == raw[item["npz"]].tobytes()
            assert record.complete
            values = record.numpy()
            assert values.dtype.name == item["dtype"]
            assert values.shape == record.shape
            if not record.dtype.is_bool:
                assert values.tobytes() == raw[item["npz"]].tobytes()


@pytest.mark.parametrize("path", SUB, ids=lambda path: path.stem)
def test_sub_byte_and_vector_types(path: Path) -> None:
    told = json.loads(path.with_suffix(".json").read_text())
    (record,) = read_params(path, float8="current").records
    assert record.dtype == DataType.parse(told["dtype"])
    assert (record.dtype.code, record.dtype.bits, record.dtype.lanes) == (
        told["code"],
        told["bits"],
        told["lanes"],
    )
    assert record.nbytes == told["file_nbytes"]
    with np.load(path.with_name(path.stem + "_memory_u8.npz")) as arrays:
        memory = arrays["memory"]
    used = min(record.nbytes, told["memory_bytes"])
    assert record.raw()[:used].tobytes() == memory[:used].tobytes()
    assert record.notes
    if record.dtype.lanes > 1:
        assert (
            f"stores {record.nbytes} of {counted(told['memory_bytes'], 'byte')}" in record.notes[0]
        )
        assert record.numpy().tobytes() == memory[: record.nbytes].tobytes()
    elif record.dtype.is_packed:
        assert record.numpy().shape == tuple(told["shape"])
        bits = int.from_bytes(memory.tobytes(), "little")
        width, mask = told["bits"], (1 << told["bits"]) - 1
        expected = [bits >> (width * i) & mask for i in range(record.size)]
        found = record.numpy().reshape(-1).view(np.uint8) & mask
        assert found.tolist() == expected
        loose = record.numpy("bytes").reshape(-1).view(np.uint8) & mask
        assert loose.tolist() == (record.raw() & mask).tolist()
        bytes_told = f"in the first {told['memory_bytes']} of {counted(record.nbytes, 'byte')}"
        if record.dtype.code >= 9:  # which no TVM before 0.21 has
            bytes_told = f"the last {counted(record.nbytes - told['memory_bytes'], 'byte')} "
        assert bytes_told in record.notes[0]


def test_zero_middle_dimension_is_read() -> None:
    first, after = read_params(RELAX / "params_zero_mid_dim.bin").records
    assert (first.shape, first.nbytes, first.numpy().shape) == ((2, 0, 3), 0, (2, 0, 3))
    assert after.numpy().reshape(-1).tolist() == list(range(64))


def test_lost_bools_of_v06_are_reported() -> None:
    file = read_params(DATA / "dumps" / "dtypes_v0.6.params")
    (record,) = [r for r in file.records if r.dtype.is_bool]
    assert (record.shape, record.nbytes, record.view_shape) == ((2, 5), 0, (0,))
    assert "values lost" in record.notes[0]
    assert not record.complete
    assert record.numpy().shape == (0,)
    assert file.issues.by_rule("values-lost")
    assert file.records[-1].numpy().reshape(-1).tolist() == [-2, -1, 0, 1, 2, 3]


def test_files_with_one_and_no_array_are_read() -> None:
    one = load_params(ZOO.with_name("one.params"))
    assert len(one) == 1
    assert read_params(ZOO.with_name("empty.params")).records == ()
    assert load_params(ZOO.with_name("empty.params").read_bytes()) == {}
