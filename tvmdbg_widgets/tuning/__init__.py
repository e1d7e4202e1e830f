"""A tuning log as users hold it."""

from __future__ import annotations

from tvmdbg_widgets.tuning.log import TuningLog as TuningLog
from tvmdbg_widgets.tuning.opening import open_tuning as open_tuning

__all__ = ["TuningLog", "open_tuning"]
