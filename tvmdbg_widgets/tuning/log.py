"""TuningLog: everything one tuning left behind."""

from __future__ import annotations

from tvmdbg_widgets.model.base.slips import public_class
from tvmdbg_widgets.tuning.elsewhere import Elsewhere
from tvmdbg_widgets.tuning.pages import Pages


@public_class
class TuningLog(Elsewhere, Pages):
    """The records of one tuning: tasks, trials, schedules, and every question about them.

    At the end of a notebook cell it shows its view. Made by :func:`tvmdbg_widgets.open` or
    :func:`tvmdbg_widgets.open_tuning`.
    """

    def __repr__(self) -> str:
        from tvmdbg_widgets.analysis.tuning.records.described import described

        return "\n  ".join([f"TuningLog {self.title!r}", *described(self.parts)])
