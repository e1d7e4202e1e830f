"""Records: one by one, chosen by query, the best, and written again."""

from __future__ import annotations

from tvmdbg_widgets.tuning.recorded import Recorded


class Records(Recorded):
    """Records."""
