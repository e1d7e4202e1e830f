"""Comparison of two runs of one network: matched nodes and their differences."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.analysis.differences import (
    Difference,
    DifferenceKind,
    checked_titles,
    differences,
    is_opaque,
    label_of,
)
from tvmdbg_widgets.analysis.facts import OpenedRun
from tvmdbg_widgets.analysis.matching import Matching, match
from tvmdbg_widgets.model.base.numbers import html_table
from tvmdbg_widgets.model.base.ranges import MadeSequence
from tvmdbg_widgets.model.base.slips import public_class
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.graph.graph import Graph, shape_text
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts

_SHOWN = 40
_TIMES_SHOWN = 5


class DifferenceGroup(NamedTuple):
    """Equal differences of several pairs of nodes.

    Attributes
    ----------
    kind : DifferenceKind
    what, in_a, in_b : str
        Shared by all members.
    members : tuple of Difference
    """

    kind: DifferenceKind
    what: str
    in_a: str
    in_b: str
    members: tuple[Difference, ...]

    @property
    def change(self) -> str:
        """The values in `a` and in `b`, as ``"3 → 5"``."""
        if self.kind is DifferenceKind.ONLY_A:
            return self.in_a
        if self.kind is DifferenceKind.ONLY_B:
            return self.in_b
        if self.in_a == self.in_b and self.kind is not DifferenceKind.TIME:  # too long to print
            return f"{self.what} differs"
        prefix = f"{self.what}: " if self.what else ""
        return f"{prefix}{self.in_a} → {self.in_b}"


@public_class
class Comparison(MadeSequence[Difference]):
    """Differences between two runs; shows as text and, in a notebook, as a table.

    Attributes
    ----------
    a, b : RunParts
    matching : Matching
    titles : tuple of str
        Display names of both runs.
    """

    def __init__(
        self, a: RunParts, b: RunParts, matching: Matching, titles: Sequence[str] | None = None
    ) -> None:
        self.a, self.b = a, b
        self.matching = matching
        self.titles = checked_titles(a, b, titles)

    @cached_property
    def times(self) -> TimeComparison | None:
        """Times of both runs by operator; None where one run has none."""
        if self.a.timeline is None or self.b.timeline is None:
            return None
        return TimeComparison(self.a, self.b, self.matching, self.titles)

    @cached_property
    def _differences(self) -> tuple[Difference, ...]:
        return tuple(differences(self.a, self.b, self.matching))

    def __len__(self) -> int:
        return len(self._differences)

    def _item(self, at: int) -> Difference:
        return self._differences[at]

    @cached_property
    def groups(self) -> tuple[DifferenceGroup, ...]:
        """Equal differences grouped: times first (largest first), then other kinds by frequency."""
        by_key: dict[tuple[object, ...], list[Difference]] = {}
        for difference in self._differences:
            key: tuple[object, ...] = (
                difference.kind,
                difference.what,
                difference.in_a,
                difference.in_b,
            )
            if difference.kind is DifferenceKind.TIME:
                key = difference.kind, difference.a, difference.b
            by_key.setdefault(key, []).append(difference)
        groups = [
            DifferenceGroup(first.kind, first.what, first.in_a, first.in_b, (first, *rest))
            for first, *rest in by_key.values()
        ]
        return tuple(sorted(groups, key=self._rank))  # stable

    def _rank(self, group: DifferenceGroup) -> tuple[bool, bool, bool, DifferenceKind, bool, int]:
        parameter, scalar = self._unmatched_parameters(group)
        timed, opaque = group.kind is DifferenceKind.TIME, is_opaque(group.members[0])
        return opaque, scalar, not timed, group.kind, parameter, -len(group.members)

    def _unmatched_parameters(self, group: DifferenceGroup) -> tuple[bool, bool]:
        if group.kind not in (DifferenceKind.ONLY_A, DifferenceKind.ONLY_B):
            return False, False
        first = group.members[0]
        side = int(first.a < 0)
        node = (first.a, first.b)[side]
        graph = (self.matching.graph_a, self.matching.graph_b)[side]
        if graph.kinds[node] != NodeKind.PARAMETER:
            return False, False
        shape = graph.shape(node)
        return True, shape is not None and math.prod(shape) == 1

    def of_kind(self, kind: DifferenceKind) -> tuple[Difference, ...]:
        """Return the differences of one kind."""
        return tuple(difference for difference in self._differences if difference.kind is kind)

    def counts(self) -> dict[str, int]:
        """Return the number of differences by kind."""
        counts = Counter(difference.kind for difference in self._differences)
        return {kind.label: counts[kind] for kind in DifferenceKind if counts[kind]}

    def to_dataframe(self) -> Any:
        """Return one row per difference as a ``pandas.DataFrame``; node ids are -1 where alone."""
        names_a, names_b = self.matching.graph_a.names, self.matching.graph_b.names
        return data_frame(
            {
                "kind": [difference.kind.label for difference in self],
                "a": [difference.a for difference in self],
                "b": [difference.b for difference in self],
                "name_a": [
                    names_a[difference.a] if difference.a >= 0 else "" for difference in self
                ],
                "name_b": [
                    names_b[difference.b] if difference.b >= 0 else "" for difference in self
                ],
                "what": [difference.what for difference in self],
                "in_a": [difference.in_a for difference in self],
                "in_b": [difference.in_b for difference in self],
            }
        )

    @property
    def title(self) -> str:
        """Titles of both runs in one line."""
        return "A: {}, B: {}".format(*map(one_line, self.titles))

    @cached_property
    def sentence(self) -> str:
        """The result in one line: how much faster or slower B is, and how much is unmatched."""
        sentences = [] if self.times is None else [self.times.sentence]
        return "; ".join([*sentences, self.matching.unmatched])

    def __repr__(self) -> str:
        lines = [self.title, self.sentence, self.matching.sentence]
        shown = 0
        for title, groups in self.sections():
            lines.append(f"{title}: {sum(len(each.members) for each in groups):,}")
            timed = groups[0].kind is DifferenceKind.TIME
            most = min(len(groups), _TIMES_SHOWN if timed else _SHOWN - shown)
            lines += [f"  {self.nodes(group)}  {group.change}" for group in groups[:most]]
            if most < len(groups):
                lines.append(f"  … and {len(groups) - most:,} more")
            shown += most
        return "\n".join(lines)

    def sections(self) -> list[tuple[str, list[DifferenceGroup]]]:
        """Return the groups by kind; scalar parameters and hashes are sections of their own."""
        sections: dict[str, list[DifferenceGroup]] = {}
        for group in self.groups:
            scalar = self._unmatched_parameters(group)[1]
            title = f"{group.kind.label}, scalar parameters" if scalar else group.kind.label
            title += ", hashes alone" if is_opaque(group.members[0]) else ""
            sections.setdefault(title, []).append(group)
        return list(sections.items())

    def nodes(self, group: DifferenceGroup) -> str:
        """Return the nodes of a group: ``"#38 ~ #40 conv2d + add (1×64×8×8) and 3 more"``."""
        first = self.pair(group.members[0])
        more = len(group.members) - 1
        return f"{first} and {more:,} more" if more else first

    def pair(self, difference: Difference) -> str:
        """Return ids, label and shape of a pair; label and shape are those in A if it is there."""
        graphs = self.matching.graph_a, self.matching.graph_b
        nodes = difference.a, difference.b
        side = int(nodes[0] < 0)
        ids = dict.fromkeys(f"#{node}" for node in nodes if node >= 0)
        words = f"{' ~ '.join(ids)} {label_of(graphs[side], nodes[side])}"
        outputs = graphs[side].entry_range(nodes[side])
        shape = graphs[side].shape(nodes[side]) if outputs else None
        return words if shape is None else f"{words} ({shape_text(shape)})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str, str]] = []
        left = 0
        for _title, groups in self.sections():
            timed = groups[0].kind is DifferenceKind.TIME
            most = _TIMES_SHOWN if timed else _SHOWN - len(rows)
            left += len(groups[most:])
            rows += [(group.kind.label, self.nodes(group), group.change) for group in groups[:most]]
        more = f"<p>… and {left:,} more</p>" if left else ""
        table = html_table(("what", "nodes", "A → B"), rows, style="")
        return (
            f"<p>{html.escape(self.title)}<br><b>{html.escape(self.sentence)}</b><br>"
            f"{html.escape(self.matching.sentence)}</p>{table}{more}"
        )


def compare(a: RunParts, b: RunParts, titles: Sequence[str] | None = None) -> Comparison:
    """Compare two runs; see :func:`tvmdbg_widgets.compare`."""
    if a.graph is None or b.graph is None:
        raise ValueError(_lacks("a" if a.graph is None else "b"))
    return Comparison(a, b, match(a.graph, b.graph), titles)


def graphs_of(a: RunParts, b: OpenedRun | Graph) -> tuple[Graph, Graph]:
    """Return the graphs of two runs, or of a run and a graph."""
    if not isinstance(b, Graph) and not hasattr(b, "facts"):
        raise TypeError(f"a run or its graph is matched, not {type(b).__name__}")
    graph = b if isinstance(b, Graph) else b.facts.graph
    if a.graph is None or graph is None:
        raise ValueError(_lacks("the run" if a.graph is None else "the other run"))
    return a.graph, graph


def _lacks(which: str) -> str:
    return f"{which} has no graph, and only graphs can be matched: open it with its graph file"
