"""Runs and views saved as one offline HTML file, or as a frame."""

from __future__ import annotations

import html
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.opening import opening_tensor
from tvmdbg_widgets.answers.node_columns import column_reply
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.export.page import pack
from tvmdbg_widgets.export.page.options import PageOptions, PathEraser, about
from tvmdbg_widgets.export.page.pack import code, data_element, document
from tvmdbg_widgets.export.page.stored_page import Entry, store
from tvmdbg_widgets.export.private_parameters import private_parameters, redacted_findings
from tvmdbg_widgets.figures.engine import text_only
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.texts import escape
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.options import whole
from tvmdbg_widgets.model.base.slips import meant
from tvmdbg_widgets.model.base.text import one_line, plain_json, why_unread
from tvmdbg_widgets.model.base.writing import replacing
from tvmdbg_widgets.model.graph.node_columns import NodeColumn
from tvmdbg_widgets.model.refs import node_ref
from tvmdbg_widgets.model.tensors.tensors import Tensor

#: Bytes reserved for the list of omissions.
_ABOUT_LEFT_OUT = 1500
_ATTEMPTS = 3
#: A view of a run, live in a notebook.
View: TypeAlias = Any

#: Views with tensors; pages of the others store none.
_SHOW_TENSORS = ("debugger", "tensor")
_PANELS = ("findings", "graph", "tensor", "timeline")
#: Views that ask for more than their figures, or less.
_ASK_MORE = ("debugger", "comparison", *_PANELS)


def save_page(view: View, path: str | os.PathLike[str], options: PageOptions) -> Path:
    """Write the page of a view; an existing file is replaced atomically."""
    with replacing(path, ".html", ".htm") as file:
        file.write(page(view, options).encode())
    return Path(path)


def page(view: View, options: PageOptions, *, embedded: bool = False) -> str:
    """Return the page of a view in its present state, within the budget if possible."""
    kind, run = view.view_name, view.shown
    choices = _PANELS if kind == "debugger" else (kind,)
    if options.view is not None and options.view not in choices:
        near = meant(options.view, choices)
        raise ValueError(f"a page of a {type(view).__name__} has no view {options.view!r}{near}")
    columns = view.color_by.for_page() if view.has_trait("_color_columns") else []
    states = models(view, options, columns)
    tensors = kind in _SHOW_TENSORS
    if not tensors:
        options = replace(options, share="statistics", parameters=False)
    settings = {"view": kind, "models": states, "start": options.view, "embedded": embedded}
    bundle = code(kind)
    figure = figure_of_page(view, options)
    asked = () if kind in _ASK_MORE else figure.asked or ({"kind": kind},)
    entry = states["view"].get("entry") or states["session"].get("entry")
    seen = states["view"].get("axes"), states["view"].get("index")
    beside = run_beside(view)
    replies: list[tuple[dict[str, Any], Reply]] = [
        ({"kind": "nodeColumn", "number": number}, column_reply(column))
        for number, column in enumerate(columns)
    ]
    title, second = run.title, ""
    if beside is not None:
        replies.append(({"kind": "comparison"}, view.answer()))
        title = " ~ ".join(view.comparison.titles)
        stored_b = store(beside, budget=options.budget, share=options.share, tensors=False)
        second = data_element("tvmdbg-data-b", stored_b.data)

    def made(left_out: tuple[str, ...], data: str) -> str:
        return document(
            title=options.title or title,
            theme=options.theme,
            code=bundle,
            figure=figure,
            about="\n".join(
                about(one, options, left_out, tensors=tensors)
                for one in filter(None, (run, beside))
            ),
            settings=settings,
            data=data,
            embedded=embedded,
        )

    text, frame, last = "", len(made((), "").encode()) + _ABOUT_LEFT_OUT, b""
    for _ in range(_ATTEMPTS):
        stored = store(
            run,
            budget=options.budget,
            share=options.share,
            parameters=options.parameters,
            first=_first(run, entry),
            seen=seen,
            layouts=[given] if (given := states["view"].get("data_layout")) else [],
            frame=frame,
            tensors=tensors,
            asked=asked,
            times=kind in ("timeline", "debugger"),
            replies=replies,
        )
        text = made(stored.left_out, data_element("tvmdbg-data", stored.data) + second)
        over = len(text.encode()) - options.budget
        if over <= 0:
            return text
        if stored.data == last:
            break
        frame, last = frame + over, stored.data
    warnings.warn(
        f"the page of {run.title!r} takes {counted(len(text.encode()), 'byte')}, more than the "
        f"budget of {options.budget:,}: nothing more can be left out of it",
        stacklevel=4,
    )
    return text


def _first(run: RunFacts, entry: Sequence[int] | None) -> Entry | None:
    """Return the entry that the page opens with: the chosen one, else the view's default."""
    if entry is not None:
        return entry[0], entry[1]
    opening = opening_tensor(run)
    return None if opening is None else (opening.node, opening.output)


#: px of the line below the view in its frame.
_BELOW = 26
#: px of a view with ``height="auto"`` in a frame.
_AUTO = 760
_HEIGHT = whole(1, 100_000)
#: px of views that need a fixed height.
_LEAST = {"tensor": 560}
#: px (760 and borders) below which a debugger's views are stacked, and the extra height then.
_NARROW, _STACKED = 763, 420


@dataclass(frozen=True)
class Embed:
    """A view as an ``<iframe>`` that needs no kernel, no network and no file beside it.

    At the end of a notebook cell it survives ``jupyter nbconvert --to html`` and documentation
    builds; sites that remove frames keep the figure.

    Attributes
    ----------
    html : str
        The frame, to be pasted into any page.
    figure : Figure
        The same as a picture and as text.
    """

    html: str
    figure: Figure

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        return {
            "text/html": self.html,
            "image/svg+xml": self.figure.svg,
            "text/plain": self.figure.text,
        }

    def __repr__(self) -> str:
        title = self.figure.description.get("title", "")
        return f"<Embed: {title!r}, {len(self.html.encode()) / 1024:.0f} KiB of HTML; .html>"


def embed(view: View, height: int | None, options: PageOptions) -> Embed:
    """Return a view in its present state as a frame."""
    kind = view.view_name
    if height is not None:
        height = _HEIGHT.check(height)
    wished: int | str = view.height
    own = _AUTO if isinstance(wished, str) else wished
    tall = max(own, _LEAST.get(kind, 0)) + _BELOW if height is None else height
    style = "border:0"
    if kind == "debugger" and height is None:
        more = f"clamp(0px, ({_NARROW}px - 100cqw) * 9999, {_STACKED}px)"
        style += f";height:calc({tall}px + {more})"
    document = page(view, options, embedded=True)
    # A sandbox without allow-same-origin: the frame cannot reach the page around it.
    frame = (
        '<div style="container-type:inline-size">'
        f'<iframe title="{escape(options.title or view.shown.title)}" '
        f'sandbox="allow-scripts" width="100%" height="{tall}" style="{style}" '
        f'srcdoc="{html.escape(document, quote=True)}"></iframe></div>'
    )
    return Embed(frame, figure_of_page(view, options))


def figure_of_page(view: View, options: PageOptions) -> Figure:
    """Return the view's figure without private values, or the reason why it failed."""
    states = models(view, options)
    try:
        return _redacted(view, options, states["session"], states["view"])
    except Exception as problem:  # noqa: BLE001 - no page fails because a picture does
        title, why = view.shown.title, one_line(why_unread(problem))
        why = PathEraser(view.shown).text(f"This view could not be drawn: {why}")
        return text_only(view.view_name, title, "", why, width=720, theme=options.theme)


def _redacted(
    view: View, options: PageOptions, session: dict[str, Any], own: dict[str, Any]
) -> Figure:
    run = view.shown
    private = private_parameters(run.parts)
    if view.view_name == "debugger":
        run.search.run(progress=True)

    def redact(tensor: Tensor) -> tuple[str, bool]:
        if not options.parameters and (tensor.node, tensor.output) in private:
            counts_only = private.counts_only(tensor)
            return pack.COUNTS_ONLY if counts_only else pack.PARAMETER, counts_only
        return pack.STATISTICS if options.share == "statistics" else "", False

    count = 0 if run.graph is None else run.graph.num_nodes
    selected = tuple(node for node in session["selected"] if node < count)
    first = own.get("entry") or session["entry"]
    entry = None if first is None else tuple(first)
    there = run.tensors is not None and entry in run.tensors
    erased: Any = {}
    if not options.parameters:
        erased["findings"] = partial(redacted_findings, tensors=run.tensors, private=private)
    redaction = Redaction(redact, selected=selected, entry=entry if there else None, **erased)
    figure: Figure = view.redacted_figure(redaction, options.theme)
    return figure


#: Traits that a page does not store: the host's, the pointer's, and models.
_NOT_TAKEN = frozenset(
    {"layout", "tabbable", "tooltip", "hovered", "source"}
    | {"run", "session", "run_b", "session_b"}
)


def models(
    view: View, options: PageOptions, columns: Sequence[NodeColumn] = ()
) -> dict[str, dict[str, Any]]:
    """Return the states of the page's models by id."""
    session = _traits(view.session) | {"hovered": None, "source": "python"}
    own = _traits(view)
    if columns:
        own["_color_columns"] = {
            column.name: {"number": number, "work": None} for number, column in enumerate(columns)
        }
    if options.node is not None:
        node = node_ref(options.node, view.shown.graph, view.shown.tensors)
        session |= {"selected": [node], "entry": [node, 0], "slice": None}
        if "entry" in own:
            own["entry"] = [node, 0]
    title = options.title or view.shown.title
    states = {
        "run": {"title": title, "content_hash": "page"},
        "session": session,
        "view": own | {"run": "anywidget:run", "session": "anywidget:session"},
    }
    beside = run_beside(view)
    if beside is not None:
        states["run_b"] = {"title": beside.title, "content_hash": "page b"}
        states["session_b"] = _traits(view.session_b) | {"hovered": None, "source": "python"}
        states["view"] |= {"run_b": "anywidget:run_b", "session_b": "anywidget:session_b"}
    return states


def run_beside(view: Any) -> RunFacts | None:
    """Return the second run of a comparison, else None."""
    beside: RunFacts | None = getattr(view, "run_beside", None)
    return beside


def _traits(widget: Any) -> dict[str, Any]:
    """Return the widget's public traits as JSON, by name."""
    names = sorted({*widget.trait_names(sync=True)} - _NOT_TAKEN)
    return {name: plain_json(getattr(widget, name)) for name in names if not name.startswith("_")}
