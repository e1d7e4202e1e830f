"""The lines that TVM writes of Ansor records, from what was read of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from tvmdbg_widgets.model.tuning.measure_errors import ANSOR_FAILED_COST
from tvmdbg_widgets.model.tuning.parts import Task
from tvmdbg_widgets.model.tuning.steps import AnyStep


def encode_record(
    task: Task,
    steps: Iterable[AnyStep],
    costs: Sequence[float],
    *,
    error: int = 0,
    all_cost: float = 0.0,
    timestamp: float = 0.0,
    version: str = "v0.6",
) -> bytes:
    """Return the line that TVM would write for an Ansor record, without its end.

    Key order, spacing and numbers of 6 digits as ``WriteMeasureRecords`` gives them
    (src/auto_scheduler/measure_record.cc); a number that 6 digits do not hold has all it needs.

    Parameters
    ----------
    task
        As many fields are written as ``task.fields`` says.
    steps
    costs
        Seconds; what is written for a failed trial does not depend on them.
    error, all_cost, timestamp, version
        As in the log.
    """
    state = json.dumps([each.encode() for each in steps])
    numbers = ", ".join(map(_number, [ANSOR_FAILED_COST] if error else costs))
    result = f"[[{numbers}], {int(error)}, {_number(all_cost)}, {int(timestamp)}]"
    return (
        f'{{"i": [{_task(task)}, [[], {state}]], "r": {result}, "v": {json.dumps(version)}}}'
    ).encode()


def _task(task: Task) -> str:
    host = "" if task.target_host is None else task.target_host.text
    fields = (
        task.workload_key,
        task.target.text,
        None if task.hardware is None else task.hardware.to_list(),
        host,
        task.layout_rewrite,
        list(task.input_names or ()),
    )
    return json.dumps(fields[: task.fields], ensure_ascii=False)


def _number(value: float) -> str:
    short = f"{value:.6g}"
    return short if float(short) == value else repr(float(value))
