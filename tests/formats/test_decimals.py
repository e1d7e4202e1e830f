"""Microseconds in decimal to nanoseconds, against Python's decimal numbers."""

import decimal
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tvmdbg_widgets.formats.decimals import LARGEST_NS, DecimalText, Wrong, nanoseconds

_CONTEXT = decimal.Context(prec=2000)


def truth(value: Any) -> tuple[int, float] | Wrong:
    """Whole nanoseconds and what is left of them, by decimal arithmetic of 2,000 digits."""
    if type(value) not in (int, float, str, DecimalText):
        return Wrong.NO_NUMBER
    try:
        exact = Decimal(str(value).strip()) if "_" not in str(value) else None
    except decimal.InvalidOperation:
        exact = None
    if exact is None:
        return Wrong.NO_NUMBER
    if not exact.is_finite() or abs(exact) > 10**30:
        return Wrong.NOT_FINITE
    if exact.adjusted() < -40:
        return 0, 0.0
    scaled = _CONTEXT.scaleb(exact, 3)
    whole = int(scaled.to_integral_value(decimal.ROUND_FLOOR))
    if abs(whole) >= LARGEST_NS:
        return Wrong.NOT_FINITE
    return whole, float(_CONTEXT.subtract(scaled, whole))


def check(values: list[Any]) -> None:
    found = nanoseconds(values)
    rest = [0.0] * len(values) if found.rest is None else found.rest.tolist()
    for at, value in enumerate(values):
        expected = truth(value)
        if isinstance(expected, Wrong):
            assert found.wrong[at] == expected, value
            assert found.whole[at] == 0
            continue
        assert found.wrong[at] == Wrong.NO, value
        assert found.whole[at] == expected[0], value
        assert rest[at] == pytest.approx(expected[1], abs=1e-15), value


PLAIN = st.builds(
    "{}{}.{}".format,
    st.sampled_from(["", "-"]),
    st.integers(0, 10**17),
    st.integers(0, 10**9).map(str) | st.integers(0, 999).map("{:03d}".format),
)
ODD = st.sampled_from(
    [
        *("1e3", "-2.5E-4", "1E+2", "nan", "-inf", "Infinity", "", "x", "1e999999", "1e-999999"),
        *("5.", ".5", " 7 ", "1_0", "--1", "1.2.3", "1\n2", "é", "\ud800", "-0.0001", "1-1"),
        *("4611686018427387.903", "4611686018427387.904", "-4611686018427387.904"),
        *("9" * 19 + ".1", "0" * 40 + "1.5"),
    ]
)
ANY = (
    PLAIN
    | ODD
    | st.integers(-(10**22), 10**22)
    | st.floats()
    | st.sampled_from([None, True, [], {}])
)


@given(st.lists(PLAIN, max_size=8))
@example(["1722963293847123.456", "-0.001", "0.000"])
def test_decimal_texts_are_converted(texts: list[str]) -> None:
    check([DecimalText(text) for text in texts])
    check(texts)


@given(st.lists(ANY, max_size=8))
def test_nanoseconds_of_arbitrary_values(values: list[Any]) -> None:
    check(values)


@given(st.lists(st.integers(-(10**15), 10**15), min_size=1))
def test_whole_microseconds_are_exact(values: list[int]) -> None:
    found = nanoseconds(values)
    assert found.whole.tolist() == [1000 * each for each in values]
    assert found.rest is None


def test_very_long_decimals_are_read() -> None:
    found = nanoseconds(["1." + "3" * 200_000, "1" * 200_000, "0." + "0" * 200_000 + "1"])
    assert found.whole.tolist() == [1333, 0, 0]
    assert found.wrong.tolist() == [Wrong.NO, Wrong.NOT_FINITE, Wrong.NO]
