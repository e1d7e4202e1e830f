"""Counters as the page gets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from unit.widgets import wire

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.run import DebugRun


def told(run: DebugRun) -> tuple[dict[str, Any], dict[str, Any]]:
    reply = answer(run.facts, {"kind": "counters"})
    columns = wire.unpack(reply.result["columns"], bytes(reply.buffers[0]))
    return columns, reply.result["info"]


def trace(values: np.ndarray) -> DebugRun:
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
    run = trace(values)
    columns, info = told(run)
    assert info["thinned"] == 61_000
    ns, kept = columns["ns"], columns["value"]
    assert len(ns) <= 60_000
    assert (np.diff(ns) > 0).all()
    np.testing.assert_array_equal(kept, values[(ns / 1000).astype(int)])
    assert (kept[0], kept[-1]) == (values[0], values[-1])
    assert (kept.max(), kept.min()) == (123_456, -5)
    for low in range(0, 61_000, 1000):
        part = kept[(ns >= low * 1000) & (ns < (low + 1000) * 1000)]
        assert part.max() >= np.sort(values[low : low + 1000])[-3]


def test_runs_without_times_have_no_counters(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm" / "resnet20_cifar" / "graph.json")
    assert answer(run.facts, {"kind": "counters"}).result is None
    columns, info = told(trace(np.zeros(0, int)))
    assert columns["offsets"].tolist() == [0]
    assert "no graph" in info["missing"]
