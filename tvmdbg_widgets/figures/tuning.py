"""Columns of a tuning log, the schedule of a trial, and the figure of the tuning view."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.tuning import find
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.tuning.curves import best_so_far
from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.links import TaskLinks
from tvmdbg_widgets.analysis.tuning.schedules.comparison import (
    ScheduleDifference,
    compare_schedules,
)
from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
from tvmdbg_widgets.analysis.tuning.selection import errors_by, select
from tvmdbg_widgets.analysis.tuning.sessions import elapsed
from tvmdbg_widgets.analysis.tuning.structure import TileStructure
from tvmdbg_widgets.analysis.tuning.touches import touches
from tvmdbg_widgets.analysis.tuning.trial_queries import best_rows
from tvmdbg_widgets.figures.engine import draw_or_tell
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.numbers import bytes_text, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.findings import Finding, finding_fields
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError, Record
from tvmdbg_widgets.model.tuning.steps import NestLine
from tvmdbg_widgets.model.tuning.trials import FIELDS

_REFUSED_SHOWN = 5
ErrorsBy: TypeAlias = Literal["unroll", "round", "threads"]
#: Groupings of errors, beside those by task in the table of tasks.
ERRORS_BY: tuple[ErrorsBy, ...] = ("unroll", "round", "threads")
_ROWS_SHOWN = 100
_UNRECORDED = 255


class Overview(NamedTuple):
    """Facts as JSON, and columns, for ``js/src/tuning/data.ts``."""

    info: dict[str, Any]
    columns: dict[str, npt.NDArray[Any]]


def overview(log: LogFacts, links: TaskLinks | None = None) -> Overview:
    """Return the facts and columns of a log for its view."""
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
        "findings": [_finding(finding) for finding in find(LogEvidence(log.parts))],
        "errorNames": {
            str(code if code >= 0 else _UNRECORDED): MeasureError(code).label
            for code in codes.tolist()
        },
        "onGpu": any(task.target.is_gpu for task in log.tasks),
        "refused": log.parts.num_refused,
        "refusedWhy": [
            one_line(f"line {row.line}: {row.why}") for row in log.parts.refused[:_REFUSED_SHOWN]
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
    """Return the first trial of the lowest cost for tasks that have one."""
    rows = best_rows(log.trials, len(log.tasks)).tolist()
    return {task: row for task, row in enumerate(rows) if row >= 0}


def _improvements(
    best: npt.NDArray[np.float64], task: npt.NDArray[np.int32], tasks: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return rows where a task's best cost fell, sorted by task, with offsets per task."""
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
    versions = filter(None, sorted(set(log.trials.version.unique)))
    lines = [f"{parts.tuner} {', '.join(versions)}".strip()]
    lines += [one_line(PurePath(source.name).name) for source in parts.sources]
    for what, count in parts.undecoded.items():
        lines.append(f"{count:,} × {one_line(what)}, not decoded")
    if parts.cut:
        lines.append("the last line is cut off: tuning was stopped, or still runs")
    return lines


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        **finding_fields(finding),
        "nextStep": finding.next_step,
        "tasks": list(finding.tasks[:_ROWS_SHOWN]),
        "trials": list(finding.trials[:_ROWS_SHOWN]),
    }


def error_table(
    log: LogFacts, by: ErrorsBy, rows: npt.NDArray[np.intp] | None = None
) -> dict[str, Any]:
    """Return errors of trials grouped by a common property; of many groups, the worst."""
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
                "query": f"{by}={key}" if (key := table.keys[at]) >= 0 and by != "threads" else "",
                "trials": int(table.trials[at]),
                "counts": table.counts[at].tolist(),
            }
            for at in order
        ],
    }


def _code(kind: str) -> int:
    """Return the error code of a kind such as ``"timeout, …"``."""
    codes = {error.label: int(error) for error in MeasureError}
    code = codes[kind.partition(", ")[0]]
    return code if code >= 0 else _UNRECORDED


def tuning_figure(
    log: LogFacts,
    options: Mapping[str, Any],
    *,
    width: float = 720,
    theme: str = "light",
    given: Overview | None = None,
) -> Figure:
    """Draw costs over trials, the tasks, and the schedule of one trial."""
    info, columns = given or overview(log)
    trial = shown_trial(log, options)
    schedule = None if trial is None else schedule_answer(log, trial)
    data = {"info": info, "schedule": schedule, "query": ""}
    if query := options.get("query"):
        chosen = np.zeros(len(log), np.uint8)
        try:
            matches = select(log.parts, query)
            chosen[matches.rows] = 1
            data["query"] = matches.caption
        except (RuntimeError, MemoryError) as failed:
            data["query"] = f"“{query[:80]}” was not searched: {one_line(str(failed))}"
        columns = columns | {"chosen": chosen}
    return draw_or_tell(
        "tuning",
        {"title": log.title, **data},
        columns,
        options,
        text=repr(log),
        width=width,
        theme=theme,
    )


def shown_trial(log: LogFacts, options: Mapping[str, Any]) -> int | None:
    """Return the trial whose schedule is shown.

    It is the chosen trial, or the best of the chosen task, or of the task with the largest share.
    """
    if options.get("trial") is not None:
        return int(options["trial"])
    table = log.known_tasks
    task = options.get("task")
    bests = best_trials(log)
    if task is None and bests:
        task = max(bests, key=lambda at: (table.weights[at] * table.best[at], -at))
    return None if task is None else bests.get(task)


_NS = 1e9
_COSTS_SHOWN = 3


def schedule_answer(log: LogFacts, trial: int) -> dict[str, Any]:
    """Return a schedule as the ScheduleInfo of ``js/src/tuning/client.ts``."""
    schedule = log.schedule(trial)
    words, lines = schedule.steps, schedule.nest
    touched = _touched(schedule)
    codes = [step.code for step in schedule.record.steps] or [""] * len(words)
    return {
        "trial": trial,
        "title": f"trial {trial:,}",
        "facts": [*record_facts(schedule.record, len(log.parts.sources)), *_messages(log, trial)],
        "lines": [_line(line, touched.get((line.stage, line.iterator), [])) for line in lines],
        "steps": [
            {"code": code, "text": one_line(text)} for code, text in zip(codes, words, strict=True)
        ],
        "tiles": _tiles(schedule.structure),
        "notes": [one_line(note) for note in schedule.notes],
        "python": schedule.python,
    }


def _touched(schedule: Schedule) -> dict[tuple[int, int], list[str]]:
    """Return texts on how much of a buffer a loop body touches, by (stage, iterator)."""
    texts: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for touch in touches(schedule.inferred) if schedule.inferred is not None else ():
        if touch.elements is not None:
            size = (
                counted(touch.elements, "element")
                if touch.nbytes is None
                else bytes_text(touch.nbytes).partition(" (")[0]
            )
            what = f"writes {touch.name}" if touch.is_written else touch.name
            texts[touch.stage, touch.iterator].append(one_line(f"{what} {size}"))
    return texts


def _line(line: NestLine, touched: list[str]) -> dict[str, Any]:
    return {
        "kind": line.kind,
        "depth": line.indent // 2,
        "text": one_line(line.text),
        "word": line.annotation.word if line.kind == "loop" else "",
        "factor": line.factor if line.extent is None else None,
        "steps": list(line.steps),
        "touches": touched,
    }


def _tiles(structure: TileStructure) -> list[dict[str, Any]]:
    names = {stage.stage: stage.name for stage in structure.stages}
    return [
        {
            "stage": one_line(names.get(tile.stage, f"stage {tile.stage}")),
            "axis": one_line(tile.loop),
            "extent": tile.extent,
            "factors": list(tile.factors),
            "words": [mark for mark in tile.marks if mark],
        }
        for tile in structure.tiles
        if tile.factors and tile.rebuilt_by < 0
    ]


def change_answer(log: LogFacts, a: int, b: int) -> dict[str, Any]:
    """Return two schedules compared, as the ScheduleChange of ``client.ts``."""
    compared = compare_schedules(log.schedule(a), log.schedule(b))
    return {
        "titles": [_title(compared.a.record), _title(compared.b.record)],
        "steps": [_change(step) for step in compared.steps],
        "lines": [_change(line) for line in compared.lines],
    }


def _change(difference: ScheduleDifference) -> dict[str, str]:
    a, b = _indented(difference.text_a), _indented(difference.text_b)
    return {"change": difference.change, "a": a, "b": b}


def _indented(text: str) -> str:
    """Return a text as one line with its indent."""
    return " " * (len(text) - len(text.lstrip(" "))) + one_line(text.lstrip(" "))


def _title(record: Record) -> str:
    cost = duration_text(record.cost * _NS) if record.error == 0 else record.error.label
    return f"trial {record.row:,}: {cost}"


def _messages(log: LogFacts, trial: int) -> list[tuple[str, str]]:
    """Return console messages of a failed trial; the log has no texts."""
    texts = {one_line(message.message) for message in log.parts.messages if message.row == trial}
    return [("said", text) for text in sorted(texts) if text]


def record_facts(record: Record, num_sources: int) -> list[tuple[str, str]]:
    """Return the facts of a record as label and text; the file's name if there are several."""
    facts = [("task", f"{record.task.index}: {one_line(record.task.name)}")]
    if record.error is MeasureError.NO_ERROR:
        facts.append(("cost", duration_text(record.cost * _NS)))
        if len(record.costs) > 1:
            facts.append(("runs", _runs(record.costs)))
    else:
        code = f"error {int(record.error)}, " if record.error > 0 else ""
        facts.append(("failed", f"{code}{record.error.label}"))
    for field in FIELDS.values():
        value = getattr(record, field.name) if field.label else math.nan
        if not math.isnan(value):
            text = duration_text(value * _NS) if field.unit == "s" else f"{value:,}"
            facts.append((field.label, text))
    file, _, line = record.where.rpartition(", ")
    where = line if num_sources == 1 else f"{PurePath(file).name}, {line}"
    facts.append(("in", one_line(f"{where} ({record.version})" if record.version else where)))
    return facts


def _runs(costs: Sequence[float]) -> str:
    """Return the costs of the runs; of many, the range."""
    if len(costs) <= _COSTS_SHOWN:
        return ", ".join(duration_text(cost * _NS) for cost in costs)
    low, high = duration_text(min(costs) * _NS), duration_text(max(costs) * _NS)
    return f"{len(costs)} of {low} to {high}"
