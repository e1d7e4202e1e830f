"""The script and the style of a page, and the policy that allows these and nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from dataclasses import dataclass

from tvmdbg_widgets.answers.bundles import STATIC, bundle
from tvmdbg_widgets.export.page.stored.pack import LEVEL

#: What would end an inline script or style early, or change how its end is found.
_ENDS_EARLY = re.compile("</(?:script|style)|<!--|[\0\r]", re.IGNORECASE)

#: Views whose script carries the layout of graphs.
_WITH_LAYOUT = ("debugger", "graph", "comparison")


@dataclass(frozen=True)
class Code:
    """What makes a page live."""

    style: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    markup: str

    @property
    def policy(self) -> str:
        """The Content-Security-Policy under which the page works; also fit for a header."""
        scripts = " ".join(map(_source, self.scripts))
        styles = " ".join(map(_source, self.styles))
        return (
            f"default-src 'none'; script-src {scripts}; style-src {styles}; "
            "img-src data: blob:; worker-src blob:"
        )


def code(view: str) -> Code:
    """Return the script and style of a page that shows one kind of view.

    Script and style of the views are carried compressed, at half their size and less; the policy
    names the small script that unpacks, what it unpacks, and the layout inside the large script,
    which starts as one of its own where workers are forbidden.
    """
    name = "page" if view == "debugger" else f"page_{view}"
    script, views = _text(f"{name}.js"), _text(f"{name}.css")
    loader, style = _text("page_unpack.js"), _text("page_unpack.css")
    layout = (_text("layout.js"),) if view in _WITH_LAYOUT else ()
    return Code(
        style,
        (style, views),
        (loader, script, *layout),
        f"<script>{loader}</script>\n{data_element('tvmdbg-style', views.encode())}\n"
        f"{data_element('tvmdbg-script', script.encode())}",
    )


def data_element(name: str, data: bytes) -> str:
    """Return an element that carries bytes, compressed; the same bytes give the same element."""
    text = base64.b64encode(gzip.compress(data, LEVEL, mtime=0)).decode()
    return f'<script type="application/octet-stream" id="{name}">{text}</script>'


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _text(name: str) -> str:
    bundle(name)  # says how to build what is missing
    text = (STATIC / name).read_text(encoding="utf-8").strip()
    if found := _ENDS_EARLY.search(text):
        raise ValueError(f"{name} cannot stand in a page: it holds {found.group()!r}")
    return text
