"""Figures that the views' own TypeScript draws; :mod:`tvmdbg_widgets.engine.host` runs it."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.engine.columns import packed_text
from tvmdbg_widgets.engine.host import call
from tvmdbg_widgets.figures.figure import Figure, Hover
from tvmdbg_widgets.figures.png import data_uri, png_of
from tvmdbg_widgets.figures.svg import MARGIN, Panel
from tvmdbg_widgets.figures.texts import width_tables
from tvmdbg_widgets.figures.theme import ThemeName, theme_of
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from tvmdbg_widgets.answers.answering import Reply
    from tvmdbg_widgets.model.base.strings import StringColumn

    Columns = Mapping[str, npt.NDArray[Any] | StringColumn]


def draw(
    view: str,
    data: Mapping[str, Any],
    columns: Columns,
    options: Mapping[str, Any],
    *,
    width: float,
    theme: ThemeName = "auto",
    answers: Mapping[str, Reply] | None = None,
) -> Figure:
    """Return the figure that a view's own code draws.

    Each thread has an engine of its own; one figure may use 10 s of CPU time and 512 MiB.
    """
    request = _request(data, columns, options, answers or {}) | {
        "width": width,
        "theme": theme_of(theme).name,
    }
    failure = f"the figure of {view!r} could not be drawn"
    answer = json.loads(call("draw", view, json.dumps(request, allow_nan=False), failure=failure))
    hover = tuple(Hover(**each) for each in answer.get("hover", ()))
    svg = _with_images(answer["svg"], answer.get("images", ()))
    text = "\n".join(map(one_line, answer["text"].split("\n")))
    return Figure(svg, text, {"view": view, **answer["description"]}, hover)


def draw_or_tell(
    view: str,
    data: Mapping[str, Any],
    columns: Columns,
    options: Mapping[str, Any],
    *,
    text: str,
    width: float,
    theme: ThemeName = "auto",
    answers: Callable[[], Mapping[str, Reply]] = dict,
) -> Figure:
    """Return the figure that a view's own code draws, or its text where that fails.

    Parameters as of :func:`draw`, whose ``data`` have a title.
    """
    try:
        told = answers()
        return draw(view, data, columns, options, width=width, theme=theme, answers=told)
    except Exception as problem:  # noqa: BLE001 - no display fails because a picture does
        why = one_line(str(problem)) or type(problem).__name__
        return text_only(view, str(data["title"]), text, why, width=width, theme=theme)


def colors_of_nodes(
    data: Mapping[str, Any],
    columns: Columns,
    options: Mapping[str, Any],
    answers: Mapping[str, Reply],
) -> dict[str, list[Any]]:
    """Return what the colors of a graph show, node by node.

    Parameters as of :func:`draw`, those of the figure of a graph.
    """
    request = _request(data, columns, options, answers) | {"width": 720, "theme": "light"}
    failure = "the colors of nodes could not be made"
    found: dict[str, list[Any]] = json.loads(
        call("colorsOfNodes", json.dumps(request, allow_nan=False), failure=failure)
    )
    return found


def _request(
    data: Mapping[str, Any],
    columns: Columns,
    options: Mapping[str, Any],
    answers: Mapping[str, Reply],
) -> dict[str, Any]:
    return {
        "data": data,
        "columns": packed_text(columns),
        "answers": {name: _answer(reply) for name, reply in answers.items()},
        "options": options,
        "widths": width_tables(),
    }


def _with_images(svg: str, images: Sequence[Mapping[str, Any]]) -> str:
    """Return a document with its images in it; see ``js/src/shared/drawing/svg_context.ts``."""
    for at, image in enumerate(images):
        pixels = np.frombuffer(base64.b64decode(image["base64"]), "<u4")
        address = data_uri(png_of(pixels.reshape(image["rows"], image["cols"])))
        svg = svg.replace(f'href="tvmdbg-image:{at}"', f'href="{address}"')
    return svg


def text_only(
    view: str, title: str, text: str, why: str, *, width: float, theme: ThemeName = "auto"
) -> Figure:
    """Return a figure that holds text, where none can be drawn."""
    panel = Panel(width, title, text, theme_of(theme), f"{text}\n{why}")
    y = panel.heading(title)
    for line in text.splitlines():
        y = panel.paragraph(line, y)
    panel.height = panel.paragraph(why, y + 4, fill=panel.theme.muted) + MARGIN
    panel.description = {"view": view, "title": title, "missing": why}
    return panel.figure()


def _answer(reply: Reply) -> dict[str, Any] | None:
    if reply.result is None:
        return None
    buffer = reply.buffers[0] if reply.buffers else b""
    return {**reply.result, "base64": base64.b64encode(buffer).decode("ascii")}
