"""What a run answers of its graph and its times."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tvmdbg_widgets.analysis.derived.recorded import Recorded
from tvmdbg_widgets.analysis.executorch.recorded_calls import RecordedCalls
from tvmdbg_widgets.analysis.matching import Matching
from tvmdbg_widgets.analysis.memory.planned import MemoryPlan
from tvmdbg_widgets.analysis.query import Facts
from tvmdbg_widgets.analysis.selection import Selection
from tvmdbg_widgets.analysis.times.operators import Operators
from tvmdbg_widgets.model.base.text import Issues
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups


class Questions(Recorded):
    """Questions that graph and times answer, without the values of tensors."""

    def check(self) -> Issues:
        """Return everything that disagrees, is damaged or is uncertain in this run."""
        return self._issues

    @cached_property
    def _issues(self) -> Issues:
        from tvmdbg_widgets.analysis.summary import check

        return check(self.parts)

    def summary(self) -> str:
        """Return the run in some lines: what there is, what it took, what is questionable."""
        from tvmdbg_widgets.analysis.summary import summary

        return summary(self.parts)

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
        ``docs/queries.md``.

        Raises
        ------
        QueryError
            The query does not follow the grammar; a ValueError that shows where.
        ValueError
            The run has no graph.
        """
        from tvmdbg_widgets.analysis.selection import select

        return select(self.facts, query)

    @cached_property
    def facts(self) -> Facts:
        """What queries look at.

        Raises
        ------
        ValueError
            The run has no graph.
        """
        from tvmdbg_widgets.analysis.query import Facts

        return Facts(self._known_graph, self.timeline, lambda: self.groups)

    def delegate_calls(self) -> RecordedCalls:
        """Return the calls of ExecuTorch's delegates: their events, and the graphs inside.

        ::

            call = run.delegate_calls()[0]
            call.graph  # the delegate's own graph
            call.events[3].delegate_nodes, call.events[3].nodes, call.events[3].match
            call.gaps  # what of its time no event covers
            call.run  # the delegate as a run of its own: linked views, figures, pages

        Raises
        ------
        ValueError
            The run has neither an ETDump nor a program.
        """
        from tvmdbg_widgets.analysis.executorch.calls_of_run import recorded_calls

        files = self.parts.executorch
        if files is None or (files.dump is None and files.program is None):
            raise ValueError("this run has neither an ETDump nor a program: open one of them too")
        return recorded_calls(files)

    def table(self) -> Operators:
        """Return every operator with its time, share, shape and dtype, in execution order."""
        from tvmdbg_widgets.analysis.times.operator_rows import operators

        return operators(self.parts)

    def top(self, k: int = 10) -> Operators:
        """Return the ``k`` operators that take longest."""
        from tvmdbg_widgets.analysis.times.operator_rows import operators

        return operators(self.parts, top=k)

    def to_dataframe(self) -> Any:
        """Return :meth:`table` as a ``pandas.DataFrame``; ImportError without pandas."""
        return self.table().to_dataframe()

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
        from tvmdbg_widgets.analysis.memory.planned import plan_of

        return plan_of(self.parts)

    def match(self, other: Recorded | Graph) -> Matching:
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
