"""What a cell holds of a view: the view while it lives, and its figure for when it does not."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

WIDGET = "application/vnd.jupyter.widget-view+json"
#: In JupyterLab 4 and Notebook 7 a view that is gone has an error in its place. This hides the
#: error, and the figure for as long as the view may still come.
#: A `<link>`, not a `<style>`: sites that remove tags would leave the text of a style on the page.
_STYLE = """
.jp-OutputArea-child:has(+ .jp-OutputArea-child .tvmdbg-saved):not(:has(.jp-OutputArea-output *))
{ display: none }
.jp-OutputArea-child:has(> .jp-OutputArea-output:not([data-mime-type], .jupyter-widgets))
+ .jp-OutputArea-child .tvmdbg-saved { animation: tvmdbg-saved 2s step-end }
@keyframes tvmdbg-saved { from { max-height: 0; visibility: hidden } }
"""
_LINK = f'<link rel="stylesheet" href="data:text/css,{quote(" ".join(_STYLE.split()), safe=" ")}">'


def outputs(bundle: dict[str, Any], figure_id: str) -> list[dict[str, Any]]:
    """Return the outputs of a view: the view alone, then its figure.

    Parameters
    ----------
    bundle : dict
        Both as one, by MIME type.
    figure_id : str
        By which the view finds the figure, to hide it: `js/src/shared/saved_figure.ts`.
    """
    figure = dict(bundle)
    live = {WIDGET: figure.pop(WIDGET), "text/html": ""}
    names = f"tvmdbg-saved tvmdbg-saved-{figure_id}"
    figure["text/html"] = f'<div class="{names}">{_LINK}{figure["text/html"]}</div>'
    return [live, figure]
