"""Tallies of the pieces of an array, merged, give what its values give."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.statistics_truth import FLOATS, NAMES, WHOLE, check, decoded, some_bytes
from tvmdbg_widgets.model.statistics.tallies import tally


@given(st.sampled_from([*WHOLE, *FLOATS, *NAMES]), st.data())
@settings(max_examples=60, deadline=None)
def test_merged_tallies_match_the_whole_array(name: str, data: st.DataObject) -> None:
    array = decoded(data.draw(some_bytes(name)), name)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(array)), max_size=2)))
    merged = tally(array.dtype)
    for begin, end in zip([0, *cuts], [*cuts, len(array)], strict=True):
        if begin == end:
            continue
        other = tally(array.dtype)
        with np.errstate(invalid="ignore"):
            other.add(array[begin:end], lambda index, begin=begin: begin + index)
        merged.merge(other)
    check(array, merged.finish())
