"""The model through which the views of a tuning log ask their questions."""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import traitlets

from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.links import TaskLinks
from tvmdbg_widgets.answers.bundles import bundle
from tvmdbg_widgets.answers.messages import message_id
from tvmdbg_widgets.answers.question_scheduler import HAS_THREADS
from tvmdbg_widgets.widgets.shared_model import SharedModel
from tvmdbg_widgets.widgets.tuning.answers import answer

_LOG = logging.getLogger(__name__)


class ShownLog(Protocol):
    """What a view takes of a log; :class:`tvmdbg_widgets.TuningLog` is one."""

    facts: LogFacts

    def follow(self, seconds: float = 1.0) -> Any:
        """Return what tells of changes."""

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        theme: str = "auto",
        budget: int = 5_000_000,
        of: Any = None,
    ) -> Path:
        """Write a view, ``of``, as a page."""


class LogModel(SharedModel):
    """Answers the views of one tuning log over custom messages; it has no view of its own.

    Answers are made beside the kernel's main thread, one after the other.
    """

    _esm = bundle("run.js")
    _view_name = traitlets.Any(None).tag(sync=True)

    content = traitlets.Int(0).tag(sync=True, page=False)

    def __init__(self, log: ShownLog, links: TaskLinks | None = None, **traits: Any) -> None:
        self._log = log
        self._links = links
        self._pool: ThreadPoolExecutor | None = None
        super().__init__(**traits)
        self.on_msg(self._on_question)

    @property
    def tuning_log(self) -> ShownLog:
        """The log as far as it is known."""
        return self._log

    def grow(self, log: ShownLog) -> None:
        """Answer with a log that has more records from now on, and tell the views."""
        self._log = log
        self.content += 1

    def close(self) -> None:
        """Free the model in the kernel and in every page."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        super().close()

    def _on_question(self, _widget: object, message: object, _buffers: object) -> None:
        if not HAS_THREADS:
            self._answer(message)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "tvmdbg-tuning")
        self._pool.submit(self._answer, message)

    def _answer(self, message: object) -> None:
        content: dict[str, Any] = {"id": message_id(message)}
        try:
            reply = answer(self._log.facts, self._links, message)
        except (ValueError, LookupError, OSError) as problem:
            self.send(content | {"error": str(problem)})
        except Exception as problem:  # noqa: BLE001 (an error is an answer; the log has it all)
            _LOG.exception("answering a tuning view failed")
            self.send(content | {"error": f"{type(problem).__name__}: {problem}"})
        else:
            self.send(content | {"result": reply.result}, list(reply.buffers))

    def __repr__(self) -> str:
        return f"LogModel({self._log.facts.title!r})"
