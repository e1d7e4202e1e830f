"""A run as its views take it: derived facts, and what all its views share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, ClassVar

from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.parts import Provenance, RunParts
from tvmdbg_widgets.widgets.run_model import RunModel
from tvmdbg_widgets.widgets.session import Session


class ShownRun(Derived, ABC):
    """A run that views show; :class:`tvmdbg_widgets.DebugRun` is one."""

    #: The class that users hold, which makes a run of a graph alone.
    opened: ClassVar[type[Any] | None] = None

    @classmethod
    def of_graph(cls, graph: Graph) -> Any:
        """Return a run of nothing but a graph; None before any run was opened."""
        title, origin = PurePath(graph.file).name or "graph", Provenance("a graph alone")
        parts = RunParts(title, graph, None, None, graph.issues, origin)
        return cls.opened and cls.opened(parts)

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

    @property
    @abstractmethod
    def inspector(self) -> Any:
        """The events of ExecuTorch's ETDump."""

    @abstractmethod
    def compare_times(self, *args: Any, **kwargs: Any) -> TimeComparison:
        """Compare the times of this run and another."""

    @abstractmethod
    def save_html(self, *args: Any, **kwargs: Any) -> Path:
        """Write a view, ``of``, as a page."""

    @abstractmethod
    def embed(self, *args: Any, **kwargs: Any) -> Any:
        """Return a view, ``of``, as a frame."""
