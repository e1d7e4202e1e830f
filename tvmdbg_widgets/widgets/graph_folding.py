"""Which groups of a graph are drawn as one box, and how a long graph is laid out."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias

import traitlets

from tvmdbg_widgets.model.graph.groups import Group, Groups
from tvmdbg_widgets.widgets.shown_run import ShownRun

GroupRef: TypeAlias = int | str | Group
GroupRefs: TypeAlias = GroupRef | Iterable[GroupRef] | None


class Folding(traitlets.HasTraits):
    """Traits of groups, and what opens and closes them; see :class:`GraphView`."""

    grouped = traitlets.Bool(True).tag(sync=True)
    open_groups = traitlets.List(traitlets.Int(), allow_none=True, default_value=None).tag(
        sync=True
    )
    #: Where nobody has chosen: what a live view opened for the room that it has.
    _opened = traitlets.List(traitlets.Int(), allow_none=True, default_value=None).tag(sync=True)
    wrapped = traitlets.Bool(allow_none=True, default_value=None).tag(sync=True)
    group = traitlets.Int(allow_none=True, default_value=None).tag(sync=True)

    _debug_run: ShownRun  # the view's

    @traitlets.validate("open_groups", "_opened")
    def _known_groups(self, proposal: dict[str, Any]) -> list[int] | None:
        value: list[int] | None = proposal["value"]
        if value is not None:
            _require(self._debug_run, proposal["trait"].name, value)
        return value

    @traitlets.validate("group")
    def _known_group(self, proposal: dict[str, Any]) -> int | None:
        value: int | None = proposal["value"]
        if value is not None:
            _require(self._debug_run, "group", [value])
        return value

    def expand(self, what: GroupRefs = None) -> None:
        """Open groups, and the closed ones around them; draws groups where none were drawn.

        ::

            view.expand()                                # all
            view.expand("residual block")                # all of that name
            view.expand(run.groups[3])                   # one
            view.expand(run.groups[3].alike)             # all of its structure

        Parameters
        ----------
        what : int, str, Group or several of them, optional
            Ids, names (or titles, ``"residual block × 16"``), groups; all where left out.

        Raises
        ------
        KeyError, IndexError, TypeError
            Groups that the run does not have; names close ones.
        """
        groups = _groups(self._debug_run)
        opened = self._open()
        for group in _rows(groups, what):
            row = group
            while row >= 0:
                opened.add(row)
                row = int(groups.parent[row])
        self._show(opened)

    def collapse(self, what: GroupRefs = None) -> None:
        """Close groups; all where none is named. As :meth:`expand`."""
        opened = self._open()
        opened.difference_update(_rows(_groups(self._debug_run), what))
        self._show(opened)

    def _show(self, opened: set[int]) -> None:
        """Draw groups, these of them open."""
        with self.hold_trait_notifications():
            self.grouped = True
            self.open_groups = sorted(opened)

    def _open(self) -> set[int]:
        """Return the groups that are open now."""
        if self.open_groups is not None:
            return set(self.open_groups)
        if self._opened is not None:
            return set(self._opened)
        from tvmdbg_widgets.analysis.graph.open_groups import open_by_itself

        run = self._debug_run
        if run.graph is None:
            return set()
        return set(open_by_itself(run.graph, run.groups))


def _groups(run: ShownRun) -> Groups:
    """Return the run's groups."""
    return run.groups


def _require(run: ShownRun, name: str, groups: Iterable[int]) -> None:
    count = len(run.groups) if run.graph is not None else 0
    for group in groups:
        if not 0 <= group < count:
            known = f"group ids end at {count - 1}" if count else "this graph has no groups"
            raise traitlets.TraitError(f"{name}: no group {group}; {known}")


def _rows(groups: Groups, what: GroupRefs) -> list[int]:
    """Return the ids of the groups that are meant."""
    if what is None:
        return list(range(len(groups)))
    if isinstance(what, str):
        return [group.id for group in groups.find(what)]
    if isinstance(what, Group):
        return [what.id]
    if isinstance(what, bool):
        raise TypeError(f"pass a group, its id or its name, not {what!r}")
    if isinstance(what, SupportsIndex):
        return [groups[operator.index(what)].id]
    if not isinstance(what, Iterable):
        raise TypeError(f"pass a group, its id or its name, not {what!r}")
    return [row for each in what for row in _rows(groups, each)]
