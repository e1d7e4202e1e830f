"""Listing the arrays of a params file behind a slow network, with and without its graph.

A params list has no table of offsets, so that n arrays cost n round trips; the graph's sizes let
the headers be fetched together. Promise: at least 10 times faster at 1,000 arrays and 20 ms, and
the same records.
``python -m benchmarks.remote_params [--arrays 1000] [--latency 20] [--repeats 3]``
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import machine, sized
from tests.make.params import write_params
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.sources.byte_source import BytesSource

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from formats.web import Site, serving

SIDE = 128


def make(arrays: int) -> tuple[bytes, bytes]:
    """Return a params file of so many float32[128, 128] and a graph that knows them."""
    value = np.zeros((SIDE, SIDE), np.float32)
    keys = [f"n{i}____topo-index:{i}____output-num:0" for i in range(arrays)]
    out = io.BytesIO()
    write_params(out, [(key, value) for key in keys])
    graph = {
        "nodes": [{"op": "null", "name": f"n{i}", "inputs": []} for i in range(arrays)],
        "arg_nodes": list(range(arrays)),
        "heads": [[arrays - 1, 0, 0]],
        "node_row_ptr": list(range(arrays + 1)),
        "attrs": {
            "shape": ["list_shape", [[SIDE, SIDE]] * arrays],
            "dltype": ["list_str", ["float32"] * arrays],
            "storage_id": ["list_int", list(range(arrays))],
        },
    }
    return out.getvalue(), json.dumps(graph).encode()


def main() -> None:
    """Print wall time, requests and bytes of both ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arrays", type=int, default=sized(1000, 20))
    parser.add_argument(
        "--latency", type=float, default=sized(20.0, 1.0), help="milliseconds a request"
    )
    parser.add_argument("--repeats", type=int, default=sized(3, 1))
    asked = parser.parse_args()
    machine()
    params, text = make(asked.arrays)
    graph = read_graph(BytesSource(text, "graph.json"))
    print(f"{asked.arrays} arrays, {len(params):,} bytes, {asked.latency} ms a request")
    with serving({"/p.params": params}, latency=asked.latency / 1000) as site:
        slow = _timed(site, asked.repeats, "one header after the other", None)
        fast = _timed(site, asked.repeats, "predicted from the graph", graph)
    ratio = slow / fast
    print(f"ratio {ratio:.1f} (promised 10)")
    assert ratio >= sized(10, 0)


def _timed(site: Site, repeats: int, what: str, graph: object) -> float:
    walls = []
    for _ in range(repeats):
        site.asked.clear()
        site.sent = site.busiest = 0
        start = time.perf_counter()
        file = read_params(f"{site.url}/p.params", graph=graph)
        walls.append(time.perf_counter() - start)
        assert file.error is None
    median = statistics.median(walls)
    print(
        f"{what}: {median:.2f} s wall (median of {repeats}), {len(site.asked)} requests, "
        f"{site.sent:,} bytes, at most {site.busiest} at once"
    )
    return median


if __name__ == "__main__":
    main()
