"""Facts of a run: its parts and everything derived from them, computed once."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cached_property
from pathlib import PurePath
from typing import Any, Protocol

from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.analysis.findings.search import FindingsSearch
from tvmdbg_widgets.analysis.memory.planned import MemoryPlan, plan_of
from tvmdbg_widgets.analysis.query import Facts
from tvmdbg_widgets.analysis.summary import check, how_to_get
from tvmdbg_widgets.analysis.timeline.longest_path import CriticalPath, critical_path_of
from tvmdbg_widgets.analysis.work import Work, work_of
from tvmdbg_widgets.model.base.text import Issues
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.parts import Provenance, RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensors
from tvmdbg_widgets.model.timeline.report import Report
from tvmdbg_widgets.model.timeline.timeline import Timeline


class RunFacts:
    """Facts of one run; those that need a missing part raise a ValueError with the remedy."""

    def __init__(
        self,
        parts: RunParts,
        *,
        compared: TimeComparison | None = None,
        follows: RunFacts | None = None,
    ) -> None:
        self.parts = parts
        #: The time comparison whose slices are this run's timeline, if made from two runs.
        self.compared = compared
        self.follows = follows  # the run whose session this run's views share
        #: Objects of higher layers kept with a run, by name: its session and its model.
        self.kept: dict[str, Any] = {}
        self._search: FindingsSearch | None = None
        self._lock = threading.Lock()

    @classmethod
    def of_graph(cls, graph: Graph) -> RunFacts:
        """Return the facts of a graph alone."""
        title, origin = PurePath(graph.file).name or "graph", Provenance("a graph alone")
        return cls(RunParts(title, graph, None, None, graph.issues, origin))

    @classmethod
    def of_comparison(cls, compared: TimeComparison, first: RunFacts) -> RunFacts:
        """Return the facts of a run with the graph and tensors of the first, and slices of both."""
        title = "{} and {}".format(*compared.titles)
        graph, timeline = compared.a.graph, compared.timeline
        parts = replace(first.parts, title=title, graph=graph, timeline=timeline)
        return cls(parts, compared=compared, follows=first)

    @property
    def graph(self) -> Graph | None:
        """The graph, None without a graph file."""
        return self.parts.graph

    @property
    def tensors(self) -> Tensors | None:
        """Tensors by entry, None without a params file."""
        return self.parts.tensors

    @property
    def timeline(self) -> Timeline | None:
        """Slices and node times, None without a trace or table."""
        return self.parts.timeline

    @property
    def reports(self) -> tuple[Report, ...]:
        """Profiling reports, with times per node."""
        return self.parts.reports

    @property
    def provenance(self) -> Provenance:
        """The tool that wrote the files, with the evidence."""
        return self.parts.provenance

    @property
    def title(self) -> str:
        """Name of the folder or file that the run was opened from."""
        return self.parts.title

    @property
    def known_graph(self) -> Graph:
        """The graph; ValueError without one."""
        if self.parts.graph is None:
            raise ValueError(how_to_get("graph", self.parts))
        return self.parts.graph

    @cached_property
    def issues(self) -> Issues:
        """Contradictions, damage and uncertainties of the run."""
        return check(self.parts)

    @cached_property
    def groups(self) -> Groups:
        """Nested groups of nodes."""
        return groups(self.known_graph)

    @cached_property
    def queries(self) -> Facts:
        """Graph, times and groups for queries."""
        return Facts(self.known_graph, self.timeline, lambda: self.groups)

    @cached_property
    def work(self) -> Work:
        """Operations and bytes by node."""
        return work_of(self.parts)

    @cached_property
    def critical_path(self) -> CriticalPath:
        """The longest path through the graph by node times."""
        return critical_path_of(self.parts)

    @cached_property
    def memory_plan(self) -> MemoryPlan:
        """Entries that share memory, and the peak."""
        return plan_of(self.parts)

    @property
    def search(self) -> FindingsSearch:
        """The scan of the tensors and the findings so far."""
        with self._lock:
            if self._search is None:
                self._search = FindingsSearch(self.parts, lambda: self.groups)
            return self._search

    @property
    def known_findings(self) -> Findings | None:
        """The findings once all tensors were scanned; None before."""
        with self._lock:
            search = self._search
        return search.known() if search is not None and search.scan.state == "done" else None


class OpenedRun(Protocol):
    """A run as users hold it; :class:`tvmdbg_widgets.DebugRun` is one."""

    facts: RunFacts


def facts_of(run: OpenedRun | RunFacts) -> RunFacts:
    """Return the facts of a run, or the argument if it is facts already."""
    return run if isinstance(run, RunFacts) else run.facts
