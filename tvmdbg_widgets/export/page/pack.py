"""One binary of recorded replies, read back by ``js/src/page/stored_data.ts``.

``TVMDBGP1``, the length of the head (uint32), four zero bytes, the head (JSON), zeros up to a
multiple of eight, then the body. Offsets in the head count from the body's first byte.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmdbg_widgets import __version__
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import STATIC, bundle
from tvmdbg_widgets.export.private_parameters import FEWEST
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.texts import escape
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import why_unread
from tvmdbg_widgets.model.tensors.tensors import Tensor

MAGIC = b"TVMDBGP1"
_WIDTHS = {"u1": 1, "u2": 2, "u4": 4, "i4": 4, "f4": 4, "f8": 8}
#: Compression level: 9 takes five times as long, for 0.8 % fewer bytes.
LEVEL = 7
#: For estimates of size.
_ESTIMATE_LEVEL = 6


def packed_size(data: bytes) -> int:
    """Return the size of data in a page: base64 of gzip."""
    return base64_size(len(zlib.compress(data, LEVEL)) + 18)


def base64_size(count: int) -> int:
    """Return the base64 length of ``count`` bytes."""
    return -(-count // 3) * 4


def compressed(data: bytes) -> int:
    """Return an upper estimate of a part's compressed size."""
    return len(zlib.compress(data, _ESTIMATE_LEVEL))


def shuffled(data: bytes | bytearray | memoryview, width: int) -> bytes:
    """Group bytes by their position within items, which compresses better.

    ``len(data)`` must be a multiple of ``width``.
    """
    return np.frombuffer(data, np.uint8).reshape(-1, width).T.tobytes()


def filtered(headers: list[dict[str, Any]], buffer: bytes) -> bytes:
    """Return a packed buffer with integers delta-coded and all numbers shuffled."""
    out = bytearray(buffer)
    for kind, offset, length in _regions(headers):
        width = _WIDTHS[kind]
        end = offset + length * width
        part = buffer[offset:end]
        if kind == "i4":
            values = np.frombuffer(part, "<i4")
            part = np.diff(values, prepend=np.zeros(1, "<i4")).astype("<i4").tobytes()
        out[offset:end] = shuffled(part, width)
    return bytes(out)


def _regions(headers: list[dict[str, Any]]) -> Iterator[tuple[str, int, int]]:
    for header in headers:
        if header["kind"] == "strings":
            yield "i4", header["codes"], header["length"]
            yield "i4", header["offsets"], header["unique"] + 1
        elif header["kind"] != "u1":
            yield header["kind"], header["offset"], header["length"]


class BinaryParts:
    """Recorded replies of one binary; ``erase`` gives what a reply may tell."""

    def __init__(self, erase: Callable[[Reply], Reply] = lambda reply: reply) -> None:
        self._erase = erase
        self._replies: dict[str, list[Any]] = {}
        self._places: dict[bytes, tuple[int, int]] = {}  # by digest
        self._body = bytearray()

    def copy(self) -> BinaryParts:
        """Return a binary with the same parts."""
        other = BinaryParts(self._erase)
        for name, part in vars(self).items():
            setattr(other, name, copy(part))
        return other

    def record(
        self,
        questions: Iterable[Sequence[Mapping[str, Any]]],
        answer: Callable[[Mapping[str, Any]], Reply],
        budget: float,
    ) -> int:
        """Record replies to groups of questions, up to a group that exceeds the budget.

        Return the number of recorded groups. The budget is of characters in the page; the first
        group is recorded in any case.
        """
        left, count = budget, 0
        for group in questions:
            new = [(one, answer(one)) for one in group if _key(one) not in self._replies]
            left -= base64_size(recorded_size([reply for _, reply in new]))
            if left < 0 and count:
                break
            count += 1
            for question, reply in new:
                self.add_reply(question, reply)
        return count

    def add_reply(self, question: Mapping[str, Any], reply: Reply) -> None:
        """Record what a reply may tell; equal buffers are stored once."""
        reply = self._erase(reply)
        places = [self._place(buffer) for buffer in _filtered_buffers(reply)]
        self._replies[_key(question)] = [reply.result, *places]

    def _place(self, buffer: bytes) -> tuple[int, int]:
        digest = hashlib.sha256(buffer).digest()
        if digest not in self._places:
            self._body.extend(b"\0" * (-len(self._body) % 8))
            self._places[digest] = len(self._body), len(buffer)
            self._body.extend(buffer)
        return self._places[digest]

    def to_bytes(self) -> bytes:
        """Return the binary."""
        head = {"version": 1, "replies": self._replies}
        text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 8)
        return MAGIC + struct.pack("<II", len(text), 0) + text + bytes(self._body)


def _key(question: Mapping[str, Any]) -> str:
    return json.dumps(question, sort_keys=True)


def recorded_size(replies: Sequence[Reply]) -> int:
    """Return an upper estimate of the compressed size of recorded replies."""
    results = json.dumps([reply.result for reply in replies], separators=(",", ":"))
    buffers = [buffer for reply in replies for buffer in _filtered_buffers(reply)]
    return compressed(b"".join([results.encode(), *buffers]))


def _filtered_buffers(reply: Reply) -> list[bytes]:
    """Return the buffers of a reply; its columns are in the first."""
    headers = reply.result.get("columns", []) if isinstance(reply.result, dict) else []
    return [filtered(headers, buffer) for buffer in reply.buffers[:1]] + list(reply.buffers[1:])


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
    """Return one page: figure and text for every reader, views if scripts run.

    The data come last, so that a truncated file still shows the rest.
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
    text = "\n".join(map(escape, figure.text.split("\n")))
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
<pre tabindex="0">{text}</pre>
</section>
{footer}
<script type="application/json" id="tvmdbg-settings">{_json(settings)}</script>
{code.markup}
{data}
</body>
</html>
"""


def _json(value: Any) -> str:
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), sort_keys=True)
    return text.replace("<", "\\u003c")


#: Texts that end an inline script or style early, or change how its end is parsed.
_ENDS_EARLY = re.compile("</(?:script|style)|<!--|[\0\r]", re.IGNORECASE)

#: Views whose script contains the graph layout.
_WITH_LAYOUT = ("debugger", "graph", "comparison")


@dataclass(frozen=True)
class Code:
    """Scripts and styles of a page."""

    style: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    markup: str

    @property
    def policy(self) -> str:
        """Content-Security-Policy of the page; also usable as a header."""
        scripts = " ".join(map(_source, self.scripts))
        styles = " ".join(map(_source, self.styles))
        return (
            f"default-src 'none'; script-src {scripts}; style-src {styles}; "
            "img-src data: blob:; worker-src blob:"
        )


def code(view: str) -> Code:
    """Return the script and style of a page for one kind of view.

    They are stored compressed, at less than half their size. The policy names the small script that
    unpacks, the unpacked script, and the layout inside it, which runs as a script of its own if
    workers are forbidden.
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
    """Return an element with compressed bytes; equal bytes give equal elements."""
    text = base64.b64encode(gzip.compress(data, LEVEL, mtime=0)).decode()
    return f'<script type="application/octet-stream" id="{name}">{text}</script>'


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _text(name: str) -> str:
    bundle(name)  # raises if the bundle is missing
    text = (STATIC / name).read_text(encoding="utf-8").strip()
    if match := _ENDS_EARLY.search(text):
        raise ValueError(f"{name} cannot stand in a page: it holds {match.group()!r}")
    return text


COUNTS_ONLY = (
    f"a parameter of fewer than {FEWEST} values: this page tells how many are zero, negative or "
    "not finite; bounds and mean would give values away"
)
PARAMETER = "values of parameters are not in this page: only their statistics are"
STATISTICS = "values are not in this page: it was saved with their statistics only"
NO_ROOM = "values are not in this page: its budget was spent on others"

NO_TENSORS = (
    "statistics, heatmaps and values of tensors: this view shows none; save the page of the run "
    "or of a TensorInspector"
)
ASKED = "parameter values are left out unless asked for with parameters=True"
DOUBTFUL = (
    "they may be parameters, which only the graph and the model's params file can tell; "
    "parameters=True takes them along"
)
SMALL = f"fewer than {FEWEST} values, which they would give away"
DERIVED = "computed from parameters alone; parameters=True takes them along"


def too_small(least: int, budget: int) -> str:
    """Return the sentence for data that exceed the budget even without values."""
    return (
        f"all heatmaps and values: graph, times and statistics alone take {megabytes(least)}, "
        f"more than the budget of {megabytes(budget)}"
    )


def unread(problem: Exception) -> str:
    """Return why values could not be read."""
    return f"values could not be read when this page was made: {why_unread(problem)}"


def remedy(*, parameters: bool) -> str:
    """Return the call that saves a page with all values."""
    return f'save_html(share="tensors"{", parameters=True" if parameters else ""})'


def megabytes(count: int) -> str:
    """Return a number of bytes as text: ``"120 bytes"``, ``"46 kB"``, ``"1.1 MB"``."""
    if count < 1000:
        return counted(count, "byte")
    return f"{count / 1e3:.0f} kB" if count < 999_500 else f"{count / 1e6:,.1f} MB"


def amount(tensors: Sequence[Tensor], noun: str) -> str:
    """Return number and size of tensors: ``"45 parameters (1.1 MB)"``."""
    size = megabytes(sum(tensor.nbytes for tensor in tensors))
    return f"{counted(len(tensors), noun)} ({size})"
