"""LinkedPlot: a bokeh figure that shares its selection with the views of a run."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import traitlets

from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts
from tvmdbg_widgets.answers.messages import Question, message_id
from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.redaction import Redaction
from tvmdbg_widgets.model.base.choice import meant, no_argument
from tvmdbg_widgets.model.base.number_text import short_text
from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.shown_run import Saved, model_of, session_of
from tvmdbg_widgets.widgets.traits import ChoiceOr, ModelTrait

#: Of the table in a saved notebook; columns beside the first, where none holds texts.
_MOST_ROWS, _MOST_COLUMNS = 12, 3


class LinkedPlot(Saved):
    """A bokeh figure whose selection is that of a session, both ways.

    The page gets the BokehJS of the installed bokeh from the kernel, once, so that nothing is
    asked of a network.

    Attributes
    ----------
    figure : bokeh.models.Model
        Drawn as it is when the widget is shown.
    nodes : str
        Name of the column of node ids, or of lists of them, in the figure's data sources.
    """

    _esm = module("plot")
    _css = bundle("plot.css")
    _code = traitlets.Unicode(code_name("plot")).tag(sync=True)

    run = ModelTrait()
    session: Any = ModelTrait()
    nodes = traitlets.Unicode("node").tag(sync=True, page=False)
    _library = traitlets.Unicode().tag(sync=True)
    _made_by = "tvmdbg_widgets.plots.link(figure, run)"

    def __init__(
        self,
        figure: Any,
        run: OpenedRun | RunFacts,
        session: Session | None = None,
        *,
        nodes: str = "node",
    ) -> None:
        self._facts = require_run(self, run)
        _require_column(figure, nodes)
        self.figure = figure
        name, self._library_code = _library_of(figure)
        session = session or session_of(self._facts)
        super().__init__(run=model_of(self._facts), session=session, nodes=nodes, _library=name)
        self.on_msg(self._on_question)

    @traitlets.validate("run")
    def _its_own_run(self, proposal: dict[str, Any]) -> object:
        return own_model(proposal, self._facts)

    @traitlets.validate("session")
    def _a_session(self, proposal: dict[str, Any]) -> Session:
        return a_session(proposal)

    def answer(self, message: object) -> tuple[dict[str, Any], list[bytes]]:
        """Return the answer to a message: the figure or the library that draws it, compressed."""
        content: dict[str, Any] = {"id": message_id(message)}
        try:
            return content | {"result": None}, [self._asked_for(message)]
        except Exception as problem:  # noqa: BLE001 (a user's figure; an error is an answer)
            return content | {"error": str(problem)}, []

    def _asked_for(self, message: object) -> bytes:
        kind = Question(message).kind
        if kind == "bokeh":
            return self._library_code
        if kind == "figure":
            from bokeh.embed import json_item

            return gzip.compress(json.dumps(json_item(self.figure)).encode(), mtime=0)
        raise ValueError(f"unknown question {kind!r}; known are bokeh and figure")

    def _on_question(self, _widget: object, message: object, _buffers: object) -> None:
        self.send(*self.answer(message))

    def __repr__(self) -> str:
        return (
            f"<LinkedPlot of {self._facts.title!r}, live in a notebook; elsewhere use "
            "bokeh.embed.file_html(plot.figure, bokeh.resources.INLINE)>"
        )

    def _figure_data(self) -> dict[str, str]:
        """Return titles, notes and first rows by MIME type: bokeh draws in a browser alone."""
        from bokeh.models import Plot

        source = next(each for each in _sources(self.figure) if self.nodes in each.column_names)
        named = "operator" if "operator" in source.column_names else self.nodes
        others = [name for name in source.column_names if name != named]
        texts = [name for name in others if name.endswith("_text")] or others[:_MOST_COLUMNS]
        columns = [source.data[name] for name in (named, *texts)]
        rows = [[*map(_cell, row)] for row in islice(zip(*columns, strict=True), _MOST_ROWS)]
        plots = sorted(self.figure.select({"type": Plot}), key=lambda each: str(each.id))
        titles = [title for each in plots for title in (each.title, *reversed(each.above))]
        above = [" ".join(each.text.split()) for each in titles if getattr(each, "text", "")]
        more = len(columns[0]) - len(rows)
        below = [f"… and {more:,} more"] if more else []
        told = [
            ": ".join(filter(None, (name, ", ".join(filter(None, row))))) for name, *row in rows
        ]
        heads = [name.removesuffix("_text").replace("_", " ") for name in (named, *texts)]
        table = "".join(
            f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in row)}</tr>"
            for tag, row in (("th", heads), *(("td", row) for row in rows))
        )
        notes, rest = (
            "".join(f"<div>{escape(line)}</div>" for line in each) for each in (above, below)
        )
        html = f"{notes}<table>{table}</table>{rest}"
        return {"text/plain": "\n".join([*above, *told, *below]), "text/html": html}


def _cell(value: object) -> str:
    return short_text(float(value)) if isinstance(value, float | np.floating) else str(value)


def _sources(figure: Any) -> list[Any]:
    from bokeh.models import ColumnarDataSource

    return sorted(figure.select({"type": ColumnarDataSource}), key=lambda each: str(each.id))


def _require_column(figure: object, nodes: str) -> None:
    from bokeh.models import Model

    if not isinstance(figure, Model):
        raise TypeError(
            f"link takes a bokeh figure, not {type(figure).__name__}: pass plots.times(run)"
        )
    columns = sorted({column for each in _sources(figure) for column in each.column_names})
    if nodes not in columns:
        raise ValueError(
            f"no data source of this figure has a column {nodes!r} of node ids"
            f"{meant(nodes, columns)}: name one of them, link(figure, run, nodes=…)"
        )


def _library_of(figure: Any) -> tuple[str, bytes]:
    """Return the name and the code of what draws a figure, as a module, compressed."""
    from bokeh import __version__
    from bokeh.embed.bundle import bundle_for_objs_and_resources
    from bokeh.resources import INLINE

    first, *others = bundle_for_objs_and_resources([figure], INLINE).js_raw
    # Not into the page's own `Bokeh`, which may be of another release.
    code = (
        f"const own = {{}};\n(function () {{\n{first}\n}}).call(own);\nconst {{ Bokeh }} = own;\n"
        + "".join(f"(function () {{\n{each}\n}}).call(own);\n" for each in others)
        + "export default Bokeh;\n"
    )
    return _compressed(__version__, code)


@lru_cache(maxsize=4)
def _compressed(version: str, code: str) -> tuple[str, bytes]:
    data = code.encode()
    return f"{version} {hashlib.sha256(data).hexdigest()[:16]}", gzip.compress(data, mtime=0)


def require_run(view: object, run: object) -> RunFacts:
    """Return the facts of what a view is to show, if that is a run."""
    facts = getattr(run, "facts", run)
    if not isinstance(facts, RunFacts):
        instead = "its .run" if hasattr(type(run), "run") else "tvmdbg_widgets.open(path)"
        raise TypeError(
            f"{type(view).__name__} shows a run, not {type(run).__name__}: pass {instead}"
        )
    return facts


def own_model(proposal: dict[str, Any], run: RunFacts) -> object:
    """Return the model that a trait is set to, if it is the run's."""
    if proposal["value"] is not model_of(run):
        name = proposal["trait"].name
        raise traitlets.TraitError(f"{name} of {run.title!r} cannot be changed: make another view")
    return proposal["value"]


def a_session(proposal: dict[str, Any]) -> Session:
    """Return the session that a trait is set to."""
    found = proposal["value"]
    if not isinstance(found, Session):
        name = proposal["trait"].name
        raise traitlets.TraitError(f"{name} must be a Session, not {type(found).__name__}")
    return found


def auto_height(least: int = 240) -> Any:
    """Return the trait of a height that may be that of the part of the notebook that is seen."""
    return ChoiceOr(["auto"], traitlets.Int(min=least, max=4000), default="auto").tag(sync=True)


class View(Saved):
    """One view of a run, linked to the others by its session.

    Parameters
    ----------
    run : DebugRun
    session : Session, optional
        The run's own where left out, so that all views of a run follow each other.
    **traits
        Initial state, by the names of the traits.

    Raises
    ------
    TypeError
        For something that is no run, or a keyword that is no trait of this view.
    """

    run = ModelTrait()
    session: Any = ModelTrait()
    height = traitlets.Int(360, min=120, max=4000).tag(sync=True)
    #: Whether the figure tells of the values of all tensors.
    _tells_health = False

    @public
    def __init__(
        self, run: OpenedRun | RunFacts, session: Session | None = None, **traits: Any
    ) -> None:
        self._facts = require_run(self, run)
        self._debug_run = run
        known = set(self.class_trait_names(sync=True)) - {"run", "session"}
        for name in traits:
            if name not in known or name.startswith("_"):
                usable = [each for each in known if not each.startswith("_")]
                raise no_argument(type(self).__name__, name, [*usable, "session"])
        session = session or session_of(self._facts)
        super().__init__(run=model_of(self._facts), session=session, **traits)

    @traitlets.validate("run")
    def _its_own_run(self, proposal: dict[str, Any]) -> object:
        return own_model(proposal, self._facts)

    @traitlets.validate("session")
    def _a_session(self, proposal: dict[str, Any]) -> Session:
        return a_session(proposal)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {self._facts.title!r}, live in a notebook; "
            "elsewhere use .save_html(path) or .figure().save(path)>"
        )

    def note(self, node: int | str, text: str | None) -> None:
        """Write a text at a node, in all views of the session; None takes it away.

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
        """Return the figure; where ``saved``, one that a saved notebook has room for."""
        raise NotImplementedError

    def _saved_figure(self) -> Figure:
        return self._figure(720, "auto", saved=True)

    def _scanned_runs(self) -> Sequence[RunFacts]:
        return [self._facts] if self._tells_health else []

    def redacted_figure(self, redaction: Redaction, theme: str = "light") -> Figure:
        """Return the figure without what is not to be handed on to others."""
        return self._figure(720, theme, redaction=redaction)

    def _marked(self, redaction: Redaction | None = None) -> tuple[int, ...]:
        """Return the selected nodes, as far as they are of this run."""
        if redaction is not None:
            return redaction.selected
        graph = self._facts.graph
        count = graph.num_nodes if graph is not None else 0
        return tuple(node for node in self.session.selected if node < count)

    @property
    def shown(self) -> RunFacts:
        """The facts of the run that is shown."""
        return self._facts

    @property
    def debug_run(self) -> Any:
        """The run that is shown."""
        return self._debug_run

    @public
    def save_html(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write this view in its present state as one HTML file that works offline.

        Parameters
        ----------
        path : path-like
            Ends in ``.html`` or ``.htm``; replaced whole or not at all.
        **options
            ``budget``, ``share``, ``parameters``, ``title``, ``theme``, ``node`` and ``view``
            as of :meth:`tvmdbg_widgets.DebugRun.save_html`, which also says what is raised.

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
