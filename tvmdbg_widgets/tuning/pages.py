"""What is shown of a log: its view, its figure, its page."""

from __future__ import annotations

from tvmdbg_widgets.tuning.recorded import Recorded


class Pages(Recorded):
    """What is shown of a log."""
