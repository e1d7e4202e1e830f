"""From where on a log is said to have a problem: every number, and why it is that one.

Shares are of trials. They were written down before the rules were tried on logs;
docs/tuning_rules.md shows what they say of real ones.
"""

from __future__ import annotations

from typing import Final

# Build timeouts.

NORMAL: Final = 0.03
"""Below this share timeouts are the few programs that any search finds too long to compile."""

HIGH: Final = 0.10
"""From this share on the search misses what it needs: every tenth program it chose is unknown."""

OTHERS: Final = 0.05
"""Where one task, or large unrolling, is said to be the reason, all else stays below this."""

FEW: Final = 24
"""Trials a share is taken of at least: of 24 with 3 % timeouts, 3 or more (over 10 %) are lost by
chance once in 29 times."""

LOW_UNROLL: Final = 16
HIGH_UNROLL: Final = 512
"""``auto_unroll_max_step`` is one of 0, 16, 64, 512 on CPUs, and 1024 on GPUs: up to 16 hardly
lengthens a program, from 512 on a loop body may be repeated hundreds of times. 64 is neither."""

UNROLLED: Final = 0.80
"""Unrolling is the reason where at least this share of the timeouts is at 512 or more."""

BAD_ROUND: Final = 0.25
"""A round that lost this share, 16 of 64, is far above what a search loses by itself."""

BURST: Final = 0.25
"""At most this share of the rounds may be bad for a burst; more is how the tuning went."""

MIN_ROUNDS: Final = 8
"""Fewer rounds have no usual one to compare a bad one with."""

HALF_ROUND: Final = 16
"""Trials a round needs to be judged: cut ones and those of small search spaces say too little."""

DEAD: Final = 3
DEAD_SHARE: Final = 0.10
"""Build workers that died: at least 3, and a tenth of all builds that gave no program. Single ones
happen, and many timeouts beside them need another remedy first."""

# All errors.

FREQUENT: Final = 0.10
"""From this share on any other error is worth a look."""

RUN_TIMEOUTS: Final = 0.05
"""Each costs the whole run timeout: at 5 % and 10 s that is half a second a trial."""

# Other.

NOISY: Final = 0.10
"""Median of (highest - lowest) / mean over the repeats of a trial: differences between good
schedules are smaller than a tenth."""

REPEATS: Final = 3
"""Repeats from which on their spread is looked at."""

DISTILLED: Final = 1.25
"""Records a task, at most, and none failed: chosen records, not the course of a tuning."""
