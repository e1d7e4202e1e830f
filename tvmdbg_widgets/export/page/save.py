"""Runs and views as one offline HTML file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.opening import opening_tensor
from tvmdbg_widgets.answers.answering import Reply
from tvmdbg_widgets.export.page.about import about
from tvmdbg_widgets.export.page.document import document
from tvmdbg_widgets.export.page.figure import figure_of_page
from tvmdbg_widgets.export.page.options import PageOptions
from tvmdbg_widgets.export.page.script import code, data_element
from tvmdbg_widgets.export.page.state import kind_of, models, run_beside
from tvmdbg_widgets.export.page.stored.stored import Entry, store
from tvmdbg_widgets.model.base.choice import meant
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.writing import replacing
from tvmdbg_widgets.widgets.view import View

#: Bytes that are kept free for the list of what was left out.
_ABOUT_LEFT_OUT = 1500
_ATTEMPTS = 3
#: The other views never ask for a tensor, so their pages carry none.
_SHOW_TENSORS = ("debugger", "tensor")
_PANELS = ("findings", "graph", "tensor", "timeline")


def save_page(view: View, path: str | os.PathLike[str], options: PageOptions) -> Path:
    """Write the page of a view; an existing file is replaced whole or not at all."""
    with replacing(path, ".html", ".htm") as file:
        file.write(page(view, options).encode())
    return Path(path)


def page(view: View, options: PageOptions, *, embedded: bool = False) -> str:
    """Return the page of a view in its present state, within the budget where that is possible."""
    kind, run = kind_of(view), view.debug_run
    choices = _PANELS if kind == "debugger" else (kind,)
    if options.view is not None and options.view not in choices:
        near = meant(options.view, choices)
        raise ValueError(f"a page of a {type(view).__name__} has no view {options.view!r}{near}")
    states = models(view, options)
    tensors = kind in _SHOW_TENSORS
    if not tensors:
        options = replace(options, share="statistics", parameters=False)
    settings = {"view": kind, "models": states, "start": options.view, "embedded": embedded}
    bundle = code(kind)
    figure = figure_of_page(view, options)
    entry = states["view"].get("entry") or states["session"].get("entry")
    seen = states["view"].get("axes"), states["view"].get("index")
    beside = run_beside(view)
    differs: Reply | None = None
    title, second = run.title, ""
    if beside is not None:
        differs = view.answer()
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
                about(each, options, left_out, tensors=tensors)
                for each in filter(None, (run, beside))
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
            frame=frame,
            tensors=tensors,
            memory=kind == "memory",
            times=kind in ("timeline", "debugger"),
            comparison=differs,
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


def _first(run: Derived, entry: Sequence[int] | None) -> Entry | None:
    """Return the entry that the page shows first: the one chosen, else the one views open on."""
    if entry is not None:
        return entry[0], entry[1]
    opening = opening_tensor(run)
    return None if opening is None else (opening.node, opening.output)
