"""Medians, deviations and counts of what is left behind a cut, against numpy's of each rest."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.suffixes import Suffixes, suffix_medians

VALUES = st.one_of(st.integers(0, 4).map(float), st.floats(-1e9, 1e9))


@given(st.data(), st.integers(1, 3), st.integers(1, 40))
def test_they_are_numpys(data: st.DataObject, count: int, width: int) -> None:
    values = data.draw(st.lists(VALUES, min_size=count * width, max_size=count * width))
    rows = np.array(values).reshape(count, width)
    cuts = np.arange(width)
    limits = np.broadcast_to(data.draw(st.sampled_from(values)), (count, width))
    rests = [rows[:, cut:] for cut in cuts]
    medians = np.array([np.median(rest, axis=1) for rest in rests]).T
    found = Suffixes(rows)
    np.testing.assert_array_equal(suffix_medians(rows, cuts), medians)
    np.testing.assert_array_equal(found.medians(cuts), medians)
    apart = [np.median(abs(rest - np.median(rest, 1)[:, None]), 1) for rest in rests]
    np.testing.assert_array_equal(found.deviations(cuts, medians), np.array(apart).T)
    below = [np.count_nonzero(rest <= limits[:, :1], axis=1) for rest in rests]
    np.testing.assert_array_equal(found.below(cuts, limits), np.array(below).T)
