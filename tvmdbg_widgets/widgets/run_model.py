"""The model through which every view of a run asks its questions."""

from __future__ import annotations

import contextvars
import hashlib
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from tvmdbg_widgets.widgets.answers import answer
from tvmdbg_widgets.widgets.bundles import bundle
from tvmdbg_widgets.widgets.messages import Question, message_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.run import DebugRun

_LOG = logging.getLogger(__name__)
_WORKERS = 2
#: Seconds of the search for findings between two questions of a view, where there are no threads.
_SLICE = 0.2
_HAS_THREADS = sys.platform != "emscripten"  # a kernel inside a browser cannot start any
#: Questions of which a view wants only the newest answered; it asks for values in two places.
_NEWEST_ONLY = frozenset({"tensor", "node"})


class RunModel(anywidget.AnyWidget):
    """Answers the views of one run over custom messages; it has no view of its own.

    Answers are computed beside the kernel's main thread, so that a large tensor does not hold up
    the notebook. Of the questions of one view and kind that wait, only the newest is answered.

    Attributes
    ----------
    title : str
    content_hash : str
        Names the content: a page keeps what it was told of a run under this.
    """

    _esm = bundle("run.js")
    _view_name = traitlets.Any(None).tag(sync=True)

    title = traitlets.Unicode("").tag(sync=True)
    content_hash = traitlets.Unicode("").tag(sync=True)

    def __init__(self, run: DebugRun, **traits: Any) -> None:
        self._run = run
        self._newest: dict[tuple[str, str], str | None] = {}
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._searching = False
        super().__init__(title=run.title, content_hash=_content_hash(run), **traits)
        self.on_msg(self._on_question)

    def close(self) -> None:
        """Free the model in the kernel and in every page."""
        with self._lock:
            pool, self._pool = self._pool, None
        if self._searching:
            self._run.search.scan.cancel()
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        super().close()

    def _on_question(self, _widget: object, message: object, _buffers: object) -> None:
        try:
            question = Question(message)
        except ValueError as problem:
            self.send({"id": message_id(message), "error": str(problem)})
            return
        if question.kind in _NEWEST_ONLY:
            with self._lock:
                self._newest[question.client, question.kind] = question.id
        if question.kind == "findings":
            self._search(go_on=question.flag("goOn"))
        self._submit(lambda: self._answer(question, message))

    def _search(self, *, go_on: bool) -> None:
        """Start the scan of the tensors at a view's first question, or where it was stopped.

        It has a thread of its own, so that it holds up no answer.
        """
        scan = self._run.search.scan
        if not _HAS_THREADS:
            if go_on or scan.state in {"none", "scanning"}:
                scan.run(seconds=_SLICE)
        elif scan.start(go_on=go_on):
            self._searching = True

    def _submit(self, task: Callable[[], None]) -> None:
        if not _HAS_THREADS:
            task()
            return
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="tvmdbg")
            self._pool.submit(contextvars.copy_context().run, task)

    def _answer(self, question: Question, message: object) -> None:
        if self._superseded(question):
            self.send({"id": question.id, "error": "superseded by a newer question"})
            return
        try:
            reply = answer(self._run, message)
        except (ValueError, LookupError, OSError) as problem:
            self.send({"id": question.id, "error": _told(problem)})
        except Exception as problem:  # noqa: BLE001 (an error is an answer; the log has it all)
            _LOG.exception("answering %s failed", question.kind)
            self.send({"id": question.id, "error": f"{type(problem).__name__}: {problem}"})
        else:
            self.send({"id": question.id, "result": reply.result}, buffers=list(reply.buffers))

    def _superseded(self, question: Question) -> bool:
        if question.kind not in _NEWEST_ONLY:
            return False
        asked = (question.client, question.kind)
        with self._lock:
            if self._newest.get(asked) != question.id:
                return True
            del self._newest[asked]
            return False

    def __repr__(self) -> str:
        return f"RunModel({self._run.title!r})"


def _told(problem: Exception) -> str:
    """The message of an error; a KeyError's without the quotes that str() puts around it."""
    return str(problem.args[0]) if isinstance(problem, KeyError) and problem.args else str(problem)


def _content_hash(run: DebugRun) -> str:
    digest = hashlib.sha256()
    digest.update(run.title.encode())
    for file in run.provenance.files:
        digest.update(file.encode())
    digest.update(str(id(run)).encode())
    return digest.hexdigest()[:16]
