"""Result of matching: pairs of nodes with certainty and reason, and unmatched nodes."""

from __future__ import annotations

import enum
import html
from collections import Counter
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted, html_table, text_lines
from tvmdbg_widgets.model.base.ranges import MadeSequence, frozen
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.operators import Adjacency

_SHOWN = 40


class Certainty(enum.IntEnum):
    """Certainty of a match; lower values are surer.

    ``EXACT``: equal operators, dtypes and shapes in a unique place, with operands and readers
    matched likewise. ``LIKELY``: a unique place, but some of that differs. ``POSSIBLE``: chosen
    among several equal candidates, or by place alone.
    """

    EXACT = 0
    LIKELY = 1
    POSSIBLE = 2

    @property
    def label(self) -> str:
        """The certainty in lower case, as views show it."""
        return self.name.lower()


class Reason(enum.IntEnum):
    """Evidence of a match."""

    SAME_ID = 0
    STRUCTURE = 1
    UPSTREAM = 2
    DOWNSTREAM = 3
    NEIGHBORS = 4
    NAME = 5
    PARTS = 6
    SEQUENCE = 7
    PLACE = 8
    ALIKE = 9
    BY_NAME = 10

    @property
    def label(self) -> str:
        """The reason in words."""
        return _REASONS[self]


_REASONS = {
    Reason.SAME_ID: "same id, name and signature",
    Reason.STRUCTURE: "same structure around it, unique in both graphs",
    Reason.UPSTREAM: "everything upstream is the same",
    Reason.DOWNSTREAM: "everything downstream is the same",
    Reason.NEIGHBORS: "same role next to matched nodes",
    Reason.NAME: "the only one of this name among identical nodes",
    Reason.PARTS: "parts of a fused function",
    Reason.SEQUENCE: "same sequence of operators between matched nodes",
    Reason.PLACE: "same place, different operators",
    Reason.ALIKE: "one of several identical nodes, taken in order",
    Reason.BY_NAME: "by name",
}


class Match(NamedTuple):
    """A node of `a` and its match in `b`; a fused function has a match per part."""

    a: int
    b: int
    certainty: Certainty
    reason: Reason


class Matching(MadeSequence[Match]):
    """Pairs of nodes of two graphs, by node of `a`, then of `b`; P pairs. Arrays are read-only.

    ::

        matching = run.match(other)
        matching.b_of(12)          # nodes of the other graph, () where there is none
        matching.only_a            # what the other graph lacks
        matching.pairs[matching.certainty == Certainty.EXACT]

    Attributes
    ----------
    graph_a, graph_b : Graph
    pairs : int32 [P, 2]
        Node of `a`, node of `b`; a node is in several where its function is fused.
    certainty : uint8 [P]
        :class:`Certainty`.
    reason : uint8 [P]
        :class:`Reason`.
    only_a, only_b : int32
        Nodes without a counterpart, ascending.
    """

    def __init__(
        self,
        graph_a: Graph,
        graph_b: Graph,
        pairs: npt.NDArray[np.int32],
        certainty: npt.NDArray[np.uint8],
        reason: npt.NDArray[np.uint8],
    ) -> None:
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        self.graph_a, self.graph_b = graph_a, graph_b
        self.pairs = frozen(pairs[order])
        self.certainty = frozen(certainty[order])
        self.reason = frozen(reason[order])
        self.only_a = _missing(self.pairs[:, 0], graph_a.num_nodes)
        self.only_b = _missing(self.pairs[:, 1], graph_b.num_nodes)

    def __len__(self) -> int:
        return len(self.pairs)

    def _item(self, at: int) -> Match:
        a, b = self.pairs[at].tolist()
        return Match(a, b, Certainty(int(self.certainty[at])), Reason(int(self.reason[at])))

    @cached_property
    def _by_a(self) -> Adjacency:
        return Adjacency.by(self.pairs[:, 0], self.graph_a.num_nodes)

    @cached_property
    def _by_b(self) -> Adjacency:
        return Adjacency.by(self.pairs[:, 1], self.graph_b.num_nodes)

    def b_of(self, node: int) -> tuple[int, ...]:
        """Return the nodes of `b` that stand for a node of `a`, ascending; mostly one, or none.

        Raises
        ------
        IndexError
            `a` has no such node.
        """
        self.graph_a.entry_range(node)
        return tuple(self.pairs[self._by_a[node], 1].tolist())

    def a_of(self, node: int) -> tuple[int, ...]:
        """Return the nodes of `a` that stand for a node of `b`, ascending.

        Raises
        ------
        IndexError
            `b` has no such node.
        """
        self.graph_b.entry_range(node)
        return tuple(sorted(self.pairs[self._by_b[node], 0].tolist()))

    def of_a(self, node: int) -> tuple[Match, ...]:
        """Return the matches of a node of `a`, with certainty and reason."""
        self.graph_a.entry_range(node)
        return tuple(self[int(at)] for at in self._by_a[node])

    def counts(self) -> dict[str, int]:
        """Return the number of nodes of `a` by certainty, that of their least sure match.

        Returns
        -------
        dict of str to int
            ``"exact"``, ``"likely"``, ``"possible"``.
        """
        worst = np.full(self.graph_a.num_nodes, -1)
        np.maximum.at(worst, self.pairs[:, 0], self.certainty.astype(np.int64))
        return {certainty.label: int((worst == certainty).sum()) for certainty in Certainty}

    @property
    def unmatched(self) -> str:
        """Number of nodes without a match: ``"2 nodes of B unmatched"``."""
        counts = {"A": len(self.only_a), "B": len(self.only_b)}
        words = [f"{counted(count, 'node')} of {side}" for side, count in counts.items() if count]
        return f"{' and '.join(words)} unmatched" if words else "all nodes matched"

    @property
    def sentence(self) -> str:
        """Counts of matches by certainty and of unmatched nodes, in one line."""
        counts = self.counts()
        matched = self.graph_a.num_nodes - len(self.only_a)
        words = [f"{count:,} {label}" for label, count in counts.items() if count]
        parts = [
            f"{matched:,} of {counted(self.graph_a.num_nodes, 'node')} matched"
            + (f": {', '.join(words)}" if words else "")
        ]
        if len(self.only_a):
            parts.append(f"{len(self.only_a):,} only in A")
        parts.append(f"{len(self.only_b):,} of {self.graph_b.num_nodes:,} only in B")
        return "; ".join(parts)

    def to_dataframe(self) -> Any:
        """Return one row per match as a ``pandas.DataFrame``, then unmatched nodes."""
        rows: list[tuple[str, int | None, int | None, str, str]] = [
            ("matched", match.a, match.b, match.certainty.label, match.reason.label)
            for match in self
        ]
        rows += [("only a", node, None, "", "") for node in self.only_a.tolist()]
        rows += [("only b", None, node, "", "") for node in self.only_b.tolist()]
        return data_frame(
            {
                "a": [row[1] for row in rows],
                "b": [row[2] for row in rows],
                "name_a": [_name(self.graph_a, row[1]) for row in rows],
                "name_b": [_name(self.graph_b, row[2]) for row in rows],
                "certainty": [row[3] for row in rows],
                "reason": [row[4] for row in rows],
                "found": [row[0] for row in rows],
            }
        )

    def _unsure_rows(self) -> tuple[list[str], list[list[str]]]:
        unsure = np.flatnonzero(self.certainty != Certainty.EXACT)
        unsure = unsure[np.argsort(-self.certainty[unsure].astype(np.int64), kind="stable")]
        a, b = self.graph_a, self.graph_b
        rows = [[_node_text(a, node), "-", "only in A", ""] for node in self.only_a.tolist()]
        rows += [["-", _node_text(b, node), "only in B", ""] for node in self.only_b.tolist()]
        for at in unsure[: max(0, _SHOWN - len(rows))].tolist():
            match = self[at]
            both = _node_text(a, match.a), _node_text(b, match.b)
            rows.append([*both, match.certainty.label, match.reason.label])
        left = len(self.only_a) + len(self.only_b) + len(unsure)
        rows = rows[:_SHOWN]
        if left > len(rows):
            rows.append([f"… and {left - len(rows):,} more", "", "", ""])
        return ["a", "b", "match", "why"], rows

    def __repr__(self) -> str:
        head, rows = self._unsure_rows()
        if not rows:
            return f"Matching: {self.sentence}"
        return "\n  ".join([f"Matching: {self.sentence}", *text_lines([head, *rows])])

    def _repr_html_(self) -> str:
        head, rows = self._unsure_rows()
        sentence = f"<p>{html.escape(self.sentence)}</p>"
        return sentence + (html_table(head, rows, style="") if rows else "")

    def reasons(self) -> dict[str, int]:
        """Return the number of pairs by reason, most frequent first."""
        counts = Counter(self.reason.tolist())
        return {Reason(reason).label: count for reason, count in counts.most_common()}


def _name(graph: Graph, node: int | None) -> str:
    return "" if node is None else graph.names[node]


def _node_text(graph: Graph, node: int) -> str:
    return f"#{node} {one_line(graph.names[node])}"


def _missing(matched: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.int32]:
    return frozen(np.setdiff1d(np.arange(count, dtype=np.int32), matched))
