"""TensorInspector: values, statistics and health of one tensor."""

from __future__ import annotations

from typing import Any

import traitlets

from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import Redaction, TensorOptions
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.tensors.layouts import checked_sizes
from tvmdbg_widgets.widgets.traits import TensorTraits, described, shown_entry, validated
from tvmdbg_widgets.widgets.view import View


class ShownTensor(traitlets.HasTraits):
    """The checks of a tensor's traits against the run, and the entry in a figure."""

    session: Any  # the view's
    entry: Any

    _check_entry = validated("entry", lambda self, given: shown_entry(self.shown, given))
    _check_sizes = validated(
        "data_sizes",
        lambda self, sizes: None if sizes is None else checked_sizes(sizes, self.data_layout),
    )

    def _shown_entry(self, redaction: Redaction | None) -> Any:
        """Return the entry in the figure: the redaction's, the view's own or the session's."""
        if redaction is not None and redaction.entry:
            return redaction.entry
        tensor = self.session.tensor
        return self.entry or (None if tensor is None else (tensor.node, tensor.output))


@described
class TensorInspector(TensorTraits, ShownTensor, View):
    """The tensor of one entry: statistics, histogram, picture and exact values.

    ::

        tvmdbg.TensorInspector(run, entry=(38, 0))      # or 38, or "conv2d"
    """

    _tells_health = True

    _esm = module("tensor")
    _css = bundle("tensor.css")
    _code = traitlets.Unicode(code_name("tensor")).tag(sync=True)

    def _figure(
        self, width: float, theme: str, saved: bool = False, redaction: Redaction | None = None
    ) -> Figure:
        from tvmdbg_widgets.figures.tensor import tensor_figure

        options = self._options(TensorOptions, entry=self._shown_entry(redaction))
        redact = None if redaction is None else redaction.redact
        return tensor_figure(
            self._facts, width=width, theme=theme, saved=saved, redact=redact, **options
        )
