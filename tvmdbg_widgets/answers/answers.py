"""Replies of a run to its views' questions (``js/src/shared/client/client.ts``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.layouts import known_layouts
from tvmdbg_widgets.analysis.opening import highlights, opening_tensor
from tvmdbg_widgets.analysis.query import QueryError
from tvmdbg_widgets.analysis.selection import select
from tvmdbg_widgets.analysis.summary import missing
from tvmdbg_widgets.analysis.timeline.counters import Counter
from tvmdbg_widgets.analysis.timeline.counters import counters as counters_of
from tvmdbg_widgets.analysis.view_columns import fact_columns, graph_columns, group_columns
from tvmdbg_widgets.answers.charts import CHART_ANSWERS
from tvmdbg_widgets.answers.counts import TENSOR_ANSWERS
from tvmdbg_widgets.answers.few_names import condensed_columns, graph_of_few, timeline_of_few
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.answers.messages import PriorityGate, Question, StatisticsJobs
from tvmdbg_widgets.answers.node import RANGE_ANSWERS, node_details
from tvmdbg_widgets.answers.node_columns import node_column
from tvmdbg_widgets.answers.ranges import memory
from tvmdbg_widgets.answers.tensor import Context, Redact, Reply, health, trust_of
from tvmdbg_widgets.answers.timeline import TIMELINE_ANSWERS, change, timeline
from tvmdbg_widgets.engine import PARTS, VIEWS, code
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.text import IssueSeverity, one_line
from tvmdbg_widgets.model.findings import Findings, finding_fields
from tvmdbg_widgets.model.graph.graph import device_names
from tvmdbg_widgets.model.graph.nodes import held_texts, roles_text
from tvmdbg_widgets.model.pictures import Pictures
from tvmdbg_widgets.model.timeline.words import timeline_words

#: Nodes and entries that a view lists per finding; titles and evidence count all.
_LISTED = 200
_WRONG = 5
#: Nodes that a figure may name.
_NAMED = 100_000
#: Characters of a query.
_MOST_QUERY = 10_000
_STOPS_WITHIN = 1.0


class Answers:
    """Answers questions about one run; keeps results that several questions share."""

    def __init__(
        self,
        run: RunFacts,
        *,
        seconds: float | None = math.inf,
        redact: Redact = lambda _: ("", False),
        findings: Callable[[Findings], Findings] = lambda found: found,
    ) -> None:
        self.gate = PriorityGate()
        self._context = Context(
            run,
            partial(known_layouts, run.parts),
            Pictures(),
            StatisticsJobs(self.gate, seconds),
            None if run.timeline is None else KeptTimeline(run.timeline, run.graph),
            redact,
            findings,
        )

    def answer(self, message: object) -> Reply:
        """Answer one message from the page, checked as if hostile."""
        return self.reply(Question(message))

    def reply(self, question: Question, watch: Callable[[], None] | None = None) -> Reply:
        """Answer one checked question."""
        make = _ANSWERS.get(question.kind)
        if make is None:
            raise ValueError(f"unknown question {question.kind!r}; known are {', '.join(_ANSWERS)}")
        context = self._context
        return make(replace(context, watch=watch) if watch else context, question)

    def prepare(self) -> None:
        """Compute rows and bins of the timeline before the first question."""
        if self._context.timeline is not None:
            self._context.timeline.ready  # noqa: B018

    def close(self) -> None:
        """Stop background passes, and drop cached pictures."""
        self._context.statistics_jobs.close()
        self._context.pictures.clear()


def answer(run: RunFacts, message: object) -> Reply:
    """Answer a single question about a run; see :class:`Answers`."""
    return Answers(run).answer(message)


def _summary(context: Context, _question: Question) -> Reply:
    run = context.run
    if context.timeline is not None:
        context.timeline.rows  # noqa: B018 (repr needs the rows; made in one thread)
    parts = {"graph": run.graph, "tensors": run.tensors, "timeline": run.timeline}
    first_lines = {
        name: None if part is None else repr(part).splitlines()[0] for name, part in parts.items()
    }
    issues = [
        {
            "severity": issue.severity.value,
            "rule": issue.rule,
            "message": issue.message,
            "nodes": list(issue.nodes),
        }
        for issue in run.issues
    ]
    provenance = [run.provenance.format, *run.provenance.evidence, *run.provenance.files]
    return Reply(
        {
            "title": run.title,
            **first_lines,
            "missing": missing(run.parts),
            "issues": issues,
            "provenance": provenance,
        }
    )


def _graph(context: Context, question: Question) -> Reply:
    """Answer the graph; without edges if only some nodes shall be named.

    A figure may ask for groups that leave it at most so many boxes, and for the edges between them;
    if it says by what it colors a very large graph, nodes without boxes share rows.
    """
    run = context.run
    graph = run.graph
    if graph is None:
        return Reply(None)
    if question.has("named"):
        return graph_of_few(graph, np.array(question.integers("named", most=_NAMED), np.int64))
    held = np.zeros(graph.num_entries, np.uint8)
    for node, output in run.tensors or ():
        if node < graph.num_nodes and output < len(graph.entry_range(node)):
            held[graph.entry_id(node, output)] = 1
    more: dict[str, Any] = {}
    if question.has("most"):
        columns, more = condensed_columns(run, graph, held, question)
    else:
        columns = graph_columns(graph, run.timeline) | group_columns(run.groups, run.timeline)
        columns["hasTensor"] = held
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
    return Reply.of("graph", columns, info | more)


def _matches(context: Context, question: Question) -> Reply:
    """Answer the nodes that a query finds, and what cannot be compared or read."""
    query = question.text("query", _MOST_QUERY) or ""
    try:
        found = [] if context.run.graph is None else select(context.run.queries, query)
        info = {"notes": getattr(found, "notes", []), "problem": ""}
    except (QueryError, RuntimeError, MemoryError) as error:  # also of the engine
        problem = error.message if isinstance(error, QueryError) else one_line(str(error))
        found, info = [], {"notes": [], "problem": problem}
    return Reply.of("matches", {"nodes": np.array(found, np.int32)}, info)


def _timeline(context: Context, question: Question) -> Reply:
    """Answer what a timeline's view needs first; a figure may ask for the longest rows alone."""
    if context.timeline is None or not question.has("longest"):
        return timeline(context, question)
    longest = question.integer("longest", 1, _NAMED)
    return timeline_of_few(context.run, context.timeline, longest)


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
        "trust": np.array([trust_of(tensor, run.graph) for tensor in items], np.uint8),
        "notes": np.array([min(255, len(tensor.notes)) for tensor in items], np.uint8),
        "opening": np.array([at for at, item in enumerate(items) if item is opening], np.int32),
    }
    return Reply.of("tensors", columns)


def _findings(context: Context, _question: Question) -> Reply:
    run = context.run
    known = context.shown(run.search.known())
    return Reply(
        {
            "state": run.search.scan.state,
            "done": known.scanned,
            "total": known.to_scan,
            "findings": [
                {
                    **finding_fields(finding),
                    "nodes": list(finding.nodes[:_LISTED]),
                    "entries": [list(entry) for entry in finding.entries[:_LISTED]],
                    "next": finding.next_step,
                }
                for finding in known
            ],
        }
    )


def _highlights(context: Context, _question: Question) -> Reply:
    return Reply(
        [
            {
                **{name: getattr(highlight, name) for name in ("label", "about", "name", "value")},
                "nodes": list(highlight.nodes[:_LISTED]),
                "entry": None if highlight.entry is None else list(highlight.entry),
            }
            for highlight in highlights(context.run)
        ]
    )


def _cancel_findings(context: Context, question: Question) -> Reply:
    context.run.search.scan.cancel(wait=_STOPS_WITHIN)
    return _findings(context, question)


def _code(_context: Context, question: Question) -> Reply:
    view = question.choice("view", (*VIEWS, *PARTS))
    if view is None:
        raise ValueError(f"view must be one of {', '.join((*VIEWS, *PARTS))}")
    return Reply(None, (code(view),))


Floats = npt.NDArray[np.float64]

#: Values of all counters up to which they are sent unthinned: a megabyte.
_MOST: Final = 60_000
_COUNTERS: Final = 200


def counters(context: Context, _question: Question) -> Reply:
    """Answer the counters of a run; None without times.

    If there are too many values, every stretch of time keeps first, last, least and largest.
    ``info.thinned`` is the number of values before.
    """
    if context.run.timeline is None:
        return Reply(None)
    counted = counters_of(context.run.parts, lambda: context.run.memory_plan)
    shown = counted[:_COUNTERS]
    total = sum(map(len, shown))
    most = _MOST // max(1, len(shown)) if total > _MOST else total
    kept = [_thinned(counter, most) for counter in shown]
    nothing = np.zeros(0)
    columns: dict[str, Any] = {
        "names": StringColumn.from_strings(counter.name for counter in shown),
        "units": StringColumn.from_strings(counter.unit for counter in shown),
        "said": StringColumn.from_strings(counter.said for counter in shown),
        "offsets": np.cumsum([0, *(len(ns) for ns, _ in kept)]).astype(np.int32),
        "ns": np.concatenate([nothing, *(ns for ns, _ in kept)]),
        "value": np.concatenate([nothing, *(values for _, values in kept)]),
    }
    info = {
        "missing": counted.missing,
        "thinned": total if total > _MOST else 0,
        "leftOut": len(counted) - len(shown),
    }
    return Reply.of("counters", columns, info)


def _thinned(counter: Counter, most: int) -> tuple[Floats, Floats]:
    """Return about ``most`` values: ends and extremes of equal stretches of time."""
    ns, values = counter.ns, counter.values
    if len(ns) <= most:
        return ns, values
    span = max(float(ns[-1] - ns[0]), 1.0)
    stretches = max(1, most // 4)
    stretch = np.minimum(((ns - ns[0]) * (stretches / span)).astype(np.int64), stretches - 1)
    first = np.flatnonzero(np.diff(stretch, prepend=-1))
    last = np.append(first[1:], len(stretch)) - 1
    ordered = np.lexsort((values, stretch))
    kept = np.unique(np.concatenate((first, last, ordered[first], ordered[last])))
    return ns[kept], values[kept]


_ANSWERS: dict[str, Callable[[Context, Question], Reply]] = {
    "code": _code,
    "summary": _summary,
    "graph": _graph,
    "timeline": _timeline,
    "facts": _facts,
    "matches": _matches,
    "tensors": _tensors,
    "node": lambda context, question: Reply(node_details(context.run, question.integer("node"))),
    "nodeColumn": node_column,
    "findings": _findings,
    "cancelFindings": _cancel_findings,
    "highlights": _highlights,
    "health": health,
    "memory": memory,
    "change": change,
    "counters": counters,
    "cancel": lambda _context, _question: Reply(None),  # the scheduler drops what is cancelled
    **CHART_ANSWERS,
    **TENSOR_ANSWERS,
    **TIMELINE_ANSWERS,
    **RANGE_ANSWERS,
}
