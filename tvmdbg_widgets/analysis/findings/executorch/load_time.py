"""What loading and initializing a method took, against running it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.executorch.recorded import RecordedDump
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted, duration_text, fixed
from tvmdbg_widgets.model.executorch.delegate_calls import named
from tvmdbg_widgets.model.executorch.etdump import EventKind
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

if TYPE_CHECKING:
    import numpy as np


LOAD_TIME_NAME = "load-time"
_LEAST = 2
_LOAD, _INIT, _EXECUTE = "Program::load_method", "Method::init", "Method::execute"


def find_load_time(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding where loading takes longer than some executions."""
    recorded = evidence.recorded
    if recorded is None:
        return
    loads, inits, runs = (_durations(recorded, name) for name in (_LOAD, _INIT, _EXECUTE))
    # Loading includes initializing.
    loading = float((loads if len(loads) else inits).sum())
    mean = float(runs.mean()) if len(runs) else 0.0
    if not 0 < _LEAST * mean < loading:
        return
    facts = [
        f"{name}: {duration_text(float(took.sum()))}"
        + (f" in {counted(len(took), 'call')}" if len(took) > 1 else "")
        for name, took in ((_LOAD, loads), (_INIT, inits))
        if len(took)
    ]
    facts.append(
        f"{_EXECUTE}: {duration_text(mean)}"
        + (f", the mean of {counted(len(runs), 'execution')}" if len(runs) > 1 else "")
    )
    yield Finding(
        LOAD_TIME_NAME,
        Severity.INFO,
        f"Loading the method took {duration_text(loading)}, {fixed(loading / mean, 1)}× one "
        "execution",
        tuple(facts),
        Confidence.MEDIUM if evidence.inflated else Confidence.HIGH,
        "both were timed by the runtime" + evidence.inflated,
        next_step="Load a method once and run it often. Delegates prepare their work while it "
        "loads.",
        weight=0.45,
    )


def _durations(recorded: RecordedDump, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    dump = recorded.dump
    framework = (dump.kind == EventKind.PROFILE) & named(dump, name) & (dump.chain_index < 0)
    took: np.ndarray[tuple[int], np.dtype[np.float64]] = recorded.took[framework]
    return took


LOAD_TIME = Rule(LOAD_TIME_NAME, find_load_time, Basis.FILES)
