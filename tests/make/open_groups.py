"""Write tests/data/groups/open.json: which groups are open by themselves, for both languages.

``python -m tests.make.open_groups``
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.graphs import network
from tests.unit.graph.block_graphs import Draft
from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.analysis.graph.open_groups import open_by_itself
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.model.sources.byte_source import BytesSource

if TYPE_CHECKING:
    import numpy.typing as npt

    from tvmdbg_widgets.model.graph.graph import Graph

PATH = Path(__file__).parents[1] / "data/groups/open.json"


def graphs() -> list[Graph]:
    """Return a row of residual blocks, and networks of mixed stages."""
    draft = Draft()
    x = draft.null(1, 8)
    for _ in range(7):
        x = draft.residual(x)
    texts = [network(nodes, seed).encode() for nodes, seed in ((40, 2), (120, 1), (300, 3))]
    return [draft.graph(), *(read_graph(BytesSource(text, "graph.json")) for text in texts)]


def cases() -> list[dict[str, Any]]:
    """Return the columns that decide, and which groups are open: of the whole, and of a part."""
    return [
        _case(graph, shown)
        for graph in graphs()
        for shown in (None, np.arange(graph.num_nodes) < graph.num_nodes // 3)
    ]


def _case(graph: Graph, shown: npt.NDArray[np.bool_] | None) -> dict[str, Any]:
    known = groups(graph)
    return {
        "groupParent": known.parent.tolist(),
        "nodeGroup": known.node_group.tolist(),
        "kinds": graph.kinds.tolist(),
        "edgeSource": graph.edge_source.tolist(),
        "headNode": graph.heads[:, 0].tolist(),
        "shown": None if shown is None else shown.astype(int).tolist(),
        "open": open_by_itself(graph, known, shown).astype(int).tolist(),
    }


if __name__ == "__main__":
    PATH.write_text("[\n" + ",\n".join(json.dumps(each) for each in cases()) + "\n]\n")
