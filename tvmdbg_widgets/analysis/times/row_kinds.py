"""What the rows of a run's account are: op kinds, loading, what a profiler adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.times.keys import NO_WORK, RUNTIME
from tvmdbg_widgets.model.graph.node_words import node_op_kinds
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.kinds import name_kinds

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.timeline.timeline import Timeline


def row_kinds(timeline: Timeline, graph: Graph | None) -> list[str]:
    """Return the op kind of each row of ``timeline.account``, or what else its time is spent on.

    Of a node the graph tells it, of a call its set, of what is left the name of the slices.
    """
    account, sets = timeline.account, timeline.shared
    of_node = None if graph is None else node_op_kinds(graph)
    of_name = name_kinds(timeline, graph)
    codes = timeline.slice_names.codes
    found = []
    for row in range(len(account)):
        node, call, name = int(account.node[row]), int(account.call[row]), int(account.name[row])
        role, first = SliceRole(int(account.role[row])), int(account.first[row])
        if role in NO_WORK:
            found.append(NO_WORK[role])
        elif name >= 0 and not account.operators[row]:
            found.append(RUNTIME)
        elif sets is not None and call >= 0:
            found.append(sets.kinds[call])
        elif of_node is not None and 0 <= node < len(of_node):
            found.append(of_node[node])
        else:
            code = name if name >= 0 else int(codes[first]) if first >= 0 else -1
            found.append(of_name[code] if code >= 0 else "other")
    return found
