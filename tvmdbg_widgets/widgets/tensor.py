"""TensorInspector: one tensor, its values and its health."""

from __future__ import annotations

import math
from typing import Any

import traitlets

from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.tensors.layouts import Layout, checked_sizes
from tvmdbg_widgets.widgets.traits import Choice, ChoiceOr, EntryTrait
from tvmdbg_widgets.widgets.view import View, auto_height

#: Beyond it a page could not tell a zero point from its neighbors.
MOST_ZERO_POINT = 2**53


class TensorOptions(traitlets.HasTraits):
    """Traits of a tensor inspector; see :class:`TensorInspector`."""

    entry: Any = EntryTrait().tag(sync=True)
    axes = traitlets.Tuple(
        traitlets.Int(allow_none=True),
        traitlets.Int(allow_none=True),
        allow_none=True,
        default_value=None,
    ).tag(sync=True)
    index = traitlets.List(traitlets.Int(), allow_none=True, default_value=None).tag(sync=True)
    color_scale = Choice(["auto", "linear", "log", "symlog"], "auto").tag(sync=True)
    color_map = Choice(["auto", "sequential", "diverging"], "auto").tag(sync=True)
    color_range: Any = ChoiceOr(
        ["auto", "tensor", "plane", "robust"],
        traitlets.Tuple(traitlets.Float(), traitlets.Float()),
        default="auto",
    ).tag(sync=True)
    data_layout = traitlets.Unicode(allow_none=True, default_value=None).tag(sync=True)
    data_sizes: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    reading = traitlets.Unicode(allow_none=True, default_value=None).tag(sync=True)
    region: Any = traitlets.Tuple(
        traitlets.Int(min=0),
        traitlets.Int(min=0),
        traitlets.Int(min=1),
        traitlets.Int(min=1),
        allow_none=True,
        default_value=None,
    ).tag(sync=True)
    marked_region: Any = traitlets.Tuple(
        traitlets.Int(min=0),
        traitlets.Int(min=0),
        traitlets.Int(min=1),
        traitlets.Int(min=1),
        allow_none=True,
        default_value=None,
    ).tag(sync=True)
    cells = Choice(["mean", "least", "largest", "extreme"], "mean").tag(sync=True)
    along = traitlets.Int(None, allow_none=True, min=0).tag(sync=True)
    value_format = Choice(["number", "hex", "bits", "dequantised"], "number").tag(sync=True)
    scale = traitlets.Float(1.0).tag(sync=True)
    zero_point = traitlets.Int(0, min=-MOST_ZERO_POINT, max=MOST_ZERO_POINT).tag(sync=True)

    @traitlets.validate("color_range")
    def _ascending(self, proposal: Any) -> Any:
        found = proposal["value"]
        if isinstance(found, str):
            return found
        low, high = found
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise traitlets.TraitError(f"color_range must be (low, high), both finite, not {found}")
        return found

    @traitlets.validate("along")
    def _no_bool(self, proposal: Any) -> int | None:
        along = proposal["value"]
        return None if along is None else int(along)

    @traitlets.validate("data_layout")
    def _well_formed(self, proposal: Any) -> str | None:
        text: str | None = proposal["value"]
        if text:
            try:
                Layout.parse(text)
            except ValueError as problem:
                raise traitlets.TraitError(str(problem)) from None
        return text

    @traitlets.validate("data_sizes")
    def _of_its_axes(self, proposal: Any) -> dict[str, int] | None:
        if proposal["value"] is None:
            return None
        try:
            return checked_sizes(proposal["value"], self.data_layout)
        except ValueError as problem:
            raise traitlets.TraitError(f"data_sizes: {problem}") from None

    @traitlets.validate("scale")
    def _finite(self, proposal: Any) -> float:
        found: float = proposal["value"]
        if not math.isfinite(found):
            raise traitlets.TraitError(f"scale must be finite, not {found}")
        return found


class TensorInspector(TensorOptions, View):
    """The tensor of one entry: statistics, histogram, picture and exact values.

    ::

        tvmdbg.TensorInspector(run, entry=(38, 0))      # or 38, or "conv2d"

    Attributes
    ----------
    entry : (int, int) or None
        Shown first; otherwise the session's entry. Also set by a node's id or name, which is its
        first output.
    axes : (int or None, int) or None
        Axes down and across; None leaves the choice to the view.
    index : list of int or None
        Fixed index on each axis.
    color_scale : str
        ``"linear"``, ``"log"`` or ``"symlog"``; ``"auto"`` is linear unless that would give
        nearly all values the same color.
    color_map : str
        ``"auto"``, ``"sequential"`` or ``"diverging"``.
    color_range : str or (float, float)
        Between which values the colors lie: ``"auto"`` spans the tensor without the few far
        values that would set its range, if there are any; ``"tensor"`` and ``"plane"`` span all
        of either, ``"robust"`` the tensor's percentiles 1 to 99; or two numbers. Values beside
        it have colors of their own.
    data_layout : str or None
        The layout to unfold, as TVM spells it (``"NCHW8c"``); ``""`` for the axes as stored. None
        takes the one that the graph states, if it does. ``axes``, ``index`` and ``along`` speak
        of the logical axes.
    data_sizes : dict of str to int, or None
        Sizes of logical axes by letter that hide padding, ``{"C": 3}`` where 3 of the 8 channels
        of an NCHW8c are real. None takes those that are known with the layout, ``{}`` shows all
        padding.
    reading : str or None
        One of ``tensor.readings``, where the bytes can be understood in several ways.
    show : str
        ``"picture"`` of one plane, ``"channels"`` (one picture for each index of an axis) or
        ``"profile"`` along an axis.
    along : int or None
        That axis. None, as one that cannot be gone along, leaves the choice to the view: the
        channels where they are known, else the longest.
    cells : str
        Which number colors show of a cell that stands for several values: their ``"mean"``, the
        ``"least"``, the ``"largest"`` or the ``"extreme"``, which is farthest from zero.
    region : (int, int, int, int) or None
        Row, column, rows and columns of the plane that are in sight; None for all of it.
    marked_region : (int, int, int, int) or None
        Row, column, rows and columns of the region that is marked; its statistics are shown.
    value_format : str
        How single values are written: ``"number"``, ``"hex"``, ``"bits"`` or ``"dequantised"``.
    scale, zero_point : float, int
        Of dequantised values: ``(value - zero_point) * scale``.
    height : int or "auto"
        CSS pixels; ``"auto"`` is the height of the part of the notebook that is seen, from 480 to
        720.
    """

    show = Choice(["picture", "channels", "profile"], "picture").tag(sync=True)
    height = auto_height(least=120)
    _tells_health = True

    _esm = module("tensor")
    _css = bundle("tensor.css")
    _code = traitlets.Unicode(code_name("tensor")).tag(sync=True)

    def _figure(
        self, width: float, theme: str, saved: bool = False, redaction: Redaction | None = None
    ) -> Figure:
        from tvmdbg_widgets.figures.tensor import tensor_figure

        tensor = self.session.tensor
        entry = self.entry or (None if tensor is None else (tensor.node, tensor.output))
        if redaction is not None:
            entry = redaction.entry or entry
        return tensor_figure(
            self._facts,
            entry=entry,
            axes=self.axes,
            index=self.index,
            color_scale=self.color_scale,
            color_map=self.color_map,
            color_range=self.color_range,
            data_layout=self.data_layout,
            data_sizes=self.data_sizes,
            reading=self.reading,
            show=self.show,
            region=self.region,
            cells=self.cells,
            along=self.along,
            width=width,
            theme=theme,
            saved=saved,
            redact=None if redaction is None else redaction.redact,
        )
