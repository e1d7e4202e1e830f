"""Times by anything, against counting every step of time; rows of the table of operators."""

import itertools
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.timeline.times_truth import STEP, Steps, parts, ranges, same, spans, timeline

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.times import operator_rows
from tvmdbg_widgets.analysis.times.area import area
from tvmdbg_widgets.analysis.times.sums import times
from tvmdbg_widgets.model.base.ranges import group_spread, group_sums, total
from tvmdbg_widgets.model.graph.graph import node_label
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.run import DebugRun


def groups() -> Groups:
    raise AssertionError("nothing here asks for groups")


def numbers(whole: list[float]) -> tuple[float, ...]:
    if not whole:
        return (math.nan,) * 5
    median, ninety = np.percentile(whole, (50, 90)).tolist()
    return min(whole), math.fsum(whole) / len(whole), median, ninety, max(whole)


@given(spans, st.one_of(st.none(), ranges))
def test_times_by_name_match_sum_over_steps(given_: list, within: tuple | None) -> None:
    found = timeline(given_)
    low, high = within or (0, 60)
    area_ns = None if within is None else (low * STEP, high * STEP)
    table = times(parts(found), groups, "name", area_ns)
    truth = Steps(found).by_name(low, high)
    assert {row.key: (row.slices, row.ns) for row in table} == {
        name: (count, own) for name, (count, own, _) in truth.items()
    }
    for row in table:
        ours = (row.minimum, row.mean, row.p50, row.p90, row.maximum)
        assert all(map(same, ours, numbers(truth[str(row.key)][2])))
    whole = math.fsum(own for _, own, _ in truth.values())
    assert (table.total_ns, table.ns.tolist()) == (whole, sorted(table.ns.tolist(), reverse=True))
    if whole:
        np.testing.assert_allclose(table.share, table.ns / whole)
        np.testing.assert_allclose(table.cumulative, np.cumsum(table.ns) / whole)
    else:
        assert np.isnan(table.share).all()


def test_sums_beyond_any_number_are_infinite() -> None:
    huge = np.full(4, 1e308)
    assert total(huge) == math.inf
    assert group_sums(np.array([0, 0, 0, 1]), huge, 2).tolist() == [math.inf, 1e308]


@given(spans, ranges)
def test_all_groupings_sum_to_the_same_time(given_: list, within: tuple[int, int]) -> None:
    found = timeline(given_)
    tables = [
        times(parts(found), groups, by, (within[0] * STEP, within[1] * STEP))
        for by in ("name", "callers", "node", "kind", "device", "part")
    ]
    assert len({table.total_ns for table in tables}) == 1
    for table in tables:
        assert math.fsum(table.ns.tolist()) == table.total_ns
        assert int(table.slices.sum()) == int(tables[0].slices.sum())
    called = tables[1]
    for name in {key[0] for key in called.keys}:
        own = [row.ns for row in called if row.key[0] == name]
        assert math.fsum(own) == next(row.ns for row in tables[0] if row.key == name)


@given(spans, ranges)
def test_area_matches_step_by_step_sums(given_: list, within: tuple[int, int]) -> None:
    found = timeline(given_)
    low, high = within
    steps = Steps(found)
    ours = area(parts(found), groups, low * STEP, high * STEP)
    touching = steps.touching(low, high)
    assert ours.count == len(touching)
    assert ours.instants == sum(steps.begin[i] == steps.end[i] for i in touching)
    assert ours.ns == math.fsum(steps.own_in(i, low, high) for i in touching)
    whole = steps.whole(low, high)
    assert ours.whole == len(whole)
    numbers_ = (ours.minimum, ours.mean, ours.p50, ours.p90, ours.maximum)
    assert all(map(same, numbers_, numbers(whole)))
    first, last = min(steps.begin, default=0), max(steps.end, default=0)
    for number, track in enumerate(ours.tracks):
        busy = steps.busy(number, max(low, first), min(high, last))
        if not busy:
            assert math.isnan(track.busy)
            continue
        idle = [len(list(run)) for running, run in itertools.groupby(busy) if not running]
        assert track.busy_ns == STEP * sum(busy)
        assert track.busy == pytest.approx(sum(busy) / len(busy))
        assert (track.gaps, track.longest_gap_ns) == (len(idle), STEP * max(idle, default=0))
    assert ours.by("name").total_ns == ours.ns


values = st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1e12)), max_size=40)


@given(values, st.booleans())
def test_sums_are_rounded_once(pairs: list[tuple[int, float]], whole: bool) -> None:
    codes = np.array([code for code, _ in pairs], np.int64)
    column = np.array([value for _, value in pairs], np.float64)
    column = np.floor(column) if whole else column
    own = [column[codes == code].tolist() for code in range(6)]
    assert group_sums(codes, column, 6).tolist() == [math.fsum(each) for each in own]
    assert total(column) == math.fsum(column.tolist())
    spread = group_spread(codes, column, 6)
    for code, each in enumerate(own):
        ours = (spread.minimum, spread.mean, spread.p50, spread.p90, spread.maximum)
        assert spread.count[code] == len(each)
        assert all(map(same, [float(column[code]) for column in ours], numbers(each)))


def test_invalid_times_request_raises_error() -> None:
    run = parts(timeline([(0, 1, 0, 0)]))
    with pytest.raises(ValueError, match="known: 'node', 'kind'"):
        times(run, groups, "color")
    with pytest.raises(ValueError, match="groups need a graph"):
        times(run, groups, "group")
    for bad in ((1, 1), (2, 1), (0, math.nan), "now", 3):
        with pytest.raises(ValueError, match="start before end"):
            times(run, groups, "name", bad)
    with pytest.raises(ValueError, match="no trace"):
        times(parts(None), groups, "name")
    with pytest.raises(ValueError, match="no trace"):
        area(parts(None), groups, 0, 1)


def test_area_repr_of_many_tracks_is_short() -> None:
    count = 20_000
    events = [{"ph": "X", "name": "a", "ts": i, "dur": 2, "pid": 1, "tid": i} for i in range(count)]
    events[0]["tid"] = "one\ntwo"
    run = tvmdbg.open(json.dumps(events).encode())
    found = run.area(0, 1e3 * (count + 1))
    assert len(found.tracks) == count
    assert {each.busy_ns for each in found.tracks} == {2000.0}
    told = repr(found).splitlines()
    assert (len(told), told[-1]) == (23, "  … and 19,980 more tracks: to_dataframe()")


def test_operator_table_behaves_like_a_sequence(run: DebugRun) -> None:
    table, top = run.table(), run.top(5)
    rows = list(table)
    assert len(table) == len(rows) == len(set(rows)) > len(top) == 5
    assert [table[at] for at in range(-len(table), len(table))] == rows * 2
    assert list(table[3:20:4]) == rows[3:20:4]
    assert list(reversed(table)) == rows[::-1]
    assert all(each in table and table.index(each) == at for at, each in enumerate(rows))
    times = [row.time_ns for row in rows]
    assert [row.time_ns for row in top] == sorted(times, reverse=True)[:5]
    with pytest.raises(IndexError):
        table[len(table)]


def test_lists_name_operators_by_id_and_label(run: DebugRun) -> None:
    assert run.graph is not None
    assert run.tensors is not None
    row = run.top(1)[0]
    label = node_label(run.graph, row.node)
    assert label != row.name == run.graph.names[row.node]
    assert repr(run.top(1)).splitlines()[2].startswith(f"#{row.node} {label} ")
    assert f"\n    #{row.node} {label}: " in run.summary()
    columns = run.top(1).to_dataframe()
    assert (columns["name"][0], columns["label"][0]) == (row.name, label)
    first = next(iter(run.tensors.values()))
    listed = repr(run.tensors).splitlines()[1]
    assert listed.startswith(f"  #{first.node} {node_label(run.graph, first.node)}: ")
    assert first.name in repr(first)


def test_operator_table_can_be_pickled(run: DebugRun) -> None:
    copy = pickle.loads(pickle.dumps(run.top(50)))  # noqa: S301 (written just now)
    assert (repr(copy), copy._repr_html_()) == (repr(run.top(50)), run.top(50)._repr_html_())
    assert len(copy.to_dataframe()) == len(copy) == len(run.table())


def test_rows_are_built_only_when_accessed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = operator_rows._RowBuilder.row

    def counting(self: Any, key: int) -> Any:
        made.append(key)
        return make(self, key)

    monkeypatch.setattr(operator_rows._RowBuilder, "row", counting)
    run = tvmdbg.open(json.dumps([[1e-6 * node] for node in range(1, 3001)]).encode())
    assert "and 2,960 more" in repr(run.table())
    assert len(made) == 40
    run.figure("timeline")
    assert len(made) < 100
