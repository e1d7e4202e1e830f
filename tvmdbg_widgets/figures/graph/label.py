"""The words of boxes, the usual ones and those by a template, as the live view writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.layouts.layouts import known_layouts
from tvmdbg_widgets.analysis.memory.sizes import known_sizes
from tvmdbg_widgets.figures.graph.colors import value_text
from tvmdbg_widgets.model.base.numbers import duration_text, percent
from tvmdbg_widgets.model.graph.devices import device_name
from tvmdbg_widgets.model.graph.label_template import LabelTemplate
from tvmdbg_widgets.model.graph.labels import label
from tvmdbg_widgets.model.graph.node_words import GIVEN, shape_text
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.graph.times import Times
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.parts import RunParts


class Labels:
    """The words of the boxes of one graph, as the live view writes them."""

    def __init__(self, graph: Graph, times: Times) -> None:
        self._graph = graph
        self._times = times
        self._heads: dict[int, list[int]] = {}
        for row, (node, _) in enumerate(graph.heads.tolist()):
            self._heads.setdefault(node, []).append(row)

    def title(self, node: int) -> str:
        """Operators of the node, or its name."""
        graph = self._graph
        return label(graph.func_names[node]) or graph.names[node] or f"node {node}"

    def mark(self, node: int) -> str:
        """What sets the node apart: input, parameter, output of the graph, the slowest."""
        if node == self._times.slowest:
            return "slowest"
        heads = self._heads.get(node)
        if heads:
            return f"output {', '.join(map(str, heads))}" if len(self._heads) > 1 else "output"
        kind = self._graph.kinds[node]
        if kind == NodeKind.INPUT:
            return "input"
        return "param" if kind == NodeKind.PARAMETER else ""

    def is_head(self, node: int) -> bool:
        """Whether one of the node's outputs is an output of the graph."""
        return node in self._heads

    def shape(self, node: int) -> str:
        """Shape of the first output, and how many there are."""
        entries = self._graph.entry_range(node)
        if not entries:
            return "no output"
        more = f", {len(entries)} outputs" if len(entries) > 1 else ""
        shape = self._graph.shape(node)
        if shape is None:
            return f"shape unknown{more}"
        return shape_text(shape) + more

    def time(self, node: int) -> str:
        """Time and share, or why there is none."""
        ns = float(self._times.ns[node])
        if ns > 0:
            return f"{duration_text(ns)} · {percent(self._times.share(node))}"
        given = GIVEN.get(NodeKind(self._graph.kinds[node]))
        if given:
            return given
        unknown = self._times.together(node) or "time unknown"
        return unknown if np.isnan(ns) else duration_text(ns)


class TemplateLabels(Labels):
    """The words of boxes, with titles and second lines by a template.

    Parameters
    ----------
    parts : RunParts
    graph : Graph
    times : Times
    text : str
        The template.

    Raises
    ------
    ValueError
        It is none; the message says where.
    """

    def __init__(self, parts: RunParts, graph: Graph, times: Times, text: str) -> None:
        super().__init__(graph, times)
        self._parts, self._times_known = parts, times
        self._template = LabelTemplate.parse(text)
        self._sizes = known_sizes(graph)

    def title(self, node: int) -> str:
        """First line, or what the operators are where that is empty."""
        return self._lines(node, "")[0] or super().title(node)

    def second(self, node: int, value: str) -> str:
        """Second line; ``value`` is what the colors say."""
        return self._lines(node, value)[1]

    def _lines(self, node: int, value: str) -> tuple[str, str]:
        fields = self.fields(node) | {"value": value}
        first, second, *_ = (*self._template.fill(lambda name: fields[name]), "", "")
        return first, second

    def fields(self, node: int) -> dict[str, str]:
        """Return what stands for each field of a template."""
        graph = self._graph
        entries = graph.entry_range(node)
        entry = entries[0] if entries else -1
        share = self._times_known.share(node)
        storage = -1 if graph.storage_ids is None or entry < 0 else int(graph.storage_ids[entry])
        device = "" if graph.device_types is None or entry < 0 else int(graph.device_types[entry])
        size = float(self._sizes[entry]) if entry >= 0 else float("nan")
        return {
            "op": super().title(node),
            "id": str(node),
            "name": graph.names[node],
            "func": graph.func_names[node],
            "kind": graph.nodes[node].op_kind,
            "shape": self.shape(node),
            "dtype": graph.dtypes[entry] if entry >= 0 else "",
            "time": self.time(node).split(" · ")[0],
            "share": percent(share) if share > 0 else "",
            "device": "" if device == "" else device_name(int(device)),
            "storage": f"slot {storage}" if storage >= 0 else "",
            "layout": self._layout(node) if entry >= 0 else "",
            "bytes": value_text(size, "B") if size >= 0 else "",
        }

    def _layout(self, node: int) -> str:
        if "{layout}" not in self._template.text:
            return ""
        known = next(iter(known_layouts(self._parts, (node, 0))), None)
        if known is None:
            return ""
        return known.layout.text + ("" if known.certainty == "stated" else " (likely)")
