"""Values as text give the same bits back, and whole numbers keep their digits."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.number_text import computed_text, most_digits, number_text

WIDE = [(np.float32, np.uint32), (np.float64, np.uint64)]
#: ml_dtypes makes the next larger float8_e8m0fnu of it.
LEAST_SCALE = 2.0**-127
SMALL: list[Any] = [
    getattr(ml_dtypes, name) for name in dir(ml_dtypes) if name.startswith("float8_")
]


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
def test_every_16_bit_value_round_trips(kind: Any) -> None:
    for value in np.arange(1 << 16, dtype=np.uint16).view(kind):
        _comes_back(value, kind)


@pytest.mark.parametrize("kind", SMALL)
def test_every_8_bit_value_round_trips(kind: Any) -> None:
    for value in np.arange(1 << 8, dtype=np.uint8).view(kind):
        if float(value) != LEAST_SCALE:
            _comes_back(value, kind)


@pytest.mark.parametrize(("kind", "bits"), WIDE)
@given(data=st.data())
def test_any_wide_value_round_trips(kind: Any, bits: Any, data: st.DataObject) -> None:
    drawn = data.draw(st.integers(0, np.iinfo(bits).max))
    _comes_back(np.array([drawn], bits).view(kind)[0], kind)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float16(65504), "65504"),
        (np.float32(16777216), "16777216"),
        (np.float32(0.1), "0.1"),
        (np.float32(-0.0), "-0"),
        (np.int64(2**62 + 1), str(2**62 + 1)),
        (np.uint64(2**64 - 1), str(2**64 - 1)),
        (ml_dtypes.int4(-8), "-8"),
        (np.bool_(True), "True"),
        (np.float32("-inf"), "-inf"),
        (ml_dtypes.bfloat16(0.1), "0.1"),
        (ml_dtypes.bfloat16(33024), "3.3e4"),
        (np.float32(1e-7), "1e-7"),
        (np.float32(3.4028235e38), "3.4028235e38"),
        (np.float64(1.5e300), "1.5e300"),
    ],
)
def test_number_text_formats_known_values(value: object, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (54137.60000000009, "54137.6"),
        (0.1000000277068466, "0.1"),
        (2570716.799999996, "2570717"),
        (1.23456789e-9, "1.23457e-9"),
        (-0.0, "0"),
        (math.nan, "nan"),
    ],
)
def test_computed_numbers_have_six_digits(value: float, text: str) -> None:
    assert computed_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_computed_text_is_within_rounding_error(value: float) -> None:
    assert float(computed_text(value)) == pytest.approx(value, rel=5.001e-6, abs=5e-324)


def _comes_back(value: Any, kind: Any) -> None:
    text = number_text(value)
    limits = {np.float16: 5, ml_dtypes.bfloat16: 4, np.float32: 9, np.float64: 17}
    most = most_digits(np.dtype(kind))
    assert most == limits.get(kind, most)
    if math.isfinite(value):
        assert len(text.partition("e")[0].strip("-").replace(".", "").strip("0")) <= most
    if text == "nan":
        assert value != value  # noqa: PLR0124 (what NaN alone does, whatever the type)
        return
    again = kind(float(text))
    assert again.tobytes() == value.tobytes(), text
