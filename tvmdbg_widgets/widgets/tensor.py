"""TensorInspector: values, statistics and health of one tensor."""

from __future__ import annotations

import math
from typing import Any

import traitlets

from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.tensors.layouts import Layout, checked_sizes
from tvmdbg_widgets.widgets.traits import Choice, ChoiceOr, EntryTrait, optional, validated
from tvmdbg_widgets.widgets.view import View, auto_height

#: Integers up to which JavaScript's numbers are exact.
MOST_ZERO_POINT = 2**53


def _region_trait() -> Any:
    """Return a trait ``(row, col, rows, cols)`` or None."""
    return optional(traitlets.Tuple, *(traitlets.Int(min=low) for low in (0, 0, 1, 1)))


class TensorOptions(traitlets.HasTraits):
    """Traits of a tensor inspector; see :class:`TensorInspector`."""

    entry: Any = EntryTrait().tag(sync=True)
    axes = optional(traitlets.Tuple, *(traitlets.Int(allow_none=True) for _ in range(2)))
    index = optional(traitlets.List, traitlets.Int())
    color_scale = Choice(["auto", "linear", "log", "symlog"], "auto").tag(sync=True)
    color_map = Choice(["auto", "sequential", "diverging"], "auto").tag(sync=True)
    color_range: Any = ChoiceOr(
        ["auto", "tensor", "plane", "robust"],
        traitlets.Tuple(traitlets.Float(), traitlets.Float()),
        default="auto",
    ).tag(sync=True)
    data_layout = optional(traitlets.Unicode)
    data_sizes = optional(traitlets.Dict)
    reading = optional(traitlets.Unicode)
    region: Any = _region_trait()
    marked_region: Any = _region_trait()
    cells = Choice(["mean", "least", "largest", "extreme"], "mean").tag(sync=True)
    along = traitlets.Int(None, allow_none=True, min=0).tag(sync=True)
    value_format = Choice(["number", "hex", "bits", "dequantised"], "number").tag(sync=True)
    scale = traitlets.Float(1.0).tag(sync=True)
    zero_point = traitlets.Int(0, min=-MOST_ZERO_POINT, max=MOST_ZERO_POINT).tag(sync=True)

    @traitlets.validate("color_range")
    def _ascending(self, proposal: Any) -> Any:
        value = proposal["value"]
        if isinstance(value, str):
            return value
        low, high = value
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise traitlets.TraitError(f"color_range must be (low, high), both finite, not {value}")
        return value

    session: Any  # the view's

    def _shown_entry(self, redaction: Redaction | None) -> Any:
        """Return the entry in the figure: the redaction's, the view's own or the session's."""
        if redaction is not None and redaction.entry:
            return redaction.entry
        tensor = self.session.tensor
        return self.entry or (None if tensor is None else (tensor.node, tensor.output))

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

    _check_sizes = validated(
        "data_sizes",
        lambda self, sizes: None if sizes is None else checked_sizes(sizes, self.data_layout),
    )

    @traitlets.validate("scale")
    def _finite(self, proposal: Any) -> float:
        scale: float = proposal["value"]
        if not math.isfinite(scale):
            raise traitlets.TraitError(f"scale must be finite, not {scale}")
        return scale


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
        Fixed index per axis.
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
        from tvmdbg_widgets.figures.choose import names_of
        from tvmdbg_widgets.figures.options import TensorFigureOptions
        from tvmdbg_widgets.figures.tensor import tensor_figure

        options = self._options(names_of(TensorFigureOptions), entry=self._shown_entry(redaction))
        redact = None if redaction is None else redaction.redact
        return tensor_figure(
            self._facts, width=width, theme=theme, saved=saved, redact=redact, **options
        )
