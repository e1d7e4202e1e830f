"""What a run answers to the questions of its views (``js/src/shared/client/run_client.ts``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.graph.view_columns import fact_columns, graph_columns, group_columns
from tvmdbg_widgets.analysis.highlights import highlights
from tvmdbg_widgets.analysis.layouts.layouts import known_layouts
from tvmdbg_widgets.analysis.opening import opening_tensor
from tvmdbg_widgets.analysis.summary import missing
from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.bundles import PARTS, VIEWS, code
from tvmdbg_widgets.answers.change import change
from tvmdbg_widgets.answers.counters import counters
from tvmdbg_widgets.answers.health import health
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.answers.memory import memory
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.node import node_details
from tvmdbg_widgets.answers.paths import PATH_ANSWERS
from tvmdbg_widgets.answers.priority_gate import PriorityGate
from tvmdbg_widgets.answers.ranges import RANGE_ANSWERS
from tvmdbg_widgets.answers.statistics_jobs import StatisticsJobs
from tvmdbg_widgets.answers.tensor.tensor_answers import TENSOR_ANSWERS
from tvmdbg_widgets.answers.timeline import TIMELINE_ANSWERS
from tvmdbg_widgets.model.base.issues import IssueSeverity
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.graph.devices import device_names
from tvmdbg_widgets.model.graph.nodes import held_texts, roles_text
from tvmdbg_widgets.model.pictures import Pictures
from tvmdbg_widgets.model.timeline.words import timeline_words

#: Nodes and entries of one finding that a view is told; titles and evidence count all.
_LISTED = 200
_WRONG = 5
_STOPS_WITHIN = 1.0


class Answers:
    """Answers questions about one run; keeps what several questions share."""

    def __init__(self, run: Derived, *, seconds: float | None = math.inf) -> None:
        self._run = run
        self.gate = PriorityGate()
        self._pictures = Pictures()
        self._layouts = cache(partial(known_layouts, run.parts))
        self._jobs = StatisticsJobs(self.gate, seconds)
        self._timeline = None if run.timeline is None else KeptTimeline(run.timeline, run.graph)

    def answer(self, message: object) -> Reply:
        """Answer one message as it came from the page; it is checked as if hostile."""
        return self.reply(Question(message))

    def reply(self, question: Question, watch: Callable[[], None] = lambda: None) -> Reply:
        """Answer one question."""
        known = _ANSWERS.get(question.kind)
        if known is None:
            raise ValueError(f"unknown question {question.kind!r}; known are {', '.join(_ANSWERS)}")
        context = Context(
            self._run, self._layouts, self._pictures, self._jobs, self._timeline, watch
        )
        return known(context, question)

    def prepare(self) -> None:
        """Make rows and bins of time, which take long and which the first questions ask for."""
        if self._timeline is not None:
            self._timeline.ready  # noqa: B018

    def close(self) -> None:
        """Stop what runs in the background, and let go of what was kept."""
        self._jobs.close()
        self._pictures.clear()


def answer(run: Derived, message: object) -> Reply:
    """Answer one question about a run on its own; see :class:`Answers`."""
    return Answers(run).answer(message)


def _summary(context: Context, _question: Question) -> Reply:
    run = context.run
    if context.timeline is not None:
        context.timeline.rows  # noqa: B018 (what is told of the timeline needs them; made in one thread)
    parts = run.parts
    told = {
        name: None if part is None else repr(part).splitlines()[0]
        for name, part in (
            ("graph", run.graph),
            ("tensors", run.tensors),
            ("timeline", run.timeline),
        )
    }
    issues = [
        {
            "severity": issue.severity.value,
            "rule": issue.rule,
            "message": issue.message,
            "nodes": list(issue.nodes),
        }
        for issue in run.check()
    ]
    provenance = [
        run.provenance.format,
        *run.provenance.evidence,
        *run.provenance.files,
    ]
    return Reply(
        {
            "title": run.title,
            **told,
            "missing": missing(parts),
            "issues": issues,
            "provenance": provenance,
        }
    )


def _graph(context: Context, _question: Question) -> Reply:
    run = context.run
    graph = run.graph
    if graph is None:
        return Reply(None)
    held = np.zeros(graph.num_entries, np.uint8)
    for node, output in run.tensors or ():
        if node < graph.num_nodes and output < len(graph.entry_range(node)):
            held[graph.entry_id(node, output)] = 1
    columns = {
        **graph_columns(graph, run.timeline),
        **group_columns(run.groups, run.timeline),
        "hasTensor": held,
    }
    wrong = [issue.message for issue in graph.issues if issue.severity is IssueSeverity.ERROR]
    words = None if run.timeline is None else timeline_words(run.timeline, graph=True)
    info = {
        "devices": device_names(graph),
        "wrong": wrong[:_WRONG],
        "wrongCount": len(wrong),
        "together": "" if words is None else words.together,
        "held": held_texts(graph),
        "roles": roles_text(graph),
    }
    return Reply.of("graph", columns, info)


def _facts(context: Context, _question: Question) -> Reply:
    graph = context.run.graph
    return Reply(None) if graph is None else Reply.of("facts", fact_columns(graph))


def _tensors(context: Context, _question: Question) -> Reply:
    run = context.run
    if run.tensors is None:
        return Reply(None)
    items = list(run.tensors.values())
    shapes = [tensor.shape for tensor in items]
    opening = opening_tensor(run)
    columns: dict[str, Any] = {
        "node": np.array([tensor.node for tensor in items], np.int32),
        "output": np.array([tensor.output for tensor in items], np.int32),
        "names": StringColumn.from_strings(tensor.name for tensor in items),
        "dtypes": StringColumn.from_strings(tensor.dtype.name for tensor in items),
        "shapeOffsets": np.cumsum([0, *map(len, shapes)]).astype(np.int32),
        "shapeDims": np.array([size for shape in shapes for size in shape], np.float64),
        "nbytes": np.array([tensor.nbytes for tensor in items], np.float64),
        "trust": np.array([tensor.trust for tensor in items], np.uint8),
        "notes": np.array([min(255, len(tensor.notes)) for tensor in items], np.uint8),
        "opening": np.array([at for at, each in enumerate(items) if each is opening], np.int32),
    }
    return Reply.of("tensors", columns)


def _node(context: Context, question: Question) -> Reply:
    return Reply(node_details(context.run, question.integer("node")))


def _findings(context: Context, _question: Question) -> Reply:
    run = context.run
    known = run.search.known()
    return Reply(
        {
            "state": run.search.scan.state,
            "done": known.scanned,
            "total": known.to_scan,
            "findings": [
                {
                    "rule": each.rule,
                    "severity": each.severity.value,
                    "title": each.title,
                    "evidence": list(each.evidence),
                    "confidence": each.confidence.value,
                    "why": each.why,
                    "nodes": list(each.nodes[:_LISTED]),
                    "entries": [list(entry) for entry in each.entries[:_LISTED]],
                    "next": each.next_step,
                }
                for each in known
            ],
        }
    )


def _highlights(context: Context, _question: Question) -> Reply:
    return Reply(
        [
            {
                "label": each.label,
                "about": each.about,
                "name": each.name,
                "value": each.value,
                "nodes": list(each.nodes[:_LISTED]),
                "entry": None if each.entry is None else list(each.entry),
            }
            for each in highlights(context.run)
        ]
    )


def _cancel_findings(context: Context, question: Question) -> Reply:
    context.run.search.scan.cancel(wait=_STOPS_WITHIN)
    return _findings(context, question)


def _cancel(_context: Context, _question: Question) -> Reply:
    """Whoever takes the questions has let go of what was cancelled."""
    return Reply(None)


def _code(_context: Context, question: Question) -> Reply:
    view = question.choice("view", (*VIEWS, *PARTS))
    if view is None:
        raise ValueError(f"view must be one of {', '.join((*VIEWS, *PARTS))}")
    return Reply(None, (code(view),))


_ANSWERS: dict[str, Callable[[Context, Question], Reply]] = {
    "code": _code,
    "summary": _summary,
    "graph": _graph,
    "facts": _facts,
    "tensors": _tensors,
    "node": _node,
    "findings": _findings,
    "cancelFindings": _cancel_findings,
    "highlights": _highlights,
    "health": health,
    "memory": memory,
    "change": change,
    "counters": counters,
    "cancel": _cancel,
    **PATH_ANSWERS,
    **TENSOR_ANSWERS,
    **TIMELINE_ANSWERS,
    **RANGE_ANSWERS,
}
