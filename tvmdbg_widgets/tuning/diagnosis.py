"""How the tuning went: curves, rounds, errors, findings."""

from __future__ import annotations

from tvmdbg_widgets.tuning.recorded import Recorded


class Diagnosis(Recorded):
    """How the tuning went."""
