"""Answers to the questions of the tuning view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.links import TaskLinks
from tvmdbg_widgets.analysis.tuning.records.selection import select
from tvmdbg_widgets.answers.answering import Reply
from tvmdbg_widgets.answers.bundles import code
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.figures.tuning.overview import ERRORS_BY, error_table, overview
from tvmdbg_widgets.figures.tuning.schedule import change_answer, schedule_answer
from tvmdbg_widgets.figures.tuning.tiles import tiles

_LONGEST_QUERY = 10_000
_KINDS = ("tuning", "schedule", "change", "tiles", "errors", "select", "code")


def answer(log: LogFacts, links: TaskLinks | None, message: object) -> Reply:
    """Answer one question."""
    question = Question(message)
    if question.kind == "tuning":
        return _packed("tuning", *overview(log, links))
    if question.kind == "schedule":
        return Reply(schedule_answer(log, _trial(log, question, "trial")))
    if question.kind == "change":
        pair = _trial(log, question, "a"), _trial(log, question, "b")
        return Reply(change_answer(log, *pair))
    if question.kind == "tiles":
        return _packed("tuningTiles", *tiles(log, question.integer("task", 0, len(log.tasks) - 1)))
    if question.kind == "errors" and (by := question.choice("by", ERRORS_BY)):
        return Reply(error_table(log, by, _rows(log, question)))
    if question.kind == "select":
        found = select(log.parts, question.text("query", _LONGEST_QUERY) or "")
        mask = np.zeros(len(log), np.uint8)
        mask[found.rows] = 1
        return _packed("tuningSelect", {"caption": found.caption}, {"mask": mask})
    if question.kind == "code" and question.choice("view", ("tuning",)):
        return Reply(None, (code("tuning"),))
    raise ValueError(f"unknown question {question.kind!r}; known are {', '.join(_KINDS)}")


def _trial(log: LogFacts, question: Question, name: str) -> int:
    return question.integer(name, 0, len(log) - 1)


def _rows(log: LogFacts, question: Question) -> npt.NDArray[np.intp]:
    """Return the trials of a task, in a range, that a query finds; what is left out is no limit."""
    is_asked = np.ones(len(log), bool)
    if question.has("task"):
        is_asked &= log.trials.task == question.integer("task", 0, len(log.tasks) - 1)
    if question.has("trials"):
        first, end = question.integers("trials", 2)
        is_asked[:first] = False
        is_asked[end:] = False
    if query := question.text("query", _LONGEST_QUERY):
        is_found = np.zeros(len(log), bool)
        is_found[select(log.parts, query).rows] = True
        is_asked &= is_found
    return np.flatnonzero(is_asked)


def _packed(answer: str, info: Mapping[str, Any], columns: Mapping[str, Any]) -> Reply:
    return Reply.of(answer, columns, info)
