"""The graph's layout: its time, flat and with every group open, its worst cases, and its quality.

Promises: 0.1 / 0.25 / 1 s CPU at 1,000 / 10,000 / 100,000 nodes in a fresh process, all of its
threads together (the layout's own is printed too: the rest is V8 compiling), no case that
grows faster than the graph, and drawn strokes that cross, cover and weigh no more than those of
Graphviz' dot, which is run beside it (and dagre too) on the same boxes where ``npm ci`` was called
in ``benchmarks/``. ``python -m benchmarks.graph_layout [nodes ...]``
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from benchmarks.measure import load, machine, sized

RUN = Path(__file__).parent / "layout_run.mjs"
PROMISES = {1_000: 0.1, **sized({10_000: 0.25, 100_000: 1.0}, {})}
FRESH, WARM = sized((3, 5), (1, 2))
#: Twice the size may take so many times as long: n log n, and what other work on the machine adds.
GROWTH = 2.9

Graph = dict[str, Any]


def graph_of(nodes: int, frames: bool) -> Graph:
    """Return a generated network as boxes and edges, its groups as open frames if wanted."""
    text = network(nodes)
    found = json.loads(text)["nodes"]
    labels = [
        node.get("attrs", {}).get("func_name", node["name"]).removeprefix("tvmgen_default_fused_")
        for node in found
    ]
    groups = tvmdbg.open(text.encode()).groups if frames else None
    order = range(len(found)) if groups is None else groups.order.tolist()
    place = {node: i for i, node in enumerate(order)}
    edges = [
        (place[source], place[node], output)
        for node in order
        for source, output, _ in found[node]["inputs"]
    ]
    graph = boxes([24 + 7 * len(labels[node]) for node in order], edges)
    if groups is not None:
        graph |= {
            "frameOf": groups.node_group[groups.order].tolist(),
            "parent": groups.parent.tolist(),
            "minWidth": [24 + 7 * len(name) for name in groups.names],
        }
    return graph


def boxes(widths: list[int], edges: list[tuple[int, int, int]]) -> Graph:
    """Return boxes of one height and their edges: source, target, output."""
    return {
        "count": len(widths),
        "width": widths,
        "height": [36] * len(widths),
        "source": [each[0] for each in edges],
        "target": [each[1] for each in edges],
        "slot": [each[2] for each in edges],
    }


def plain(count: int, edges: list[tuple[int, int]]) -> Graph:
    """Return equal boxes."""
    return boxes([100] * count, [(a, b, 0) for a, b in edges])


def wide_layer(size: int) -> Graph:
    """One source, a layer of so many, one sink."""
    return plain(
        size + 2, [(0, v) for v in range(1, size + 1)] + [(v, size + 1) for v in range(1, size + 1)]
    )


def hub(size: int) -> Graph:
    """A tensor that every node of a chain reads."""
    return plain(size, [(v - 1, v) for v in range(1, size)] + [(0, v) for v in range(2, size)])


def branches(size: int) -> Graph:
    """1,000 branches side by side."""
    long = size // 1000
    edges = []
    for first in range(1, 1000 * long + 1, long):
        edges += [(0, first), (first + long - 1, 1000 * long + 1)]
        edges += [(v - 1, v) for v in range(first + 1, first + long)]
    return plain(1000 * long + 2, edges)


def shuffled(size: int) -> Graph:
    """A network whose nodes come in a random order."""
    graph = graph_of(size, frames=False)
    name = list(range(graph["count"]))
    random.Random(7).shuffle(name)
    for field in ("source", "target"):
        graph[field] = [name[v] for v in graph[field]]
    widths = graph["width"]
    graph["width"] = [0] * len(widths)
    for v, wide in enumerate(widths):
        graph["width"][name[v]] = wide
    return graph


def cycle(size: int) -> Graph:
    """One cycle through all nodes."""
    return plain(size, [(v, (v + 1) % size) for v in range(size)])


CASES = {
    "a layer of n": wide_layer,
    "a tensor n read": hub,
    "1,000 parallel branches": branches,
    "shuffled": shuffled,
    "one cycle of n": cycle,
}


def ask(task: str, graph: Graph, repeats: int = 1) -> Any:
    """Let Node do a task with the graph."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(graph, file)
        file.flush()
        done = subprocess.run(
            ["node", str(RUN), task, file.name, str(repeats)],
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout)


def times(what: str, graph: Graph, promise: float | None) -> float:
    """Print the times in fresh and in warm processes; return the median of the fresh ones."""
    runs = [ask("time", graph, WARM) for _ in range(FRESH)]
    fresh = statistics.median(run[0]["cpu"] for run in runs)
    own = [run[0]["own"] for run in runs if run[0]["own"] is not None]
    thread = f", {statistics.median(own):.3f} s of it the layout's own thread" if own else ""
    wall = statistics.median(run[0]["wall"] for run in runs)
    warm = statistics.median(each["cpu"] for run in runs for each in run[1:])
    wrapped = statistics.median(run[0]["wrap"] for run in runs)
    first = runs[0][0]
    print(
        f"{what:<32} {graph['count']:>7,} boxes {len(graph['source']):>7,} edges "
        f"{len(graph.get('parent', ())):>6,} frames: fresh CPU {fresh:.3f} s{thread}, "
        f"wall {wall:.3f} s, "
        f"warm CPU {warm:.3f} s; wrap {wrapped:.3f} s; {first['layers']:,} layers, "
        f"{first['stubs']} stubs; {load()}"
    )
    if promise is not None:
        print(f"    promised {promise:g} s CPU: {'kept' if fresh <= promise else 'MISSED'}")
    return float(fresh)


def worst_cases(size: int) -> None:
    """Print the time of each worst case and how it grows."""
    for name, build in CASES.items():
        small = times(f"{name}, n = {size:,}", build(size), None)
        large = times(f"{name}, n = {2 * size:,}", build(2 * size), None)
        verdict = "kept" if large <= GROWTH * small else "MISSED"
        print(
            f"    twice the size: {large / small:.1f} x the time; at most {GROWTH:g} x: {verdict}"
        )


def quality(nodes: int) -> None:
    """Print what is drawn, by us and by the peers."""
    graph = graph_of(nodes, frames=False)
    found = {"ours": ask("ours", graph)}
    found["ours, groups open"] = ask("ours", graph_of(nodes, frames=True))
    if (RUN.parent / "node_modules").exists():
        found |= {name: ask(name, graph) for name in ("dot", "dagre")}
    else:
        print("dot and dagre were not run: `npm ci` in benchmarks/ installs them")
    print(
        f"{'':<18} {'CPU s':>7} {'drawn':>6} {'merged':>6} {'by edge':>8} {'ink':>6} {'edges':>6} "
        f"{'area':>6} {'width':>6} {'bends':>6} {'over':>5} {'upright':>8} {'drift':>6}"
    )
    for name, each in found.items():
        print(
            f"{name:<18} {each['cpu']:7.3f} {each['drawn']:6} {each['merged']:6} "
            f"{each['perEdge']:8} {each['ink']:6.3f} {each['edgeInk']:6.3f} {each['area']:6.1f} "
            f"{each['width']:6.0f} {each['bends']:6} {each['over']:5} {each['upright']:8.1%} "
            f"{each['drift']:6.1f}"
        )
    print(
        "  drawn: crossings of strokes of different tensors, a peer's with its edges merged "
        "likewise; by edge: every edge its whole line, stubs left out; ink and area in 10^6 px; "
        " over: edges over foreign boxes; upright: links of chains exactly below each other"
    )
    if "dot" in found:
        for what in ("drawn", "ink", "area"):
            mine, theirs = found["ours"][what], found["dot"][what]
            verdict = "kept" if mine <= theirs else "MISSED"
            print(f"  {what}: {mine:g}, dot {theirs:g}; promised no more: {verdict}")


def main() -> None:
    """Print everything."""
    machine()
    sizes = [int(each) for each in sys.argv[1:]] or list(PROMISES)
    for nodes in sizes:
        promise = PROMISES.get(nodes)
        times("network", graph_of(nodes, frames=False), promise)
        times("network, every group open", graph_of(nodes, frames=True), promise)
    if len(sys.argv) == 1:
        worst_cases(sized(50_000, 2_000))
    quality(min(sizes))


if __name__ == "__main__":
    main()
