"""Groups of graphs of 1,000, 10,000 and 100,000 nodes, of real networks' stages and of odd ones.

Promise: 0.4 s CPU at 100,000 nodes, and what the views are sent of such a graph 0.5 s more at most.
Beside it ``json.loads`` of the same file, below which no reader of it comes by much.
Then what needs the groups and times of many nodes: a figure of a graph of 200,000 takes 0.6 s CPU
once the groups are known, and the engine is given less than a twentieth of what a view is; the
critical path of 100,000 nodes takes 0.2 s, their memory plan 0.5 s.
``python -m benchmarks.graph_groups``
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network, residual_graph
from benchmarks.growing import GROWING
from benchmarks.measure import Times, limit, machine, measure, sized
from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.analysis.memory.planned import plan_of
from tvmdbg_widgets.analysis.timeline.longest_path import critical_path_of
from tvmdbg_widgets.answers.answers import answer

SIZES = sized((1_000, 10_000, 100_000), (300,))
PROMISE, ANSWER = 0.4, 0.5
LARGE = sized(100_000, 300)
FIGURE, SHARE, PATH, PLAN = 0.6, 0.05, 0.2, 0.5
COLORS = ("time", "kind", "dtype", "bytes")


def _chain(func: Callable[[int], str]) -> str:
    """Return a graph of operators that each read the one before."""
    nodes = [{"op": "null", "name": "x", "inputs": []}]
    nodes += [
        {
            "op": "tvm_op",
            "name": f"n{at}",
            "attrs": {
                "func_name": func(at),
                "num_inputs": "1",
                "num_outputs": "1",
                "flatten_data": "0",
            },
            "inputs": [[at, 0, 0]],
        }
        for at in range(LARGE)
    ]
    count = len(nodes)
    columns = {
        "dltype": ["list_str", ["float32"] * count],
        "shape": ["list_shape", [[8]] * count],
        "storage_id": ["list_int", [0] * count],
    }
    return json.dumps(
        {
            "nodes": nodes,
            "arg_nodes": [0],
            "heads": [[count - 1, 0, 0]],
            "attrs": columns,
            "node_row_ptr": list(range(count + 1)),
        }
    )


ODD: dict[str, Callable[[int], str]] = {
    "one operator only": lambda _: "fused_nn_relu",
    "two in turn": lambda at: ("fused_add", "fused_nn_relu")[at % 2],
    "the Thue-Morse word": lambda at: ("fused_add", "fused_nn_relu")[at.bit_count() % 2],
    "no two alike": lambda at: f"op{at:x}z",
}


def _found(what: str, text: str, repeats: int = 5) -> Times:
    graph = tvmdbg.open(text.encode()).graph
    assert graph is not None
    taken = measure(f"{what}: groups", lambda: groups(graph), repeats)
    found = groups(graph)
    inside = int((found.node_group >= 0).sum())
    kinds = len(set(found.alike.tolist()))
    print(f"  {len(found):,} groups of {kinds:,} structures hold {inside / graph.num_nodes:.1%}")
    for line in repr(found).splitlines()[1:5]:
        print(f"  {line}")
    return taken


def _timed(folder: Path, nodes: int) -> tvmdbg.DebugRun:
    folder.mkdir()
    GROWING["nodes"](folder, nodes)
    run = tvmdbg.open(folder)
    assert isinstance(run, tvmdbg.DebugRun)
    return run


def _figures(run: tvmdbg.DebugRun) -> None:
    assert run.groups
    every = len(answer(run.facts, {"kind": "graph"}).buffers[0])
    for color in COLORS:
        figure = partial(run.figure, "graph", color_by=color)
        limit(measure(f"figure colored by {color}", figure), FIGURE)
        few = answer(run.facts, {"kind": "graph", "most": 12, "color": color})
        share = len(few.buffers[0]) / every
        verdict = "kept" if share <= SHARE else "MISSED"
        print(f"  given: {share:.1%} of the view's columns; promised {SHARE:.0%}: {verdict}")


def main() -> None:
    """Print what groups take, and which there are."""
    machine()
    for nodes in SIZES:
        text = network(nodes)
        parsed = measure(f"network of {nodes:,}: json.loads", lambda text=text: json.loads(text))
        opened = measure("tvmdbg.open", lambda text=text: tvmdbg.open(text.encode()))
        taken = _found(f"network of {nodes:,}", text)
        run = tvmdbg.open(text.encode())
        assert run.groups
        told = measure(
            "what the views are sent", lambda run=run: answer(run.facts, {"kind": "graph"})
        )
        for each in (opened, taken, told):
            print(f"  {each.what}: {each.cpu_median / parsed.cpu_median:.2f} of json.loads")
        if nodes == LARGE:
            limit(taken, PROMISE)
            limit(told, ANSWER)
    _found("equal residual blocks, 100,000", residual_graph(LARGE))
    for what, func in ODD.items():
        _found(f"{what}, 100,000", _chain(func), 3)
    with tempfile.TemporaryDirectory() as name:
        _figures(_timed(Path(name) / "figures", 2 * LARGE))
        parts = _timed(Path(name) / "plans", LARGE).facts.parts
        limit(measure("critical path", lambda: critical_path_of(parts)), PATH)
        limit(measure("memory plan", lambda: plan_of(parts)), PLAN)


if __name__ == "__main__":
    main()
