"""GraphView: the graph of a run, and its colors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self

import traitlets

from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts, facts_of
from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import GraphOptions, Redaction
from tvmdbg_widgets.model.base.options import option_of
from tvmdbg_widgets.model.base.slips import one_of, public_class
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, checked_range
from tvmdbg_widgets.widgets.color_columns import ColorColumns
from tvmdbg_widgets.widgets.graph_navigation import Navigation, ShownNodes
from tvmdbg_widgets.widgets.run_model import Folding
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.traits import (
    GraphTraits,
    OptionTrait,
    as_trait_error,
    described,
    validated,
)
from tvmdbg_widgets.widgets.view import Drawn, View, require_run


@public_class
class ColorName(str):
    """The name of the color column; calling it chooses another column.

    ::

        view.color_by("dtype")
        view.color_by(psnr, name="PSNR", unit="dB")
        view.color_by({"conv2d": 0.1, 12: 0.4})
        view.color_by("error", reference=other_run, measure="ulp")
    """

    __slots__ = ("_columns", "_view")

    _view: GraphColors
    _columns: ColorColumns

    def __new__(cls, name: str, view: GraphColors, columns: ColorColumns) -> Self:
        """Bind a name to its view and the view's columns."""
        made = super().__new__(cls, name)
        made._view, made._columns = view, columns
        return made

    def __call__(self, what: Any, **how: Any) -> None:
        """Color by something else.

        Parameters
        ----------
        what : str, array_like, mapping or callable
            ``"kind"``, ``"time"``, ``"health"``, ``"dtype"``, ``"device"``, ``"storage"``,
            ``"layout"``, ``"bytes"``, ``"slack"``, ``"critical"``, ``"intensity"``, ``"flops"``,
            ``"error"``, the name of data given before, or data as of
            :func:`tvmdbg_widgets.model.graph.node_columns.node_column`. A callable is given each
            ``Node`` and returns a number, a text or None.
        **how
            Of data: ``name``, ``unit``, ``scale``, ``range`` and ``together``. Of ``"error"``:
            ``reference`` and ``measure``, as of
            :class:`tvmdbg_widgets.analysis.node_columns.OutputErrors`. ``range`` may go with
            every name.

        Raises
        ------
        TypeError, ValueError, LookupError
            What cannot be shown; the message says why.
        """
        limits = checked_range(how.get("range"))
        self._view.color_by = self._columns.name_of(what, **how)
        self._view.color_limits = limits

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as a plain text."""
        return str, (str(self),)

    def stop(self) -> None:
        """Stop computing the colors; finished rows stay."""
        self._view.set_trait("_color_paused", True)

    def go_on(self) -> None:
        """Continue stopped work."""
        self._view.set_trait("_color_paused", False)

    def wait(self, seconds: float | None = None) -> bool:
        """Block until the colors are computed or stopped; return whether they ended."""
        return self._columns.wait(str(self), seconds)

    @property
    def column(self) -> str | NodeColumn:
        """Name of the column, or the column itself if the run does not compute it."""
        return self._columns.column(str(self))

    def for_page(self) -> list[NodeColumn]:
        """Return the columns for a page without a kernel."""
        return self._columns.for_page()


class ColorBy(OptionTrait):
    """A name that can be called, see :class:`ColorName`; also accepts data."""

    def validate(self, obj: Any, value: Any) -> ColorName:
        """Accept a name, or keep data and return its name."""
        with as_trait_error("color_by"):
            columns = obj._columns  # noqa: SLF001 (the trait is one of that class)
            return ColorName(columns.name_of(value), obj, columns)


class GraphColors(traitlets.HasTraits):
    """Traits of a graph's colors and labels; see ``GraphView``."""

    # Some hosts can send only plain texts, no subclass of str.
    color_by = ColorBy(option_of(GraphOptions, "color_by")).tag(
        sync=True, to_json=lambda name, _view: str(name)
    )
    #: Columns that the view asks for; see ``ColorColumns.offered``.
    _color_columns = traitlets.Dict().tag(sync=True)
    _color_paused = traitlets.Bool(False).tag(sync=True, page=True)

    _facts: RunFacts  # the view's
    color_limits: tuple[float, float] | None
    label: str
    #: Whether new limits come with a new color.
    _keeps_limits = True

    def __init__(self, run: Any, *args: Any, **traits: Any) -> None:
        self._columns = ColorColumns(
            facts_of(run), self._send_columns, lambda: run.inspector.event_blocks
        )
        super().__init__(run, *args, **traits)
        self._keeps_limits = False

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Apply the values that a page sets; limits that it sets with a color are of that."""
        self._keeps_limits = "color_limits" in sync_data
        try:
            super().set_state(sync_data)  # type: ignore[misc]
        finally:
            self._keeps_limits = False

    @traitlets.default("color_by")
    def _by_kind(self) -> ColorName:
        return ColorName("kind", self, self._columns)

    @traitlets.default("_color_columns")
    def _on_demand(self) -> dict[str, Any]:
        return self._columns.offered

    @traitlets.validate("_color_columns")
    def _only_ours(self, _proposal: Any) -> dict[str, Any]:
        return self._columns.offered

    @traitlets.observe("color_by")
    def _recolored(self, change: Any) -> None:
        if not self._keeps_limits and change["old"] != change["new"]:
            self.color_limits = None  # they belong to the old column
        self._color_paused = False
        self._columns.begin(str(self.color_by))

    @traitlets.observe("label")
    def _labelled(self, _change: Any) -> None:
        if "{layout}" in self.label:
            self._columns.begin("layout")

    @traitlets.observe("_color_paused")
    def _paused(self, change: Any) -> None:
        if change["new"]:
            self._columns.stop(str(self.color_by))
        else:
            self._columns.begin(str(self.color_by))

    def _send_columns(self, offered: dict[str, Any]) -> None:
        self._color_columns = offered


class GraphState(GraphColors, Folding, ShownNodes, Drawn):
    """What a graph view knows beside its options; see :class:`GraphView`."""

    def __init__(
        self, run: OpenedRun | RunFacts | Graph, session: Session | None = None, **traits: Any
    ) -> None:
        shown = RunFacts.of_graph(run) if isinstance(run, Graph) else run
        if require_run(self, shown).timeline is not None:
            traits = {"color_by": "time"} | traits
        super().__init__(shown, session, **traits)

    _check_focus = validated("focus", lambda self, node: _known_node(self._facts.graph, node))

    def _drawn_options(self, redaction: Redaction | None = None) -> dict[str, Any]:
        return super()._drawn_options(redaction) | {"color_by": self.color_by.column}


def _known_node(graph: Graph | None, focus: int | str | None) -> int | str | None:
    """Return the focus; raise if the graph does not have it."""
    if graph is not None and focus is not None:
        graph.node(focus) if isinstance(focus, str) else graph.nodes[focus]
    return focus


@described
class GraphView(GraphState, GraphTraits, Navigation, View):
    """The graph of a run as an interactive DAG.

    ::

        tvmdbg.GraphView(run, focus="conv2d_3", hops=2, color_by="time")
        tvmdbg.GraphView(run.delegate_calls()[0].graph)  # a graph alone
    """

    _esm = module("graph")
    _css = bundle("graph.css")
    _code = traitlets.Unicode(code_name("graph")).tag(sync=True)

    _tells_health = True

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        what: str = "whole",
        width: float = 960,
        theme: str = "light",
        scale: float | None = None,
    ) -> Path:
        """Write the graph as it is shown to a picture, without a browser.

        ::

            view.save("net.svg")
            view.save("stage3.png", what="view", scale=3)

        Parts, open and closed groups, hidden nodes, colors, labels and marks follow the
        view. The layout is that of :meth:`figure`, which may differ slightly from the page; the
        page's button ``save`` writes exactly the screen.

        Parameters
        ----------
        path
            Ends in ``.svg`` or ``.png``, which needs ``pip install "tvmdbg-widgets[png]"``.
        what : str
            ``"whole"``: every box at a readable scale. ``"view"``: the visible part (``camera``),
            ``width`` x ``height``; all of the graph if the camera was never moved.
        width : float
            px, 300 to 2000; with ``"whole"`` as wide as needed.
        theme : str
            ``"light"``, ``"dark"`` or ``"auto"``.
        scale : float, optional
            Of a PNG, pixels for one px; 2 where left out.

        Raises
        ------
        ValueError
            Another ending, or a choice that is none of these.
        ImportError, RuntimeError, OSError
            As of :meth:`tvmdbg_widgets.figures.raster.Figure.save`.
        """
        one_of("part to save", what, ("whole", "view"))
        from tvmdbg_widgets.figures.choose import view_figure

        place = {"camera": self.camera if what == "view" else None, "height": self.height}
        options = GraphOptions(**self._drawn_options(), **place, whole=True)
        return view_figure(self._facts, options, width=width, theme=theme).save(path, scale)
