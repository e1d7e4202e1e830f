"""A folded graph takes no more room than what lies in each of its stretches needs."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.figures.graph.fold import _GAP, _Closed


@given(
    st.lists(st.tuples(st.integers(-9_999, 9_999), st.integers(0, 200)), min_size=1, max_size=30)
)
def test_closing_gaps_keeps_the_order_and_every_width(boxes: list[tuple[int, int]]) -> None:
    taken = [(low, low + width) for low, width in boxes]
    closed = _Closed(taken)
    moved = sorted((closed(low), closed(low) + high - low) for low, high in taken)
    for low, high in taken:
        assert closed(high) - closed(low) == pytest.approx(high - low, abs=1e-6)
    reach = moved[0][1]
    for low, high in moved[1:]:
        assert low - reach <= _GAP + 1e-6
        reach = max(reach, high)
    for a, b in itertools.product(taken, taken):
        if a[1] < b[0]:
            assert closed(a[1]) < closed(b[0])
