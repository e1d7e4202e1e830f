"""Which nodes of a graph each event of a dump is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

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
    """The nodes of each of E events."""

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
