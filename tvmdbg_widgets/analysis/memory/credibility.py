"""How far the storage ids of a graph look like those of a memory planner."""

from __future__ import annotations

import enum

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.graph.nodes import NodeKind

Kinds = npt.NDArray[np.uint8]
Slots = npt.NDArray[np.int32]

_SURE = 10
_WRONG = 3
_SHARE = 1 / 4


class Credibility(enum.Enum):
    """What a list of storage ids is worth."""

    PLANNED = "planned"
    UNCONFIRMED = "unconfirmed"
    MEANINGLESS = "meaningless"


def credibility(kinds: Kinds, slot: Slots, losses: int, in_place: int) -> Credibility:
    """Tell whether a planner can have made the slots of a graph.

    A planner gives an output the slot of one that nobody needs any more, and no slot of an input.
    It overwrites nothing that is read later, and TVM's none that the same node reads
    (``StorageAllocator``, ``src/relay/backend/graph_plan_memory.cc`` @ v0.19.0). So each slot taken
    over in another way counts against the list, and each taken over rightly for it.

    Parameters
    ----------
    kinds, slot
        Of each entry, the kind of its node and its slot.
    losses, in_place
        How many entries are lost, and how many are written over an input.
    """
    writes = (slot >= 0) & ((kinds == NodeKind.OPERATOR) | (kinds == NodeKind.COPY))
    given = np.unique(slot[(slot >= 0) & (kinds <= NodeKind.PARAMETER)])
    own = slot[writes]
    fed = int(np.isin(own, given).sum())
    taken = len(own) - len(np.unique(own)) + fed
    wrong = losses + in_place + fed
    if losses and wrong >= max(_WRONG, taken * _SHARE):
        return Credibility.MEANINGLESS
    return Credibility.PLANNED if wrong * _SURE <= taken else Credibility.UNCONFIRMED
