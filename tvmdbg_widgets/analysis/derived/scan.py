"""What a run tells of the values of its tensors."""

from __future__ import annotations

import threading
from concurrent.futures import Executor

from tvmdbg_widgets.analysis.derived.recorded import Recorded
from tvmdbg_widgets.analysis.findings.search import FindingsSearch
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.health import Health
from tvmdbg_widgets.model.parts import RunParts


class Scan(Recorded):
    """What the scan of the tensors tells."""

    def __init__(self, parts: RunParts) -> None:
        super().__init__(parts)
        self._search: FindingsSearch | None = None
        self._lock = threading.Lock()

    @property
    def search(self) -> FindingsSearch:
        """The scan of the tensors and what it found so far; views ask it too."""
        from tvmdbg_widgets.analysis.findings.search import FindingsSearch

        with self._lock:
            if self._search is None:
                self._search = FindingsSearch(self.parts)
            return self._search

    def findings(self, progress: bool = True) -> Findings:
        """Return what this run tells of itself, ranked: errors, warnings, hotspots, info.

        Reads every tensor once, parameters included; their statistics stay for later. Interrupted,
        it returns what is known so far, with ``complete`` False; called again, it goes on.

        Parameters
        ----------
        progress : bool
            Show a progress bar where it takes longer than a second.
        """
        return self.search.run(progress=progress)

    def health(self, progress: bool = True, executor: Executor | None = None) -> Health:
        """Return the health of each tensor in execution order; ``.suspicious``: the worst first.

        ::

            run.health().suspicious[:5]
            run.health().first_nan

        It rests on the scan of :meth:`findings` and says what they say: whichever is asked first
        reads the tensors, once. Interrupted, it returns what is known so far, with ``complete``
        False; called again, it goes on.

        Parameters
        ----------
        progress : bool
            Show a progress bar where it takes longer than a second.
        executor : concurrent.futures.Executor or None
            Look at several tensors at a time, and send the pieces of large ones there: threads,
            processes, or a Dask client's ``get_executor()``, which must be able to read the files.
        """
        self.search.run(progress=progress, executor=executor)
        return self.search.health(newest=True)

    @property
    def known_findings(self) -> Findings | None:
        """The findings once all tensors were scanned; None before."""
        with self._lock:
            search = self._search
        return search.known() if search is not None and search.scan.state == "done" else None
