import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.tensors.dtypes import DataType, from_numpy


@pytest.mark.parametrize(
    ("text", "code", "bits", "lanes", "name"),
    [
        ("int8", 0, 8, 1, "int8"),
        ("int", 0, 32, 1, "int32"),
        ("uint", 1, 32, 1, "uint32"),
        ("float", 2, 32, 1, "float32"),
        ("float32x4", 2, 32, 4, "float32x4"),
        ("floatx4", 2, 32, 4, "float32x4"),
        ("float32xvscalex4", 2, 32, -4, "float32xvscalex4"),
        ("bfloat", 4, 16, 1, "bfloat16"),
        ("bfloat16x2", 4, 16, 2, "bfloat16x2"),
        ("handle", 3, 64, 1, "handle"),
        ("handle64", 3, 64, 1, "handle"),
        ("handle32", 3, 32, 1, "handle32"),
        ("void", 3, 0, 0, "void"),
        ("", 3, 0, 0, "void"),
        ("bool", 6, 8, 1, "bool"),
        ("boolx4", 6, 8, 4, "boolx4"),
        ("uint1", 1, 1, 1, "bool"),
        ("uint1x32", 1, 1, 32, "uint1x32"),
        ("int1", 0, 1, 1, "int1"),
        ("int4", 0, 4, 1, "int4"),
        ("complex64", 5, 64, 1, "complex64"),
        ("custom[posit]16", 129, 16, 1, "custom[posit]16"),
        ("custom[150]8x2", 150, 8, 2, "custom[150]8x2"),
        ("e4m3_float8", 10, 8, 1, "float8_e4m3fn"),
        ("e5m2_float8", 12, 8, 1, "float8_e5m2"),
        ("e5m2_float8x4", 12, 8, 4, "float8_e5m2x4"),
        ("float8_e3m4", 7, 8, 1, "float8_e3m4"),
        ("float8_e4m3", 8, 8, 1, "float8_e4m3"),
        ("float8_e4m3b11fnuz", 9, 8, 1, "float8_e4m3b11fnuz"),
        ("float8_e4m3fn", 10, 8, 1, "float8_e4m3fn"),
        ("float8_e4m3fnuz", 11, 8, 1, "float8_e4m3fnuz"),
        ("float8_e5m2", 12, 8, 1, "float8_e5m2"),
        ("float8_e5m2fnuz", 13, 8, 1, "float8_e5m2fnuz"),
        ("float8_e8m0fnu", 14, 8, 1, "float8_e8m0fnu"),
        ("float6_e2m3fn", 15, 6, 1, "float6_e2m3fn"),
        ("float6_e3m2fn", 16, 6, 1, "float6_e3m2fn"),
        ("float4_e2m1fn", 17, 4, 1, "float4_e2m1fn"),
        ("i32", 0, 32, 1, "int32"),
        ("u8", 1, 8, 1, "uint8"),
        ("f16", 2, 16, 1, "float16"),
        ("bf16", 4, 16, 1, "bfloat16"),
        ("fp8_e4m3fn", 10, 8, 1, "float8_e4m3fn"),
        ("f8_e5m2", 12, 8, 1, "float8_e5m2"),
        ("fp4_e2m1fn", 17, 4, 1, "float4_e2m1fn"),
    ],
)
def test_dtype_spellings_are_parsed(text: str, code: int, bits: int, lanes: int, name: str) -> None:
    dtype = DataType.parse(text)
    assert (dtype.code, dtype.bits, dtype.lanes) == (code, bits, lanes)
    assert dtype.name == str(dtype) == name
    assert DataType.parse(name).name == name


@pytest.mark.parametrize(
    "text",
    [
        *("flot32", "float32x", "float32x0", "float8_e1m6", "i", "int8 ", "x4", "8", "int-8"),
        "custom[a",
    ],
)
def test_invalid_dtype_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"dtype|lanes"):
        DataType.parse(text)


@given(st.integers(0, 255), st.sampled_from([1, 2, 4, 6, 8, 16, 32, 64, 128]), st.integers(1, 64))
def test_every_type_has_a_name_and_a_width(code: int, bits: int, lanes: int) -> None:
    dtype = DataType(code, bits, lanes)
    assert dtype.name
    assert dtype.itemsize == -(-bits // 8)
    assert dtype.numpy_dtype is None or dtype.numpy_dtype.itemsize == dtype.itemsize


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in dir(ml_dtypes)
        if n.startswith(("float", "bfloat", "int", "uint")) and n != "uint1"
    ],
)
def test_small_types_have_their_numpy_type(name: str) -> None:
    numpy_dtype = np.dtype(getattr(ml_dtypes, name))
    dtype = DataType.parse(name)
    assert dtype.numpy_dtype == numpy_dtype
    assert from_numpy(numpy_dtype) == dtype


@pytest.mark.parametrize("letter", list("?bhiqBHIQefdFD"))
def test_plain_types_have_their_numpy_type(letter: str) -> None:
    numpy_dtype = np.dtype(letter)
    assert from_numpy(numpy_dtype).numpy_dtype == numpy_dtype
    assert from_numpy(numpy_dtype.newbyteorder(">")).name == numpy_dtype.name


@pytest.mark.parametrize("letter", ["U3", "S2", "M8[s]", "O", "V4", "g"])
def test_types_without_tvm_equivalent_are_refused(letter: str) -> None:
    with pytest.raises(ValueError, match="no data type"):
        from_numpy(np.dtype(letter))


def test_type_codes_with_changed_meaning() -> None:
    assert DataType(6, 8).name == "bool"
    assert DataType(6, 8).legacy().name == "float8_e4m3fn"
    assert DataType(7, 8, 4).legacy() == DataType(12, 8, 4)
    assert DataType(8, 4).name == "float4_e2m1fn"
    assert DataType(8, 8).alternatives == ()
    assert DataType(1, 1).name == "bool"
    assert not DataType(1, 1).is_packed
    assert DataType(1, 1, 32).is_packed


@pytest.mark.parametrize(
    "dtype", [DataType(3, 64), DataType(200, 16), DataType(2, 128), DataType(99, 8)]
)
def test_types_without_numpy_type(dtype: DataType) -> None:
    assert dtype.numpy_dtype is None
