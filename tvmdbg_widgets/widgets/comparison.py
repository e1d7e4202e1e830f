"""ComparisonView: two graphs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import traitlets

from tvmdbg_widgets.analysis.compare import Comparison, compare
from tvmdbg_widgets.analysis.compare_times.result import NAME as CHANGE
from tvmdbg_widgets.analysis.compare_times.result import SPEED
from tvmdbg_widgets.analysis.differences import DifferenceKind
from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts, facts_of
from tvmdbg_widgets.analysis.node_columns import OWN_COLORS
from tvmdbg_widgets.answers.comparison import comparison_answer, has_speeds
from tvmdbg_widgets.answers.messages import message_id
from tvmdbg_widgets.answers.question_scheduler import replied
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import Redaction, auto_height
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.options import FLAG, ViewOptions, choice, option
from tvmdbg_widgets.widgets.run_model import model_of, session_of
from tvmdbg_widgets.widgets.session import Session, SessionTrait
from tvmdbg_widgets.widgets.traits import ModelTrait, described, traits_of, validated
from tvmdbg_widgets.widgets.view import View, own_model


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(ViewOptions):
    """Options of two graphs side by side."""

    view: ClassVar[str] = "comparison"
    height: int | str = auto_height()
    linked: bool = option(FLAG, True, "One side moves with the other.", drawn=False)
    kind: str | None = option(
        choice(*(each.label for each in DifferenceKind)),
        None,
        'The only kind of difference that is listed, ``"only in A"``, ``"shape"`` …; None for all.',
    )
    color_by: str = option(
        choice(SPEED, CHANGE, "match", *OWN_COLORS),
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


def _known_color(comparison: Comparison, by: str) -> str:
    if by in (SPEED, CHANGE) and comparison.times is None:
        raise ValueError(f"{by!r} needs the times of both runs, and one of them has none")
    return by


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
    session_b: Any = SessionTrait()
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
        traits.setdefault("color_by", SPEED if has_speeds(self.comparison) else "match")
        super().__init__(a, run_b=model_of(self._facts_b), session_b=own, **traits)
        self.on_msg(self._on_question)

    _check_color = validated("color_by", lambda self, by: _known_color(self.comparison, by))

    @traitlets.validate("run_b")
    def _its_own_run_b(self, proposal: dict[str, Any]) -> object:
        return own_model(proposal, self._facts_b)

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
