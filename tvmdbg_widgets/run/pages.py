"""The views of a run for those who have no kernel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tvmdbg_widgets.run.views import Views

if TYPE_CHECKING:
    from tvmdbg_widgets.export.page.embed import Embed
    from tvmdbg_widgets.export.page.options import Share, Theme
    from tvmdbg_widgets.widgets.view import View


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
        from tvmdbg_widgets.export.page.embed import embed
        from tvmdbg_widgets.export.page.options import PageOptions

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
