"""A pass over one array in slices of time, where no thread can make it beside other work."""

from __future__ import annotations

import time
from functools import partial

from tvmdbg_widgets.model.statistics.passes import Watched, run_pass
from tvmdbg_widgets.model.statistics.pieces import Distinct, every
from tvmdbg_widgets.model.statistics.result import Statistics
from tvmdbg_widgets.model.statistics.tallies import tally
from tvmdbg_widgets.model.tensors.array_values import ArrayValues


class TimedPasses:
    """Goes on with a pass from where it stopped."""

    def __init__(self, values: ArrayValues) -> None:
        self.done = 0
        self._spans = every(values).spans(1)
        self._make = partial(tally, values.numpy_dtype)
        self._fold = self._make()

    def go_on(self, seconds: float) -> Statistics | None:
        """Look at values for so long, a piece at least; return what all of them give at the end."""
        end = time.monotonic() + seconds
        for span in self._spans:
            if isinstance(span, Distinct):
                self._fold = run_pass(span, self._make, Watched())
            else:
                run_pass(span, lambda: self._fold, Watched())
            self.done = span.stop
            if time.monotonic() >= end:
                return None
        return self._fold.finish()
