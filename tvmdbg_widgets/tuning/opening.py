"""Open a tuning log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources_given import SourceLike
    from tvmdbg_widgets.tuning.log import TuningLog


def open_tuning(source: SourceLike, *more: SourceLike) -> TuningLog:
    """Open one or several logs of one tuning as one."""
    raise NotImplementedError
