"""What slices and operators of a timeline are filled with, as the live view fills them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.timeline.slice_colors import slice_colors
from tvmdbg_widgets.figures.timeline_names import node_kind

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.analysis.timeline.slice_colors import SliceColors
    from tvmdbg_widgets.figures.theme import Paint, Theme
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.timeline.timeline import Timeline

_STEPS = 20


class SlicePaint:
    """Fills by op kind, by block or by share of the time, as ``js/src/timeline/slice_colors.ts``.

    Parameters
    ----------
    theme : Theme
    timeline : Timeline
    graph : Graph or None
    colors : SliceColors or None
        None colors by op kind.
    """

    def __init__(
        self, theme: Theme, timeline: Timeline, graph: Graph | None, colors: SliceColors | None
    ) -> None:
        self._theme, self._graph, self._colors = theme, graph, colors
        self._node_ns = np.nan_to_num(timeline.node_ns)
        self._by_name: dict[str, float] = {}
        if colors is not None and colors.by == "share":
            codes, own = timeline.slice_names.codes, np.nan_to_num(timeline.nesting.self_ns)
            alone = timeline.slice_node < 0
            ns = np.bincount(codes[alone], own[alone]).tolist()
            self._by_name = dict(zip(timeline.slice_names.unique, ns, strict=False))
        longest = max(self._node_ns.max(initial=0.0), *self._by_name.values(), 0.0)
        self._longest = longest or 1.0

    @classmethod
    def of(cls, theme: Theme, run: Derived, timeline: Timeline, by: str = "auto") -> SlicePaint:
        """Return the fills of a run; ``by`` is the trait ``slice_color`` of a flamechart."""
        groups = None if run.graph is None else run.groups
        colors = slice_colors(timeline, run.graph, groups).chosen(by)
        return cls(theme, timeline, run.graph, colors)

    def node(self, node: int, kind: str = "") -> Paint:
        """Return the fill of a node; ``kind`` is its op kind where the graph does not tell it."""
        kind = kind or node_kind(self._graph, node)
        colors = self._colors
        if colors is not None and colors.by_share(kind):
            return self._heat(float(self._node_ns[node]))
        if colors is not None and colors.by == "block" and colors.block[node] >= 0:
            return self._theme.group(int(colors.block[node]))
        return self._theme.kind(kind)

    def name(self, name: str, kind: str) -> Paint:
        """Return the fill of what only a name is known of."""
        if self._colors is not None and self._colors.by_share(kind):
            return self._heat(self._by_name.get(name, 0.0))
        return self._theme.kind(kind)

    def _heat(self, ns: float) -> Paint:
        return self._theme.heat(int(_STEPS * ns / self._longest + 0.5) / _STEPS)
