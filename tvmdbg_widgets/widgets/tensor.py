"""TensorInspector: values, statistics and health of one tensor."""

from __future__ import annotations

from typing import Any

import traitlets

from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.model.tensors.layouts import checked_sizes
from tvmdbg_widgets.widgets.traits import TensorTraits, described, shown_entry, validated
from tvmdbg_widgets.widgets.view import Drawn, View


class ShownTensor(Drawn):
    """The checks of a tensor's traits against the run, and the entry in a figure."""

    entry: Any

    _check_entry = validated("entry", lambda self, given: shown_entry(self.shown, given))
    _check_sizes = validated(
        "data_sizes",
        lambda self, sizes: None if sizes is None else checked_sizes(sizes, self.data_layout),
    )

    def _drawn_options(self, redaction: Redaction | None = None) -> dict[str, Any]:
        """Add the entry: the redaction's, the view's own or the session's."""
        tensor = self.session.tensor
        entry = (redaction and redaction.entry) or self.entry
        entry = entry or (None if tensor is None else (tensor.node, tensor.output))
        return super()._drawn_options(redaction) | {"entry": entry}


@described
class TensorInspector(TensorTraits, ShownTensor, View):
    """The tensor of one entry: statistics, histogram, heatmap and exact values.

    ::

        tvmdbg.TensorInspector(run, entry=(38, 0))      # or 38, or "conv2d"
    """

    _tells_health = True

    _esm = module("tensor")
    _css = bundle("tensor.css")
    _code = traitlets.Unicode(code_name("tensor")).tag(sync=True)
