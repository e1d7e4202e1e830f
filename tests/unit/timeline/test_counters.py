"""Counters along the timeline: memory of the plan, events of a trace."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from unit.timeline.times_truth import parts, timeline

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.timeline.counters import counters


def test_memory_counter_matches_plan_at_every_node(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm" / "resnet20_cifar")
    memory = run.counters()["memory in use"]
    plan, line = run.memory_plan(), run.timeline
    assert (memory.unit, len(memory)) == ("B", len(plan.order) + 1)
    for step, node in enumerate(plan.order.tolist()):
        (index,) = line.slices_of(node).tolist()
        middle = line.slice_start_ns[index] + line.slice_duration_ns[index] / 2
        assert memory.at(middle) == plan.live[step]
    assert memory.values.max() == plan.peak.bytes
    assert memory.ns[-1] == pytest.approx(line.span_ns)
    assert np.isnan(memory.at(-1.0))
    assert "neither was observed" in memory.said
    assert "Parameters" in memory.said
    assert repr(run.counters()).startswith("1 counter along the timeline")
    assert len(run.counters().to_dataframe()) == len(memory)


def test_counters_of_a_trace_keep_their_series() -> None:
    events = [
        {"ph": "X", "name": "f", "ts": 0, "dur": 10, "pid": 1, "tid": 1},
        {"ph": "C", "name": "memory", "ts": 1, "pid": 1, "args": {"heap": 5, "stack": 2}},
        {"ph": "C", "name": "memory", "ts": 4, "pid": 1, "args": {"heap": 7, "stack": 2}},
        {"ph": "C", "name": "load", "ts": 3, "pid": 1, "args": {"value": 0.5}},
    ]
    run = tvmdbg.open(json.dumps(events).encode())
    found = run.counters()
    assert set(found.names) == {"memory: heap", "memory: stack", "load"}
    heap = found["memory: heap"]
    assert (heap.ns.tolist(), heap.values.tolist()) == ([1000, 4000], [5, 7])
    assert [heap.at(ns) for ns in (1000, 3999, 4000, 1e9)] == [5, 5, 7, 7]
    assert "no graph" in found.missing
    assert "memory: This run has no graph" in repr(found)
    with pytest.raises(KeyError, match=r"known: .*load"):
        found["heap"]


def test_a_timeline_without_nodes_has_no_memory(corpus: Path) -> None:
    graph = tvmdbg.open(corpus / "tvm" / "resnet20_cifar" / "graph.json")
    with pytest.raises(ValueError, match="no trace"):
        graph.counters()
    found = counters(parts(timeline([(0, 1, 0, 0)])), graph.memory_plan)
    assert len(found) == 0
    assert found.missing
