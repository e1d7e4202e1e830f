"""Numpy's archives, against numpy's own reader; damaged ones are refused."""

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.archives import read_numpy_archive, read_numpy_array
from tvmdbg_widgets.sources.byte_source import BytesSource

ARRAYS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "by/column": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "number": np.float64(3.5),
    "none": np.zeros((0, 2), bool),
}


def saved(*, packed: bool, **arrays: Any) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize("packed", [False, True])
def test_arrays_match_numpy(packed: bool) -> None:
    found = read_numpy_archive(BytesSource(saved(packed=packed, **ARRAYS), "a.npz"))
    assert found.keys() == ARRAYS.keys()
    for name, expected in ARRAYS.items():
        np.testing.assert_array_equal(found[name], expected, strict=True)


def test_python_objects_are_refused() -> None:
    with pytest.raises(FormatError, match="an array of numbers"):
        read_numpy_archive(BytesSource(saved(packed=False, a=np.array([{}], object)), "a.npz"))


def test_more_values_than_bytes_are_refused() -> None:
    file = io.BytesIO()
    np.save(file, np.zeros(4))
    data = file.getvalue().replace(b"(4,)", b"(9,)")
    with pytest.raises(FormatError, match="of 72 bytes"):
        read_numpy_array(BytesSource(data, "a.npy"))


@given(st.data())
def test_damaged_archives_raise_only_format_errors(data: st.DataObject) -> None:
    whole = bytearray(saved(packed=data.draw(st.booleans()), **ARRAYS))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    for each in (bytes(whole), cut):
        try:
            read_numpy_archive(BytesSource(each, "a.npz"))
        except FormatError:
            continue


@given(st.binary(max_size=120))
def test_random_header_raises_a_format_error(text: bytes) -> None:
    head = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    with pytest.raises(FormatError):
        read_numpy_array(BytesSource(head, "a.npy"))


@given(
    st.tuples(*[st.integers(-(2**70), 2**70)] * 2),
    st.sampled_from(["<f4", "|O", "V0", "<U0", "|b1", "nope", "i4,f4"]),
)
def test_any_declared_shape_is_read_or_refused(shape: tuple[int, int], dtype: str) -> None:
    text = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    head = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    try:
        read_numpy_array(BytesSource(head + bytes(64), "a.npy"))
    except FormatError:
        return
