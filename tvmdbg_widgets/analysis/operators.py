"""The operators of a run with their times: what the printed table says, and more exactly."""

from __future__ import annotations

import html
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tvmdbg_widgets.model.frames import data_frame
from tvmdbg_widgets.model.nodes import NodeKind
from tvmdbg_widgets.model.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.text import one_line
from tvmdbg_widgets.model.trust import Trust

if TYPE_CHECKING:
    from tvmdbg_widgets.model.parts import RunParts

_LINES_SHOWN = 40
_CELL = 'style="text-align: left; white-space: nowrap"'


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
        The repeats spread widely (see :class:`~tvmdbg_widgets.model.node_times.NodeTimes`).
    outputs : str
        dtype and shape of each output.
    trust : Trust
        How surely the time is this node's.
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


class Operators(Sequence[Operator]):
    """A table of operators; shows as text and, in a notebook, as an HTML table."""

    def __init__(self, rows: Sequence[Operator], caption: str) -> None:
        self._rows = tuple(rows)
        self.caption = caption

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
            return Operators(self._rows[index], self.caption)
        return self._rows[index]

    def to_dataframe(self) -> Any:
        """Return one row an operator as a ``pandas.DataFrame`` (times in nanoseconds)."""
        fields = Operator.__dataclass_fields__
        columns = {name: [getattr(row, name) for row in self._rows] for name in fields}
        columns["trust"] = [row.trust.label for row in self._rows]
        return data_frame(columns)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        head = ["node", "name", "kind", "time", "share", "p10 … p90", "outputs", "trust"]
        return head, [_row_cells(row) for row in self._rows]

    def __repr__(self) -> str:
        head, rows = self._cells()
        shown = [head, *rows[:_LINES_SHOWN]]
        widths = [max(len(line[i]) for line in shown) for i in range(len(head))]
        lines = [self.caption]
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in shown
        ]
        if len(rows) > _LINES_SHOWN:
            lines.append(f"… and {len(rows) - _LINES_SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, rows = self._cells()
        body = "".join(
            "<tr>" + "".join(f"<td {_CELL}>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows[:_LINES_SHOWN]
        )
        more = len(rows) - _LINES_SHOWN
        note = f"<p>… and {more} more</p>" if more > 0 else ""
        titles = "".join(f"<th {_CELL}>{html.escape(cell)}</th>" for cell in head)
        return (
            f"<table><caption>{html.escape(self.caption)}</caption>"
            f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{note}"
        )


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
    count = graph.num_nodes if graph is not None else timeline.num_nodes if timeline else 0
    ids = [i for i in range(count) if graph is None or graph.kinds[i] >= NodeKind.OPERATOR]
    total = timeline.total_ns if timeline is not None else float("nan")
    times = timeline.node_ns if timeline is not None else np.full(count, np.nan)
    names = _names(parts, count)
    if top is not None:
        known = [i for i in ids if not np.isnan(times[i])]
        ids = sorted(known, key=lambda i: (-times[i], i))[:top]
    rows = [_operator(parts, i, names[i], float(times[i]), total) for i in ids]
    noun = "operator" if graph is not None else "node"
    which = (
        f"the {counted(len(rows), noun)} that took longest"
        if top is not None
        else counted(len(rows), noun)
    )
    took = "no times known" if np.isnan(total) else f"{duration_text(total)} in all nodes"
    return Operators(rows, f"{parts.title}: {which}; {took}")


def _operator(parts: RunParts, node: int, name: str, time: float, total: float) -> Operator:
    graph, timeline = parts.graph, parts.timeline
    times = timeline.node(node) if timeline is not None else None
    repeats = len(timeline.repeats(node)) if timeline is not None else 0
    trust = Trust(int(timeline.node_trust[node])) if timeline is not None else Trust.ABSENT
    outputs = ""
    if graph is not None:
        view = graph.nodes[node]
        outputs = ", ".join(
            f"{dtype or '?'}{list(shape) if shape is not None else '?'}"
            for dtype, shape in zip(view.dtypes, view.shapes, strict=True)
        )
    return Operator(
        node=node,
        name=name,
        func_name=graph.func_names[node] if graph is not None else "",
        op_kind=graph.nodes[node].op_kind if graph is not None else "other",
        time_ns=time,
        share=time / total if total else float("nan"),
        repeats=repeats,
        p10_ns=times.p10 if times is not None else float("nan"),
        p90_ns=times.p90 if times is not None else float("nan"),
        noisy=bool(times is not None and times.noisy),
        outputs=outputs,
        trust=trust,
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
