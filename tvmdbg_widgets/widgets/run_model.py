"""The model and session that all views of a run share, and traits of groups."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias

import traitlets

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.question_scheduler import QuestionScheduler
from tvmdbg_widgets.engine import bundle
from tvmdbg_widgets.model.graph.groups import Group, Groups
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.traits import SharedModel

GroupRef: TypeAlias = int | str | Group
GroupRefs: TypeAlias = GroupRef | Iterable[GroupRef] | None


class Folding(traitlets.HasTraits):
    """Methods that open and close the groups of a graph; see :class:`GraphView`."""

    #: Groups that a live view opened for its size, if none were chosen.
    _opened = traitlets.List(traitlets.Int(), None, allow_none=True).tag(sync=True)

    _facts: RunFacts  # the view's
    grouped: bool
    open_groups: list[int] | None

    @traitlets.validate("open_groups", "_opened")
    def _known_groups(self, proposal: dict[str, Any]) -> list[int] | None:
        value: list[int] | None = proposal["value"]
        if value is not None:
            _require(self._facts, proposal["trait"].name, value)
        return value

    @traitlets.validate("group")
    def _known_group(self, proposal: dict[str, Any]) -> int | None:
        value: int | None = proposal["value"]
        if value is not None:
            _require(self._facts, "group", [value])
        return value

    def expand(self, what: GroupRefs = None) -> None:
        """Open groups and the groups around them; turns ``grouped`` on.

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
        groups = self._facts.groups
        opened = self._open()
        for group in _rows(groups, what):
            row = group
            while row >= 0:
                opened.add(row)
                row = int(groups.parent[row])
        self._show(opened)

    def collapse(self, what: GroupRefs = None) -> None:
        """Close groups, all if none is named; as :meth:`expand`."""
        opened = self._open()
        opened.difference_update(_rows(self._facts.groups, what))
        self._show(opened)

    def _show(self, opened: set[int]) -> None:
        with self.hold_trait_notifications():
            self.grouped = True
            self.open_groups = sorted(opened)

    def _open(self) -> set[int]:
        if self.open_groups is not None:
            return set(self.open_groups)
        if self._opened is not None:
            return set(self._opened)
        from tvmdbg_widgets.analysis.view_columns import open_by_itself

        run = self._facts
        if run.graph is None:
            return set()
        return set(open_by_itself(run.graph, run.groups))


def _require(run: RunFacts, name: str, groups: Iterable[int]) -> None:
    count = len(run.groups) if run.graph is not None else 0
    for group in groups:
        if not 0 <= group < count:
            known = f"group ids end at {count - 1}" if count else "this graph has no groups"
            raise traitlets.TraitError(f"{name}: no group {group}; {known}")


def _rows(groups: Groups, what: GroupRefs) -> list[int]:
    if what is None:
        return list(range(len(groups)))
    if isinstance(what, str):
        return [group.id for group in groups.find(what)]
    if isinstance(what, Group):
        return [what.id]
    if isinstance(what, SupportsIndex) and not isinstance(what, bool):
        return [groups[operator.index(what)].id]
    if not isinstance(what, Iterable):
        raise TypeError(f"pass a group, its id or its name, not {what!r}")
    return [row for one in what for row in _rows(groups, one)]


WIDGET = "application/vnd.jupyter.widget-view+json"


class RunModel(SharedModel):
    """Answers the views of one run over custom messages; it has no view.

    A :class:`~tvmdbg_widgets.answers.question_scheduler.QuestionScheduler` answers in threads, so
    that large tensors do not block the notebook.
    """

    _esm = bundle("run.js")
    _view_name = traitlets.Any(None).tag(sync=True)

    title = traitlets.Unicode("").tag(sync=True, page=False)
    content_hash = traitlets.Unicode("").tag(sync=True, page=False)

    def __init__(self, run: RunFacts, **traits: Any) -> None:
        self._run = run
        self._scheduler = QuestionScheduler(run, self._reply)
        super().__init__(title=run.title, content_hash=_content_hash(run), **traits)
        self.on_msg(self._on_question)

    def open(self) -> None:
        """Open the model if a view uses it; a closed model answers again."""
        if self._scheduler.closed:
            self._scheduler = QuestionScheduler(self._run, self._reply)
        super().open()

    def glance(self, seconds: float) -> None:
        """Scan the tensors of a small run, waiting at most some seconds."""
        self._scheduler.glance(seconds)

    def close(self) -> None:
        """Free the model in the kernel and in every page."""
        self._scheduler.close()
        super().close()

    def _on_question(self, _widget: object, message: object, _buffers: object) -> None:
        self._scheduler.take(message)

    def _reply(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        self.send(content, buffers)

    def __repr__(self) -> str:
        return f"RunModel({self._run.title!r})"


def _content_hash(run: RunFacts) -> str:
    digest = hashlib.sha256()
    digest.update(run.title.encode())
    for file in run.provenance.files:
        digest.update(file.encode())
    digest.update(str(id(run)).encode())
    return digest.hexdigest()[:16]


def model_of(facts: RunFacts) -> RunModel:
    """Return the widget model of a run."""
    if "model" not in facts.kept:
        facts.kept["model"] = RunModel(facts)
    model: RunModel = facts.kept["model"]
    return model


def session_of(facts: RunFacts) -> Session:
    """Return the session that views of a run share by default."""
    shared = facts.follows or facts
    if "session" not in shared.kept:
        shared.kept["session"] = Session(shared)
    session: Session = shared.kept["session"]
    return session
