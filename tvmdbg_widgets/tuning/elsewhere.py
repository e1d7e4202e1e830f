"""Measured again on another machine, and compared with it."""

from __future__ import annotations

from tvmdbg_widgets.tuning.recorded import Recorded


class Elsewhere(Recorded):
    """Measured again on another machine, and compared with it."""
