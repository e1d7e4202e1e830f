"""Views, figures, pages and exported files of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.summary import how_to_get

if TYPE_CHECKING:
    import networkx as nx

    from tvmdbg_widgets.export.extract import Extracted
    from tvmdbg_widgets.export.model_explorer import ModelExplorer
    from tvmdbg_widgets.export.page.options import Share, Theme
    from tvmdbg_widgets.export.page.save import Embed
    from tvmdbg_widgets.export.report import BugReport
    from tvmdbg_widgets.figures.raster import Figure
    from tvmdbg_widgets.widgets.debugger import Debugger
    from tvmdbg_widgets.widgets.view import View


class RunFiles:
    """Live views, figures and pages of a run, and its files for other programs."""

    facts: RunFacts
    _debugger: Debugger | None = None

    def debugger(self) -> Debugger:
        """Return the linked views of this run, always the same ones until they are closed."""
        from tvmdbg_widgets.widgets.debugger import Debugger

        if self._debugger is None or not self._has_debugger:
            self._debugger = Debugger(self)
        return self._debugger

    @property
    def _has_debugger(self) -> bool:
        """Whether linked views exist and are open."""
        return self._debugger is not None and self._debugger.comm is not None

    def figure(
        self, view: str = "debugger", *, width: float = 720, theme: str = "light", **options: Any
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

        return figure_of(self.facts, view, width=width, theme=theme, **options)

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

        The part of the address after ``#`` selects: ``#node=12&view=tensor``, ``#node=conv2d_3``,
        ``entry=12,1``, ``slice=12,3``, ``time=0,2500`` (ns), ``step=0`` (of the tour). Saving
        twice gives the same bytes.

        Parameters
        ----------
        path : path-like
            Ends in ``.html`` or ``.htm``; replaced atomically.
        budget : int
            Bytes that the file should not exceed. Graph, times and exact statistics of every
            tensor come first, then pictures and values by importance; the page says what was
            left out.
        share : str
            What of the values of activations goes along: ``"statistics"`` alone, reduced
            ``"pictures"``, or full ``"tensors"`` as far as the budget reaches.
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
        from tvmdbg_widgets.export.page.options import PageOptions
        from tvmdbg_widgets.export.page.save import save_page

        look: dict[str, Any] = {"title": title, "theme": theme, "node": node, "view": view}
        options = PageOptions(budget=budget, share=share, parameters=parameters, **look)
        with self._view_of_page(of) as shown:
            return save_page(shown, path, options)

    def embed(
        self,
        height: int | None = None,
        *,
        budget: int = 560_000,
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
        from tvmdbg_widgets.export.page.options import PageOptions
        from tvmdbg_widgets.export.page.save import embed

        look: dict[str, Any] = {"title": title, "theme": theme, "node": node, "view": view}
        options = PageOptions(budget=budget, share=share, parameters=parameters, **look)
        with self._view_of_page(of) as shown:
            return embed(shown, height, options)

    @contextmanager
    def _view_of_page(self, of: View | None) -> Iterator[View]:
        """Yield the view to write; one made only for the page is closed afterwards."""
        if of is not None or self._has_debugger:
            yield of or self.debugger()
            return
        made = self.debugger()
        try:
            yield made
        finally:
            made.close()

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Save the run as a folder that opens as the same run, to keep or to pass on.

        The files it was opened from are copied byte for byte, without the paths of this machine;
        facts that files do not hold are written beside them (``docs/recording.md``).

        Parameters
        ----------
        folder
            Must not exist, or be empty; a link is followed.

        Raises
        ------
        ValueError
            The run is a part of another one, as a delegate is, and has no files of its own.
        FileExistsError
            There is something already.
        FormatError
            A file of the run changed since it was opened.
        """
        from tvmdbg_widgets.formats.writer import write_recording

        return write_recording(self.facts.parts, folder)

    def to_chrome_trace(self, path: str | os.PathLike[str]) -> Path:
        """Write the timeline as a Chrome trace in JSON, which Perfetto and others open.

        ::

            run.to_chrome_trace("trace.json")  # then "Open trace file" in ui.perfetto.dev

        Times are exact to the last digit. A device is a process and a track a thread; overlapping
        slices get threads of their own, since other programs drop them. Slices have node, op
        kind, match quality and occurrence. Opened again, the file gives the same timeline, with
        slices joined to nodes by name.

        Parameters
        ----------
        path
            Must end in ``.json``; appears when all is written.

        Raises
        ------
        ValueError
            The run has no times, or the path another ending.
        """
        from tvmdbg_widgets.export.chrome_trace import write_chrome_trace

        if self.facts.timeline is None:
            raise ValueError(how_to_get("timeline", self.facts.parts))
        return write_chrome_trace(
            self.facts.timeline, self.facts.graph, path, title=self.facts.title
        )

    def extract(
        self,
        nodes: Iterable[int],
        path: str | os.PathLike[str],
        *,
        hops: int = 0,
        parameters: bool = False,
    ) -> Extracted:
        """Write some nodes as a small dump, to attach to an issue.

        Entries that they read from other nodes become its inputs; see
        :func:`tvmdbg_widgets.export.extract.extract`.
        """
        from tvmdbg_widgets.export.extract import extract

        return extract(self.facts.parts, nodes, path, hops=hops, parameters=parameters)

    def report(self, node: int | str | None = None) -> BugReport:
        """Return Markdown for a bug report: versions, files, findings, checks, and a figure.

        Parameters
        ----------
        node : int, str or None
            Also all that is known of this node, given by id or name: attributes, inputs,
            outputs, exact values.

        Raises
        ------
        KeyError, IndexError
            The run has no graph, or that no such node.
        """
        from tvmdbg_widgets.export.report import report

        if isinstance(node, str):
            node = self.facts.known_graph.node(node).id
        return report(self.facts, node)

    def to_networkx(self, nodes: Any = None, *, control: bool = False) -> nx.MultiDiGraph[int]:
        """Return the graph for networkx, with times and groups of the nodes.

        As :meth:`tvmdbg_widgets.model.graph.graph.Graph.to_networkx`; nodes also have
        ``time_ns``, None where unknown, and ``groups``, ids of the groups around them, the
        outermost first.

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
        from tvmdbg_widgets.analysis.view_columns import as_networkx
        from tvmdbg_widgets.export.nodes import part

        chosen = part(self.facts.known_graph, nodes)
        return as_networkx(chosen, self.facts.timeline, self.facts.groups, control=control)

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
            As of ``GraphView``: a name, or data for each node or entry. None for no colors; there
            are none either, and a warning says why, where no JavaScript engine is available.
        fold_parameters : bool
            Write parameters as a count on what reads them.
        grouped : bool
            Draw :attr:`groups` as clusters.
        edge_labels : bool
            Write dtype and shape at the edges.
        direction : str
            ``"down"`` or ``"right"``.

        Raises
        ------
        ValueError, TypeError, KeyError, IndexError
            The run has no graph, or that no such nodes; no such colors or direction.
        """
        from tvmdbg_widgets.export.dot import dot

        return dot(
            self.facts,
            self.facts.known_graph,
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

        :attr:`groups` become layers; nodes have shapes, dtypes, storage, times and attributes. In
        Model Explorer open ``net.json``, then load ``net.time.json`` as node data.

        Parameters
        ----------
        nodes
            As of :meth:`to_dot`.
        node_data : iterable, optional
            Each as ``color_by`` of :meth:`to_dot`; ``["time"]`` where left out and times are
            known. Left out with a warning where no JavaScript engine is available.

        Raises
        ------
        ValueError, TypeError, KeyError, IndexError
            As of :meth:`to_dot`.
        """
        from tvmdbg_widgets.export.model_explorer import model_explorer

        if node_data is None:
            node_data = () if self.facts.timeline is None else ("time",)
        return model_explorer(self.facts, self.facts.known_graph, nodes, node_data=node_data)
