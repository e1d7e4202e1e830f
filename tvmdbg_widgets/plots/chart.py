"""What all charts share: an empty figure in the colors of the views, notes, names and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tvmdbg_widgets.figures.theme import Theme

ThemeName = Literal["light", "dark"]

WIDTH = 720
#: Of charts with a row an operator: px of a row, and of what is around the rows.
ROW, AROUND = 22, 110
_FONT = "system-ui, sans-serif"
_TITLE, _TEXT, _LINE = 14, 12, 18
#: What names on an axis take of the width, and px at most.
_LABEL_SHARE, _LABEL_ROOM = 0.45, 300.0
#: px left of the frame for numbers, right of it for tools; what notes have at least; of a tick.
_NUMBERS, _TOOLS, _LEAST_ROOM, _TICK_ROOM = 60.0, 50.0, 160.0, 70.0
#: Of a legend below the frame.
_LEGEND_COLUMN, _LEGEND_ROW, _LEGEND_AROUND = 130, 18, 14
_FADED = 0.25

TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
BYTE_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
RATE_UNITS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))
#: Bokeh sets the colors of a tooltip in its shadow root, where a style of its content reaches.
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


def require_run(name: str, run: object) -> None:
    """Tell a run from what else may be passed for one."""
    if not hasattr(run, "parts"):
        raise TypeError(
            f"plots.{name} takes a run, not {type(run).__name__}: pass tvmdbg_widgets.open(path)"
        )


def colors_of(theme: object) -> Theme:
    """Return the colors of a theme."""
    from tvmdbg_widgets.figures.theme import theme_of
    from tvmdbg_widgets.model.base.choice import one_of

    one_of("theme", theme, ("light", "dark"))
    return theme_of(theme)


def columns_of(rows: Iterable[Any], names: Iterable[str]) -> dict[str, Any]:
    """Return attributes of rows as columns of those names."""
    found = list(rows)
    return {name: [getattr(row, name) for row in found] for name in names}


def new_figure(
    title: str, notes: Iterable[str], theme: Theme, width: int, height: int, **options: Any
) -> Any:
    """Return an empty figure with a title and notes below it."""
    from bokeh.models.annotations import Title
    from bokeh.plotting import figure

    from tvmdbg_widgets.figures.texts import wrap

    room = _room(width, options.get("y_range", ()))
    lines = [(line, note) for note in notes for line in wrap(note, room, _TEXT, lines=8)]
    titles = wrap(title, room, _TITLE, lines=3, bold=True)
    made = figure(
        title=Title(
            text="\n".join(titles),
            text_font=_FONT,
            text_font_size=f"{_TITLE}px",
            text_color=str(theme.text),
        ),
        width=width,
        height=height + _LINE * (len(lines) + len(titles) - 1),
        tools="pan,box_select,wheel_zoom,reset,save",
        background_fill_color=str(theme.background),
        border_fill_color=str(theme.background),
        outline_line_color=str(theme.line),
        **options,
    )
    made.toolbar.logo = None
    for line, note in reversed(lines):
        told = Title(
            text=line,
            tags=[note],
            text_font=_FONT,
            text_font_size=f"{_TEXT}px",
            text_font_style="normal",
            text_color=str(theme.muted),
            standoff=2,
        )
        made.add_layout(told, "above")
    for axis in made.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_color = axis.major_label_text_color = str(theme.text)
        axis.axis_label_text_font = axis.major_label_text_font = _FONT
        axis.axis_label_text_font_size = axis.major_label_text_font_size = f"{_TEXT}px"
        axis.axis_line_color = axis.major_tick_line_color = str(theme.line)
        axis.minor_tick_line_color = None
    ticker: Any = made.xaxis.ticker
    ticker.desired_num_ticks = max(2, int(room / _TICK_ROOM))
    made.grid.grid_line_color = str(theme.line)
    made.grid.grid_line_alpha = 0.5
    return made


def _room(width: int, names: Iterable[str]) -> float:
    """Return how wide the frame of a figure is at least; ``names`` stand at its left."""
    from tvmdbg_widgets.figures.texts import width as text_width

    beside = max((text_width(name, _TEXT) for name in names), default=_NUMBERS) + _TOOLS
    return max(width - beside, _LEAST_ROOM)


def selectable(
    figure: Any, glyphs: Sequence[Any], theme: Theme, rows: Sequence[tuple[str, str]]
) -> None:
    """Let glyphs be selected by a click, and tell of them under the pointer.

    ``rows`` are what a value is called, and the value as bokeh's tooltips write it.
    """
    from bokeh.models import HoverTool, TapTool

    for renderer in glyphs:
        nonselected = renderer.nonselection_glyph
        for name in ("fill_alpha", "line_alpha"):
            if hasattr(nonselected, name):
                setattr(nonselected, name, _FADED)
    style = _TOOLTIP.format(
        text=theme.text, muted=theme.muted, surface=theme.surface, line=theme.line
    )
    cells = "".join(f"<span>{name}</span><span>{value}</span>" for name, value in rows)
    tooltip = f"<div>{style}{cells}</div>"
    hover = HoverTool(renderers=list(glyphs), tooltips=tooltip, visible=False)
    figure.add_tools(hover, TapTool(renderers=list(glyphs), visible=False))


def place_legend(figure: Any, theme: Theme) -> None:
    """Put the legend of a figure below it, where it covers nothing."""
    legend = figure.legend[0]
    figure.center = [each for each in figure.center if each is not legend]
    figure.add_layout(legend, "below")
    legend.location = "bottom_left"
    legend.orientation = "horizontal"
    room = _room(figure.width, getattr(figure.y_range, "factors", ()))
    legend.ncols = columns = max(1, int(room / _LEGEND_COLUMN))
    legend.label_text_color = str(theme.text)
    legend.label_text_font = _FONT
    legend.label_text_font_size = f"{_TEXT}px"
    legend.label_height = legend.glyph_height = legend.glyph_width = 14
    legend.spacing, legend.padding = 12, 4
    legend.background_fill_color = str(theme.background)
    legend.border_line_color = None
    figure.height += _LEGEND_ROW * -(-len(legend.items) // columns) + _LEGEND_AROUND


def unit_ticks(units: Sequence[tuple[float, str]], suffix: str = "", scale: str = "linear") -> Any:
    """Return a formatter of ticks with the unit that suits them: ``"0.5 ms"``."""
    from bokeh.models import CustomJSTickFormatter

    arguments = {"units": [list(unit) for unit in units], "suffix": suffix, "scale": scale}
    return CustomJSTickFormatter(args=arguments, code=_TICK)


def operator_names(labels: Iterable[str], nodes: Iterable[int], width: int = WIDTH) -> list[str]:
    """Return ``"conv2d + add + relu #38"`` for each, as :func:`axis_names` does."""
    ids = [f"#{node}" if node >= 0 else "" for node in nodes]
    return axis_names(labels, ids, width)


def axis_names(labels: Iterable[str], ids: Iterable[str], width: int = WIDTH) -> list[str]:
    """Return names with ids behind them, short enough for the axis of a figure, no two alike.

    Ids are whole: they are what tells a name that was cut.
    """
    from tvmdbg_widgets.figures.texts import fit
    from tvmdbg_widgets.figures.texts import width as text_width

    most = min(_LABEL_ROOM, _LABEL_SHARE * width)
    found: list[str] = []
    taken: set[str] = set()
    for label, told in zip(labels, ids, strict=True):
        own = f" {told}".rstrip()
        short = fit(label, most - text_width(own, _TEXT), _TEXT)
        name, at = short + own, 1
        while name in taken:
            at += 1
            name = f"{short} ({at}){own}"
        taken.add(name)
        found.append(name)
    return found


def left_out(count: int, total: int, one: str, several: str) -> str:
    """``"2 of 27 are left out: their times are unknown"``; empty for none."""
    if not count:
        return ""
    why = f"is left out: {one}" if count == 1 else f"are left out: {several}"
    return f"{count:,} of {total:,} {why}"
