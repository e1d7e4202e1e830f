"""What the view shows of a whole log: trials as columns, and what was counted of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.tuning import find
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.tuning.curves import best_so_far
from tvmdbg_widgets.analysis.tuning.errors_by import errors_by
from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.links import TaskLinks
from tvmdbg_widgets.analysis.tuning.records.choose import best_rows
from tvmdbg_widgets.analysis.tuning.sessions import elapsed
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.verdicts.findings import Finding

_REFUSED_SHOWN = 5
ErrorsBy: TypeAlias = Literal["unroll", "round", "threads"]
#: Errors by task stand in the table of tasks.
ERRORS_BY: tuple[ErrorsBy, ...] = ("unroll", "round", "threads")
_ROWS_SHOWN = 100
_UNRECORDED = 255


class Overview(NamedTuple):
    """Facts as JSON, and columns; as ``js/src/tuning/data/data.ts`` reads them."""

    info: dict[str, Any]
    columns: dict[str, npt.NDArray[Any]]


def overview(log: LogFacts, links: TaskLinks | None = None) -> Overview:
    """Return what the view is given of a log."""
    trials = log.trials
    time = elapsed(trials)
    table = log.known_tasks
    bests, codes = best_trials(log), np.unique(trials.error)
    rows, offsets = _improvements(best_so_far(trials), trials.task, len(log.tasks))
    total = log.curve()
    dags = list(map(log.dag, range(len(log.tasks))))
    assumed = {at for at, dag in enumerate(dags) if dag is not None and dag.source.is_assumption}
    flops = list(map(log.flop_count, range(len(log.tasks))))
    tasks = [
        {
            "index": task.index,
            "name": one_line(task.name),
            "key": one_line(task.workload_key),
            "target": one_line(task.target.text),
            "trials": int(table.errors.trials[at]),
            "valid": int(table.errors.valid[at]),
            "best": _known(table.best[at]),
            "bestTrial": bests.get(at),
            "gflops": _known((flops[at] or math.nan) / (table.best[at] or math.nan) / 1e9),
            "assumed": at in assumed,
            "gain": _known(table.gains.gain[at]),
            "spent": _known(table.errors.seconds[at]),
            "weight": float(table.weights[at]),
            "share": _known(table.share[at]),
            "nodes": [] if links is None else list(links.nodes_of(at)),
            "linkedBy": "" if links is None else links.how(at),
        }
        for at, task in enumerate(log.tasks)
    ]
    info = {
        "title": one_line(log.title),
        "about": _about(log),
        "tasks": tasks,
        "findings": [_finding(each) for each in find(LogEvidence(log.parts))],
        "errorNames": {
            str(code if code >= 0 else _UNRECORDED): MeasureError(code).label
            for code in codes.tolist()
        },
        "onGpu": any(task.target.is_gpu for task in log.tasks),
        "refused": log.parts.num_refused,
        "refusedWhy": [
            one_line(f"line {each.line}: {each.why}") for each in log.parts.refused[:_REFUSED_SHOWN]
        ],
        "weighted": table.weighted,
        "total": _known(table.total),
        "timed": bool(np.isfinite(time).any()),
        "summary": f"{failed:,} of {counted(len(trials), 'trial')} failed"
        if (failed := int(trials.failed.sum()))
        else f"{counted(len(trials), 'trial')}, none failed",
    }
    steps = total.steps
    columns: dict[str, npt.NDArray[Any]] = {
        "task": trials.task,
        "cost": trials.cost,
        "error": np.where(trials.error < 0, _UNRECORDED, trials.error).astype(np.uint8),
        "time": time,
        "curveRows": rows,
        "curveOffsets": offsets,
        "totalRows": total.rows[steps].astype(np.int32),
        "totals": total.best[steps],
    }
    return Overview(info, columns)


def best_trials(log: LogFacts) -> dict[int, int]:
    """Return the best trial of each task that has one: the first of the lowest cost."""
    rows = best_rows(log.trials, len(log.tasks)).tolist()
    return {task: row for task, row in enumerate(rows) if row >= 0}


def _improvements(
    best: npt.NDArray[np.float64], task: npt.NDArray[np.int32], tasks: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the rows at which their task's best became known or fell, by task, and their ends."""
    order = np.argsort(task, kind="stable")
    sorted_best, sorted_task = best[order], task[order]
    before = np.concatenate([[np.nan], sorted_best[:-1]])[: len(best)]
    before[np.diff(sorted_task, prepend=-1) != 0] = np.nan
    falls = (sorted_best < before) | (np.isnan(before) & ~np.isnan(sorted_best))
    offsets = np.searchsorted(sorted_task[falls], np.arange(tasks + 1)).astype(np.int32)
    return order[falls].astype(np.int32), offsets


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _about(log: LogFacts) -> list[str]:
    parts = log.parts
    versions = [each for each in sorted(set(log.trials.version.unique)) if each]
    told = [f"{parts.tuner} {', '.join(versions)}".strip()]
    told += [one_line(PurePath(source.name).name) for source in parts.sources]
    for what, count in parts.undecoded.items():
        told.append(f"{count:,} × {one_line(what)}, not decoded")
    if parts.cut:
        told.append("the last line is cut off: tuning was stopped, or still runs")
    return told


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "title": finding.title,
        "evidence": list(finding.evidence),
        "confidence": finding.confidence.value,
        "why": finding.why,
        "nextStep": finding.next_step,
        "tasks": list(finding.tasks[:_ROWS_SHOWN]),
        "trials": list(finding.trials[:_ROWS_SHOWN]),
    }


def error_table(
    log: LogFacts,
    by: ErrorsBy,
    rows: npt.NDArray[np.intp] | None = None,
) -> dict[str, Any]:
    """Return the errors of some trials by what they have in common; of many groups, the worst."""
    table = errors_by(log.parts, by, rows, progress=False)
    order: Sequence[int] = range(len(table))
    if len(table) > _ROWS_SHOWN:
        failed = table.trials - table.valid
        order = sorted(np.argsort(-failed, kind="stable")[:_ROWS_SHOWN].tolist())
    left = len(table) - len(order)
    return {
        "by": table.by,
        "note": f"the {len(order)} with most errors; {left:,} more" if left else "",
        "kinds": [{"label": kind, "code": _code(kind)} for kind in table.kinds],
        "rows": [
            {
                "label": table.labels[at],
                "query": _query(by, int(table.keys[at])),
                "trials": int(table.trials[at]),
                "counts": table.counts[at].tolist(),
            }
            for at in order
        ],
    }


def _query(by: str, key: int) -> str:
    """Return what finds the trials of a group; empty where no query does."""
    return f"{by}={key}" if by in ("round", "unroll") and key >= 0 else ""


def _code(kind: str) -> int:
    """Return the code of a kind of error, which may say more than the code's own name."""
    codes = {each.label: int(each) for each in MeasureError}
    code = codes[kind.partition(", ")[0]]
    return code if code >= 0 else _UNRECORDED
