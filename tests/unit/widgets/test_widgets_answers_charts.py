"""Answers for the charts beside the flamechart, and for the table of its figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.widgets import wire

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.answers.answers import answer
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
    for given in (trace, run):
        tree = given.merged()
        columns, info = asked(given, "merged")
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
    for given in (run, trace):
        matrix = given.repeats()
        columns, info = asked(given, "repeats")
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
