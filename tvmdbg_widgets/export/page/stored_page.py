"""Answers of a page without a kernel, as one binary within a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import pack as pack_columns
from tvmdbg_widgets.engine import unpack
from tvmdbg_widgets.export.page import pack
from tvmdbg_widgets.export.page.choice import (
    CELLS,
    PLOTS,
    ByteBudget,
    Seen,
    TensorCandidate,
    choose_pictures,
    choose_planes,
    choose_profiles,
    choose_wholes,
    frame_bytes,
)
from tvmdbg_widgets.export.page.contents import (
    TIMES,
    Guard,
    record_asked,
    record_nodes,
    record_run,
    record_slices,
    record_times,
    record_values,
)
from tvmdbg_widgets.export.page.facts import Variant, variants
from tvmdbg_widgets.export.page.options import PathEraser, Share
from tvmdbg_widgets.export.page.pack import (
    NO_ROOM,
    BinaryParts,
    amount,
    base64_size,
    compressed,
    megabytes,
    packed_size,
)
from tvmdbg_widgets.export.private_parameters import (
    PrivateParameters,
    bounds_eraser,
    private_parameters,
    redacted_findings,
    without_numbers,
)
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.model.tensors.tensors import Tensor

Entry: TypeAlias = tuple[int, int]

#: Bytes that pictures and values add to the head, about.
_HEAD = 1024
#: Share of the room that graph and times may take, to include slices.
_TIMES = 0.75
#: Share of that room for details of nodes.
_NODES = 0.5
#: Share of free room above which the sum of the parts is exact enough.
_FAR = 0.1
#: Factor of the room for another attempt, if all parts together are too large.
_SHRINK = 0.97


@dataclass(frozen=True)
class StoredPage:
    """Data of a page, and sentences on omissions."""

    data: bytes
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class StoreRequest:
    """Options of :func:`store`; ``page`` and ``frame`` are bytes."""

    page: int
    frame: int
    share: Share = "pictures"
    parameters: bool = False
    first: Entry | None = None
    seen: Seen = (None, None)
    #: Layouts given by hand.
    layouts: Sequence[str] = ()
    #: Questions of the view's figure.
    asked: Sequence[Mapping[str, Any]] = ()
    times: bool = False
    #: Questions of the view with their replies.
    replies: Sequence[tuple[Mapping[str, Any], Reply]] = ()


def store(
    run: RunFacts, *, budget: int, frame: int | None = None, tensors: bool = True, **options: Any
) -> StoredPage:
    """Store the answers that a page can give.

    Graph, times, findings and statistics are always stored. Pictures and values follow by priority:
    ``first``, entries of findings, outputs of the graph, other entries in execution order,
    parameters. Pictures of one plane come first, then profiles, then other planes.
    """
    wanted = StoreRequest(budget, frame_bytes(budget) if frame is None else frame, **options)
    total = 2 * sum(tensor.nbytes for tensor in (run.tensors or {}).values())
    look = {"unit": "B", "unit_scale": True, "delay": 1, "leave": False}
    with tqdm(total=total, desc="storing", **look) as bar:
        storing = _Store(run, wanted, bar.update)
        page = storing.made() if tensors else storing.made_without_tensors()
        bar.update(bar.total - bar.n)  # omitted tensors count as done
        return page


class _Store:
    """One call of :func:`store`; ``step`` gets the bytes of every tensor twice."""

    def __init__(self, run: RunFacts, wanted: StoreRequest, step: Callable[[int], object]) -> None:
        self.run = run
        self.wanted = wanted
        self.step = step
        self.private = private_parameters(run.parts)
        erased: Any = {}
        if not wanted.parameters:
            private = self.private
            erased["findings"] = partial(redacted_findings, tensors=run.tensors, private=private)
        self.answers = Answers(run, redact=self._redact, **erased)
        self.tensors: list[Tensor] = list((run.tensors or {}).values())
        self.unread: set[int] = set()
        self.left_out: list[str] = []
        self.notes = [""] * len(self.tensors)
        self.histograms = True

    def made(self) -> StoredPage:
        """Return the page's data."""
        rows = range(len(self.tensors))
        self.variants = [variant for row in rows for variant in self._counted(row)]
        self.common = self._common()
        self.candidates = self._by_priority()
        self._say_private()
        return self._fitted()

    def made_without_tensors(self) -> StoredPage:
        """Return the data of a page without tensors."""
        binary = self._common()
        left_out = (*self.left_out, *((pack.NO_TENSORS,) if self.tensors else ()))
        return StoredPage(binary.to_bytes(), left_out)

    def _common(self) -> BinaryParts:
        private = None if self.wanted.parameters else self.private
        run, answers, guard = self.run, self.answers, Guard()
        binary = BinaryParts(PathEraser(run).reply)
        found = Reply({"state": "none", "done": 0, "total": 0, "findings": []})
        found = guard.made("findings", self._findings, found)
        self.findings = found.result["findings"]
        binary.add_reply({"kind": "findings"}, found)
        health = guard.made("health", lambda: stored_health(run, answers, private), None)
        if health is not None:
            binary.add_reply({"kind": "health"}, health)
        for question, reply in self.wanted.replies:
            binary.add_reply(question, reply)
        record_asked(binary, answers, guard, self.wanted.asked)
        record_run(binary, run, answers, guard, TIMES if self.wanted.times else ())
        if self.wanted.times and "timeline" not in guard.failed:
            record_times(binary, run, answers, guard)
        room = _TIMES * ByteBudget(self.wanted.page, self.wanted.frame).left
        base = compressed(binary.to_bytes())
        room -= base
        self.left_out += record_nodes(binary, run, guard, _NODES * room)
        room -= compressed(binary.to_bytes()) - base
        if "timeline" not in guard.failed:
            self.left_out += record_slices(binary, answers, room, shown=self.wanted.times)
        self.left_out += guard.left_out()
        return binary

    def _findings(self) -> Reply:
        """Return the findings as views get them after a full scan."""
        self.run.search.run()
        return self.answers.answer({"kind": "findings"})

    def _is_private(self, tensor: Tensor) -> bool:
        return not self.wanted.parameters and (tensor.node, tensor.output) in self.private

    def _redact(self, tensor: Tensor) -> tuple[str, bool]:
        if not self._is_private(tensor):
            return "", False
        counts_only = self.private.counts_only(tensor)
        return pack.COUNTS_ONLY if counts_only else pack.PARAMETER, counts_only

    def _counted(self, row: int) -> list[Variant]:
        """Return the variants of a tensor, and set its note."""
        tensor = self.tensors[row]
        taken = 0

        def progress(values: int) -> None:
            nonlocal taken
            at = min(tensor.nbytes, tensor.nbytes * values // max(1, tensor.size))
            self.step(max(0, at - taken))
            taken = max(taken, at)

        layouts = [*map(Layout.parse, self.wanted.layouts)]
        own, trouble = variants(self.answers, self.run, tensor, row, layouts, progress=progress)
        self.step(tensor.nbytes - taken)
        if trouble:
            self.unread.add(row)
        hidden = self._redact(tensor)[0]
        some = self.wanted.share == "statistics" and own[0].applicable
        self.notes[row] = trouble or hidden or (pack.STATISTICS if some else "")
        return own

    def _by_priority(self) -> list[TensorCandidate]:
        """Return the tensors whose values may be stored, most important first."""
        graph = self.run.graph
        wanted = [] if self.wanted.first is None else [self.wanted.first]
        for finding in self.findings:
            wanted += [(node, output) for node, output in finding["entries"]]
        if graph is not None:
            wanted += [(node, output) for node, output in graph.heads.tolist()]
        rank = {entry: place for place, entry in reversed(list(enumerate(wanted)))}

        def key(candidate: TensorCandidate) -> tuple[bool, int, int]:
            entry = (candidate.tensor.node, candidate.tensor.output)
            return entry in self.private, rank.get(entry, len(wanted)), candidate.row

        by_row: dict[int, dict[int, Variant]] = {}
        for at, variant in enumerate(self.variants):
            by_row.setdefault(variant.row, {})[at] = variant
        return sorted(
            (
                TensorCandidate(row, tensor, by_row[row], self._seen(tensor))
                for row, tensor in enumerate(self.tensors)
                if row not in self.unread and not self._is_private(tensor)
            ),
            key=key,
        )

    def _seen(self, tensor: Tensor) -> Seen:
        first = (tensor.node, tensor.output) == self.wanted.first
        return self.wanted.seen if first else (None, None)

    def _say_private(self) -> None:
        if self.unread:
            unread = [self.tensors[row] for row in sorted(self.unread)]
            self.left_out.append(f"{pack.amount(unread, 'tensor')} that could not be read")
        for entries, noun, why in (
            (self.private.parameters, "parameter", pack.ASKED),
            (self.private.doubtful, "tensor", pack.DOUBTFUL),
            (self.private.derived, "tensor", pack.DERIVED),
        ):
            private = [tensor for tensor in self.tensors if (tensor.node, tensor.output) in entries]
            if private and not self.wanted.parameters:
                self.left_out.append(f"values of {pack.amount(private, noun)}: {why}")
        small = [tensor for tensor in self.tensors if self.private.counts_only(tensor)]
        if small and not self.wanted.parameters:
            self.left_out.append(
                "bounds, mean and histogram of "
                f"{counted(len(small), 'tensor')} of those: {pack.SMALL}"
            )

    def _with_facts(self) -> BinaryParts:
        binary = self.common.copy()
        whole = {number for each in self.candidates if each.whole for number in each.variants}
        for number, one in enumerate(self.variants):
            tensor, note = self.tensors[one.row], self.notes[one.row]
            remedy = pack.remedy(parameters=self._is_private(tensor) or self.wanted.parameters)
            told = one.stored(note, remedy, histograms=self.histograms, whole=number in whole)
            told.result["variant"] = number
            entry = {"kind": "variant", "entry": [tensor.node, tensor.output]}
            if one.reading in tensor.readings[:1]:
                binary.add_reply(entry | {"reading": None}, told)
            binary.add_reply(entry | {"reading": one.reading}, told)
        return binary

    def _fitted(self) -> StoredPage:
        """Fill the budget; retry with less if the parts together are too large."""
        page, frame = self.wanted.page, self.wanted.frame
        room = ByteBudget(page, frame)
        base = compressed(self._with_facts().to_bytes())
        if base > room.left and self.tensors:
            self.histograms = False
            self.left_out.append(f"histograms: budget of {pack.megabytes(page)}")
            base = compressed(self._with_facts().to_bytes())
        if base > room.left:
            self.left_out.append(pack.too_small(base64_size(base) + frame, page))
        spare = float(room.left - base)
        while True:
            budget = ByteBudget(page, frame)
            budget.left = begin = int(spare) - _HEAD
            if self.wanted.share != "statistics" and begin > 0:
                self._choose(budget)
            stored = self._finished()
            # Tables of short floats are shared by all tensors, so no tensor's cost includes them.
            is_sure = self.wanted.share != "tensors"
            is_far = is_sure and budget.left > _FAR * room.left
            if begin <= 0 or is_far or room.holds(packed_size(stored.data)):
                return stored
            self.step = _no_step  # all tensors have been counted
            spare *= _SHRINK
            for candidate in self.candidates:
                candidate.clear()

    def _choose(self, budget: ByteBudget) -> None:
        choose_pictures(self.candidates, budget, self.step)
        if self.wanted.share == "tensors":
            choose_wholes(self.candidates, budget)
        choose_profiles(self.candidates, budget, self.answers)
        choose_planes(self.candidates, budget)

    def _finished(self) -> StoredPage:
        share, page = self.wanted.share, self.wanted.page
        chosen = choice_sentences(self.candidates, share, page, self._noun)
        left_out = (*self.left_out, *chosen)
        if share != "statistics":
            for candidate in self.candidates:
                self.notes[candidate.row] = candidate_note(candidate)
        binary = self._with_facts()
        record_values(binary, self.candidates)
        return StoredPage(binary.to_bytes(), left_out)

    @property
    def _noun(self) -> str:
        graph = self.run.graph
        if graph is None or self.wanted.parameters:
            return "tensor"
        inputs = set(np.flatnonzero(graph.kinds == NodeKind.INPUT).tolist())
        mixed = any(candidate.tensor.node in inputs for candidate in self.candidates)
        return "activation or input" if mixed else "activation"


def _no_step(_bytes: int) -> None:
    """Do nothing."""


def stored_health(run: RunFacts, answers: Answers, private: PrivateParameters | None) -> Reply:
    """Return the health of all tensors as views get it."""
    reply = answers.answer({"kind": "health"})
    if private is None:
        return reply
    erase = bounds_eraser(run.tensors, private)
    small = [private.counts_only(tensor) for tensor in (run.tensors or {}).values()]
    told = dict(reply.result)
    for name in ("words", "brief"):
        told[name] = [
            without_numbers(text) if hidden else text
            for text, hidden in zip(map(erase, told[name]), small, strict=True)
        ]
    columns = unpack(told["columns"], reply.buffers[0])
    for name in ("low", "high"):
        columns[name] = np.where(small, np.nan, columns[name])
    told["columns"], buffer = pack_columns(columns, "health")
    return Reply(told, (buffer,))


def candidate_note(candidate: TensorCandidate) -> str:
    """Return the note beside a tensor's picture; "" if all values are stored."""
    if candidate.whole is not None or not candidate.has_picture:
        return ""
    if candidate.trouble:
        return candidate.trouble
    if not candidate.pictures:
        return NO_ROOM
    stored, there = len(candidate.pictures), candidate.planes
    some = f"{stored:,} of its" if stored < there else "all its"
    which = "" if there == 1 else f" of {some} {counted(there, 'plane')}"
    reduced = any(max(made.shown.row_step, made.shown.col_step) > 1 for made in candidate.pictures)
    sampled = " of a sample" if any(not made.shown.exact for made in candidate.pictures) else ""
    kind = f"reduced heatmap of at most {CELLS} × {CELLS} cells{sampled}" if reduced else "heatmap"
    return f"{kind}{which}: exact values are not in this page"


def choice_sentences(
    candidates: Sequence[TensorCandidate], share: str, budget: int, noun: str
) -> list[str]:
    """Return sentences on omitted values of the tensors that may be shown."""
    shown = [one for one in candidates if one.has_picture and not one.trouble]
    unread = [one.tensor for one in candidates if one.trouble]
    room = f"budget of {megabytes(budget)}"
    if share == "statistics":
        tensors = [candidate.tensor for candidate in candidates]
        return [f"values of {amount(tensors, noun)}: share='statistics'"] if tensors else []
    sentences = [f"values of {amount(unread, noun)} that could not be read"] if unread else []
    pictured = [one for one in shown if one.pictures and one.whole is None]
    if pictured:
        tensors = [one.tensor for one in pictured]
        why = room if share == "tensors" else "share='tensors' keeps them"
        sentences.append(f"exact values of {amount(tensors, noun)}, kept as heatmaps: {why}")
    nothing = [one for one in shown if not one.pictures and one.whole is None]
    if nothing:
        sentences.append(f"heatmaps of {len(nothing):,} of {counted(len(shown), noun)}: {room}")
    flat = [one for one in pictured if not one.profiles and one.has_profiles]
    if flat:
        sentences.append(f"line plots of {len(flat):,} of {counted(len(pictured), noun)}: {room}")
    wholes = [one for one in shown if one.whole is not None and one.has_profiles]
    if plain := [one for one in wholes if not one.profiles]:
        why = f"they may add {percent(PLOTS)} to the values, within the {room}"
        sentences.append(f"line plots of {len(plain):,} of {counted(len(wholes), noun)}: {why}")
    missing = sum(one.planes - len(one.pictures) for one in pictured)
    if missing:
        there = sum(one.planes for one in pictured)
        sentences.append(f"{missing:,} of {counted(there, 'plane')} of those heatmaps: {room}")
    return sentences
