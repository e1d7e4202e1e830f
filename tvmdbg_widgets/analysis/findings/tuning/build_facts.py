"""Facts about builds that timed out, in the same words in every rule."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence, runs_of
from tvmdbg_widgets.analysis.tuning.error_tables import wasted_seconds
from tvmdbg_widgets.analysis.tuning.sessions import seconds_text
from tvmdbg_widgets.model.base.numbers import agree, counted, percent


def how_many(evidence: LogEvidence) -> str:
    """Return ``"1,638 of 3,008 trials (54.5 %) hit the build timeout of 15 s"``."""
    builds = evidence.builds
    return (
        f"{builds.count:,} of {counted(len(evidence.trials), 'trial')} ({percent(builds.share)}) "
        f"hit the build timeout of {seconds_text(builds.timeout)}"
    )


def by_task(evidence: LogEvidence) -> str:
    """Return the shares of the tasks, highest first."""
    shares = evidence.builds.by_task
    names = [f"in {evidence.task(key)}" for key in shares.keys.tolist()]
    told = shares.words(names)
    order = np.argsort(-shares.share, kind="stable").tolist()
    return "by task: " + evidence.listed([told[place] for place in order], "task")


def by_unroll(evidence: LogEvidence) -> list[str]:
    """Return the shares of the unroll settings; nothing where no step sets one."""
    shares = evidence.builds.by_unroll
    if not (shares.keys >= 0).any():
        return []
    names = [f"at {key}" if key >= 0 else "without one" for key in shares.keys.tolist()]
    return ["by auto_unroll_max_step: " + ", ".join(shares.words(names))]


def by_round(evidence: LogEvidence) -> str:
    """Return the usual and the worst round, and which were bad."""
    builds = evidence.builds
    shares = builds.by_round
    worst = int(np.argmax(shares.lost))
    median = percent(float(np.median(shares.share)))
    told = (
        f"by round: median {median}, at most {int(shares.lost[worst]):,} of "
        f"{int(shares.trials[worst]):,} (round {worst:,})"
    )
    bad = np.flatnonzero(builds.bad_rounds)
    if not 0 < len(bad) < len(shares.keys):
        return told
    rest = percent(shares.within(~builds.bad_rounds)[0] / shares.within(~builds.bad_rounds)[1])
    return (
        f"{told}; a quarter or more lost in {len(bad):,} of {counted(len(shares.keys), 'round')} "
        f"({runs_of(bad.tolist())}), {rest} in the others"
    )


def cost(evidence: LogEvidence) -> str:
    """Return what was spent on lost builds, and what is left."""
    spent = seconds_text(wasted_seconds(evidence.trials))
    left = int(np.count_nonzero(~evidence.trials.failed))
    return (
        f"{spent} of building went into them (builds run in parallel, so that is not wall time); "
        f"{counted(left, 'trial')} {agree(left, 'has')} a measurement"
    )
