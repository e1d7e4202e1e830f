"""Figures drawn by the views' TypeScript, text-only figures without it, and PNG."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.answers import few_names
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import converse, with_memory
from tvmdbg_widgets.figures.raster import Figure, Hover
from tvmdbg_widgets.figures.texts import FONT, escape, usable_width, wrap
from tvmdbg_widgets.figures.theme import SCHEMES, THEMES
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.base.text import FormatError, one_line, unread_text

#: px around the lines of a text-only figure.
_MARGIN = 14


#: Answers a question of a figure.
Answer = Callable[[dict[str, Any]], Reply]


@dataclass(frozen=True)
class ToDraw:
    """What Python hands to a figure: options, words that the view leaves to it, and a title."""

    options: Mapping[str, Any]
    text: Callable[[], str] = lambda: ""
    #: The run's if empty.
    title: str = ""


def draw_view(
    view: str,
    title: str,
    options: Mapping[str, Any],
    answer: Answer,
    *,
    text: Callable[[], str],
    width: float,
    theme: str,
) -> Figure:
    """Draw the figure of a view, or return its text as a figure if drawing fails."""
    width, theme = usable_width(width), one_of("theme", theme, THEMES)
    try:
        return draw(view, title, options, answer, text=text, width=width, theme=theme)
    except Exception as problem:  # noqa: BLE001 - a display must not fail with its picture
        why = one_line(str(problem)) or type(problem).__name__
        return text_only(view, title, text(), why, width=width, theme=theme)


def draw(
    view: str,
    title: str,
    options: Mapping[str, Any],
    answer: Answer,
    *,
    text: Callable[[], str] = lambda: "",
    width: float,
    theme: str = "auto",
) -> Figure:
    """Draw the figure of a view, which asks for what it shows.

    ``text`` gives the words that the view leaves to Python. Every thread has an engine; a figure
    may use 10 s of CPU time and 512 MiB.
    """
    look = {"width": width, "theme": theme, "mostNodes": few_names.MOST_NODES}
    request = json.dumps(
        {"title": title, "options": options, **look}, allow_nan=False, default=_plain
    )
    failure = f"the figure of {view!r} could not be drawn"
    asked: list[dict[str, Any]] = []

    def heard(question: dict[str, Any]) -> Reply:
        asked.append(question)
        return answer(question)

    def made() -> Any:
        asked.clear()
        return converse("draw", view, request, answer=_carried(heard), failure=failure)

    drawn = with_memory(made)
    svg = _with_images(drawn["svg"], drawn.get("images", ()))
    words = "\n".join(map(one_line, (drawn["text"] or text()).split("\n")))
    hover = tuple(Hover(**box) for box in drawn.get("hover", ()))
    return Figure(svg, words, {"view": view, **drawn["description"]}, hover, tuple(asked))


def _carried(answer: Answer) -> Callable[[dict[str, Any]], tuple[Any, Sequence[bytes]]]:
    """Return what answers the engine; the reason of a failed read names files without folders."""

    def carried(question: dict[str, Any]) -> tuple[Any, Sequence[bytes]]:
        try:
            reply = answer(question)
        except (FormatError, OSError) as problem:
            raise ValueError(unread_text(problem)) from problem
        return reply.result, reply.buffers

    return carried


def _plain(value: Any) -> Any:
    """Return an array or a number of numpy as JSON has it."""
    return value.tolist()


def colors_of_nodes(options: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """Return the unit of a graph's colors; and ``nodes``: fill, ink, text and value of each.

    ``options`` are those of its figure.
    """
    request = {"options": options, "width": 720, "theme": "light"}
    failure = "the colors of nodes could not be made"
    text = json.dumps(request, allow_nan=False)
    colors: dict[str, Any] = with_memory(
        lambda: converse("colorsOfNodes", text, answer=_carried(answer), failure=failure)
    )
    return colors


def _with_images(svg: str, images: Sequence[Mapping[str, Any]]) -> str:
    """Put PNG images into an SVG; see ``js/src/shared/drawing/svg_context.ts``."""
    for at, image in enumerate(images):
        pixels = np.frombuffer(base64.b64decode(image["base64"]), "<u4")
        address = data_uri(png_of(pixels.reshape(image["rows"], image["cols"])))
        svg = svg.replace(f'href="tvmdbg-image:{at}"', f'href="{address}"')
    return svg


def text_only(
    view: str, title: str, text: str, why: str, *, width: float, theme: str = "auto"
) -> Figure:
    """Return a figure of text, or of its title alone, and the reason why nothing is drawn."""
    look = SCHEMES["dark" if theme == "dark" else "light"]
    room = width - 2 * _MARGIN
    lines = [(line, 13, 600, "text") for line in wrap(title, room, 13, 4)]
    for part, color in [*((line, "text") for line in text.splitlines()), (why, "muted")]:
        lines += [(line, 11, 400, color) for line in wrap(part, room, 11)]
    y, marks = _MARGIN - 4, ""
    for line, size, weight, color in lines:
        y += size + 4
        marks += (
            f'<text class="{color}" x="{_MARGIN}" y="{y}" font-size="{size}" '
            f'font-weight="{weight}" fill="{getattr(look, color)}">{escape(line)}</text>'
        )
    high, dark, sheet = y + _MARGIN, SCHEMES["dark"], ""
    if theme == "auto":
        sheet = (
            "<style>@media (prefers-color-scheme:dark){"
            f".tvmdbg-figure rect{{fill:{dark.background};stroke:{dark.line}}}"
            f".tvmdbg-figure .text{{fill:{dark.text}}}.tvmdbg-figure .muted{{fill:{dark.muted}}}"
            "}</style>"
        )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tvmdbg-figure" '
        f'viewBox="0 0 {width:g} {high}" width="{width:g}" height="{high}" role="img" '
        f'font-family="{escape(FONT)}" style="max-width:100%;height:auto">'
        f"<title>{escape(title)}</title><desc>{escape(text or title)}</desc>{sheet}"
        f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{high - 1}" rx="4" '
        f'fill="{look.background}" stroke="{look.line}"/>{marks}</svg>'
    )
    return Figure(svg, f"{text or title}\n{why}", {"view": view, "title": title, "missing": why})


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEXED = 3
_MOST_COLORS = 256


def png(codes: npt.NDArray[np.uint8], colors: npt.NDArray[np.uint8]) -> bytes:
    """Write a picture as PNG (ISO/IEC 15948), one byte a pixel."""
    rows, cols = codes.shape
    if not rows or not cols:
        raise ValueError(f"a picture of {rows} x {counted(cols, 'pixel')} cannot be written as PNG")
    if not 0 < len(colors) <= _MOST_COLORS or codes.max() >= len(colors):
        raise ValueError(f"codes up to {codes.max()} with {counted(len(colors), 'color')}")
    lines = np.zeros((rows, cols + 1), np.uint8)
    lines[:, 1:] = codes
    header = struct.pack(">IIBBBBB", cols, rows, 8, _INDEXED, 0, 0, 0)
    return b"".join(
        [
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", colors.tobytes()),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def png_of(pixels: npt.NDArray[np.uint32]) -> bytes:
    """Write opaque pixels as PNG, with colors coarsened until 256 suffice."""
    colors = pixels & np.uint32(0xFFFFFF)
    used, at = np.unique(colors, return_inverse=True)
    for lost in range(1, 8):
        if len(used) <= _MOST_COLORS:
            break
        kept = np.uint32(0x010101 * (0xFF >> lost << lost))
        used, at = np.unique(colors & kept, return_inverse=True)
    table = used.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3]
    return png(at.reshape(pixels.shape).astype(np.uint8), np.ascontiguousarray(table))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_uri(data: bytes) -> str:
    """Return a PNG as a ``data:`` address."""
    return f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"
