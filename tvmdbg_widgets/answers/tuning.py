"""Replies of a tuning log to its view's questions (``js/src/tuning/client.ts``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.tuning import find
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.tuning.curves import improvements
from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.links import TaskLinks
from tvmdbg_widgets.analysis.tuning.selection import errors_by, select
from tvmdbg_widgets.analysis.tuning.sessions import elapsed
from tvmdbg_widgets.analysis.tuning.trial_queries import best_rows
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.schedules import MOST_TRIALS, change, schedule, tiles
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import code
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.findings import Finding, finding_fields
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

_REFUSED_SHOWN = 5
ErrorsBy: TypeAlias = Literal["unroll", "round", "threads"]
#: Groupings of errors, beside those by task in the table of tasks; blocks of a GPU have threads.
ERRORS_BY: tuple[ErrorsBy, ...] = ("unroll", "round", "threads")
_ROWS_SHOWN = 100
_UNRECORDED = 255
_LONGEST_QUERY = 10_000


class TuningAnswers:
    """Answers questions about one log; with links, its tasks name the nodes that they tuned."""

    def __init__(self, log: LogFacts, links: TaskLinks | None = None) -> None:
        self.log = log
        self.links = links

    def answer(self, message: object) -> Reply:
        """Answer one message from the page, checked as if hostile."""
        question = Question(message)
        make = _ANSWERS.get(question.kind)
        if make is None:
            raise ValueError(f"unknown question {question.kind!r}; known are {', '.join(_ANSWERS)}")
        return make(self, question)

    @cached_property
    def overview(self) -> Reply:
        """Tasks, findings and all trials, which a view, its figure and its page ask for."""
        return _overview(self.log, self.links)

    def task(self, question: Question) -> int:
        """Return the asked task."""
        return question.integer("task", 0, len(self.log.tasks) - 1)

    def trial(self, question: Question, name: str = "trial") -> int:
        """Return an asked trial."""
        return question.integer(name, 0, len(self.log) - 1)


def _overview(log: LogFacts, links: TaskLinks | None) -> Reply:
    trials = log.trials
    time = elapsed(trials)
    table = log.known_tasks
    bests, codes = best_rows(trials, len(log.tasks)).tolist(), np.unique(trials.error)
    rows = improvements(trials)
    offsets = np.searchsorted(trials.task[rows], np.arange(len(log.tasks) + 1))
    total = log.curve()
    dags = list(map(log.dag, range(len(log.tasks))))
    assumed = {at for at, dag in enumerate(dags) if dag is not None and dag.source.is_assumption}
    flops = list(map(log.flop_count, range(len(log.tasks))))
    is_on_gpu = any(task.target.is_gpu for task in log.tasks)
    tasks = [
        {
            "index": task.index,
            "name": one_line(task.name),
            "key": one_line(task.workload_key),
            "target": one_line(task.target.text),
            "trials": int(table.errors.trials[at]),
            "valid": int(table.errors.valid[at]),
            "best": _known(table.best[at]),
            "bestTrial": bests[at] if bests[at] >= 0 else None,
            "gflops": _known((flops[at] or math.nan) / (float(table.best[at]) or math.nan) / 1e9),
            "assumed": at in assumed,
            "gain": _known(table.gains.gain[at]),
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
        "errorsBy": [by for by in ERRORS_BY if by != "threads" or is_on_gpu],
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
    columns = {
        "task": trials.task,
        "cost": trials.cost,
        "error": np.where(trials.error < 0, _UNRECORDED, trials.error).astype(np.uint8),
        "time": time,
        "curveRows": rows.astype(np.int32),
        "curveOffsets": offsets.astype(np.int32),
        "totalRows": total.rows[steps].astype(np.int32),
        "totals": total.best[steps],
    }
    return Reply.of("tuning", columns, info)


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


def _errors(answers: TuningAnswers, question: Question) -> Reply:
    """Answer errors of trials grouped by a common property; of many groups, the worst."""
    by = question.choice("by", ERRORS_BY)
    if by is None:
        raise ValueError(f"by must be one of {', '.join(ERRORS_BY)}")
    table = errors_by(answers.log.parts, by, _asked_trials(answers, question), progress=False)
    order: Sequence[int] = range(len(table))
    if len(table) > _ROWS_SHOWN:
        failed = table.trials - table.valid
        order = sorted(np.argsort(-failed, kind="stable")[:_ROWS_SHOWN].tolist())
    left = len(table) - len(order)
    result = {
        "note": f"the {len(order)} with most errors; {left:,} more" if left else "",
        "kinds": [{"label": kind, "code": _code_of(kind)} for kind in table.kinds],
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
    return Reply(result)


def _asked_trials(answers: TuningAnswers, question: Question) -> npt.NDArray[np.intp] | None:
    """Return the trials that match the question's task, range and query; None is all."""
    log, query = answers.log, question.text("query", _LONGEST_QUERY)
    if not query and not question.has("task") and not question.has("trials"):
        return None
    is_asked = np.ones(len(log), bool)
    if question.has("task"):
        is_asked &= log.trials.task == answers.task(question)
    if question.has("trials"):
        first, end = question.integers("trials", 2)
        is_asked[:first] = False
        is_asked[end:] = False
    if query:
        is_found = np.zeros(len(log), bool)
        is_found[select(log.parts, query).rows] = True
        is_asked &= is_found
    return np.flatnonzero(is_asked)


def _code_of(kind: str) -> int:
    """Return the error code of a kind such as ``"timeout, …"``."""
    codes = {error.label: int(error) for error in MeasureError}
    code = codes[kind.partition(", ")[0]]
    return code if code >= 0 else _UNRECORDED


def _tiles(answers: TuningAnswers, question: Question) -> Reply:
    most = question.integer("most", 1, MOST_TRIALS) if question.has("most") else MOST_TRIALS
    return tiles(answers.log, answers.task(question), most)


def _select(answers: TuningAnswers, question: Question) -> Reply:
    selection = select(answers.log.parts, question.text("query", _LONGEST_QUERY) or "")
    mask = np.zeros(len(answers.log), np.uint8)
    mask[selection.rows] = 1
    return Reply.of("tuningSelect", {"mask": mask}, {"caption": selection.caption})


def _code(_answers: TuningAnswers, question: Question) -> Reply:
    return Reply(None, (code(question.choice("view", ("tuning",)) or "tuning"),))


_ANSWERS: dict[str, Callable[[TuningAnswers, Question], Reply]] = {
    "code": _code,
    "tuning": lambda answers, _question: answers.overview,
    "schedule": lambda answers, question: schedule(answers.log, answers.trial(question)),
    "change": lambda answers, question: change(
        answers.log, answers.trial(question, "a"), answers.trial(question, "b")
    ),
    "tiles": _tiles,
    "errors": _errors,
    "select": _select,
}
