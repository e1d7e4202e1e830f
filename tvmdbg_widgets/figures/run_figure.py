"""A figure of a run, drawn by its view's own code from what the run answers the live view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.figures.choices import usable_width
from tvmdbg_widgets.figures.engine import EngineMissingError, draw, text_only
from tvmdbg_widgets.figures.theme import theme_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.figure import Figure


def draw_run(
    run: Derived,
    view: str,
    questions: Sequence[str],
    *,
    data: Mapping[str, Any],
    options: Mapping[str, Any],
    text: Callable[[Derived], Sequence[str]],
    width: float,
    theme: str,
) -> Figure:
    """Return the figure of a view of a run.

    Parameters
    ----------
    questions : sequence of str
        What the view asks, kinds of questions of :class:`~tvmdbg_widgets.answers.answers.Answers`.
    data : mapping
        What the figure needs beside the title of the run.
    options : mapping
        Traits of the view.
    text : callable
        Returns the lines of the figure where nothing can draw it.

    Raises
    ------
    ValueError
        A width or theme that is none.
    """
    room, name = usable_width(width), theme_of(theme).name
    answers = Answers(run)
    replies = {each: answers.answer({"kind": each}) for each in questions}
    try:
        return draw(
            view,
            {"title": run.title, **data},
            {},
            options,
            width=room,
            theme=name,
            answers=replies,
        )
    except EngineMissingError as missing:
        lines = "\n".join([run.title, *text(run)])
        return text_only(view, run.title, lines, str(missing), width=room, theme=name)
