"""Entries of one slot that are live together, and what they say of the slots as a plan."""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.lives import Ints, Lives
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind

Slots = npt.NDArray[np.int32]
Kinds = npt.NDArray[np.uint8]

#: Slots taken over in another way than a planner's: at least so many, and this share of all, tell
#: against the list; one in so many leaves it planned.
_WRONG: Final = 3
_SHARE: Final = 1 / 4
_SURE: Final = 10
#: Op kinds that read a value several times.
_REREAD: Final = frozenset({"convolution", "matmul"})


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


class Credibility(enum.Enum):
    """What a list of storage ids is worth."""

    PLANNED = "planned"
    UNCONFIRMED = "unconfirmed"
    MEANINGLESS = "meaningless"


def read_repeatedly(op_kinds: StringColumn) -> npt.NDArray[np.bool_]:
    """Whether nodes read values again after they wrote others, so that none runs in place."""
    names = np.array([each in _REREAD for each in op_kinds.unique] or [False])
    found: npt.NDArray[np.bool_] = names[op_kinds.codes]
    return found


def credibility(
    kinds: Kinds, slot: Slots, losses: int, in_place: int, spoilt: int = 0
) -> Credibility:
    """Tell whether a planner can have made the slots of a graph.

    A planner gives an output the slot of one that nobody needs any more, and no slot of an input.
    It overwrites nothing that is read later, and TVM's none that the same node reads
    (``StorageAllocator``, ``src/relay/backend/graph_plan_memory.cc`` @ v0.19.0). So each slot taken
    over in another way counts against the list, and each taken over rightly for it.
    """
    writes = (slot >= 0) & ((kinds == NodeKind.OPERATOR) | (kinds == NodeKind.COPY))
    given = np.unique(slot[(slot >= 0) & (kinds <= NodeKind.PARAMETER)])
    own = slot[writes]
    fed = int(np.isin(own, given).sum())
    taken = len(own) - len(np.unique(own)) + fed
    wrong = losses + in_place + fed
    if (losses or spoilt) and wrong >= max(_WRONG, taken * _SHARE):
        return Credibility.MEANINGLESS
    return Credibility.PLANNED if wrong * _SURE <= taken else Credibility.UNCONFIRMED
