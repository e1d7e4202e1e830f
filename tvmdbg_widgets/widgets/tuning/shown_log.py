"""A tuning log as its view takes it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.tuning.derived.derived import DerivedLog

if TYPE_CHECKING:
    from pathlib import Path


class ShownLog(DerivedLog, ABC):
    """A tuning log that a view shows; :class:`tvmdbg_widgets.TuningLog` is one."""

    @abstractmethod
    def save_html(self, *args: Any, **kwargs: Any) -> Path:
        """Write a view, ``of``, as a page."""
