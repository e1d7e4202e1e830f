"""``DebugHandleMap``: a delegate debug map over the graph it was made for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.executorch.handle_coverage import (
        HandleCoverage,
        HandledOperator,
        Identifier,
    )
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.graph.node_columns import NodeColumn
    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.widgets.graph import GraphView

#: Name of the column that colors the graph.
COLUMN = "identifier"
_UNCOVERED = "not mapped"


class DebugHandleMap(Mapping["Identifier", "tuple[int, ...]"]):
    """A delegate debug map: debug handles by delegate debug identifier.

    At the end of a notebook cell it shows the graph, colored by the identifiers of operators,
    or a table if the graph is unknown.

    ::

        DebugHandleMap({0: (10, 11), 1: (11, 12)}, program)
        DebugHandleMap(record.delegate_map["forward"]["2"], record)

    Parameters
    ----------
    mapping : mapping, or an object with one, or None
        As of :func:`tvmdbg_widgets.analysis.executorch.handle_coverage.handle_coverage`.
    graph : DebugRun, Graph, ExportedProgram, ETRecord, or an object with ``.graph.nodes``, optional
        What the handles are of. Of an ETRecord it is the edge program, of several that named
        ``"forward"``. A graph of torch.fx is listed, but cannot be drawn.
    call_handles : iterable of int, optional
        Handles of the delegate's call (in an ETRecord's ``debug_handle_map``): only operators with
        one of them count.

    Raises
    ------
    TypeError
        A mapping or graph that is none of these.
    ValueError
        An ETRecord with several edge programs of which none is ``"forward"``, or with none.
    """

    def __init__(
        self, mapping: Any, graph: Any = None, *, call_handles: Iterable[int] | None = None
    ) -> None:
        from tvmdbg_widgets.analysis.executorch.handle_coverage import handle_coverage

        self._run, nodes = _run_and_nodes(graph)
        self._coverage = handle_coverage(mapping, nodes, call_handles)

    def __getitem__(self, identifier: Identifier) -> tuple[int, ...]:
        return self._coverage.identifiers[identifier]

    def __iter__(self) -> Iterator[Identifier]:
        return iter(self._coverage.identifiers)

    def __len__(self) -> int:
        return len(self._coverage.identifiers)

    @property
    def covered(self) -> tuple[HandledOperator, ...]:
        """Operators with an identifier."""
        return self._coverage.covered

    @property
    def uncovered(self) -> tuple[HandledOperator, ...]:
        """Operators without an identifier."""
        return self._coverage.uncovered

    @property
    def shared(self) -> tuple[HandledOperator, ...]:
        """Operators with several identifiers."""
        return self._coverage.shared

    def table(self) -> HandleCoverage:
        """Return identifiers with handles and operators, and handles without operators."""
        return self._coverage

    def to_dataframe(self) -> Any:
        """Return one row per operator as a ``pandas.DataFrame``: name, handles, identifiers."""
        return self._coverage.to_dataframe()

    def view(self, **traits: Any) -> GraphView:
        """Return the graph, colored and labelled by the identifiers of operators.

        Parameters
        ----------
        **traits
            As of :class:`tvmdbg_widgets.GraphView`.

        Raises
        ------
        ValueError
            No graph was given, or one that cannot be drawn.
        """
        from tvmdbg_widgets.widgets.graph import GraphView

        run = self._run
        if run is None or run.graph is None:
            raise ValueError(
                "there is no graph to draw; give a run, an ExportedProgram or an ETRecord: "
                "DebugHandleMap(mapping, record)"
            )
        shown: dict[str, Any] = {"color_by": self._column(run.graph), "label": "{name}\n{value}"}
        return GraphView(run, **shown | traits)

    @cached_property
    def _shown(self) -> GraphView | None:
        return None if self._run is None or self._run.graph is None else self.view()

    def _column(self, graph: Graph) -> NodeColumn:
        from tvmdbg_widgets.model.graph.node_columns import classed

        texts: list[str | None] = [None] * graph.num_nodes
        for operator in self._coverage.operators:
            texts[operator.position] = ", ".join(map(str, operator.identifiers)) or _UNCOVERED
        return classed(COLUMN, "nodes", texts, note="inputs, and operators that no delegate covers")

    def __repr__(self) -> str:
        return f"DebugHandleMap: {self._coverage!r}"

    def _repr_html_(self) -> str:
        return self._coverage._repr_html_()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self._shown is None:
            return {"text/plain": repr(self), "text/html": self._repr_html_()}
        return self._shown._repr_mimebundle_(**kwargs)

    def _ipython_display_(self) -> None:
        if self._shown is None:
            raise NotImplementedError
        self._shown._ipython_display_()


def _run_and_nodes(graph: Any) -> tuple[DebugRun | None, Any]:
    """Return a run if the graph can be drawn, and the nodes with the operators."""
    from tvmdbg_widgets.formats.executorch.exported_program import graph_of
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.run import DebugRun

    if graph is None:
        return None, None
    if isinstance(graph, DebugRun):
        return graph, graph.graph
    title = "delegate debug map"
    if isinstance(graph, ETRecord):
        title, graph = Path(graph.file).name, _program(graph)
    if isinstance(graph, ExportedProgram):
        graph = graph_of(graph, file=graph.name)
    if isinstance(graph, Graph):
        return DebugRun(RunParts(title, graph)), graph
    nodes = getattr(getattr(graph, "graph", graph), "nodes", None)
    if nodes is None:
        raise TypeError(
            "graph is a run, a Graph, an ExportedProgram, an ETRecord or what has .graph.nodes, "
            f"found {type(graph).__name__}"
        )
    return None, nodes


def _program(record: ETRecord) -> ExportedProgram:
    """Return the edge program named "forward", or the only one."""
    programs = record.edge_programs
    method = next(iter(programs)) if len(programs) == 1 else "forward"
    if method not in programs:
        from tvmdbg_widgets.model.base.text import listed

        methods = listed([*map(repr, programs)]) or "none"
        raise ValueError(
            f"{record.file}: which edge program is meant? there are {methods}; "
            "give record.edge_programs[method]"
        )
    return programs[method]
