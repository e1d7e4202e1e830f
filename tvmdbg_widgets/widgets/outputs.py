"""What a cell holds of a view: the view while it lives, and its figure for when it does not."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any
from urllib.parse import quote

WIDGET = "application/vnd.jupyter.widget-view+json"
#: In JupyterLab 4 and Notebook 7 a view that is gone has an error in its place. This hides the
#: error, and the figure for as long as the view may still come. Figures follow the page's theme: a
#: picture is asked for its dark colors by the `color-scheme` around it.
#: A `<link>`, not a `<style>`: sites that remove tags would leave the text of a style on the page.
_STYLE = """
.jp-OutputArea-child:has(+ .jp-OutputArea-child > .jp-OutputArea-output > .tvmdbg-saved)
:not(:has(> .jp-OutputArea-output *)) { display: none }
.jp-OutputArea-child:has(> .jp-OutputArea-output:not([data-mime-type], .jupyter-widgets))
+ .jp-OutputArea-child > .jp-OutputArea-output > .tvmdbg-saved
{ animation: tvmdbg-saved 2s step-end }
@keyframes tvmdbg-saved { from { max-height: 0; visibility: hidden } }
.tvmdbg-saved { color-scheme: light }
[data-jp-theme-light="false"] .tvmdbg-saved { color-scheme: dark }
""".replace("\n:not", ":not")
_LINK = f'<link rel="stylesheet" href="data:text/css,{quote(" ".join(_STYLE.split()), safe=" ")}">'


def live_output(data: dict[str, Any]) -> dict[str, Any]:
    """Return the output that holds the view alone, of its data by MIME type."""
    return {WIDGET: data[WIDGET], "text/html": ""}


def figure_output(data: dict[str, str], figure_id: str) -> dict[str, str]:
    """Return the output that holds the figure."""
    names = f"tvmdbg-saved tvmdbg-saved-{figure_id}"
    return {**data, "text/html": f'<div class="{names}">{_LINK}{data["text/html"]}</div>'}


def makes_one_output() -> bool:
    """Whether what is being shown must be one output.

    A handle, ``display(view, display_id=True)``, updates one output; and what asks for the data of
    an object, as ``Output.append_display_data`` does, makes one of them.
    """
    from IPython.core.display_functions import display
    from IPython.core.displayhook import DisplayHook
    from IPython.core.formatters import DisplayFormatter

    frame: FrameType | None = sys._getframe()  # noqa: SLF001 (no object is told who shows it)
    while frame is not None and frame.f_code is not DisplayFormatter.format.__code__:
        frame = frame.f_back
    caller = None if frame is None else frame.f_back
    if caller is None or caller.f_code is DisplayHook.compute_format_data.__code__:
        return False
    return caller.f_code is not display.__code__ or bool(caller.f_locals["transient"])
