"""Writes tests/data/timeline/sums.json: timelines as a page gets them, and their merged paths.

``python -m tests.make.timeline_sums``; the live view merges the same
(js/tests/timeline/sums.test.ts).
"""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.timeline.merged import CallTree
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.run import DebugRun

FILE = Path(__file__).parents[1] / "data" / "timeline" / "sums.json"
CASES = 6


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
    span = run.timeline.span_ns
    ends = np.sort(rng.integers(0, int(span) + 1, (4, 2)), axis=1).astype(float)
    names = run.timeline.slice_names
    merged = [None, *(list(each) for each in ends[:2].tolist())]
    return {
        "merged": [
            {"range": each, "places": _places(run.merged(None if each is None else tuple(each)))}
            for each in merged
        ],
        "callers": {name: _callers(run.callers(name)) for name in sorted(set(names))},
    }


def _places(tree: CallTree) -> list[list[Any]]:
    """``[path, total, self, count]`` of each place, in the order of the places."""
    return [
        [list(tree.path(i)), float(tree.total_ns[i]), float(tree.self_ns[i]), int(tree.count[i])]
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


def _packed(run: DebugRun, kind: str) -> dict[str, Any]:
    reply = answer(run.facts, {"kind": kind})
    return {**reply.result, "buffer": base64.b64encode(reply.buffers[0]).decode()}


def _write(file: Path, cases: list[dict[str, Any]]) -> None:
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in cases)
    file.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
