"""What the rooms of a run share."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tvmdbg_widgets.analysis.derived.derived import Derived

if TYPE_CHECKING:
    from tvmdbg_widgets.run.debug_run import DebugRun


class Whole(Derived):
    """The derived facts of a run, and the run itself."""

    @property
    def _whole(self) -> DebugRun:
        """The run that this is a part of, as other folders take it."""
        return cast("DebugRun", self)
