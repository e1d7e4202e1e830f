"""The views of a run for those who have no kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.widgets.shown_run import ShownRun

if TYPE_CHECKING:
    from tvmdbg_widgets.export.page.options import Share, Theme
    from tvmdbg_widgets.export.page.save import Embed
    from tvmdbg_widgets.figures.raster import Figure
    from tvmdbg_widgets.model.executorch.event_nodes import DelegationInfo
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.widgets.plot import View
    from tvmdbg_widgets.widgets.session import StepLike
    from tvmdbg_widgets.widgets.timeline import Debugger


class Views(ShownRun):
    """The views of a run, live and as figures."""

    def __init__(self, parts: RunParts) -> None:
        super().__init__(parts)
        self._debugger: Debugger | None = None

    def debugger(self) -> Debugger:
        """Return the linked views of this run; one and the same for the run's own session."""
        from tvmdbg_widgets.widgets.timeline import Debugger

        if self._debugger is None or not self._has_debugger:
            self._debugger = Debugger(self)
        return self._debugger

    @property
    def _has_debugger(self) -> bool:
        """Whether there are linked views that nobody closed."""
        return self._debugger is not None and self._debugger.comm is not None

    def tour(self, steps: Iterable[StepLike]) -> Debugger:
        """Return the linked views with a tour through this run, at its first step.

        Each step says something in plain text and selects what it speaks of, in all views of
        the run's session. Readers step by buttons and keys, in a page without kernel too::

            run.tour([
                (38, "The first Inf appears here …"),
                ((38, 0), "… in this output: the inputs are all finite."),
                dict(text="Why it is slow:", node="conv2d_3", view="timeline"),
            ])

        Parameters
        ----------
        steps : iterable
            ``(node, text)`` with an id, a name or a list of them, ``((node, output), text)``, a
            text alone, or a mapping of ``text`` and any of ``node`` (or ``nodes``), ``entry``
            ``(node, output)``, ``slice`` ``(node, occurrence)``, ``time_range``
            ``(start, end)`` in nanoseconds, and ``view``: ``"findings"``, ``"graph"``,
            ``"tensor"`` or ``"timeline"``, which is then framed.

        Raises
        ------
        TypeError, ValueError, KeyError, IndexError
            A step that says nothing, or names what the run does not have; tells which step.
        """
        from tvmdbg_widgets.widgets.session import checked_tour

        found = checked_tour(self, steps)
        if not found:
            raise ValueError('a tour has at least one step: run.tour([(38, "The first Inf.")])')
        self.session.tour_step = None
        self.session.tour = found
        self.session.tour_step = 0
        return self.debugger()

    def figure(
        self,
        view: str = "debugger",
        *,
        width: float = 720,
        theme: str = "light",
        **options: Any,
    ) -> Figure:
        """Return a view of this run as a figure for a paper, a slide or a page.

        ::

            run.figure("graph", width=1000, direction="right").save("graph.svg")
            run.figure("tensor", entry=(38, 0), color_scale="symlog").save("conv.png", scale=3)

        Parameters
        ----------
        view : str
            ``"graph"``, ``"tensor"``, ``"timeline"``, ``"memory"``, or ``"debugger"``: the first
            three, and the findings once they are known. A graph of more than 300 nodes, parameters
            not counted, is condensed to groups.
        width : float
            px, 300 to 2000.
        theme : str
            ``"light"``, ``"dark"``, or ``"auto"``: dark where the reader prefers it, which
            browsers follow; a PNG of it is light.
        **options
            As the view takes them: ``color_by``, ``direction``, ``focus``, ``hops``, ``search``,
            ``fold_parameters`` (graph); ``entry``, ``axes``, ``index``, ``color_scale``,
            ``color_map``, ``color_range``, ``cells``, ``data_layout``, ``data_sizes``, ``reading``,
            ``show``, ``along``, ``region`` (tensor, see :class:`TensorInspector`); ``show``,
            ``sort``, ``time_range`` (timeline); ``parameters``, ``color_by``, ``step_range``
            (memory, see :class:`MemoryView`);
            ``selected``: node ids to be marked (graph, timeline and memory); ``tensor_show``, the
            tensor's ``show``, and ``collapsed``: views to be left out (debugger).

        Raises
        ------
        ValueError
            No such view or theme, or a value out of range; the message lists what there is.
        TypeError
            The view has no such option.
        """
        from tvmdbg_widgets.figures.choose import figure_of

        known = self.known_findings if view == "debugger" else None
        return figure_of(self, view, width=width, theme=theme, options=options, findings=known)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        alone = self._delegation_alone
        if alone is not None:
            return {"text/plain": repr(alone), "text/html": alone._repr_html_()}
        return self.debugger()._repr_mimebundle_(**kwargs)

    def _ipython_display_(self) -> None:
        if self._delegation_alone is not None:
            raise NotImplementedError
        self.debugger()._ipython_display_()

    @property
    def _delegation_alone(self) -> DelegationInfo | None:
        """What a run shows that has counts of delegated nodes and nothing to draw."""
        parts = self.parts
        drawn = (parts.graph, parts.tensors, parts.timeline)
        if parts.executorch is None or any(part is not None for part in drawn):
            return None
        return parts.executorch.delegation


class Pages(Views):
    """The views of a run as pages that need no kernel."""

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        budget: int = 5_000_000,
        share: Share = "pictures",
        parameters: bool = False,
        title: str | None = None,
        theme: Theme = "auto",
        node: int | str | None = None,
        view: str | None = None,
        of: View | None = None,
    ) -> Path:
        """Write the linked views as one HTML file that works offline, without a kernel.

        ::

            run.save_html("slow.html", node="conv2d_3", view="tensor")

        A part of the address after ``#`` leads to what is selected: ``#node=12&view=tensor``,
        ``#node=conv2d_3``, ``entry=12,1``, ``slice=12,3``, ``time=0,2500`` (ns), ``step=0``
        (of the tour). Saving twice gives the same bytes.

        Parameters
        ----------
        path : path-like
            Ends in ``.html`` or ``.htm``; replaced whole or not at all.
        budget : int
            Bytes that the file should not exceed. Graph, times and exact statistics of every
            tensor come first, then pictures and values by importance; the page says what was
            left out.
        share : str
            What of the values of activations goes along: ``"statistics"`` alone, reduced
            ``"pictures"``, or whole ``"tensors"`` as far as the budget reaches.
        parameters : bool
            Whether values of parameters go along, too.
        title : str, optional
            The run's where left out.
        theme : str
            ``"auto"`` follows the system; ``"light"`` or ``"dark"``.
        node : int, str, optional
            Id or name of the node that is selected first; the session's where left out.
        view : str, optional
            ``"graph"``, ``"tensor"``, ``"timeline"`` or ``"findings"``: where the reader starts.
        of : View, optional
            The view to save; :meth:`debugger` where left out.

        Returns
        -------
        Path
            Of the file.

        Raises
        ------
        ValueError
            Another ending, or an option out of range.
        KeyError, IndexError
            The run does not have the node.
        OSError
            The folder is missing or cannot be written to.
        """
        from tvmdbg_widgets.export.page.options import PageOptions
        from tvmdbg_widgets.export.page.save import save_page

        options = PageOptions(
            budget=budget,
            share=share,
            parameters=parameters,
            title=title,
            theme=theme,
            node=node,
            view=view,
        )
        with self._view_of_page(of) as shown:
            return save_page(shown, path, options)

    def embed(
        self,
        height: int | None = None,
        *,
        budget: int = 560_000,
        share: Share = "pictures",
        parameters: bool = False,
        title: str | None = None,
        theme: Theme = "auto",
        node: int | str | None = None,
        view: str | None = None,
        of: View | None = None,
    ) -> Embed:
        """Return the linked views as a frame for a converted notebook or a documentation page.

        At the end of a cell it stays interactive in ``jupyter nbconvert --to html`` and in
        Sphinx, without a kernel and without the network.

        Parameters
        ----------
        height : int, optional
            CSS pixels of the frame; what the view takes where left out.
        budget, share, parameters, title, theme, node, view, of
            As of :meth:`save_html`.
        """
        from tvmdbg_widgets.export.page.options import PageOptions
        from tvmdbg_widgets.export.page.save import embed

        options = PageOptions(
            budget=budget,
            share=share,
            parameters=parameters,
            title=title,
            theme=theme,
            node=node,
            view=view,
        )
        with self._view_of_page(of) as shown:
            return embed(shown, height, options)

    @contextmanager
    def _view_of_page(self, of: View | None) -> Iterator[View]:
        """Give the view to write; one that is made for a page alone is closed behind it."""
        if of is not None or self._has_debugger:
            yield of or self.debugger()
            return
        made = self.debugger()
        try:
            yield made
        finally:
            made.close()
