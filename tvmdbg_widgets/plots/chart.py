"""``Chart``: title, notes, theme, hover, legend and units that all charts share; ``link``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts
from tvmdbg_widgets.figures.texts import fit, wrap
from tvmdbg_widgets.figures.texts import width as text_width
from tvmdbg_widgets.figures.theme import SCHEMES
from tvmdbg_widgets.model.base.slips import one_of, public

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.theme import Scheme
    from tvmdbg_widgets.widgets.plot import LinkedPlot
    from tvmdbg_widgets.widgets.session import Session

#: ``"auto"`` is light, and dark where the notebook is.
ThemeName = Literal["auto", "light", "dark"]

WIDTH = 720
#: px of a row and around the rows, in charts with a row per operator.
_ROW, _AROUND = 22, 110
_FONT = "system-ui, sans-serif"
_TITLE, _TEXT, _LINE = 14, 12, 18
#: Share of the width for names on an axis, and most px.
_LABEL_SHARE, _LABEL_ROOM = 0.45, 300.0
#: px of numbers left of the frame, of tools right of it, of notes at least, and of a tick.
_NUMBERS, _TOOLS, _LEAST_ROOM, _TICK_ROOM = 60.0, 50.0, 160.0, 70.0
#: px of a column and a row of the legend, and around it.
_LEGEND_COLUMN, _LEGEND_ROW, _LEGEND_AROUND = 130, 18, 14
_FADED = 0.25

TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
#: Style of a tooltip; bokeh sets its colors in the shadow root that contains this.
_TOOLTIP = """<style>
:host {{ --tooltip-color: {surface}; --tooltip-text: {text}; --tooltip-border: {line};
  --tooltip-arrow-color: {line}; --tooltip-arrow-inner-color: {surface}; opacity: 1 }}
div {{ display: grid; grid-template-columns: max-content fit-content(420px); gap: 2px 8px;
  font: 12px / 1.4 system-ui, sans-serif; overflow-wrap: anywhere }}
span:nth-of-type(odd) {{ color: {muted} }}
</style>"""
_TICK = """
const most = Math.max(...ticks.map(Math.abs));
const [size, unit] = units.find(([least]) => (scale === "log" ? Math.abs(tick) : most) >= least)
  ?? units[units.length - 1];
return `${Number((tick / size).toPrecision(6))} ${unit}${suffix}`;
"""


def checked(name: str, run: object, theme: object, top: int = 1) -> tuple[RunFacts, Scheme]:
    """Return facts of a run and colors of a theme, or raise for other arguments."""
    facts = getattr(run, "facts", run)
    if not isinstance(facts, RunFacts):
        raise TypeError(
            f"plots.{name} takes a run, not {type(run).__name__}: pass tvmdbg_widgets.open(path)"
        )
    if top < 1:
        raise ValueError(f"top must be at least 1, found {top!r}")
    chosen = one_of("theme", theme, ("auto", *SCHEMES))
    return facts, SCHEMES["light" if chosen == "auto" else chosen]


class Chart:
    """A bokeh figure with title, notes and a data source; ``rows`` are the names on its y axis."""

    def __init__(
        self,
        title: str,
        notes: Iterable[str],
        columns: dict[str, Any],
        colors: Scheme,
        width: int,
        *,
        height: int = 320,
        rows: Sequence[str] = (),
        **options: Any,
    ) -> None:
        from bokeh.models import ColumnDataSource
        from bokeh.models.annotations import Title
        from bokeh.plotting import figure

        self.colors, self.source, self.options = colors, ColumnDataSource(columns), options
        beside = max((text_width(name, _TEXT) for name in rows), default=_NUMBERS) + _TOOLS
        self._room = room = max(width - beside, _LEAST_ROOM)
        if rows:
            height, options["y_range"] = _AROUND + _ROW * len(rows), rows[::-1]
        titles = wrap(title, room, _TITLE, lines=3)
        lines = [line for note in notes for line in wrap(note, room, _TEXT, lines=8)]
        text, line_color, muted = colors.text, colors.line, colors.muted
        font: Any = {"text_font": _FONT, "text_font_size": f"{_TITLE}px", "text_color": text}
        self.figure: Any = figure(
            title=Title(text="\n".join(titles), **font),
            width=width,
            height=height + _LINE * (len(lines) + len(titles) - 1),
            tools="pan,box_select,wheel_zoom,reset,save",
            background_fill_color=colors.background,
            border_fill_color=colors.background,
            outline_line_color=line_color,
            **options,
        )
        self.figure.toolbar.logo = None
        font = {"text_font": _FONT, "text_font_size": f"{_TEXT}px", "text_color": muted}
        for line in reversed(lines):
            note = Title(text=line, text_font_style="normal", standoff=2, **font)
            self.figure.add_layout(note, "above")
        for axis in self.figure.axis:
            axis.axis_label_text_font_style = "normal"
            axis.axis_label_text_color = axis.major_label_text_color = text
            axis.axis_label_text_font = axis.major_label_text_font = _FONT
            axis.axis_label_text_font_size = axis.major_label_text_font_size = f"{_TEXT}px"
            axis.axis_line_color = axis.major_tick_line_color = line_color
            axis.minor_tick_line_color = None
        ticker: Any = self.figure.xaxis.ticker
        ticker.desired_num_ticks = max(2, int(room / _TICK_ROOM))
        self.figure.grid.grid_line_color = line_color
        self.figure.grid.grid_line_alpha = 0.5

    def draw(self, glyph: str, **style: Any) -> Any:
        """Draw a glyph such as ``"hbar"`` for every row of the data source."""
        return getattr(self.figure, glyph)(**{"source": self.source, **style})

    def scale(
        self,
        axis: str,
        units: Sequence[tuple[float, str]],
        suffix: str = "",
        *,
        start: float | None = None,
    ) -> None:
        """Write the ticks of axis ``"x"`` or ``"y"`` in units, and let it begin at a value."""
        from bokeh.models import CustomJSTickFormatter

        scale = "log" if self.options.get(f"{axis}_axis_type") == "log" else "linear"
        arguments = {"units": list(map(list, units)), "suffix": suffix, "scale": scale}
        ticks = CustomJSTickFormatter(args=arguments, code=_TICK)
        getattr(self.figure, f"{axis}axis").formatter = ticks
        if start is not None:
            getattr(self.figure, f"{axis}_range").start = start

    def finished(
        self,
        glyphs: Sequence[Any],
        tooltip: dict[str, str],
        run: RunFacts,
        theme: ThemeName,
        nodes: str = "node",
    ) -> Any:
        """Return the figure with tooltips, legend, and glyphs that a click selects.

        A notebook shows it linked with the views of the run, whose nodes a column names.
        """
        from bokeh.models import HoverTool, TapTool

        for renderer in glyphs:
            nonselected = renderer.nonselection_glyph
            for name in ("fill_alpha", "line_alpha"):
                if hasattr(nonselected, name):
                    setattr(nonselected, name, _FADED)
        names = ("text", "muted", "surface", "line")
        style = _TOOLTIP.format(**{name: getattr(self.colors, name) for name in names})
        cells = "".join(f"<span>{name}</span><span>{text}</span>" for name, text in tooltip.items())
        hover = HoverTool(
            renderers=list(glyphs), tooltips=f"<div>{style}{cells}</div>", visible=False
        )
        self.figure.add_tools(hover, TapTool(renderers=list(glyphs), visible=False))
        if self.figure.legend and self.figure.legend[0].visible:
            self._place_legend()
        shown = _Shown(self.figure, run, nodes)
        self.figure._follows_host = theme == "auto"  # noqa: SLF001 (bokeh leaves such names free)
        self.figure._ipython_display_ = shown.display
        self.figure._repr_mimebundle_ = shown.bundle
        return self.figure

    def _place_legend(self) -> None:
        """Move the legend below the frame, where it covers nothing."""
        figure, legend = self.figure, self.figure.legend[0]
        figure.center = [renderer for renderer in figure.center if renderer is not legend]
        figure.add_layout(legend, "below")
        legend.location = "bottom_left"
        legend.orientation = "horizontal"
        legend.ncols = columns = max(1, int(self._room / _LEGEND_COLUMN))
        legend.label_text_color = self.colors.text
        legend.label_text_font = _FONT
        legend.label_text_font_size = f"{_TEXT}px"
        legend.label_height = legend.glyph_height = legend.glyph_width = 14
        legend.spacing, legend.padding = 12, 4
        legend.background_fill_color = self.colors.background
        legend.border_line_color = None
        figure.height += _LEGEND_ROW * -(-len(legend.items) // columns) + _LEGEND_AROUND


class _Shown:
    """What a notebook shows of a figure: a widget, made once it is shown."""

    def __init__(self, figure: Any, run: RunFacts, nodes: str) -> None:
        self._figure, self._run, self._nodes = figure, run, nodes

    @cached_property
    def _plot(self) -> LinkedPlot:
        from tvmdbg_widgets.widgets.plot import LinkedPlot

        return LinkedPlot(self._figure, self._run, nodes=self._nodes)

    def display(self) -> None:
        """Show the plot at the end of a cell."""
        self._plot._ipython_display_()

    def bundle(self, **how: Any) -> Any:
        """Return the plot by MIME type."""
        return self._plot._repr_mimebundle_(**how)


def operator_names(labels: Iterable[str], nodes: Iterable[int], width: int = WIDTH) -> list[str]:
    """Return axis names such as ``"#38 conv2d + add + relu"``."""
    return axis_names(labels, [f"#{node}" if node >= 0 else "" for node in nodes], width)


def axis_names(labels: Iterable[str], ids: Iterable[str], width: int) -> list[str]:
    """Return distinct names with whole ids, short enough for the axis of a figure."""
    most = min(_LABEL_ROOM, _LABEL_SHARE * width)
    names: dict[str, None] = {}
    for label, number in zip(labels, ids, strict=True):
        own = f"{number} ".lstrip()
        short = _shortened(label, most - text_width(own, _TEXT))
        name, at = own + short, 1
        while name in names:
            at += 1
            name = f"{own}{short} ({at})"
        names[name] = None
    return list(names)


def _shortened(label: str, room: float) -> str:
    """Return a label that fits, without operators of its middle if it is too long."""
    parts = label.split(" + ")
    for kept in range(len(parts), 1, -1):
        middle = [] if kept == len(parts) else ["…"]
        short = " + ".join([*parts[: kept - 1], *middle, parts[-1]])
        if text_width(short, _TEXT) <= room:
            return short
    return fit(label, room, _TEXT)


def left_out(count: int, total: int, one: str, several: str) -> list[str]:
    """Return the note ``"2 of 27 are left out: their times are unknown"``, if any."""
    why = f"is left out: {one}" if count == 1 else f"are left out: {several}"
    return [f"{count:,} of {total:,} {why}"] if count else []


@public
def link(
    figure: Any, run: OpenedRun, session: Session | None = None, *, nodes: str = "node"
) -> LinkedPlot:
    """Return a widget that shows a bokeh figure and shares its selection with the views of a run.

    ::

        tvmdbg.plots.link(tvmdbg.plots.times(run), run)

    Selecting bars or dots selects their nodes in ``run.session``, and selected nodes highlight
    their bars and dots. It works for any figure, or layout of figures, with a data source that has
    a column of node ids, such as ``run.to_dataframe()``.

    Parameters
    ----------
    figure : bokeh.models.Model
    run : DebugRun
    session : Session, optional
        By default the run's own.
    nodes : str
        Name of the column that holds node ids, or lists of them.

    Raises
    ------
    TypeError
        An argument is not a figure, or not a run.
    ValueError
        No data source of the figure has such a column.
    """
    from tvmdbg_widgets.widgets.plot import LinkedPlot

    checked("link", run, "light")
    return LinkedPlot(figure, run, session, nodes=nodes)
