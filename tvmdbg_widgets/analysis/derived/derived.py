"""All facts about one run that are derived from its parts."""

from __future__ import annotations

from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.analysis.derived.paths import Paths
from tvmdbg_widgets.analysis.derived.scan import Scan
from tvmdbg_widgets.analysis.derived.timing import Timing


class Derived(Timing, Paths, Scan):
    """All facts about one run that are derived from its parts, each counted once and kept.

    Rooms above take this; :class:`tvmdbg_widgets.DebugRun` is one.
    """

    compared: TimeComparison | None = None
