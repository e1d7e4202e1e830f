"""Schedules of AutoTVM and MetaSchedule in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import Record

_MOST_LINES = 2_000
_LONGEST = 300
_POSTPROC = "EnterPostproc"
_NO_DECISION = object()
#: Decisions of SampleComputeLocation that are no loop (src/tir/schedule/primitive/sampling.cc).
_PLACES = {-1: "on its own", -2: "inlined"}


def config_words(record: Record) -> tuple[str, ...]:
    """Return a line per AutoTVM knob or MetaSchedule instruction; other JSON as it is."""
    lines = _trace(record.config) if record.task.tuner == "metaschedule" else _knobs(record.config)
    return tuple(_short(line) for line, _ in zip(lines, range(_MOST_LINES), strict=False))


def _knobs(config: Any) -> Iterator[str]:
    """Yield entities of a ``ConfigEntity`` (python/tvm/autotvm/task/space.py), both versions."""
    if not isinstance(config, dict):
        yield _plain(config)
        return
    entities = config.get("entity", config.get("e"))
    yield f"config #{_plain(config.get('index', config.get('i')))}"
    for entity in entities if isinstance(entities, list) else []:
        if isinstance(entity, list) and len(entity) == 3 and isinstance(entity[0], str):
            yield f"{entity[0]}: {_knob(entity[1], entity[2])}"
        else:
            yield _plain(entity)


def _knob(kind: Any, value: Any) -> str:
    if not isinstance(value, list):
        return _plain(value)
    if kind == "sp":
        return f"split [{', '.join(map(_plain, value))}]"
    words = ", ".join(map(_plain, value)) or "nothing"
    return f"order {words}" if kind == "re" else f"loops as {words}" if kind == "an" else words


def _trace(config: Any) -> Iterator[str]:
    """Yield instructions with decisions (``TraceNode::AsJSON``, src/tir/schedule/trace.cc)."""
    if not (isinstance(config, list) and len(config) == 2 and isinstance(config[0], list)):
        yield _plain(config)
        return
    decisions = _decisions(config[1])
    for number, instruction in enumerate(config[0]):
        if not isinstance(instruction, list) or len(instruction) != 4:
            yield _plain(instruction)
        elif instruction[0] == _POSTPROC:
            yield "postprocessing, which is no part of the search, from here on"
        else:
            yield _instruction(instruction, decisions.get(number, _NO_DECISION))


def _decisions(items: Any) -> dict[int, Any]:
    pairs = items if isinstance(items, list) else []
    return {
        pair[0]: pair[1]
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int
    }


def _instruction(instruction: list[Any], decision: Any) -> str:
    name, inputs, attrs, outputs = instruction
    given = [_plain(value) for part in (inputs, attrs) if isinstance(part, list) for value in part]
    results = ", ".join(map(_plain, outputs)) if isinstance(outputs, list) else ""
    text = f"{results} = " if results else ""
    text += f"{_plain(name)}({', '.join(given)})"
    if decision is _NO_DECISION:
        return text
    if name == "SampleCategorical":
        return f"{text}: {_plain(_indexed_candidate(attrs, decision))} chosen"
    if isinstance(decision, list):
        return f"{text}: {' · '.join(map(_plain, decision))} chosen"
    place = _PLACES.get(decision) if type(decision) is int else None
    return f"{text}: {place or f'loop {_plain(decision)}'} chosen"


def _indexed_candidate(attrs: Any, decision: Any) -> Any:
    candidates = attrs[0] if isinstance(attrs, list) and attrs else None
    if type(decision) is int and isinstance(candidates, list) and 0 <= decision < len(candidates):
        return candidates[decision]
    return decision


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):  # nested without end, or too many digits
        return "…"


def _short(text: str) -> str:
    shown = one_line(text[:_LONGEST])
    return shown if len(text) <= _LONGEST else f"{shown}…"
