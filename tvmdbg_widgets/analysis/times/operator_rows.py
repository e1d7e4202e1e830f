"""Rows of the table of operators: choice, order and times."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np

from tvmdbg_widgets.analysis.times.keys import row_kinds
from tvmdbg_widgets.analysis.times.operators import LazyRows, OperatorRow, Operators
from tvmdbg_widgets.model.base.numbers import Trust, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import node_label, node_op_kinds
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.node_sets import NodeStatistics
from tvmdbg_widgets.model.timeline.words import timeline_words


def operators(parts: RunParts, top: int | None = None) -> Operators:
    """Return the operators of a run: all in execution order, or the ``top`` slowest."""
    if top is not None and operator.index(top) < 0:
        raise ValueError(f"the number of operators must not be negative, found {top}")
    graph, timeline = parts.graph, parts.timeline
    words = None if timeline is None else timeline_words(timeline, graph is not None)
    made = _RowBuilder(parts)
    keys = made.ranked(top) if top is not None else made.every()
    rows = LazyRows(keys, cache(made.row))
    noun, together = ("operator", "") if words is None else (words.row, words.together)
    count = len(keys) if top is not None else made.count
    which = counted(count, noun) if top is None else f"the {counted(count, f'slowest {noun}')}"
    total = float("nan") if timeline is None else timeline.account.whole_ns
    took = (
        "no times" if timeline is None or not made.timed else f"{duration_text(total)} {together}"
    )
    shown = words if graph is None else None
    caption = f"{parts.title}: {which}; {took}"
    return Operators(rows, caption, shown, parts if top is None else None)


class _RowBuilder:
    """Builder of operator rows: keys are nodes, and rows without a node behind them."""

    def __init__(self, parts: RunParts) -> None:
        self._parts, self._graph, self._timeline = parts, parts.graph, parts.timeline
        timeline = self._timeline
        self._account = None if timeline is None else timeline.account
        known = 0 if timeline is None else timeline.num_nodes
        self._nodes = known if self._graph is None else self._graph.num_nodes
        self._row_of = np.full(self._nodes, -1, np.int64)
        if self._account is not None:
            rows = np.flatnonzero((self._account.node >= 0) & (self._account.node < self._nodes))
            self._row_of[self._account.node[rows]] = rows
        self._call_of = np.full(self._nodes, -1, np.int64)
        if timeline is not None and timeline.shared is not None:
            own = timeline.shared.smallest(self._nodes)
            self._call_of = np.where(np.isnan(timeline.node_ns), own, -1)

    @property
    def timed(self) -> bool:
        return self._account is not None and bool(self._account.operators.any())

    @cached_property
    def count(self) -> int:
        if self._graph is not None:
            return int(np.count_nonzero(self._graph.kinds >= NodeKind.OPERATOR))
        if self._account is None or self._nodes:
            return self._nodes
        return int(np.count_nonzero(self._account.operators))

    def every(self) -> list[int]:
        ids = np.arange(self._nodes)
        if self._graph is not None:
            ids = np.flatnonzero(self._graph.kinds >= NodeKind.OPERATOR)
        if self._account is None:
            return ids.tolist()
        others = np.flatnonzero(self._account.node < 0)
        at = np.full(len(others), float(self._nodes))
        shared = None if self._timeline is None else self._timeline.shared
        for i, call in enumerate(self._account.call[others].tolist()):
            if shared is not None and call >= 0 and (nodes := shared.of(call)):
                at[i] = nodes[0] - 0.5
        # Rows without nodes are ordered by first slice, slices that are no work last.
        tie = self._account.role[others].astype(np.int64) * (1 << 40) + self._account.first[others]
        gap = ~self._account.operators[others]
        key = np.concatenate((ids.astype(np.float64), at))
        later = np.concatenate((np.zeros(len(ids), np.int64), tie + gap * (1 << 39)))
        order = np.lexsort((later, key))
        keys: list[int] = np.concatenate((ids, self._nodes + others))[order].tolist()
        return keys

    def ranked(self, top: int) -> list[int]:
        account = self._account
        if account is None:
            return []
        rows = account.ranked
        if self._graph is not None:
            runs = np.append(self._graph.kinds >= NodeKind.OPERATOR, True)
            rows = rows[account.node[rows] < self._nodes]
            rows = rows[runs[account.node[rows]]]
        rows = rows[:top]
        keys: list[int] = np.where(
            account.node[rows] >= 0, account.node[rows], self._nodes + rows
        ).tolist()
        return keys

    def row(self, key: int) -> OperatorRow:
        return self._of_node(key) if key < self._nodes else self._of_row(key - self._nodes)

    def _of_node(self, node: int) -> OperatorRow:
        graph, timeline = self._graph, self._timeline
        times = timeline.node(node) if timeline is not None else None
        at, call = int(self._row_of[node]), int(self._call_of[node])
        shared = None if timeline is None else timeline.shared
        outputs = ""
        if graph is not None:
            view = graph.nodes[node]
            outputs = ", ".join(
                f"{one_line(dtype or '?')}{list(shape) if shape is not None else '?'}"
                for dtype, shape in zip(view.dtypes, view.shapes, strict=True)
            )
        return OperatorRow(
            node=node,
            name=self._names[node],
            func_name=graph.func_names[node] if graph is not None else "",
            op_kind=self._kind(node),
            time_ns=float(timeline.node_ns[node]) if timeline is not None else float("nan"),
            share=float(self._account.share[at]) if self._account and at >= 0 else float("nan"),
            repeats=len(timeline.repeats(node)) if timeline is not None else 0,
            p10_ns=times.p10 if times is not None else float("nan"),
            p90_ns=times.p90 if times is not None else float("nan"),
            noisy=bool(times is not None and times.noisy),
            outputs=outputs,
            trust=Trust.ABSENT if timeline is None else Trust(int(timeline.node_trust[node])),
            slices=len(timeline.slices_of(node)) if timeline is not None else 0,
            nodes=(node,),
            label=node_label(graph, node) if graph is not None else "",
            call=shared.names[call].partition(" · ")[0] if shared is not None and call >= 0 else "",
            rounding_ns=0.0 if timeline is None else timeline.rounding_ns,
        )

    def _of_row(self, row: int) -> OperatorRow:
        account, timeline = self._account, self._timeline
        assert account is not None and timeline is not None  # noqa: S101, PT018
        call, name = int(account.call[row]), int(account.name[row])
        shared = timeline.shared if call >= 0 else None
        times = None if shared is None else self._call_statistics[call]
        nodes = () if shared is None else shared.of(call)
        own = timeline.slice_names.unique[name] if name >= 0 else ""
        return OperatorRow(
            node=-1,
            name=own if shared is None else shared.names[call],
            func_name="",
            op_kind=self._row_kinds[row],
            time_ns=float(account.ns[row]),
            share=float(account.share[row]),
            repeats=0 if times is None else times.n,
            p10_ns=float("nan") if times is None else times.p10,
            p90_ns=float("nan") if times is None else times.p90,
            noisy=times is not None and times.noisy,
            outputs="",
            trust=Trust.EXACT if nodes else Trust.ABSENT,
            slices=int(account.slices[row]),
            within_ns=float(account.within_ns[row]),
            nodes=nodes,
            rounding_ns=timeline.rounding_ns,
        )

    @cached_property
    def _call_statistics(self) -> NodeStatistics:
        assert self._timeline is not None and self._timeline.shared is not None  # noqa: S101, PT018
        return self._timeline.shared.statistics()

    @cached_property
    def _row_kinds(self) -> list[str]:
        return [] if self._timeline is None else row_kinds(self._timeline, self._graph)

    def _kind(self, node: int) -> str:
        if self._graph is not None:
            return self._node_kinds[node]
        row = int(self._row_of[node])
        return self._row_kinds[row] if row >= 0 else "other"

    @cached_property
    def _node_kinds(self) -> Sequence[str]:
        return () if self._graph is None else node_op_kinds(self._graph)

    @cached_property
    def _names(self) -> Sequence[str]:
        graph, timeline = self._graph, self._timeline
        if graph is not None:
            return graph.names
        names = [""] * self._nodes
        if timeline is not None:
            for node, name in zip(timeline.slice_node.tolist(), timeline.slice_names, strict=True):
                if node >= 0:
                    names[node] = name
        return names
