"""What is shown of a log: its view, its figure, its page."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.widgets.tuning.shown_log import ShownLog

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.model.tuning.parts import TuningParts
    from tvmdbg_widgets.widgets.shown_run import ShownRun
    from tvmdbg_widgets.widgets.tuning.view import TuningView


class Pages(ShownLog):
    """The views of a log."""

    def __init__(self, parts: TuningParts, weights: tuple[float, ...] | None = None) -> None:
        super().__init__(parts, weights)
        self._view: TuningView | None = None
        self._view_lock = threading.Lock()

    def view(self, run: ShownRun | None = None, **traits: Any) -> TuningView:
        """Return a view of the log; linked to a run, tasks and nodes select each other.

        ::

            log.view(task=3, along="time")

        Parameters
        ----------
        run : DebugRun, optional
            A run of the tuned model.
        **traits
            Initial state, as of :class:`~tvmdbg_widgets.TuningView`.
        """
        from tvmdbg_widgets.widgets.tuning.view import TuningView

        return TuningView(self, run, **traits)

    def figure(self, width: float = 720, theme: str = "light", **traits: Any) -> Figure:
        """Return the log as a static figure, made without a browser.

        Parameters
        ----------
        width : float
            px, 300 to 2000.
        theme : str
            ``"light"``, ``"dark"`` or ``"auto"``.
        **traits
            As of :meth:`view`.
        """
        view = self.view(**traits)
        try:
            return view.figure(width, theme)
        finally:
            view.close()

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        theme: str = "auto",
        budget: int = 5_000_000,
        of: TuningView | None = None,
    ) -> Path:
        """Write the view as one HTML file that works offline, without a kernel.

        Parameters
        ----------
        path : path-like
            Ends in ``.html`` or ``.htm``; replaced whole or not at all.
        title : str, optional
            The log's where left out.
        theme : str
            ``"auto"`` follows the system; ``"light"`` or ``"dark"``.
        budget : int
            Bytes that the file should not exceed: all trials come first, then the schedules of
            the best trials; the page says what was left out.
        of : TuningView, optional
            The view to save; a new one where left out.

        Raises
        ------
        ValueError
            Another ending, or a theme that is none of these.
        OSError
            The folder is missing or cannot be written to.
        """
        from tvmdbg_widgets.export.tuning.page import save_page

        view = of or self.view()
        try:
            return save_page(view, path, title=title, theme=theme, budget=budget)
        finally:
            if of is None:
                view.close()

    def _ipython_display_(self) -> None:
        with self._view_lock:
            if self._view is None or self._view.comm is None:
                self._view = self.view()
        self._view._ipython_display_()
