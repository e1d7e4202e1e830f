"""Session: shared selection, notes and tour of the linked views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import traitlets

from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts, facts_of
from tvmdbg_widgets.engine import bundle
from tvmdbg_widgets.figures.options import ENTRY, NODES, Span
from tvmdbg_widgets.model.base.options import (
    TEXT,
    ViewOptions,
    anything,
    fixed,
    interval,
    option,
    option_of,
    options_of,
    whole,
)
from tvmdbg_widgets.model.base.slips import meant, no_argument, one_of
from tvmdbg_widgets.model.refs import entry_ref, listed, node_ref
from tvmdbg_widgets.widgets.traits import (
    ModelTrait,
    SharedModel,
    as_trait_error,
    described,
    named_in,
    shown_entry,
    traits_of,
    validated,
)


@dataclass(frozen=True, kw_only=True)
class SessionOptions(ViewOptions):
    """State that linked views share."""

    selected: Sequence[int] = option(
        anything("readonly number[]", "list of int", lambda given: NODES.check(listed(given))),
        [],
        "Node ids, the last one selected last. May be set to what ``run.select`` returns, a group "
        "of ``run.groups`` or an array, too.",
    )
    entry: tuple[int, int] | None = option(
        anything(ENTRY, "(int, int)"),
        None,
        "The shown entry ``(node, output)``; also set by a node's id or name. Where others are "
        "selected, it becomes the first output of the last of them; set to an entry of another "
        "node, it selects that node.",
    )
    slice: tuple[int, int] | None = option(
        fixed(node=whole(), occurrence=whole()),
        None,
        "The shown slice, as ``(node, occurrence)``; None if its node is not selected.",
    )
    time_range: Span | None = option(
        interval("nanoseconds"), None, "Nanoseconds; None is all of the timeline."
    )
    hovered: int | None = option(
        whole(), None, "Node id under the pointer (sent to Python when the pointer rests)."
    )
    source: str = option(
        TEXT,
        "",
        'Who set the selection last: ``"findings"``, ``"graph"``, ``"tensor"``, ``"timeline"``, '
        '``"memory"``, ``"plot"``, ``"comparison"``, ``"issues"``, ``"palette"``, ``"tour"`` or '
        '``"python"``.',
    )
    notes: Mapping[str, str] = option(
        anything("Record<string, string>", "dict of str to str"),
        {},
        "Text by node id, plain; shown at the node in every view. See :meth:`note`.",
    )
    tour: Sequence[Any] = option(
        anything("readonly TourStep[]", "list of dict"),
        [],
        "Steps as :meth:`tvmdbg_widgets.run.DebugRun.tour` made them: ``text``, ``nodes``, "
        "``entry``, ``slice``, ``time_range``, ``view``.",
    )
    tour_step: int | None = option(
        whole(),
        None,
        "Which step is shown; setting it selects what the step speaks of. None: no tour is shown.",
    )


SessionTraits: Any = traits_of(SessionOptions)


@described
class Session(SessionTraits, SharedModel):
    """Shared state of linked views, without a view of its own.

    Views with the same session stay in sync, in one cell or in several. Every trait can be
    read, set and observed from Python::

        session = run.session
        session.selected = [12]
        session.observe(lambda change: print(change["new"]), names="selected")

    The next cell can use the page's selection: :attr:`node`, :attr:`tensor`.
    """

    _esm = bundle("session.js")
    _view_name = traitlets.Any(None).tag(sync=True)

    selected: list[int]
    entry: tuple[int, int] | None
    slice: tuple[int, int] | None
    time_range: tuple[float, float] | None
    notes: Any
    tour: Any
    tour_step: int | None

    def __init__(self, run: OpenedRun | RunFacts | None = None, **traits: Any) -> None:
        self._run = None if run is None else facts_of(run)
        known = [each.name for each in options_of(SessionOptions)]
        for name in traits:
            if name not in known:
                raise no_argument("Session", name, known)
        super().__init__(**traits)

    def select(self, *nodes: int | str, output: int = 0) -> None:
        """Select nodes by id or name; the last one's ``output`` becomes the shown entry.

        Raises
        ------
        KeyError
            A name that no node, or more than one, has.
        IndexError
            An id or output that the graph does not have.
        """
        ids = [node_ref(node, *named_in(self._run)) for node in nodes]
        entry = entry_ref((ids[-1], output), *named_in(self._run)) if ids else None
        with self.hold_sync():
            self.selected = ids
            self.entry = entry
            self.slice = None
            self.source = "python"

    def note(self, node: int | str, text: str | None) -> None:
        """Write a note at a node, by id or name; an empty text or None removes it.

        Parameters
        ----------
        node : int or str
        text : str or None
            Plain text of at most 2,000 characters; no markup is read in it.

        Raises
        ------
        KeyError, IndexError, TypeError, ValueError
            A node that the run does not have, or no such text.
        """
        key = str(node_ref(node, *named_in(self._run)))
        others = {other: old for other, old in self.notes.items() if other != key}
        self.notes = checked_notes(self._run, others | ({} if text is None else {key: text}))

    @property
    def node(self) -> Any:
        """The last selected node (:class:`~tvmdbg_widgets.model.graph.nodes.Node`), or None."""
        if not self.selected or self._run is None or self._run.graph is None:
            return None
        return self._run.graph.nodes[self.selected[-1]]

    @property
    def tensor(self) -> Any:
        """The shown tensor (:class:`~tvmdbg_widgets.model.tensors.tensors.Tensor`), or None."""
        if self._run is None or self._run.tensors is None:
            return None
        return None if self.entry is None else self._run.tensors.get(self.entry)

    @traitlets.validate("selected")
    def _within_the_graph(self, proposal: dict[str, Any]) -> list[int]:
        nodes: Iterable[int] = proposal["value"]
        for node in nodes:
            self._check("selected", node)
        return list(nodes)

    _check_entry = validated("entry", lambda self, given: shown_entry(self._run, given))

    @traitlets.validate("slice")
    def _of_a_node(self, proposal: dict[str, Any]) -> Any:
        if proposal["value"] is not None:
            self._check("slice", proposal["value"][0])
        return proposal["value"]

    def _check(self, trait: str, node: int) -> None:
        with as_trait_error(trait):
            node_ref(node, *named_in(self._run))

    _check_notes = validated("notes", lambda self, notes: checked_notes(self._run, notes))
    _check_tour = validated("tour", lambda self, steps: checked_tour(self._run, steps))

    @traitlets.validate("tour_step")
    def _step_of_the_tour(self, proposal: dict[str, Any]) -> int | None:
        step: int | None = proposal["value"]
        if step is not None and not 0 <= step < len(self.tour):
            raise traitlets.TraitError(
                f"tour_step: there is no step {step} in a tour of {len(self.tour)}"
            )
        return step

    @traitlets.observe("selected")
    def _show_selected(self, _change: object) -> None:
        nodes = self.selected
        with self.hold_sync():
            if self.slice is not None and self.slice[0] not in nodes:
                self.slice = None
            if self.entry is None or self.entry[0] not in nodes:
                self.entry = self._first_output(nodes[-1]) if nodes else None

    @traitlets.observe("entry", "slice")
    def _select_shown(self, change: dict[str, Any]) -> None:
        shown = change["new"]
        if shown is not None and self.selected and shown[0] not in self.selected:
            self.selected = [shown[0]]

    def _first_output(self, node: int) -> tuple[int, int] | None:
        graph = None if self._run is None else self._run.graph
        return (node, 0) if graph is None or graph.nodes[node].num_outputs else None

    @traitlets.observe("tour")
    def _leave_replaced_tour(self, _change: object) -> None:
        if self.tour_step is not None and self.tour_step >= len(self.tour):
            self.tour_step = None

    @traitlets.observe("tour_step")
    def _show_step(self, change: dict[str, Any]) -> None:
        if change["new"] is None:
            return
        step = self.tour[change["new"]]
        with self.hold_sync():
            self.selected = step["nodes"]
            self.entry = step["entry"] and tuple(step["entry"])
            self.slice = step["slice"] and tuple(step["slice"])
            self.time_range = step["time_range"] and tuple(step["time_range"])
            self.source = "tour"

    def __repr__(self) -> str:
        selected = ", ".join(map(str, self.selected)) or "nothing"
        return f"Session: {selected} selected; entry {self.entry}, slice {self.slice}"


class SessionTrait(ModelTrait):
    """The session of a view."""

    def validate(self, obj: Any, value: Any) -> Session:
        """Return the session; TraitError for anything else."""
        del obj
        if not isinstance(value, Session):
            found = type(value).__name__
            raise traitlets.TraitError(f"{self.name} must be a Session, not {found}")
        return value


NodeRef: TypeAlias = int | str
StepLike: TypeAlias = (
    tuple[NodeRef | tuple[NodeRef, int] | list[NodeRef], str] | Mapping[str, object]
)

#: Longest text of a note, and of a step of a tour, in characters.
NOTE_LENGTH = 2_000
STEP_LENGTH = 10_000
MOST_NOTES = 10_000
MOST_STEPS = 1_000
_VIEWS = ("findings", "graph", "tensor", "timeline")
_FIELDS = ("text", "node", "nodes", "entry", "slice", "time_range", "view")


def plain_text(text: object, most: int) -> str:
    """Return the stripped text."""
    if not isinstance(text, str):
        raise TypeError(f"a text must be a str, not {type(text).__name__}")
    stripped = text.strip()
    if len(stripped) > most:
        raise ValueError(f"a text has at most {most:,} characters, this one has {len(stripped):,}")
    return stripped


def checked_notes(run: RunFacts | None, notes: object) -> dict[str, str]:
    """Return notes by node id as text, in node order, without empty ones."""
    if not isinstance(notes, Mapping):
        raise TypeError(f"notes must map nodes to texts, not {type(notes).__name__}")
    if len(notes) > MOST_NOTES:
        raise ValueError(f"at most {MOST_NOTES:,} notes, not {len(notes):,}")
    by_node: dict[int, str] = {}
    for node, text in notes.items():
        plain = isinstance(node, str) and node.isascii() and node.isdecimal()
        checked = plain_text(text, NOTE_LENGTH)
        if checked:
            by_node[node_ref(int(node) if plain else node, *named_in(run))] = checked
    return {str(node): by_node[node] for node in sorted(by_node)}


def checked_tour(run: RunFacts | None, steps: object) -> list[dict[str, Any]]:
    """Return checked steps: ``{"text", "nodes", "entry", "slice", "time_range", "view"}``."""
    if isinstance(steps, str | bytes | Mapping) or not isinstance(steps, Iterable):
        raise TypeError('a tour is a list of steps such as (38, "The first Inf.")')
    given = list(steps)
    if len(given) > MOST_STEPS:
        raise ValueError(f"a tour has at most {MOST_STEPS:,} steps, this one has {len(given):,}")
    checked = []
    for number, step in enumerate(given, 1):
        try:
            checked.append(_step(run, step))
        except (TypeError, ValueError, LookupError) as problem:
            message = problem.args[0] if problem.args else problem
            raise type(problem)(f"step {number} of {len(given)}: {message}") from None
    return checked


def _step(run: RunFacts | None, step: object) -> dict[str, Any]:
    fields = dict(step) if isinstance(step, Mapping) else _of_pair(step)
    unknown = [str(name) for name in fields if name not in _FIELDS]
    if unknown:
        raise TypeError(f"a step has no field {unknown[0]!r:.80}{meant(unknown[0], _FIELDS)}")
    if "text" not in fields:
        raise TypeError('no text; a step says something: dict(text="…", node=38)')
    text = plain_text(fields["text"], STEP_LENGTH)
    given = fields.get("entry")
    entry = (given, 0) if isinstance(given, int | str) else _pair(given, "entry", "(node, output)")
    piece = _pair(fields.get("slice"), "slice", "(node, occurrence)")
    checked_entry = None if entry is None else entry_ref(entry, *named_in(run))
    checked_slice = None if piece is None else _slice(run, *piece)
    nodes = [
        node_ref(node, *named_in(run)) for node in _several(fields.get("nodes"), fields.get("node"))
    ]
    for pair in (checked_slice, checked_entry):
        if pair is not None and pair[0] not in nodes:
            nodes.append(pair[0])
    span = option_of(SessionOptions, "time_range").checked(fields.get("time_range"))
    view = fields.get("view")
    if view is not None:
        one_of("view", view, _VIEWS)
    if checked_entry is None and nodes:
        checked_entry = (nodes[-1], 0)
    return {
        "text": text,
        "nodes": list(dict.fromkeys(nodes)),
        "entry": None if checked_entry is None else list(checked_entry),
        "slice": None if checked_slice is None else list(checked_slice),
        "time_range": span and list(span),
        "view": view,
    }


def _of_pair(step: object) -> dict[str, object]:
    if isinstance(step, str):
        return {"text": step}
    if not isinstance(step, tuple | list) or len(step) != 2:
        raise TypeError(
            f'{step!r} is not a step; write (38, "text"), ((38, 1), "text") or '
            'dict(text="text", node=38, view="tensor")'
        )
    what, text = step
    if isinstance(what, tuple):
        return {"text": text, "entry": what}
    return {"text": text, "nodes": what if isinstance(what, list) else [what]}


def _several(nodes: object, node: object) -> list[object]:
    several: list[object] = []
    for given in (nodes, node):
        if isinstance(given, list | tuple | set | frozenset | range):
            several.extend(given)
        elif given is not None:
            several.append(given)
    return several


def _pair(value: object, name: str, form: str) -> tuple[object, object] | None:
    if value is None:
        return None
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise TypeError(f"{name} must be {form}, not {value!r}")
    return value[0], value[1]


def _slice(run: RunFacts | None, node: object, occurrence: object) -> tuple[int, int]:
    row, number = node_ref(node, *named_in(run)), whole().check(occurrence)
    if run is not None and run.timeline is not None:
        count = len(run.timeline.slices_of(row))
        if not 0 <= number < count:
            raise IndexError(f"no slice {number} of node {row}, which has {count}")
    return row, number
