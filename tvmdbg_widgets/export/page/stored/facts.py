"""Header of every tensor, as columns, and the readings of its bytes with their statistics."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.layouts.layouts import KnownLayout, known_layouts, stated_layout
from tvmdbg_widgets.export.page.stored import sentences
from tvmdbg_widgets.export.page.stored.paths import PathEraser
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.contrast import Contrast
from tvmdbg_widgets.model.statistics.distribution import NumberBounds
from tvmdbg_widgets.model.tensors.array_values import ArrayValues
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.tensors.unfolded import Unfolded
from tvmdbg_widgets.model.tensors.values import ArrayView

#: Bins of the histogram that views ask for (``widgets/passes.py``).
BINS = 64


@dataclass(frozen=True)
class Header:
    """What the run knows of a tensor beside what the tensor itself does."""

    captured: str
    layouts: tuple[KnownLayout, ...]

    def opened(self, values: ArrayValues) -> ArrayView:
        """Return the values along the axes that a view opens with: those of the stated layout."""
        stated = stated_layout(self.layouts, values.view_shape)
        return values if stated is None else Unfolded(values, stated.layout, stated.sizes)

    @property
    def layouts_text(self) -> str:
        """The layouts as JSON; empty where there are none."""
        told = [{**vars(each), "layout": each.layout.text} for each in self.layouts]
        return json.dumps(told) if told else ""


def headers(run: Derived, tensors: Sequence[Tensor]) -> list[Header]:
    """Return what is known of each tensor."""
    return [
        Header(each.captured, known_layouts(run.parts, (each.node, each.output)))
        for each in tensors
    ]


@dataclass(frozen=True)
class Variant:
    """One tensor under one reading of its bytes."""

    row: int
    reading: str
    values: ArrayValues
    view: ArrayView
    found: Statistics
    percentiles: tuple[NumberBounds, ...] = ()
    contrast: Contrast | None = None


def variants(
    tensor: Tensor, row: int, header: Header, progress: Callable[[int], None] | None = None
) -> tuple[list[Variant], str]:
    """Return the variants of a tensor, and why its values could not be read (else empty)."""
    found = []
    trouble = ""
    for reading in tensor.readings or (None,):
        values = tensor.values(reading)
        bounds: tuple[NumberBounds, ...] = ()
        adapted: Contrast | None = None
        try:
            numbers = tensor.statistics(BINS, reading=reading, progress=progress)
            bounds = tensor.known_percentiles(reading)
            adapted = tensor.contrast(reading=reading)
        except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
            trouble = sentences.unread(problem)
            numbers = Statistics.not_applicable(values.count, trouble)
        found.append(
            Variant(row, reading or "", values, header.opened(values), numbers, bounds, adapted)
        )
    return found, trouble


def redacted_variant(each: Variant, *, counts_only: bool) -> Variant:
    """Return a variant without what tells single values of a parameter."""
    if not each.found.applicable:
        return each
    found = each.found.redacted(counts_only=counts_only)
    return replace(each, found=found, percentiles=(), contrast=None)


def tensor_columns(
    tensors: Sequence[Tensor],
    headers: Sequence[Header],
    notes: Sequence[str],
    remedies: Sequence[str],
    eraser: PathEraser,
) -> dict[str, Any]:
    """Return what a header tells beyond the list of tensors.

    ``notes`` are the page's own, ``remedies`` the calls that make a page with the values.
    """
    own = [[eraser.text(note) for note in tensor.notes] for tensor in tensors]
    return {
        "keys": _strings([tensor.key for tensor in tensors]),
        "files": _strings([eraser.text(tensor.file) for tensor in tensors]),
        "offsets": np.array([tensor.offset for tensor in tensors], np.float64),
        "captured": _strings([each.captured for each in headers]),
        "layouts": _strings([each.layouts_text for each in headers]),
        "noteOffsets": np.cumsum([0, *map(len, own)]).astype(np.int32),
        "notes": _strings([note for each in own for note in each]),
        "pageNotes": _strings(notes),
        "remedies": _strings(remedies),
    }


def _strings(texts: Sequence[str]) -> StringColumn:
    return StringColumn.from_strings(texts)
