"""One run as the user holds it: graph, tensors, timeline, and every question about them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.operators import Operators
    from tvmdbg_widgets.model.graph import Graph
    from tvmdbg_widgets.model.issues import Issues
    from tvmdbg_widgets.model.parts import Provenance, RunParts
    from tvmdbg_widgets.model.tensors import Tensors
    from tvmdbg_widgets.model.timeline import Timeline
    from tvmdbg_widgets.widgets.debugger import Debugger
    from tvmdbg_widgets.widgets.run_model import RunModel
    from tvmdbg_widgets.widgets.session import Session


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
    provenance : Provenance
        What wrote the files, by the evidence in them.
    title : str
    parts : RunParts
        The same, as functions of :mod:`tvmdbg_widgets.analysis` take them.
    """

    def __init__(self, parts: RunParts) -> None:
        self.parts = parts
        self._debugger: Debugger | None = None

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

    def table(self) -> Operators:
        """Return every operator with its time, share, shape and dtype, in execution order."""
        from tvmdbg_widgets.analysis.operators import operators

        return operators(self.parts)

    def top(self, k: int = 10) -> Operators:
        """Return the ``k`` operators that take longest."""
        from tvmdbg_widgets.analysis.operators import operators

        return operators(self.parts, top=k)

    def summary(self) -> str:
        """Return the run in some lines of text: what there is, what it took, what is doubtful."""
        from tvmdbg_widgets.analysis.summary import summary

        return summary(self.parts)

    def to_dataframe(self) -> Any:
        """Return :meth:`table` as a ``pandas.DataFrame``; ImportError without pandas."""
        return self.table().to_dataframe()

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

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.debugger()._repr_mimebundle_(**kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return DebugRun, (self.parts,)

    def __repr__(self) -> str:
        parts = [self.parts.graph, self.parts.tensors, self.parts.timeline]
        told = [repr(part).splitlines()[0] for part in parts if part is not None]
        return "\n  ".join(
            [f"DebugRun {self.title!r} (format of {self.provenance.releases})", *told]
        )
