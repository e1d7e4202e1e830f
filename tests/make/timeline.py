"""Writes tests/data/timeline: small timelines as views are sent them, and their bins of time.

``python -m tests.make.timeline`` from the repository's root; Python and
js/tests/timeline/golden.test.ts are held to it.
"""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.unit.timeline.slices_truth import Span, timeline
from tvmdbg_widgets.analysis.timeline.lod import TimelineLod
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.run import DebugRun

FOLDER = Path(__file__).parents[1] / "data" / "timeline"
SEEDS = range(4)


def timelines() -> dict[str, list[Span]]:
    """Start, duration and track of the slices of each small timeline."""
    found: dict[str, list[Span]] = {
        "nothing": [],
        "one": [(5, 10, 0)],
        "instants": [(5, 0, 0), (5, 0, 0), (17, 0, 0), (40, 0, 1)],
        "nested": [(0, 100, 0), (10, 30, 0), (12, 8, 0), (50, 50, 0), (60, 10, 0), (70, 30, 0)],
        "overlapping": [(0, 50, 0), (30, 50, 0), (40, 100, 0), (100, 80, 0), (100, 20, 0)],
        "rounded": [(0, 10.25, 0), (10, 5.5, 0), (15.125, 4, 0), (19, 0, 0), (19.25, 1.5, 0)],
        "equals": [(0, 8, 0), (8, 8, 0), (16, 8, 0), (24, 8, 0), (32, 8, 0), (40, 8, 0)],
        "unusable": [(0, 10, 0), (3, -1, 0), (float("nan"), 2, 0), (20, float("inf"), 0)],
    }
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        start = rng.integers(0, 4000, 60 * (seed + 1))
        length = rng.choice([0, 1, 7, 40, 300], len(start))
        track = rng.integers(0, 2, len(start))
        found[f"random {seed}"] = [
            (float(a), float(b), int(c)) for a, b, c in zip(start, length, track, strict=True)
        ]
    return found


def ranges(first: float, last: float) -> list[tuple[float, float, int]]:
    """First edge, width and number of the bins that are looked at: the whole, and parts."""
    width = last - first or 1.0
    return [
        (first, width / 16, 16),
        (first - width / 3, width / 7, 12),
        (first + width / 4, 1.0, 20),
        (first + width / 2, 0.25, 8),
    ]


def told(given: list[Span]) -> dict[str, Any]:
    """One timeline: its answer, and what its rows show of bins."""
    own = timeline(given)
    reply = answer(DebugRun(RunParts("small", timeline=own)).facts, {"kind": "timeline"})
    lod = TimelineLod(own)
    cases = []
    for first, step, count in ranges(lod.first, lod.last):
        bins = lod.bins(first, step, count)
        busy = np.round(bins.busy.astype(np.float64), 6).tolist()
        case = {"first": first, "step": step, "busy": busy, "slice": bins.slice.tolist()}
        cases.append(case)
    return {
        "result": reply.result,
        "buffer": base64.b64encode(reply.buffers[0]).decode(),
        "parent": own.rows.parent.tolist(),
        "bins": cases,
    }


def written() -> str:
    """Content of timelines.json."""
    content = {name: told(given) for name, given in timelines().items()}
    return json.dumps(content, indent=0, ensure_ascii=False, allow_nan=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "timelines.json").write_text(written(), encoding="utf-8")
