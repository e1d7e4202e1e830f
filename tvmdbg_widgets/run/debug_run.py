"""One run as the user holds it: graph, tensors, timeline, and every question about them."""

from __future__ import annotations

from typing import Any

from tvmdbg_widgets.run.comparing import Comparing
from tvmdbg_widgets.run.executions import Executions
from tvmdbg_widgets.run.files import Files
from tvmdbg_widgets.run.pages import Pages


class DebugRun(Executions, Comparing, Files, Pages):
    """One execution as recorded: graph, tensors and timeline, any of them may be missing.

    At the end of a notebook cell it shows the linked views. Made by
    :func:`tvmdbg_widgets.open`.

    Attributes
    ----------
    graph : Graph or None
    tensors : Tensors or None
        A mapping: ``run.tensors[12, 0]``, ``run.tensors["conv2d"]``.
    timeline : Timeline or None
    reports : tuple of Report
        Profiling reports (``profile()``), joined to the graph.
    provenance : Provenance
        What wrote the files, by the evidence in them.
    title : str
    parts : RunParts
        The same, as functions of :mod:`tvmdbg_widgets.analysis` take them.
    """

    def __dir__(self) -> list[str]:
        """Offer what users need; inner names work all the same."""
        return sorted({*super().__dir__()} - {"facts", "known_findings", "model", "search"})

    def __reduce__(self) -> tuple[Any, ...]:
        return DebugRun, (self.parts,)

    def __repr__(self) -> str:
        parts = [self.parts.graph, self.parts.tensors, self.parts.timeline, *self.parts.reports]
        told = [repr(part).splitlines()[0] for part in parts if part is not None]
        return "\n  ".join([f"DebugRun {self.title!r} ({self.provenance.format})", *told])
