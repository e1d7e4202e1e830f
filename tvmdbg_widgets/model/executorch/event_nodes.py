"""Nodes of a graph by event of a dump, titles of calls, files and delegation of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted, html_table, percent
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.executorch.delegate_graph import Insides
from tvmdbg_widgets.model.executorch.etdump import CALL, ETDump, backend_title, named
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.model.executorch.program import Program
from tvmdbg_widgets.model.executorch.scalar_types import FlatTensor
from tvmdbg_widgets.sources.byte_source import ByteSource

Facts: TypeAlias = tuple[tuple[str, str], ...]
#: Descriptions of the kinds of matches in ``EventNodes.how``.
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
    """The nodes of E events."""

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
    """Return the operator of a kernel's event: ``addmm`` of ``native_call_addmm.out``."""
    return name.removeprefix("native_call_").partition(".")[0]


def of_kernels(names: StringColumn) -> npt.NDArray[np.bool_]:
    """Return the events with names of kernels."""
    kernels = np.array([name.startswith("native_call_") for name in names.unique] or [False])
    is_kernel: npt.NDArray[np.bool_] = kernels[names.codes]
    return is_kernel


def kernel_names(
    names: StringColumn, chain: npt.NDArray[np.int64], instruction: npt.NDArray[np.int64]
) -> dict[tuple[int, int], str]:
    """Return the called kernels by chain and instruction."""
    rows = np.flatnonzero(of_kernels(names) & (chain >= 0))
    keys = np.stack([chain[rows], instruction[rows]], axis=1)
    distinct, first = np.unique(keys, axis=0, return_index=True)
    called = map(names.__getitem__, rows[first].tolist())
    return dict(zip(map(tuple, distinct.tolist()), called, strict=True))


@dataclass(frozen=True, eq=False)
class ExecuTorchFiles:
    """The files of a run; all may be missing."""

    dump: ETDump | None = None
    record: ETRecord | None = None
    program: Program | None = None
    buffer: ByteSource | None = None
    method: str = "forward"
    event_nodes: EventNodes | None = None
    execution: int = -1
    program_source: ByteSource | None = None
    named_data: tuple[tuple[FlatTensor, ByteSource], ...] = ()
    insides: Insides = field(default_factory=Insides)
    delegation: DelegationInfo | None = None


_SHOWN = 8


@dataclass(frozen=True, repr=False)
class DelegationInfo:
    """Counts of ``get_delegation_info`` in a lowered program; None if missing in the text.

    Source: ``devtools/backend_debug/delegation_info.py`` @ v1.4.1 (``exir/backend/utils.py`` up to
    v0.5).

    Attributes
    ----------
    subgraphs : int or None
        Delegated subgraphs, each a call of a delegate.
    delegated, non_delegated : int or None
        Nodes inside delegated subgraphs, and outside of them.
    operators : Mapping of str to (int, int)
        The same by operator, as far as the table was pasted.
    complete : bool
        Whether the rows of the table add up to ``delegated`` and ``non_delegated``.
    """

    subgraphs: int | None = None
    delegated: int | None = None
    non_delegated: int | None = None
    operators: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every operator is in the table."""
        sums = tuple(sum(counts) for counts in zip(*self.operators.values(), strict=True))
        return bool(sums) and sums == (self.delegated, self.non_delegated)

    @property
    def share(self) -> float:
        """Delegated nodes of all nodes, from 0 to 1; NaN if a count is missing."""
        if self.delegated is None or self.non_delegated is None:
            return float("nan")
        total = self.delegated + self.non_delegated
        return self.delegated / total if total else float("nan")

    def left_out(self) -> dict[str, int]:
        """Return the operators that no delegate took, most frequent first."""
        left = {name: count for name, (_, count) in self.operators.items() if count}
        return dict(sorted(left.items(), key=lambda item: -item[1]))

    def to_dataframe(self) -> Any:
        """Return one row an operator, with the columns of ExecuTorch's table, without its total.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        counts = list(self.operators.values())
        return data_frame(
            {
                "op_type": list(self.operators),
                "occurrences_in_delegated_graphs": [count[0] for count in counts],
                "occurrences_in_non_delegated_graphs": [count[1] for count in counts],
            }
        )

    @property
    def title(self) -> str:
        """The counts in one sentence."""
        if self.delegated is None or self.non_delegated is None:
            text = f"{counted(len(self.operators), 'operator')}, their totals are not in the text"
        else:
            nodes = counted(self.delegated + self.non_delegated, "node")
            text = f"{self.delegated:,} of {nodes} delegated ({percent(self.share)})"
        if self.subgraphs is None:
            return text
        return f"{text} in {counted(self.subgraphs, 'subgraph')}"

    def _repr_html_(self) -> str:
        rows = sorted(self.operators.items(), key=lambda item: (-item[1][1], -item[1][0]))
        cells = [
            [name, f"{inside:,}", f"{outside:,}", percent(inside / max(1, inside + outside))]
            for name, (inside, outside) in rows
        ]
        head = ("operator", "delegated", "not delegated", "delegated share")
        below = [] if self.complete else ["The table does not hold every operator."]
        return html_table(head, cells, caption=self.title, below=below)

    def __repr__(self) -> str:
        lines = [f"DelegationInfo: {self.title}"]
        left = self.left_out()
        lines += [f"  {one_line(name)}: {count:,} not delegated" for name, count in left.items()][
            :_SHOWN
        ]
        if len(left) > _SHOWN:
            lines.append(f"  … {len(left) - _SHOWN} more in left_out()")
        if self.operators and not self.complete:
            lines.append("  the table does not hold every operator")
        return "\n".join(lines)


Instruction = tuple[int, int]


def call_titles(backends: Mapping[Instruction, str]) -> dict[Instruction, str]:
    """Return ``"XNNPACK call 1 of 2"`` by instruction; the only one of a backend has no number."""
    by_backend: dict[str, list[Instruction]] = defaultdict(list)
    for at in sorted(backends):
        by_backend[backend_title(backends[at])].append(at)
    return {
        at: f"{backend} call" + (f" {number} of {len(places)}" if len(places) > 1 else "")
        for backend, places in by_backend.items()
        for number, at in enumerate(places, 1)
    }


def recorded_titles(dump: ETDump, nodes: EventNodes, method: str = "") -> dict[Instruction, str]:
    """Return the titles of a method's calls, by its program and its dump; "" is the open method."""
    events = np.flatnonzero(named(dump, CALL)).tolist()
    ran = [dump.place(event) for event in events if nodes.elsewhere.get(event, "") == method]
    known = () if method else (*nodes.backends, *nodes.calls)
    return call_titles({at: nodes.backends.get(at, "") for at in (*known, *ran)})


def with_operators(title: str, count: int) -> str:
    """Return ``"XNNPACK call 1 of 2 · 20 operators"``; one operator is not counted."""
    return f"{title} · {counted(count, 'operator')}" if count > 1 else title
