"""LinkedPlot: a bokeh figure that shares its selection with the views of a run."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import lru_cache
from html import escape
from itertools import islice
from typing import Any

import numpy as np
import traitlets

from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts
from tvmdbg_widgets.answers.messages import Question, message_id
from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.chart_picture import DARK, chart_picture, in_dark
from tvmdbg_widgets.model.base.number_text import short_text
from tvmdbg_widgets.model.base.slips import meant
from tvmdbg_widgets.widgets.run_model import model_of, session_of
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.view import RunView, require_run

#: Size of the table in a saved notebook; without text columns, so many beside the first.
_MOST_ROWS, _MOST_COLUMNS = 12, 3


class LinkedPlot(RunView):
    """A bokeh figure that shares its selection with a session.

    The page gets BokehJS from the kernel, once, so it works offline.
    """

    _esm = module("plot")
    _css = bundle("plot.css")
    _code = traitlets.Unicode(code_name("plot")).tag(sync=True)

    nodes = traitlets.Unicode("node").tag(sync=True, page=False)
    _library = traitlets.Unicode().tag(sync=True)
    _made_by = "tvmdbg_widgets.plots.link(figure, run)"

    def __init__(
        self,
        figure: Any,
        run: OpenedRun | RunFacts,
        session: Session | None = None,
        *,
        nodes: str = "node",
    ) -> None:
        self._facts = require_run(self, run)
        _require_column(figure, nodes)
        self.figure = figure
        name, self._library_code = _library_of(figure)
        session = session or session_of(self._facts)
        super().__init__(run=model_of(self._facts), session=session, nodes=nodes, _library=name)
        self.on_msg(self._on_question)

    def answer(self, message: object) -> tuple[dict[str, Any], list[bytes]]:
        """Return the reply to a message: the compressed figure or BokehJS."""
        content: dict[str, Any] = {"id": message_id(message)}
        try:
            return content | {"result": None}, [self._asked_for(message)]
        except Exception as problem:  # noqa: BLE001 (a user's figure; an error is an answer)
            return content | {"error": str(problem)}, []

    def _asked_for(self, message: object) -> bytes:
        question = Question(message)
        kind = question.kind
        if kind == "bokeh":
            return self._library_code
        if kind == "figure":
            return gzip.compress(self._item(question.flag("dark")).encode(), mtime=0)
        raise ValueError(f"unknown question {kind!r}; known are bokeh and figure")

    def _item(self, is_dark: bool) -> str:
        """Return the figure as JSON: in a dark page dark, unless its colors were chosen."""
        from bokeh.embed import json_item
        from bokeh.themes import Theme, built_in_themes

        follows = getattr(self.figure, "_follows_host", None)
        if not is_dark or follows is False:
            return json.dumps(json_item(self.figure))
        if follows is None:
            return json.dumps(json_item(self.figure, theme=built_in_themes["dark_minimal"]))
        # A figure does not keep colors that are bokeh's default anyway.
        inside = {"background_fill_color": DARK["#ffffff"]}
        around = {"border_fill_color": DARK["#ffffff"]}
        theme = Theme(json={"attrs": {"Plot": inside | around, "Legend": inside}})
        return in_dark(json.dumps(json_item(self.figure, theme=theme)))

    def _on_question(self, _widget: object, message: object, _buffers: object) -> None:
        self.send(*self.answer(message))

    def __repr__(self) -> str:
        return (
            f"<LinkedPlot of {self._facts.title!r}, live in a notebook; elsewhere use "
            "bokeh.embed.file_html(plot.figure, bokeh.resources.INLINE)>"
        )

    def _figure_data(self) -> dict[str, str]:
        """Return the picture; of a figure that has none titles, notes and first rows."""
        data = self._table()
        both = getattr(self.figure, "_follows_host", False)
        picture = chart_picture(self.figure, data["text/plain"], both=both)
        return data if picture is None else picture.bundle(data["text/plain"])

    def _table(self) -> dict[str, str]:
        """Return titles, notes and first rows."""
        from bokeh.models import Plot

        source = next(one for one in _sources(self.figure) if self.nodes in one.column_names)
        named = "operator" if "operator" in source.column_names else self.nodes
        others = [name for name in source.column_names if name != named]
        texts = [name for name in others if name.endswith("_text")] or others[:_MOST_COLUMNS]
        columns = [source.data[name] for name in (named, *texts)]
        rows = [[*map(_cell, row)] for row in islice(zip(*columns, strict=False), _MOST_ROWS)]
        plots = sorted(self.figure.select({"type": Plot}), key=lambda plot: str(plot.id))
        titles = [title for plot in plots for title in (plot.title, *reversed(plot.above))]
        above = [" ".join(title.text.split()) for title in titles if getattr(title, "text", "")]
        more = len(columns[0]) - len(rows)
        below = [f"… and {more:,} more"] if more else []
        lines = [
            ": ".join(filter(None, (name, ", ".join(filter(None, row))))) for name, *row in rows
        ]
        heads = [name.removesuffix("_text").replace("_", " ") for name in (named, *texts)]
        table = "".join(
            f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in row)}</tr>"
            for tag, row in (("th", heads), *(("td", row) for row in rows))
        )
        notes, rest = ([f"<div>{escape(line)}</div>" for line in part] for part in (above, below))
        html = "".join([*notes, f"<table>{table}</table>", *rest])
        return {"text/plain": "\n".join([*above, *lines, *below]), "text/html": html}


def _cell(value: object) -> str:
    return short_text(float(value)) if isinstance(value, float | np.floating) else str(value)


def _sources(figure: Any) -> list[Any]:
    from bokeh.models import ColumnarDataSource

    return sorted(figure.select({"type": ColumnarDataSource}), key=lambda source: str(source.id))


def _require_column(figure: object, nodes: str) -> None:
    from bokeh.models import Model

    if not isinstance(figure, Model):
        raise TypeError(
            f"link takes a bokeh figure, not {type(figure).__name__}: pass plots.times(run)"
        )
    columns = sorted({column for source in _sources(figure) for column in source.column_names})
    if nodes not in columns:
        raise ValueError(
            f"no data source of this figure has a column {nodes!r} of node ids"
            f"{meant(nodes, columns)}: name one of them, link(figure, run, nodes=…)"
        )


def _library_of(figure: Any) -> tuple[str, bytes]:
    """Return name and compressed code of the BokehJS module for a figure."""
    from bokeh import __version__
    from bokeh.embed.bundle import bundle_for_objs_and_resources
    from bokeh.resources import INLINE

    first, *others = bundle_for_objs_and_resources([figure], INLINE).js_raw
    # The page's own `Bokeh` may be of another release.
    code = (
        f"const own = {{}};\n(function () {{\n{first}\n}}).call(own);\nconst {{ Bokeh }} = own;\n"
        + "".join(f"(function () {{\n{other}\n}}).call(own);\n" for other in others)
        + "export default Bokeh;\n"
    )
    return _compressed(__version__, code)


@lru_cache(maxsize=4)
def _compressed(version: str, code: str) -> tuple[str, bytes]:
    data = code.encode()
    return f"{version} {hashlib.sha256(data).hexdigest()[:16]}", gzip.compress(data, mtime=0)
