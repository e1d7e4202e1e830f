"""The operators of a run with their times: what the printed table says, and more exactly."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.tables import html_table, more_text, text_lines
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind
from tvmdbg_widgets.model.timeline.kinds import name_kinds
from tvmdbg_widgets.model.timeline.words import timeline_words

if TYPE_CHECKING:
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.model.timeline.timeline import Timeline
    from tvmdbg_widgets.model.timeline.words import TimelineWords

_LINES_SHOWN = 40


@dataclass(frozen=True)
class Operator:
    """One operator: a node with its time.

    Attributes
    ----------
    node : int
    name, func_name, op_kind : str
    time_ns : float
        Mean time in nanoseconds, NaN unknown.
    share : float
        Of the sum of all node times, 0 … 1; NaN unknown.
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
        Slices of the node, or of the name where no nodes are known.
    within_ns : float
        Where no nodes are known: sum of the slices' durations, with what ran inside them. A
        sum of nested slices counts the inner ones again; ``time_ns`` is the self time.
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
            return counted(row.slices, "slice")
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
        kept = [0, 1, 3, 4, 5] if words.repeats else [0, 1, 3, 4]
        return [head[i] for i in kept], [[cell[i] for i in kept] for cell in cells]

    def _named(self, head: list[str], *, nested: bool) -> tuple[list[str], list[list[str]]]:
        cells = [
            [
                one_line(row.name),
                f"{row.slices:,}",
                duration_text(row.time_ns),
                percent(row.share),
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
        str(row.node),
        one_line(row.name),
        row.op_kind,
        duration_text(row.time_ns),
        percent(row.share),
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
    if timeline is not None and words is not None and words.by_name and graph is None:
        return _by_name(parts, timeline, words, top)
    count = graph.num_nodes if graph is not None else timeline.num_nodes if timeline else 0
    ids = np.arange(count) if graph is None else np.flatnonzero(graph.kinds >= NodeKind.OPERATOR)
    total = timeline.total_ns if timeline is not None else float("nan")
    times = timeline.node_ns if timeline is not None else np.full(count, np.nan)
    names = _names(parts, count)
    if top is not None:
        known = ids[~np.isnan(times[ids])]
        ids = known[np.argsort(-times[known], kind="stable")][:top]

    @cache
    def row(node: int) -> Operator:
        return _operator(parts, node, names[node], float(times[node]), total)

    rows = _Rows(ids.tolist(), row)
    noun, together = ("operator", "") if words is None else (words.row, words.together)
    which = _which(len(rows), noun, top)
    took = "no times" if np.isnan(total) else f"{duration_text(total)} {together}"
    caption = f"{parts.title}: {which}; {took}"
    run = parts if top is None else None
    return Operators(rows, caption, None if graph is not None else words, run)


def _which(count: int, noun: str, top: int | None) -> str:
    if top is None:
        return counted(count, noun)
    return f"the {counted(count, noun)} slowest"


def _by_name(
    parts: RunParts, timeline: Timeline, words: TimelineWords, top: int | None
) -> Operators:
    """All slices of one name as a row, by first start, or the ``top`` of most self time."""
    names, own = timeline.slice_names, timeline.nesting.self_ns
    usable = np.flatnonzero(np.isfinite(own))
    codes, count = names.codes[usable], len(names.unique)
    times = np.bincount(codes, weights=own[usable], minlength=count)
    within = np.bincount(codes, weights=timeline.slice_duration_ns[usable], minlength=count)
    slices = np.bincount(codes, minlength=count)
    first = np.full(count, np.inf)
    np.minimum.at(first, codes, timeline.slice_start_ns[usable])
    known = np.flatnonzero(slices)
    key = first if top is None else -times
    order = known[np.argsort(key[known], kind="stable")][:top]
    total = float(times.sum())
    kinds = name_kinds(timeline, None)
    rows = [
        Operator(
            node=-1,
            name=names.unique[code],
            func_name="",
            op_kind=kinds[code],
            time_ns=float(times[code]),
            share=float(times[code]) / total if total else float("nan"),
            repeats=0,
            p10_ns=float("nan"),
            p90_ns=float("nan"),
            noisy=False,
            outputs="",
            trust=Trust.ABSENT,
            slices=int(slices[code]),
            within_ns=float(within[code]),
        )
        for code in order.tolist()
    ]
    which = _which(len(rows), words.row, top)
    caption = f"{parts.title}: {which}; {duration_text(total)} {words.together}"
    return Operators(rows, caption, words, parts if top is None else None)


def _operator(parts: RunParts, node: int, name: str, time: float, total: float) -> Operator:
    graph, timeline = parts.graph, parts.timeline
    times = timeline.node(node) if timeline is not None else None
    repeats = len(timeline.repeats(node)) if timeline is not None else 0
    trust = Trust(int(timeline.node_trust[node])) if timeline is not None else Trust.ABSENT
    outputs = ""
    if graph is not None:
        view = graph.nodes[node]
        outputs = ", ".join(
            f"{one_line(dtype or '?')}{list(shape) if shape is not None else '?'}"
            for dtype, shape in zip(view.dtypes, view.shapes, strict=True)
        )
    return Operator(
        node=node,
        name=name,
        func_name=graph.func_names[node] if graph is not None else "",
        op_kind=graph.nodes[node].op_kind
        if graph is not None
        else op_kind(name, NodeKind.OPERATOR),
        time_ns=time,
        share=time / total if total else float("nan"),
        repeats=repeats,
        p10_ns=times.p10 if times is not None else float("nan"),
        p90_ns=times.p90 if times is not None else float("nan"),
        noisy=bool(times is not None and times.noisy),
        outputs=outputs,
        trust=trust,
        slices=len(timeline.slices_of(node)) if timeline is not None else 0,
    )


def _names(parts: RunParts, count: int) -> list[str]:
    if parts.graph is not None:
        return list(parts.graph.names)
    names = [""] * count
    if parts.timeline is not None:
        for node, name in zip(parts.timeline.slice_node, parts.timeline.slice_names, strict=True):
            if node >= 0:
                names[node] = name
    return names
