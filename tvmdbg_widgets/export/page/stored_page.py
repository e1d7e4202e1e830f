"""All that a page can answer without a kernel, as one binary within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.export.page import pack
from tvmdbg_widgets.export.page.choice import (
    CELLS,
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
    TensorColumns,
    add_values,
    common,
    with_facts,
)
from tvmdbg_widgets.export.page.facts import Variant, headers, redacted_variant, variants
from tvmdbg_widgets.export.page.options import PathEraser, Share
from tvmdbg_widgets.export.page.pack import (
    NO_ROOM,
    BinaryParts,
    add_slices,
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
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.tensors.tensors import Tensor

Entry: TypeAlias = tuple[int, int]

#: Bytes that the head grows by when pictures and values are added, about.
_HEAD = 1024
#: Share of the room that graph and times may take where slices go along.
_TIMES = 0.75
#: Share of the room that is left over where adding up the parts is exact enough.
_FAR = 0.1
#: How much less is tried where the parts together turn out larger than each alone.
_SHRINK = 0.97


@dataclass(frozen=True)
class StoredPage:
    """What a page carries."""

    data: bytes
    left_out: tuple[str, ...]


def store(
    run: RunFacts,
    *,
    budget: int,
    share: Share = "pictures",
    parameters: bool = False,
    first: Entry | None = None,
    seen: Seen = (None, None),
    frame: int | None = None,
    tensors: bool = True,
    memory: bool = False,
    times: bool = False,
    comparison: Reply | None = None,
) -> StoredPage:
    """Store the answers that a page can give.

    Graph, times, findings and the statistics of all tensors are stored in any case; pictures and
    values by priority: ``first``, entries of findings, outputs of the graph, the others in the
    order of execution, parameters last. First come pictures of one plane each, then profiles,
    then the other planes.
    """
    left = frame_bytes(budget) if frame is None else frame
    wanted = _StoreRequest(share, parameters, first, seen, budget, left, memory, times, comparison)
    total = 2 * sum(tensor.nbytes for tensor in (run.tensors or {}).values())
    look = {"unit": "B", "unit_scale": True, "delay": 1, "leave": False}
    with tqdm(total=total, desc="storing", **look) as bar:
        storing = _Store(run, wanted, bar.update)
        found = storing.made() if tensors else storing.made_without_tensors()
        bar.update(bar.total - bar.n)  # what did not go along is done, too
        return found


@dataclass(frozen=True)
class _StoreRequest:
    """The arguments of :func:`store`."""

    share: Share
    parameters: bool
    first: Entry | None
    seen: Seen
    page: int
    frame: int
    memory: bool
    times: bool
    comparison: Reply | None


class _Store:
    """One call of :func:`store`; ``step`` is told the bytes of each tensor twice."""

    def __init__(self, run: RunFacts, wanted: _StoreRequest, step: Callable[[int], object]) -> None:
        self.run = run
        self.wanted = wanted
        self.step = step
        self.eraser = PathEraser(run)
        self.private = private_parameters(run.parts)
        self.tensors: list[Tensor] = list((run.tensors or {}).values())
        self.unread: set[int] = set()
        self.left_out: list[str] = []
        self.notes = [""] * len(self.tensors)
        self.histograms = True

    def made(self) -> StoredPage:
        """Return what goes along."""
        self.headers = headers(self.run, self.tensors)
        self.variants = [each for row in range(len(self.tensors)) for each in self._counted(row)]
        self.common = self._common()
        self.candidates = self._by_priority()
        self._say_private()
        return self._fitted()

    def made_without_tensors(self) -> StoredPage:
        """Return what goes along where the page shows no tensors."""
        binary = self._common()
        left_out = (*self.left_out, *((pack.NO_TENSORS,) if self.tensors else ()))
        binary.head["leftOut"] = left_out
        return StoredPage(binary.to_bytes(), left_out)

    def _common(self) -> BinaryParts:
        private = None if self.wanted.parameters else self.private
        run, guard = self.run, Guard(self.eraser)
        self.findings = guard.made("findings", lambda: stored_findings(run, private), None)
        health = guard.made("health", lambda: stored_health(run, private), None)
        more = ["memory"] if self.wanted.memory else []
        more += TIMES if self.wanted.times else []
        binary = common(run, self.findings, health, self.eraser, guard, more=more)
        binary.head["share"] = self.wanted.share
        room = _TIMES * ByteBudget(self.wanted.page, self.wanted.frame).left
        room -= compressed(binary.to_bytes())
        if "timeline" not in guard.failed:
            self.left_out += add_slices(binary, run, room, shown=self.wanted.times)
        self.left_out += guard.left_out()
        if (differs := self.wanted.comparison) is not None:
            binary.head["answers"]["comparison"] = self.eraser.json(differs.result["info"])
            binary.add_packed("comparison", differs.result["columns"], differs.buffers[0])
        return binary

    def _is_private(self, tensor: Tensor) -> bool:
        return not self.wanted.parameters and (tensor.node, tensor.output) in self.private

    def _counted(self, row: int) -> list[Variant]:
        """The variants of a tensor, with what the page says beside them."""
        tensor = self.tensors[row]
        taken = 0

        def progress(values: int) -> None:
            nonlocal taken
            at = min(tensor.nbytes, tensor.nbytes * values // max(1, tensor.size))
            self.step(max(0, at - taken))
            taken = max(taken, at)

        found, trouble = variants(tensor, row, self.headers[row], progress)
        self.step(tensor.nbytes - taken)
        hidden = self._is_private(tensor)
        if trouble:
            self.unread.add(row)
            self.notes[row] = trouble
        elif hidden and self.private.counts_only(tensor):
            self.notes[row] = pack.COUNTS_ONLY
        elif hidden:
            self.notes[row] = pack.PARAMETER
        elif self.wanted.share == "statistics" and found[0].found.applicable:
            self.notes[row] = pack.STATISTICS
        if not hidden:
            return found
        counts_only = self.private.counts_only(tensor)
        return [redacted_variant(each, counts_only=counts_only) for each in found]

    def _by_priority(self) -> list[TensorCandidate]:
        """The tensors whose values may go along, those first that should."""
        graph = self.run.graph
        wanted = [] if self.wanted.first is None else [self.wanted.first]
        for finding in (self.findings or {"findings": ()})["findings"]:
            wanted += [(node, output) for node, output in finding["entries"]]
        if graph is not None:
            wanted += [(node, output) for node, output in graph.heads.tolist()]
        rank = {entry: place for place, entry in reversed(list(enumerate(wanted)))}

        def key(each: TensorCandidate) -> tuple[bool, int, int]:
            entry = (each.tensor.node, each.tensor.output)
            return entry in self.private, rank.get(entry, len(wanted)), each.row

        by_row: dict[int, dict[int, Variant]] = {}
        for at, each in enumerate(self.variants):
            by_row.setdefault(each.row, {})[at] = each
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
            found = [tensor for tensor in self.tensors if (tensor.node, tensor.output) in entries]
            if found and not self.wanted.parameters:
                self.left_out.append(f"values of {pack.amount(found, noun)}: {why}")
        small = [tensor for tensor in self.tensors if self.private.counts_only(tensor)]
        if small and not self.wanted.parameters:
            self.left_out.append(
                "bounds, mean and histogram of "
                f"{counted(len(small), 'tensor')} of those: {pack.SMALL}"
            )

    def _with_facts(self) -> BinaryParts:
        remedies = [
            pack.remedy(parameters=self._is_private(tensor) or self.wanted.parameters)
            for tensor in self.tensors
        ]
        told = TensorColumns(self.headers, self.variants, self.notes, remedies)
        return with_facts(self.common, self.run, told, self.eraser, histograms=self.histograms)

    def _fitted(self) -> StoredPage:
        """Fill the budget; where the whole is larger than its parts were, try with less."""
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
            # What the codes of short floats mean is shared by all tensors and counted with none.
            is_sure = self.wanted.share != "tensors"
            is_far = is_sure and budget.left > _FAR * room.left
            if begin <= 0 or is_far or room.holds(packed_size(stored.data)):
                return stored
            self.step = _no_step  # each tensor has been counted
            spare *= _SHRINK
            for candidate in self.candidates:
                candidate.clear()

    def _choose(self, budget: ByteBudget) -> None:
        choose_pictures(self.candidates, budget, self.step)
        if self.wanted.share == "tensors":
            choose_wholes(self.candidates, budget)
        choose_profiles(self.candidates, budget)
        choose_planes(self.candidates, budget)

    def _finished(self) -> StoredPage:
        share, page = self.wanted.share, self.wanted.page
        chosen = choice_sentences(self.candidates, share, page, self._noun)
        left_out = (*self.left_out, *chosen)
        if share != "statistics":
            for candidate in self.candidates:
                self.notes[candidate.row] = candidate_note(candidate)
        binary = self._with_facts()
        add_values(binary, self.candidates)
        binary.head["leftOut"] = left_out
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
    """Take no step."""


def stored_findings(run: RunFacts, private: PrivateParameters | None) -> dict[str, Any]:
    """Return the findings as the views ask for them, all tensors scanned."""
    found = run.search.run()
    told: dict[str, Any] = answer(run, {"kind": "findings"}).result
    if private is not None:
        found = redacted_findings(found, run.tensors, private)
    rows = [
        {**row, "title": each.title, "evidence": list(each.evidence)}
        for row, each in zip(told["findings"], found, strict=True)
    ]
    return {**told, "findings": rows, "state": "done"}


def stored_health(
    run: RunFacts, private: PrivateParameters | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the health of all tensors as the views ask for it, and its columns."""
    told = answer(run, {"kind": "health"}).result
    told = {name: value for name, value in told.items() if name != "columns"}
    columns = run.search.health().columns()
    if private is not None:
        erase = bounds_eraser(run.tensors, private)
        small = [private.counts_only(tensor) for tensor in (run.tensors or {}).values()]
        for name in ("words", "brief"):
            texts = map(erase, told[name])
            told[name] = [
                without_numbers(each) if hidden else each
                for each, hidden in zip(texts, small, strict=True)
            ]
        for name in ("low", "high"):
            columns[name] = np.where(small, np.nan, columns[name])
    return told, columns


def candidate_note(each: TensorCandidate) -> str:
    """Return what the page says beside one tensor's picture; empty where all values are there."""
    if each.whole is not None or not each.has_picture:
        return ""
    if each.trouble:
        return each.trouble
    if not each.pictures:
        return NO_ROOM
    stored, there = len(each.pictures), each.planes
    some = f"{stored:,} of its" if stored < there else "all its"
    which = "" if there == 1 else f" of {some} {counted(there, 'plane')}"
    reduced = any(max(made.shown.row_step, made.shown.col_step) > 1 for made in each.pictures)
    sampled = " of a sample" if any(not made.shown.exact for made in each.pictures) else ""
    kind = f"reduced picture of at most {CELLS} × {CELLS} cells{sampled}" if reduced else "picture"
    return f"{kind}{which}: exact values are not in this page"


def choice_sentences(
    candidates: Sequence[TensorCandidate], share: str, budget: int, noun: str
) -> list[str]:
    """Return what of the tensors that may be shown is not in the page."""
    shown = [
        candidate for candidate in candidates if candidate.has_picture and not candidate.trouble
    ]
    unread = [candidate.tensor for candidate in candidates if candidate.trouble]
    room = f"budget of {megabytes(budget)}"
    if share == "statistics":
        tensors = [candidate.tensor for candidate in candidates]
        return [f"values of {amount(tensors, noun)}: share='statistics'"] if tensors else []
    found = [f"values of {amount(unread, noun)} that could not be read"] if unread else []
    pictured = [each for each in shown if each.pictures and each.whole is None]
    if pictured:
        tensors = [each.tensor for each in pictured]
        why = room if share == "tensors" else "share='tensors' keeps them"
        found.append(f"exact values of {amount(tensors, noun)}, kept as pictures: {why}")
    nothing = [each for each in shown if not each.pictures and each.whole is None]
    if nothing:
        found.append(f"pictures of {len(nothing):,} of {counted(len(shown), noun)}: {room}")
    flat = [each for each in pictured if not each.profiles and each.has_profiles]
    if flat:
        found.append(f"profiles of {len(flat):,} of {counted(len(pictured), noun)}: {room}")
    missing = sum(each.planes - len(each.pictures) for each in pictured)
    if missing:
        there = sum(each.planes for each in pictured)
        found.append(f"{missing:,} of {counted(there, 'plane')} of those pictures: {room}")
    return found
