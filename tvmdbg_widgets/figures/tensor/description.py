"""All that the figure of a tensor tells, as JSON; the live view is held to the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.answers.tensor.counts import tensor_counts
from tvmdbg_widgets.figures.tensor.facts import TensorFacts, exact_text, float_text
from tvmdbg_widgets.model.base.number_text import percentile_text


def description(facts: TensorFacts, title: str) -> dict[str, Any]:
    """Return what a figure of a tensor tells, as JSON."""
    tensor, found, shown = facts.tensor, facts.statistics, facts.shown
    plane, counts, options = shown.plane, found.histogram, facts.options
    is_range = not isinstance(options.color_range, str)
    return {
        "view": "tensor",
        "title": title,
        "entry": [tensor.node, tensor.output],
        "name": tensor.name,
        "dtype": tensor.dtype.name,
        "shape": list(tensor.shape),
        "nbytes": tensor.nbytes,
        "trust": tensor.trust.label,
        "captured": tensor.captured,
        "notes": list(tensor.notes),
        "reading": shown.reading,
        "layout": shown.layout,
        "sizes": shown.sizes,
        "axis_names": list(shown.axis_names),
        "view_shape": list(shown.values.view_shape),
        "axes": list(plane.axes) if plane else None,
        "index": list(plane.index) if plane else None,
        "show": shown.show,
        "along": shown.axis,
        "cells": options.cells,
        "region": None if shown.region is None else list(shown.region),
        "color_scale": options.color_scale,
        "color_range": list(options.color_range) if is_range else options.color_range,
        "unread": facts.unread,
        "exact": found.exact,
        "counts": tensor_counts(found) if found.applicable else None,
        "statistics": _statistics(facts) if found.applicable else None,
        "percentiles": [
            {
                "percent": percent,
                "low": percentile_text(each.low, facts.dtype),
                "high": percentile_text(each.high, facts.dtype),
            }
            for percent, each in facts.percentiles
        ],
        "histogram": None
        if counts is None
        else {
            "counts": np.asarray(counts.counts).tolist(),
            "edges": np.asarray(counts.edges, np.float64).tolist(),
            "exact": counts.exact,
        },
    }


def _statistics(facts: TensorFacts) -> dict[str, Any]:
    found = facts.statistics
    return {
        "minimum": exact_text(found.minimum),
        "maximum": exact_text(found.maximum),
        "mean": float_text(found.mean),
        "std": float_text(found.std),
        "argmin": facts.index_of(found.argmin),
        "argmax": facts.index_of(found.argmax),
        "firstNan": facts.index_of(found.first_nan),
        "firstPosInf": facts.index_of(found.first_pos_inf),
        "firstNegInf": facts.index_of(found.first_neg_inf),
    }
