"""What a run answers of its times."""

from __future__ import annotations

from tvmdbg_widgets.analysis.derived.questions import Questions
from tvmdbg_widgets.analysis.timeline.counters import RunCounters
from tvmdbg_widgets.analysis.timeline.merged import CallTree
from tvmdbg_widgets.analysis.timeline.repeat_matrix import RepeatMatrix
from tvmdbg_widgets.analysis.times.area import Area
from tvmdbg_widgets.analysis.times.table import TimeTable


class Timing(Questions):
    """Questions about slices, repeats and counters."""

    def times(
        self,
        by: str = "node",
        within: tuple[float, float] | None = None,
        level: int | None = None,
    ) -> TimeTable:
        """Return times summed up by one thing, the largest first.

        ::

            run.times(by="kind")
            run.times(by="part")            # "layout_transform: 9 %"; shares of parts overlap
            run.times(by="group", level=1).to_dataframe()
            run.times(by="module")          # of an ETRecord's edge graph

        Every slice counts with the time during which no slice inside it runs, so that nothing is
        counted twice; the time of a fused function is never split among its parts.

        Parameters
        ----------
        by : str
            ``"node"``, ``"kind"`` (of operator), ``"part"`` (every operator in the name of a fused
            function), ``"group"`` (of :attr:`groups`), ``"module"`` (``nn_module_stack``; of
            operators that ran as one the innermost that holds all), ``"device"``, ``"name"`` or
            ``"callers"`` (name and slice around it).
        within : (float, float) or None
            A range in nanoseconds of the timeline; all of it where None.
        level : int, optional
            Of groups and modules: 0 the outermost, 1 those inside them, …; -1 the innermost. By
            default groups are the outermost, modules the innermost.

        Raises
        ------
        ValueError
            The run has no times, ``by`` or ``within`` is none of these, groups are wanted of a run
            without a graph, or modules of one that does not tell them.
        """
        from tvmdbg_widgets.analysis.times.sums import times

        return times(self.parts, lambda: self.groups, by, within, level)

    def area(self, start: float, end: float) -> Area:
        """Return what runs in a range of time: counts, sums, durations, how busy each track is.

        ::

            area = run.area(1e6, 2.5e6)
            area.p90, area.tracks[0].busy
            area.by("kind")

        Parameters
        ----------
        start, end : float
            Nanoseconds of the timeline.

        Raises
        ------
        ValueError
            The run has no times, or ``start`` is not before ``end``.
        """
        from tvmdbg_widgets.analysis.times.area import area

        return area(self.parts, lambda: self.groups, start, end)

    def merged(self, within: tuple[float, float] | None = None) -> CallTree:
        """Return the slices merged by their path from the top, the heaviest first.

        ::

            run.merged()
            run.merged().to_dataframe()

        Where no slice lies in another the path of a node is that of the :attr:`groups` around it.

        Parameters
        ----------
        within : (float, float) or None
            A range in nanoseconds; all time where None.

        Raises
        ------
        ValueError
            The run has no times, or ``within`` is no range.
        """
        from tvmdbg_widgets.analysis.timeline.merged import merged

        return merged(self.parts, lambda: self.groups, within)

    def callers(self, name: str) -> CallTree:
        """Return what is around the slices of a name: what called them, what called that, ….

        ::

            run.callers("memcpy")

        Raises
        ------
        KeyError
            No slice has this name; tells close ones.
        ValueError
            The run has no times.
        """
        from tvmdbg_widgets.analysis.timeline.merged import callers

        return callers(self.parts, lambda: self.groups, name)

    def repeats(self) -> RepeatMatrix:
        """Return the measured repeats of every operator, where warm-up and noise are seen.

        ::

            run.repeats().totals            # by repeat
            run.repeats().relative          # each over the median of its operator
            run.repeats().steady()          # without the repeats that are warm-up
            run.repeats().folded()          # p10, median and p90 of each

        Raises
        ------
        ValueError
            The run has no repeats; tells how to get them.
        """
        from tvmdbg_widgets.analysis.timeline.repeat_matrix import repeat_matrix

        return repeat_matrix(self.parts)

    def counters(self) -> RunCounters:
        """Return what varies along the timeline: memory in use, counters of a trace.

        ::

            run.counters()["memory in use"].at(2.5e6)

        Raises
        ------
        ValueError
            The run has no times.
        """
        from tvmdbg_widgets.analysis.timeline.counters import counters

        return counters(self.parts, self.memory_plan)
