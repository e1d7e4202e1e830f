"""Numbers for distinct rows are what ``np.unique`` gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.ranges import first_rows, numbered

_INT64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)


def test_numbering_handles_full_range_of_int8() -> None:
    values = np.tile(np.arange(-128, 128, 2, dtype=np.int8), 2)
    assert numbered(values).tolist() == [*range(128)] * 2


@given(st.lists(st.tuples(_INT64, st.integers(-128, 127))))
def test_rows_are_numbered_in_sorted_order(rows: list[tuple[int, int]]) -> None:
    wide = np.array([each for each, _ in rows], np.int64)
    narrow = np.array([each for _, each in rows], np.int8)
    found = numbered(wide, narrow)
    order = {row: at for at, row in enumerate(sorted(set(rows)))}
    assert found.tolist() == [order[row] for row in rows]
    assert first_rows(found).tolist() == [rows.index(row) for row in order]
