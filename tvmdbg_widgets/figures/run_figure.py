"""A figure of a run, drawn by its view's own code from what the run answers the live view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.answers.answering import Reply
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.figures.engine import Columns, draw_or_tell
from tvmdbg_widgets.figures.figure import Figure

#: By part of a run: the view that shows it, and what that says where there is none.
_MISSING = {
    "graph": ("graph", "No graph"),
    "tensors": ("tensor", "No tensors"),
    "timeline": ("timeline", "No times"),
    "memory": ("memory", "No memory plan"),
}


class Note(TypedDict):
    """A paragraph of a figure."""

    text: str
    color: str
    most: int


def note(text: str, color: str = "", most: int = 4) -> Note:
    """Return a paragraph as ``js/src/shared/drawing/figure_parts.ts`` draws it."""
    return {"text": text, "color": color, "most": most}


@dataclass(frozen=True)
class RunFigure:
    """What the figure of one view is made of."""

    run: Derived
    view: str
    questions: Sequence[str | Mapping[str, Any]]
    data: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    replies: Callable[[], Mapping[str, Reply]] = dict
    description: Mapping[str, Any] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)
    text: str = ""

    @classmethod
    def missing(cls, run: Derived, part: str, why: str = "") -> RunFigure:
        """Return the figure of a run that lacks what the view would show."""
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
            self.columns,
            self.options,
            text=self.text or str(self.data["text"]),
            width=width,
            theme=theme,
            answers=self.answered,
        )
        return replace(figure, description=_merged(self.description, figure.description))

    @property
    def request_data(self) -> dict[str, Any]:
        """What the figure needs beside the answers, with the run's title."""
        return {"title": self.run.title, **self.data}

    def answered(self) -> dict[str, Reply]:
        """Return what the run answers to all questions."""
        answers = Answers(self.run)
        asked = [{"kind": each} if isinstance(each, str) else each for each in self.questions]
        return {each["kind"]: answers.answer(each) for each in asked} | dict(self.replies())


def _merged(own: Any, told: Any) -> Any:
    """Return facts with those added that are known where the figure is drawn."""
    if isinstance(own, dict) and isinstance(told, dict):
        return own | {name: _merged(own.get(name), each) for name, each in told.items()}
    if isinstance(own, list) and isinstance(told, list):
        return [_merged(*pair) for pair in zip(own, told, strict=True)]
    return told
