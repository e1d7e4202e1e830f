"""A graph as JSON for Model Explorer, and data on its nodes.

The graph is a ``GraphCollection`` (src/ui/src/components/visualizer/common/input_graph.ts of
google-ai-edge/model-explorer; ``loadGraphsJson`` in src/ui/src/common/utils.ts loads a document
with ``label`` and ``graphs``), with the fields of
src/server/package/src/model_explorer/graph_builder.py. Node data are ``ModelNodeData``
(node_data_builder.py; by types.ts, ``results`` map node ids to numbers or texts).

Names of groups contain no ``/`` and no ``;``, which separate namespaces and their alternatives
(``processNodes`` in worker/graph_processor.ts).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.export.nodes import (
    NodeColors,
    NodeTexts,
    around_nodes,
    cut,
    entry_text,
    node_colors,
    part,
)
from tvmdbg_widgets.model.base.numbers import Trust, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.writing import replacing_all
from tvmdbg_widgets.model.graph.graph import Graph, device_name
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.nodes import Subgraph

_MOST_LABEL, _MOST_VALUE = 200, 2_000
_DIVIDERS = str.maketrans({"/": "\u2215", ";": ","})


@dataclass(frozen=True)
class ModelExplorer:
    """A graph with data on its nodes as Model Explorer reads them.

    Attributes
    ----------
    graph : dict
        A graph collection with one graph.
    node_data : dict
        Node data by name: ``"time"``, ``"health"`` …
    """

    graph: dict[str, Any]
    node_data: Mapping[str, dict[str, Any]]

    def save(self, path: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write the graph, and node data beside it: ``net.json``, ``net.time.json``.

        Returns
        -------
        tuple of Path
            Of the files, the graph's first.

        Raises
        ------
        ValueError
            The path does not end in ``.json``.
        OSError
            The folder is missing or cannot be written to.
        """
        target = Path(path)
        names = {target: self.graph}
        stems: list[str] = []
        for name, data in self.node_data.items():
            safe = "".join(char if char.isalnum() else "_" for char in name)[:40]
            stems.append(_apart(safe, stems))
            names[target.with_name(f"{target.stem}.{stems[-1]}.json")] = data
        with replacing_all(names, ".json") as files:
            for file, document in zip(files, names.values(), strict=True):
                file.write(json.dumps(document, allow_nan=False).encode("ascii"))
        return tuple(names)

    def __repr__(self) -> str:
        nodes = len(self.graph["graphs"][0]["nodes"])
        data = ", ".join(self.node_data) or "none"
        return (
            f"<ModelExplorer: {counted(nodes, 'node')}, node data: {data}; save(path.json), .graph>"
        )


def model_explorer(
    run: RunFacts, graph: Graph, nodes: Any = None, *, node_data: Iterable[Any] = ()
) -> ModelExplorer:
    """Return a graph, or some of its nodes; see ``DebugRun.to_model_explorer``."""
    chosen = part(graph, nodes)
    name = cut(one_line(run.title), _MOST_LABEL) or "graph"
    spaces = _namespaces(run.groups, chosen.node_ids.tolist())
    document = {
        "id": name,
        "nodes": _ModelExplorerNodes(run, graph, chosen, spaces).all(),
        "groupNodeAttributes": _group_attributes(run, graph, chosen, spaces),
    }
    data: dict[str, dict[str, Any]] = {}
    for what in (node_data,) if isinstance(node_data, str) else node_data:
        colors = node_colors(run, graph, what)
        if colors is not None:
            data[_apart(colors.name, data)] = {name: _results(colors, chosen.node_ids.tolist())}
    return ModelExplorer({"label": name, "graphs": [document]}, data)


def _apart(name: str, taken: Iterable[str]) -> str:
    """Return a name that is not taken, with a number if it would be."""
    used = {one.casefold() for one in taken}
    numbered = chain([name], (f"{name} {number}" for number in count(2)))
    return next(one for one in numbered if one.casefold() not in used)


def _namespaces(groups: Groups, nodes: list[int]) -> dict[int, str]:
    """Return the paths of the groups around the nodes; equal siblings are numbered."""
    paths: dict[int, str] = {}
    taken: dict[str, int] = {}
    for group in around_nodes(groups, nodes):
        parent = int(groups.parent[group])
        own = cut(one_line(groups[group].title), _MOST_LABEL).translate(_DIVIDERS).strip()
        path = f"{paths[parent]}/{own or 'group'}" if parent >= 0 else own or "group"
        taken[path] = count = taken.get(path, 0) + 1
        paths[group] = path if count == 1 else f"{path} ({count})"
        taken.setdefault(paths[group], 1)
    return paths


def _pairs(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return attributes as key and value pairs, without empty ones."""
    return [
        {"key": key, "value": value if isinstance(value, dict) else _text(value)}
        for key, value in values.items()
        if value not in ("", None)
    ]


def _text(value: object) -> str:
    return one_line(cut(str(value), _MOST_VALUE))


class _ModelExplorerNodes:
    def __init__(
        self, run: RunFacts, graph: Graph, chosen: Subgraph, spaces: Mapping[int, str]
    ) -> None:
        self.graph, self.chosen, self.spaces = graph, chosen, spaces
        self.inner = run.groups.node_group
        self.words = NodeTexts(graph, run.timeline)
        self.inside = np.zeros(graph.num_nodes + 1, np.bool_)
        self.inside[chosen.node_ids] = True
        self.before: dict[int, list[int]] = {}
        pairs = zip(graph.control_source.tolist(), graph.control_target.tolist(), strict=True)
        for source, target in pairs:
            if self.inside[source]:
                self.before.setdefault(target, []).append(source)

    def all(self) -> list[dict[str, Any]]:
        return [self._node(node) for node in self.chosen.node_ids.tolist()]

    def _node(self, node: int) -> dict[str, Any]:
        graph = self.graph
        edges = graph.in_edges(node)
        columns = (graph.edge_source, graph.edge_output, graph.edge_position)
        rows = list(zip(*(column[edges].tolist() for column in columns), strict=True))
        operand = cache(self._operand)
        return {
            "id": str(node),
            "label": _text(cut(self.words.title(node), _MOST_LABEL)),
            "namespace": self.spaces.get(int(self.inner[node]), ""),
            "attrs": self._attrs(node, edges),
            "incomingEdges": [
                {
                    "sourceNodeId": str(source),
                    "sourceNodeOutputId": str(output),
                    "targetNodeInputId": str(position),
                }
                for source, output, position in rows
                if self.inside[source]
            ],
            "inputsMetadata": [
                {"id": str(position), "attrs": _pairs({"__tensor_tag": operand(source, output)})}
                for source, output, position in rows
            ],
            "outputsMetadata": self._outputs(node),
        }

    def _attrs(self, node: int, edges: npt.NDArray[np.int32]) -> list[dict[str, Any]]:
        graph, view = self.graph, self.graph.nodes[node]
        known = not math.isnan(self.words.ns[node])
        own: dict[str, Any] = {
            "node id": node,
            "name": view.name,
            "function": view.func_name,
            "kind": view.kind.name.lower(),
            "op kind": view.op_kind,
            "time": self.words.time(node) if known else self.words.together(node),
            "output of the graph": "yes" if self.words.is_head(node) else "",
        }
        unsure = (graph.edge_source[edges] < 0) | (graph.edge_trust[edges] == Trust.AMBIGUOUS)
        for edge in edges[unsure].tolist():
            position = graph.edge_position[edge]
            if graph.edge_source[edge] < 0:
                own[f"operand {position}"] = "not in the graph"
            else:
                candidates = graph.edge_candidates.get(edge, ())
                own[f"operand {position}"] = f"ambiguous: one of {', '.join(map(str, candidates))}"
        given = {f"attr {key}": value for key, value in view.attrs.items() if key != "func_name"}
        before = list(map(str, self.before.get(node, ())))
        after = {"runs after": {"type": "node_ids", "nodeIds": before}} if before else {}
        return _pairs(own | given | after)

    def _operand(self, source: int, output: int) -> str:
        if source < 0:
            return "not in the graph"
        return f"#{source}:{output} {cut(self.graph.names[source], _MOST_LABEL)}"

    def _outputs(self, node: int) -> list[dict[str, Any]]:
        """Return the metadata of a node's outputs; equal texts are computed once."""
        graph, entries = self.graph, self.graph.entry_range(node)
        own = slice(entries.start, entries.stop)
        name = cut(graph.names[node], _MOST_LABEL)

        def ids(column: npt.NDArray[np.int32] | None) -> list[int]:
            return [-1] * len(entries) if column is None else column[own].tolist()

        starts = graph.shape_offsets[entries.start : entries.stop + 1].tolist()
        known = graph.shape_known[own].tolist()
        storage, devices = ids(graph.storage_ids), ids(graph.device_types)
        scopes = graph.storage_scopes
        entry_words = cache(lambda *entry: _text(entry_text(*entry)))
        device_words = cache(lambda device: "" if device < 0 else _text(device_name(device)))
        words = cache(_text)
        metadata = []
        for output, entry in enumerate(entries):
            dims = graph.shape_dims[starts[output] : starts[output + 1]].tolist()
            shape = tuple(dims) if known[output] else None
            texts = {
                "__tensor_tag": _text(f"{name}:{output}"),
                "tensor_shape": entry_words(graph.dtypes[entry] or None, shape),
                "storage_id": "" if storage[output] < 0 else str(storage[output]),
                "device": device_words(devices[output]),
                "storage scope": "" if scopes is None else words(scopes[entry]),
            }
            attrs = [{"key": key, "value": value} for key, value in texts.items() if value]
            metadata.append({"id": str(output), "attrs": attrs})
        return metadata


def _group_attributes(
    run: RunFacts, graph: Graph, chosen: Subgraph, spaces: Mapping[int, str]
) -> dict[str, dict[str, str]]:
    """Return the attributes of the graph (namespace "") and of its groups."""
    kept, groups = graph.num_nodes, run.groups
    attributes = {"": {"run": _text(run.title), "nodes": f"{len(chosen):,} of {kept:,}"}}
    ns = NodeTexts(graph, run.timeline).ns
    sums = np.concatenate([[0.0], np.cumsum(np.nan_to_num(ns[groups.order]))])
    for group, path in spaces.items():
        view = groups[group]
        took = float(sums[groups.end[group]] - sums[groups.start[group]])
        own = {
            "nodes": f"{len(view):,}",
            "repeats": f"{view.repeats:,}" if view.repeats > 1 else "",
            "found by": view.source.name.lower(),
            "time": duration_text(took) if took > 0 else "",
        }
        attributes[path] = {key: value for key, value in own.items() if value}
    return attributes


def _results(colors: NodeColors, nodes: list[int]) -> dict[str, Any]:
    """Return node data of one graph, without numbers that JSON cannot hold."""
    results: dict[str, dict[str, Any]] = {}
    for node in nodes:
        fill, ink, _, value = colors.of(node)
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            continue
        own = {} if fill is None else {"bgColor": fill, "textColor": ink}
        results[str(node)] = {"value": _text(value) if isinstance(value, str) else value, **own}
    unit = f" ({colors.unit})" if colors.unit else ""
    return {"name": f"{colors.name}{unit}", "results": results}
