"""Short arrays, which are sorted, give what a table of all codes gives."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.statistics_truth import FLOATS, NAMES, WHOLE, check, decoded, some_bytes
from tvmdbg_widgets.model.statistics import code_tally, float_tally
from tvmdbg_widgets.model.statistics.tallies import tally

if TYPE_CHECKING:
    from tvmdbg_widgets.model.statistics.tallies import Tally


def counted(array: np.ndarray, cuts: list[int], short: int) -> Tally:
    """A tally of pieces of an array, each of which is merged into the first one's."""
    found = tally(array.dtype)
    with patch.object(code_tally, "SHORT", short), patch.object(float_tally, "SHORT", short):
        for begin, end in zip([0, *cuts], [*cuts, len(array)], strict=True):
            if begin == end:
                continue
            other = tally(array.dtype)
            with np.errstate(invalid="ignore"):
                other.add(array[begin:end], lambda index, begin=begin: begin + index)
            found.merge(other)
    return found


@given(st.sampled_from([*WHOLE, *FLOATS, *NAMES]), st.data())
@settings(max_examples=150, deadline=None)
def test_no_field_differs(name: str, data: st.DataObject) -> None:
    array = decoded(data.draw(some_bytes(name)), name)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(array)), max_size=2)))
    short, long = (counted(array, cuts, size).finish() for size in (1 << 12, -1))
    check(array, short)
    for field in dataclasses.fields(short):
        if field.name != "distribution":
            one, other = (np.asarray(getattr(each, field.name)) for each in (short, long))
            np.testing.assert_array_equal(one, other, field.name)
    spreads = [each.distribution for each in (short, long)]
    assert (spreads[0] is None) == (spreads[1] is None)
    if spreads[0] is not None and spreads[1] is not None:
        np.testing.assert_array_equal(spreads[0].keys, spreads[1].keys)
        np.testing.assert_array_equal(spreads[0].counts, spreads[1].counts)
    assert short.size == len(array)


@given(st.sampled_from(["float32", "float16", "bfloat16"]), st.data())
@settings(max_examples=40, deadline=None)
def test_pieces_of_one_tally_may_be_short_or_long(name: str, data: st.DataObject) -> None:
    array = decoded(data.draw(some_bytes(name)), name)
    cut = data.draw(st.integers(0, len(array)))
    mixed = tally(array.dtype)
    for begin, end in ((0, cut), (cut, len(array))):
        size = data.draw(st.sampled_from([1 << 12, -1]))
        with patch.object(code_tally, "SHORT", size), patch.object(float_tally, "SHORT", size):
            if begin < end:
                with np.errstate(invalid="ignore"):
                    mixed.add(array[begin:end], lambda index, begin=begin: begin + index)
    check(array, mixed.finish())
