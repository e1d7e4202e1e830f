"""ComparisonView: two graphs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import traitlets

from tvmdbg_widgets.analysis.compare import Comparison, compare
from tvmdbg_widgets.analysis.compare_times.result import NAME as CHANGE
from tvmdbg_widgets.analysis.compare_times.result import SPEED
from tvmdbg_widgets.analysis.differences import DifferenceKind
from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts, facts_of
from tvmdbg_widgets.analysis.matching import Certainty, Reason
from tvmdbg_widgets.answers.messages import Question, message_id
from tvmdbg_widgets.answers.question_scheduler import replied
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import bundle, code_name, module, pack
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.view_options import auto_height
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.options import FLAG, ViewOptions, choice, option
from tvmdbg_widgets.model.graph.graph import Graph, node_labels, shape_text
from tvmdbg_widgets.model.graph.node_columns import NodeColumn
from tvmdbg_widgets.widgets.run_model import model_of, session_of
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.traits import ModelTrait, described, traits_of
from tvmdbg_widgets.widgets.view import View, a_session, own_model

_COLORS = (SPEED, CHANGE, "match", "kind", "time", "health", "dtype", "device", "storage", "bytes")


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(ViewOptions):
    """Options of two graphs side by side."""

    height: int | str = auto_height()
    linked: bool = option(FLAG, True, "One side moves with the other.", drawn=False)
    kind: str | None = option(
        choice(*(each.label for each in DifferenceKind)),
        None,
        'The only kind of difference that is listed, ``"only in A"``, ``"shape"`` …; None for all.',
    )
    color_by: str = option(
        choice(*_COLORS),
        SPEED,
        '``"speed"``: how many times slower or faster a node is in `b`, unless that is noise (a '
        "difference that no repeats can test is shown, and said to be that); where both runs have "
        'times it is what the view opens with. ``"time change"``: the same in nanoseconds. '
        '``"match"``: match quality. Or ``"kind"``, ``"time"``, ``"health"``, ``"dtype"``, '
        '``"device"``, ``"storage"`` or ``"bytes"``, as of GraphView.',
    )
    fold_parameters: bool = option(FLAG, True, "As of GraphView, for both sides.")
    direction: str = option(choice("down", "right"), "down", "As of GraphView, for both sides.")
    grouped: bool = option(FLAG, True, "As of GraphView, for both sides.")


ComparisonTraits: Any = traits_of(ComparisonOptions)


@described
class ComparisonView(ComparisonTraits, View):
    """The graphs of two runs side by side, linked by matching nodes.

    ::

        tvmdbg.ComparisonView(plain, unfused)

    Selecting a node selects its match in the other graph and moves it to the same height. All
    differences are listed below in groups; stepping through them steps through the graphs.

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
    _made_by = "tvmdbg_widgets.ComparisonView(a, b)"

    def __init__(
        self,
        a: OpenedRun | RunFacts,
        b: OpenedRun | RunFacts,
        titles: Sequence[str] | None = None,
        **traits: Any,
    ) -> None:
        for run in (a, b):
            if not isinstance(getattr(run, "facts", run), RunFacts):
                raise TypeError(
                    f"ComparisonView shows two runs, not {type(run).__name__}: pass "
                    "tvmdbg_widgets.open(path)"
                )
        facts_a, self._facts_b = facts_of(a), facts_of(b)
        self.comparison = compare(facts_a.parts, self._facts_b.parts, titles)
        own = Session(b) if facts_a is self._facts_b else session_of(self._facts_b)
        traits.setdefault("color_by", "match" if self.comparison.times is None else SPEED)
        super().__init__(a, run_b=model_of(self._facts_b), session_b=own, **traits)
        self.on_msg(self._on_question)

    @traitlets.validate("run_b")
    def _its_own_run_b(self, proposal: dict[str, Any]) -> object:
        return own_model(proposal, self._facts_b)

    @traitlets.validate("session_b")
    def _another_session(self, proposal: dict[str, Any]) -> Session:
        return a_session(proposal)

    def __repr__(self) -> str:
        a, b = self.comparison.titles
        return (
            f"<ComparisonView of {a!r} and {b!r}, live in a notebook; "
            "elsewhere use .save_html(path) or .figure().save(path)>"
        )

    def answer(self) -> Reply:
        """Return the reply to the view's question: pairs and differences as columns."""
        return comparison_answer(self.comparison, {"kind": "comparison"})

    @property
    def run_beside(self) -> RunFacts:
        """Facts of the run on the right side."""
        return self._facts_b

    def _scanned_runs(self) -> Sequence[RunFacts]:
        return [self._facts, self._facts_b]

    def _on_question(self, _widget: object, message: object, _buffers: object) -> None:
        content, buffers = replied(
            "a comparison", lambda: comparison_answer(self.comparison, message)
        )
        self.send({"id": message_id(message), **content}, buffers)

    def _figure(
        self, width: float, theme: str, saved: bool = False, redaction: Redaction | None = None
    ) -> Figure:
        from tvmdbg_widgets.figures.comparison import comparison_figure

        del redaction
        return comparison_figure(
            (self._facts, self._facts_b),
            self.comparison,
            color_by=self.color_by,
            fold_parameters=self.fold_parameters,
            direction=self.direction,
            grouped=self.grouped,
            kind=self.kind,
            selected=(self._marked(), tuple(self.session_b.selected)),
            width=width,
            theme=theme,
            saved=saved,
        )


def comparison_answer(comparison: Comparison, message: object) -> Reply:
    """Answer all matched pairs and all differences as columns."""
    question = Question(message)
    if question.kind != "comparison":
        raise ValueError(f"unknown question {question.kind!r}; known is comparison")
    matching, groups = comparison.matching, comparison.groups
    members = [member for group in groups for member in group.members]
    columns: dict[str, Any] = {
        "pairA": np.ascontiguousarray(matching.pairs[:, 0]),
        "pairB": np.ascontiguousarray(matching.pairs[:, 1]),
        "certainty": matching.certainty,
        "reason": matching.reason,
        "groupKind": np.array([group.kind for group in groups], np.uint8),
        "groupStart": np.cumsum([0, *(len(group.members) for group in groups)]).astype(np.int32),
        "groupChange": StringColumn.from_strings(group.change for group in groups),
        "memberA": np.array([member.a for member in members], np.int32),
        "memberB": np.array([member.b for member in members], np.int32),
    }
    speeds, changes = _time_columns(comparison)
    for side, graph in zip("AB", (matching.graph_a, matching.graph_b), strict=True):
        columns[f"label{side}"] = node_labels(graph)
        columns[f"shape{side}"] = _shapes(graph)
    for side, column in zip("AB", speeds, strict=False):
        columns[f"speed{side}"] = column.rows
        for name, terms in zip(("before", "after"), column.terms or (), strict=False):
            columns[f"{name}{side}"] = terms
    columns |= {f"change{side}": column.rows for side, column in zip("AB", changes, strict=False)}
    headers, buffer = pack(columns, "comparison")
    info = {
        "titles": list(comparison.titles),
        "sentence": comparison.sentence,
        "matched": matching.sentence,
        "kinds": [kind.label for kind in DifferenceKind],
        "certainties": [certainty.label for certainty in Certainty],
        "reasons": [reason.label for reason in Reason],
        "speedRange": None if not speeds else speeds[0].range,
        "speedNotes": [column.note for column in speeds],
        "changeNotes": [column.note for column in changes],
    }
    return Reply({"columns": headers, "info": info}, (buffer,))


def _time_columns(comparison: Comparison) -> tuple[list[NodeColumn], list[NodeColumn]]:
    """Return ratios and differences of times for both graphs; empty without times."""
    times = comparison.times
    if times is None:
        return [], []
    graphs = comparison.matching.graph_a, comparison.matching.graph_b
    return [times.speed_of(graph) for graph in graphs], [times.column_of(graph) for graph in graphs]


def _shapes(graph: Graph) -> StringColumn:
    counts = np.diff(graph.entry_offsets).tolist()
    shapes = (graph.shape(node) if count else None for node, count in enumerate(counts))
    return StringColumn.from_strings("" if shape is None else shape_text(shape) for shape in shapes)
