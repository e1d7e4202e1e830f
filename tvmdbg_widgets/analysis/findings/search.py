"""The findings of one run, searched once for everyone who asks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings import find, probes
from tvmdbg_widgets.analysis.tensor_scan import TensorScan

if TYPE_CHECKING:
    from tvmdbg_widgets.model.findings import Findings
    from tvmdbg_widgets.model.parts import RunParts

_PATIENCE = 10.0


class Search:
    """Scans the tensors of a run and applies the rules to what is known.

    Parameters
    ----------
    parts : RunParts

    Attributes
    ----------
    scan : TensorScan
        Its state, and how to stop it.
    """

    def __init__(self, parts: RunParts) -> None:
        self._parts = parts
        self.scan = TensorScan(parts, probes())
        self._lock = threading.Lock()
        self._known: Findings | None = None
        self._next = 0.0

    def run(self, *, progress: bool = False) -> Findings:
        """Scan to the end, or wait for the thread that does, and return the findings.

        After ``KeyboardInterrupt`` or a cancel: what is known so far, ``complete`` False. The next
        call goes on from there.
        """
        self.scan.run(progress=progress)
        return self.known(newest=True)

    @property
    def latest(self) -> Findings | None:
        """What was last answered, without looking further; None where nobody asked."""
        return self._known

    def known(self, *, newest: bool = False) -> Findings:
        """Return the findings in what was scanned so far.

        While a scan runs the rules are applied again only so often that they take a tenth of the
        time, unless the newest are asked for.
        """
        with self._lock:
            known = self._known
            if known is not None and known.complete:
                return known
            due = newest or self.scan.state != "scanning" or time.monotonic() >= self._next
            if known is None or due:
                scanned = self.scan.scanned()
                if known is None or scanned.done != known.scanned:
                    begin = time.monotonic()
                    known = find(self._parts, scanned)
                    end = time.monotonic()
                    self._known, self._next = known, end + _PATIENCE * (end - begin)
            return known
