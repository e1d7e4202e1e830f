"""A graph in the forms other libraries use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.frames import data_frame
from tvmdbg_widgets.model.nodes import Node, NodeKind
from tvmdbg_widgets.model.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Iterable

    import networkx as nx
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from tvmdbg_widgets.model.graph import Graph


def to_networkx(
    graph: Graph, nodes: Iterable[int], edges: npt.NDArray[np.integer]
) -> nx.MultiDiGraph[int]:
    """Return the given nodes and edges as a ``networkx.MultiDiGraph``.

    Node attributes: ``name``, ``func_name``, ``kind``, ``shapes``, ``dtypes``. An edge's key is
    its operand position, its attributes are ``output`` and ``trust``. Dangling edges are left out.
    """
    import networkx as nx

    result: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    for node in nodes:
        view = Node(graph, node)
        result.add_node(
            node,
            name=view.name,
            func_name=view.func_name,
            kind=view.kind.name.lower(),
            shapes=view.shapes,
            dtypes=view.dtypes,
        )
    chosen = edges[graph.edge_source[edges] >= 0]
    columns = (
        graph.edge_source,
        graph.edge_target,
        graph.edge_position,
        graph.edge_output,
        graph.edge_trust,
    )
    for source, target, position, output, trust in zip(
        *(column[chosen].tolist() for column in columns), strict=True
    ):
        label = Trust(trust).label
        result.add_edge(source, target, key=position, output=output, trust=label)
    return result


def to_dataframe(graph: Graph) -> pd.DataFrame:
    """Return one row per node, indexed by node id (needs pandas)."""
    views = list(graph.nodes)
    frame = data_frame(
        {
            "name": list(graph.names),
            "kind": [NodeKind(kind).name.lower() for kind in graph.kinds.tolist()],
            "func_name": list(graph.func_names),
            "op_kind": [view.op_kind for view in views],
            "inputs": [view.inputs for view in views],
            "shapes": [view.shapes for view in views],
            "dtypes": [view.dtypes for view in views],
        }
    )
    frame.index.name = "node"
    return frame
