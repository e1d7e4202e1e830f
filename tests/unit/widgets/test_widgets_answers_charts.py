"""What views are told for charts, counters and columns."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from make import wire as golden
from unit.widgets import wire

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.run import DebugRun


@pytest.fixture(scope="module")
def trace(data: Path) -> DebugRun:
    opened = tvmdbg.open(data / "chrome" / "viztracer.json")
    assert isinstance(opened, DebugRun)
    return opened


def asked(run: DebugRun, kind: str, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    reply = answer(run.facts, {"kind": kind, **more})
    return wire.unpack(reply.result["columns"], reply.buffers[0]), reply.result["info"]


def test_merged_places_are_those_of_the_run(trace: DebugRun, run: DebugRun) -> None:
    for shown in (trace, run):
        tree = shown.merged()
        columns, info = asked(shown, "merged")
        for name, expected in (
            *(("parent", tree.parent), ("total", tree.total_ns), ("self", tree.self_ns)),
            *(("start", tree.start_ns), ("count", tree.count), ("node", tree.node)),
            ("group", tree.group),
        ):
            assert np.array_equal(columns[name], expected), name
        assert list(columns["names"]) == list(tree.names)
        assert info["paths"] == len(tree)


def test_merged_range_and_largest_places(trace: DebugRun) -> None:
    first = float(trace.timeline.slice_start_ns.min())
    end = first + trace.timeline.span_ns / 3
    part, _ = asked(trace, "merged", **{"from": first, "to": end})
    assert np.array_equal(part["total"], trace.merged((first, end)).total_ns)
    whole, _ = asked(trace, "merged")
    few, info = asked(trace, "merged", most=7)
    assert len(few["total"]) == 7 < info["paths"]
    assert sorted(few["total"]) == sorted(whole["total"])[-7:]
    assert (few["parent"] < np.arange(7)).all()
    for bad in ({"most": 0}, {"from": 1}, {"from": 5, "to": 1}, {"most": "all"}):
        with pytest.raises(ValueError, match=r".+"):
            answer(trace.facts, {"kind": "merged", **bad})


def test_repeats_are_those_of_the_run(run: DebugRun, trace: DebugRun) -> None:
    for shown in (run, trace):
        matrix = shown.repeats()
        columns, info = asked(shown, "repeats")
        assert np.array_equal(columns["node"], matrix.nodes)
        assert np.array_equal(columns["ns"], matrix.ns[np.isfinite(matrix.ns)])
        assert np.diff(columns["offsets"]).tolist() == np.isfinite(matrix.ns).sum(axis=1).tolist()
        assert np.array_equal(columns["p90"], matrix.folded().p90)
        assert (info["rows"], info["repeats"]) == matrix.ns.shape
    few, info = asked(run, "repeats", most=3)
    slowest = np.sort(np.argsort(-run.repeats().median, kind="stable")[:3])
    assert few["node"].tolist() == run.repeats().nodes[slowest].tolist()


@pytest.mark.parametrize("by", ["node", "kind", "part", "group", "name", "callers"])
def test_table_has_the_rows_of_the_run(run: DebugRun, by: str) -> None:
    reply = answer(run.facts, {"kind": "table", "by": by, "most": 4}).result
    assert len(reply["rows"]) <= 4
    if by == "node":
        expected = sorted((row.time_ns for row in run.table()), reverse=True)[:4]
        assert [row["facts"]["time_ns"] for row in reply["rows"]] == expected
    else:
        assert [row["facts"]["ns"] for row in reply["rows"]] == run.times(by).ns[:4].tolist()
    with pytest.raises(ValueError, match=r".+"):
        answer(run.facts, {"kind": "table", "by": "color", "most": 4})
    with pytest.raises(ValueError, match=r".+"):
        answer(run.facts, {"kind": "table", "by": by, "most": 10**9})


def told(run: DebugRun) -> tuple[dict[str, Any], dict[str, Any]]:
    reply = answer(run.facts, {"kind": "counters"})
    columns = wire.unpack(reply.result["columns"], bytes(reply.buffers[0]))
    return columns, reply.result["info"]


def counter_trace(values: np.ndarray) -> DebugRun:
    events: list[dict[str, Any]] = [
        {"ph": "X", "name": "f", "ts": 0, "dur": len(values), "pid": 1, "tid": 1}
    ]
    events += [
        {"ph": "C", "name": "heap", "ts": i, "pid": 1, "args": {"bytes": value}}
        for i, value in enumerate(values.tolist())
    ]
    return tvmdbg.open(json.dumps(events).encode())


def test_columns_match_the_counters(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm" / "resnet20_cifar")
    columns, info = told(run)
    (memory,) = run.counters()
    assert (columns["names"], columns["units"]) == (["memory in use"], ["B"])
    assert (columns["said"], columns["offsets"].tolist()) == ([memory.said], [0, len(memory)])
    np.testing.assert_array_equal(columns["ns"], memory.ns)
    np.testing.assert_array_equal(columns["value"], memory.values)
    assert info == {"missing": "", "thinned": 0, "leftOut": 0}


def test_thinned_counters_keep_local_extremes() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 1000, 61_000)
    values[40_123], values[50_007] = 123_456, -5
    run = counter_trace(values)
    columns, info = told(run)
    assert info["thinned"] == 61_000
    ns, kept = columns["ns"], columns["value"]
    assert len(ns) <= 60_000
    assert (np.diff(ns) > 0).all()
    np.testing.assert_array_equal(kept, values[(ns / 1000).astype(int)])
    assert (kept[0], kept[-1], kept.max(), kept.min()) == (values[0], values[-1], 123_456, -5)
    for low in range(0, 61_000, 1000):
        part = kept[(ns >= low * 1000) & (ns < (low + 1000) * 1000)]
        assert part.max() >= np.sort(values[low : low + 1000])[-3]


def test_runs_without_times_have_no_counters(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm" / "resnet20_cifar" / "graph.json")
    assert answer(run.facts, {"kind": "counters"}).result is None
    columns, info = told(counter_trace(np.zeros(0, int)))
    assert columns["offsets"].tolist() == [0]
    assert "no graph" in info["missing"]


KINDS = (np.uint8, np.uint16, np.uint32, np.int32, np.float32, np.float64, np.bool_)


@st.composite
def columns(draw: st.DrawFn) -> np.ndarray[Any, Any] | StringColumn:
    if draw(st.booleans()):
        texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
        return StringColumn.from_strings(draw(st.lists(texts, max_size=12)))
    dtype = np.dtype(draw(st.sampled_from(KINDS)))
    length = draw(st.integers(0, 20))
    data = draw(st.binary(min_size=length * dtype.itemsize, max_size=length * dtype.itemsize))
    if dtype == np.bool_:
        return np.frombuffer(data, np.uint8) > 127
    return np.frombuffer(data, dtype)


@given(st.dictionaries(st.text(max_size=4), columns(), max_size=8), st.booleans())
def test_packed_columns_round_trip_exactly(given_columns: dict[str, Any], strided: bool) -> None:
    if strided:
        given_columns = {
            name: column if isinstance(column, StringColumn) else np.repeat(column, 2)[::2]
            for name, column in given_columns.items()
        }
    headers, buffer = pack(given_columns)
    found = wire.unpack(headers, buffer)
    assert list(found) == list(given_columns)
    for name, column in given_columns.items():
        if isinstance(column, StringColumn):
            assert found[name] == [column[i] for i in range(len(column))]
        else:
            assert found[name].tobytes() == column.tobytes()


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float16", "complex64", "U3", "O", "int8"])
def test_pack_refuses_unsupported_dtypes(dtype: str) -> None:
    with pytest.raises(TypeError, match="'odd'"):
        pack({"odd": np.zeros(2, dtype)})


def test_recorded_columns_match_current_output(data: Path) -> None:
    assert (data / "wire/columns.json").read_bytes() == golden.written()
