"""Entries of one slot that are live together: in place, without copy, or by mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.memory.lives import Ints, Lives
    from tvmdbg_widgets.model.graph.graph import Graph

Slots = npt.NDArray[np.int32]


class Loss(NamedTuple):
    """An entry that is overwritten while it is still needed.

    ``writer`` is the node that writes to its slot first, ``reader`` the last node that reads the
    entry, -1 where it is an output of the graph or a parameter.
    """

    entry: Entry
    writer: int
    reader: int


def losses(graph: Graph, life: Lives, slot: Slots, sizes: Ints) -> tuple[Loss, ...]:
    """Return every entry that another one takes the place of before it was read last.

    What a node writes over its own input is no loss. ``__nop`` writes nothing
    (``GraphExecutor::CreateTVMOp`` @ v0.19.0); entries of no or unknown size lose nothing.
    """
    kinds = graph.kinds[life.owner]
    some = (slot >= 0) & (sizes > 0)
    step = np.where(kinds < NodeKind.OPERATOR, -1, life.first)
    span = len(life.order) + 2
    key = slot.astype(np.int64) * span + step + 1
    writes = some & ((kinds == NodeKind.OPERATOR) | (kinds == NodeKind.COPY))
    writers = np.flatnonzero(writes)
    writers = writers[np.argsort(key[writers], kind="stable")]
    kept = np.flatnonzero(some & (life.needed > step))
    low = np.searchsorted(key[writers], key[kept])
    until = slot[kept].astype(np.int64) * span + life.needed[kept] + 1
    high = np.searchsorted(key[writers], until)
    lost = high - low > writes[kept]
    kept, low = kept[lost], low[lost]
    first = writers[low]
    own = first == kept
    first[own] = writers[low[own] + 1]
    outputs = kept - graph.entry_offsets[life.owner[kept]]
    order = np.r_[life.order, -1]
    return tuple(
        Loss(Entry(node, output), writer, reader)
        for node, output, writer, reader in zip(
            life.owner[kept].tolist(),
            outputs.tolist(),
            life.owner[first].tolist(),
            order[life.needed[kept]].tolist(),
            strict=True,
        )
    )


def written_over(graph: Graph, life: Lives, slot: Slots) -> tuple[Slots, Slots]:
    """Return the entries that lie where their node's inputs do: by operators, and by reshapes."""
    known = np.flatnonzero(graph.edge_source >= 0)
    read = graph.entry_offsets[graph.edge_source[known]] + graph.edge_output[known]
    span = int(slot.max(initial=0)) + 2
    inputs = graph.edge_target[known].astype(np.int64) * span + slot[read] + 1
    outputs = life.owner * span + slot + 1
    same = (slot >= 0) & np.isin(outputs, inputs)
    is_nop = graph.kinds[life.owner] == NodeKind.NOP
    return (
        np.flatnonzero(same & ~is_nop).astype(np.int32),
        np.flatnonzero(same & is_nop).astype(np.int32),
    )
