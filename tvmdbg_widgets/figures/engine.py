"""Figures that the views' own TypeScript draws, in a JavaScript engine without a DOM.

``static/engine.js`` is the views' code, bundled from ``js/src/engine``. QuickJS runs it: without
files, network or clock, within limits of time and memory. Where Python itself runs in a browser,
the browser's engine does.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.figure import Figure, Hover
from tvmdbg_widgets.figures.png import data_uri, png_of
from tvmdbg_widgets.figures.svg import MARGIN, Panel
from tvmdbg_widgets.figures.texts import width_tables
from tvmdbg_widgets.figures.theme import ThemeName, theme_of
from tvmdbg_widgets.model.base.strings import StringColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from tvmdbg_widgets.answers.answering import Reply

    Columns = Mapping[str, npt.NDArray[Any] | StringColumn]

BUNDLE = Path(__file__).parents[1] / "static/engine.js"
_NAME = "tvmdbgEngine"
#: Of CPU time, for one figure.
_MOST_SECONDS = 10.0
_MOST_BYTES = 512 << 20
#: Kinds of arrays that JavaScript has.
_KINDS = ("u1", "u2", "u4", "i4", "f4", "f8")

_threads = threading.local()


class EngineMissingError(RuntimeError):
    """Nothing here can run the views' code."""


def draw(
    view: str,
    data: Mapping[str, Any],
    columns: Columns,
    options: Mapping[str, Any],
    *,
    width: float,
    theme: ThemeName = "auto",
    answers: Mapping[str, Reply] | None = None,
    bare: bool = False,
) -> Figure:
    """Return the figure that a view's own code draws.

    Each thread has an engine of its own; one figure may use 10 s of CPU time and 512 MiB.

    Parameters
    ----------
    view : str
        A name in ``js/src/engine/figures.ts``.
    data, options : mapping
        JSON as the view's live model has it; NaN is not JSON.
    columns : mapping of str to array [N] or StringColumn
        uint8, uint16, uint32, int32, float32, float64, or bool, which goes as uint8.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: dark where the reader prefers it.
    answers : mapping of str to Reply, optional
        What the run answers to questions of the live view, by question.
    bare : bool
        Draw no ground and no frame, for a figure that holds several.

    Raises
    ------
    EngineMissingError
        There is no engine here, or no bundle.
    RuntimeError
        The code failed, or took more time or memory than it may.
    TypeError
        A column of another type.
    ValueError
        An unknown theme, or a number that is not JSON.
    """
    request = {
        "data": data,
        "columns": {name: _packed(name, column) for name, column in columns.items()},
        "answers": {name: _answer(reply) for name, reply in (answers or {}).items()},
        "options": options,
        "width": width,
        "theme": theme_of(theme).name,
        "bare": bare,
        "widths": width_tables(),
    }
    answer = json.loads(_engine().draw(view, json.dumps(request, allow_nan=False)))
    hover = tuple(Hover(**each) for each in answer.get("hover", ()))
    svg = _with_images(answer["svg"], answer.get("images", ()))
    return Figure(svg, answer["text"], {"view": view, **answer["description"]}, hover)


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
    """Return a figure that holds text, where there is no engine to draw one.

    Parameters
    ----------
    text : str
        Lines of what the picture would tell.
    why : str
        What is missing: the message of :class:`EngineMissingError`.
    """
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


def _packed(name: str, column: npt.NDArray[Any] | StringColumn) -> dict[str, Any]:
    if isinstance(column, StringColumn):
        return {"unique": column.unique, "codes": _base64(column.codes, "i4")}
    array = column.view(np.uint8) if column.dtype == np.bool_ else column
    kind = array.dtype.str[1:]
    if kind not in _KINDS:
        raise TypeError(f"column {name!r} is {array.dtype}; expected one of {', '.join(_KINDS)}")
    return {"kind": kind, "base64": _base64(array, kind)}


def _base64(array: npt.NDArray[Any], kind: str) -> str:
    return base64.b64encode(array.astype(f"<{kind}", copy=False).tobytes()).decode("ascii")


def _in_browser() -> bool:
    return sys.platform == "emscripten"


def _engine() -> _QuickJs | _Browser:
    """Return the engine of this thread; QuickJS belongs to the thread that made it."""
    found: _QuickJs | _Browser | None = getattr(_threads, "engine", None)
    if found is None:
        if not BUNDLE.exists():
            raise EngineMissingError(f"{BUNDLE} is missing: build it with `make bundle`")
        source = BUNDLE.read_text("utf-8")
        found = _threads.engine = _Browser(source) if _in_browser() else _QuickJs(source)
    return found


class _QuickJs:
    """The views' code in QuickJS."""

    def __init__(self, source: str) -> None:
        try:
            import quickjs
        except ImportError as problem:
            raise EngineMissingError(
                "the picture is drawn by the package quickjs-ng, which is not installed here: "
                "pip install quickjs-ng (where it has no wheel, that takes a C compiler)"
            ) from problem
        self._failure = quickjs.JSException
        self._context = quickjs.Context()
        self._context.set_memory_limit(_MOST_BYTES)
        try:
            self._context.eval(source)
            self._draw = self._context.eval(f"{_NAME}.draw")
        except self._failure as problem:
            raise _unable(problem, "pip install --upgrade quickjs-ng") from problem

    def draw(self, view: str, request: str) -> str:
        # The engine counts the CPU time of all threads of the process.
        limit = _MOST_SECONDS
        while True:
            self._context.set_time_limit(limit)
            start = time.thread_time()
            try:
                return str(self._draw(view, request))
            except self._failure as problem:
                said = str(problem).splitlines()[0]
                took = time.thread_time() - start
                interrupted = "interrupted" in said
                if interrupted and took < _MOST_SECONDS / 2:
                    limit *= 2
                    continue
                _threads.engine = None
                if interrupted:
                    said = f"it took longer than {_MOST_SECONDS:g} s"
                raise _failed(view, said) from problem


class _Browser:
    """The views' code in the engine of the browser that Python runs in."""

    def __init__(self, source: str) -> None:
        from pyodide.code import run_js
        from pyodide.ffi import JsException

        self._failure = JsException
        try:
            self._draw = run_js(f"{source}\n{_NAME}").draw
        except JsException as problem:
            raise _unable(problem, "use a newer browser") from problem

    def draw(self, view: str, request: str) -> str:
        try:
            return str(self._draw(view, request))
        except self._failure as problem:
            raise _failed(view, str(problem)) from problem


def _unable(problem: Exception, remedy: str) -> EngineMissingError:
    said = str(problem).splitlines()[0]
    return EngineMissingError(
        f"the JavaScript engine here cannot run what draws the picture ({said}): {remedy}"
    )


def _failed(view: str, said: str) -> RuntimeError:
    return RuntimeError(f"the figure of {view!r} could not be drawn: {said}")
