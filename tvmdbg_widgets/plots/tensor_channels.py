"""The values of a tensor along one axis, as a rule its channels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.plots.chart import (
    WIDTH,
    ThemeName,
    colors_of,
    new_figure,
    place_legend,
    selectable,
)
from tvmdbg_widgets.plots.tensor_of import called, tensor_of

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.model.pictures import Profile
    from tvmdbg_widgets.model.tensors.readings import Reading
    from tvmdbg_widgets.model.tensors.tensor import Tensor
    from tvmdbg_widgets.model.tensors.tensors import TensorKey

_HEIGHT = 320
#: Bars; of a longer axis each stands for several indices.
_MOST = 512


@public
def channels(
    run: Derived,
    key: TensorKey,
    axis: int | None = None,
    *,
    reading: Reading | None = None,
    theme: ThemeName = "light",
    width: int = WIDTH,
) -> Any:
    """Return minimum, mean and maximum of the finite values in each channel of a tensor.

    A row is a channel, or several next to each other where there are more than 512: ``first`` and
    ``last`` index, ``minimum``, ``mean``, ``maximum``, whether it holds ``nan``, ``pos_inf`` or
    ``neg_inf``, and the entry ``node``, ``output``.

    Parameters
    ----------
    run : DebugRun
    key : int, str, (int, int) or (str, int)
        As ``run.tensors[key]`` takes it: node id or name, or that with an output.
    axis : int, optional
        The axis to go along; by default the second of three and more, else the longest.
    reading : str, optional
        One of ``tensor.readings``.
    theme : str
        ``"light"`` or ``"dark"``.
    width : int
        px at most.

    Returns
    -------
    bokeh.plotting.figure

    Raises
    ------
    KeyError
        The run has no such tensor.
    ValueError
        The run has no tensors, or this one no such axis or no ordered values; or ``theme`` is
        none of these.
    """
    tensor = tensor_of("channels", run, key)
    colors = colors_of(theme)
    drawn, dtype = _profile(run, tensor, axis, reading)

    from bokeh.models import ColumnDataSource

    columns, empty = _columns(tensor, drawn, dtype)
    source = ColumnDataSource(columns)
    figure = new_figure(
        f"{called(run, tensor)}: channels",
        _notes(run, tensor, drawn, empty),
        colors,
        width,
        _HEIGHT,
        x_axis_label=f"axis {drawn.axis}",
        y_axis_label="value",
    )
    bars = figure.quad(
        left="left",
        right="right",
        bottom="minimum",
        top="maximum",
        source=source,
        fill_color=str(colors.accent),
        fill_alpha=0.4,
        line_color=str(colors.accent),
        legend_label="minimum to maximum",
    )
    figure.segment(
        x0="left",
        x1="right",
        y0="mean",
        y1="mean",
        source=source,
        line_color=str(colors.text),
        line_width=2,
        legend_label="mean",
    )
    if any(columns["not_finite_text"]):
        figure.scatter(
            x="middle",
            y="not_finite_at",
            marker="x",
            size=9,
            source=source,
            line_color=str(colors.error),
            line_width=2,
            legend_label="holds NaN or Inf",
        )
    figure.xgrid.visible = False
    selectable(
        figure,
        [bars],
        colors,
        [
            ("index", "@index_text"),
            ("values", "@values_text"),
            ("holds", "@not_finite_text"),
        ],
    )
    place_legend(figure, colors)
    return figure


def _profile(
    run: Derived, tensor: Tensor, axis: int | None, reading: Reading | None
) -> tuple[Profile, np.dtype[Any]]:
    """Return the values along the axis, and their type."""
    from tvmdbg_widgets.model.pictures import profile
    from tvmdbg_widgets.model.tensors.planes import axis_along

    name = called(run, tensor)
    values = tensor.values(reading or next(iter(tensor.readings), None))
    shape = values.view_shape
    if not values.is_ordered:
        raise ValueError(f"{name} has no channels to compare: {tensor.dtype} values have no order")
    if not shape or not tensor.size:
        raise ValueError(f"{name} has no channels: its shape is {list(shape)}")
    if axis is None:
        axis = axis_along(shape)
    elif not -len(shape) <= axis < len(shape):
        raise ValueError(f"{name} has no axis {axis!r}: its shape is {list(shape)}")
    return profile(values, (axis or 0) % len(shape), _MOST), values.numpy_dtype


def _columns(tensor: Tensor, drawn: Profile, dtype: np.dtype[Any]) -> tuple[dict[str, Any], int]:
    """Columns, and how many bars have no finite value."""
    from tvmdbg_widgets.model.base.number_text import computed_text, screen_text, value_text
    from tvmdbg_widgets.model.pictures import NAN, NEG_INF, POS_INF

    size = len(drawn.flags)
    first = np.arange(size) * drawn.step
    last = np.minimum(first + drawn.step, drawn.length) - 1
    flags = {"nan": NAN, "pos_inf": POS_INF, "neg_inf": NEG_INF}
    held = {name: (drawn.flags & flag) > 0 for name, flag in flags.items()}
    finite = np.isfinite(drawn.maximum)
    edge = float(drawn.maximum[finite].max()) if finite.any() else 0.0
    columns = {
        "node": np.full(size, tensor.node),
        "output": np.full(size, tensor.output),
        "first": first,
        "last": last,
        "left": first - 0.4,
        "right": last + 0.4,
        "middle": (first + last) / 2,
        "minimum": drawn.minimum.astype(np.float64),
        "mean": drawn.mean.astype(np.float64),
        "maximum": drawn.maximum.astype(np.float64),
        **held,
        "not_finite_at": np.where(drawn.flags > 0, edge, np.nan),
        "index_text": [
            f"{low}" if low == high else f"{low} … {high}"
            for low, high in zip(first.tolist(), last.tolist(), strict=True)
        ],
        "values_text": [
            ""
            if math.isnan(mean)
            else screen_text(
                f"{value_text(low, dtype)} … {value_text(high, dtype)}, mean {computed_text(mean)}"
            )
            for low, high, mean in zip(
                drawn.minimum.tolist(), drawn.maximum.tolist(), drawn.mean.tolist(), strict=True
            )
        ],
        "not_finite_text": [
            ", ".join(
                word for word, there in zip(("NaN", "+Inf", "−Inf"), row, strict=True) if there
            )
            for row in zip(*held.values(), strict=True)
        ],
    }
    return columns, int((~finite).sum())


def _notes(run: Derived, tensor: Tensor, drawn: Profile, empty: int) -> list[str]:
    from tvmdbg_widgets.model.base.numbers import agree, counted

    stored = f"{run.title}: {tensor.dtype}{list(tensor.shape)}"
    notes = [f"{stored}, along axis {drawn.axis} ({drawn.length:,}), reduced over all other axes"]
    if drawn.step > 1:
        notes.append(f"each bar stands for {counted(drawn.step, 'index')}")
    if empty:
        verb = agree(empty, "holds")
        notes.append(
            f"{empty:,} of {counted(len(drawn.flags), 'bar')} left out: {verb} no finite value"
        )
    return [*notes, *tensor.notes]
