"""Dumps of which one size grows, for :mod:`benchmarks.growth`: each takes a folder and the size.

Deterministic. Whatever does not grow stays small.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.graphs import network, residual_graph
from benchmarks.traces import write_trace
from tests.make.params import write_params

Write = Callable[[Path, int], None]

_FEW = 20


@dataclass
class Node:
    """A node of a graph; an input where it has no function."""

    name: str
    function: str = ""
    reads: Sequence[tuple[int, int]] = ()
    outputs: int = 1
    attrs: dict[str, str] = field(default_factory=dict)
    control: Sequence[int] = ()


def chain(
    count: int,
    name: Callable[[int], str] = "n{}".format,
    function: Callable[[int], str] = lambda at: f"fused_add_{at % 7}",
) -> list[Node]:
    """Return an input and operators that each read the one before."""
    return [Node("data")] + [Node(name(i), function(i), [(i, 0)]) for i in range(count)]


def graph_json(
    nodes: Sequence[Node],
    *,
    heads: Sequence[tuple[int, int]] | None = None,
    shape: Sequence[int] = (2, 3),
    storage: Callable[[int], int] = lambda at: at,
    devices: Callable[[int], int] | None = None,
) -> str:
    """Return the graph as TVM's code generator writes it."""
    rows = []
    offsets = [0]
    for node in nodes:
        row: dict[str, Any] = {"op": "tvm_op" if node.function else "null", "name": node.name}
        row["inputs"] = [[source, output, 0] for source, output in node.reads]
        if node.function:
            counts = {"num_inputs": str(len(node.reads)), "num_outputs": str(node.outputs)}
            row["attrs"] = {"func_name": node.function, "flatten_data": "0", **counts, **node.attrs}
        if node.control:
            row["control_deps"] = list(node.control)
        rows.append(row)
        offsets.append(offsets[-1] + node.outputs)
    count = offsets[-1]
    attrs: dict[str, Any] = {
        "dltype": ["list_str", ["float32"] * count],
        "shape": ["list_shape", [list(shape)] * count],
        "storage_id": ["list_int", [storage(entry) for entry in range(count)]],
    }
    if devices is not None:
        attrs["device_index"] = ["list_int", [devices(entry) for entry in range(count)]]
    return json.dumps(
        {
            "nodes": rows,
            "arg_nodes": [i for i, node in enumerate(nodes) if not node.function],
            "heads": [[*each, 0] for each in heads or [(len(nodes) - 1, 0)]],
            "node_row_ptr": offsets,
            "attrs": attrs,
        }
    )


def write(
    folder: Path, nodes: Sequence[Node], text: str | None = None, repeats: int = 3, **graph: Any
) -> None:
    """Write graph, trace, table and exact times of these nodes."""
    (folder / "graph.json").write_text(text or graph_json(nodes, **graph))
    chance = np.random.default_rng(1)
    ran = [node.function != "" for node in nodes]
    scale = chance.integers(1, 50, len(nodes)) * 1e-6 * ran
    times = scale[:, None] * chance.normal(1, 0.02, (len(nodes), repeats))
    (folder / "time_list.json").write_text(json.dumps(times.tolist()))
    write_pairs(folder, nodes, times.mean(axis=1))
    write_table(folder, nodes, times)


def write_pairs(folder: Path, nodes: Sequence[Node], seconds: Iterable[float]) -> None:
    """Write the execution trace of TVM's debugger."""
    events, at = [], 0.0
    for node, took in zip(nodes, seconds, strict=True):
        for phase in ("B", "E"):
            events.append({"ts": at, "tid": 1, "pid": 1, "name": node.name, "ph": phase})
            at += took * 1e6 * (phase == "B")
    (folder / "trace.json").write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))


def write_table(folder: Path, nodes: Sequence[Node], times: np.ndarray[Any, Any]) -> None:
    """Write the table that ``run()`` prints."""
    head = ["Node Name", "Ops", "Time(us)", "Time(%)", "Shape", "Inputs", "Outputs"]
    rows = [[*head, "Measurements(us)"], ["-" * len(each) for each in [*head, "Measurements(us)"]]]
    total = times.sum()
    for node, own in zip(nodes, times, strict=True):
        if not node.function:
            continue
        shares = [f"{own.mean() * 1e6:.3f}", f"{100 * own.sum() / total:.3f}", "(2, 3)"]
        counts = [str(len(node.reads)), str(node.outputs), str((own * 1e6).round(3).tolist())]
        rows += [[node.name, node.function, *shares, *counts]] * node.outputs
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(map(str.ljust, row, widths)) + "  \n" for row in rows)
    (folder / "table.txt").write_text("".join(lines))


def write_tensors(folder: Path, nodes: Sequence[Node], shape: tuple[int, ...] = (2, 3)) -> None:
    """Write one float32 for every output of every node."""
    values = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    with (folder / "output_tensors.params").open("wb") as file:
        write_params(
            file,
            [
                (f"{node.name}____topo-index:{i}____output-num:{output}", values + i % 5)
                for i, node in enumerate(nodes)
                for output in range(node.outputs)
            ],
        )


def _network(folder: Path, size: int) -> None:
    text = network(size)
    nodes = [
        Node(row["name"], row.get("attrs", {}).get("func_name", ""), row["inputs"])
        for row in json.loads(text)["nodes"]
    ]
    write(folder, nodes, text)


def _blocks(folder: Path, size: int) -> None:
    (folder / "graph.json").write_text(residual_graph(size))


def _chain(**how: Any) -> Write:
    return lambda folder, size: write(folder, chain(size, **how))


def _graph(make: Callable[[int], dict[str, Any]]) -> Write:
    def of_size(folder: Path, size: int) -> None:
        (folder / "graph.json").write_text(graph_json(**make(size)))

    return of_size


def _edges(folder: Path, size: int) -> None:
    inputs = chain(_FEW)
    reads = [(1 + i % _FEW, 0) for i in range(size)]
    write(folder, [*inputs, Node("joined", "fused_concatenate", reads)])


def _readers(folder: Path, size: int) -> None:
    write(folder, [Node("data"), *(Node(f"n{i}", "fused_add", [(0, 0)]) for i in range(size))])


def _outputs(folder: Path, size: int) -> None:
    split = Node("parts", "fused_split", [(0, 0)], size)
    write(folder, [Node("data"), split, Node("sum", "fused_add", [(1, i) for i in range(size)])])


def _repeats(folder: Path, size: int) -> None:
    write(folder, chain(_FEW), repeats=size // _FEW)


def _drift(folder: Path, size: int) -> None:
    write(folder, chain(4))
    times = np.linspace(2e-6, 1e-6, size // 5)
    (folder / "time_list.json").write_text(json.dumps([times.tolist()] * 5))
    (folder / "table.txt").unlink()


def _uneven(folder: Path, size: int) -> None:
    most = int(size**0.5)
    times = [[1e-6] * (i + 1 if i < most else 1) for i in range(size)]
    (folder / "time_list.json").write_text(json.dumps(times))


def _times(folder: Path, size: int) -> None:
    (folder / "time_list.json").write_text(json.dumps([[1e-6 * (i % 9)] * 3 for i in range(size)]))


def _named_times(folder: Path, size: int) -> None:
    write(folder, chain(size))
    names = ["data", *(f"n{i}" for i in reversed(range(size)))]
    runs = [[float(i % 9) for i in range(size + 1)]] * 3
    named = {"unit": "us", "nodes": names, "runs": runs}
    (folder / "time_list.json").write_text(json.dumps(named))


def _table(folder: Path, size: int) -> None:
    write_table(folder, chain(size), np.full((size + 1, 3), 1e-6))


def _pairs(folder: Path, size: int) -> None:
    write_pairs(folder, chain(size), [1e-6] * (size + 1))


def _report(folder: Path, size: int) -> None:
    write(folder, chain(size))
    calls = [
        {
            "Name": {"string": f"fused_add_{i % 7}"},
            "Duration (us)": {"microseconds": 1.0 + i % 5},
            "Percent": {"percent": 100 / size},
            "Count": {"count": 1},
            "Device": {"string": "cpu0"},
            "Argument Shapes": {"string": "float32[2, 3], float32[2, 3]"},
        }
        for i in range(size)
    ]
    device = {"cpu0": {"Duration (us)": {"microseconds": 3.0 * size}}}
    report = {"calls": calls, "device_metrics": device, "configuration": {}}
    (folder / "report.json").write_text(json.dumps(report))
    lines = ["Name,Duration (us),Percent,Count,Device,Argument Shapes"]
    lines += [f'fused_add_{i % 7},{1 + i % 5},0.1,1,cpu0,"float32[2, 3]"' for i in range(size)]
    (folder / "report.csv").write_text("\n".join(lines) + "\n")


def _tensors(folder: Path, size: int) -> None:
    nodes = chain(size)
    (folder / "graph.json").write_text(graph_json(nodes))
    write_tensors(folder, nodes)


def _tensors_alone(folder: Path, size: int) -> None:
    write_tensors(folder, chain(size))


def _issues(folder: Path, size: int) -> None:
    nodes = chain(size)
    (folder / "graph.json").write_text(graph_json(nodes))
    write_tensors(folder, nodes, (3, 2))


def _long_names(folder: Path, size: int) -> None:
    nodes = chain(_FEW, name=lambda i: f"{i}" * (size // _FEW // 2))
    write(folder, nodes)
    write_tensors(folder, nodes)


def _deep_scopes(folder: Path, size: int) -> None:
    write(folder, chain(_FEW, name=lambda i: "s/" * (size // _FEW) + f"{i}"))


def _events(make: Callable[[int], Iterable[dict[str, Any]]]) -> Write:
    def of_size(folder: Path, size: int) -> None:
        events = [{"pid": 1, "tid": 1, "cat": "op", **each} for each in make(size)]
        (folder / "trace.json").write_text(json.dumps({"traceEvents": events}))

    return of_size


def _slice(at: float, took: float, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": "kernel", "ts": at, "dur": took, **more}


def _flows(size: int) -> Iterable[dict[str, Any]]:
    for i in range(size // 3):
        yield _slice(10.0 * i, 5.0)
        yield {"ph": "s", "id": i, "name": "flow", "ts": 10.0 * i + 1}
        yield {"ph": "f", "id": i, "name": "flow", "ts": 10.0 * i + 12, "bp": "e"}


def _slices(folder: Path, size: int) -> None:
    write_trace(folder / "trace.json", size)


def _files(folder: Path, size: int) -> None:
    write(folder, chain(_FEW))
    for i in range(size // 16):
        (folder / f"node_{i}.txt").write_text(f"values of node {i}\n")


GROWING: dict[str, Write] = {
    "nodes": _network,
    "nodes in one chain": _chain(),
    "nodes of one name": _chain(name=lambda _: "same"),
    "names of distinct functions": _chain(function=lambda i: f"fused_op{i:x}_nn_relu"),
    "length of names": _long_names,
    "scopes": _chain(name=lambda i: f"net/layer{i // 8}/block{i // 2}/op{i}"),
    "depth of scopes": _deep_scopes,
    "repeated blocks": _blocks,
    "two operators, no repeats": _graph(
        lambda n: {"nodes": chain(n, function=lambda i: f"fused_{'ab'[i.bit_count() % 2]}")}
    ),
    "edges into one node": _edges,
    "nodes that read one": _readers,
    "outputs of a node": _outputs,
    "control dependencies": _graph(
        lambda n: {"nodes": [*chain(n), Node("end", "fused_add", [(1, 0)], control=range(1, n))]}
    ),
    "attributes of a node": _graph(
        lambda n: {
            "nodes": [
                *chain(4),
                Node("a", "fused_a", [(4, 0)], 1, {f"k{i}": "v" for i in range(n)}),
            ]
        }
    ),
    "heads": _graph(lambda n: {"nodes": chain(n), "heads": [(i, 0) for i in range(1, n + 1)]}),
    "dimensions of a shape": _graph(lambda n: {"nodes": chain(_FEW), "shape": [1] * (n // _FEW)}),
    "entries in one storage": _graph(lambda n: {"nodes": chain(n), "storage": lambda _: 0}),
    "entries in a hundred storages": _graph(
        lambda n: {"nodes": chain(n), "storage": lambda at: at % 100}
    ),
    "devices": _graph(lambda n: {"nodes": chain(n), "devices": lambda at: at}),
    "repeats": _repeats,
    "repeats that drift": _drift,
    "counts of repeats": _uneven,
    "times alone": _times,
    "times by name": _named_times,
    "table alone": _table,
    "pairs alone": _pairs,
    "rows of reports": _report,
    "tensors": _tensors,
    "tensors without a graph": _tensors_alone,
    "issues": _issues,
    "slices": _slices,
    "slices one inside the other": _events(
        lambda n: (_slice(float(i), 2.0 * (n - i)) for i in range(n))
    ),
    "slices at one time": _events(lambda n: (_slice(1.0, 5.0, name=f"k{i}") for i in range(n))),
    "slices that overlap": _events(lambda n: (_slice(float(i), 1e7 + i) for i in range(n))),
    "names of slices": _events(lambda n: (_slice(9.0 * i, 5.0, name=f"k{i}") for i in range(n))),
    "threads": _events(lambda n: (_slice(1.0 * i, 5.0, tid=i) for i in range(n))),
    "counters": _events(
        lambda n: (
            {"ph": "C", "name": f"c{i % 9}", "ts": 1.0 * i, "args": {"value": i}} for i in range(n)
        )
    ),
    "names of counters": _events(
        lambda n: (
            {"ph": "C", "name": f"c{i}", "ts": 1.0 * i, "args": {"value": i}} for i in range(n)
        )
    ),
    "flows": _events(_flows),
    "arguments of a slice": _events(
        lambda n: [_slice(0.0, 5.0, args={f"k{i}": i for i in range(n)}), _slice(9.0, 5.0)]
    ),
    "files in the folder": _files,
}
