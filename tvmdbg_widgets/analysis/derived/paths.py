"""What a run answers where its graph and its times are seen together."""

from __future__ import annotations

from functools import cached_property

from tvmdbg_widgets.analysis.derived.recorded import Recorded
from tvmdbg_widgets.analysis.timeline.longest_path import CriticalPath
from tvmdbg_widgets.analysis.timeline.roofline import Roofline
from tvmdbg_widgets.analysis.work import Work


class Paths(Recorded):
    """Questions that need a graph and times of its nodes."""

    def critical_path(self) -> CriticalPath:
        """Return the longest path through the graph by the times of its nodes.

        ::

            run.critical_path()
            run.session.selected = run.critical_path().nodes
            GraphView(run, color_by="slack")

        Where nodes ran one after the other its length is no time that was seen, but a lower bound:
        what the run would take at least if branches ran in parallel.

        Raises
        ------
        ValueError
            The run has no graph, or no times of nodes; tells how to get them.
        """
        return self._critical_path

    @cached_property
    def _critical_path(self) -> CriticalPath:
        from tvmdbg_widgets.analysis.timeline.longest_path import critical_path_of

        return critical_path_of(self.parts)

    def work(self) -> Work:
        """Return operations and bytes of each node, counted from the shapes in the graph.

        Raises
        ------
        ValueError
            The run has no graph.
        """
        return self._work

    @cached_property
    def _work(self) -> Work:
        from tvmdbg_widgets.analysis.work import work_of

        return work_of(self.parts)

    def roofline(self, peak_flops: float | None = None, bandwidth: float | None = None) -> Roofline:
        """Return the intensity of each node, and how fast it computed and moved bytes.

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
        from tvmdbg_widgets.analysis.timeline.roofline import roofline_of

        return roofline_of(self.parts, self.work, peak_flops, bandwidth)
