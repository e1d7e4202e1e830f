"""What a run writes, and hands to other programs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.widgets.shown_run import ShownRun

if TYPE_CHECKING:
    import networkx as nx

    from tvmdbg_widgets.export.extract import Extracted
    from tvmdbg_widgets.export.model_explorer import ModelExplorer
    from tvmdbg_widgets.export.report import BugReport


class Files(ShownRun):
    """What is written of a run, or handed to other programs."""

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Save the run as a folder that opens as the same run, to keep or to pass on.

        The files it was opened from are copied byte for byte, without the paths of this machine;
        beside them stands what is known beyond them (``docs/recording.md``).

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

        return write_recording(self.parts, folder)

    def to_chrome_trace(self, path: str | os.PathLike[str]) -> Path:
        """Write the timeline as a Chrome trace in JSON, which Perfetto and others open.

        ::

            run.to_chrome_trace("trace.json")  # then "Open trace file" in ui.perfetto.dev

        Times are exact to the last digit. Tracks become threads of a process a device; slices that
        overlap others stand on threads of their own, since other programs drop them. A slice tells
        its node, op kind, trust and occurrence. Opened again it is the same timeline, but that
        slices are joined to nodes by name.

        Parameters
        ----------
        path
            Must end in ``.json``; appears when all is written.

        Raises
        ------
        ValueError
            The run has no times, or the path another ending.
        """
        from tvmdbg_widgets.analysis.summary import how_to_get
        from tvmdbg_widgets.export.chrome_trace import write_chrome_trace

        if self.timeline is None:
            raise ValueError(how_to_get("timeline", self.parts))
        return write_chrome_trace(self.timeline, self.graph, path, title=self.title)

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
            node = self._known_graph.node(node).id
        return report(self, node)

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
            As of ``GraphView``: a name, or data for each node or entry. None for no colors; there
            are none either, and a warning says why, where no JavaScript engine is available.
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
            The run has no graph, or that no such nodes; no such colors or direction.
        """
        from tvmdbg_widgets.export.nodes import dot

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
            known. Left out with a warning where no JavaScript engine is available.

        Raises
        ------
        ValueError, TypeError, KeyError, IndexError
            As of :meth:`to_dot`.
        """
        from tvmdbg_widgets.export.model_explorer import model_explorer

        if node_data is None:
            node_data = () if self.timeline is None else ("time",)
        return model_explorer(self, self._known_graph, nodes, node_data=node_data)
