"""Nested groups of the nodes of a graph: repeated blocks, name scopes."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn, freeze
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import meant, public_class, row_of

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int32]

_SHOWN = 12
_LETTERS = 26


class GroupSource(enum.IntEnum):
    """The origin of a group."""

    REPEAT = 0
    """A run of blocks of the same structure, which are its children; none for single operators."""
    BLOCK = 1
    """One of the blocks of a run, or one alone that branches and joins again."""
    SCOPE = 2
    """Nodes with a common prefix of names (``layer1/block0/conv``)."""
    MODULE = 3
    """Nodes of one module, as an attribute of the nodes says (``nn_module_stack``)."""
    DELEGATE = 4
    """Operators that one call of a delegate ran, as an attribute of the nodes says."""
    OPERATOR = 5
    """Operators that one operator of a delegate computes, as an attribute of the nodes says."""


def _none() -> Ints:
    return np.zeros(0, np.int32)


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Groups(Sequence["Group"]):
    """Nested groups of nodes, G of them over N nodes. Every array is read-only.

    Every group is an interval of one topological order, so drawing any set of them as one box
    each makes no cycle that the graph does not have. A parent comes before its children, siblings
    by their place in the order.

    Attributes
    ----------
    order : int32 [N]
        Every node once, producers first; nodes on or behind a cycle come last, by id.
    start, end : int32 [G]
        A group holds ``order[start:end]``, at least two nodes.
    parent : int32 [G]
        The group around it, -1 at the top.
    names : StringColumn [G]
        ``"residual block"``, ``"conv2d → add → relu"``, the name of a scope.
    alike : int32 [G]
        Groups of one number have the same structure: operators, attributes, shapes, wiring.
        Numbered by first occurrence.
    source : uint8 [G]
        :class:`GroupSource`.
    repeats : int32 [G]
        Number of blocks of a ``REPEAT``; else 1.

    Raises
    ------
    ValueError
        Where the columns do not fit each other, or groups do not nest.
    """

    order: Ints
    start: Ints = field(default_factory=_none)
    end: Ints = field(default_factory=_none)
    parent: Ints = field(default_factory=_none)
    names: StringColumn = field(default_factory=lambda: StringColumn((), ()))
    alike: Ints = field(default_factory=_none)
    source: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    repeats: Ints = field(default_factory=_none)

    def __post_init__(self) -> None:
        freeze(self)
        for name in ("end", "parent", "names", "alike", "source", "repeats"):
            rows, groups = len(getattr(self, name)), len(self.start)
            if rows != groups:
                raise ValueError(
                    f"{name} has {counted(rows, 'row')} for {counted(groups, 'group')}"
                )
        self._require_nested()

    def _require_nested(self) -> None:
        start, end, parent = self.start, self.end, self.parent
        count, rows = len(self.order), np.arange(len(start))
        if bool(((start < 0) | (end > count) | (end < start + 2)).any()):
            raise ValueError(f"a group is at least two of {counted(count, 'node')}")
        if bool(((parent < -1) | (parent >= rows)).any()):
            raise ValueError("a parent comes before its children")
        low = np.where(parent < 0, 0, start[parent]) if len(rows) else start
        high = np.where(parent < 0, count, end[parent]) if len(rows) else end
        if bool(((start < low) | (end > high)).any()):
            raise ValueError("a group lies within its parent")
        before: dict[int, int] = {}
        for first, last, around in zip(start.tolist(), end.tolist(), parent.tolist(), strict=True):
            if first < before.get(around, 0):
                raise ValueError("siblings are in order and share no node")
            before[around] = last

    @cached_property
    def node_group(self) -> Ints:
        """The innermost group of a node, -1 for none (int32 [N])."""
        at = np.full(len(self.order), -1, np.int32)
        for group, (first, last) in enumerate(
            zip(self.start.tolist(), self.end.tolist(), strict=True)
        ):
            at[first:last] = group
        innermost = np.empty_like(at)
        innermost[self.order] = at
        innermost.flags.writeable = False
        return innermost

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """Number of the structure of the groups' blocks; a run of blocks is of their kind."""
        known: dict[int, int] = {}
        kinds = []
        for group in range(len(self)):
            held = group + 1 < len(self) and self.parent[group + 1] == group
            is_run = self.source[group] == GroupSource.REPEAT and held
            structure = int(self.alike[group + 1 if is_run else group])
            kinds.append(known.setdefault(structure, len(known)))
        return tuple(kinds)

    def tag(self, group: int) -> str:
        """Return the letters of a group's kind in the legend: A … Z, AA, AB."""
        tag, rest = "", self.kinds[group] + 1
        while rest > 0:
            rest, letter = divmod(rest - 1, _LETTERS)
            tag = chr(ord("A") + letter) + tag
        return tag

    @property
    def top(self) -> tuple[Group, ...]:
        """The groups without a parent."""
        return tuple(Group(self, int(row)) for row in np.flatnonzero(self.parent < 0))

    def of(self, node: int) -> tuple[Group, ...]:
        """Return the groups around a node, the innermost first.

        Raises
        ------
        IndexError
            Where there is no such node.
        """
        groups: list[Group] = []
        group = int(self.node_group[row_of("node", node, len(self.order))])
        while group >= 0:
            groups.append(Group(self, group))
            group = int(self.parent[group])
        return tuple(groups)

    def find(self, name: str) -> tuple[Group, ...]:
        """Return every group of that name or title, upper and lower case alike.

        Raises
        ------
        KeyError
            Where there is none; tells close names.
        TypeError
            The name is no str.
        """
        if not isinstance(name, str):
            raise TypeError(f"a group is found by its name, not {type(name).__name__}: groups[id]")
        wanted = name.casefold().strip()
        groups = tuple(
            group
            for group in self
            for name in (group.name.casefold(),)
            if wanted in (name, name.partition(" · ")[0], group.title.casefold())
        )
        if groups:
            return groups
        raise KeyError(f"no group is named {name!r:.200}{meant(name, self.names.unique)}")

    def __len__(self) -> int:
        return len(self.start)

    @overload
    def __getitem__(self, index: int) -> Group: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Group, ...]: ...
    def __getitem__(self, index: int | slice) -> Group | tuple[Group, ...]:
        count = len(self)
        if isinstance(index, slice):
            return tuple(Group(self, row) for row in range(count)[index])
        return Group(self, row_of("group", index, count, "groups.find({!r:.80})"))

    def __iter__(self) -> Iterator[Group]:
        return (Group(self, row) for row in range(len(self)))

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per group (needs pandas)."""
        import pandas as pd

        return pd.DataFrame(
            {
                "name": list(self.names),
                "title": [group.title for group in self],
                "source": [group.source.name for group in self],
                "depth": [group.depth for group in self],
                "parent": self.parent,
                "nodes": self.end - self.start,
                "repeats": self.repeats,
                "alike": self.alike,
            },
            index=pd.RangeIndex(len(self), name="group"),
        )

    def _distinct(self) -> list[Group]:
        """Return the groups without repeated blocks of runs."""
        hidden = np.zeros(len(self) + 1, np.bool_)
        groups: list[Group] = []
        for row, around in enumerate(self.parent.tolist()):
            of_run = around >= 0 and self.source[around] == GroupSource.REPEAT
            hidden[row] = hidden[around] or (of_run and around != row - 1)
            if not hidden[row] and not of_run:
                groups.append(Group(self, row))
        return groups

    def __repr__(self) -> str:
        inside = int((self.node_group >= 0).sum())
        heading = f"{counted(len(self), 'group')} of {inside} of {counted(len(self.order), 'node')}"
        shown = self._distinct()
        lines = [
            f"{'  ' * (1 + group.depth)}{group.id} {group.title}: {counted(len(group), 'node')}"
            for group in shown[:_SHOWN]
        ]
        more = [f"  … {len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
        return "\n".join([heading, *lines, *more])


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Group:
    """One group; holds the groups and its number, nothing else."""

    groups: Groups
    id: int

    @property
    def name(self) -> str:
        """``"residual block"``."""
        return self.groups.names[self.id]

    @property
    def title(self) -> str:
        """Name, and the number of blocks of a run: ``"residual block × 16"``."""
        repeats = int(self.groups.repeats[self.id])
        return f"{self.name} × {repeats}" if repeats > 1 else self.name

    @property
    def source(self) -> GroupSource:
        """Origin of the group."""
        return GroupSource(int(self.groups.source[self.id]))

    @property
    def nodes(self) -> Ints:
        """Ids of its nodes with those of its children, producers first."""
        return self.groups.order[self.groups.start[self.id] : self.groups.end[self.id]]

    @property
    def parent(self) -> Group | None:
        """The group around it."""
        row = int(self.groups.parent[self.id])
        return Group(self.groups, row) if row >= 0 else None

    @property
    def children(self) -> tuple[Group, ...]:
        """The groups directly inside."""
        rows = np.flatnonzero(self.groups.parent == self.id)
        return tuple(Group(self.groups, int(row)) for row in rows)

    @property
    def depth(self) -> int:
        """Number of groups around it."""
        depth, row = 0, int(self.groups.parent[self.id])
        while row >= 0:
            depth, row = depth + 1, int(self.groups.parent[row])
        return depth

    @property
    def repeats(self) -> int:
        """Number of blocks of a run; else 1."""
        return int(self.groups.repeats[self.id])

    @property
    def alike(self) -> tuple[Group, ...]:
        """All groups of its structure, itself included."""
        number = self.groups.alike[self.id]
        rows = np.flatnonzero(self.groups.alike == number)
        return tuple(Group(self.groups, int(row)) for row in rows)

    def __len__(self) -> int:
        return int(self.groups.end[self.id] - self.groups.start[self.id])

    def __contains__(self, node: object) -> bool:
        return isinstance(node, int | np.integer) and bool((self.nodes == node).any())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self.id == other.id and self.groups is other.groups

    def __hash__(self) -> int:
        return hash((id(self.groups), self.id))

    def __repr__(self) -> str:
        inside = Counter(child.title for child in self.children)
        children = ", ".join(
            name if count == 1 else f"{count} of {name}" for name, count in inside.items()
        )
        return (
            f"<Group {self.id} {self.title!r}: {counted(len(self), 'node')}"
            f"{f', holds {children}' if children else ''}>"
        )
