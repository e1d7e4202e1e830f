"""Build workers that died: their builds fail, and take exactly the timeout in the log.

``local_builder_build`` writes COMPILE_HOST (2) with the timeout as time cost where the worker
raised or ended; a program that does not compile has its own time (python/tvm/auto_scheduler/
measure.py).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import build_facts, remedies
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Cause
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.analysis.tuning.sessions import seconds_text
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DEAD_WORKERS_NAME = "dead-build-workers"


def find_dead_workers(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where builds ended without a result."""
    builds = evidence.builds
    if builds.cause is not Cause.DEAD_WORKERS:
        return
    dead = int(np.count_nonzero(builds.dead))
    tasks = evidence.tasks_of(builds.dead)
    share = percent(dead / len(evidence.trials))
    timed_out = [build_facts.how_many(evidence)] if builds.count else []
    yield Finding(
        DEAD_WORKERS_NAME,
        Severity.ERROR,
        f"Build workers died: {counted(dead, 'trial')} ({share}) ended without a program or an "
        "error of the compiler",
        (
            f"CompileHostError after exactly {seconds_text(builds.timeout)}, the build timeout: "
            + counted(dead, "trial"),
            evidence.in_tasks(tasks),
            *timed_out,
            build_facts.cost(evidence),
            "how many builds ran at once (n_parallel) is not in the log",
        ),
        Confidence.HIGH,
        "Ansor writes the timeout as the time of such a build only where its worker raised or "
        "ended, else the time it took; why it ended is not in the log, most often memory ran out",
        next_step="\n".join(
            [
                "See whether the kernel killed compilers for lack of memory:",
                'dmesg -T | grep -i "killed process"',
                remedies.for_each(
                    evidence.tuners_of(builds.dead),
                    lambda tuner: remedies.half_the_builds(tuner, builds.timeout),
                ),
            ]
        ),
        weight=(dead + builds.count) / len(evidence.trials),
        tasks=tuple(tasks),
        trials=evidence.rows(builds.dead),
    )


DEAD_WORKERS = LogRule(DEAD_WORKERS_NAME, find_dead_workers, LogBasis.LINES)
