"""Nodes selected by a query."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from tvmdbg_widgets.analysis.query import Facts, QueryError, check_type
from tvmdbg_widgets.engine import EngineTimeError, call, packed_text, with_memory
from tvmdbg_widgets.model.base.numbers import counted, duration_text, html_table, text_lines
from tvmdbg_widgets.model.base.text import more_text, one_line
from tvmdbg_widgets.model.graph.graph import node_label
from tvmdbg_widgets.model.graph.nodes import Node, given_text

_SHOWN = 12


class Listed(tuple[int, ...]):  # noqa: SLOT001 (a subclass of tuple has none)
    """Ids in ascending order, shown as a caption and a table of the first ones."""

    _head: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def caption(self) -> str:
        """The selection in one line."""

    @abstractmethod
    def _cells(self, row: int) -> list[str]:
        """Return the cells of one id, safe for one line."""

    def _rows(self) -> list[list[str]]:
        return [self._cells(item) for item in self[:_SHOWN]]

    def __repr__(self) -> str:
        lines = text_lines(self._rows())
        return "\n  ".join([self.caption, *lines, *more_text(len(self), _SHOWN)])

    def _repr_html_(self) -> str:
        more = more_text(len(self), _SHOWN)
        return html_table(self._head, self._rows(), caption=self.caption, below=more)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)


class Selection(Listed):
    """Ids of the nodes that a query selects, ascending: a tuple, so ``session.selected`` takes it.

    Made by :meth:`tvmdbg_widgets.DebugRun.select`.

    Attributes
    ----------
    query : str
    unknown : dict of str to int
        By compared field, the number of nodes without a value; they fit no comparison.
    notes : list of str
        The same as sentences: ``"45 of 72 nodes have no time"``.
    """

    _head = ("node", "is", "time", "outputs")
    query: str
    unknown: dict[str, int]
    notes: list[str]
    _facts: Facts

    def __new__(
        cls,
        nodes: Iterable[int],
        query: str,
        facts: Facts,
        unknown: dict[str, int],
        notes: list[str],
    ) -> Self:
        """Keep the ids with query and facts."""
        selection = super().__new__(cls, nodes)
        selection.query, selection._facts = query, facts
        selection.unknown, selection.notes = unknown, notes
        return selection

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes themselves."""
        nodes = self._facts.graph.nodes
        return tuple(nodes[node] for node in self)

    def to_dataframe(self) -> Any:
        """Return one row per node, times in nanoseconds (``pandas.DataFrame``)."""
        frame = self._facts.graph.to_dataframe().loc[list(self)]
        return frame.assign(time_ns=self._facts.node_ns[list(self)])

    @property
    def caption(self) -> str:
        """The selection in one line: ``"5 of 72 nodes: time>1ms; 45 of 72 nodes have no time"``."""
        count = self._facts.graph.num_nodes
        head = f"{len(self):,} of {counted(count, 'node')}: {one_line(self.query)}"
        return "; ".join([head, *self.notes])

    def _cells(self, row: int) -> list[str]:
        node = self._facts.graph.nodes[row]
        outputs = ", ".join(
            f"{one_line(dtype or '?')}{'?' if shape is None else list(shape)}"
            for dtype, shape in zip(node.dtypes[:3], node.shapes[:3], strict=True)
        )
        time = _time(node, float(self._facts.node_ns[row]), self._facts.rounding_ns)
        return [str(row), one_line(node_label(self._facts.graph, row))[:80], time, outputs]


def _time(node: Node, ns: float, rounding_ns: float) -> str:
    if np.isnan(ns):
        return ""
    return given_text(node.role) if not ns and node.role else duration_text(ns, rounding_ns)


def select(facts: Facts, query: str) -> Selection:
    """Return the ids of the nodes that a query selects.

    ::

        run.select("time>1ms op:conv shape:*,64,*,*")
        run.session.selected = run.select("conv2d->add->relu")

    Search fields of the views use the same language; its grammar is in ``docs/queries.md``.

    Raises
    ------
    QueryError
        The query does not follow the grammar; a ValueError that shows where.
    ValueError
        The run has no graph.
    """
    check_type(query)
    if not query:
        return Selection((), query, facts, {}, [])
    try:
        answer = with_memory(lambda: _ask_engine(facts, query))
    except EngineTimeError as error:
        raise QueryError(query, 0, f"expected a simpler query: {error}") from error
    if "error" in answer:
        raise QueryError(query, answer["at"], answer["error"])
    return Selection(answer["nodes"], query, facts, answer["unknown"], answer["notes"])


def _ask_engine(facts: Facts, query: str) -> dict[str, Any]:
    failure = "the graph could not be searched"
    request = json.dumps({"key": facts.key, "text": query})
    answer: dict[str, Any] = json.loads(call("findNodes", request, failure=failure))
    for part in answer.get("needs", ()):
        packed = packed_text(facts.columns(part), part)
        sent = {"key": facts.key, "part": part, "info": {"devices": facts.devices}}
        base64 = packed.pop("base64")
        call("keepColumns", json.dumps(packed | sent), base64, failure=failure)
    if "needs" in answer:
        answer = json.loads(call("findNodes", request, failure=failure))
    return answer
