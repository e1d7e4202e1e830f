"""What queries look at, as the columns of the views: ``js/src/graph/query/facts.ts`` reads them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.graph.view_columns import fact_columns, graph_columns, group_columns
from tvmdbg_widgets.model.graph.devices import device_names
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.timeline.timeline import Timeline

Part: TypeAlias = Literal["nodes", "groups", "facts"]

_keys = itertools.count()


class Facts:
    """One graph of N nodes, with the times of its nodes."""

    def __init__(
        self, graph: Graph, timeline: Timeline | None, groups: Callable[[], Groups]
    ) -> None:
        self.graph = graph
        self.key = str(next(_keys))
        self._timeline = timeline
        self.rounding_ns = 0.0 if timeline is None else timeline.rounding_ns
        self._groups = groups

    @cached_property
    def node_ns(self) -> npt.NDArray[np.float64]:
        """Mean times in nanoseconds, NaN where unknown (float64 [N])."""
        if self._timeline is None:
            return np.full(self.graph.num_nodes, np.nan)
        return self._timeline.node_ns

    def columns(self, part: Part) -> dict[str, Any]:
        """Return some of the columns: of the graph, of its groups, or what few queries ask for."""
        if part == "nodes":
            return graph_columns(self.graph, self._timeline)
        if part == "groups":
            return group_columns(self._groups(), self._timeline)
        return fact_columns(self.graph)

    @property
    def devices(self) -> dict[str, str]:
        """Names of devices by their type."""
        return device_names(self.graph)
