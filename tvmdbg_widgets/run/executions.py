"""The files of ExecuTorch that a run was opened from, and its other executions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tvmdbg_widgets.run.whole import Whole

if TYPE_CHECKING:
    from tvmdbg_widgets.run.debug_run import DebugRun
    from tvmdbg_widgets.run.executorch.inspector import Inspector


class Executions(Whole):
    """What ExecuTorch recorded beside the run that is shown."""

    @cached_property
    def inspector(self) -> Inspector:
        """The events of ExecuTorch's ETDump, as its Inspector gives them.

        Raises
        ------
        ValueError
            The run has no ETDump.
        """
        from tvmdbg_widgets.run.executorch.linking import inspector_of

        return inspector_of(self._whole)

    def execution(self, number: int) -> DebugRun:
        """Return the run with the values that another execution of ExecuTorch's logged.

        ::

            tvmdbg.compare(run.execution(0), run.execution(1))

        Parameters
        ----------
        number
            Counted from 0.

        Raises
        ------
        ValueError
            The run is none of ExecuTorch.
        FormatError
            There is no such execution.
        """
        from tvmdbg_widgets.run.executorch.executions import execution_of

        return execution_of(self._whole, number)

    @cached_property
    def reference(self) -> DebugRun:
        """The same graph with the reference outputs of ExecuTorch's ETRecord.

        ::

            tvmdbg.compare(run.reference, run)

        Raises
        ------
        ValueError
            There are none for this execution.
        """
        from tvmdbg_widgets.run.executorch.executions import reference_of

        return reference_of(self._whole)
