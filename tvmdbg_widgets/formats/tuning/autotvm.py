"""One record of an AutoTVM log, both versions (``encode``, python/tvm/autotvm/record.py).

0.1 (TVM <= 0.6): ``{"i": [target, name, args, kwargs, workload, config], "r": result, "v": 0.1}``;
0.2: ``{"input": [target, name, args, kwargs], "config": …, "result": …, "version": 0.2,
"tvm_version": …}``. Lines of the pickle protocol are told, and never decoded.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec

from tvmdbg_widgets.formats.tuning.ansor import check_keys
from tvmdbg_widgets.formats.tuning.lines import LineProblem, array, text
from tvmdbg_widgets.formats.tuning.result import Result, read_result
from tvmdbg_widgets.formats.tuning.tasks import target_of
from tvmdbg_widgets.model.tuning.measure_errors import AUTOTVM_FAILED_COST
from tvmdbg_widgets.model.tuning.task import Task
from tvmdbg_widgets.model.tuning.workload import Workload

_KEYS = ("input", "config", "result", "version", "tvm_version")
_OLD_KEYS = ("i", "r", "v")
_UNROLL = "auto_unroll_max_step"


def is_record(document: dict[str, Any]) -> bool:
    """Whether a document is a record of one of the two versions, or was meant to be."""
    if "v" in document:
        return type(document["v"]) in (int, float)
    return "input" in document or "result" in document


def parse(document: dict[str, Any]) -> tuple[Task, Any, Result, str]:
    """Return task, config, result and version of a record."""
    if "v" in document:
        check_keys(document, _OLD_KEYS)
        target, name, args, _, _, config = array(document["i"], "i", 6)
        task = _task(target, name, args, "i")
        result = read_result(document["r"], "r", AUTOTVM_FAILED_COST)
        return task, config, result, str(document["v"])
    check_keys(document, _KEYS)
    target, name, args, _ = array(document["input"], "input", 4)
    task = _task(target, name, args, "input")
    result = read_result(document["result"], "result", AUTOTVM_FAILED_COST)
    version = document["version"]
    if type(version) not in (int, float):
        raise LineProblem("version", "a number", version)
    return task, document["config"], result, str(version)


def _task(target: Any, name: Any, args: Any, field: str) -> Task:
    named = text(name, f"{field}[1]")
    given = array(args, f"{field}[2]")
    key = msgspec.json.encode([named, *given]).decode()
    workload = Workload(key, named, tuple(given))
    return Task(0, "autotvm", workload, target_of(text(target, f"{field}[0]")))


def digest(task: Task, config: Any) -> bytes:
    """Return 8 bytes that are equal for equal tasks with equal configs."""
    found = msgspec.json.encode([task.target.text, task.workload_key, config])
    return blake2b(found, digest_size=8).digest()


def unroll_of(config: Any) -> int:
    """Return the knob ``auto_unroll_max_step`` of a config, -1 where it has none."""
    entity = config.get("entity", config.get("e")) if isinstance(config, dict) else None
    for knob in entity if isinstance(entity, list) else ():
        if isinstance(knob, list) and len(knob) == 3 and knob[0] == _UNROLL:
            value = knob[2]
            return value if type(value) is int and 0 <= value < 2**31 else -1
    return -1
