"""Which nodes of a graph each event of a dump is of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tvmdbg_widgets.model.base.strings import StringColumn

#: What is told of an event: names and texts.
Facts: TypeAlias = tuple[tuple[str, str], ...]
#: How an event was tied to nodes, in words, by the number that ``EventNodes.how`` holds.
EXACT, BY_NAME, BY_ORDER, WHOLE_INSTRUCTION, UNMAPPED, NONE, REORDERED = range(7)
#: By the operators in the delegate's own graph.
MATCHED, MATCHED_BY_ORDER, MATCHED_UNSURE = range(7, 10)
HOW = (
    "exact identifier",
    "by name",
    "by order",
    "whole instruction",
    "unmapped",
    "not of an instruction",
    "by order, which partitioning may have changed",
    "the delegate's graph, exact",
    "the delegate's graph, by order",
    "the delegate's graph; which operator of the edge program it came from is not sure",
)


@dataclass(frozen=True, eq=False)
class EventNodes:
    """The nodes of each of E events.

    Attributes
    ----------
    set_of : int32 [E]
        Number of the event's set of nodes, -1 where it has none.
    sets : tuple of tuple of int
        Node ids, ascending. No two are alike but those apart.
    how : uint8 [E]
        Index into :data:`HOW`.
    calls : Mapping of (int, int) to int
        The set of each delegate call, by chain and instruction.
    backends : Mapping of (int, int) to str
        Id of the backend of each delegate call, where a file names it.
    lowered : Mapping of (int, int) to tuple of int
        The nodes of each delegate call in the order of its lowered subgraph, which is that of the
        call's outputs.
    titles : Mapping of int to str
        What the time of a set is spent on, where that is no operator of its nodes.
    apart : frozenset of int
        Sets whose time is of no single node: what lowering inserted into a call, and what is left
        of a call whose events are of operators.
    elsewhere : Mapping of int to str
        The method of each event of a delegate that another method than the graph's called.
    of_table : bool
        Whether the events are rows of a table, tied to instructions by their order.
    about : Mapping of int to tuple of (str, str)
        What the delegate's graph tells of its events, by event.
    """

    set_of: npt.NDArray[np.int32]
    sets: tuple[tuple[int, ...], ...]
    how: npt.NDArray[np.uint8]
    calls: Mapping[tuple[int, int], int]
    backends: Mapping[tuple[int, int], str]
    lowered: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    titles: Mapping[int, str] = field(default_factory=dict)
    elsewhere: Mapping[int, str] = field(default_factory=dict)
    apart: frozenset[int] = frozenset()
    of_table: bool = False
    about: Mapping[int, Facts] = field(default_factory=dict)

    def of_call(self, at: tuple[int, int]) -> tuple[int, ...]:
        """Return the nodes of the delegate call of an instruction."""
        return self.sets[self.calls[at]] if at in self.calls else ()

    def of(self, event: int) -> tuple[int, ...]:
        """Return the nodes of an event."""
        number = int(self.set_of[event])
        return self.sets[number] if number >= 0 else ()


def kernel_operator(name: str) -> str:
    """Return the operator that a kernel's event is of: ``addmm`` of ``native_call_addmm.out``."""
    return name.removeprefix("native_call_").partition(".")[0]


def kernel_names(
    names: StringColumn, chain: npt.NDArray[np.int64], instruction: npt.NDArray[np.int64]
) -> dict[tuple[int, int], str]:
    """Return the kernel that each instruction called, by chain and instruction."""
    kernels = np.array([name.startswith("native_call_") for name in names.unique], np.bool_)
    rows = np.flatnonzero(kernels[names.codes] & (chain >= 0))
    keys = np.stack([chain[rows], instruction[rows]], axis=1)
    distinct, first = np.unique(keys, axis=0, return_index=True)
    return {
        (int(c), int(i)): names[int(rows[at])]
        for (c, i), at in zip(distinct.tolist(), first.tolist(), strict=True)
    }
