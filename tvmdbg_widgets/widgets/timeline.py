"""Flamechart: slices in time, and the slowest operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import traitlets

from tvmdbg_widgets.widgets.bundles import bundle, code_name, module
from tvmdbg_widgets.widgets.view import View

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.figures.handed_on import HandedOn


class TimelineOptions(traitlets.HasTraits):
    """Traits of a flamechart; see :class:`Flamechart`."""

    show = traitlets.Enum(["both", "chart", "table"], "both").tag(sync=True)
    sort = traitlets.Enum(["time", "order"], "time").tag(sync=True)
    chart = traitlets.Enum(["time", "merged", "folded", "repeats", "roofline"], "time").tag(
        sync=True
    )
    table_by = traitlets.Enum(
        ["node", "kind", "part", "group", "device", "name", "callers"], "node"
    ).tag(sync=True)
    critical = traitlets.Bool(False).tag(sync=True)
    time_range = traitlets.Tuple(
        traitlets.Float(), traitlets.Float(), allow_none=True, default_value=None
    ).tag(sync=True)


class Flamechart(TimelineOptions, View):
    """The timeline of a run and the table of its operators.

    ::

        tvmdbg.Flamechart(run, show="table")

    Attributes
    ----------
    show : str
        ``"chart"``, ``"table"`` or ``"both"``.
    chart : str
        What the chart shows: ``"time"`` (tracks in time), ``"merged"`` (left-heavy, by path),
        ``"folded"`` (all repeats on one axis), ``"repeats"`` (operators × repeats) or
        ``"roofline"`` (work against time).
    table_by : str
        What a row of the table sums up: ``"node"``, ``"kind"``, ``"part"``, ``"group"``,
        ``"device"``, ``"name"`` or ``"callers"``.
    critical : bool
        Whether the critical path is marked.
    sort : str
        Order of the table: ``"time"`` or ``"order"`` (of execution).
    time_range : (float, float) or None
        Nanoseconds in view first; None is the whole timeline.
    height : int
        CSS pixels.
    """

    _esm = module("timeline")
    _css = bundle("timeline.css")
    _code = traitlets.Unicode(code_name("timeline")).tag(sync=True)

    height = traitlets.Int(320, min=120, max=4000).tag(sync=True)

    def _figure(
        self, width: float, theme: str, saved: bool = False, handed: HandedOn | None = None
    ) -> Figure:
        from tvmdbg_widgets.figures.timeline import timeline_figure

        del saved
        return timeline_figure(
            self._debug_run,
            show=self.show,
            sort=self.sort,
            time_range=self.time_range,
            selected=self._marked(handed),
            width=width,
            theme=theme,
        )
