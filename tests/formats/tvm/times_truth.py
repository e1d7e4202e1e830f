"""Times as TVM's own files beside a dump tell them, read without the package."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tvmdbg_widgets.formats.tvm.table import TimedNode

TRACE = "_tvmdbg_execution_trace.json"


@dataclass(frozen=True)
class Case:
    folder: Path
    version: str

    @property
    def times(self) -> list[list[float]]:
        return json.loads((self.folder / "time_list.json").read_text())

    @property
    def node_seconds(self) -> list[float]:
        """What TVM takes as the time of a node: the mean, before v0.9 the only repeat."""
        return [float(np.mean(repeats)) for repeats in self.times]

    def printed_us(self, seconds: float) -> float:
        """Microseconds with three decimals; from v0.9 the rounded value is a numpy scalar."""
        if self.version == "v0.19":
            return float(round(np.float64(seconds * 1e6), 3))
        return round(seconds * 1e6, 3)

    @property
    def names(self) -> list[str]:
        return [node["name"] for node in self.graph["nodes"]]

    @property
    def graph(self) -> dict:
        return json.loads((self.folder / "graph.json").read_text(encoding="utf-8"))

    @property
    def trace(self) -> Path:
        return next(iter(sorted(self.folder.rglob(TRACE))))

    @property
    def style(self) -> str:
        return "v0.9" if self.version == "v0.19" else "v0.6"

    def timed_nodes(self) -> list[tuple[int, TimedNode]]:
        """Operators in node order with their ids."""
        graph = self.graph
        shapes = graph["attrs"]["shape"][1]
        nodes, entry = [], 0
        for index, (node, times) in enumerate(zip(graph["nodes"], self.times, strict=True)):
            if node["op"] == "null":
                entry += 1
                continue
            outputs = int(node["attrs"]["num_outputs"])
            nodes.append(
                (
                    index,
                    TimedNode(
                        node["name"],
                        node["attrs"]["func_name"],
                        tuple(times),
                        tuple(tuple(shape) for shape in shapes[entry : entry + outputs]),
                        int(node["attrs"]["num_inputs"]),
                    ),
                )
            )
            entry += outputs
        return nodes


def own_cases(data: Path) -> list[Case]:
    return [
        Case(folder, "v0." + folder.name.split("v0.")[1])
        for folder in sorted((data / "times").iterdir())
    ]


def corpus_cases(corpus: Path) -> list[Case]:
    cases = []
    for file in sorted((corpus / "tvm").rglob("time_list.json")):
        folder = file.parent
        meta = json.loads((folder / "meta.json").read_text())
        version = ".".join(meta["tvm"].split(".")[:2])
        if any(folder.rglob(TRACE)) and (folder / "run_stdout.txt").exists():
            cases.append(Case(folder, "v" + version))
    return cases
