"""Tasks of a log and nodes of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.tuning.derived.diagnosis import Diagnosis

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.analysis.tuning.links import TaskLinks
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.graph.node_columns import NodeColumn


class Linked(Diagnosis):
    """Which nodes of a run were tuned."""

    def link(self, run: Derived) -> TaskLinks:
        """Return which nodes of a run each task tuned, and how sure that is.

        Raises
        ------
        ValueError
            The run has no graph.
        """
        from tvmdbg_widgets.analysis.tuning.links import link_tasks

        return link_tasks(self.parts, _graph_of(run))

    def node_status(self, run: Derived) -> NodeColumn:
        """Return what became of the tuning of each node, for ``GraphView(run, color_by=…)``.

        Tuned, no valid schedule, or fallback where no task stands for a convolution or matrix
        product.
        """
        links = self.link(run)
        return links.status(_graph_of(run), self.task_table())

    def node_gain(self, run: Derived) -> NodeColumn:
        """Return what another round may gain at each node, for ``GraphView(run, color_by=…)``."""
        links = self.link(run)
        return links.gain(_graph_of(run), self.task_table())


def _graph_of(run: Derived) -> Graph:
    if run.graph is None:
        raise ValueError(f"{run.title} has no graph, so no task can be linked to its nodes")
    return run.graph
