"""Entries whose storage a later node wrote to before the debugger read them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind

_SHOWN = 20

Entry = tuple[int, int]


def later_writers(graph: Graph) -> dict[Entry, int]:
    """For each entry whose storage a later node writes to, the last such node.

    A ``__nop`` shares its input's storage and writes nothing; inputs are written before the run.
    """
    if graph.storage_ids is None:
        return {}
    owner = np.repeat(np.arange(graph.num_nodes), np.diff(graph.entry_offsets))
    last: dict[int, int] = {}
    for node, storage in zip(owner.tolist(), graph.storage_ids.tolist(), strict=True):
        if storage >= 0 and graph.kinds[node] in (NodeKind.OPERATOR, NodeKind.COPY):
            last[storage] = max(node, last.get(storage, -1))
    first = graph.entry_offsets[owner]
    return {
        (node, entry - int(first[entry])): last[storage]
        for entry, (node, storage) in enumerate(
            zip(owner.tolist(), graph.storage_ids.tolist(), strict=True)
        )
        if storage >= 0 and last.get(storage, -1) > node
    }


def reuse_issue(entries: Collection[Entry], file: str) -> Issue:
    """Return the warning for the entries that were overwritten."""
    return Issue(
        "buffer-reused",
        IssueSeverity.WARNING,
        f"{counted(len(entries), 'entry')} {agree(len(entries), 'was')} read after a later node "
        f"had written to {agree(len(entries), 'its')} storage (TVM v0.6 and v0.7 read the tensors "
        "when the whole run is over): these are not the values the node computed",
        nodes=tuple(dict.fromkeys(node for node, _ in entries)),
        entries=tuple(entries)[:_SHOWN],
        file=file,
    )


def reuse_note(graph: Graph, entry: Entry, writer: int) -> str:
    """Return what the tensor of an overwritten entry must say."""
    storage = None
    if graph.storage_ids is not None:
        storage = int(graph.storage_ids[graph.entry_id(*entry)])
    return (
        f"read after node {writer} ({graph.names[writer]}) wrote to the same storage ({storage}): "
        "these are not this node's values"
    )
