"""View: state, size and saving that all views of a run share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets

from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.options import ViewOptions, options_of
from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.widgets.outputs import Saved
from tvmdbg_widgets.widgets.run_model import model_of, session_of
from tvmdbg_widgets.widgets.session import Session, SessionTrait
from tvmdbg_widgets.widgets.traits import ModelTrait


def require_run(view: object, run: object) -> RunFacts:
    """Return the facts of a run; TypeError for anything else."""
    facts = getattr(run, "facts", run)
    if not isinstance(facts, RunFacts):
        instead = "its .run" if hasattr(type(run), "run") else "tvmdbg_widgets.open(path)"
        raise TypeError(
            f"{type(view).__name__} shows a run, not {type(run).__name__}: pass {instead}"
        )
    return facts


def own_model(proposal: dict[str, Any], run: RunFacts) -> object:
    """Return the proposed model if it is the run's; TraitError otherwise."""
    if proposal["value"] is not model_of(run):
        name = proposal["trait"].name
        raise traitlets.TraitError(f"{name} of {run.title!r} cannot be changed: make another view")
    return proposal["value"]


class RunView(Saved):
    """A widget of one run, with the run's model and a session."""

    run = ModelTrait()
    session: Any = SessionTrait()
    _facts: RunFacts

    @traitlets.validate("run")
    def _its_own_run(self, proposal: dict[str, Any]) -> object:
        return own_model(proposal, self._facts)


class Drawn(traitlets.HasTraits):
    """Options of a view's figure, from the view's state."""

    session: Any  # the view's
    _facts: RunFacts
    _options_type: type[ViewOptions]

    def _drawn_options(self, redaction: Redaction | None = None) -> dict[str, Any]:
        """Return the options of a figure: traits of their names, and the marked nodes."""
        names = {each.name: each.live for each in options_of(self._options_type) if each.drawn}
        own = {"selected": self._marked(redaction)} if "selected" in names else {}
        return {name: getattr(self, name) for name, live in names.items() if live} | own

    def _marked(self, redaction: Redaction | None = None) -> tuple[int, ...]:
        if redaction is not None:
            return redaction.selected
        graph = self._facts.graph
        count = graph.num_nodes if graph is not None else 0
        return tuple(node for node in self.session.selected if node < count)


class View(RunView, Drawn):
    """One view of a run, linked to the others by its session.

    Parameters
    ----------
    run : DebugRun
    session : Session, optional
        By default the run's own, so that all views of a run stay in sync.
    **traits
        Initial state, by the names of the traits.

    Raises
    ------
    TypeError
        For something that is no run, or a keyword that is no trait of this view.
    """

    #: Whether the figure depends on the values of all tensors.
    _tells_health = False

    @public
    def __init__(
        self, run: OpenedRun | RunFacts, session: Session | None = None, **traits: Any
    ) -> None:
        self._facts = require_run(self, run)
        self._debug_run = run
        self._require_traits(traits, "run")
        session = session or session_of(self._facts)
        super().__init__(run=model_of(self._facts), session=session, **traits)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {self._facts.title!r}, live in a notebook; "
            "elsewhere use .save_html(path) or .figure().save(path)>"
        )

    def note(self, node: int | str, text: str | None) -> None:
        """Write a note at a node, in all views of the session; None removes it.

        ::

            view.note(38, "overflows here")

        Parameters
        ----------
        node : int or str
            Node id or name.
        text : str or None
            Plain text of at most 2,000 characters.

        Raises
        ------
        KeyError, IndexError, TypeError, ValueError
            A node that the run does not have, or no such text.
        """
        self.session.note(node, text)

    def figure(self, width: float = 720, theme: str = "light") -> Figure:
        """Return what the view shows as a static figure, made without a browser.

        ::

            view.figure(theme="dark").save("graph.svg")

        Parameters
        ----------
        width : float
            px, 300 to 2000.
        theme : str
            ``"light"``, ``"dark"``, or ``"auto"``: dark where the reader prefers it, which
            browsers follow; a PNG of it is light.

        Raises
        ------
        ValueError
            A width or theme that is none of these.
        """
        return self._figure(width, theme)

    def _figure(
        self, width: float, theme: str, saved: bool = False, redaction: Redaction | None = None
    ) -> Figure:
        """Return the figure; ``saved`` makes it fit into a saved notebook."""
        from tvmdbg_widgets.figures.choose import view_figure

        options = self._options_type(**self._drawn_options(redaction))
        how: Any = {"saved": saved, "redaction": redaction}
        return view_figure(self._facts, options, width=width, theme=theme, **how)

    def _saved_figure(self) -> Figure:
        return self._figure(720, "auto", saved=True)

    def _scanned_runs(self) -> Sequence[RunFacts]:
        return [self._facts] if self._tells_health else []

    def redacted_figure(self, redaction: Redaction, theme: str = "light") -> Figure:
        """Return the figure without private values."""
        return self._figure(720, theme, redaction=redaction)

    @property
    def view_name(self) -> str:
        """Name of the view."""
        return self._options_type.view

    @property
    def shown(self) -> RunFacts:
        """Facts of the shown run."""
        return self._facts

    @public
    def save_html(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write this view in its present state as one HTML file that works offline.

        Parameters
        ----------
        path : path-like
            Ends in ``.html`` or ``.htm``; replaced atomically.
        **options
            ``budget``, ``share``, ``parameters``, ``title``, ``theme``, ``node`` and ``view``
            as of :meth:`tvmdbg_widgets.DebugRun.save_html`, also for errors.

        Returns
        -------
        Path
            Of the file.
        """
        from tvmdbg_widgets.export.page.options import page_options
        from tvmdbg_widgets.export.page.save import save_page

        return save_page(self, path, page_options("save_html", options))

    @public
    def embed(self, height: int | None = None, **options: Any) -> Any:
        """Return this view in its present state as a frame for pages without a kernel.

        Parameters
        ----------
        height : int, optional
            CSS pixels of the frame; what the view takes where left out.
        **options
            As of :meth:`save_html`.
        """
        from tvmdbg_widgets.export.page.options import page_options
        from tvmdbg_widgets.export.page.save import embed

        return embed(self, height, page_options("embed", options))
