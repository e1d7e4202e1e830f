"""Small dumps with one thing planted in them, as TVM's debugger writes them."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document, null, operator
from tests.make.params import write_params
from tvmdbg_widgets.model.findings import Finding
from tvmdbg_widgets.run import DebugRun

Entry = tuple[int, int]


@dataclass
class Op:
    """One node: an input or parameter where ``func`` is empty."""

    name: str
    values: Any
    func: str = ""
    reads: Sequence[Entry] = ()
    attrs: dict[str, str] = field(default_factory=dict)
    storage: int | None = None
    shape: list[int] | None = None  # where the graph says another one
    ns: Sequence[float] = ()  # repeats

    @property
    def outputs(self) -> list[np.ndarray[Any, Any]]:
        return list(self.values) if isinstance(self.values, list) else [self.values]


def graph_json(ops: Sequence[Op], heads: Sequence[Entry] | None = None, old: bool = False) -> str:
    """Return the graph as Relay's code generator writes it."""
    prefix = "tvmgen_default_" if old else ""
    nodes = []
    for op in ops:
        func, reads = op.func.removeprefix(prefix), [[*each, 0] for each in op.reads]
        made = operator(op.name, func, reads, len(op.outputs), **op.attrs)
        nodes.append(made if op.func else null(op.name))
    values = [(op, each) for op in ops for each in op.outputs]
    written = document(
        nodes,
        shapes=[list(each.shape) if op.shape is None else op.shape for op, each in values],
        dtypes=[each.dtype.name for _, each in values],
        storage=[at if op.storage is None else op.storage for at, (op, _) in enumerate(values)],
    )
    last = heads if heads is not None else [(len(ops) - 1, 0)]
    return json.dumps({**written, "heads": [[*each, 0] for each in last]})


def params(ops: Sequence[Op], old: bool = False, leave_out: Sequence[Entry] = ()) -> bytes:
    """Return ``output_tensors.params`` with keys of v0.9, or of v0.6 where ``old``."""
    pairs = [
        (
            f"{op.name}_{output}__{1e-6 * bool(op.func)}"
            if old
            else f"{op.name}____topo-index:{node}____output-num:{output}",
            each,
        )
        for node, op in enumerate(ops)
        for output, each in enumerate(op.outputs)
        if (node, output) not in leave_out
    ]
    file = io.BytesIO()
    write_params(file, pairs)
    return file.getvalue()


def trace(ops: Sequence[Op]) -> bytes:
    """Return the execution trace: nodes laid end to end with their mean times."""
    events, at = [], 0.0
    for op in ops:
        took = sum(op.ns) / len(op.ns) / 1000 if op.ns else 0.0
        for phase, ts in (("B", at), ("E", at + took)):
            events.append({"ts": ts, "tid": 1, "pid": 1, "name": op.name, "ph": phase})
        at += took
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events}).encode()


def table(ops: Sequence[Op]) -> bytes:
    """Return the table that run() prints, unsorted, with each repeat."""
    total = sum(sum(op.ns) / len(op.ns) for op in ops if op.ns)
    head = ["Node Name", "Ops", "Time(us)", "Time(%)", "Shape", "Inputs", "Outputs"]
    head.append("Measurements(us)")
    rows = [head, ["-" * len(each) for each in head]]
    for op in ops:
        mean = sum(op.ns) / len(op.ns) if op.ns else 0
        times = [f"{mean / 1000:.3f}", f"{100 * mean / total:.3f}"]
        counts = [str(len(op.reads)), str(len(op.outputs))]
        repeats = str([round(ns / 1000, 3) for ns in op.ns])
        rows += [
            [op.name, op.func, *times, str(tuple(each.shape)), *counts, repeats]
            for each in (op.outputs if op.func else [])
        ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return ("\n".join(line + "  " for line in lines) + "\n").encode()


def plant(
    *ops: Op, heads: Sequence[Entry] | None = None, old: bool = False, **files: Any
) -> DebugRun:
    """Open a dump of these nodes; with a trace and a table where any has repeats."""
    sources: dict[str, Any] = {}
    if any(op.ns for op in ops):
        sources = {"trace": trace(ops), "table": table(ops)}
    graph = graph_json(ops, heads, old)
    sources["graph"] = (json.dumps(graph) if old else graph).encode()
    return tvmdbg.open(params(ops, old), **{**sources, **files})


def found(run: DebugRun, rule: str) -> list[Finding]:
    """Return the findings of one rule."""
    return list(run.findings(progress=False).by_rule(rule))
