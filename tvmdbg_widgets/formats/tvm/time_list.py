"""Lists of node times, as a program may keep of the debugger's ``time_list``.

``GraphModuleDebug.debug_datum._time_list`` @ v0.6 … v0.19.0 is ``[node][repeat]`` in seconds, 0.0
for parameters; v0.5 has ``[seconds, start, end]`` a node. Bare numbers are one repeat a node. Newer
recorders write ``{"unit": "ns", "nodes": [names], "runs": [[…], …]}``, runs by nodes.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tvm.times_text import decode, read_text
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import as_float, counted
from tvmdbg_widgets.model.base.text import paired_json
from tvmdbg_widgets.sources.byte_source import ByteSource

Floats = npt.NDArray[np.float64]

_CLOCKED = 3
_PLAIN = {int, float, type(None)}
_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1.0}
_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|NaN|Infinity)"
_NESTED = re.compile(rf"\s*\[\s*\[\s*(?:{_NUMBER}|null)\s*[,\]]")
_KEYED = re.compile(r'"nodes"\s*:\s*\[\s*(?:"|\])')


@dataclass(frozen=True, eq=False)
class TimeList:
    """Measured times of N nodes by position."""

    offsets: npt.NDArray[np.int64]
    ns: Floats
    names: tuple[str, ...] | None
    clock: tuple[tuple[str, str], ...] | None
    issues: Issues
    file: str

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def repeats(self, node: int) -> Floats:
        """Repeats of a node in nanoseconds, in file order."""
        return self.ns[self.offsets[node] : self.offsets[node + 1]]

    def __repr__(self) -> str:
        counts = np.diff(self.offsets)
        low, high = (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)
        repeats = counted(high, "repeat") if low == high else f"{low} to {high} repeats"
        found = f"; {self.issues.summary()}" if len(self.issues) else ""
        return f"TimeList: {counted(len(self), 'node')}, {repeats} each; {self.file}{found}"


def sniff(head: bytes) -> bool:
    """Tell whether these bytes begin a list of node times; bare numbers are not told."""
    text = decode(head, "")[0]
    if _NESTED.match(text):
        return True
    return text.lstrip()[:1] == "{" and '"unit"' in text and _KEYED.search(text) is not None


def read_time_list(source: ByteSource) -> TimeList:
    """Read a list of node times; what is no finite number of nanoseconds is NaN.

    Issues: ``time-negative``, ``not-text``.
    """
    text, issues = read_text(source)
    text, _ = paired_json(text)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as problem:
        raise FormatError(
            f"not JSON ({str(problem)[:80]})",
            file=source.name,
            offset=len(text[: problem.pos].encode("utf-8", "surrogatepass")),
            expected="[[seconds, …], …]",
            found=repr(text[:60]),
            hint="The file may be cut off: write it again.",
        ) from None
    except (ValueError, RecursionError) as problem:
        deep = isinstance(problem, RecursionError)
        raise FormatError(
            "nested too deeply" if deep else "a number too long to be read",
            file=source.name,
            expected="[[seconds, …], …]",
            found=str(problem).partition(":")[0].lower(),
        ) from None
    names: tuple[str, ...] | None = None
    clock: tuple[tuple[str, str], ...] | None = None
    if isinstance(document, dict):
        names, values, counts = _runs(document, source.name)
        scale = _UNITS[document["unit"]]
    elif isinstance(document, list):
        values, counts, clock = _nodes(document, source.name)
        scale = 1e9
    else:
        raise _wrong(source.name, "the document", "a list or an object", document)
    with np.errstate(over="ignore"):
        ns = values * scale
    ns[np.isinf(ns)] = np.nan
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    negative = np.flatnonzero(ns < 0)
    if len(negative):
        node = int(np.searchsorted(offsets, negative[0], "right")) - 1
        said = (
            f"{counted(len(negative), 'time')} below zero, the first of node {node} "
            f"({ns[negative[0]]:.9g} ns)"
        )
        issues.append(Issue("time-negative", IssueSeverity.WARNING, said, file=source.name))
    return TimeList(offsets, ns, names, clock, Issues(issues), source.name)


def _nodes(
    document: list[Any], file: str
) -> tuple[Floats, list[int], tuple[tuple[str, str], ...] | None]:
    own = [each if isinstance(each, list) else [each] for each in document]
    clock = tuple(
        (str(each[1]), str(each[2]))
        for each in own
        if len(each) == _CLOCKED and (isinstance(each[1], str) or isinstance(each[2], str))
    )
    if clock and len(clock) < len(document):
        raise FormatError(
            "some nodes have start and end times and some have not",
            file=file,
            expected="[seconds, start, end] for every node",
            found=f"{len(clock)} of {counted(len(document), 'node')}",
        )
    if clock:
        own = [each[:1] for each in own]

    def field(i: int, k: int) -> str:
        return f"[{i}][{k}]" if isinstance(document[i], list) else f"[{i}]"

    return _numbers(own, file, field), [len(each) for each in own], clock or None


def _runs(document: dict[str, Any], file: str) -> tuple[tuple[str, ...], Floats, list[int]]:
    unit, names, runs = (document.get(key) for key in ("unit", "nodes", "runs"))
    if not isinstance(unit, str) or unit not in _UNITS:
        raise _wrong(file, "unit", f"one of {', '.join(_UNITS)}", unit)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _wrong(file, "nodes", "a list of names", names)
    if not isinstance(runs, list) or not all(isinstance(run, list) for run in runs):
        raise _wrong(file, "runs", "a list of lists of times", runs)
    for k, run in enumerate(runs):
        if len(run) != len(names):
            raise _wrong(file, f"runs[{k}]", f"{counted(len(names), 'time')}, one a node", run)
    values = _numbers(runs, file, lambda k, i: f"runs[{k}][{i}]")
    by_node = values.reshape(len(runs), len(names)).T.ravel()
    return tuple(names), by_node, [len(runs)] * len(names)


def _numbers(lists: list[list[Any]], file: str, field: Callable[[int, int], str]) -> Floats:
    """Return all values in one array; each alone, with its field, only where one is odd."""
    values = list(chain.from_iterable(lists))
    if _PLAIN.issuperset(map(type, values)):
        with contextlib.suppress(OverflowError):
            return np.array(values, np.float64)
    each = enumerate(lists)
    return np.array([_number(v, file, field(i, k)) for i, own in each for k, v in enumerate(own)])


def _number(value: Any, file: str, field: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        return as_float(value)
    raise _wrong(file, field, "a number", value)


def _wrong(file: str, field: str, expected: str, found: Any) -> FormatError:
    return FormatError(
        "this is not a list of node times",
        file=file,
        field=field,
        expected=expected,
        found=repr(found)[:80],
    )
