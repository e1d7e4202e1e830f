"""What nodes and slices are called in a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.svg import SMALL
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.model.graph.labels import label
from tvmdbg_widgets.model.graph.node_words import repeated_labels

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.timeline.timeline import Timeline


class Names:
    """What nodes and slices of one timeline are called."""

    def __init__(self, timeline: Timeline | None, graph: Graph | None) -> None:
        self.graph = graph
        self._short = {} if timeline is None else timeline.slice_labels
        self._repeated = None if graph is None else repeated_labels(graph)

    def label(self, node: int, name: str) -> str:
        """Return the operators of a node; where it is unknown, what the recorded name reads."""
        if self.graph is None or node < 0:
            return self._short.get(name, name)
        return label(self.graph.func_names[node]) or self.graph.names[node] or name

    def shape(self, node: int) -> str:
        """Return the shape of a node's output where others have its label: ``"1×64×8×8"``."""
        if self.graph is None or self._repeated is None or node < 0 or not self._repeated[node]:
            return ""
        shapes = self.graph.nodes[node].shapes
        if not shapes or shapes[0] is None:
            return ""
        return "×".join(map(str, shapes[0])) or "scalar"

    def row(self, node: int, name: str) -> str:
        """Return the label, with the shape where others read alike."""
        said, shape = self.label(node, name), self.shape(node)
        return f"{said} · {shape}" if shape else said

    def title(self, node: int, name: str) -> str:
        """Return the same with the number of the node: ``"conv2d + add #38 · 1×64×8×8"``."""
        said, shape = titled(node, self.label(node, name)), self.shape(node)
        return f"{said} · {shape}" if shape else said


def titled(node: int, said: str) -> str:
    """Return a label with the number of its node: ``"conv2d + add + relu #38"``."""
    return f"{said} #{node}".strip() if node >= 0 else said


def numbered(node: int, said: str, room: float) -> str:
    """Return what fits of a title; the number of the node stays longest."""
    first = said.split(" + ", 1)[0]
    for text in (titled(node, said), titled(node, first)):
        if width(text, SMALL) <= room:
            return text
    if node < 0:
        return fit(said, room, SMALL)
    id_ = f"#{node}"
    cut = fit(first, room - width(f" {id_}", SMALL), SMALL)
    return f"{cut} {id_}" if len(cut) > 4 else fit(id_, room, SMALL)


def node_kind(graph: Graph | None, node: int) -> str:
    """Return the op kind of a node; ``"other"`` where it is unknown."""
    return "other" if graph is None or node < 0 else graph.nodes[node].op_kind


def output_shapes(graph: Graph, node: int) -> str:
    """Shapes of the node's outputs, ``"1×64×8×8"``."""
    shapes = graph.nodes[node].shapes
    return ", ".join(
        "?" if each is None else "×".join(map(str, each)) or "scalar" for each in shapes
    )
