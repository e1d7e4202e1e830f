"""Tables of a page's data: of every run, and of chosen values."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.times.keys import has_modules
from tvmdbg_widgets.analysis.view_columns import fact_columns
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.answers.node import node_details, notes_by_node
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.export.page.choice import TensorCandidate, picture_columns
from tvmdbg_widgets.export.page.facts import (
    Codes,
    StorageForm,
    WholeTensor,
    code_table,
    form_columns,
)
from tvmdbg_widgets.export.page.options import PathEraser
from tvmdbg_widgets.export.page.pack import BinaryParts, compressed, filtered, megabytes
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line, why_unread

_LOG = logging.getLogger(__name__)
#: Answers that only pages with times need.
TIMES = ("critical", "roofline", "counters", "flows")
_NOT_MADE = "left out of this page, since what the view asks for could not be made: "
_SUMMARY = ("graph", "tensors", "timeline")

T = TypeVar("T")


class Guard:
    """Computes parts of a page; a failing part is left out, and the page says so."""

    def __init__(self, eraser: PathEraser) -> None:
        self.failed: dict[str, str] = {}
        self._eraser = eraser

    def made(self, part: str, make: Callable[[], T], instead: T) -> T:
        """Return the result of a function, or ``instead`` if it raises."""
        try:
            return make()
        except Exception as problem:  # noqa: BLE001 (one part must not hide the others)
            _LOG.info("%s cannot be made for a page", part, exc_info=True)
            self.failed[part] = self._eraser.text(one_line(why_unread(problem)))
            return instead

    def answer(self, run: RunFacts, kind: str) -> Reply:
        """Return the reply to a question of this kind, or an empty one."""
        return self.made(kind, lambda: answer(run, {"kind": kind}), Reply(None))

    def left_out(self) -> list[str]:
        """Return sentences on failed parts."""
        return [f"{part}: {why}" for part, why in self.failed.items()]


def common(
    run: RunFacts,
    findings: dict[str, Any] | None,
    health: tuple[dict[str, Any], dict[str, Any]] | None,
    eraser: PathEraser,
    guard: Guard,
    *,
    more: Sequence[str] = (),
) -> BinaryParts:
    """Return the answers in every page of a run: all but those about single tensors.

    ``health`` is its answer with its columns; ``more`` names additional answers.
    """
    binary = BinaryParts()
    binary.head["answers"] = answers = {}
    summary = guard.answer(run, "summary").result or {
        "title": run.title,
        **dict.fromkeys(_SUMMARY),
        "missing": {},
        "issues": [],
        "provenance": [],
    }
    answers["summary"] = eraser.json(summary)
    answers["highlights"] = eraser.json(guard.answer(run, "highlights").result)
    answers["findings"] = eraser.json(findings)
    for kind in ("graph", "timeline", "change", "tensors", *more):
        reply = guard.answer(run, kind)
        if reply.buffers:
            answers[kind] = eraser.json(reply.result["info"])
            binary.add_packed(kind, reply.result["columns"], reply.buffers[0])
        else:
            answers[kind] = eraser.json(reply.result)
    for kind in guard.failed.keys() & {*_SUMMARY}:
        answers["summary"][kind] = None
        answers["summary"]["missing"][kind] = _NOT_MADE + guard.failed[kind]
    if "memory" in guard.failed:
        answers["memory"] = {"missing": _NOT_MADE + guard.failed["memory"]}
    if health is not None:
        answers["health"] = eraser.json(health[0])
        binary.add_columns("health", health[1], "health")
    if run.graph is not None:
        graph = run.graph
        facts = guard.made("facts of nodes", lambda: fact_columns(graph, eraser.text), None)
        if facts is not None:
            binary.add_columns("nodes", facts, "facts")
    return binary


#: Rows of a table of times in a page, and paths of slices: all up to so many.
_ROWS = 1000
#: Places of the chart “merged” in a page, and bytes of repeats.
_PLACES, _REPEATS = 4000, 1 << 20


def add_sums(binary: BinaryParts, run: RunFacts, eraser: PathEraser, guard: Guard) -> None:
    """Add tables of all times by each grouping that a view offers, and paths to callers."""
    timeline, graph = run.timeline, run.graph
    if timeline is None:
        return
    grouped = graph is not None and len(run.groups)
    offered = {
        "kind": True,
        "part": graph is not None,
        "group": grouped,
        "module": has_modules(graph),
        "device": True,
        "name": True,
        "node": any(timeline.nesting.nested),
    }
    kinds = [by for by, is_there in offered.items() if is_there]
    questions = {f"sums {by}": {"kind": "sums", "by": by, "most": _ROWS} for by in kinds}
    if offered["node"]:
        questions["paths"] = {"kind": "paths"}
    questions |= {"merged": {"kind": "merged", "most": _PLACES}, "repeats": {"kind": "repeats"}}
    for part, question in questions.items():
        reply = guard.made(part, partial(answer, run, question), Reply(None))
        if not reply.buffers:
            binary.head["answers"][part] = eraser.json(reply.result)
            continue
        headers = reply.result["columns"]
        if part == "repeats" and len(reply.buffers[0]) > _REPEATS:
            continue
        if part == "paths" and headers[0]["length"] > max(_ROWS, timeline.num_slices // 10):
            continue
        binary.head["answers"][part] = eraser.json(reply.result["info"])
        binary.add_packed(part, headers, reply.buffers[0])


#: Slices that are compressed to estimate the size of all.
_SAMPLE = 20_000
#: Error of that estimate.
_UNSURE = 1.5


def add_slices(binary: BinaryParts, run: RunFacts, room: float, *, shown: bool) -> tuple[str, ...]:
    """Add the slices that the first answer about times lacks."""
    if run.timeline is None:
        return ()
    kept = KeptTimeline(run.timeline, run.graph)
    if kept.along:
        return ()
    taken = _fitting(kept, room) if shown else None
    if taken is not None:
        binary.add_packed("slices", *taken)
        binary.add_columns("names", kept.names.columns(range(kept.names.count)), "names")
        _tell(binary, whole=True, binsOnly=None)
        return ()
    why = (
        f"this page holds {counted(kept.num_bins, 'bin')} of time in place of "
        f"{counted(kept.count, 'slice')}: its budget had no room for them (save_html(budget=…))"
    )
    notes = binary.head["answers"]["timeline"]["notes"]
    _tell(binary, whole=False, binsOnly=why, notes=[*notes, why])
    if not shown:
        return ()
    size = megabytes(kept.count * kept.table.width)
    bins = f"the page shows {counted(kept.num_bins, 'bin')} of time"
    return (f"{counted(kept.count, 'slice')} ({size} before compression): budget; {bins}",)


def _fitting(kept: KeptTimeline, room: float) -> tuple[list[dict[str, Any]], bytes] | None:
    """Return all slices packed; None if they do not fit."""
    order = kept.timeline.rows.order
    middle = max(0, (kept.count - _SAMPLE) // 2)
    sample = order[middle : middle + _SAMPLE]
    size = compressed(filtered(*pack(kept.table.columns(sample))))
    if size * kept.count / len(sample) > _UNSURE * room:
        return None
    headers, buffer = pack(kept.table.columns(order))
    return (headers, buffer) if compressed(filtered(headers, buffer)) <= room else None


def _tell(binary: BinaryParts, **changed: Any) -> None:
    answers = binary.head["answers"]
    answers["timeline"] = {**answers["timeline"], **changed}


def add_values(binary: BinaryParts, candidates: Sequence[TensorCandidate]) -> None:
    """Add pictures, profiles and all values of chosen tensors to a binary."""
    pictures = [picture for candidate in candidates for picture in candidate.pictures]
    places = [binary.add_blob(picture.data)[0] for picture in pictures]
    if pictures:
        binary.add_columns("pictures", picture_columns(pictures, places))
    for candidate in candidates:
        for question, reply in candidate.profiles:
            binary.add_reply(question, reply)
    chosen = [
        (candidate, candidate.whole) for candidate in candidates if candidate.whole is not None
    ]
    if not chosen:
        return
    rows: list[tuple[int, StorageForm, int, int]] = []
    for candidate, tensor in chosen:
        at = [binary.add_blob(data) for data in tensor.data]
        forms = zip(candidate.variants, tensor.forms, strict=True)
        rows += [(variant, form, *at[form.data]) for variant, form in forms]
        for number, variant in candidate.variants.items():
            if variant.distribution is not None:
                binary.add_packed(f"distribution {number}", *variant.distribution)
    binary.add_columns("wholes", form_columns(rows))
    _add_codes(binary, [tensor for _, tensor in chosen])


def _add_codes(binary: BinaryParts, chosen: Sequence[WholeTensor]) -> None:
    known: dict[str, Codes] = {}
    for tensor in chosen:
        for kind, own in tensor.codes.items():
            before = known.get(kind)
            codes = own.codes if before is None else np.union1d(before.codes, own.codes)
            known[kind] = Codes(codes, own.dtype)
        for kind, texts in tensor.texts.items():
            count = len(texts.unique)
            table: dict[str, np.ndarray[Any, Any] | StringColumn] = {
                "codes": np.arange(count, dtype=np.int32),
                "values": np.full(count, np.nan),
                "texts": StringColumn.from_strings(texts.unique),
            }
            binary.add_columns(f"codes {kind}", table, "page codes")
    for kind, own in known.items():
        table = code_table(kind, own.dtype, own.codes)
        binary.add_columns(f"codes {kind}", table, "page codes")


#: Nodes whose details are recorded together, and at most.
_TOGETHER, _MOST_NODES = 64, 10_000

#: Details of a node that may name files.
_WITH_PATHS = ("attrs", "notes")


def add_nodes(
    binary: BinaryParts, run: RunFacts, eraser: PathEraser, guard: Guard, room: float
) -> tuple[str, ...]:
    """Record the details of nodes; return a sentence on those without room."""
    if run.graph is None:
        return ()
    count, notes = run.graph.num_nodes, notes_by_node(run)
    questions = [{"kind": "node", "node": node} for node in range(min(count, _MOST_NODES))]
    groups = [questions[at : at + _TOGETHER] for at in range(0, len(questions), _TOGETHER)]

    def told(question: Mapping[str, Any]) -> Reply:
        details = node_details(run, question["node"], notes)
        return Reply({**details, **{part: eraser.json(details[part]) for part in _WITH_PATHS}})

    kept = guard.made("details of nodes", lambda: binary.record(groups, told, room), 0)
    if not kept:
        return ()  # the guard says why
    left = count - min(kept * _TOGETHER, len(questions))
    return (f"details of {left:,} of {counted(count, 'node')}: budget",) if left else ()
