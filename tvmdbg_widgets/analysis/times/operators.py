"""Table of operators with their times, also in TVM's printed form."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from tvmdbg_widgets.analysis.times.keys import NO_WORK
from tvmdbg_widgets.formats.tvm.layout import find_layout
from tvmdbg_widgets.formats.tvm.table import TimedNode, print_table
from tvmdbg_widgets.model.base.numbers import (
    Trust,
    counted,
    duration_text,
    html_table,
    percent,
    text_lines,
    time_share,
)
from tvmdbg_widgets.model.base.ranges import MadeSequence
from tvmdbg_widgets.model.base.text import columns_of, data_frame, more_text, one_line
from tvmdbg_widgets.model.graph.graph import Graph, node_title
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import TimelineWords

_LINES_SHOWN = 40


@dataclass(frozen=True)
class OperatorRow:
    """Row of the table: an operator with its time, a call of several, or slices of one name."""

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
    label: str = ""
    rounding_ns: float = 0.0

    @property
    def title(self) -> str:
        """Readable name, id first: ``"#62 conv2d + add + relu"``."""
        text = one_line(self.label or self.name)
        return node_title(text, self.node) if self.node >= 0 else text

    @property
    def owner(self) -> str:
        """Owner of a time without a node, ``" (nodes 13 … 17)"`` or ``" (3 slices)"``, or empty."""
        if self.node >= 0:
            return ""
        if self.nodes:
            return f" (nodes {self.nodes[0]} … {self.nodes[-1]})"
        return f" ({counted(self.slices, 'slice')})"

    @property
    def time_text(self) -> str:
        """The time; ``"in XNNPACK call 1 of 2"`` where only the call's time is known."""
        return f"in {self.call}" if self.call else self.text(self.time_ns)

    @property
    def spread_text(self) -> str:
        """``"1.2 µs … 1.4 µs"``; empty without repeats."""
        if self.repeats < 2:
            return ""
        return f"{self.text(self.p10_ns)} … {self.text(self.p90_ns)}"

    @property
    def told(self) -> str:
        """Time and share; the time alone if it is too short for a share."""
        return time_share(self.time_ns, self.share, self.rounding_ns)

    @property
    def share_text(self) -> str:
        """The share, a dash if no row has one."""
        if self.time_ns == 0 < self.rounding_ns or (np.isnan(self.share) and self.is_apart):
            return "–"
        return percent(self.share)

    def text(self, ns: float) -> str:
        """Return a time of the operator as text."""
        return duration_text(ns, self.rounding_ns)

    @property
    def is_apart(self) -> bool:
        """Whether it is no work of an execution, or timed within a call."""
        return bool(self.call) or self.op_kind in NO_WORK.values()


#: Fields of operators that are exported as columns.
OPERATOR_COLUMNS = tuple(name for name in OperatorRow.__dataclass_fields__ if name != "rounding_ns")


class LazyRows(MadeSequence[OperatorRow]):
    """Rows made on demand: a run may have hundreds of thousands."""

    def __init__(self, nodes: Sequence[int], make: Callable[[int], OperatorRow]) -> None:
        self._nodes = nodes
        self._make = make

    def __len__(self) -> int:
        return len(self._nodes)

    def _item(self, at: int) -> OperatorRow:
        return self._make(self._nodes[at])

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)


class Operators(Sequence[OperatorRow]):
    """A table of operators; shows as text and, in a notebook, as an HTML table."""

    def __init__(
        self,
        rows: Sequence[OperatorRow],
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

    def __iter__(self) -> Iterator[OperatorRow]:
        return iter(self._rows)

    @overload
    def __getitem__(self, index: int) -> OperatorRow: ...
    @overload
    def __getitem__(self, index: slice) -> Operators: ...
    def __getitem__(self, index: int | slice) -> OperatorRow | Operators:
        if isinstance(index, slice):
            return Operators(self._rows[index], self.caption, self._words)
        return self._rows[index]

    def as_tvm(self, release: str | None = None) -> str:
        """Return the table as TVM's debugger prints it, byte for byte if one was read.

        Otherwise it is rendered from graph and node times, with the columns of the release:
        named, or of the files. ``Measurements(us)`` holds the mean where that alone is known.

        ::

            print(run.table().as_tvm(release="0.19"))

        Parameters
        ----------
        release
            ``"0.5"`` to ``"0.19"``.

        Raises
        ------
        ValueError
            The table is incomplete, no such release has it, or the run lacks its data.
        """
        if self._run is None:
            raise ValueError("TVM prints all operators: run.table().as_tvm()")
        return as_tvm(self._run, release)

    def to_dataframe(self) -> Any:
        """Return one row per operator as a ``pandas.DataFrame`` (times in nanoseconds)."""
        rows = list(self._rows)
        columns = columns_of(rows, OPERATOR_COLUMNS)
        columns["trust"] = [row.trust.label for row in rows]
        return data_frame(columns)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        words, rows = self._words, self._rows[:_LINES_SHOWN]
        heads: dict[str, str] = {} if words is None else {"node": words.item, "time": words.time}
        if words is None:
            names = ["operator", "kind", "time", "share", "p10 … p90", "outputs", "match"]
        elif words.by_name:
            nested = ["durations, children included"] if words.time == "self time" else []
            names = ["name", "slices", "time", "share", *nested]
        elif any(row.node >= 0 for row in rows):
            names = ["node", "name", "time", "share", *(["p10 … p90"] if words.repeats else [])]
        else:
            names = ["name", "kind", "time", "share"]
        cells = [[_CELLS[name](row) for name in names] for row in rows]
        return [heads.get(name, name) for name in names], cells

    def __repr__(self) -> str:
        head, rows = self._cells()
        lines = text_lines([head, *rows])
        return "\n".join([self.caption, *lines, *more_text(len(self), _LINES_SHOWN)])

    def _repr_html_(self) -> str:
        more = more_text(len(self), _LINES_SHOWN)
        return html_table(*self._cells(), caption=self.caption, below=more)


#: Columns of the printed table: heading and text of a row.
_CELLS: dict[str, Callable[[OperatorRow], str]] = {
    "operator": lambda row: row.title,
    "node": lambda row: str(row.node) if row.node >= 0 else "–",
    "name": lambda row: one_line(row.name),
    "kind": lambda row: row.op_kind,
    "slices": lambda row: f"{row.slices:,}",
    "time": lambda row: row.time_text,
    "share": lambda row: row.share_text,
    "p10 … p90": lambda row: (row.spread_text or "-") + (" noisy" if row.noisy else ""),
    "durations, children included": lambda row: row.text(row.within_ns),
    "outputs": lambda row: row.outputs,
    "match": lambda row: row.trust.label,
}


_RELEASE = re.compile(r"v?0\.([0-9]{1,2})(?:\..*)?", re.ASCII)
_READ = re.compile(r"TVM v0\.(\d+)(?: to v0\.(\d+))?")
_FIRST, _LAST_SHORT, _LAST = 5, 8, 19
#: Parts of a run that hold repeats of nodes.
_WITH_REPEATS = frozenset({"table", "times", "recorded-times"})


def as_tvm(parts: RunParts, release: str | None) -> str:
    """Return the table as read if it has that release's form, else printed anew."""
    minor = None if release is None else _minor(release)
    layout = find_layout(parts.printed.partition("\n")[0]) if parts.printed else None
    if layout is not None and (minor is None or _style(minor) == layout.style):
        return parts.printed
    if minor == _FIRST:
        raise ValueError("v0.5 prints times of day, which only a table of v0.5 has")
    graph, timeline = parts.graph, parts.timeline
    if graph is None or timeline is None:
        missing = "graph" if graph is None else "node times"
        raise ValueError(f"the table needs a graph and node times, and this run has no {missing}")
    minor = minor or _release_of(parts)
    style = _style(minor)
    if style == "v0.9" and not {file.part for file in parts.files} & _WITH_REPEATS:
        _warn("these files keep the mean of a node's repeats: Measurements(us) holds that alone")
    return print_table(_nodes(graph, timeline, minor), style=style)


def _style(minor: int) -> str:
    return "v0.5" if minor == _FIRST else "v0.6" if minor <= _LAST_SHORT else "v0.9"


def _minor(release: str) -> int:
    match = _RELEASE.fullmatch(str(release))
    minor = int(match[1]) if match else -1
    if not _FIRST <= minor <= _LAST:
        raise ValueError(
            f"release is {release!r:.40}; the debugger prints its table in '0.{_FIRST}' "
            f"to '0.{_LAST}'"
        )
    return minor


def _release_of(parts: RunParts) -> int:
    match = _READ.fullmatch(parts.provenance.releases)
    if match is not None:
        first, last = _minor(f"0.{match[1]}"), _minor(f"0.{match[2] or match[1]}")
        if _style(first) == _style(last):
            return last
    _warn(
        "the release of TVM is not known: the table is printed as v0.9 to v0.19 print it; "
        "release='0.8' prints another"
    )
    return _LAST


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=4)


def _seconds_as_tvm(ns: float, minor: int) -> float:
    if minor < _LAST_SHORT:
        return float(f"{ns / 1e3:.6g}") * 1e-6
    return float(f"{ns / 1e9:.6g}") if minor == _LAST_SHORT else ns / 1e9


def _nodes(graph: Graph, timeline: Timeline, minor: int) -> list[TimedNode]:
    nodes = []
    for node in graph.nodes:
        if node.kind < NodeKind.OPERATOR:
            continue
        mean = float(timeline.node_ns[node.id])
        repeats = np.asarray(timeline.repeats(node.id), np.float64)
        times = repeats if len(repeats) else np.array([mean])
        if not np.isfinite(times).all() or None in node.shapes:
            raise ValueError(
                f"node {node.id} ({node.name!r:.60}) has no time or shape: the table prints both"
            )
        nodes.append(
            TimedNode(
                node.name,
                node.func_name,
                tuple(_seconds_as_tvm(time, minor) for time in times.tolist()),
                tuple(shape for shape in node.shapes if shape is not None),
                int(node.attrs.get("num_inputs", len(node.inputs))),
            )
        )
    return nodes
