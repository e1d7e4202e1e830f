"""``DebugRun``: graph, tensors, timeline, and every question about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.model.base.slips import public, public_class
from tvmdbg_widgets.run.files import RunFiles
from tvmdbg_widgets.run.questions import RunQuestions

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.compare import Comparison
    from tvmdbg_widgets.analysis.compare_times import TimeComparison
    from tvmdbg_widgets.analysis.executorch.recorded_calls import RecordedCalls
    from tvmdbg_widgets.model.executorch.event_nodes import DelegationInfo
    from tvmdbg_widgets.run.executorch.inspector import Inspector
    from tvmdbg_widgets.widgets.debugger import Debugger
    from tvmdbg_widgets.widgets.session import Session, StepLike


@public_class
class DebugRun(RunQuestions, RunFiles):
    """One recorded execution: graph, tensors and timeline; any of them may be missing.

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

    #: Where an attribute that is missing here may be.
    _looks_in = ("graph", "parts")

    def __dir__(self) -> list[str]:
        """List public names without ``facts``, which is for the package itself."""
        return sorted({*super().__dir__()} - {"facts"})

    def __reduce__(self) -> tuple[Any, ...]:
        return DebugRun, (self.parts,)

    def __repr__(self) -> str:
        parts: list[object] = [self.parts.graph, self.parts.tensors, self.parts.timeline]
        parts += self.parts.reports
        if self.parts.executorch is not None:
            parts.append(self.parts.executorch.delegation)
        lines = [repr(part).splitlines()[0] for part in parts if part is not None]
        return "\n  ".join([f"DebugRun {self.title!r} ({self.provenance.format})", *lines])

    @property
    def session(self) -> Session:
        """State that this run's views share by default."""
        from tvmdbg_widgets.widgets.run_model import session_of

        return session_of(self.facts)

    def tour(self, steps: Iterable[StepLike]) -> Debugger:
        """Return the linked views with a tour through this run, at its first step.

        A step has a plain text and a selection in all views of the run's session. Readers
        step by buttons and keys, also in pages without a kernel::

            run.tour([
                (38, "The first Inf appears here …"),
                ((38, 0), "… in this output: the inputs are all finite."),
                dict(text="Why it is slow:", node="conv2d_3", view="timeline"),
            ])

        Parameters
        ----------
        steps : iterable
            ``(node, text)`` with an id, a name or a list of them, ``((node, output), text)``, a
            text alone, or a mapping of ``text`` and any of ``node`` (or ``nodes``), ``entry``
            ``(node, output)``, ``slice`` ``(node, occurrence)``, ``time_range``
            ``(start, end)`` in nanoseconds, and ``view``: ``"findings"``, ``"graph"``,
            ``"tensor"`` or ``"timeline"``, which is then framed.

        Raises
        ------
        TypeError, ValueError, KeyError, IndexError
            An empty step, or one that names something the run does not have; the message gives its
            number.
        """
        from tvmdbg_widgets.widgets.session import checked_tour

        checked = checked_tour(self.facts, steps)
        if not checked:
            raise ValueError('a tour has at least one step: run.tour([(38, "The first Inf.")])')
        self.session.tour_step = None
        self.session.tour = checked
        self.session.tour_step = 0
        return self.debugger()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        alone = self._delegation_alone
        if alone is not None:
            return {"text/plain": repr(alone), "text/html": alone._repr_html_()}
        return self.debugger()._repr_mimebundle_(**kwargs)

    def _ipython_display_(self) -> None:
        if self._delegation_alone is not None:
            raise NotImplementedError
        self.debugger()._ipython_display_()

    @property
    def _delegation_alone(self) -> DelegationInfo | None:
        """Counts of delegated nodes, if the run has nothing else."""
        parts = self.parts
        drawn = (parts.graph, parts.tensors, parts.timeline)
        if parts.executorch is None or any(part is not None for part in drawn):
            return None
        return parts.executorch.delegation

    @cached_property
    def inspector(self) -> Inspector:
        """The events of ExecuTorch's ETDump, as its Inspector gives them.

        Raises
        ------
        ValueError
            The run has no ETDump.
        """
        from tvmdbg_widgets.run.executorch.inspector import inspector_of

        inspector = inspector_of(self.parts)
        inspector.run = self
        return inspector

    @cached_property
    def tables(self) -> tuple[DebugRun, ...]:
        """Tables of times in a log as runs, in the order of the log.

        They are tables of the debugger, of ``profile()``, of the VM profiler, or of the Inspector.

        ::

            run.tables[0].compare_times(run.tables[1])  # before and after tuning
        """
        if self.parts.executorch is not None:
            from tvmdbg_widgets.formats.executorch.assemble import runs_of_tables
        else:
            from tvmdbg_widgets.formats.tvm.assemble import runs_of_tables

        return tuple(map(DebugRun, runs_of_tables(self.parts)))

    def execution(self, number: int) -> DebugRun:
        """Return the run with the logged values of another execution of ExecuTorch.

        ::

            tvmdbg.compare(run.execution(0), run.execution(1))

        Parameters
        ----------
        number
            Counted from 0.

        Raises
        ------
        ValueError
            The run is none of ExecuTorch.
        FormatError
            There is no such execution.
        """
        from tvmdbg_widgets.run.executorch.inspector import execution_parts

        return DebugRun(execution_parts(self.parts, number))

    @cached_property
    def reference(self) -> DebugRun:
        """The same graph with the reference outputs of ExecuTorch's ETRecord.

        ::

            tvmdbg.compare(run.reference, run)

        Raises
        ------
        ValueError
            There are none for this execution.
        """
        from tvmdbg_widgets.run.executorch.inspector import reference_parts

        return DebugRun(reference_parts(self.parts))

    def delegate_calls(self) -> RecordedCalls:
        """Return the calls of ExecuTorch's delegates with their events and graphs.

        ::

            call = run.delegate_calls()[0]
            call.graph  # the delegate's own graph
            call.run  # the same with its constants and times: linked views, figures, pages
            call.events[3].delegate_nodes, call.events[3].nodes, call.events[3].match
            call.gaps  # time that no event covers

        Raises
        ------
        ValueError
            The run has neither an ETDump nor a program.
        """
        from tvmdbg_widgets.analysis.executorch.calls_of_run import recorded_calls

        files = self.parts.executorch
        if files is None or (files.dump is None and files.program is None):
            raise ValueError("this run has neither an ETDump nor a program: open one of them too")
        return recorded_calls(files).opened_by(DebugRun)

    def compare_times(
        self, other: DebugRun, titles: Sequence[str] | None = None, *, warm_up: int = 0
    ) -> TimeComparison:
        """Compare the times of this run (A) and another (B), operator by operator.

        See :func:`tvmdbg_widgets.compare_times`, also for errors.
        """
        from tvmdbg_widgets.analysis.compare_times import compare_times

        comparison = compare_times(self.parts, other.parts, titles, warm_up=warm_up)
        comparison.open_run = lambda compared: ComparedRun(compared, self, other)
        return comparison


class ComparedRun(DebugRun):
    """Graph and tensors of one run with the slices of two.

    Its views follow the views of the first run.
    """

    def __init__(self, compared: TimeComparison, a: DebugRun, b: DebugRun) -> None:
        facts = RunFacts.of_comparison(compared, a.facts)
        super().__init__(facts.parts)
        self.facts = facts
        self.compared: TimeComparison = compared
        self.run_a, self.run_b = a, b

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.run_a, self.run_b, self.compared.titles, self.compared.warm_up)


def _again(a: DebugRun, b: DebugRun, titles: tuple[str, str], warm_up: int) -> DebugRun:
    run: DebugRun = a.compare_times(b, titles, warm_up=warm_up).run
    return run


@public
def compare(a: DebugRun, b: DebugRun, titles: Sequence[str] | None = None) -> Comparison:
    """Compare two runs of one network: differences of their graphs, and both times.

    ::

        comparison = tvmdbg.compare(tvmdbg.open("plain"), tvmdbg.open("unfused"))
        comparison                     # ranked and grouped by kind
        comparison.matching.b_of(12)
        tvmdbg.ComparisonView(a, b)    # side by side, linked

    Times are only listed; :func:`tvmdbg_widgets.compare_times` tests which differ by more than
    noise.

    Parameters
    ----------
    a, b : DebugRun
    titles : two str, optional
        Names of the runs; by default their titles, with their folders where two titles are equal.

    Raises
    ------
    ValueError
        One of them has no graph, or there are not two titles.
    TypeError
        An argument is not a run.
    """
    from tvmdbg_widgets.analysis.compare import compare as of_parts

    _runs(a, b)
    return of_parts(a.parts, b.parts, titles)


@public
def compare_times(
    a: DebugRun, b: DebugRun, titles: Sequence[str] | None = None, *, warm_up: int = 0
) -> TimeComparison:
    """Compare the times of two runs of one network, operator by operator.

    ::

        a, b = tvmdbg.open("plain"), tvmdbg.open("unfused")
        times = tvmdbg.compare_times(a, b)
        times                          # how much slower B is, and where
        times.by("kind")
        times[0].why                   # p value and repeats, or why the verdict is unknown
        tvmdbg.Flamechart(times)       # the slices of both, one above the other
        tvmdbg.GraphView(a).color_by(times)

    Operators are aligned as by :func:`tvmdbg_widgets.compare`: a fused function is compared with
    the sum of its parts, repeat by repeat. Whether a difference is more than noise is tested with
    the Mann-Whitney test on the repeats (exact for small samples), corrected for the number of
    operators by Benjamini and Hochberg; with too few repeats the verdict is "unknown". Without a
    graph (a table, a trace of any program) operators are aligned by name, as the result states;
    in a trace, slices of one name are its repeats. All rows add up to the difference of the sums
    of both runs.

    Parameters
    ----------
    a, b : DebugRun
        Both with times.
    titles : two str, optional
        As of :func:`tvmdbg_widgets.compare`.
    warm_up : int
        Leave out so many of the first repeats of every node, on both sides.

    Raises
    ------
    ValueError
        One of them has no times (the message says how to get them), no name is in both where one
        has no graph, or there are not two titles.
    TypeError
        An argument is not a run.
    """
    _runs(a, b)
    return a.compare_times(b, titles, warm_up=warm_up)


def _runs(*runs: object) -> None:
    for run in runs:
        if not isinstance(run, DebugRun):
            problem = f"runs are compared, not {type(run).__name__}: pass tvmdbg_widgets.open(path)"
            raise TypeError(problem)
