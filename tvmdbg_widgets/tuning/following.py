"""A log that grows while tuning runs."""

from __future__ import annotations

from tvmdbg_widgets.tuning.recorded import Recorded


class Following(Recorded):
    """A log that grows while tuning runs."""
