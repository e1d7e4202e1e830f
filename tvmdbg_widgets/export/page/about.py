"""What a page says of itself: what run, what is in it, what was left out."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets import __version__
from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.summary import missing
from tvmdbg_widgets.export.page.options import PageOptions
from tvmdbg_widgets.export.page.stored.paths import PathEraser
from tvmdbg_widgets.figures.texts import escape

_SHARED = {
    "statistics": "Exact statistics of every tensor; none of their values.",
    "pictures": "Exact statistics of every tensor; of activations reduced pictures and profiles.",
    "tensors": "Exact statistics of every tensor; whole values of activations as far as the "
    "size of the file allows, of the others reduced pictures and profiles.",
}


_HEALTH = "How healthy each tensor is, its least and largest value; none of their other values."


def about(run: Derived, options: PageOptions, left_out: Iterable[str], *, tensors: bool) -> str:
    """Return a definition list in HTML: only what the files say, in the reader's words."""
    provenance = run.provenance
    parts = [part for part in (run.graph, run.tensors, run.timeline) if part is not None]
    device = f", device {provenance.device}" if provenance.device else ""
    parameters = (
        "Parameters are kept as activations are."
        if options.parameters and options.share != "statistics"
        else "Values of parameters are not in this page."
    )
    facts = {
        "Run": [run.title],
        "Holds": [repr(part).splitlines()[0] for part in parts],
        "Lacks": list(missing(run.parts).values()),
        "Source": [f"{provenance.format}{device}, files:", *provenance.files],
        "Values": [_SHARED[options.share] if tensors else _HEALTH, parameters],
        "Left out": list(left_out) or ["Nothing else."],
        "Get it": [
            (
                "Open the dump in Python, tvmdbg_widgets.open(…), for everything; "
                'or save a page that holds more: run.save_html(path, share="tensors", budget=…).'
            )
        ],
        "This page": [
            (
                f"Saved by tvmdbg-widgets {__version__}. It is one file, asks the "
                "network for nothing and keeps nothing in the browser."
            )
        ],
    }
    eraser = PathEraser(run)
    rows = "\n".join(
        _row(term, [eraser.text(each) for each in told]) for term, told in facts.items() if told
    )
    return f"<dl>\n{rows}\n</dl>"


def _row(term: str, told: list[str]) -> str:
    if len(told) == 1:
        return f"<dt>{term}</dt><dd>{escape(told[0])}</dd>"
    items = "".join(f"<li>{escape(each)}</li>" for each in told)
    return f"<dt>{term}</dt><dd><ul>{items}</ul></dd>"
