"""Scheduler of all views' questions: order, threads and superseded answers."""

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
from tvmdbg_widgets.answers.tensor import Reply

Send: TypeAlias = Callable[[dict[str, Any], list[bytes]], None]

_LOG = logging.getLogger(__name__)
#: Threads that answer; one is added only while all are busy. With many, most wait for a slow disk
#: or network, and no question should wait behind them.
_WORKERS = 64
#: Seconds of long work between two questions, without threads.
_SLICE = 0.2
HAS_THREADS = sys.platform != "emscripten"  # a kernel inside a browser cannot start any
#: Questions of which only a view's newest is answered ("values" is asked from two places).
_NEWEST_ONLY = (
    *("tensor", "profile", "channels", "region", "node", "data", "percentiles"),
    *("window", "area", "sums", "paths", "merged", "find"),
)
_PICTURES = frozenset({"tensor", "profile", "channels", "region"})
#: Questions that may read all of a tensor or all slices, as does "tensor" with "exact".
_LONG = frozenset(
    {"profile", "channels", "region", "data", "percentiles"}
    | {"timeline", "slices", "window", "area", "sums", "paths", "merged", "find", "flows"}
)
#: Questions that may wait for another pass, which must not pause for them.
_WAITING = frozenset({"statistics", "cancelTensor", "percentiles", "findings", "health"})
#: Bytes of a segment of the loopback socket. Shorter messages wait 40 ms for an acknowledgement.
_SEGMENT = 1 << 16
#: Size up to which a run is scanned as soon as its graph is shown.
_GLANCE_TENSORS, _GLANCE_BYTES = 2_000, 256 << 20
_SCANNED = frozenset({"findings", "health"})


class _SupersededError(Exception):
    """Raised between two blocks of an answer that is no longer wanted."""


def replied(kind: str, make: Callable[[], Reply]) -> tuple[dict[str, Any], list[bytes]]:
    """Return the content and the buffers of an answer; an error is an answer too."""
    try:
        reply = make()
    except (ValueError, LookupError, OSError) as problem:
        return {"error": _message(problem)}, []
    except Exception as problem:  # noqa: BLE001 (the log has it all)
        _LOG.exception("answering %s failed", kind)
        return {"error": f"{type(problem).__name__}: {problem}"}, []
    return {"result": reply.result}, list(reply.buffers)


class QuestionScheduler:
    """Answers questions in threads of their own.

    Of the questions of one view and kind only the newest is answered, even if an older one is in
    progress. Long work pauses between its blocks for short answers.
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
        """Have any message answered."""
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
        """Scan the tensors of a small run, waiting at most some seconds."""
        if not self._is_large():
            self._scan(go_on=False)
            self._run.search.scan.wait(seconds)

    def close(self) -> None:
        """Stop running work, and answer no more."""
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
        """Whether no more questions are answered."""
        return self._closed

    def _is_large(self) -> bool:
        """Whether a scan of all values takes too long to start unasked."""
        tensors = self._run.tensors
        if tensors is None or len(tensors) > _GLANCE_TENSORS:
            return tensors is not None
        return sum(tensor.nbytes for tensor in tensors.values()) > _GLANCE_BYTES

    def _scan(self, *, go_on: bool) -> None:
        """Start the scan of the tensors at a view's first question, or continue it."""
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

        def made() -> Reply:
            try:
                with gate.taken(turn):
                    watch()
                    return self._answers.reply(question, watch)
            except _SupersededError:
                raise ValueError("superseded by a newer question") from None

        content, buffers = replied(question.kind, made)
        if question.flag("near") and "result" in content:
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
    """Return the kinds of questions that a client has cancelled."""
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
    """Return the message of an error; a KeyError's without the quotes of str()."""
    return str(problem.args[0]) if isinstance(problem, KeyError) and problem.args else str(problem)
