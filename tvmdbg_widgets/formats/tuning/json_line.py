"""The JSON of one line with the checks that readers rely on."""

from __future__ import annotations

import json
import math
import re
from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from struct import Struct
from typing import Any, NoReturn

import msgspec
import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tuning.console import Measurement
from tvmdbg_widgets.formats.tuning.lines import MEASURED, InWords, LineProblem, Result
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.text import Issue, IssueSeverity, one_line
from tvmdbg_widgets.model.tuning.parts import ConsoleMessage, Target, Task
from tvmdbg_widgets.model.tuning.trials import FIELDS, Trials

_MOST_DIGITS = 400
_NESTED = frozenset((list, dict))
_SPACED = re.compile(rb'"[ \t\r]+:')
_DECODER = msgspec.json.Decoder()
_BEGINS = b"{[ \t\r"
_NO_JSON = ("JSON is malformed", "Input data was truncated")
#: Accepted by Python's decoder, malformed to the fast one.
_IN_WORDS = (b"NaN", b"Infinity", b"\\u")


def decode(line: bytes) -> Any:
    """Decode a line of JSON with unique keys, finite numbers and valid UTF-8."""
    try:
        value = _DECODER.decode(line)
        if line.count(b'":') == _count_keys(value) and not _SPACED.search(line):
            return value
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return _in_words(line)


def is_other(line: bytes) -> bool:
    """Return whether a line is no JSON, without further explanation."""
    if line[:1] not in _BEGINS:
        return True
    try:
        value = _DECODER.decode(line)
    except msgspec.DecodeError as problem:
        is_text = str(problem).startswith(_NO_JSON)
        return is_text and not any(word in line for word in _IN_WORDS)
    except (UnicodeDecodeError, RecursionError):
        return False
    return len(value) < 2 if type(value) in _NESTED else True


def _count_keys(value: Any) -> int:
    count, left = 0, [value]
    while left:
        value_ = left.pop()
        if type(value_) is dict:
            count += len(value_)
            value_ = value_.values()
        elif type(value_) is not list:
            continue
        left += [inner for inner in value_ if type(inner) in _NESTED]
    return count


def _in_words(line: bytes) -> Any:
    """Decode with Python's decoder, and describe faults."""
    try:
        value = _JSON.decode(line.decode())
        if b"\\u" in line:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as problem:
        why = problem.msg[:1].lower() + problem.msg[1:].removesuffix(" at")
        words = InWords(f"other text ({why} at character {problem.pos + 1:,})")
        raise LineProblem("line", "JSON", words, unfinished=True) from None
    except UnicodeDecodeError as problem:
        words = InWords(f"other bytes (from byte {problem.start:,} of the line on)")
        raise LineProblem("line", "UTF-8 text", words, unfinished=True) from None
    except UnicodeEncodeError:
        raise LineProblem("line", "whole characters", InWords("half a surrogate pair")) from None
    except RecursionError:
        raise LineProblem("line", "JSON", InWords("arrays nested too deep to be read")) from None
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise LineProblem(key[:_MOST_DIGITS], "this key once", InWords("it twice"))
        members[key] = value
    return members


def _number(kind: type[int | float], digits: str) -> float:
    if len(digits) > _MOST_DIGITS:
        expected = f"numbers of at most {_MOST_DIGITS} digits"
        raise LineProblem("line", expected, InWords(f"one of {len(digits):,}"))
    return kind(digits)


def _no_constant(name: str) -> NoReturn:
    raise LineProblem("line", "JSON numbers", InWords(name))


_JSON = json.JSONDecoder(
    object_pairs_hook=_once,
    parse_int=partial(_number, int),
    parse_float=partial(_number, float),
    parse_constant=_no_constant,
)

_NAMES = (*MEASURED, *("schedule", "offset", "length", "line", "task", "unroll", "version", "runs"))
_DTYPES = {each.name: each.dtype for each in FIELDS.values()} | {
    "version": "int32",
    "runs": "int32",
}
_FIELDS = np.dtype([(name, _DTYPES[name]) for name in _NAMES])
_CODES = {"float64": "d", "int64": "q", "int32": "i", "int8": "b"}
# Packing a row takes half the time of appending to columns; a digest is 8 bytes.
_ROW = Struct("=" + "".join("8s" if n == "schedule" else _CODES[_DTYPES[n]] for n in _NAMES))


class TrialColumns:
    """Columns that grow row by row; one row takes about 80 bytes."""

    def __init__(self) -> None:
        self._rows = bytearray()
        self._run_costs = array("d")
        self._versions: dict[str, int] = {}
        self._pack = _ROW.pack

    def __len__(self) -> int:
        return len(self._rows) // _ROW.size

    def add(
        self,
        task: int,
        result: Result,
        version: str,
        schedule: tuple[bytes, int],
        at: tuple[int, int, int],
    ) -> None:
        """Add a row."""
        costs, (digest, unroll) = result.costs, schedule
        number = self._versions.get(version)
        if number is None:
            number = self._versions[version] = len(self._versions)
        self._rows += self._pack(*result[2:], digest, *at, task, unroll, number, len(costs))
        self._run_costs.extend(costs)

    def trials(self) -> Trials:
        """Return the rows as the trials of one source, number 0."""
        rows = np.frombuffer(self._rows, _FIELDS)
        column = {name: np.ascontiguousarray(rows[name]) for name in _FIELDS.names or ()}
        runs, version = column.pop("runs"), column.pop("version")
        return Trials(
            **column,
            run_costs=np.array(self._run_costs, np.float64),
            run_offsets=np.concatenate([[0], np.cumsum(runs, dtype=np.int64)]),
            version=StringColumn(tuple(self._versions), version),
            source=np.zeros(len(rows), np.int16),
        )


Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

#: Compared records of one second per measurement.
_MOST = 4096
_DIGITS = re.compile(r"[0-9]+(?:\.([0-9]*))?(?:e([+-]?[0-9]{1,3}))?")


def join_messages(
    measurements: Sequence[Measurement], trials: Trials
) -> tuple[ConsoleMessage, ...]:
    """Join printed measurements to records with the same printed digits, in order if tied."""
    fitting: dict[tuple[object, ...], tuple[int, ...]] = {}
    order = np.argsort(trials.timestamp, kind="stable")
    times = trials.timestamp[order]
    equal: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for i, measurement in enumerate(measurements):
        key = measurement.error, measurement.costs, measurement.all_cost, measurement.timestamp
        if key not in fitting:
            fitting[key] = _fitting(measurement, trials, order, times)
        equal[fitting[key]].append(i)
    rows = [-1] * len(measurements)
    taken: set[int] = set()
    for candidates, which in sorted(equal.items(), key=lambda item: len(item[0])):
        left = [row for row in candidates if row not in taken]
        if len(left) == len(which):
            taken.update(left)
            for i, row in zip(which, left, strict=True):
                rows[i] = row
    return tuple(
        ConsoleMessage(
            measurement.number, row, measurement.error, measurement.message, measurement.glyphs
        )
        for measurement, row in zip(measurements, rows, strict=True)
    )


def _fitting(item: Measurement, trials: Trials, order: Rows, times: Floats) -> tuple[int, ...]:
    """Return the rows that a measurement may be, ascending."""
    printed = _value(item.timestamp)
    if not math.isfinite(printed):
        return ()
    half = _half_digit(item.timestamp)
    # The log has the seconds without their fraction.
    begin, end = np.searchsorted(times, [math.floor(printed - half), printed + half])
    if not 0 < end - begin <= _MOST:
        return ()
    rows = order[begin:end]
    rows = rows[trials.error[rows] == item.error]
    rows = rows[_agree(trials.all_cost[rows], item.all_cost)]
    if item.error == 0:
        starts, counts = trials.run_offsets[rows], np.diff(trials.run_offsets)[rows]
        same = counts == len(item.costs)
        rows, starts = rows[same], starts[same]
        for i, text in enumerate(item.costs):
            same = _agree(trials.run_costs[starts + i], text)
            rows, starts = rows[same], starts[same]
    return tuple(np.sort(rows).tolist())


def _agree(values: Floats, text: str) -> npt.NDArray[np.bool_]:
    """Return which numbers of the log, with 6 digits, may be printed as this text."""
    value = _value(text)
    if not math.isfinite(value):
        return np.zeros(len(values), bool)
    slack = _half_digit(text) * (1 + 1e-9) + np.abs(values) * 1e-6
    return np.asarray(np.abs(values - value) <= slack)


def _value(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _half_digit(text: str) -> float:
    """Return half of the last printed digit."""
    match = _DIGITS.fullmatch(text)
    if match is None:
        return 0.0
    exponent = int(match[2] or 0) - len(match[1] or "")
    return 0.5 * 10.0**exponent


_COMPARED = {
    "hardware": "hardware parameters",
    "target_host": "host",
    "layout_rewrite": "layout rewrite option",
    "input_names": "input names",
}


_LONGEST_KEPT = 10_000


class Tasks:
    """A table of tasks."""

    def __init__(self) -> None:
        self.found: list[Task] = []
        self.issues: list[Issue] = []
        self._index: dict[tuple[str, str, str], int] = {}
        self._told: set[tuple[int, str]] = set()

    def add(self, task: Task) -> int:
        """Return the index of a task, adding new ones."""
        identity = (task.tuner, task.workload_key, task.target.text)
        index = self._index.setdefault(identity, len(self.found))
        if index == len(self.found):
            self.found.append(replace(task, index=index))
        else:
            self._compare(self.found[index], task)
        return index

    def _compare(self, known: Task, task: Task) -> None:
        for name, words in _COMPARED.items():
            before, now = getattr(known, name), getattr(task, name)
            # An older version says nothing of it.
            if None in (before, now) or before == now or (known.index, name) in self._told:
                continue
            self._told.add((known.index, name))
            text = (
                f"records of task {known.index} ({known.name}) differ in {words}: "
                f"first {before}, later {now}; the first is shown"
            )
            self.issues.append(Issue("task-differs", IssueSeverity.NOTE, one_line(text)))


_TARGETS = lru_cache(1_000)(Target.parse)


def target_of(text: str) -> Target:
    """Split a target string; cached, as few occur."""
    return _TARGETS(text) if len(text) <= _LONGEST_KEPT else Target.parse(text)
