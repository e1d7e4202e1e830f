"""A figure of a run, drawn from the answers the live view gets; other timeline charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.tensor import Redact, Reply
from tvmdbg_widgets.figures.engine import Answer, draw_or_tell
from tvmdbg_widgets.figures.raster import Figure

#: Part of a run: its view, and the view's title if the part is missing.
_MISSING = {
    "graph": ("graph", "No graph"),
    "timeline": ("timeline", "No times"),
    "memory": ("memory", "No memory plan"),
}


class Note(TypedDict):
    """A paragraph of a figure."""

    text: str
    color: str
    most: int


def note(text: str, color: str = "", most: int = 4) -> Note:
    """Return a paragraph for ``js/src/shared/drawing/figure.ts``."""
    return {"text": text, "color": color, "most": most}


@dataclass(frozen=True)
class RunFigure:
    """Questions, data and options from which one figure is drawn."""

    run: RunFacts
    view: str
    questions: Sequence[str | Mapping[str, Any]]
    data: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    replies: Callable[[], Mapping[str, Reply]] = dict
    description: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    redact: Redact | None = None
    answer: Answer | None = None

    @classmethod
    def missing(cls, run: RunFacts, part: str, why: str = "") -> RunFigure:
        """Return the figure of a run without the shown part."""
        view, head = _MISSING[part]
        why = why or how_to_get(part, run.parts)
        text = f"{run.title}: {head.lower()}. {why}"
        data = {"view": view, "title": run.title, "head": head, "why": why, "text": text}
        return cls(run, "missing", (), data)

    def figure(self, *, width: float, theme: str) -> Figure:
        """Draw the figure."""
        figure = draw_or_tell(
            self.view,
            self.request_data,
            {},
            self.options,
            text=self.text or str(self.data["text"]),
            width=width,
            theme=theme,
            answers=self.answered,
            answer=self.answer or Answers(self.run, redact=self.redact).answer,
        )
        return replace(figure, description=_merged(self.description, figure.description))

    @property
    def request_data(self) -> dict[str, Any]:
        """Data of the figure with the run's title."""
        return {"title": self.run.title, **self.data}

    def answered(self) -> dict[str, Reply]:
        """Return the run's replies to all questions."""
        answers = Answers(self.run)
        replies = {}
        for question in self.questions:
            message = {"kind": question} if isinstance(question, str) else question
            replies[message["kind"]] = answers.answer(message)
        return replies | dict(self.replies())


def _merged(own: Any, drawn: Any) -> Any:
    """Merge facts of the engine into facts of Python."""
    if isinstance(own, dict) and isinstance(drawn, dict):
        return own | {name: _merged(own.get(name), value) for name, value in drawn.items()}
    if isinstance(own, list) and isinstance(drawn, list):
        return [_merged(*pair) for pair in zip(own, drawn, strict=True)]
    return drawn
