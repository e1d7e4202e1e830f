"""Two runs of one network compared: which nodes stand for each other, and what differs."""

from __future__ import annotations

import html
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from tvmdbg_widgets.analysis.differences import Difference, DifferenceKind, differences
from tvmdbg_widgets.analysis.matching import Matching, match
from tvmdbg_widgets.model.frames import data_frame
from tvmdbg_widgets.model.graph import Graph
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.compare_times import TimeComparison
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.run import DebugRun

_SHOWN = 40
_TIMES_SHOWN = 5


class Group(NamedTuple):
    """Differences that say the same of several pairs of nodes.

    Attributes
    ----------
    kind : DifferenceKind
    what, in_a, in_b : str
        As of each of them.
    members : tuple of Difference
    """

    kind: DifferenceKind
    what: str
    in_a: str
    in_b: str
    members: tuple[Difference, ...]

    @property
    def change(self) -> str:
        """What it is in `a` and in `b`."""
        if self.kind is DifferenceKind.ONLY_A:
            return self.in_a
        if self.kind is DifferenceKind.ONLY_B:
            return self.in_b
        if self.in_a == self.in_b and self.kind is not DifferenceKind.TIME:  # too long to be told
            return f"{self.what} differs"
        said = f"{self.what}: " if self.what else ""
        return f"{said}{self.in_a} → {self.in_b}"


class Comparison(Sequence[Difference]):
    """Everything that differs between two runs; shows as text and, in a notebook, as a table.

    Attributes
    ----------
    a, b : RunParts
    matching : Matching
    titles : tuple of str
        What each of them is called here.
    """

    def __init__(
        self,
        a: RunParts,
        b: RunParts,
        matching: Matching,
        titles: Sequence[str] | None = None,
    ) -> None:
        self.a, self.b = a, b
        self.matching = matching
        self.titles = checked_titles(a, b, titles)

    @cached_property
    def times(self) -> TimeComparison | None:
        """The times of both, operator by operator; None where one run has none."""
        if self.a.timeline is None or self.b.timeline is None:
            return None
        from tvmdbg_widgets.analysis.compare_times.result import TimeComparison

        return TimeComparison(self.a, self.b, self.matching, self.titles)

    @cached_property
    def _found(self) -> tuple[Difference, ...]:
        return tuple(differences(self.a, self.b, self.matching))

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self._found)

    @overload
    def __getitem__(self, index: int) -> Difference: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Difference, ...]: ...
    def __getitem__(self, index: int | slice) -> Difference | tuple[Difference, ...]:
        if isinstance(index, slice):
            return self._found[index]
        return self._found[operator.index(index)]

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Differences that say the same together: by kind, then the most frequent first.

        Times are one each, in the order of how much they differ.
        """
        found: dict[tuple[object, ...], list[Difference]] = {}
        for each in self._found:
            key: tuple[object, ...] = each.kind, each.what, each.in_a, each.in_b
            if each.kind is DifferenceKind.TIME:
                key = each.kind, each.a, each.b
            found.setdefault(key, []).append(each)
        groups = [
            Group(first.kind, first.what, first.in_a, first.in_b, (first, *rest))
            for first, *rest in found.values()
        ]
        return tuple(
            sorted(groups, key=lambda each: (each.kind, -len(each.members)))  # stable
        )

    def of_kind(self, kind: DifferenceKind) -> tuple[Difference, ...]:
        """Return the differences of one kind."""
        return tuple(each for each in self._found if each.kind is kind)

    def counts(self) -> dict[str, int]:
        """Return how many differences there are of each kind that occurs."""
        found = Counter(each.kind for each in self._found)
        return {kind.label: found[kind] for kind in DifferenceKind if found[kind]}

    def to_dataframe(self) -> Any:
        """Return one row a difference as a ``pandas.DataFrame``; node ids are -1 where alone."""
        names_a, names_b = self.matching.graph_a.names, self.matching.graph_b.names
        return data_frame(
            {
                "kind": [each.kind.label for each in self],
                "a": [each.a for each in self],
                "b": [each.b for each in self],
                "name_a": [names_a[each.a] if each.a >= 0 else "" for each in self],
                "name_b": [names_b[each.b] if each.b >= 0 else "" for each in self],
                "what": [each.what for each in self],
                "in_a": [each.in_a for each in self],
                "in_b": [each.in_b for each in self],
            }
        )

    @property
    def title(self) -> str:
        """Both runs by their titles, as far as these tell them apart."""
        return "a: {}, b: {}".format(*map(one_line, self.titles))

    def __repr__(self) -> str:
        lines = [self.title, self.matching.sentence]
        kind = None
        shown = in_kind = 0
        for each in self.groups:
            if each.kind is not kind:
                kind = each.kind
                lines.append(f"{kind.label}: {self.counts()[kind.label]:,}")
                in_kind = 0
            in_kind += 1
            if kind is DifferenceKind.TIME and in_kind > _TIMES_SHOWN:
                continue
            shown += 1
            if shown <= _SHOWN:
                lines.append(f"  {self.nodes(each)}  {each.change}")
        if kind is DifferenceKind.TIME and shown <= _SHOWN and in_kind > _TIMES_SHOWN:
            lines.append(f"  … and {in_kind - _TIMES_SHOWN:,} more")
        if shown > _SHOWN:
            lines.append(f"  … and {shown - _SHOWN:,} more")
        return "\n".join(lines)

    def nodes(self, group: Group) -> str:
        """Return where the differences of a group are: the first pair, and how many more."""
        first = group.members[0]
        ids = [f"#{node}" for node in (first.a, first.b) if node >= 0]
        same = len(ids) == 2 and ids[0] == ids[1]
        told = ids[0] if same else " ~ ".join(ids)
        more = len(group.members) - 1
        return f"{told} and {more:,} more" if more else told

    def _repr_html_(self) -> str:
        rows = []
        times = 0
        for each in self.groups:
            times += each.kind is DifferenceKind.TIME
            if each.kind is DifferenceKind.TIME and times > _TIMES_SHOWN:
                continue
            cells = each.kind.label, f"{len(each.members):,}", self.nodes(each), each.change
            rows.append("".join(f"<td {_CELL}>{html.escape(cell)}</td>" for cell in cells))
        left = max(0, len(rows) - _SHOWN) + max(0, times - _TIMES_SHOWN)
        more = f"<p>… and {left:,} more</p>" if left else ""
        body = "".join(f"<tr>{row}</tr>" for row in rows[:_SHOWN])
        titles = "".join(f"<th {_CELL}>{each}</th>" for each in ("what", "times", "nodes", "a → b"))
        return (
            f"<p>{html.escape(self.title)}<br>{html.escape(self.matching.sentence)}</p>"
            f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{more}"
        )


_CELL = 'style="text-align: left"'


def compare(a: RunParts, b: RunParts, titles: Sequence[str] | None = None) -> Comparison:
    """Compare two runs; see :func:`tvmdbg_widgets.compare`.

    Raises
    ------
    ValueError
        One of them has no graph, or there are not two titles.
    """
    if a.graph is None or b.graph is None:
        raise ValueError(_lacks("a" if a.graph is None else "b"))
    return Comparison(a, b, match(a.graph, b.graph), titles)


def checked_titles(
    a: RunParts, b: RunParts, titles: Sequence[str] | None = None
) -> tuple[str, str]:
    """Return what to call two runs: as given, else their titles with what tells them apart.

    Raises
    ------
    ValueError
        There are not two titles.
    """
    if titles is None:
        return _titles(a, b)
    found = () if isinstance(titles, str) else tuple(titles)
    if len(found) != 2 or "" in found:
        raise ValueError(f"titles are two texts, one for each run, found {titles!r:.80}")
    return found[0], found[1]


def _titles(a: RunParts, b: RunParts) -> tuple[str, str]:
    """Return the titles; where these are the same, with the folders that tell the runs apart."""
    if a.title != b.title:
        return a.title, b.title
    folders_a, folders_b = (_folders(each) for each in (a, b))
    for up in range(1, 1 + min(len(folders_a), len(folders_b))):
        if folders_a[-up] != folders_b[-up]:
            return "/".join(folders_a[-up:]), "/".join(folders_b[-up:])
    return a.title, b.title


def _folders(parts: RunParts) -> tuple[str, ...]:
    """Return the names of the folders down to the one that a run was opened from."""
    for file in parts.files:
        path = getattr(file.source, "path", None)
        if isinstance(path, PurePath):
            below = len(PurePath(file.path).parts)
            return path.parts[1:-below]
    return ()


def graphs_of(a: DebugRun, b: DebugRun | Graph) -> tuple[Graph, Graph]:
    """Return the graphs of two runs, or of a run and a graph.

    Raises
    ------
    ValueError
        One of them has no graph.
    TypeError
        The second is neither a run nor a graph.
    """
    if not isinstance(b, Graph) and not hasattr(b, "parts"):
        raise TypeError(f"a run or its graph is matched, not {type(b).__name__}")
    graph = b if isinstance(b, Graph) else b.graph
    if a.graph is None or graph is None:
        raise ValueError(_lacks("the run" if a.graph is None else "the other run"))
    return a.graph, graph


def _lacks(which: str) -> str:
    return f"{which} has no graph, and only graphs can be matched: open it with its graph file"
