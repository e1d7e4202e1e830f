"""What a query can ask of a trial: names of fields, and the units of their numbers."""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.analysis.query.vocabulary import TIMES, Units, Vocabulary

_TEXTS: Final = (
    *("task", "name", "target", "kind", "model", "error", "is"),
    *("version", "file", "tuner"),
)
_NUMBERS: Final = (
    *("task", "error", "cost", "best", "all_cost", "time", "timestamp", "row", "trial", "round"),
    *("unroll", "repeats", "spread"),
)
_RUN_TIME: Final = Units(TIMES, "ns, us, ms or s", needed=True)
_WALL_TIME: Final = Units(
    {**TIMES, "min": 60e9, "h": 3600e9}, "ns, us, ms, s, min or h", needed=True
)

TRIALS: Final = Vocabulary(
    _TEXTS,
    _NUMBERS,
    tuple(dict.fromkeys(_TEXTS + _NUMBERS)),
    "error:6 task:3",
    {
        "cost": _RUN_TIME,
        "best": _RUN_TIME,
        "all_cost": _WALL_TIME,
        "time": _WALL_TIME,
        "spread": Units({"%": 0.01}, "%", needed=True),
    },
)
"""Of the trials of a tuning: durations in nanoseconds, shares of 1."""

STATUSES: Final = ("valid", "failed", "best", "improved", "repeated", "duplicate")
"""What a trial can be, as ``is:best`` asks for it."""
