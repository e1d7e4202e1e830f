"""Start and end times of the v0.5 table: times of day without a date."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tvm.table.rows import TableRow, clock_ns
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity

_DAY = 86_400e9


def wall_times(
    rows: Sequence[TableRow], file: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], list[Issue]]:
    """Put the times of day of consecutive calls on one axis.

    A step back of more than half a day is midnight. A smaller one stays as it is and is an issue:
    the clock was set, or the rows were reordered.
    """
    calls = [row for row in rows if row.output == 0]
    call_of_row = np.cumsum([row.output == 0 for row in rows], dtype=np.int64) - 1
    flat = np.array([clock_ns(text) for row in calls for text in (row.start, row.end)])
    steps = np.diff(flat, prepend=flat[:1])
    flat = flat + _DAY * np.cumsum(steps < -_DAY / 2)
    back = np.flatnonzero(np.diff(flat, prepend=flat[:1]) < 0)
    issues = []
    if len(back):
        name = calls[int(back[0]) // 2].name
        said = (
            f"the row of {name!r} has a time before the one "
            "printed ahead of it: the clock was set, or rows were reordered"
        )
        issues.append(Issue("clock-steps-back", IssueSeverity.WARNING, said, file=file))
    return flat[0::2][call_of_row], flat[1::2][call_of_row], issues
