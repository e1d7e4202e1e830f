"""Where faults began and what they spread to, marked as in the live graph."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.svg import LARGE, TEXT_Z, Style
from tvmdbg_widgets.model.verdicts.health import VERDICTS, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.svg import Marks
    from tvmdbg_widgets.model.verdicts.health import Health

#: How much of the color of errors lies over what has a fault.
_TINT = 0.16
#: Other colors stand for values that a legend tells: no tint falsifies them.
_TINTED = ("kind", "time")
BADGE = 8.0


class Fault(IntEnum):
    """What faults are to a node or a box, as in js/src/shared/client/health.ts."""

    NONE = 0
    ORIGIN = 1
    SPREAD = 2

    @property
    def words(self) -> str:
        """What a reader is told."""
        return ("", "fault begins here", "fault spread here")[self]


def known_faults(run: Derived) -> Faults | None:
    """Return the faults of a run whose tensors were all scanned; None where there are none."""
    if run.graph is None or run.search.scan.state != "done":
        return None
    found = Faults(run.search.health(), run.graph.num_nodes)
    return found if found.any else None


class Faults:
    """What the faults found are to each node of a graph."""

    def __init__(self, health: Health, nodes: int) -> None:
        columns = health.columns()
        faulty = columns["verdict"] == VERDICTS.index(Verdict.FAULTY)
        node, source = columns["node"][faulty], columns["source"][faulty]
        spread = (source >= 0) & (source != node)
        self._of = np.zeros(nodes, np.uint8)
        for rows, fault in ((spread, Fault.SPREAD), (~spread, Fault.ORIGIN)):
            self._of[node[rows & (node < nodes)]] = fault

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self._of.any())

    def of(self, nodes: Iterable[int]) -> Fault:
        """Return the gravest fault of some nodes."""
        found = {Fault(each) for each in self._of[list(nodes)].tolist()} - {Fault.NONE}
        return min(found, default=Fault.NONE)


def draw_fault(
    marks: Marks, fault: Fault, box: tuple[float, float, float, float], color_by: str
) -> None:
    """Tint a box and ring it, dashed where a fault spread to it; where it began, with a badge."""
    if fault is Fault.NONE:
        return
    x, y, wide, high = box
    error = marks.theme.error
    style: Style = {"stroke": error, "stroke_width": 1.5, "stroke_opacity": 0.8}
    if fault is Fault.SPREAD:
        style["stroke_dasharray"] = "4 3"
    tint = {"fill": error, "fill_opacity": _TINT} if color_by in _TINTED else {"fill": "none"}
    marks.rect(x, y, wide, high, z=3, rx=4.0, **tint, **style)
    if fault is Fault.ORIGIN:
        draw_badge(marks, x, y + 1)


def draw_badge(marks: Marks, x: float, y: float) -> None:
    """Add a disc with an exclamation mark."""
    theme = marks.theme
    disc: Style = {"fill": theme.error, "stroke": theme.background, "stroke_width": 1.5}
    corner = (x - BADGE, y - BADGE, 2 * BADGE, 2 * BADGE)
    marks.rect(*corner, z=TEXT_Z, rx=BADGE, **disc)
    ink: Style = {"fill": theme.ink_on(theme.error), "font_size": LARGE, "font_weight": 700}
    marks.text("!", x, y + 4.5, text_anchor="middle", **ink)
