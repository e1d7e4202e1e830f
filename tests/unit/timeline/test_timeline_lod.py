"""Bins of time and searches, against every slice looked at one by one."""

import math
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from make import timeline as golden
from unit.timeline.slices_truth import Span, spans, timeline

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.query import RegexError
from tvmdbg_widgets.analysis.timeline.lod import TimelineLod, matching
from tvmdbg_widgets.model.timeline.rows import RowKind
from tvmdbg_widgets.model.timeline.timeline import Timeline

steps = st.sampled_from([0.25, 1.0, 1.5, 3.0, 7.0, 64.0, 1000.0])


def truth(own: Timeline, row: int, begin: float, end: float) -> tuple[float, int]:
    """Busy time and the dominant slice of one bin of one row, slice by slice."""
    rows = own.rows
    busy, best, most = Fraction(0), -1, Fraction(-1)
    for number in range(int(rows.first[row]), int(rows.first[row + 1])):
        source = int(rows.order[number])
        start = Fraction(float(own.slice_start_ns[source]))
        stop = start + Fraction(float(own.slice_duration_ns[source]))
        if rows.kind[row] == RowKind.INSTANT:
            if begin <= start < end and best < 0:
                best = number
            continue
        inside = min(stop, Fraction(end)) - max(start, Fraction(begin))
        if stop > begin and start < end:
            busy += max(Fraction(0), inside)
            if inside > most:
                best, most = number, inside
    return float(busy), best


@given(spans(), steps, st.integers(-40, 200), st.integers(1, 30))
def test_bins_match_sum_over_slices(
    given_spans: list[Span], step: float, first: int, count: int
) -> None:
    own = timeline(given_spans)
    found = TimelineLod(own).bins(float(first), step, count)
    for row in range(len(own.rows)):
        for at in range(count):
            begin, end = first + at * step, first + (at + 1) * step
            busy, best = truth(own, row, begin, end)
            assert found.slice[row, at] == best or on_border(own, row, begin, end, best)
            assert found.busy[row, at] == pytest.approx(busy / step, abs=1e-6)


def on_border(own: Timeline, row: int, begin: float, end: float, best: int) -> bool:
    """Whether the bin ends all time, where instants at that very end are in it, too."""
    is_last = own.rows.kind[row] == RowKind.INSTANT and best < 0
    ends = own.slice_start_ns + own.slice_duration_ns
    return is_last and end == ends.max() and bool(np.any(own.slice_start_ns == end)) and begin < end


@given(spans(), st.floats(-10, 400), st.floats(0, 200))
def test_a_window_has_the_slices_that_touch_it(
    given_spans: list[Span], begin: float, width: float
) -> None:
    own, end = timeline(given_spans), begin + width
    low, high = TimelineLod(own).touching(begin, end)
    for row, kind in enumerate(own.rows.kind):
        for number in range(int(own.rows.first[row]), int(own.rows.first[row + 1])):
            source = own.rows.order[number]
            start, last = (
                own.slice_start_ns[source],
                own.slice_start_ns[source] + own.slice_duration_ns[source],
            )
            touches = last > begin and start < end
            if kind == RowKind.INSTANT:
                touches = begin <= start <= end
            assert (low[row] <= number < high[row]) == touches


@given(spans(), st.integers(-5, 300), st.data())
def test_neighboring_hits_are_ordered_by_start(
    given_spans: list[Span], at: int, data: st.DataObject
) -> None:
    own = timeline(given_spans)
    lod = TimelineLod(own)
    count = len(own.rows.order)
    numbers = np.array(sorted(data.draw(st.sets(st.integers(0, count - 1)))) if count else [], int)
    current = data.draw(st.integers(-1, count - 1))
    moment = float(lod.start[current]) if current >= 0 else float(at)
    key = (moment, current)
    keys = sorted((float(lod.start[number]), number) for number in numbers.tolist())
    before = [number for start, number in keys if (start, number) < key]
    after = [number for start, number in keys if (start, number) > key]
    found = lod.beside(numbers, moment, current)
    assert found == (before[-1] if before else -1, after[0] if after else -1)


def test_search_matches_only_names_of_drawn_slices() -> None:
    own = timeline(
        [(0, 5, 0), (10, 5, 0), (20, 0, 1), (math.nan, 3, 0)], names=("Conv", "b", "add")
    )
    found = matching(None, own, "CON")
    assert own.rows.order[found.numbers].tolist() == [0]
    assert found.self_ns == 5
    assert len(matching(None, own, "").numbers) == 0
    assert own.rows.order[matching(None, own, "^a|b$", regex=True).numbers].tolist() == [1, 2]
    with pytest.raises(RegexError):
        matching(None, own, "(", regex=True)


def test_search_requires_every_word_in_slice_name_or_kind() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    rows, nodes = run.timeline.rows, run.timeline.slice_node

    def sought(text: str) -> list[int]:
        return nodes[rows.order[matching(run.graph, run.timeline, text).numbers]].tolist()

    assert sought("relu conv2d") == [*run.select("relu conv2d kind:operator")]
    assert sought("CONVOLUTION add") == [*run.select("convolution add kind:operator")]
    assert sought('"conv2d + add + relu"') == [*run.select('"conv2d + add + relu"')]
    assert sought('"add + conv2d"') == []


@pytest.mark.slow
def test_backtracking_regex_search_is_fast() -> None:
    own = timeline([(0, 5, 0)], names=("a" * 5000,))
    begun = time.process_time()
    assert len(matching(None, own, "(a*)*(a|a)*b", regex=True).numbers) == 0
    assert time.process_time() - begun < 2


def test_recorded_bins_match_current_output(data: Path) -> None:
    assert (data / "timeline/timelines.json").read_text(encoding="utf-8") == golden.written()
