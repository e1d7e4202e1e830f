"""The measured repeats of each operator, as dots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.plots.chart import (
    AROUND,
    ROW,
    WIDTH,
    ThemeName,
    colors_of,
    new_figure,
    operator_names,
    place_legend,
    require_run,
    selectable,
)

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.analysis.timeline.repeat_matrix import RepeatMatrix

#: Dots of one operator; of more repeats some are drawn, evenly spaced.
_MOST = 400
_WARM_UP, _STEADY = "warm-up", "after warm-up"


@public
def repeats(run: Derived, top: int = 30, *, theme: ThemeName = "light", width: int = WIDTH) -> Any:
    """Return the repeats of the slowest operators, each over the median of its operator.

    A row is one repeat of one operator: ``node``, ``name`` and ``time_ns`` as in ``run.table()``,
    ``repeat``, and ``relative``, which is ``time_ns`` over the median of the operator.

    Parameters
    ----------
    run : DebugRun
    top : int
        Operators.
    theme : str
        ``"light"`` or ``"dark"``.
    width : int
        px at most.

    Returns
    -------
    bokeh.plotting.figure

    Raises
    ------
    ValueError
        The run has no repeats; tells how to get them. Or ``top`` or ``theme`` is none of these.
    """
    require_run("repeats", run)
    if top < 1:
        raise ValueError(f"top must be at least 1, found {top!r}")
    colors = colors_of(theme)
    matrix = run.repeats()
    rows = np.argsort(-matrix.median, kind="stable")[:top]
    labels = [matrix.names[row] for row in rows]
    names = operator_names(labels, matrix.nodes[rows].tolist(), width)
    columns, drawn = _columns(matrix, rows, names)
    fills = {_WARM_UP: str(colors.background), _STEADY: str(colors.accent)}
    columns["color"] = [fills[each] for each in columns["phase"]]

    from bokeh.models import ColumnDataSource, PrintfTickFormatter
    from bokeh.models.annotations import Span

    source = ColumnDataSource(columns)
    figure = new_figure(
        f"{run.title}: repeats by operator",
        _notes(matrix, len(rows), drawn),
        colors,
        width,
        AROUND + ROW * len(names),
        y_range=names[::-1],
        x_axis_label="time over the median of the operator",
    )
    figure.add_layout(Span(location=1, dimension="height", line_color=str(colors.muted)))
    dots = figure.scatter(
        x="relative",
        y="operator",
        size=8,
        source=source,
        fill_color="color",
        fill_alpha=0.8,
        line_color=str(colors.accent),
        legend_group="phase",
    )
    figure.xaxis.formatter = PrintfTickFormatter(format="%.4g×")
    selectable(
        figure,
        [dots],
        colors,
        [
            ("operator", "@operator"),
            ("repeat", "@repeat (@phase)"),
            ("time", "@time_text"),
            ("over the median", "@relative{0.000}×"),
        ],
    )
    if matrix.warm_up.cut:
        place_legend(figure, colors)
    else:
        figure.legend.visible = False
    return figure


def _columns(matrix: RepeatMatrix, rows: Any, names: list[str]) -> tuple[dict[str, Any], int]:
    """Columns, and how many repeats of an operator are drawn."""
    from tvmdbg_widgets.model.base.numbers import duration_text

    step = -(-matrix.repeats // _MOST)
    drawn = np.arange(0, matrix.repeats, step)
    ns = matrix.ns[np.ix_(rows, drawn)]
    row, column = np.nonzero(np.isfinite(ns))
    repeat = drawn[column]
    found = ns[row, column]
    return {
        "node": matrix.nodes[rows[row]],
        "name": [matrix.names[each] for each in rows[row].tolist()],
        "operator": [names[each] for each in row.tolist()],
        "repeat": repeat,
        "phase": np.where(repeat < matrix.warm_up.cut, _WARM_UP, _STEADY).tolist(),
        "time_ns": found,
        "relative": matrix.relative[rows[row], repeat],
        "time_text": [duration_text(each, matrix.rounding_ns) for each in found.tolist()],
    }, len(drawn)


def _notes(matrix: RepeatMatrix, shown: int, drawn: int) -> list[str]:
    from tvmdbg_widgets.model.base.numbers import agree, counted

    notes = [matrix.warm_up.why]
    if matrix.of_slices:
        notes = ["no repeats are known: each dot is one slice of that name"]
    if shown < len(matrix):
        notes.append(f"the {shown:,} slowest of {counted(len(matrix), 'operator')}")
    if drawn < matrix.repeats:
        notes.append(
            f"{drawn:,} of {counted(matrix.repeats, 'repeat')} {agree(drawn, 'is')} drawn, evenly "
            "spaced"
        )
    unknown = int(np.isnan(matrix.ns).sum())
    if unknown and not matrix.of_slices:
        notes.append(f"{counted(unknown, 'repeat')} left out: not a number")
    return notes
