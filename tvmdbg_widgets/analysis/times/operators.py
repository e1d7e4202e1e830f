"""The operators of a run with their times: what the printed table says, and more exactly."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tvmdbg_widgets.analysis.times.keys import NO_WORK
from tvmdbg_widgets.analysis.times.row_kinds import row_kinds
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.tables import html_table, more_text, text_lines
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.node_words import node_op_kinds
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.timeline.words import timeline_words

if TYPE_CHECKING:
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.model.timeline.words import TimelineWords

_LINES_SHOWN = 40


@dataclass(frozen=True)
class Operator:
    """One row of the table: an operator with its time, a call of several, or slices of one name.

    Attributes
    ----------
    node : int
        -1 of a call of several operators, and of slices of no node.
    name, func_name, op_kind : str
        The kind is ``"loading"`` for what is no part of an execution, ``"runtime"`` for what an
        execution takes outside of its instructions, ``"profiler"`` for what a profiler adds.
    time_ns : float
        Mean time in nanoseconds, NaN unknown.
    share : float
        Of ``run.timeline.total_ns``, 0 … 1; NaN unknown, and of loading.
    repeats : int
        Number of measured repeats behind the statistics below; 0 where none are known.
    p10_ns, p90_ns : float
    noisy : bool
        The repeats spread widely, see :class:`~tvmdbg_widgets.model.timeline.node_times.NodeTimes`.
    outputs : str
        dtype and shape of each output.
    trust : Trust
        How surely the time is this node's.
    slices : int
        Slices of the node, the call or the name.
    within_ns : float
        Where no nodes are known: sum of the slices' durations, with what ran inside them. A
        sum of nested slices counts the inner ones again; ``time_ns`` is the self time.
    nodes : tuple of int
        The operators that the time is of together; empty where they are unknown.
    call : str
        Of an operator without a time of its own: the call that has it.
    """

    node: int
    name: str
    func_name: str
    op_kind: str
    time_ns: float
    share: float
    repeats: int
    p10_ns: float
    p90_ns: float
    noisy: bool
    outputs: str
    trust: Trust
    slices: int = 0
    within_ns: float = float("nan")
    nodes: tuple[int, ...] = ()
    call: str = ""

    @property
    def time_text(self) -> str:
        """The time as it is told; ``"in XNNPACK call 1 of 2"`` where only a call's is known."""
        return f"in {self.call}" if self.call else duration_text(self.time_ns)

    @property
    def share_text(self) -> str:
        """The share as it is told; a dash where nothing has one."""
        return "–" if np.isnan(self.share) and self.is_apart else percent(self.share)

    @property
    def is_apart(self) -> bool:
        """Whether it is no work of an execution, or has its time in a call."""
        return bool(self.call) or self.op_kind in NO_WORK.values()


class _Rows(Sequence[Operator]):
    """Rows that are made when they are looked at first: a run may have hundreds of thousands."""

    def __init__(self, nodes: Sequence[int], make: Callable[[int], Operator]) -> None:
        self._nodes = nodes
        self._make = make

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Operator]:
        return map(self._make, self._nodes)

    @overload
    def __getitem__(self, index: int) -> Operator: ...
    @overload
    def __getitem__(self, index: slice) -> _Rows: ...
    def __getitem__(self, index: int | slice) -> Operator | _Rows:
        if isinstance(index, slice):
            return _Rows(self._nodes[index], self._make)
        return self._make(self._nodes[index])

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)


class Operators(Sequence[Operator]):
    """A table of operators; shows as text and, in a notebook, as an HTML table."""

    def __init__(
        self,
        rows: Sequence[Operator],
        caption: str,
        words: TimelineWords | None = None,
        run: RunParts | None = None,
    ) -> None:
        self._rows = rows
        self.caption = caption
        self._words = words
        self._run = run

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Operator]:
        return iter(self._rows)

    @overload
    def __getitem__(self, index: int) -> Operator: ...
    @overload
    def __getitem__(self, index: slice) -> Operators: ...
    def __getitem__(self, index: int | slice) -> Operator | Operators:
        if isinstance(index, slice):
            return Operators(self._rows[index], self.caption, self._words)
        return self._rows[index]

    def whose(self, row: Operator) -> str:
        """What the time of a row is the time of: ``"node 22"``, ``"call 22"``, ``"3 slices"``."""
        if row.node < 0:
            nodes = f"nodes {row.nodes[0]} … {row.nodes[-1]}" if row.nodes else ""
            return nodes or counted(row.slices, "slice")
        return f"{'node' if self._words is None else self._words.item} {row.node}"

    def as_tvm(self, release: str | None = None) -> str:
        """Return the table as TVM's debugger prints it; where one was read, byte for byte.

        Elsewhere it is printed anew from graph and node times, with the columns of the release:
        named, or told by the files. ``Measurements(us)`` holds the mean where that alone is known.

        ::

            print(run.table().as_tvm(release="0.19"))

        Parameters
        ----------
        release
            ``"0.5"`` to ``"0.19"``.

        Raises
        ------
        ValueError
            These are some of the operators, no release of that name has the table, or the run
            lacks what it prints.
        """
        from tvmdbg_widgets.analysis.times.as_tvm import as_tvm

        if self._run is None:
            raise ValueError("TVM prints all operators: run.table().as_tvm()")
        return as_tvm(self._run, release)

    def to_dataframe(self) -> Any:
        """Return one row an operator as a ``pandas.DataFrame`` (times in nanoseconds)."""
        fields, rows = Operator.__dataclass_fields__, list(self._rows)
        columns = {name: [getattr(row, name) for row in rows] for name in fields}
        columns["trust"] = [row.trust.label for row in rows]
        return data_frame(columns)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """The heading, and the first lines."""
        head = ["node", "name", "kind", "time", "share", "p10 … p90", "outputs", "trust"]
        cells = [_row_cells(row) for row in self._rows[:_LINES_SHOWN]]
        words = self._words
        if words is None:
            return head, cells
        if words.by_name:
            head = ["name", "slices", words.time, "share"]
            return self._named(head, nested=words.time == "self time")
        head[0], head[3] = words.item, words.time
        if not self._numbered:
            return head[1:5], [cell[1:5] for cell in cells]
        kept = [0, 1, 3, 4, 5] if words.repeats else [0, 1, 3, 4]
        return [head[i] for i in kept], [[cell[i] for i in kept] for cell in cells]

    @property
    def _numbered(self) -> bool:
        return any(row.node >= 0 for row in self._rows[:_LINES_SHOWN])

    def _named(self, head: list[str], *, nested: bool) -> tuple[list[str], list[list[str]]]:
        cells = [
            [
                one_line(row.name),
                f"{row.slices:,}",
                duration_text(row.time_ns),
                row.share_text,
                duration_text(row.within_ns),
            ]
            for row in self._rows[:_LINES_SHOWN]
        ]
        if nested:
            return [*head, "durations, children included"], cells
        return head, [cell[:-1] for cell in cells]

    def __repr__(self) -> str:
        head, rows = self._cells()
        lines = text_lines([head, *rows])
        return "\n".join([self.caption, *lines, *more_text(len(self), _LINES_SHOWN)])

    def _repr_html_(self) -> str:
        head, rows = self._cells()
        more = more_text(len(self), _LINES_SHOWN)
        return html_table(head, rows, caption=self.caption, below=more)


def _row_cells(row: Operator) -> list[str]:
    spread = (
        f"{duration_text(row.p10_ns)} … {duration_text(row.p90_ns)}" if row.repeats > 1 else "-"
    )
    return [
        str(row.node) if row.node >= 0 else "–",
        one_line(row.name),
        row.op_kind,
        row.time_text,
        row.share_text,
        spread + (" noisy" if row.noisy else ""),
        row.outputs,
        row.trust.label,
    ]


def operators(parts: RunParts, top: int | None = None) -> Operators:
    """Return the operators of a run: all in execution order, or the ``top`` slowest.

    Raises
    ------
    TypeError, ValueError
        ``top`` is no whole number, or below zero.

    Where there is no graph the rows are what the timeline names.
    """
    if top is not None and operator.index(top) < 0:
        raise ValueError(f"the number of operators must not be negative, found {top}")
    graph, timeline = parts.graph, parts.timeline
    words = None if timeline is None else timeline_words(timeline, graph is not None)
    made = _Making(parts)
    keys = made.ranked(top) if top is not None else made.every()
    rows = _Rows(keys, cache(made.row))
    noun, together = ("operator", "") if words is None else (words.row, words.together)
    count = len(keys) if top is not None else made.count
    which = (
        counted(count, noun)
        if top is None
        else f"the {count:,} slowest {noun}{'' if count == 1 else 's'}"
    )
    total = float("nan") if timeline is None else timeline.account.whole_ns
    took = (
        "no times" if timeline is None or not made.timed else f"{duration_text(total)} {together}"
    )
    shown = words if graph is None else None
    caption = f"{parts.title}: {which}; {took}"
    return Operators(rows, caption, shown, parts if top is None else None)


class _Making:
    """Makes rows of the operators of a run: a key is a node, or behind all nodes a row."""

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
        """Whether the time of anything is known."""
        return self._account is not None and bool(self._account.operators.any())

    @cached_property
    def count(self) -> int:
        """How many rows are operators, or what stands for them."""
        if self._graph is not None:
            return int(np.count_nonzero(self._graph.kinds >= NodeKind.OPERATOR))
        if self._account is None or self._nodes:
            return self._nodes
        return int(np.count_nonzero(self._account.operators))

    def every(self) -> list[int]:
        """Return the keys of all rows, nodes in their order, each call before its first node."""
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
        # Rows without nodes by their first slice, what is no work behind the others.
        tie = self._account.role[others].astype(np.int64) * (1 << 40) + self._account.first[others]
        gap = ~self._account.operators[others]
        key = np.concatenate((ids.astype(np.float64), at))
        later = np.concatenate((np.zeros(len(ids), np.int64), tie + gap * (1 << 39)))
        order = np.lexsort((later, key))
        found: list[int] = np.concatenate((ids, self._nodes + others))[order].tolist()
        return found

    def ranked(self, top: int) -> list[int]:
        """Return the keys of the slowest."""
        account = self._account
        if account is None:
            return []
        rows = account.ranked
        if self._graph is not None:
            runs = np.append(self._graph.kinds >= NodeKind.OPERATOR, True)
            rows = rows[account.node[rows] < self._nodes]
            rows = rows[runs[account.node[rows]]]
        rows = rows[:top]
        found: list[int] = np.where(
            account.node[rows] >= 0, account.node[rows], self._nodes + rows
        ).tolist()
        return found

    def row(self, key: int) -> Operator:
        """Return the row of a key."""
        return self._of_node(key) if key < self._nodes else self._of_row(key - self._nodes)

    def _of_node(self, node: int) -> Operator:
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
        return Operator(
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
            call=shared.names[call].partition(" · ")[0] if shared is not None and call >= 0 else "",
        )

    def _of_row(self, row: int) -> Operator:
        account, timeline = self._account, self._timeline
        assert account is not None and timeline is not None  # noqa: S101, PT018
        call, name = int(account.call[row]), int(account.name[row])
        made = Operator(
            node=-1,
            name=timeline.slice_names.unique[name] if name >= 0 else "",
            func_name="",
            op_kind=self._row_kinds[row],
            time_ns=float(account.ns[row]),
            share=float(account.share[row]),
            repeats=0,
            p10_ns=float("nan"),
            p90_ns=float("nan"),
            noisy=False,
            outputs="",
            trust=Trust.ABSENT,
            slices=int(account.slices[row]),
            within_ns=float(account.within_ns[row]),
        )
        if timeline.shared is None or call < 0:
            return made
        found = timeline.shared.statistics()[call]
        nodes = timeline.shared.of(call)
        return replace(
            made,
            name=timeline.shared.names[call],
            repeats=found.n,
            p10_ns=found.p10,
            p90_ns=found.p90,
            noisy=found.noisy,
            trust=Trust.EXACT if nodes else Trust.ABSENT,
            nodes=nodes,
        )

    @cached_property
    def _row_kinds(self) -> list[str]:
        return [] if self._timeline is None else row_kinds(self._timeline, self._graph)

    def _kind(self, node: int) -> str:
        """Op kind of a node: the graph's; without one that of the name of its slices."""
        if self._graph is not None:
            return node_op_kinds(self._graph)[node]
        row = int(self._row_of[node])
        return self._row_kinds[row] if row >= 0 else "other"

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
