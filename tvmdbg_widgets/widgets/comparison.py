"""ComparisonView: two graphs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from tvmdbg_widgets.analysis.compare import Comparison, compare
from tvmdbg_widgets.analysis.differences import DifferenceKind
from tvmdbg_widgets.analysis.matching import Certainty, Reason
from tvmdbg_widgets.model.strings import StringColumn
from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.bundles import bundle, code_name, module
from tvmdbg_widgets.widgets.columns import pack
from tvmdbg_widgets.widgets.guarded import ModelTrait
from tvmdbg_widgets.widgets.messages import Question, message_id
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.view import View, a_session, own_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.figures.handed_on import HandedOn
    from tvmdbg_widgets.model.node_columns import NodeColumn
    from tvmdbg_widgets.run import DebugRun

_CHANGE = "time change"
_COLORS = ["match", _CHANGE, "kind", "time", "health", "dtype", "device", "storage", "bytes"]


class ComparisonView(View):
    """The graphs of two runs side by side, linked by which nodes stand for each other.

    ::

        tvmdbg.ComparisonView(plain, unfused)

    A node that is selected on one side selects its match on the other, which comes to stand at
    the same place. Below are all differences, grouped; to walk them is to walk the graphs.

    Parameters
    ----------
    a, b : DebugRun
        Both with a graph.
    titles : two str, optional
        As of :func:`tvmdbg_widgets.compare`.
    **traits
        Initial state, by the names below.

    Attributes
    ----------
    comparison : Comparison
        What :func:`tvmdbg_widgets.compare` returns.
    linked : bool
        One side moves with the other.
    kind : str or None
        The only kind of difference that is listed, ``"only in a"``, ``"shape"`` …; None for all.
    color_by : str
        ``"match"``: how surely a node is matched; ``"time change"``: by how much it is slower in
        `b`, as far as that is more than noise; or ``"kind"``, ``"time"``, ``"health"``,
        ``"dtype"``, ``"device"``, ``"storage"`` or ``"bytes"``, as of GraphView.
    fold_parameters, direction, grouped
        As of GraphView, for both sides.
    height : int
        CSS pixels.

    Raises
    ------
    TypeError
        For something that is no run.
    ValueError
        One of the runs has no graph, or there are not two titles.
    """

    _esm = module("comparison")
    _css = bundle("comparison.css")
    _code = traitlets.Unicode(code_name("comparison")).tag(sync=True)

    run_b = ModelTrait()
    session_b: Any = ModelTrait()
    linked = traitlets.Bool(True).tag(sync=True)
    kind = traitlets.Enum(
        [each.label for each in DifferenceKind], allow_none=True, default_value=None
    ).tag(sync=True)
    color_by = traitlets.Enum(_COLORS, "match").tag(sync=True)
    fold_parameters = traitlets.Bool(True).tag(sync=True)
    direction = traitlets.Enum(["down", "right"], "down").tag(sync=True)
    grouped = traitlets.Bool(False).tag(sync=True)
    height = traitlets.Int(720, min=240, max=4000).tag(sync=True)

    def __init__(
        self,
        a: DebugRun,
        b: DebugRun,
        titles: Sequence[str] | None = None,
        **traits: Any,
    ) -> None:
        for run in (a, b):
            if not hasattr(run, "parts"):
                raise TypeError(
                    f"ComparisonView shows two runs, not {type(run).__name__}: pass "
                    "tvmdbg_widgets.open(path)"
                )
        self.comparison = compare(a.parts, b.parts, titles)
        self._run_b = b
        own = Session(b) if a is b else b.session
        super().__init__(a, run_b=b.model, session_b=own, **traits)
        self.on_msg(self._on_question)

    @traitlets.validate("run_b")
    def _its_own_run_b(self, proposal: dict[str, Any]) -> object:
        return own_model(proposal, self._run_b)

    @traitlets.validate("session_b")
    def _another_session(self, proposal: dict[str, Any]) -> Session:
        return a_session(proposal)

    def __repr__(self) -> str:
        a, b = self.comparison.titles
        return (
            f"<ComparisonView of {a!r} and {b!r}, alive in a notebook; "
            "elsewhere .save_html(path) or .figure().save(path)>"
        )

    def answer(self) -> Reply:
        """Return all that the view asks: pairs and differences, as columns."""
        return comparison_answer(self.comparison, {"kind": "comparison"})

    @property
    def run_beside(self) -> DebugRun:
        """The run on the right side."""
        return self._run_b

    def _on_question(self, _widget: object, message: object, _buffers: object) -> None:
        try:
            reply = comparison_answer(self.comparison, message)
        except ValueError as problem:
            self.send({"id": message_id(message), "error": str(problem)})
            return
        self.send({"id": message_id(message), "result": reply.result}, list(reply.buffers))

    def _figure(
        self, width: float, theme: str, saved: bool = False, handed: HandedOn | None = None
    ) -> Figure:
        from tvmdbg_widgets.figures.comparison import comparison_figure

        del handed
        return comparison_figure(
            (self._debug_run, self._run_b),
            self.comparison,
            color_by=self.color_by,
            fold_parameters=self.fold_parameters,
            direction=self.direction,
            kind=self.kind,
            selected=(self._marked(), tuple(self.session_b.selected)),
            width=width,
            theme=theme,
            saved=saved,
        )


def comparison_answer(comparison: Comparison, message: object) -> Reply:
    """Answer what the view asks: all pairs and all differences, as columns.

    Parameters
    ----------
    comparison : Comparison
    message : object
        As it came from the page: checked as if hostile.

    Raises
    ------
    ValueError
        The message is not that question.
    """
    question = Question(message)
    if question.kind != "comparison":
        raise ValueError(f"unknown question {question.kind!r}; known is comparison")
    matching, groups = comparison.matching, comparison.groups
    members = [each for group in groups for each in group.members]
    columns: dict[str, Any] = {
        "pairA": np.ascontiguousarray(matching.pairs[:, 0]),
        "pairB": np.ascontiguousarray(matching.pairs[:, 1]),
        "certainty": matching.certainty,
        "reason": matching.reason,
        "groupKind": np.array([group.kind for group in groups], np.uint8),
        "groupStart": np.cumsum([0, *(len(group.members) for group in groups)]).astype(np.int32),
        "groupChange": StringColumn.from_strings(group.change for group in groups),
        "memberA": np.array([each.a for each in members], np.int32),
        "memberB": np.array([each.b for each in members], np.int32),
    }
    changes = _changes(comparison)
    columns |= {f"change{side}": column.rows for side, column in zip("AB", changes, strict=False)}
    headers, buffer = pack(columns)
    info = {
        "titles": list(comparison.titles),
        "sentence": matching.sentence,
        "kinds": [kind.label for kind in DifferenceKind],
        "certainties": [each.label for each in Certainty],
        "reasons": [each.label for each in Reason],
        "changeNotes": [column.note for column in changes],
    }
    return Reply({"columns": headers, "info": info}, (buffer,))


def _changes(comparison: Comparison) -> list[NodeColumn]:
    """Return by how much each node is slower in `b`, for both graphs; nothing without times."""
    times = comparison.times
    matching = comparison.matching
    if times is None:
        return []
    return [times.column_of(graph) for graph in (matching.graph_a, matching.graph_b)]
