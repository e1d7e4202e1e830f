"""One tensor of a run as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.choices import usable_width
from tvmdbg_widgets.figures.colors import SPECIAL_TEXT
from tvmdbg_widgets.figures.missing import missing_panel
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, NARROW, SMALL, Panel
from tvmdbg_widgets.figures.tensor_along import channel_pictures, draw_channels, draw_profile
from tvmdbg_widgets.figures.tensor_description import description
from tvmdbg_widgets.figures.tensor_facts import TensorFacts, default_entry
from tvmdbg_widgets.figures.tensor_histogram import draw_histogram, histogram_lines
from tvmdbg_widgets.figures.tensor_legend import draw_color_bar
from tvmdbg_widgets.figures.tensor_line import draw_line, line_picture
from tvmdbg_widgets.figures.tensor_options import Axes, ColorRange, Region, TensorOptions
from tvmdbg_widgets.figures.tensor_picture import (
    Box,
    draw_plane,
    plane_picture,
)
from tvmdbg_widgets.figures.texts import fit, width, wrap, wrap_parts
from tvmdbg_widgets.figures.theme import Theme, theme_of
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.pictures import Channels, Profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.colors import ColorScale
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.figures.handed_on import Withhold
    from tvmdbg_widgets.figures.svg import Marks
    from tvmdbg_widgets.model.pictures import Picture

_STATISTICS = 300.0
_NAMES = 76
_WIDEST = 640.0
_TALL = 220.0
_HISTOGRAM = 84.0
_PIXELS, _SAVED_PIXELS = 60_000, 9_000


def tensor_figure(
    run: Derived,
    *,
    entry: tuple[int, int] | None = None,
    axes: Axes | None = None,
    index: Sequence[int] | None = None,
    color_scale: str = "auto",
    color_map: str = "auto",
    color_range: ColorRange = "auto",
    data_layout: str | None = None,
    reading: str | None = None,
    show: str = "picture",
    region: Region | None = None,
    data_sizes: Mapping[str, int] | None = None,
    cells: str = "mean",
    along: int | None = None,
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
    withhold: Withhold | None = None,
) -> Figure:
    """Draw one tensor: its health, statistics, histogram, and two of its axes in colors.

    Parameters
    ----------
    entry : (int, int) or None
        Node and output; the first output of the last operator where left out.
    axes : (int or None, int) or None
        Axes down and across; as the live view opens where left out.
    index : sequence of int or None
        Index at which every other axis is held.
    color_scale : str
        ``"linear"``, ``"log"`` or ``"symlog"``; ``"auto"`` is linear unless that would give
        nearly all values the same color.
    color_map : str
        ``"auto"``, ``"sequential"`` or ``"diverging"``.
    color_range : str or (float, float)
        What the colors span: all values of the ``"tensor"``, of the ``"plane"`` that is drawn,
        ``"robust"`` (1st to 99th percentile), or two numbers. Values beyond have colors of their
        own.
    data_layout : str or None
        What is unfolded (``"NCHW8c"``); the one that the graph states where None, the axes as
        stored where empty.
    reading : str or None
        How the bytes are read, one of the tensor's ``readings``.
    show : str
        ``"picture"``, ``"channels"`` (a picture for each index of an axis) or ``"profile"``
        (bounds and mean along an axis).
    region : (row, col, rows, cols) or None
        The part of the plane that is drawn, in values.
    data_sizes : dict of str to int, or None
        Sizes of logical axes that hide padding (``{"C": 3}``); those that the graph tells where
        None, none hidden where empty.
    cells : str
        What the colors show of a cell of several values: its ``"mean"``, the ``"least"``, the
        ``"largest"`` or the ``"extreme"``, which is farthest from zero.
    along : int or None
        Axis that the channels or the profile go along; the channels where they are known, else
        the longest, where left out.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.
    saved : bool
        Take no more room than a saved notebook has.
    withhold : callable, optional
        Why a tensor's values are not to be shown, where the figure is handed on.

    Raises
    ------
    ValueError
        A value that is none of these.
    """
    options = TensorOptions(
        entry=entry,
        axes=axes,
        index=index,
        color_scale=color_scale,
        color_map=color_map,
        color_range=color_range,
        data_layout=data_layout,
        reading=reading,
        show=show,
        region=region,
        data_sizes=data_sizes,
        cells=cells,
        along=along,
    )
    look = theme_of(theme)
    pixels = most_pixels(saved)
    wide = usable_width(width)
    return tensor_panel(run, wide, look, options, most_pixels=pixels, withhold=withhold).figure()


def most_pixels(saved: bool) -> int:
    """Return how many pixels the picture of a tensor may have."""
    return _SAVED_PIXELS if saved else _PIXELS


def tensor_panel(
    run: Derived,
    width: float,
    theme: Theme,
    options: TensorOptions,
    *,
    most_pixels: int,
    withhold: Withhold | None = None,
) -> Panel:
    """Return one tensor as a panel; its picture holds at most so many pixels."""
    entry = options.entry or default_entry(run)
    if not run.tensors or entry is None:
        why = "" if run.tensors is None else "This run's params file has no tensors."
        return missing_panel(run, "tensors", width, theme, why)
    if entry not in run.tensors:
        why = f"This run has no tensor for node {entry[0]}, output {entry[1]}."
        return missing_panel(run, "tensors", width, theme, why)
    facts = TensorFacts.of(run, run.tensors[entry], options)
    why, counts_only = ("", False) if withhold is None else withhold(facts.tensor)
    if why:
        facts = facts.without_values(why, counts_only=counts_only)
    return _panel(run.title, facts, width, theme, most_pixels)


def _panel(title: str, facts: TensorFacts, width: float, theme: Theme, most_pixels: int) -> Panel:
    narrow = width < NARROW
    left = min(width - 2 * MARGIN - (0 if narrow else _STATISTICS + 20), _WIDEST)
    facts, drawn = _drawn(facts, left, most_pixels)
    tensor = facts.tensor
    said = f"Tensor {facts.title}: {', '.join(facts.head)}; {facts.verdict}"
    panel = Panel(width, said, ". ".join([said, *facts.health, *tensor.notes]), theme)
    panel.description = description(facts, title)
    panel.text = tensor_text(title, facts)
    y = panel.heading(facts.title, " · ".join([title, *facts.head]))
    if tensor.trust is not Trust.EXACT:
        note = f"The values were matched to this node {tensor.trust.label}."
        y = panel.paragraph(note, y, lines=3, fill=theme.warning)
    for note in tensor.notes:
        y = panel.paragraph(f"Warning: {note}", y, fill=theme.warning)
    if facts.withheld:
        y = panel.paragraph(facts.withheld, y, lines=3, fill=theme.muted)
    if facts.unread:
        y = panel.paragraph(facts.unread, y, lines=6, fill=theme.error)
    y = _health(panel, facts, y)
    if drawn is None and facts.statistics.histogram is not None:
        y = _statistics(panel, facts, MARGIN, y)
        room = min(_STATISTICS, width - 2 * MARGIN)
        y = draw_histogram(panel.marks, facts, MARGIN, y + 8, room=room, tall=_HISTOGRAM)
    if drawn is None:
        y = _trust(panel, facts, y, None)
        panel.height = y + MARGIN
        return panel
    top = _trust(panel, facts, y, getattr(drawn, "exact", True)) + 8
    scale = facts.scale(drawn)
    marks = panel.marks
    bottom = top
    for line in wrap_parts(facts.shown.words, left, SMALL, lines=4):
        bottom += LINE_HEIGHT
        marks.text(line, MARGIN, bottom - 3, fill=theme.muted)
    bottom = _draw(marks, facts, drawn, scale, Box(MARGIN, bottom + 4, left, _TALL))
    if not isinstance(drawn, Profile):
        bottom = draw_color_bar(marks, facts, scale, Box(MARGIN, bottom + 6, left, 0))
    x = float(MARGIN) if narrow else MARGIN + left + 20
    below = _statistics(panel, facts, x, bottom if narrow else top)
    room = min(_STATISTICS, width - 2 * MARGIN)
    below = draw_histogram(marks, facts, x, below + 8, room=room, tall=_HISTOGRAM)
    panel.height = max(bottom, below) + MARGIN
    return panel


def _draw(
    marks: Marks,
    facts: TensorFacts,
    drawn: Picture | Channels | Profile,
    scale: ColorScale | None,
    box: Box,
) -> float:
    """Draw the values within the box; return the y below them."""
    if isinstance(drawn, Profile):
        return draw_profile(marks, facts, drawn, box)
    if isinstance(drawn, Channels):
        return draw_channels(marks, facts, drawn, scale, box)
    draw = draw_line if facts.shown.is_line else draw_plane
    return draw(marks, facts, drawn, scale, box)


def _drawn(
    facts: TensorFacts, room: float, most_pixels: int
) -> tuple[TensorFacts, Picture | Channels | Profile | None]:
    """Return what is drawn, None where there is nothing, and what is then to be told."""
    if not facts.statistics.applicable or facts.shown.plane is None:
        return facts, None
    try:
        return facts, _values(facts, room, most_pixels)
    except (FormatError, OSError) as problem:
        return facts.without_picture(problem), None


def _values(facts: TensorFacts, room: float, most_pixels: int) -> Picture | Channels | Profile:
    """Return the values to be drawn: a plane where the tensor has no axis for the other two."""
    box = Box(0, 0, room, _TALL)
    shown = facts.shown
    if shown.axis is not None and shown.show == "profile":
        return shown.profile(int(room / 2))
    if shown.axis is not None and shown.show == "channels":
        return channel_pictures(facts, box, most_pixels)
    return line_picture(facts, box) if shown.is_line else plane_picture(facts, box, most_pixels)


def _trust(panel: Panel, facts: TensorFacts, y: float, exact: bool | None) -> float:
    """Say how far the picture can be believed."""
    ink = panel.theme.warning if facts.is_doubtful else panel.theme.muted
    said = facts.trust(exact=exact)
    return panel.paragraph(said, y, lines=4, fill=ink)


def _health(panel: Panel, facts: TensorFacts, y: float) -> float:
    """Write the verdict and the counts."""
    bad = facts.verdict == "not finite"
    x, baseline = float(MARGIN), y + LINE_HEIGHT - 2
    theme = panel.theme
    ink = theme.error if bad else theme.text
    panel.marks.text(facts.verdict, x, baseline, font_weight=600, fill=ink)
    x += width(facts.verdict, SMALL, bold=True) + 10
    faults = [
        f"{count:,} {SPECIAL_TEXT[name]}" for name, count in facts.specials().items() if count
    ]
    loud = " · ".join(faults)
    if loud:
        panel.marks.text(loud, x, baseline, fill=theme.error, font_weight=600)
        x += width(loud, SMALL, bold=True) + 10
    rest = [text for text in facts.health if text not in faults]
    for line in _flowing(rest, panel.width - MARGIN, x):
        panel.marks.text(line, x, baseline, fill=theme.muted)
        x, baseline = float(MARGIN), baseline + LINE_HEIGHT
    return baseline - (LINE_HEIGHT if rest else 0) + 4


def _flowing(parts: Sequence[str], end: float, x: float) -> list[str]:
    """Put parts into lines, the first of which begins at ``x``; it may be empty."""
    lines = [""] if parts else []
    for part in parts:
        joined = f"{lines[-1]} · {part}" if lines[-1] else part
        start = x if len(lines) == 1 else MARGIN
        if start + width(joined, SMALL) <= end:
            lines[-1] = joined
        else:
            lines.append(part)
    return lines


def _statistics(panel: Panel, facts: TensorFacts, x: float, y: float) -> float:
    """Write the statistics as a table; the texts are exact."""
    muted = panel.theme.muted
    end = min(x + _STATISTICS, panel.width - MARGIN)
    for name, text, place in facts.rows:
        y += LINE_HEIGHT
        panel.marks.text(name, x, y, fill=muted)
        at = x + _NAMES
        beside = at + width(text, SMALL) + 8 + width(place, SMALL) <= end
        shown = fit(text, end - at, SMALL)
        panel.marks.text(shown, at, y, aside=place if beside else "", gap=8)
        if beside:
            continue
        for line in wrap(place, end - at, SMALL, 3):
            y += LINE_HEIGHT
            panel.marks.text(line, at, y, fill=muted)
    if facts.statistics.finite < facts.statistics.size:
        y += LINE_HEIGHT
        panel.marks.text("finite values only", x, y, fill=muted)
    return y


def tensor_text(title: str, facts: TensorFacts) -> str:
    """Return header, counts, statistics and a histogram of characters."""
    tensor = facts.tensor
    lines = [f"{title}: {facts.title}; {'; '.join(facts.head)}"]
    lines += [f"  warning: {note}" for note in tensor.notes]
    lines += [f"  {each}" for each in (facts.withheld, facts.unread) if each]
    lines.append("  " + "; ".join([facts.verdict, *facts.health]))
    lines.append(f"  {facts.trust(exact=None)}")
    lines += [f"  {facts.shown.words}"] if facts.shown.words else []
    lines += [f"  {name:7} {text} {place}".rstrip() for name, text, place in facts.rows]
    lines += [f"  {facts.adapted}"] if facts.adapted else []
    lines += [] if facts.spread is None else histogram_lines(facts.spread)
    return "\n".join(lines)
