"""Bits of scalars against struct and against values put together from their fields."""

import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.base import number_text
from tvmdbg_widgets.model.tensors.dtypes import _SMALL_FLOATS

FLOATS = sorted({*_SMALL_FLOATS.values(), "bfloat16", "float16", "float32", "float64"})
INTEGERS = ["int8", "uint16", "int32", "uint64", "int4", "uint4", "int2", "uint2", "bool"]


def named(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, None) or name)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20), st.sampled_from(FLOATS + INTEGERS))
def test_hex_and_bit_texts_match_the_codes(numbers: list[int], name: str) -> None:
    dtype = named(name)
    width = number_text.width(dtype)
    kept = [number & (1 if name == "bool" else (1 << width) - 1) for number in numbers]
    values = np.array(kept, f"u{dtype.itemsize}").view(dtype)
    assert number_text.codes(values).tolist() == kept
    assert number_text.codes(values).dtype.kind == "u"
    for code, number, binary in zip(
        kept, number_text.hex_text(values), number_text.bit_text(values), strict=True
    ):
        assert (int(number, 16), int(binary, 2)) == (code, code)
        assert len(binary) == width
        assert len(number) == 2 + -(-width // 4)
        assert set(binary) <= {"0", "1"}


@given(st.floats(width=32), st.floats())
def test_float_hex_text_matches_struct_pack(single: float, double: float) -> None:
    assert number_text.hex_text(np.float32(single)) == [
        f"0x{struct.pack('>f', single).hex().upper()}"
    ]
    assert number_text.hex_text(np.float64(double)) == [
        f"0x{struct.pack('>d', double).hex().upper()}"
    ]


@pytest.mark.parametrize("name", [name for name in FLOATS if named(name).itemsize < 4])
def test_float_fields_reconstruct_the_value(name: str) -> None:
    dtype = named(name)
    sign, exponent, mantissa = number_text.fields(dtype)
    assert sign + exponent + mantissa == number_text.width(dtype)
    values = np.arange(1 << number_text.width(dtype), dtype=f"u{dtype.itemsize}").view(dtype)
    with np.errstate(invalid="ignore"):
        wide = values.astype(np.float64)
    lowest = int(np.frexp(np.float64(ml_dtypes.finfo(dtype).smallest_normal))[1])
    for text, value in zip(number_text.bit_text(values), wide, strict=True):
        if not np.isfinite(value):
            continue
        top = int(text[sign : sign + exponent], 2)
        fraction = int(text[sign + exponent :] or "0", 2) / (1 << mantissa)
        if not sign:  # powers of two alone
            expected = 2.0 ** (top + lowest - 1)
        elif top:
            expected = (1 + fraction) * 2.0 ** (top - 1 + lowest - 1)
        else:
            expected = fraction * 2.0 ** (lowest - 1)
        assert value == (-expected if sign and text[0] == "1" else expected)


def test_only_floats_have_fields() -> None:
    assert number_text.fields(np.dtype("float32")) == (1, 8, 23)
    assert number_text.fields(np.dtype("float64")) == (1, 11, 52)
    assert number_text.fields(np.dtype(ml_dtypes.bfloat16)) == (1, 8, 7)
    assert number_text.fields(np.dtype(ml_dtypes.float8_e8m0fnu)) == (0, 8, 0)
    for name in [*INTEGERS, "complex64"]:
        assert number_text.fields(named(name)) == ()


def test_complex_numbers_show_bits_of_both_parts() -> None:
    values = np.array([1 + 2j, -0.0], np.complex64)
    assert number_text.hex_text(values) == ["0x3F800000 0x40000000", "0x80000000 0x00000000"]
    assert number_text.bit_text(values)[0] == f"{0x3F800000:032b}{0x40000000:032b}"
    with pytest.raises(TypeError, match="real and imaginary"):
        number_text.codes(values)


def test_byte_order_and_strides_do_not_matter() -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    expected = number_text.hex_text(np.ascontiguousarray(values.T))
    assert number_text.hex_text(values.T) == expected
    assert number_text.hex_text(values.T.astype(">f4")) == expected
    assert number_text.codes(values.T).shape == (4, 3)
    assert number_text.codes(np.float32(1)).shape == ()


def test_string_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="no type of numbers"):
        number_text.hex_text(np.array(["a"]))
