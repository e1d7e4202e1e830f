"""Transform steps from JSON: code, number of fields, types and ranges.

Order of fields: ``…StepNode::WriteToRecord``, src/auto_scheduler/transform_step.cc. What depends on
the state a step is applied to (whether there is such a stage or loop) is told by the replay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, TypeAlias

from tvmdbg_widgets.formats.tuning.lines import InWords, LineProblem, array, text, whole
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.steps import (
    STEPS,
    Annotation,
    AnyStep,
    FollowFusedSplitStep,
    FollowSplitStep,
    SplitStep,
)

Check: TypeAlias = Callable[[Any, str], Any]

_INT32 = 2**31 - 1
#: Real schedules have up to some hundred.
_MOST_STEPS = 20_000
_UNROLL = "auto_unroll_max_step$"


def parse_steps(items: object) -> tuple[AnyStep, ...]:
    """Return the transform steps of a record."""
    found = array(items, "steps")
    if len(found) > _MOST_STEPS:
        raise LineProblem("steps", f"at most {_MOST_STEPS:,}", InWords(f"{len(found):,}"))
    steps = [parse_step(each, index) for index, each in enumerate(found)]
    for index, step in enumerate(steps):
        for source in followed(step):
            # TVM looks among all steps of the record (ExtractSplitLengths, transform_step.cc).
            if source >= len(steps) or not isinstance(steps[source], SplitStep):
                name = f"step {index} ({step.code}) src_step_id"
                raise LineProblem(name, "the index of a SP", source)
    return tuple(steps)


def parse_step(items: object, index: int) -> AnyStep:
    """Return one step; what it follows is not looked at."""
    found = array(items, f"step {index}")
    code = found[0] if found else None
    if type(code) is not str or code not in STEPS:
        raise LineProblem(f"step {index}", f"one of {', '.join(STEPS)}", code)
    name = f"step {index} ({code})"
    checks = _CHECKS[code]
    if len(found) != len(checks) + 1:
        fields_found = InWords(f"{len(found) - 1}")
        raise LineProblem(name, counted(len(checks), "field"), fields_found)
    try:
        values = [
            check(value, field) for value, (field, check) in zip(found[1:], checks, strict=True)
        ]
    except LineProblem as problem:
        where = f"{name} {problem.field}"
        raise LineProblem(where, problem.expected, problem.found) from None
    return STEPS[code](*values)


def followed(step: AnyStep) -> tuple[int, ...]:
    """Return which splits a step takes its factors from."""
    if isinstance(step, FollowSplitStep):
        return (step.src_step_id,)
    return step.src_step_ids if isinstance(step, FollowFusedSplitStep) else ()


def _flag(value: Any, field: str) -> bool:
    return bool(whole(value, field, 0, 1))


def _numbers(value: Any, field: str, low: int) -> tuple[int, ...]:
    found = array(value, field)
    for i, each in enumerate(found):
        if type(each) is not int or not low <= each <= _INT32:
            whole(each, f"{field}[{i}]", low, _INT32)
    return tuple(found)


def _order(value: Any, field: str) -> tuple[int, ...]:
    # TVM applies a list that is too short, and loses the other loops.
    found = _numbers(value, field, 0)
    if len(set(found)) < len(found):
        raise LineProblem(field, "each loop once", InWords("one twice"))
    return found


def _name(value: Any, field: str) -> str:
    """Return the name of a memory or a pragma, which is shown as it is in loop nests."""
    found = text(value, field)
    if not found.isprintable():
        raise LineProblem(field, "printable characters", found)
    return found


def _pragma(value: Any, field: str) -> str:
    found = _name(value, field)
    number = found[len(_UNROLL) :] if found.startswith(_UNROLL) else ""
    if number.isdecimal() and (len(number) > 10 or int(number) > _INT32):
        raise LineProblem(field, f"at most {_UNROLL}{_INT32}", found)
    return found


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
