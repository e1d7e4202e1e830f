"""One record of an Ansor log: ``{"i": [task, state], "r": result, "v": "v0.6"}``.

``ReadMeasureRecord`` and the handlers before it, src/auto_scheduler/measure_record.cc. That reader
decides by the length of the task's array and ignores ``v``; so does this one.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from tvmdbg_widgets.formats.tuning.json_line import Tasks, TrialColumns, decode, target_of
from tvmdbg_widgets.formats.tuning.lines import (
    InWords,
    LineProblem,
    Result,
    Usual,
    array,
    read_result,
    result_of,
    text,
    whole,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.measure_errors import ANSOR_FAILED_COST
from tvmdbg_widgets.model.tuning.parts import HardwareParams, Task, Workload
from tvmdbg_widgets.model.tuning.steps import (
    STEPS,
    Annotation,
    AnyStep,
    FollowFusedSplitStep,
    FollowSplitStep,
    PragmaStep,
    SplitStep,
)

_KEYS = ("i", "r", "v")
_VERSION_LENGTH = 32
_INT64 = 2**63
_REWRITES = 2
# As TVM, and Python's json, write a record.
_TASK = b'{"i": [['
_STEPS = b'], [[], [["'
_NEXT_STEP = b'], ["'
_RESULT = b']]]], "r": '
_QUOTES = 4  # of "v" and its value
_MOST_KEPT, _MOST_ORDERS, _MOST_STEPS, _LONGEST_STEP = 100_000, 1_000, 1_000, 1_000
_MOST_TASKS, _LONGEST_TASK = 10_000, 10_000
_MOST_SPLITS = 10_000
_SPLIT, _FOLLOWS, _UNROLLS, _OTHER = b"s", b"f", b"u", b"."
# Splits are as many as there are tilings; other steps are few.
_USUAL_SPLIT = re.compile(
    rb'SP", (?:0|[1-9][0-9]{0,8}), (?:0|[1-9][0-9]{0,8}), (?:0|[1-9][0-9]{0,17}), '
    rb"\[[1-9][0-9]{0,8}(?:, [1-9][0-9]{0,8})*\], [01]"
).fullmatch


class _Tail(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The end of a record from ``"r": `` on, with usual numbers."""

    r: Usual
    v: Annotated[str, Meta(max_length=_VERSION_LENGTH)]


_DECODE_TAIL = msgspec.json.Decoder(_Tail).decode


class AnsorReader:
    """Reads records into columns, by cached parts of the line or by :func:`parse`."""

    def __init__(self, tasks: Tasks, columns: TrialColumns) -> None:
        self._tasks = tasks
        self._columns = columns
        self._task_of: dict[bytes, int] = {}
        self._steps = _KnownSteps()
        self.odd = ""

    def add_usual(self, line: bytes, offset: int, number: int) -> bool:
        """Add a record; False, and nothing done, if it needs :meth:`add`."""
        begin, end = line.find(_STEPS), line.rfind(_RESULT)
        task = self._task_of.get(line[:begin])
        if task is None or end < begin:
            return False
        tail = line[end + len(_RESULT) :]
        try:
            unroll = self._steps.unroll(line[begin + len(_STEPS) : end].split(_NEXT_STEP))
            result, version = _tail(tail)
        except (LineProblem, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        if tail.count(b'"') != _QUOTES:
            return False
        self.odd = result.odd
        digest = blake2b(line[:end], digest_size=8).digest()
        self._columns.add(task, result, version, (digest, unroll), (offset, len(line), number))
        return True

    def add(self, document: dict[str, Any], line: bytes, offset: int, number: int) -> None:
        """Add a record with any spacing and order of keys."""
        task, steps, result, version = parse(document)
        index = self._tasks.add(task)
        self.odd = result.odd
        usual = line.startswith(_TASK)
        end = line.rfind(_RESULT) if usual else -1
        digested = line[:end] if end >= 0 else msgspec.json.encode(document["i"])
        digest = blake2b(digested, digest_size=8).digest()
        unroll = max(map(_unroll, steps), default=-1)
        self._columns.add(index, result, version, (digest, unroll), (offset, len(line), number))
        begin = line.find(_STEPS)
        known = self._task_of
        if not usual or not 0 < begin < _LONGEST_TASK or len(known) >= _MOST_TASKS:
            return
        if _is_task(line[len(_TASK) - 1 : begin + 1], document):
            known[line[:begin]] = index


def _is_task(raw: bytes, document: dict[str, Any]) -> bool:
    """Return whether bytes are the task of a record, and may be cached as such."""
    try:
        return bool(decode(raw) == document["i"][0])
    except LineProblem:
        return False


class _Kinds(dict[bytes, bytes]):
    """Cached kinds of checked steps by their bytes between ``["`` and ``]``."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: dict[bytes, frozenset[int]] = {}
        self.unroll: dict[bytes, int] = {}

    def __missing__(self, piece: bytes) -> bytes:
        if len(piece) > _LONGEST_STEP:
            raise LineProblem("steps", "short ones, to be looked at so", InWords("a long one"))
        if _USUAL_SPLIT(piece):
            if len(self) < _MOST_SPLITS:
                self[piece] = _SPLIT
            return _SPLIT
        kind = self[piece] = self._checked(piece)
        return kind

    def forget(self) -> None:
        for kept in (self, self.sources, self.unroll):
            kept.clear()

    def _checked(self, piece: bytes) -> bytes:
        step = _step(piece)
        sources, unroll = followed(step), _unroll(step)
        if sources:
            self.sources[piece] = frozenset(sources)
            return _FOLLOWS
        if unroll >= 0:
            self.unroll[piece] = unroll
            return _UNROLLS
        return _SPLIT if isinstance(step, SplitStep) else _OTHER


class _KnownSteps:
    """Steps of records, cached once checked."""

    def __init__(self) -> None:
        self._kinds = _Kinds()
        self._order: dict[bytes, _StepOrder] = {}

    def unroll(self, pieces: list[bytes]) -> int:
        """Return the largest N of a pragma that unrolls, or -1."""
        if len(pieces) > _MOST_STEPS:
            raise LineProblem("steps", "fewer, to be looked at so", InWords(f"{len(pieces):,}"))
        if len(self._kinds) > _MOST_KEPT:
            self._kinds.forget()
        kinds = b"".join(map(self._kinds.__getitem__, pieces))
        order = self._order.get(kinds) or self._look_at_order(kinds)
        for at in order.follows:
            if not self._kinds.sources[pieces[at]] <= order.splits:
                raise LineProblem("steps", "the index of a SP", pieces[at])
        unroll = -1
        for at in order.unrolls:
            unroll = max(unroll, self._kinds.unroll[pieces[at]])
        return unroll

    def _look_at_order(self, kinds: bytes) -> _StepOrder:
        splits, follows, unrolls = (
            tuple(at for at, kind in enumerate(kinds) if kind == code[0])
            for code in (_SPLIT, _FOLLOWS, _UNROLLS)
        )
        order = _StepOrder(frozenset(splits), follows, unrolls)
        if len(self._order) < _MOST_ORDERS:
            self._order[kinds] = order
        return order


class _StepOrder(NamedTuple):
    """Positions of splits, of steps that follow them, and of unrolling steps."""

    splits: frozenset[int]
    follows: tuple[int, ...]
    unrolls: tuple[int, ...]


def _unroll(step: AnyStep) -> int:
    unroll = step.auto_unroll if isinstance(step, PragmaStep) else None
    return -1 if unroll is None else unroll


def _tail(tail: bytes) -> tuple[Result, str]:
    """Return the result and the version after ``"r": ``."""
    record = _DECODE_TAIL(b'{"r": ' + tail)
    costs, error, *numbers = record.r
    if error == 0 and len(costs) == 1 and costs[0] < ANSOR_FAILED_COST:
        return Result(costs, "", costs[0], 0, *numbers), record.v
    return result_of(record.r, "r", ANSOR_FAILED_COST), record.v


def parse(document: dict[str, Any]) -> tuple[Task, tuple[AnyStep, ...], Result, str]:
    """Return task, steps, result and version of a record."""
    check_keys(document, _KEYS)
    task, state = array(document["i"], "i", 2)
    stages, steps = array(state, "i[1]", 2)
    if stages != []:
        raise LineProblem("i[1][0]", "an empty array (stages are not recorded)", stages)
    return (
        read_task(task),
        parse_steps(array(steps, "i[1][1]")),
        read_result(document["r"], "r", ANSOR_FAILED_COST),
        _version(document["v"]),
    )


def steps_of(line: bytes) -> tuple[AnyStep, ...]:
    """Return the steps of a line that was read before as a record."""
    begin, end = line.find(_STEPS), line.rfind(_RESULT)
    pieces = line[begin + len(_STEPS) : end].split(_NEXT_STEP)
    if line.startswith(_TASK) and 0 < begin < end and max(map(len, pieces)) <= _LONGEST_STEP:
        with contextlib.suppress(LineProblem):  # a text in it looks like one of these
            return tuple(map(_step, pieces))
    return parse_steps(decode(line)["i"][1][1])


@lru_cache(50_000)
def _step(piece: bytes) -> AnyStep:
    return parse_step(decode(b'["' + piece + b"]"), 0)


def check_keys(document: dict[str, Any], keys: Sequence[str]) -> None:
    """Raise LineProblem unless a document has exactly these keys."""
    for key in document:
        if key not in keys:
            raise LineProblem("line", f"the keys {', '.join(keys)}", key)
    for key in keys:
        if key not in document:
            raise LineProblem(key, "this key", InWords("none of that name"))


def read_task(value: Any) -> Task:
    """Return the task of a record (``Handler<SearchTaskNode>``): 2 fields in v0.2, 6 in v0.6."""
    items = array(value, "i[0]", 2, 3, 4, 5, 6)
    key, target = text(items[0], "i[0][0]"), text(items[1], "i[0][1]")
    hardware = host = rewrite = names = None
    if len(items) > 2:
        numbers = array(items[2], "i[0][2]", 8)
        hardware = HardwareParams(
            *(whole(size, f"i[0][2][{i}]", -_INT64, _INT64 - 1) for i, size in enumerate(numbers))
        )
    if len(items) > 3:
        host = text(items[3], "i[0][3]")
    if len(items) > 4:
        rewrite = whole(items[4], "i[0][4]", 0, _REWRITES)
    if len(items) > 5:
        names = tuple(
            text(size, f"i[0][5][{i}]") for i, size in enumerate(array(items[5], "i[0][5]"))
        )
    try:
        decoded = decode(key.encode())
    except LineProblem:
        decoded = None
    return Task(
        0,
        "ansor",
        Workload.of(key, decoded),
        target_of(target),
        hardware,
        target_of(host) if host else None,
        rewrite,
        names,
        len(items),
    )


def _version(value: Any) -> str:
    version = text(value, "v")
    if len(version) > _VERSION_LENGTH:
        raise LineProblem("v", f"a version of at most {_VERSION_LENGTH} characters", version)
    return version


Check: TypeAlias = Callable[[Any, str], Any]

_INT32 = 2**31 - 1
#: Real schedules have up to a few hundred steps.
_LONGEST_SCHEDULE = 20_000
_UNROLL = "auto_unroll_max_step$"


def parse_steps(items: object) -> tuple[AnyStep, ...]:
    """Return the transform steps of a record."""
    rows = array(items, "steps")
    if len(rows) > _LONGEST_SCHEDULE:
        raise LineProblem("steps", f"at most {_LONGEST_SCHEDULE:,}", InWords(f"{len(rows):,}"))
    steps = [parse_step(item, index) for index, item in enumerate(rows)]
    for index, step in enumerate(steps):
        for source in followed(step):
            # TVM looks among all steps of the record (ExtractSplitLengths, transform_step.cc).
            if source >= len(steps) or not isinstance(steps[source], SplitStep):
                name = f"step {index} ({step.code}) src_step_id"
                raise LineProblem(name, "the index of a SP", source)
    return tuple(steps)


def parse_step(items: object, index: int) -> AnyStep:
    """Return one step without checking the steps that it follows."""
    items_ = array(items, f"step {index}")
    code = items_[0] if items_ else None
    if type(code) is not str or code not in STEPS:
        raise LineProblem(f"step {index}", f"one of {', '.join(STEPS)}", code)
    name = f"step {index} ({code})"
    checks = _CHECKS[code]
    if len(items_) != len(checks) + 1:
        fields_found = InWords(f"{len(items_) - 1}")
        raise LineProblem(name, counted(len(checks), "field"), fields_found)
    try:
        values = [
            check(value, field) for value, (field, check) in zip(items_[1:], checks, strict=True)
        ]
    except LineProblem as problem:
        where = f"{name} {problem.field}"
        raise LineProblem(where, problem.expected, problem.found) from None
    return STEPS[code](*values)


def followed(step: AnyStep) -> tuple[int, ...]:
    """Return the splits that a step takes its factors from."""
    if isinstance(step, FollowSplitStep):
        return (step.src_step_id,)
    return step.src_step_ids if isinstance(step, FollowFusedSplitStep) else ()


def _flag(value: Any, field: str) -> bool:
    return bool(whole(value, field, 0, 1))


def _numbers(value: Any, field: str, low: int) -> tuple[int, ...]:
    numbers = array(value, field)
    for i, number in enumerate(numbers):
        if type(number) is not int or not low <= number <= _INT32:
            whole(number, f"{field}[{i}]", low, _INT32)
    return tuple(numbers)


def _order(value: Any, field: str) -> tuple[int, ...]:
    # TVM applies a list that is too short, and loses the other loops.
    order = _numbers(value, field, 0)
    if len(set(order)) < len(order):
        raise LineProblem(field, "each loop once", InWords("one twice"))
    return order


def _name(value: Any, field: str) -> str:
    """Return the name of a memory or a pragma."""
    name = text(value, field)
    if not name.isprintable():
        raise LineProblem(field, "printable characters", name)
    return name


def _pragma(value: Any, field: str) -> str:
    pragma = _name(value, field)
    number = pragma[len(_UNROLL) :] if pragma.startswith(_UNROLL) else ""
    if number.isdecimal() and (len(number) > 10 or int(number) > _INT32):
        raise LineProblem(field, f"at most {_UNROLL}{_INT32}", pragma)
    return pragma


_ID: Check = partial(whole, low=0, high=_INT32)
_SIGNED: Check = partial(whole, low=-_INT32 - 1, high=_INT32)
_BY_NAME: dict[str, Check] = {
    "after_ids": _order,
    "annotation": lambda value, field: Annotation(whole(value, field, 0, max(Annotation))),
    # A product of fused extents, which TVM >= 0.10 wraps to 32 bit; the replay does not use it.
    "extent": partial(whole, low=-(2**63), high=2**63 - 1),
    "factor": _SIGNED,
    "factor_iter_id": _SIGNED,
    "factor_or_nparts": _flag,
    "fused_ids": partial(_numbers, low=0),
    "inner_to_outer": _flag,
    "lengths": partial(_numbers, low=1),
    "offset": _SIGNED,
    "pragma_type": _pragma,
    "reader_stage_ids": partial(_numbers, low=0),
    "scope_name": _name,
    "src_step_ids": partial(_numbers, low=0),
}
_CHECKS: dict[str, tuple[tuple[str, Check], ...]] = {
    code: tuple((each.name, _BY_NAME.get(each.name, _ID)) for each in fields(kind))
    for code, kind in STEPS.items()
}
