"""Color columns of one view: given ones, and ones computed in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.executorch.event_block import (
    EXECUTORCH_COLUMNS,
    METADATA,
    EventBlock,
    executorch_column,
    metadata_column,
)
from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.node_columns import (
    COLOR_NAMES,
    ERROR,
    TIMED_COLUMNS,
    OutputErrors,
    known_column,
)
from tvmdbg_widgets.analysis.timeline.longest_path import why_not
from tvmdbg_widgets.answers.node_columns import number_of
from tvmdbg_widgets.answers.question_scheduler import HAS_THREADS
from tvmdbg_widgets.figures.graph import given_column, refuse_words
from tvmdbg_widgets.model.base.slips import meant
from tvmdbg_widgets.model.graph.node_columns import NodeColumn

_LAYOUT = "layout"
#: Entries up to which the layout column is computed at once.
_AT_ONCE = 300
_TOLD_EVERY = 0.25
_MOST_COLUMNS = 16


class _ColorsStoppedError(Exception):
    """Raised inside stopped work."""


class ColorWork(threading.Thread):
    """A thread that computes one column, after the work that it replaces, until it is stopped."""

    def __init__(
        self,
        work: Callable[[Callable[[int], None]], None],
        tell: Callable[[str, int], None],
        replaced: ColorWork | None,
    ) -> None:
        super().__init__(name="tvmdbg-colors", daemon=True)
        self._work, self._tell, self._replaced = work, tell, replaced
        #: Set to stop at the next step; finished rows stay.
        self.stopping = threading.Event()
        self._told = 0.0
        self._done = 0

    def run(self) -> None:
        """Compute the column, and report how it ended."""
        if self._replaced is not None:
            self._replaced.join()
            self._replaced = None
        state = "cancelled"
        try:
            self._work(self._watch)
            state = "done"
        except _ColorsStoppedError:
            pass
        finally:
            self._tell(state, self._done)

    def _watch(self, done: int) -> None:
        if self.stopping.is_set():
            raise _ColorsStoppedError
        self._done = done
        now = time.monotonic()
        if now - self._told > _TOLD_EVERY:
            self._told = now
            self._tell("scanning", done)


class ColorColumns:
    """Color columns of one view by name."""

    def __init__(
        self,
        run: RunFacts,
        send: Callable[[dict[str, Any]], None],
        inspected: Callable[[], Iterable[EventBlock]],
    ) -> None:
        self._run, self._send = run, send
        #: Returns the event blocks of the run's Inspector, with parsed metadata.
        self._inspected = inspected
        self._columns: dict[str, NodeColumn] = {}
        self._work: dict[str, ColorWork] = {}
        self._errors: OutputErrors | None = None
        self._lock = threading.RLock()
        #: Number of each column and progress of its work; None for one that a view may begin.
        self.offered: dict[str, Any] = {} if run.graph is None else {_LAYOUT: None}
        if not why_not(run.parts):
            self.offered |= dict.fromkeys(TIMED_COLUMNS)

    def name_of(self, what: Any, **how: Any) -> str:
        """Return the name of a column; data is kept, errors are started.

        Parameters as of ``view.color_by``.
        """
        if isinstance(what, str) and what not in self._columns:
            self._begin_executorch(what)
        if isinstance(what, str):
            return self._known_name(what, how)
        if self._run.graph is None:
            raise ValueError("the run has no graph")
        column = given_column(self._run.graph, what, **how)
        self._keep(column)
        return column.name

    def column(self, name: str) -> str | NodeColumn:
        """Return a column, or its name if the run computes it."""
        return self._columns.get(name, name)

    def begin(self, name: str) -> None:
        """Compute a missing column, or go on with stopped work."""
        work = self._work.get(name)
        missing = name not in self._columns if work is None else work.stopping.is_set()
        if name == _LAYOUT and missing:
            self._begin_layout()
        elif name in TIMED_COLUMNS and missing and self._run.graph is not None:
            self._keep(known_column(self._run.parts, name))
        elif name == ERROR and missing and self._errors is not None:
            self._begin_errors(self._errors)

    def stop(self, name: str) -> None:
        """Stop computing a column; finished rows stay."""
        if name in self._work:
            self._work[name].stopping.set()

    def wait(self, name: str, seconds: float | None = None) -> bool:
        """Block until a column is computed or stopped; return whether it ended."""
        work = self._work.get(name)
        if work is None:
            return True
        work.join(seconds)
        return not work.is_alive()

    def for_page(self) -> list[NodeColumn]:
        """Return the columns for a page without a kernel."""
        graph = self._run.graph
        if graph is not None and graph.num_entries <= _AT_ONCE:
            self.begin(_LAYOUT)
        with self._lock:
            return list(self._columns.values())

    def _begin_executorch(self, name: str) -> None:
        """Compute a column that only ExecuTorch runs have."""
        run = self._run
        if run.parts.executorch is None or run.graph is None:
            return
        if name in EXECUTORCH_COLUMNS:
            self._keep(executorch_column(run.parts, name))
        elif name.startswith(METADATA):
            key = name.removeprefix(METADATA)
            self._keep(metadata_column(run.graph, self._inspected(), key))

    def _known_name(self, name: str, how: dict[str, Any]) -> str:
        how.pop("range", None)
        if name == ERROR and "reference" in how:
            self._begin_errors(OutputErrors(self._run.parts, **how))
            return name
        of_executorch = EXECUTORCH_COLUMNS if self._run.parts.executorch is not None else ()
        known = dict.fromkeys((*COLOR_NAMES, *of_executorch, *self._columns))
        if name not in known:
            if name == ERROR:
                given = f", found {', '.join(how)}" if how else ""
                raise ValueError(
                    f"'error' needs a reference: color_by('error', reference=other_run){given}"
                )
            raise ValueError(f"no column {name!r:.80}{meant(name, known)}")
        refuse_words(name, how)
        return name

    def _keep(self, column: NodeColumn, **work: Any) -> None:
        with self._lock:
            number = number_of(self._run, column)
            offered = self.offered | {column.name: {"number": number, "work": work or None}}
            self._columns[column.name] = column
            own = [name for name in offered if name not in (_LAYOUT, ERROR, *TIMED_COLUMNS)]
            for name in own[:-_MOST_COLUMNS]:
                del offered[name], self._columns[name]
            self.offered = offered
            self._send(offered)

    def _begin_layout(self) -> None:
        graph, parts = self._run.graph, self._run.parts
        if graph is None:
            return
        if graph.num_entries <= _AT_ONCE:
            self._keep(known_column(parts, _LAYOUT))
            return
        total = graph.num_entries
        unknown = np.full(total, -1, np.int32)
        made = [NodeColumn(_LAYOUT, "entries", codes=unknown, note="not computed to the end")]
        self._begin(
            _LAYOUT,
            lambda watch: made.append(known_column(parts, _LAYOUT, watch)),
            lambda state, done: self._keep(made[-1], state=state, done=done, total=total),
        )

    def _begin_errors(self, errors: OutputErrors) -> None:
        self._errors = errors

        def tell(state: str, _done: int) -> None:
            if self._errors is errors:
                self._keep(errors.column(), state=state, done=errors.done, total=errors.total)

        tell("scanning", 0)
        self._begin(ERROR, errors.run, tell)

    def _begin(
        self,
        name: str,
        work: Callable[[Callable[[int], None]], None],
        tell: Callable[[str, int], None],
    ) -> None:
        self.stop(name)
        begun = ColorWork(work, tell, self._work.get(name))
        if HAS_THREADS:
            self._work[name] = begun
            begun.start()
        else:
            begun.run()
