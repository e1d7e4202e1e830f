"""Values as text give the same bits back, and whole numbers keep their digits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.number_text import number_text

WIDE = [(np.float32, np.uint32), (np.float64, np.uint64)]
SMALL: list[Any] = [
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e3m4,
    ml_dtypes.float8_e8m0fnu,
]


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
def test_every_16_bit_value_comes_back(kind: Any) -> None:
    for value in np.arange(1 << 16, dtype=np.uint16).view(kind):
        _comes_back(value, kind)


@pytest.mark.parametrize("kind", SMALL)
def test_every_8_bit_value_comes_back(kind: Any) -> None:
    for value in np.arange(1 << 8, dtype=np.uint8).view(kind):
        _comes_back(value, kind)


@pytest.mark.parametrize(("kind", "bits"), WIDE)
@given(data=st.data())
def test_any_wide_value_comes_back(kind: Any, bits: Any, data: st.DataObject) -> None:
    drawn = data.draw(st.integers(0, np.iinfo(bits).max))
    _comes_back(np.array([drawn], bits).view(kind)[0], kind)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float16(65504), "65504.0"),
        (np.float32(16777216), "16777216.0"),
        (np.float32(0.1), "0.1"),
        (np.float32(-0.0), "-0.0"),
        (np.int64(2**62 + 1), str(2**62 + 1)),
        (np.uint64(2**64 - 1), str(2**64 - 1)),
        (ml_dtypes.int4(-8), "-8"),
        (np.bool_(True), "True"),
        (np.float32("-inf"), "-inf"),
    ],
)
def test_known_texts(value: object, text: str) -> None:
    assert number_text(value) == text


def _comes_back(value: Any, kind: Any) -> None:
    text = number_text(value)
    if text == "nan":
        assert value != value  # noqa: PLR0124 (what NaN alone does, whatever the type)
        return
    again = kind(float(text))
    assert again.tobytes() == value.tobytes(), text
