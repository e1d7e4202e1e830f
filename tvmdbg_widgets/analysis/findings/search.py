"""Search for the findings of one run, shared by all callers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor

from tvmdbg_widgets.analysis.findings import find, probes, screens
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.health_table import health
from tvmdbg_widgets.analysis.tensor_scan import TensorScan
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.health import Health
from tvmdbg_widgets.model.parts import RunParts

_PATIENCE = 10.0


class FindingsSearch:
    """Scan of the tensors of a run, with rules applied to its results."""

    def __init__(self, parts: RunParts, groups: Callable[[], Groups] | None = None) -> None:
        self._parts = parts
        self._groups = groups
        self.scan = TensorScan(parts, probes(), screens())
        self._lock = threading.Lock()
        self._evidence: RunEvidence | None = None
        self._known: Findings | None = None
        self._health: Health | None = None
        self._next = 0.0

    def run(self, *, progress: bool = False, executor: Executor | None = None) -> Findings:
        """Return the findings once all tensors are scanned, or those so far after an interrupt."""
        self.scan.run(progress=progress, executor=executor)
        return self.known(newest=True)

    def known(self, *, newest: bool = False) -> Findings:
        """Return the findings so far, updated seldom during a scan unless `newest`."""
        with self._lock:
            return self._current(newest)[1]

    def health(self, *, newest: bool = False) -> Health:
        """Return the health of the tensors, as of the scan that :meth:`known` uses."""
        with self._lock:
            evidence, known = self._current(newest)
            if self._health is None:
                begin = time.monotonic()
                self._health = health(evidence, known)
                self._next += (_PATIENCE + 1) * (time.monotonic() - begin)
            return self._health

    def _current(self, newest: bool) -> tuple[RunEvidence, Findings]:
        evidence, known = self._evidence, self._known
        due = newest or self.scan.state != "scanning" or time.monotonic() >= self._next
        if evidence is None or known is None or (due and not known.complete):
            scanned = self.scan.scanned()
            if evidence is None or known is None or scanned.done != known.scanned:
                begin = time.monotonic()
                evidence = RunEvidence(self._parts, scanned, self._groups)
                known = find(evidence)
                end = time.monotonic()
                self._evidence, self._known, self._health = evidence, known, None
                self._next = end + _PATIENCE * (end - begin)
        return evidence, known
