"""What every answer is made with and made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.layouts.layouts import KnownLayout
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.answers.statistics_jobs import StatisticsJobs
from tvmdbg_widgets.engine.columns import pack
from tvmdbg_widgets.model.pictures import Pictures


@dataclass(frozen=True)
class Reply:
    """One answer: a JSON value and the buffers that go with it."""

    result: Any
    buffers: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, answer: str, columns: Mapping[str, Any], info: Any = None) -> Reply:
        """Answer columns, and what is told beside them."""
        headers, buffer = pack(columns, answer)
        return cls({"columns": headers, "info": info}, (buffer,))


@dataclass(frozen=True)
class Context:
    """What an answer is made with."""

    run: Derived
    layouts: Callable[[tuple[int, int]], tuple[KnownLayout, ...]]
    pictures: Pictures
    statistics_jobs: StatisticsJobs
    timeline: KeptTimeline | None
    watch: Callable[[], None]

    @property
    def kept_timeline(self) -> KeptTimeline:
        """The timeline; LookupError where the run has none."""
        if self.timeline is None:
            raise LookupError("this run has no timeline")
        return self.timeline
