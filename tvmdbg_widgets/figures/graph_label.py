"""Labels of nodes by a template, as the live view fills them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.layouts import known_layouts
from tvmdbg_widgets.analysis.memory_sizes import known_sizes
from tvmdbg_widgets.figures.graph_colors import value_text
from tvmdbg_widgets.figures.graph_scene import Labels, Times
from tvmdbg_widgets.model.devices import device_name
from tvmdbg_widgets.model.label_template import LabelTemplate
from tvmdbg_widgets.model.numbers import percent

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph import Graph
    from tvmdbg_widgets.model.parts import RunParts


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
        """Second line; ``value`` is what the colours say."""
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
