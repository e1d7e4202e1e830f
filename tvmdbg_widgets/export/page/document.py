"""The HTML of a page."""

from __future__ import annotations

import json
from typing import Any

from tvmdbg_widgets import __version__
from tvmdbg_widgets.export.page.script import Code
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.texts import escape

_STARTING = (
    "The interactive views are starting. If this line stays, this file is incomplete or its "
    "scripts were stopped; the figure and the text below do without them."
)


def document(
    *,
    title: str,
    theme: str,
    code: Code,
    figure: Figure,
    about: str,
    settings: dict[str, Any],
    data: str,
    embedded: bool = False,
) -> str:
    """Return one page: figure and text for every reader, views where scripts run.

    Everything that a broken file may lack stands before the data, which are the end of it.
    """
    name = escape(title)
    chosen = "" if theme == "auto" else f' data-theme="{theme}"'
    kind = "tvmdbg-page tvmdbg-page-embedded" if embedded else "tvmdbg-page"
    header = (
        f'<header><h1>{name}</h1><div id="tvmdbg-tools">'
        '<a href="#tvmdbg-about">About this page</a></div></header>\n'
    )
    footer = (
        f'<details id="tvmdbg-about"><summary>About this view</summary>\n{about}\n</details>'
        if embedded
        else f'<footer id="tvmdbg-about"><h2>About this page</h2>\n{about}\n</footer>'
    )
    return f"""<!doctype html>
<html lang="en"{chosen}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{code.policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="{"light dark" if theme == "auto" else theme}">
<meta name="generator" content="tvmdbg-widgets {escape(__version__)}">
<title>{name}</title>
<style>{code.style}</style>
</head>
<body class="{kind}">
{"" if embedded else header}<p id="tvmdbg-status" role="status">{_STARTING}</p>
<main id="tvmdbg-views"></main>
<section id="tvmdbg-static" aria-label="Figure">
{figure.html}
<h2>In words</h2>
<pre tabindex="0">{_lines(figure.text)}</pre>
</section>
{footer}
<script type="application/json" id="tvmdbg-settings">{_json(settings)}</script>
{code.markup}
{data}
</body>
</html>
"""


def _lines(text: str) -> str:
    return "\n".join(escape(line) for line in text.split("\n"))


def _json(value: Any) -> str:
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), sort_keys=True)
    return text.replace("<", "\\u003c")
