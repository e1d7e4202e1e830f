"""Bundles built from TypeScript, calls of the views' code, and columns sent to it.

``static/engine.js`` is bundled from ``js/src/engine``. QuickJS runs it without files, network or
clock, within limits of time and memory. If Python runs in a browser, the browser's engine does.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted

Result = TypeVar("Result")

STATIC = Path(__file__).parent / "static"
#: Views that fetch their code from the kernel.
VIEWS = tuple(
    sorted(file.stem for file in STATIC.glob("*.css") if not file.stem.startswith("page"))
)
#: Fetched beside a view: the worker with the graph layout.
PARTS = ("layout",)


def bundle(name: str) -> str | Path:
    """Return a built front end as text, or as a path while it is being developed.

    anywidget watches a path if ``ANYWIDGET_HMR`` is set, and then keeps every widget alive; with
    text, a closed widget and its run can be freed.
    """
    path = STATIC / name
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} was not built; run `make bundle` (it needs Node 20.19 or newer)"
        )
    return path if os.environ.get("ANYWIDGET_HMR") == "1" else path.read_text(encoding="utf-8")


def module(view: str) -> str | Path:
    """Return the module of every view, which fetches the view's code from the run's model.

    With ``ANYWIDGET_HMR`` set it is the code itself, so that anywidget sees changes.
    """
    return bundle("loader.js" if os.environ.get("ANYWIDGET_HMR") != "1" else f"{view}.js")


@cache
def code(view: str) -> bytes:
    """Return the gzipped code of a view or a part."""
    return gzip.compress((STATIC / f"{view}.js").read_bytes(), mtime=0)


def code_name(view: str) -> str:
    """Return a view's name with the hash of its build."""
    return f"{view} {hashlib.sha256((STATIC / f'{view}.js').read_bytes()).hexdigest()[:16]}"


BUNDLE = STATIC / "engine.js"
_NAME = "tvmdbgEngine"
#: CPU time of one call.
_MOST_SECONDS = 10.0
_MOST_BYTES = 512 << 20
#: Base64 of answers after which garbage is collected; the engine may wait until none fits again.
_LARGE = 32 << 20

_threads = threading.local()


class EngineMissingError(RuntimeError):
    """No engine is available for the views' code."""


class EngineTimeError(RuntimeError):
    """A call exceeded its time limit."""


class EngineMemoryError(RuntimeError):
    """A call exceeded the memory of its engine, part of which earlier calls may hold."""


def call(function: str, *arguments: str, failure: str) -> str:
    """Call an exported function of ``js/src/engine/engine.ts``."""
    return _engine().call(function, arguments, failure)


def with_memory(action: Callable[[], Result]) -> Result:
    """Return what calls give; if the memory does not suffice, in an engine that holds nothing."""
    is_used = getattr(_threads, "engine", None) is not None
    try:
        return action()
    except EngineMemoryError:
        if not is_used:
            raise
        return action()


def converse(
    function: str,
    *arguments: str,
    answer: Callable[[dict[str, Any]], tuple[Any, Sequence[bytes]]],
    failure: str,
) -> Any:
    """Call a function that asks questions before it is done (``js/src/engine/engine_host.ts``).

    ``answer`` gives the result and the buffers of a reply; its errors go to the function that
    asked.
    """
    engine, spent, sent = _engine(), 0.0, 0

    def step(function: str, *arguments: str | int) -> str:
        nonlocal spent
        start = time.thread_time()
        text = engine.call(function, arguments, failure)
        spent += time.thread_time() - start
        if spent > _MOST_SECONDS:
            raise EngineTimeError(f"{failure}: it took longer than {_MOST_SECONDS:g} s")
        return text

    said = _said(step(function, *arguments))
    while "done" not in said:
        if not said["asked"]:
            raise RuntimeError(f"{failure}: it waits for an answer to no question")
        for asked in said["asked"]:
            try:
                result, buffers = answer(asked["question"])
                reply = json.dumps(result, allow_nan=False)
            except Exception as problem:  # noqa: BLE001 - as in the kernel, an error is an answer
                why = str(problem) or type(problem).__name__
                step("fail", asked["id"], why)
            else:
                packed = base64.b64encode(buffers[0]).decode("ascii") if buffers else ""
                sent += len(packed)
                step("tell", asked["id"], reply, packed)
        said = _said(step("goOn"))
    if sent > _LARGE:
        engine.collect()
    return said["done"]


#: More digits than an integer below 2**53 has.
_LONG_NUMBER = re.compile(r"\d{16}")


def _said(text: str) -> Any:
    """Read what the engine said; JavaScript pads large numbers with zeros."""
    return json.loads(text, parse_int=_whole if _LONG_NUMBER.search(text) else None)


def _whole(text: str) -> float:
    number = int(text)
    return number if abs(number) <= 2**53 else float(text)


def _in_browser() -> bool:
    return sys.platform == "emscripten"


def _engine() -> _QuickJs | _Browser:
    """Return this thread's engine; QuickJS belongs to the thread that made it."""
    engine: _QuickJs | _Browser | None = getattr(_threads, "engine", None)
    if engine is None:
        if not BUNDLE.exists():
            raise EngineMissingError(f"{BUNDLE} is missing: build it with `make bundle`")
        source = BUNDLE.read_text("utf-8")
        engine = _threads.engine = _Browser(source) if _in_browser() else _QuickJs(source)
    return engine


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

    def call(self, function: str, arguments: tuple[str | int, ...], failure: str) -> str:
        # The engine counts the CPU time of all threads of the process.
        limit = _MOST_SECONDS
        called = self._context.eval(f"{_NAME}.{function}")
        while True:
            self._context.set_time_limit(limit)
            start = time.thread_time()
            try:
                return str(called(*arguments))
            except self._failure as problem:
                message = str(problem).splitlines()[0]
                took = time.thread_time() - start
                interrupted = "interrupted" in message
                if interrupted and took < _MOST_SECONDS / 2:
                    limit *= 2
                    continue
                _threads.engine = None
                if interrupted:
                    slow = f"{failure}: it took longer than {_MOST_SECONDS:g} s"
                    raise EngineTimeError(slow) from problem
                kind = EngineMemoryError if "out of memory" in message else RuntimeError
                raise kind(f"{failure}: {message}") from problem

    def collect(self) -> None:
        """Free what nothing refers to any more."""
        self._context.gc()


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

    def call(self, function: str, arguments: tuple[str | int, ...], failure: str) -> str:
        try:
            return str(getattr(self._code, function)(*arguments))
        except self._failure as problem:
            raise RuntimeError(f"{failure}: {problem}") from problem

    def collect(self) -> None:
        """Leave it to the browser."""


def _unable(problem: Exception, remedy: str) -> EngineMissingError:
    message = str(problem).splitlines()[0]
    return EngineMissingError(
        f"the JavaScript engine here cannot run the views' own code ({message}): {remedy}"
    )


def check(answer: str, headers: Iterable[Mapping[str, Any]]) -> None:
    """Raise TypeError unless an answer has the columns that the views read."""
    kinds = {header["name"]: header["kind"] for header in headers}
    wire = _wire()
    if wire is None:
        return
    for name, expected in wire[answer].items():
        kind = kinds.pop(name, None)
        allowed = expected.rstrip("?").split("|")
        if kind not in allowed and not (kind is None and expected.endswith("?")):
            verdict = "is missing" if kind is None else f"is {kind}"
            raise TypeError(f"answer {answer!r}: column {name!r} {verdict}, expected {expected}")
    if kinds:
        raise TypeError(f"answer {answer!r}: unknown column {next(iter(kinds))!r}")


def without_rows(answer: str) -> dict[str, np.ndarray[Any, Any] | StringColumn]:
    """Return the required columns of an answer, without rows."""
    kinds = (_wire() or {}).get(answer, {})
    return {
        name: StringColumn((), np.zeros(0, np.int32))
        if kind == "strings"
        else np.zeros(0, kind.partition("|")[0])
        for name, kind in kinds.items()
        if not kind.endswith("?")
    }


@cache
def _wire() -> dict[str, dict[str, str]] | None:
    """Return ``WIRE``; None if the bundles are not built."""
    path = BUNDLE.with_name("wire.json")
    return json.loads(path.read_text("utf-8")) if path.exists() else None


#: Array types of JavaScript.
_KINDS = ("u1", "u2", "u4", "i4", "f4", "f8")
_ALIGNMENT = 8


def pack(
    columns: Mapping[str, np.ndarray[Any, Any] | StringColumn], answer: str = ""
) -> tuple[list[dict[str, Any]], bytes]:
    """Pack columns into a list of headers and one buffer."""
    headers: list[dict[str, Any]] = []
    buffer = bytearray()
    for name, column in columns.items():
        if isinstance(column, StringColumn):
            headers.append({"name": name, "kind": "strings", **_strings(column, buffer)})
            continue
        array = np.ascontiguousarray(column)
        kind = "u1" if array.dtype == np.bool_ else array.dtype.str[1:]
        if kind not in _KINDS:
            raise TypeError(
                f"column {name!r} is {array.dtype}; expected one of {', '.join(_KINDS)}"
            )
        offset = _append(buffer, array, kind)
        headers.append({"name": name, "kind": kind, "offset": offset, "length": array.size})
    if answer:
        check(answer, headers)
    return headers, bytes(buffer)


def unpack(
    headers: Iterable[Mapping[str, Any]], buffer: bytes
) -> dict[str, np.ndarray[Any, Any] | StringColumn]:
    """Return the columns of :func:`pack`."""
    columns: dict[str, np.ndarray[Any, Any] | StringColumn] = {}
    for header in headers:
        if header["kind"] != "strings":
            kind, length, offset = f"<{header['kind']}", header["length"], header["offset"]
            columns[header["name"]] = np.frombuffer(buffer, kind, length, offset)
            continue
        codes = np.frombuffer(buffer, "<i4", header["length"], header["codes"])
        ends = np.frombuffer(buffer, "<i4", header["unique"] + 1, header["offsets"])
        places = pairwise((ends + header["bytes"]).tolist())
        texts = [buffer[begin:end].decode() for begin, end in places]
        columns[header["name"]] = StringColumn(texts, codes)
    return columns


def packed_text(
    columns: Mapping[str, np.ndarray[Any, Any] | StringColumn], answer: str = ""
) -> dict[str, Any]:
    """Pack columns as JSON for ``js/src/engine/engine.ts``."""
    headers, buffer = pack(columns, answer)
    return {"columns": headers, "base64": base64.b64encode(buffer).decode("ascii")}


def _append(buffer: bytearray, array: np.ndarray[Any, Any], kind: str) -> int:
    buffer.extend(b"\0" * (-len(buffer) % _ALIGNMENT))
    offset = len(buffer)
    buffer.extend(array.astype(f"<{kind}", copy=False).tobytes())
    return offset


def _strings(column: StringColumn, buffer: bytearray) -> dict[str, int]:
    encoded = [text.encode("utf-8", "replace") for text in column.unique]
    ends = np.cumsum([0, *map(len, encoded)])
    if ends[-1] > np.iinfo(np.int32).max:
        raise TypeError(
            f"{counted(ends[-1], 'byte')} of text in one column; at most 2**31 - 1 can be sent"
        )
    where = {
        "length": len(column),
        "unique": len(encoded),
        "codes": _append(buffer, column.codes, "i4"),
        "offsets": _append(buffer, ends.astype(np.int32), "i4"),
    }
    where["bytes"] = len(buffer)
    buffer.extend(b"".join(encoded))
    return where
