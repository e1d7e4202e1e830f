"""Which groups of a graph are open in a picture where nobody has chosen, by the views' own code."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.engine.columns import packed_text
from tvmdbg_widgets.engine.host import call
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups


def open_by_itself(graph: Graph, groups: Groups) -> list[int]:
    """Return which groups may be open: ``openStates`` in ``js/src/graph/data/groups.ts`` decides.

    A view that has not the room to show them legibly opens fewer.
    """
    columns: dict[str, npt.NDArray[Any]] = {
        "kinds": graph.kinds,
        "edgeSource": graph.edge_source,
        "headNode": np.ascontiguousarray(graph.heads[:, 0]),
        "groupParent": groups.parent,
        "groupSource": groups.source,
        "nodeGroup": groups.node_group,
    }
    failure = "which groups are open could not be told"
    found: list[int] = json.loads(
        call("openGroups", json.dumps(packed_text(columns)), failure=failure)
    )
    return found
