"""Parts of a run, and questions about them."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from functools import cached_property
from operator import attrgetter
from typing import Any

from tvmdbg_widgets.analysis import selection
from tvmdbg_widgets.analysis import summary as summaries
from tvmdbg_widgets.analysis.compare import graphs_of
from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts
from tvmdbg_widgets.analysis.matching import Matching, match
from tvmdbg_widgets.analysis.memory.planned import MemoryPlan
from tvmdbg_widgets.analysis.timeline.counters import RunCounters, counters
from tvmdbg_widgets.analysis.timeline.longest_path import CriticalPath
from tvmdbg_widgets.analysis.timeline.merged import CallTree, callers, merged
from tvmdbg_widgets.analysis.timeline.repeat_matrix import RepeatMatrix, repeat_matrix
from tvmdbg_widgets.analysis.timeline.roofline import Roofline, roofline_of
from tvmdbg_widgets.analysis.times.area import Area, area
from tvmdbg_widgets.analysis.times.operator_rows import operators
from tvmdbg_widgets.analysis.times.operators import Operators
from tvmdbg_widgets.analysis.times.sums import times
from tvmdbg_widgets.analysis.times.table import TimeTable
from tvmdbg_widgets.analysis.work import Work
from tvmdbg_widgets.formats.llvm_ir import ir_text
from tvmdbg_widgets.model.base.slips import asks
from tvmdbg_widgets.model.base.text import Issues
from tvmdbg_widgets.model.executorch.event_nodes import DelegationInfo
from tvmdbg_widgets.model.executorch.program import Program
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.health import Health
from tvmdbg_widgets.model.parts import Provenance, RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensors
from tvmdbg_widgets.model.timeline.report import Report
from tvmdbg_widgets.model.timeline.timeline import Timeline


class RunQuestions:
    """Parts of a run, and questions about them."""

    def __init__(self, parts: RunParts) -> None:
        self.parts = parts
        self.facts = RunFacts(parts)

    @property
    def graph(self) -> Graph | None:
        """The graph, None without a graph file."""
        return self.parts.graph

    @property
    def tensors(self) -> Tensors | None:
        """The tensors by entry, None without a params file."""
        return self.parts.tensors

    @property
    def timeline(self) -> Timeline | None:
        """Slices and node times, None without a trace or a table."""
        return self.parts.timeline

    @property
    def reports(self) -> tuple[Report, ...]:
        """Profiling reports: other measurements than the timeline's, with times per node."""
        return self.parts.reports

    @property
    def provenance(self) -> Provenance:
        """Tool that wrote the files, with evidence."""
        return self.parts.provenance

    @property
    def title(self) -> str:
        """Name of the folder or file that the run was opened from."""
        return self.parts.title

    @cached_property
    def ir(self) -> Mapping[str, str]:
        """Texts of the module by compiler stage; empty if none were kept."""
        return {name: ir_text(source) for name, source in self.parts.ir.items()}

    @property
    def program(self) -> Program:
        """The ExecuTorch program: methods, values, instructions, delegates, planned memory.

        ::

            run.program.plan("forward").delegates

        Raises
        ------
        ValueError
            The run was opened without a ``.pte`` or ``.bpte``.
        """
        program = self.parts.executorch.program if self.parts.executorch is not None else None
        if program is None:
            raise ValueError("this run has no program: open the .pte with its other files")
        return program

    @property
    def delegation(self) -> DelegationInfo:
        """Numbers of delegated nodes, as printed by ExecuTorch's ``get_delegation_info``.

        ::

            run.delegation.left_out()  # the operators that no delegate took

        Raises
        ------
        ValueError
            The run was opened without that text.
        """
        delegation = self.parts.executorch.delegation if self.parts.executorch is not None else None
        if delegation is None:
            raise ValueError(
                "this run has no text of get_delegation_info: save what print_delegation_info "
                "prints, and open that file with the run's others"
            )
        return delegation

    def check(self) -> Issues:
        """Return issues: damaged, inconsistent or uncertain files and values."""
        return self.facts.issues

    summary = asks(attrgetter("parts"), summaries.summary)
    select = asks(attrgetter("facts.queries"), selection.select)

    @property
    def groups(self) -> Groups:
        """Nested groups of nodes: repeated blocks by structure, and scopes in names.

        ::

            run.groups.find("residual block")[0].nodes

        Raises
        ------
        ValueError
            The run has no graph.
        """
        return self.facts.groups

    def table(self) -> Operators:
        """Return every operator with its time, share, shape and dtype, in execution order."""
        return operators(self.parts)

    def top(self, k: int = 10) -> Operators:
        """Return the ``k`` operators that take longest."""
        return operators(self.parts, top=k)

    def to_dataframe(self) -> Any:
        """Return :meth:`table` as a ``pandas.DataFrame``; ImportError without pandas."""
        return self.table().to_dataframe()

    def times(
        self, by: str = "node", within: tuple[float, float] | None = None, level: int | None = None
    ) -> TimeTable:
        """Return times summed by node, kind, part, group, …, largest first.

        ::

            run.times(by="kind")
            run.times(by="part")            # "layout_transform: 9 %"; shares of parts overlap
            run.times(by="group", level=1).to_dataframe()
            run.times(by="module")          # of an ETRecord's edge graph

        A slice counts the time during which no slice inside it runs, so no time counts twice. The
        time of a fused function is never split among its parts.

        Parameters
        ----------
        by : str
            ``"node"``, ``"kind"`` (of operator), ``"part"`` (every operator in the name of a fused
            function), ``"group"`` (of :attr:`groups`), ``"module"`` (``nn_module_stack``; of
            operators that ran as one the innermost that holds all), ``"device"``, ``"name"``,
            ``"callers"`` (name and slice around it) or ``"track"``.
        within : (float, float) or None
            A range in nanoseconds of the timeline; all of it where None.
        level : int, optional
            Of groups and modules: 0 the outermost, 1 those inside them, …; -1 the innermost. By
            default groups are the outermost, modules the innermost.

        Raises
        ------
        ValueError
            The run has no times, ``by`` or ``within`` is none of these, groups are wanted of a run
            without a graph, or modules of a graph that does not name them.
        """
        return times(self.parts, lambda: self.facts.groups, by, within, level)

    def area(self, start: float, end: float) -> Area:
        """Return counts, sums and durations of slices in a range of time, and busy times of tracks.

        ::

            area = run.area(1e6, 2.5e6)
            area.p90, area.tracks[0].busy
            area.by("kind")

        Parameters
        ----------
        start, end : float
            Nanoseconds of the timeline.

        Raises
        ------
        ValueError
            The run has no times, or ``start`` is not before ``end``.
        """
        return area(self.parts, lambda: self.facts.groups, start, end)

    def merged(self, within: tuple[float, float] | None = None) -> CallTree:
        """Return the slices merged by their path from the top, longest first.

        ::

            run.merged()
            run.merged().to_dataframe()

        Without nested slices the path of a node is the path of its :attr:`groups`.

        Parameters
        ----------
        within : (float, float) or None
            A range in nanoseconds; all time where None.

        Raises
        ------
        ValueError
            The run has no times, or ``within`` is no range.
        """
        return merged(self.parts, lambda: self.facts.groups, within)

    def callers(self, name: str) -> CallTree:
        """Return the callers of slices of a name, their callers, and so on.

        ::

            run.callers("memcpy")

        Raises
        ------
        KeyError
            No slice has this name; the message suggests close ones.
        ValueError
            The run has no times.
        """
        return callers(self.parts, lambda: self.facts.groups, name)

    def repeats(self) -> RepeatMatrix:
        """Return the measured repeats of every operator, with warm-up and noise.

        ::

            run.repeats().totals            # by repeat
            run.repeats().relative          # divided by the median of the operator
            run.repeats().steady()          # without warm-up repeats
            run.repeats().folded()          # p10, median and p90 per operator

        Raises
        ------
        ValueError
            The run has no repeats; the message says how to get them.
        """
        return repeat_matrix(self.parts)

    def counters(self) -> RunCounters:
        """Return counters along the timeline: memory in use, and counters of a trace.

        ::

            run.counters()["memory in use"].at(2.5e6)

        Raises
        ------
        ValueError
            The run has no times.
        """
        return counters(self.parts, lambda: self.facts.memory_plan)

    def critical_path(self) -> CriticalPath:
        """Return the longest path through the graph by node times.

        ::

            run.critical_path()
            run.session.selected = run.critical_path().nodes
            GraphView(run, color_by="slack")

        If nodes ran sequentially, its length is a lower bound: the least time the run would take
        with parallel branches.

        Raises
        ------
        ValueError
            The run has no graph, or no times of nodes; the message says how to get them.
        """
        return self.facts.critical_path

    def work(self) -> Work:
        """Return operations and bytes of the nodes, counted from shapes in the graph.

        Raises
        ------
        ValueError
            The run has no graph.
        """
        return self.facts.work

    def roofline(self, peak_flops: float | None = None, bandwidth: float | None = None) -> Roofline:
        """Return arithmetic intensity, FLOP/s and byte/s of the nodes.

        ::

            run.roofline()
            run.roofline(peak_flops=200e9, bandwidth=25e9)

        Parameters
        ----------
        peak_flops : float or None
            What the machine can compute, FLOP/s.
        bandwidth : float or None
            What its memory can move, byte/s. Without both, no node is called bound by either.

        Raises
        ------
        ValueError
            The run has no graph, or no times of nodes; or a ceiling is not above zero.
        """
        return roofline_of(self.parts, lambda: self.facts.work, peak_flops, bandwidth)

    def memory_plan(self) -> MemoryPlan:
        """Return the memory plan: shared slots, memory in use per step, and the peak.

        ::

            run.memory_plan()
            run.memory_plan().peak.entries
            run.memory_plan().entry("conv2d_3").shares

        Raises
        ------
        ValueError
            The run has no graph, or the graph no ``storage_id`` list; the message says how
            to get one.
        """
        return self.facts.memory_plan

    def findings(self, progress: bool = True) -> Findings:
        """Return ranked findings: errors, warnings, hotspots and info.

        It reads every tensor once, parameters included, and keeps their statistics. Interrupted,
        it returns partial results with ``complete`` False; another call continues.

        Parameters
        ----------
        progress : bool
            Show a progress bar where it takes longer than a second.
        """
        return self.facts.search.run(progress=progress)

    def health(self, progress: bool = True, executor: Executor | None = None) -> Health:
        """Return the health of tensors in execution order; ``.suspicious`` has the worst first.

        ::

            run.health().suspicious[:5]
            run.health().first_nan

        It shares the scan of :meth:`findings`, so tensors are read once. Interrupted, it returns
        partial results with ``complete`` False; another call continues.

        Parameters
        ----------
        progress : bool
            Show a progress bar where it takes longer than a second.
        executor : concurrent.futures.Executor or None
            Look at several tensors at a time, and send the pieces of large ones there: threads,
            processes, or a Dask client's ``get_executor()``, which must be able to read the files.
        """
        self.facts.search.run(progress=progress, executor=executor)
        return self.facts.search.health(newest=True)

    def match(self, other: OpenedRun | Graph) -> Matching:
        """Match the nodes of this run's graph to the graph of another run.

        ::

            matching = run.match(tvmdbg.open("unfused"))
            matching.b_of(12)      # nodes of the other graph that match node 12
            matching.only_a        # nodes without a counterpart

        See :func:`tvmdbg_widgets.analysis.matching.match` for the evidence of a match.

        Raises
        ------
        ValueError
            One of them has no graph.
        """
        return match(*graphs_of(self.parts, other))
