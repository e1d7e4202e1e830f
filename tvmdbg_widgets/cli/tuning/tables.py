"""Counts that several verbs show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.cli.common.terminal import say, styled

if TYPE_CHECKING:
    from tvmdbg_widgets.tuning import TuningLog


def error_counts(log: TuningLog) -> dict[str, int]:
    """Return how many trials failed with each error, by its name, from the most frequent on."""
    import numpy as np

    from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

    codes, counts = np.unique(log.trials.error[log.trials.failed], return_counts=True)
    found = zip(counts.tolist(), codes.tolist(), strict=True)
    return {
        MeasureError(code).label: count
        for count, code in sorted(found, key=lambda each: (-each[0], each[1]))
    }


def tell_errors(log: TuningLog) -> None:
    """Write a line for each error."""
    from tvmdbg_widgets.model.base.numbers import percent

    for name, count in error_counts(log).items():
        say(f"  {count:>9,}  ", styled(name), styled(f"  {percent(count / len(log))}", "dim"))
