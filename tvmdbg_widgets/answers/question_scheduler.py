"""Takes the questions of all views of a run, and has the answers made in the right order."""

from __future__ import annotations

import contextvars
import logging
import sys
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.tensor_scan import TensorScan
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.kept_timeline import ALONG
from tvmdbg_widgets.answers.messages import Priority, Question, message_id

Send: TypeAlias = Callable[[dict[str, Any], list[bytes]], None]

_LOG = logging.getLogger(__name__)
#: Most answers that are made at once. Another thread begins only where all are busy; where many
#: are, most wait for a slow disk or network, and no question must wait behind them.
_WORKERS = 64
#: Seconds of work on what has no end in sight between two questions, where there are no threads.
_SLICE = 0.2
HAS_THREADS = sys.platform != "emscripten"  # a kernel inside a browser cannot start any
#: Questions of which a view wants only the newest answered; it asks for values in two places.
_NEWEST_ONLY = (
    *("tensor", "profile", "channels", "region", "node", "data", "percentiles"),
    *("window", "area", "sums", "find"),
)
_PICTURES = frozenset({"tensor", "profile", "channels", "region"})
#: Those that may have to look at a whole tensor or at every slice; a picture where every value is
#: wanted does, too.
_LONG = frozenset(
    {"profile", "channels", "region", "data", "percentiles"}
    | {"timeline", "slices", "window", "area", "sums", "find", "flows"}
)
#: Those that may wait for a pass which somebody else makes: it must not give way to them.
_WAITING = frozenset({"statistics", "cancelTensor", "percentiles", "findings", "health"})
#: What a message has to fill so that it is sent at once over a socket on the same machine: one
#: segment. Shorter ones wait for the browser to acknowledge the one before, 40 ms.
_SEGMENT = 1 << 16
#: Runs no larger are scanned as soon as their graph is shown.
_GLANCE_TENSORS, _GLANCE_BYTES = 2_000, 256 << 20
_SCANNED = frozenset({"findings", "health"})


class _SupersededError(Exception):
    """Raised between two blocks of an answer that nobody waits for any more."""


class QuestionScheduler:
    """Answers questions beside the thread that takes them.

    Of the questions of one view and kind only the newest is answered, also where an older one is
    being answered already. What takes long waits, between its blocks, while a short answer is made.
    """

    def __init__(self, run: RunFacts, send: Send) -> None:
        self._run = run
        self._send = send
        self._answers = Answers(run, seconds=None if HAS_THREADS else _SLICE)
        self._lock = threading.Lock()
        self._newest: dict[tuple[str, str], int] = {}
        self._asked = 0
        self._pool: ThreadPoolExecutor | None = None
        self._scanning: TensorScan | None = None
        self._closed = False
        if HAS_THREADS and run.timeline is not None and run.timeline.num_slices > ALONG:
            threading.Thread(target=self._answers.prepare, name="tvmdbg-rows", daemon=True).start()

    def take(self, message: object) -> None:
        """Have one message answered; it may be anything."""
        try:
            question = Question(message)
            cancelled = _cancelled(question)
        except ValueError as problem:
            self._send({"id": message_id(message), "error": str(problem)}, [])
            return
        with self._lock:
            self._asked += 1
            ticket = self._asked
            if question.kind in _NEWEST_ONLY:
                self._newest[question.client, question.kind] = ticket
            for kind in cancelled:
                self._newest.pop((question.client, kind), None)
        if question.kind in _SCANNED and not (question.flag("glance") and self._is_large()):
            self._scan(go_on=question.flag("goOn"))
        self._submit(question, ticket)

    def glance(self, seconds: float) -> None:
        """Have the tensors of a small run scanned, and wait so long for the end."""
        if not self._is_large():
            self._scan(go_on=False)
            self._run.search.scan.wait(seconds)

    def close(self) -> None:
        """Stop what is under way; nothing more is answered."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if self._scanning is not None:
            self._scanning.cancel(pause=True)
        self._answers.close()
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    @property
    def closed(self) -> bool:
        """Whether nothing is answered any more."""
        return self._closed

    def _is_large(self) -> bool:
        """Whether looking at all values takes long enough to wait until somebody asks for it."""
        tensors = self._run.tensors
        if tensors is None or len(tensors) > _GLANCE_TENSORS:
            return tensors is not None
        return sum(each.nbytes for each in tensors.values()) > _GLANCE_BYTES

    def _scan(self, *, go_on: bool) -> None:
        """Start the scan of the tensors at a view's first question, or where it was stopped."""
        scan = self._run.search.scan
        scan.give_way = partial(self._answers.gate.give_way, Priority.PASS)
        if not HAS_THREADS:
            if go_on or scan.state in {"none", "scanning"}:
                scan.run(seconds=_SLICE)
        elif scan.start(go_on=go_on):
            self._scanning = scan

    def _submit(self, question: Question, ticket: int) -> None:
        turn = _turn(question)
        if not HAS_THREADS:
            self._answer(question, ticket, turn)
            return
        with self._lock:
            if self._closed:
                return
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_WORKERS, "tvmdbg")
            context = contextvars.copy_context()
            self._pool.submit(context.run, self._answer, question, ticket, turn)

    def _answer(self, question: Question, ticket: int, turn: Priority) -> None:
        gate = self._answers.gate

        def watch() -> None:
            if self._is_superseded(question, ticket):
                raise _SupersededError
            gate.give_way(turn)

        buffers: list[bytes] = []
        try:
            with gate.taken(turn):
                watch()
                reply = self._answers.reply(question, watch)
        except _SupersededError:
            content = {"error": "superseded by a newer question"}
        except (ValueError, LookupError, OSError) as problem:
            content = {"error": _message(problem)}
        except Exception as problem:  # noqa: BLE001 (an error is an answer; the log has it all)
            _LOG.exception("answering %s failed", question.kind)
            content = {"error": f"{type(problem).__name__}: {problem}"}
        else:
            content, buffers = {"result": reply.result}, list(reply.buffers)
            if question.flag("near"):
                buffers.append(bytes(max(0, _SEGMENT - sum(map(len, buffers)))))
        asked = question.client, question.kind
        with self._lock:
            if self._newest.get(asked) == ticket:
                del self._newest[asked]
        self._send({"id": question.id, **content}, buffers)

    def _is_superseded(self, question: Question, ticket: int) -> bool:
        if self._closed:
            return True
        if question.kind not in _NEWEST_ONLY:
            return False
        with self._lock:
            return self._newest.get((question.client, question.kind)) != ticket


def _cancelled(question: Question) -> Collection[str]:
    """Return the kinds of questions that a client no longer wants answered."""
    if question.kind == "cancel":
        what = question.choice("what", _NEWEST_ONLY)
        return () if what is None else (what,)
    return _PICTURES if question.kind == "cancelTensor" else ()


def _turn(question: Question) -> Priority:
    if question.kind in _WAITING:
        return Priority.PASS
    wants_all = question.kind == "tensor" and question.flag("exact")
    return Priority.PICTURE if wants_all or question.kind in _LONG else Priority.AT_ONCE


def _message(problem: Exception) -> str:
    """The message of an error; a KeyError's without the quotes that str() puts around it."""
    return str(problem.args[0]) if isinstance(problem, KeyError) and problem.args else str(problem)
