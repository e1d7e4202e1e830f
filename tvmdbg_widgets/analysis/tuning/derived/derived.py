"""All facts about one tuning log that are derived from its parts."""

from __future__ import annotations

from tvmdbg_widgets.analysis.tuning.derived.following import Following
from tvmdbg_widgets.analysis.tuning.derived.linked import Linked
from tvmdbg_widgets.analysis.tuning.derived.records import Records
from tvmdbg_widgets.analysis.tuning.derived.schedules import Schedules


class DerivedLog(Records, Schedules, Linked, Following):
    """All facts about one tuning log; rooms above take it, and ``TuningLog`` is one."""
