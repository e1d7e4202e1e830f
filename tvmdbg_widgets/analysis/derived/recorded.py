"""What was recorded: the parts of a run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.parts import Provenance, RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensors
from tvmdbg_widgets.model.timeline.report import Report
from tvmdbg_widgets.model.timeline.timeline import Timeline


class Recorded:
    """The parts of a run, and what each of its rooms needs of them."""

    def __init__(self, parts: RunParts) -> None:
        self.parts = parts

    @property
    def graph(self) -> Graph | None:
        """The graph, None where no graph file was given."""
        return self.parts.graph

    @property
    def tensors(self) -> Tensors | None:
        """The tensors by entry, None where no params file was given."""
        return self.parts.tensors

    @property
    def timeline(self) -> Timeline | None:
        """Slices and node times, None where neither a trace nor a table was given."""
        return self.parts.timeline

    @property
    def reports(self) -> tuple[Report, ...]:
        """Profiling reports: other measurements than the timeline's, with times per node."""
        return self.parts.reports

    @property
    def provenance(self) -> Provenance:
        """What wrote the files, and the evidence."""
        return self.parts.provenance

    @property
    def title(self) -> str:
        """Name of the folder or file that the run was opened from."""
        return self.parts.title

    @cached_property
    def ir(self) -> Mapping[str, str]:
        """Texts of the module at stages of the compiler, by name; empty where none were kept."""
        from tvmdbg_widgets.formats.llvm_ir import ir_text

        return {name: ir_text(source) for name, source in self.parts.ir.items()}

    @property
    def _known_graph(self) -> Graph:
        from tvmdbg_widgets.analysis.summary import how_to_get

        if self.graph is None:
            raise ValueError(how_to_get("graph", self.parts))
        return self.graph
