"""Schedules: steps in words, loop nests, and two compared."""

from __future__ import annotations

from tvmdbg_widgets.tuning.recorded import Recorded


class Schedules(Recorded):
    """Schedules."""
