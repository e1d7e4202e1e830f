"""A graph for networkx with what the run knows of its nodes beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.subgraph import Subgraph
from tvmdbg_widgets.model.timeline.timeline import Timeline

if TYPE_CHECKING:
    import networkx as nx


def as_networkx(
    graph: Graph | Subgraph, timeline: Timeline | None, groups: Groups, *, control: bool = False
) -> nx.MultiDiGraph[int]:
    """Return what ``graph.to_networkx()`` returns with times and groups of the nodes.

    ``time_ns`` is None where no time is known, ``groups`` are the ids of the groups around a node,
    the outermost first; their titles are in ``result.graph["groups"]``, by id.
    """
    result = graph.to_networkx(control=control)
    times = None if timeline is None else timeline.node_ns.tolist()
    around: list[tuple[int, ...]] = [()] * len(groups)
    for group, parent in enumerate(groups.parent.tolist()):
        around[group] = (*(around[parent] if parent >= 0 else ()), group)
    innermost = groups.node_group.tolist()
    used: set[int] = set()
    for node, attributes in result.nodes(data=True):
        time = math.nan if times is None else times[node]
        attributes["time_ns"] = None if math.isnan(time) else time
        group = innermost[node]
        attributes["groups"] = around[group] if group >= 0 else ()
        used.update(attributes["groups"])
    result.graph["groups"] = {group: groups[group].title for group in sorted(used)}
    return result
