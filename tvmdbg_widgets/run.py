"""One run as the user holds it: graph, tensors, timeline, and every question about them."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from concurrent.futures import Executor
    from pathlib import Path

    import networkx as nx

    from tvmdbg_widgets.analysis.compare import Comparison
    from tvmdbg_widgets.analysis.findings.search import Search
    from tvmdbg_widgets.analysis.matching import Matching
    from tvmdbg_widgets.analysis.memory_plan import MemoryPlan
    from tvmdbg_widgets.analysis.operators import Operators
    from tvmdbg_widgets.analysis.query.facts import Facts
    from tvmdbg_widgets.analysis.query.selection import Selection
    from tvmdbg_widgets.export.extract import Extracted
    from tvmdbg_widgets.export.model_explorer import ModelExplorer
    from tvmdbg_widgets.export.page.embed import Embed
    from tvmdbg_widgets.export.page.options import Share, Theme
    from tvmdbg_widgets.export.report import BugReport
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.model.findings import Findings
    from tvmdbg_widgets.model.graph import Graph
    from tvmdbg_widgets.model.groups import Groups
    from tvmdbg_widgets.model.health import Health
    from tvmdbg_widgets.model.issues import Issues
    from tvmdbg_widgets.model.parts import Provenance, RunParts
    from tvmdbg_widgets.model.report import Report
    from tvmdbg_widgets.model.tensors import Tensors
    from tvmdbg_widgets.model.timeline import Timeline
    from tvmdbg_widgets.widgets.debugger import Debugger
    from tvmdbg_widgets.widgets.marks import StepLike
    from tvmdbg_widgets.widgets.run_model import RunModel
    from tvmdbg_widgets.widgets.session import Session
    from tvmdbg_widgets.widgets.view import View


class DebugRun:
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

    def __init__(self, parts: RunParts) -> None:
        self.parts = parts
        self._debugger: Debugger | None = None
        self._search: Search | None = None
        self._lock = threading.Lock()

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

    def check(self) -> Issues:
        """Return everything that disagrees, is damaged or is uncertain in this run."""
        return self._issues

    @cached_property
    def _issues(self) -> Issues:
        from tvmdbg_widgets.analysis.check import check

        return check(self.parts)

    @cached_property
    def groups(self) -> Groups:
        """Nested groups of nodes: repeated blocks by their structure, scopes where names have them.

        ::

            run.groups.find("residual block")[0].nodes

        Raises
        ------
        ValueError
            The run has no graph.
        """
        from tvmdbg_widgets.analysis.blocks import groups

        return groups(self._known_graph)

    def select(self, query: str) -> Selection:
        """Return the ids of the nodes that a query finds.

        ::

            run.select("time>1ms op:conv shape:*,64,*,*")
            run.session.selected = run.select("conv2d->add->relu")

        The same is understood by the search fields of the views; the whole grammar is in
        ``docs/search.md``.

        Raises
        ------
        QueryError
            The query does not follow the grammar; a ValueError that shows where.
        ValueError
            The run has no graph.
        """
        from tvmdbg_widgets.analysis.query.selection import select

        return select(self.facts, query)

    @cached_property
    def facts(self) -> Facts:
        """What queries look at.

        Raises
        ------
        ValueError
            The run has no graph.
        """
        from tvmdbg_widgets.analysis.query.facts import Facts

        times = None if self.timeline is None else self.timeline.node_ns
        return Facts(self._known_graph, times, lambda: self.groups)

    @property
    def search(self) -> Search:
        """The scan of the tensors and what it found so far; views ask it too."""
        from tvmdbg_widgets.analysis.findings.search import Search

        with self._lock:
            if self._search is None:
                self._search = Search(self.parts)
            return self._search

    def findings(self, progress: bool = True) -> Findings:
        """Return what this run tells of itself, ranked: faults, doubts, costs, notes.

        Reads every tensor once, parameters included; their statistics stay for later. Interrupted,
        it returns what is known so far, with ``complete`` False; called again, it goes on.

        Parameters
        ----------
        progress : bool
            Show a progress bar where it takes longer than a second.
        """
        return self.search.run(progress=progress)

    def health(self, progress: bool = True, executor: Executor | None = None) -> Health:
        """Return how sound each tensor is, in execution order; ``.suspicious`` has the worst first.

        ::

            run.health().suspicious[:5]
            run.health().first_nan

        It rests on the scan of :meth:`findings` and says what they say: whichever is asked first
        reads the tensors, once. Interrupted, it returns what is known so far, with ``complete``
        False; called again, it goes on.

        Parameters
        ----------
        progress : bool
            Show a progress bar where it takes longer than a second.
        executor : concurrent.futures.Executor or None
            Look at several tensors at a time, and send the pieces of large ones there: threads,
            processes, or a Dask client's ``get_executor()``, which must be able to read the files.
        """
        self.search.run(progress=progress, executor=executor)
        return self.search.health(newest=True)

    def report(self, node: int | None = None) -> BugReport:
        """Return Markdown for a bug report: versions, files, findings, checks, and a figure.

        Parameters
        ----------
        node : int or None
            Also all that is known of this node: attributes, inputs, outputs, exact values.

        Raises
        ------
        KeyError, IndexError
            The run has no graph, or that no such node.
        """
        from tvmdbg_widgets.export.report import report

        return report(self, node)

    def memory_plan(self) -> MemoryPlan:
        """Return which entries share memory, how much is in use when, and what makes the peak.

        ::

            run.memory_plan()
            run.memory_plan().peak.entries
            run.memory_plan().entry("conv2d_3").shares

        Raises
        ------
        ValueError
            The run has no graph, or the graph no ``storage_id`` list; tells how to get one.
        """
        return self._memory_plan

    @cached_property
    def _memory_plan(self) -> MemoryPlan:
        from tvmdbg_widgets.analysis.memory_plan import plan_of

        return plan_of(self.parts)

    def table(self) -> Operators:
        """Return every operator with its time, share, shape and dtype, in execution order."""
        from tvmdbg_widgets.analysis.operators import operators

        return operators(self.parts)

    def top(self, k: int = 10) -> Operators:
        """Return the ``k`` operators that take longest."""
        from tvmdbg_widgets.analysis.operators import operators

        return operators(self.parts, top=k)

    def match(self, other: DebugRun | Graph) -> Matching:
        """Match the nodes of this run's graph to those of another run's.

        ::

            matching = run.match(tvmdbg.open("unfused"))
            matching.b_of(12)      # nodes of the other graph that stand for node 12
            matching.only_a        # nodes without a counterpart

        See :func:`tvmdbg_widgets.analysis.matching.match` for what a match rests on.

        Raises
        ------
        ValueError
            One of them has no graph.
        """
        from tvmdbg_widgets.analysis.compare import graphs_of
        from tvmdbg_widgets.analysis.matching import match

        return match(*graphs_of(self, other))

    def summary(self) -> str:
        """Return the run in some lines of text: what there is, what it took, what is doubtful."""
        from tvmdbg_widgets.analysis.summary import summary

        return summary(self.parts)

    def extract(
        self,
        nodes: Iterable[int],
        path: str | os.PathLike[str],
        *,
        hops: int = 0,
        parameters: bool = False,
    ) -> Extracted:
        """Write some nodes as a small dump of their own, to attach to an issue.

        What they read from outside become its inputs; see
        :func:`tvmdbg_widgets.export.extract.extract`.
        """
        from tvmdbg_widgets.export.extract import extract

        return extract(self.parts, nodes, path, hops=hops, parameters=parameters)

    def to_dataframe(self) -> Any:
        """Return :meth:`table` as a ``pandas.DataFrame``; ImportError without pandas."""
        return self.table().to_dataframe()

    @cached_property
    def ir(self) -> Mapping[str, str]:
        """Texts of the module at stages of the compiler, by name; empty where none were kept."""
        from tvmdbg_widgets.formats.recording.ir import ir_text

        return {name: ir_text(source) for name, source in self.parts.ir.items()}

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Save the run as a folder that opens as the same run, to keep or to pass on.

        The files it was opened from are copied byte for byte, without the paths of this machine;
        beside them stands what is known beyond them (``docs/recording.md``).

        Parameters
        ----------
        folder
            Must not exist, or be empty.

        Raises
        ------
        FileExistsError
            There is something already.
        FormatError
            A file of the run changed since it was opened.
        """
        from tvmdbg_widgets.formats.recording.writer import write_recording

        return write_recording(self.parts, folder)

    @cached_property
    def model(self) -> RunModel:
        """The widget model that answers the views of this run."""
        from tvmdbg_widgets.widgets.run_model import RunModel

        return RunModel(self)

    @cached_property
    def session(self) -> Session:
        """The shared state of this run's views, unless a view is given another one."""
        from tvmdbg_widgets.widgets.session import Session

        return Session(self)

    def debugger(self) -> Debugger:
        """Return the linked views of this run; one and the same for the run's own session."""
        from tvmdbg_widgets.widgets.debugger import Debugger

        if self._debugger is None or self._debugger.comm is None:
            self._debugger = Debugger(self)
        return self._debugger

    def tour(self, steps: Iterable[StepLike]) -> Debugger:
        """Return the linked views with a tour through this run, at its first step.

        Each step says something in plain text and selects what it speaks of, in all views of
        the run's session. Readers step by buttons and keys, in a page without kernel too::

            run.tour([
                (38, "The first Inf is born here …"),
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
            A step that says nothing, or names what the run does not have; tells which step.
        """
        from tvmdbg_widgets.widgets.marks import checked_tour

        found = checked_tour(self, steps)
        if not found:
            raise ValueError('a tour has at least one step: run.tour([(38, "The first Inf.")])')
        self.session.tour_step = None
        self.session.tour = found
        self.session.tour_step = 0
        return self.debugger()

    @property
    def known_findings(self) -> Findings | None:
        """The findings once :meth:`findings` or a view has found all; None before."""
        with self._lock:
            known = None if self._search is None else self._search.latest
        return known if known is not None and known.complete else None

    def figure(
        self,
        view: str = "debugger",
        *,
        width: float = 720,
        theme: str = "light",
        **options: Any,
    ) -> Figure:
        """Return a view of this run as a figure for a paper, a slide or a page.

        ::

            run.figure("graph", width=1000, direction="right").save("graph.svg")
            run.figure("tensor", entry=(38, 0), color_scale="symlog").save("conv.png", scale=3)

        Parameters
        ----------
        view : str
            ``"graph"``, ``"tensor"``, ``"timeline"``, ``"memory"``, or ``"debugger"``: the first
            three, and the findings once they are known. A graph of more than 300 nodes, parameters
            not counted, is condensed to groups.
        width : float
            px, 300 to 2000.
        theme : str
            ``"light"``, ``"dark"``, or ``"auto"``: dark where the reader prefers it, which
            browsers follow; a PNG of it is light.
        **options
            As the view takes them: ``color_by``, ``direction``, ``focus``, ``hops``, ``search``,
            ``fold_parameters`` (graph); ``entry``, ``axes``, ``index``, ``color_scale``,
            ``color_map``, ``color_range``, ``cells``, ``data_layout``, ``data_sizes``, ``reading``,
            ``show``, ``along``, ``region`` (tensor, see :class:`TensorInspector`); ``show``,
            ``sort``, ``time_range`` (timeline); ``parameters``, ``color_by``, ``step_range``
            (memory, see :class:`MemoryView`);
            ``selected``: node ids to be marked (graph, timeline and memory); ``tensor_show``, the
            tensor's ``show``, and ``collapsed``: views to be left out (debugger).

        Raises
        ------
        ValueError
            No such view or theme, or a value out of range; the message lists what there is.
        TypeError
            The view has no such option.
        """
        from tvmdbg_widgets.figures.choose import figure_of

        known = self.known_findings if view == "debugger" else None
        return figure_of(self, view, width=width, theme=theme, options=options, findings=known)

    def to_networkx(self, nodes: Any = None, *, control: bool = False) -> nx.MultiDiGraph[int]:
        """Return the graph for networkx, with times and groups of the nodes.

        As :meth:`tvmdbg_widgets.model.graph.Graph.to_networkx`; nodes also have ``time_ns``, None
        where unknown, and ``groups``, ids of the groups around them, the outermost first.

        Parameters
        ----------
        nodes
            As of :meth:`to_dot`.
        control : bool
            Also control dependencies, as edges of key ``"control"``.

        Raises
        ------
        ValueError
            The run has no graph.
        """
        from tvmdbg_widgets.analysis.as_networkx import as_networkx
        from tvmdbg_widgets.export.nodes import part

        chosen = part(self._known_graph, nodes)
        return as_networkx(chosen, self.timeline, self.groups, control=control)

    def to_dot(
        self,
        nodes: Any = None,
        *,
        color_by: Any = "kind",
        fold_parameters: bool = True,
        grouped: bool = True,
        edge_labels: bool = True,
        direction: str = "down",
    ) -> str:
        """Return the graph in the DOT language of Graphviz.

        ::

            Path("net.dot").write_text(run.to_dot())
            run.to_dot(run.select("op:conv"), color_by="time")

        Parameters
        ----------
        nodes : Selection, Subgraph, Group, or iterable of int, optional
            What of the graph; all where left out.
        color_by
            As of ``GraphView``: a name, or data for each node or entry. None for no colours.
        fold_parameters : bool
            Write parameters as a count on what reads them.
        grouped : bool
            Draw :attr:`groups` as clusters.
        edge_labels : bool
            Say dtype and shape at each edge.
        direction : str
            ``"down"`` or ``"right"``.

        Raises
        ------
        ValueError, TypeError, KeyError, IndexError
            The run has no graph, or that no such nodes; no such colours or direction.
        """
        from tvmdbg_widgets.export.dot import dot

        return dot(
            self,
            self._known_graph,
            nodes,
            color_by=color_by,
            fold_parameters=fold_parameters,
            grouped=grouped,
            edge_labels=edge_labels,
            direction=direction,
        )

    def to_model_explorer(
        self, nodes: Any = None, *, node_data: Iterable[Any] | None = None
    ) -> ModelExplorer:
        """Return the graph for Model Explorer, with data on its nodes.

        ::

            run.to_model_explorer(node_data=["time", "health"]).save("net.json")

        :attr:`groups` become layers; shapes, dtypes, storage, times and attributes stand at the
        nodes. In Model Explorer open ``net.json``, then load ``net.time.json`` as node data.

        Parameters
        ----------
        nodes
            As of :meth:`to_dot`.
        node_data : iterable, optional
            Each as ``color_by`` of :meth:`to_dot`; ``["time"]`` where left out and times are
            known.

        Raises
        ------
        ValueError, TypeError, KeyError, IndexError
            As of :meth:`to_dot`.
        """
        from tvmdbg_widgets.export.model_explorer import model_explorer

        if node_data is None:
            node_data = () if self.timeline is None else ("time",)
        return model_explorer(self, self._known_graph, nodes, node_data=node_data)

    @property
    def _known_graph(self) -> Graph:
        from tvmdbg_widgets.analysis.summary import HOW_TO_GET

        if self.graph is None:
            raise ValueError(HOW_TO_GET["graph"])
        return self.graph

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        budget: int = 5_000_000,
        share: Share = "pictures",
        parameters: bool = False,
        title: str | None = None,
        theme: Theme = "auto",
        node: int | str | None = None,
        view: str | None = None,
        of: View | None = None,
    ) -> Path:
        """Write the linked views as one HTML file that works offline, without a kernel.

        ::

            run.save_html("slow.html", node="conv2d_3", view="tensor")

        A part of the address after ``#`` leads to what is selected: ``#node=12&view=tensor``,
        ``#node=conv2d_3``, ``entry=12,1``, ``slice=12,3``, ``time=0,2500`` (ns), ``step=0``
        (of the tour). Saving twice gives the same bytes.

        Parameters
        ----------
        path : path-like
            Ends in ``.html`` or ``.htm``; replaced whole or not at all.
        budget : int
            Bytes that the file should not exceed. Graph, times and exact statistics of every
            tensor come first, then pictures and values by importance; the page says what was
            left out.
        share : str
            What of the values of activations goes along: ``"statistics"`` alone, reduced
            ``"pictures"``, or whole ``"tensors"`` as far as the budget reaches.
        parameters : bool
            Whether values of parameters go along, too.
        title : str, optional
            The run's where left out.
        theme : str
            ``"auto"`` follows the system; ``"light"`` or ``"dark"``.
        node : int, str, optional
            Id or name of the node that is selected first; the session's where left out.
        view : str, optional
            ``"graph"``, ``"tensor"``, ``"timeline"`` or ``"findings"``: where the reader starts.
        of : View, optional
            The view to save; :meth:`debugger` where left out.

        Returns
        -------
        Path
            Of the file.

        Raises
        ------
        ValueError
            Another ending, or an option out of range.
        KeyError, IndexError
            The run does not have the node.
        OSError
            The folder is missing or cannot be written to.
        """
        from tvmdbg_widgets.export.page.options import Options
        from tvmdbg_widgets.export.page.save import save_page

        options = Options(
            budget=budget,
            share=share,
            parameters=parameters,
            title=title,
            theme=theme,
            node=node,
            view=view,
        )
        return save_page(of or self.debugger(), path, options)

    def embed(
        self,
        height: int | None = None,
        *,
        budget: int = 450_000,
        share: Share = "pictures",
        parameters: bool = False,
        title: str | None = None,
        theme: Theme = "auto",
        node: int | str | None = None,
        view: str | None = None,
        of: View | None = None,
    ) -> Embed:
        """Return the linked views as a frame for a converted notebook or a documentation page.

        At the end of a cell it stays interactive in ``jupyter nbconvert --to html`` and in
        Sphinx, without a kernel and without the network.

        Parameters
        ----------
        height : int, optional
            CSS pixels of the frame; what the view takes where left out.
        budget, share, parameters, title, theme, node, view, of
            As of :meth:`save_html`.
        """
        from tvmdbg_widgets.export.page.embed import embed
        from tvmdbg_widgets.export.page.options import Options

        options = Options(
            budget=budget,
            share=share,
            parameters=parameters,
            title=title,
            theme=theme,
            node=node,
            view=view,
        )
        return embed(of or self.debugger(), height, options)

    def __dir__(self) -> list[str]:
        """Offer what users need; inner names work all the same."""
        return sorted({*super().__dir__()} - {"facts", "known_findings", "model", "search"})

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.debugger()._repr_mimebundle_(**kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return DebugRun, (self.parts,)

    def __repr__(self) -> str:
        parts = [self.parts.graph, self.parts.tensors, self.parts.timeline, *self.parts.reports]
        told = [repr(part).splitlines()[0] for part in parts if part is not None]
        return "\n  ".join(
            [f"DebugRun {self.title!r} (format of {self.provenance.releases})", *told]
        )


def compare(a: DebugRun, b: DebugRun) -> Comparison:
    """Compare two runs of one network: what differs between their graphs, and both times.

    ::

        comparison = tvmdbg.compare(tvmdbg.open("plain"), tvmdbg.open("unfused"))
        comparison                     # ranked and grouped by kind
        comparison.matching.b_of(12)
        tvmdbg.ComparisonView(a, b)    # side by side, linked

    Times are two numbers; whether they differ by more than noise is not said here.

    Raises
    ------
    ValueError
        One of them has no graph.
    TypeError
        One of them is no run.
    """
    from tvmdbg_widgets.analysis.compare import compare as of_parts

    for run in (a, b):
        if not isinstance(run, DebugRun):
            problem = f"runs are compared, not {type(run).__name__}: pass tvmdbg_widgets.open(path)"
            raise TypeError(problem)
    return of_parts(a.parts, b.parts)
