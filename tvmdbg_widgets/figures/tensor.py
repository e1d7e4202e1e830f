"""The inspector of one tensor as a figure."""

from __future__ import annotations

from functools import partial
from typing import Any

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.opening import opening_entry
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.answers.messages import SAMPLE
from tvmdbg_widgets.answers.tensor import Redact
from tvmdbg_widgets.figures.engine import ToDraw
from tvmdbg_widgets.figures.options import Redaction, TensorOptions
from tvmdbg_widgets.model.base.options import drawn
from tvmdbg_widgets.model.base.text import FormatError, one_line, unread_text
from tvmdbg_widgets.model.graph.graph import tensor_title

#: Most cells of a picture in a requested figure, and of one in a saved notebook.
_CELLS, _SAVED_CELLS = 60_000, 9_000
#: Bytes from which the text counts a sample.
_LARGE = 1 << 30

Entry = tuple[int, int]


def tensor_to_draw(
    run: RunFacts, options: TensorOptions, *, saved: bool, redaction: Redaction | None
) -> ToDraw:
    """Return what the figure of one tensor takes."""
    given = drawing_options(run, options, saved=saved)
    redact = None if redaction is None else redaction.redact
    return ToDraw(given, partial(_text, run, given["entry"], redact))


def drawing_options(run: RunFacts, options: TensorOptions, *, saved: bool) -> dict[str, Any]:
    """Return what the view draws by: the options, the entry, and the size of a picture."""
    entry = options.entry or opening_entry(run)
    return {**drawn(options), "entry": entry, "most_cells": _SAVED_CELLS if saved else _CELLS}


def headline(run: RunFacts, entry: Entry | None) -> str:
    """Return the run and the tensor in a line, or why there is none."""
    if run.tensors is None:
        why = how_to_get("tensors", run.parts)
    elif entry is None:
        why = "This run's params file has no tensors."
    elif entry not in run.tensors:
        why = f"This run has no tensor for node {entry[0]}, output {entry[1]}."
    else:
        return one_line(f"{run.title}: {tensor_title(run.tensors[entry], run.graph)}")
    return f"{run.title}: no tensors. {why}"


def _text(run: RunFacts, entry: Entry | None, redact: Redact | None) -> str:
    """Return the figure as text; withheld values have no counts."""
    head = headline(run, entry)
    if run.tensors is None or entry is None or entry not in run.tensors:
        return head
    tensor = run.tensors[entry]
    if redact is not None and (why := redact(tensor)[0]):
        return f"{head}\n{why}"
    try:
        statistics = tensor.statistics(sample=SAMPLE if tensor.nbytes >= _LARGE else None)
    except (FormatError, OSError) as problem:
        return f"{head}\nThe values cannot be read: {unread_text(problem)}"
    return f"{head}\n{statistics!r}" if statistics.applicable else head
