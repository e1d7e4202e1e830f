"""A view as a self-contained frame for pages of others: converted notebooks, documentation."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from tvmdbg_widgets.export.page.figure import figure_of_page
from tvmdbg_widgets.export.page.options import PageOptions
from tvmdbg_widgets.export.page.save import page
from tvmdbg_widgets.export.page.state import kind_of
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.texts import escape
from tvmdbg_widgets.widgets.view import View

#: What stands below the view in its frame: one line about it.
_BELOW = 26
#: What a view that takes the height of a notebook's viewport takes in a frame.
_AUTO = 760
#: What a view needs to show all it has; others follow the height they are given.
_LEAST = {"tensor": 560}
#: In a narrower frame (760 px and its borders) the views of a debugger stand one below the
#: other, which takes so much more.
_NARROW, _STACKED = 763, 420


@dataclass(frozen=True)
class Embed:
    """A view as an ``<iframe>`` that needs no kernel, no network and no file beside it.

    At the end of a notebook's cell it survives ``jupyter nbconvert --to html`` and the build of
    a documentation site; where frames are taken out, the figure stays.

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
    kind = kind_of(view)
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
        f'<iframe title="{escape(options.title or view.debug_run.title)}" '
        f'sandbox="allow-scripts" width="100%" height="{tall}" style="{style}" '
        f'srcdoc="{html.escape(document, quote=True)}"></iframe></div>'
    )
    return Embed(frame, figure_of_page(view, options))
