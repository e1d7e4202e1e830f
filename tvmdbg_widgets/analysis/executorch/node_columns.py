"""What ExecuTorch's files tell of each operator, as columns that can be shown as colors."""

from __future__ import annotations

import numbers
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from tvmdbg_widgets.analysis.executorch.event_block import EventBlock
from tvmdbg_widgets.model.base.choice import meant
from tvmdbg_widgets.model.executorch.event_nodes import HOW
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, classed, node_column
from tvmdbg_widgets.model.parts import RunParts

#: Of what the metadata parser of an Inspector returned: ``"metadata:kernel"``.
METADATA: Final = "metadata:"
#: Columns that every run of ExecuTorch has.
EXECUTORCH_COLUMNS: Final = ("backend", "mapping")


def executorch_column(parts: RunParts, name: str) -> NodeColumn:
    """Return an operator's ``"backend"``, or its ``"mapping"``: how events are tied to it."""
    graph, found = parts.graph, parts.executorch
    if graph is None or found is None:
        raise ValueError(f"{name!r} is known of runs of ExecuTorch with a graph")
    texts: list[str | None] = [None] * graph.num_nodes
    if name == "backend":
        for node in range(graph.num_nodes):
            said = graph.attrs[node].get("delegate") or graph.attrs[node].get("backend")
            if graph.func_names[node]:
                texts[node] = said.partition(",")[0] if said else "not delegated"
        return classed(name, "nodes", texts)
    joined = found.event_nodes
    worst: dict[int, int] = {}
    pairs = {*zip(joined.set_of.tolist(), joined.how.tolist(), strict=True)} if joined else ()
    for number, how in pairs:
        if joined is None or number < 0 or number in joined.apart:
            continue
        for node in joined.sets[number]:
            worst[node] = max(worst.get(node, 0), how)
    for node, how in worst.items():
        texts[node] = HOW[how]
    return classed(name, "nodes", texts)


def metadata_column(graph: Graph, blocks: Iterable[EventBlock], key: str) -> NodeColumn:
    """Return what a metadata parser returned under a key, by the operators of the event.

    Of an operator with several events the last one counts. Numbers stay numbers where all are.
    """
    nodes: dict[int, list[int]] = defaultdict(list)
    for node, attrs in enumerate(graph.attrs):
        for text in attrs.get("debug_handle", "").split(","):
            if text.strip().isdecimal():
                nodes[int(text)].append(node)
    values: dict[int, Any] = {}
    known: dict[str, None] = {}
    for event in (each for block in blocks for each in block.events):
        told = event.delegate_debug_metadatas if event.is_delegated_op else None
        if not isinstance(told, dict):
            continue
        known |= dict.fromkeys(map(str, told))
        handles = event.debug_handles
        for handle in (handles,) if isinstance(handles, int) else handles or ():
            for node in nodes[handle] if key in told else ():
                values[node] = told[key]
    if not values:
        told = meant(key, known) if known else "; give the Inspector a delegate_metadata_parser"
        raise LookupError(f"no metadata under {key!r} of an event with operators{told}")
    if not all(isinstance(each, numbers.Real) for each in values.values()):
        values = {node: str(each) for node, each in values.items()}
    return node_column(graph, values, name=METADATA + key)
