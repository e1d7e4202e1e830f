"""TensorInspector: one tensor, its values and its health."""

from __future__ import annotations

from typing import TYPE_CHECKING

import traitlets

from tvmdbg_widgets.widgets.bundles import bundle
from tvmdbg_widgets.widgets.view import View

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.figures.handed_on import HandedOn


class TensorOptions(traitlets.HasTraits):
    """Traits of a tensor inspector; see :class:`TensorInspector`."""

    entry = traitlets.Tuple(
        traitlets.Int(), traitlets.Int(), allow_none=True, default_value=None
    ).tag(sync=True)
    axes = traitlets.Tuple(
        traitlets.Int(allow_none=True),
        traitlets.Int(allow_none=True),
        allow_none=True,
        default_value=None,
    ).tag(sync=True)
    index = traitlets.List(traitlets.Int(), allow_none=True, default_value=None).tag(sync=True)
    color_scale = traitlets.Enum(["linear", "symlog"], "linear").tag(sync=True)
    color_map = traitlets.Enum(["auto", "sequential", "diverging"], "auto").tag(sync=True)


class TensorInspector(TensorOptions, View):
    """The tensor of one entry: statistics, histogram, picture and exact values.

    ::

        tvmdbg.TensorInspector(run, entry=(38, 0))

    Attributes
    ----------
    entry : (int, int) or None
        Shown first; otherwise the session's entry.
    axes : (int or None, int) or None
        Axes down and across; None leaves the choice to the view.
    index : list of int or None
        Fixed index on each axis.
    color_scale : str
        ``"linear"`` or ``"symlog"``.
    color_map : str
        ``"auto"``, ``"sequential"`` or ``"diverging"``.
    height : int
        CSS pixels.
    """

    _esm = bundle("tensor.js")
    _css = bundle("tensor.css")

    def _figure(
        self, width: float, theme: str, saved: bool = False, handed: HandedOn | None = None
    ) -> Figure:
        from tvmdbg_widgets.figures.tensor import tensor_figure

        tensor = self.session.tensor
        entry = self.entry or (None if tensor is None else (tensor.node, tensor.output))
        if handed is not None:
            entry = handed.entry or entry
        return tensor_figure(
            self._debug_run,
            entry=entry,
            axes=self.axes,
            index=self.index,
            color_scale=self.color_scale,
            color_map=self.color_map,
            width=width,
            theme=theme,
            saved=saved,
            withhold=None if handed is None else handed.withhold,
        )
