"""Writes tests/data/timeline/{sums,tables}.json: timelines as a page gets them, and their sums.

``python -m tests.make.timeline_sums``; the live view sums up the same
(js/tests/timeline/sums.test.ts).
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.timeline.merged import CallTree
from tvmdbg_widgets.analysis.times.keys import has_modules
from tvmdbg_widgets.analysis.times.table import TimeTable
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.run import DebugRun

FILE = Path(__file__).parents[1] / "data" / "timeline" / "sums.json"
TABLES = FILE.with_name("tables.json")
CASES = 6
BY = ("node", "kind", "part", "group", "device", "name")


def trace(seed: int) -> bytes:
    """Events of two threads: calls within calls, some over each other, some of no duration."""
    rng = np.random.default_rng(seed)
    events: list[dict[str, Any]] = []

    def span(start: int, length: int, depth: int, thread: int) -> None:
        name = f"f{rng.integers(0, 6)}"
        events.append(
            {"ph": "X", "name": name, "ts": start, "dur": length, "pid": 1, "tid": thread}
        )
        at = start + int(rng.integers(0, 40))
        while depth < 3 and at + 20 < start + length:
            inner = min(int(rng.integers(0, length)), start + length - at)
            if rng.random() < 0.7:
                span(at, inner if rng.random() < 0.9 else 0, depth + 1, thread)
            at += inner + int(rng.integers(0, 30))

    for thread in (1, 2):
        at = 0
        for _ in range(4):
            length = int(rng.integers(50, 600))
            span(at, length, 0, thread)
            at += length + int(rng.integers(-30 if seed % 2 else 0, 60))
    return json.dumps(events).encode()


def vectors() -> list[dict[str, Any]]:
    """One item a timeline, without the columns."""
    return [_sums(run, seed) for seed, run in enumerate(_runs())]


def _runs() -> list[DebugRun]:
    return [tvmdbg.open(trace(seed)) for seed in range(CASES)]


def _sums(run: DebugRun, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed + 100)
    assert run.timeline is not None
    span = run.timeline.span_ns
    ends = np.sort(rng.integers(0, int(span) + 1, (4, 2)), axis=1).astype(float)
    names = run.timeline.slice_names
    merged = [None, *(list(each) for each in ends[:2].tolist())]
    return {
        "areas": [_area(run, *each) for each in ends.tolist() if each[0] < each[1]],
        "byName": _rows(run.times("name")),
        "merged": [
            {"range": each, "places": _places(run.merged(None if each is None else tuple(each)))}
            for each in merged
        ],
        "callers": {name: _callers(run.callers(name)) for name in sorted(set(names))},
    }


def _area(run: DebugRun, start: float, end: float) -> dict[str, Any]:
    found = run.area(start, end)
    numbers = (found.minimum, found.mean, found.p50, found.p90, found.maximum)
    return {
        "range": [start, end],
        "count": found.count,
        "instants": found.instants,
        "ns": found.ns,
        "whole": found.whole,
        "numbers": [None if math.isnan(each) else each for each in numbers],
        "tracks": [[each.busy_ns, each.gaps, each.longest_gap_ns] for each in found.tracks],
        "byName": _rows(found.by("name")),
    }


def _rows(table: TimeTable) -> dict[str, list[float]]:
    return {row.label: [row.slices, row.ns] for row in table}


def networks() -> list[DebugRun]:
    """Networks with their graphs: one as it is, and on two devices with nodes that have no slices.

    And one whose operators are in modules, some of which XNNPACK ran as one.
    """
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    graph, timeline = run.graph, run.timeline
    assert graph is not None
    assert timeline is not None
    rng = np.random.default_rng(7)
    types = np.where(np.arange(graph.num_entries) % 3 == 0, 2, 1).astype(np.int32)
    kept = np.flatnonzero(timeline.slice_node % 5 != 3)
    columns = {
        f"slice_{name}": getattr(timeline, f"slice_{name}")[kept]
        for name in ("node", "start_ns", "duration_ns", "track", "trust", "occurrence")
    }
    columns["slice_node"] = np.where(kept % 7 == 2, -1, columns["slice_node"]).astype(np.int32)
    names = StringColumn.from_strings(timeline.slice_names[i] for i in kept.tolist())
    noise = 1 + rng.random(len(timeline.repeats_ns)) * (np.arange(len(timeline.repeats_ns)) % 3)
    other = dataclasses.replace(
        timeline, **columns, slice_names=names, repeats_ns=timeline.repeats_ns * noise
    )
    parts = dataclasses.replace(
        run.parts, graph=dataclasses.replace(graph, device_types=types), timeline=other
    )
    return [run, DebugRun(parts), tvmdbg.open(tvmdbg.samples.executorch_xnnpack)]


def tables() -> list[list[dict[str, Any]]]:
    """For each network its tables, of all time and of a range."""
    found = []
    for run in networks():
        assert run.timeline is not None
        span = run.timeline.span_ns
        ranges = (None, (0.1 * span, 0.6 * span))
        assert run.graph is not None
        known = (*BY, "module") if has_modules(run.graph) else BY
        found.append([_table(run, by, each) for by in known for each in ranges])
    return found


def _table(run: DebugRun, by: str, within: tuple[float, float] | None) -> dict[str, Any]:
    table = run.times(by, within)
    assert run.timeline is not None
    short = run.timeline.slice_labels
    return {
        "by": by,
        "range": within,
        "total": table.total_ns,
        "idle": table.idle,
        "overlap": table.overlap,
        "rows": sorted(
            [
                short.get(row.label, row.label) if by == "name" or not row.nodes else row.label,
                list(row.nodes),
                row.slices,
                row.ns,
                [
                    None if math.isnan(each) else each
                    for each in (row.mean, row.p50, row.p90, row.low, row.high)
                ],
                row.noisy,
            ]
            for row in table
        ),
    }


def _places(tree: CallTree) -> list[list[Any]]:
    """``[path, total, self, count]`` of each place, in the order of the places."""
    return [
        [
            list(tree.path(i)),
            float(tree.total_ns[i]),
            float(tree.self_ns[i]),
            int(tree.count[i]),
        ]
        for i in range(len(tree))
    ]


def _callers(tree: CallTree) -> list[list[Any]]:
    """``[path, total]``, by path."""
    return sorted([list(tree.path(i)), float(tree.total_ns[i])] for i in range(len(tree)))


def main() -> None:
    """Write the file."""
    cases = []
    for run, sums in zip(_runs(), vectors(), strict=True):
        cases.append({"timeline": _packed(run, "timeline"), **sums})
    FILE.parent.mkdir(exist_ok=True)
    _write(FILE, cases)
    shown = []
    for run, told in zip(networks(), tables(), strict=True):
        shown.append({kind: _packed(run, kind) for kind in ("timeline", "graph")})
        shown[-1]["tables"] = told
    _write(TABLES, shown)


def _packed(run: DebugRun, kind: str) -> dict[str, Any]:
    reply = answer(run.facts, {"kind": kind})
    return {**reply.result, "buffer": base64.b64encode(reply.buffers[0]).decode()}


def _write(file: Path, cases: list[dict[str, Any]]) -> None:
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in cases)
    file.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
