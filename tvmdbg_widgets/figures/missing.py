"""What a figure says where the run lacks what it would show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.figures.svg import MARGIN, Panel

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.theme import Theme

_TITLES = {
    "graph": "No graph",
    "tensors": "No tensors",
    "timeline": "No times",
    "memory": "No memory plan",
}
_VIEWS = {"graph": "graph", "tensors": "tensor", "timeline": "timeline", "memory": "memory"}


def missing_panel(run: Derived, part: str, width: float, theme: Theme, why: str = "") -> Panel:
    """Return a panel that says what is missing and how to get it.

    Parameters
    ----------
    part : str
        ``"graph"``, ``"tensors"``, ``"timeline"`` or ``"memory"``.
    why : str
        Instead of the usual reason.
    """
    title, said = _TITLES[part], why or how_to_get(part, run.parts)
    panel = Panel(
        width, f"{title}: {run.title}", said, theme, f"{run.title}: {title.lower()}. {said}"
    )
    panel.height = panel.paragraph(said, panel.heading(title, run.title), fill=theme.muted) + MARGIN
    panel.description = {
        "view": _VIEWS[part],
        "title": run.title,
        "missing": said,
    }
    return panel
