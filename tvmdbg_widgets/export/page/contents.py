"""What a page stores: replies about the run, and values of chosen tensors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.times.keys import has_modules
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.node import node_details, notes_by_node
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.export.page.choice import TensorCandidate, pictures_reply
from tvmdbg_widgets.export.page.facts import Codes, WholeTensor, code_table
from tvmdbg_widgets.export.page.pack import BinaryParts, megabytes, recorded_size
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line, why_unread

_LOG = logging.getLogger(__name__)
#: What views of every run ask, and what only views of its times ask.
_ALWAYS = ("summary", "highlights", "graph", "facts", "timeline", "change", "tensors")
TIMES = ("critical", "roofline", "counters", "flows")
_NOT_MADE = "left out of this page, since what the view asks for could not be made: "
_SUMMARY = ("graph", "tensors", "timeline")

T = TypeVar("T")


class Guard:
    """Computes parts of a page; a failing part is left out, and the page says so."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}

    def made(self, part: str, make: Callable[[], T], instead: T) -> T:
        """Return the result of a function, or ``instead`` if it raises."""
        try:
            return make()
        except Exception as problem:  # noqa: BLE001 (one part must not hide the others)
            _LOG.info("%s cannot be made for a page", part, exc_info=True)
            self.failed[part] = one_line(why_unread(problem))
            return instead

    def left_out(self) -> list[str]:
        """Return sentences on failed parts."""
        return [f"{part}: {why}" for part, why in self.failed.items()]


def record_asked(
    binary: BinaryParts, answers: Answers, guard: Guard, asked: Iterable[Mapping[str, Any]]
) -> None:
    """Record what a figure has asked; in place of a failed reply, why it is missing."""
    for question in asked:
        kind = question["kind"]
        reply = guard.made(kind, partial(answers.answer, dict(question)), Reply(None))
        if kind in guard.failed:
            reply = Reply({"missing": _NOT_MADE + guard.failed[kind]})
        binary.add_reply(question, reply)


def record_run(
    binary: BinaryParts, run: RunFacts, answers: Answers, guard: Guard, more: Sequence[str] = ()
) -> None:
    """Record what views ask about a run, also questions of the kinds in ``more``."""
    nothing = {"title": run.title, "missing": {}, "issues": [], "provenance": []}
    instead = {"highlights": [], "summary": nothing | dict.fromkeys(_SUMMARY)}
    replies = {
        kind: guard.made(kind, partial(answers.answer, {"kind": kind}), Reply(instead.get(kind)))
        for kind in (*_ALWAYS, *more)
    }
    why = {kind: _NOT_MADE + text for kind, text in guard.failed.items()}
    summary = replies["summary"].result
    missing = {kind: why[kind] for kind in _SUMMARY if kind in why}
    told = dict.fromkeys(missing) | {"missing": summary["missing"] | missing}
    replies["summary"] = Reply(summary | told)
    for kind, reply in replies.items():
        binary.add_reply({"kind": kind}, reply)


#: Rows of a table of times in a page, and places of the chart “merged”.
_MOST = {"sums": {"most": 1000}, "merged": {"most": 4000}}
#: Paths of slices that a page stores in any case, and bytes of repeats at most.
_PATHS, _REPEATS = 1000, 1 << 20


def record_times(binary: BinaryParts, run: RunFacts, answers: Answers, guard: Guard) -> None:
    """Record all times by each grouping that a view offers, and what its charts show."""
    timeline, graph = run.timeline, run.graph
    if timeline is None:
        return
    nested = any(timeline.nesting.nested)
    offered = {
        "kind": True,
        "part": graph is not None,
        "group": graph is not None and len(run.groups),
        "module": has_modules(graph),
        "device": True,
        "name": True,
        "node": nested,
        "callers": nested,
    }
    questions = [{"kind": "sums", "by": by} for by, is_there in offered.items() if is_there]
    charts = ("merged", "repeats", *(["paths"] if nested else []))
    for question in (*questions, *({"kind": kind} for kind in charts)):
        kind = question["kind"]
        asked = partial(answers.answer, question | _MOST.get(kind, {}))
        reply = guard.made(" ".join(question.values()), asked, Reply(None))
        size = sum(map(len, reply.buffers))
        paths = kind == "paths" and size and reply.result["columns"][0]["length"]
        most = max(_PATHS, timeline.num_slices // 10)
        if paths > most or (kind == "repeats" and size > _REPEATS):
            reply = Reply(None)
        binary.add_reply(question, reply)


#: Error of an estimate of all slices by some of them.
_UNSURE = 1.5
_PART = 1 << 20


def record_slices(
    binary: BinaryParts, answers: Answers, room: float, *, shown: bool
) -> tuple[str, ...]:
    """Record the slices and names that the first answer about times lacks."""
    question = {"kind": "timeline"}
    head = answers.answer(question)
    if head.result is None or not (bins := head.result["info"]["bins"]):
        return ()
    info = head.result["info"]
    count, width = info["slices"], sum(np.dtype(kind).itemsize for kind in info["columns"].values())

    def tell(**changed: Any) -> None:
        binary.add_reply(question, replace(head, result=head.result | {"info": info | changed}))

    if shown and _add_slices(binary, answers, head, _PART // width, room):
        tell(whole=True, binsOnly=None)
        return ()
    why = (
        f"this page holds {counted(bins, 'bin')} of time in place of {counted(count, 'slice')}: "
        "its budget had no room for them (save_html(budget=…))"
    )
    tell(whole=False, binsOnly=why, notes=[*info["notes"], why])
    if not shown:
        return ()
    size = megabytes(count * width)
    bins_shown = f"the page shows {counted(bins, 'bin')} of time"
    return (f"{counted(count, 'slice')} ({size} before compression): budget; {bins_shown}",)


def _add_slices(binary: BinaryParts, answers: Answers, head: Reply, step: int, room: float) -> bool:
    """Record all slices in the parts that a view asks for, and names, if the slices fit."""
    info, count = head.result["info"], head.result["info"]["slices"]
    parts = [
        {"kind": "slices", "first": first, "last": min(count, first + step)}
        for first in range(0, count, step)
    ]
    sample = parts[len(parts) // 2]
    size = recorded_size([answers.answer(sample)])
    if size * count / (sample["last"] - sample["first"]) > _UNSURE * room:
        return False
    replies = [(part, answers.answer(part)) for part in parts]
    if recorded_size([reply for _, reply in replies]) > room:
        return False
    names = next(one["length"] for one in head.result["columns"] if one["name"] == "names")
    while names < info["names"]:
        part = {"kind": "names", "first": names}
        replies.append((part, reply := answers.answer(part)))
        names += reply.result["columns"][0]["length"]
    for part, reply in replies:
        binary.add_reply(part, reply)
    return True


def record_values(binary: BinaryParts, candidates: Sequence[TensorCandidate]) -> None:
    """Record pictures, profiles and all values of chosen tensors."""
    for candidate in candidates:
        for question, reply in candidate.profiles:
            binary.add_reply(question, reply)
        stored = [] if candidate.whole is None else candidate.whole.replies
        for number, reply in zip(candidate.variants, stored, strict=False):
            binary.add_reply({"kind": "whole", "variant": number}, reply)
        for number in candidate.variants:
            if pictures := [one for one in candidate.pictures if one.variant == number]:
                binary.add_reply({"kind": "pictures", "variant": number}, pictures_reply(pictures))
    _record_codes(binary, [one.whole for one in candidates if one.whole is not None])


def _record_codes(binary: BinaryParts, chosen: Sequence[WholeTensor]) -> None:
    """Record values and texts of the codes that occur, by kind."""
    known: dict[str, Codes] = {}
    tables: dict[str, dict[str, np.ndarray[Any, Any] | StringColumn]] = {}
    for tensor in chosen:
        for kind, own in tensor.codes.items():
            before = known.get(kind)
            codes = own.codes if before is None else np.union1d(before.codes, own.codes)
            known[kind] = Codes(codes, own.dtype)
        for kind, texts in tensor.texts.items():
            tables[kind] = {
                "codes": np.arange(len(texts.unique), dtype=np.int32),
                "values": np.full(len(texts.unique), np.nan),
                "texts": StringColumn.from_strings(texts.unique),
            }
    tables |= {kind: code_table(kind, own.dtype, own.codes) for kind, own in known.items()}
    for kind, table in tables.items():
        binary.add_reply({"kind": "codes", "of": kind}, Reply.of("page codes", table))


#: Nodes whose details are recorded together, and at most.
_TOGETHER, _MOST_NODES = 64, 10_000


def record_nodes(binary: BinaryParts, run: RunFacts, guard: Guard, room: float) -> tuple[str, ...]:
    """Record the details of nodes; return a sentence on those without room."""
    if run.graph is None:
        return ()
    count, notes = run.graph.num_nodes, notes_by_node(run)
    questions = [{"kind": "node", "node": node} for node in range(min(count, _MOST_NODES))]
    groups = [questions[at : at + _TOGETHER] for at in range(0, len(questions), _TOGETHER)]

    def told(question: Mapping[str, Any]) -> Reply:
        return Reply(node_details(run, question["node"], notes))

    kept = guard.made("details of nodes", lambda: binary.record(groups, told, room), 0)
    if not kept:
        return ()  # the guard says why
    left = count - min(kept * _TOGETHER, len(questions))
    return (f"details of {left:,} of {counted(count, 'node')}: budget",) if left else ()
