"""Calling the views' own TypeScript from Python, in a JavaScript engine without a DOM.

``static/engine.js`` is the views' code, bundled from ``js/src/engine``. QuickJS runs it: without
files, network or clock, within limits of time and memory. Where Python itself runs in a browser,
the browser's engine does.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

BUNDLE = Path(__file__).parents[1] / "static/engine.js"
_NAME = "tvmdbgEngine"
#: Of CPU time, for one call.
_MOST_SECONDS = 10.0
_MOST_BYTES = 512 << 20

_threads = threading.local()


class EngineMissingError(RuntimeError):
    """Nothing here can run the views' code."""


class EngineTimeError(RuntimeError):
    """A call took more time than it may."""


def call(function: str, *arguments: str, failure: str) -> str:
    """Call a function that ``js/src/engine/engine.ts`` exports."""
    return _engine().call(function, arguments, failure)


def _in_browser() -> bool:
    return sys.platform == "emscripten"


def _engine() -> _QuickJs | _Browser:
    """Return the engine of this thread; QuickJS belongs to the thread that made it."""
    found: _QuickJs | _Browser | None = getattr(_threads, "engine", None)
    if found is None:
        if not BUNDLE.exists():
            raise EngineMissingError(f"{BUNDLE} is missing: build it with `make bundle`")
        source = BUNDLE.read_text("utf-8")
        found = _threads.engine = _Browser(source) if _in_browser() else _QuickJs(source)
    return found


class _QuickJs:
    """The views' code in QuickJS."""

    def __init__(self, source: str) -> None:
        try:
            import quickjs
        except ImportError as problem:
            raise EngineMissingError(
                "pictures are drawn and queries read by the package quickjs-ng, which is not "
                "installed here: "
                "pip install quickjs-ng (where it has no wheel, that takes a C compiler)"
            ) from problem
        self._failure = quickjs.JSException
        self._context = quickjs.Context()
        self._context.set_memory_limit(_MOST_BYTES)
        try:
            self._context.eval(source)
        except self._failure as problem:
            raise _unable(problem, "pip install --upgrade quickjs-ng") from problem

    def call(self, function: str, arguments: tuple[str, ...], failure: str) -> str:
        # The engine counts the CPU time of all threads of the process.
        limit = _MOST_SECONDS
        called = self._context.eval(f"{_NAME}.{function}")
        while True:
            self._context.set_time_limit(limit)
            start = time.thread_time()
            try:
                return str(called(*arguments))
            except self._failure as problem:
                said = str(problem).splitlines()[0]
                took = time.thread_time() - start
                interrupted = "interrupted" in said
                if interrupted and took < _MOST_SECONDS / 2:
                    limit *= 2
                    continue
                _threads.engine = None
                if interrupted:
                    took_too_long = f"{failure}: it took longer than {_MOST_SECONDS:g} s"
                    raise EngineTimeError(took_too_long) from problem
                raise RuntimeError(f"{failure}: {said}") from problem


class _Browser:
    """The views' code in the engine of the browser that Python runs in."""

    def __init__(self, source: str) -> None:
        from pyodide.code import run_js
        from pyodide.ffi import JsException

        self._failure = JsException
        try:
            self._code = run_js(f"{source}\n{_NAME}")
        except JsException as problem:
            raise _unable(problem, "use a newer browser") from problem

    def call(self, function: str, arguments: tuple[str, ...], failure: str) -> str:
        try:
            return str(getattr(self._code, function)(*arguments))
        except self._failure as problem:
            raise RuntimeError(f"{failure}: {problem}") from problem


def _unable(problem: Exception, remedy: str) -> EngineMissingError:
    said = str(problem).splitlines()[0]
    return EngineMissingError(
        f"the JavaScript engine here cannot run the views' own code ({said}): {remedy}"
    )
