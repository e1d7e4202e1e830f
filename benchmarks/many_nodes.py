"""Figures of graphs that are too large to be asked for completely; critical path and memory plan.

Promises: the figure of a graph of 200,000 nodes with times takes at most 0.6 s CPU once its groups
are known, and the engine is given less than a twentieth of what a notebook's view is; the critical
path of 100,000 nodes takes at most 0.2 s, their memory plan 0.5 s.
``python -m benchmarks.many_nodes``
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import tvmdbg_widgets as tvmdbg
from benchmarks.growing import GROWING
from benchmarks.measure import limit, machine, measure, sized
from tvmdbg_widgets.analysis.memory.planned import plan_of
from tvmdbg_widgets.analysis.timeline.longest_path import critical_path_of
from tvmdbg_widgets.answers.answers import answer

NODES, OTHERS = sized((200_000, 100_000), (300, 300))
FIGURE, SHARE, PATH, PLAN = 0.6, 0.05, 0.2, 0.5
COLORS = ("time", "kind", "dtype", "bytes")


def opened(folder: Path, nodes: int) -> tvmdbg.DebugRun:
    """Return a run of so many nodes, with times; their groups are known."""
    folder.mkdir()
    GROWING["nodes"](folder, nodes)
    run = tvmdbg.open(folder)
    assert isinstance(run, tvmdbg.DebugRun)
    assert run.groups is not None
    return run


def main() -> None:
    """Print what figures, paths and plans take."""
    machine()
    with tempfile.TemporaryDirectory() as name:
        run = opened(Path(name) / "figure", NODES)
        every = answer(run.facts, {"kind": "graph"})
        for color in COLORS:
            question = {"kind": "graph", "most": 12, "color": color}
            share = len(answer(run.facts, question).buffers[0]) / len(every.buffers[0])
            verdict = "kept" if share <= SHARE else "MISSED"
            figure = partial(run.figure, "graph", color_by=color)
            limit(measure(f"figure colored by {color}", figure), FIGURE)
            print(f"  given: {share:.1%} of the view's columns; promised {SHARE:.0%}: {verdict}")
        parts = opened(Path(name) / "plan", OTHERS).facts.parts
        limit(measure("critical path", lambda: critical_path_of(parts)), PATH)
        limit(measure("memory plan", lambda: plan_of(parts)), PLAN)


if __name__ == "__main__":
    main()
