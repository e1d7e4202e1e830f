"""Choice of tensor values for a page, by priority, within the budget."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.tensor import Reply, cell_columns, packed_cells
from tvmdbg_widgets.engine import STATIC
from tvmdbg_widgets.export.page import pack
from tvmdbg_widgets.export.page.facts import Variant, WholeTensor, whole
from tvmdbg_widgets.export.page.pack import compressed, filtered, recorded_size
from tvmdbg_widgets.model.pictures import Picture, picture
from tvmdbg_widgets.model.tensors.planes import Plane, axes_along, default_axes, is_complex
from tvmdbg_widgets.model.tensors.tensors import Tensor

#: Axes down and across, and the index per axis, where chosen.
Seen: TypeAlias = "tuple[tuple[int | None, int | None] | None, Sequence[int] | None]"
#: Values of a plane above which its picture is made of a sample.
_MOST_EXACT = 1 << 26
#: Compressed bytes of what is said of a picture or tensor, about.
_ROW = 24
#: Values of a complex tensor; their texts are written in Python, one by one.
_MOST_COMPLEX = 1 << 16
#: Attempts that may fail before the budget counts as spent.
_TRIES = 24


@dataclass
class TensorCandidate:
    """One tensor whose values may be stored."""

    row: int
    tensor: Tensor
    variants: dict[int, Variant]
    seen: Seen = (None, None)
    pictures: list[StoredPicture] = field(default_factory=list)
    profiles: list[tuple[dict[str, Any], Reply]] = field(default_factory=list)
    spent: list[tuple[int, int]] = field(default_factory=list)
    whole: WholeTensor | None = None
    trouble: str = ""

    def clear(self) -> None:
        """Reset all choices."""
        self.pictures, self.profiles, self.spent, self.whole = [], [], [], None

    @property
    def has_picture(self) -> bool:
        """Whether there are ordered values to draw."""
        return any(
            variant.applicable and math.prod(variant.view.view_shape)
            for variant in self.variants.values()
        )

    @property
    def has_profiles(self) -> bool:
        """Whether any variant has profiles."""
        return any(map(has_profiles, self.variants.values()))

    @property
    def planes(self) -> int:
        """Number of planes of all variants that may be pictured."""
        shapes = [variant.view.view_shape for variant in self.variants.values()]
        beside = sum(self._seen_plane(shape).axes != default_axes(shape) for shape in shapes)
        return sum(map(number_of_planes, shapes)) + beside

    def first_planes(self) -> Iterator[tuple[int, Plane]]:
        """Yield the default plane of every variant, and the visible one."""
        for number, variant in self.variants.items():
            opened = next(planes(variant.view.view_shape), None)
            if opened is None:
                continue
            yield number, opened
            seen = self._seen_plane(opened.shape)
            if seen != opened:
                yield number, seen

    def later_planes(self) -> Iterator[tuple[int, Plane]]:
        """Yield the other planes of all variants."""
        for number, variant in self.variants.items():
            rest = planes(variant.view.view_shape)
            next(rest, None)
            seen = self._seen_plane(variant.view.view_shape)
            for plane in rest:
                if plane != seen:
                    yield number, plane

    def _seen_plane(self, shape: tuple[int, ...]) -> Plane:
        axes, index = self.seen
        if index is None or len(index) != len(shape):
            index = [0] * len(shape)
        at = [max(0, min(size - 1, place)) for place, size in zip(index, shape, strict=True)]
        plane = Plane(shape, default_axes(shape), tuple(at))
        if axes is not None and axes[1] is not None:
            with suppress(ValueError):
                plane = Plane.of(shape, axes, at)
        places = (0 if axis in plane.axes else place for axis, place in enumerate(at))
        return replace(plane, index=tuple(places))


def choose_pictures(
    candidates: Sequence[TensorCandidate], budget: ByteBudget, step: Callable[[int], object]
) -> None:
    """Add pictures of the candidates' first planes, within the budget."""
    for candidate in candidates:
        step(candidate.tensor.nbytes)
        if not candidate.has_picture or candidate.trouble:
            continue
        for variant, plane in candidate.first_planes():
            _try_picture(candidate, variant, plane, budget)


def choose_profiles(
    candidates: Sequence[TensorCandidate], budget: ByteBudget, answers: Answers
) -> None:
    """Add profiles to pictures, and to whole tensors as long as their values take far more."""
    wholes = [one for one in candidates if one.whole]
    _try_profiles([one for one in candidates if one.pictures], slice(None), budget, answers)
    room, values = copy(budget), sum(cost for one in wholes for cost, _ in one.spent)
    room.left = left = min(room.left, max(_FEW_PLOTS, int(PLOTS * values)))
    # The page opens with the first tensor, and a tensor with the first of these axes.
    for ones, axes in (
        (wholes[:1], slice(None)),
        (wholes[1:], slice(1)),
        (wholes[1:], slice(1, None)),
    ):
        _try_profiles(ones, axes, room, answers)
    budget.take(left - room.left, budget.raw - room.raw)


def _try_profiles(
    candidates: Sequence[TensorCandidate], axes: slice, budget: ByteBudget, answers: Answers
) -> None:
    failures = 0
    for candidate in candidates:
        for variant in filter(has_profiles, candidate.variants.values()):
            if candidate.trouble or failures == _TRIES:
                continue
            try:
                made = [
                    (asked, answers.answer(asked)) for asked in profile_questions(variant)[axes]
                ]
            except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
                candidate.trouble = pack.unread(problem)
                continue  # the budget is not to blame
            replies = [reply for _, reply in made]
            size = sum(len(buffer) for reply in replies for buffer in reply.buffers)
            if budget.take(recorded_size(replies), size):
                candidate.profiles += made
            else:
                failures += 1


def choose_planes(candidates: Sequence[TensorCandidate], budget: ByteBudget) -> None:
    """Add pictures of other planes in turn, within the budget."""
    queues = [
        (candidate, candidate.later_planes()) for candidate in candidates if candidate.pictures
    ]
    failures = 0
    while queues and failures < _TRIES:
        left = []
        for candidate, rest in queues:
            at = next(rest, None)
            if at is None:
                continue
            if not _try_picture(candidate, *at, budget):
                failures += 1
            elif not candidate.trouble:
                left.append((candidate, rest))
        queues = left


def choose_wholes(candidates: Sequence[TensorCandidate], budget: ByteBudget) -> None:
    """Replace pictures by all values, by priority, within the budget."""
    for candidate in candidates:
        if candidate.tensor.nbytes > budget.raw or not candidate.variants or candidate.trouble:
            continue
        if is_complex(candidate.tensor.dtype) and candidate.tensor.size > _MOST_COMPLEX:
            continue
        refund = [sum(spent[kind] for spent in candidate.spent) for kind in (0, 1)]
        budget.give_back(*refund)
        if candidate.tensor.nbytes > 64 * max(1, budget.left) or not _try_whole(candidate, budget):
            budget.take(*refund)


def _try_whole(candidate: TensorCandidate, budget: ByteBudget) -> bool:
    try:
        stored = whole(candidate.tensor, list(candidate.variants.values()))
    except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
        candidate.trouble = pack.unread(problem)
        return False
    size = sum(len(data) for data in stored.data)
    spread = [one.distribution for one in candidate.variants.values() if one.distribution]
    cost = sum(map(compressed, stored.data)) + _ROW * len(stored.replies)
    cost += recorded_size(spread) if spread else 0
    cost += sum(compressed("\n".join(text.unique).encode()) for text in stored.texts.values())
    if not budget.take(cost, size):
        return False
    candidate.whole, candidate.spent, candidate.pictures = stored, [(cost, size)], []
    return True


def _try_picture(
    candidate: TensorCandidate, variant: int, plane: Plane, budget: ByteBudget
) -> bool:
    drawn = candidate.variants[variant]
    if not drawn.applicable or not math.prod(drawn.view.view_shape):
        return True
    try:
        made = stored_picture(variant, drawn, plane)
    except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
        candidate.trouble = pack.unread(problem)
        return True  # the budget is not to blame
    headers, cells = packed_cells(made.shown)
    cost = (compressed(filtered(headers, cells)) + _ROW, len(cells))
    if not budget.take(*cost):
        return False
    candidate.pictures.append(made)
    candidate.spent.append(cost)
    return True


#: Bytes of a page's figure, text and markup, about.
_MARKUP = 60_000


def frame_bytes(budget: int) -> int:
    """Return about how many bytes of a page are not data; at most half of the budget."""
    script, style = (
        path.stat().st_size if path.exists() else 0
        for path in (STATIC / "page.js", STATIC / "page.css")
    )
    return min(budget // 2, _MARKUP + (script + style) // 2)


class ByteBudget:
    """Free compressed bytes of a page."""

    def __init__(self, budget: int, frame: int) -> None:
        self.total = max(0, budget - frame)
        self.left = self.total * 3 // 4
        #: Free bytes before compression: a page unpacks them into memory.
        self.raw = max(1 << 20, 16 * self.total)

    def take(self, compressed: int, raw: int) -> bool:
        """Take bytes if enough are free; return whether they were."""
        if compressed > self.left or raw > self.raw:
            return False
        self.left -= compressed
        self.raw -= raw
        return True

    def give_back(self, compressed: int, raw: int) -> None:
        """Return bytes taken before."""
        self.left += compressed
        self.raw += raw

    def holds(self, packed: int) -> bool:
        """Whether base64 data of this size fit the page."""
        return packed <= self.total


#: Most cells of a picture down and across.
CELLS = 64


@dataclass(frozen=True)
class StoredPicture:
    """One picture of one variant."""

    variant: int
    plane: Plane
    shown: Picture


def planes(shape: tuple[int, ...]) -> Iterator[Plane]:
    """Yield the inspector's default plane, then the planes at other indices."""
    axes = default_axes(shape)
    ranges = [range(1) if axis in axes else range(size) for axis, size in enumerate(shape)]
    for index in itertools.product(*ranges):
        yield Plane(shape, axes, index)


def number_of_planes(shape: tuple[int, ...]) -> int:
    """Return the number of planes of :func:`planes`."""
    axes = default_axes(shape)
    return math.prod(size for axis, size in enumerate(shape) if axis not in axes)


def stored_picture(row: int, variant: Variant, plane: Plane) -> StoredPicture:
    """Reduce a plane to at most ``CELLS`` x ``CELLS`` cells; a huge one by sampling."""
    sample = plane.rows * plane.cols > _MOST_EXACT
    return StoredPicture(row, plane, picture(variant.view, plane, CELLS, CELLS, sample=sample))


def pictures_reply(pictures: Sequence[StoredPicture]) -> Reply:
    """Return pictures of one variant, their cells one after the other."""
    shown = [one.shown for one in pictures]
    axes = [[-1 if axis is None else axis for axis in one.plane.axes] for one in pictures]
    columns = {
        "down": np.array([down for down, _ in axes], np.int32),
        "across": np.array([across for _, across in axes], np.int32),
        "index": np.array([at for one in pictures for at in one.plane.index], np.float64),
        "rows": np.array([one.rows for one in shown], np.int32),
        "cols": np.array([one.cols for one in shown], np.int32),
        "rowStep": np.array([one.row_step for one in shown], np.float64),
        "colStep": np.array([one.col_step for one in shown], np.float64),
        "sampled": np.array([not one.exact for one in shown], np.bool_),
    }
    return Reply.of("page pictures", columns | cell_columns(shown))


#: Most points of a profile, as in the views.
POINTS = 4096
#: Share of the bytes of whole tensors that their profiles may add.
PLOTS = 1 / 8
#: Compressed bytes that they may take in any case, which is enough for small tensors.
_FEW_PLOTS = 1 << 14
#: Values up to which a tensor gets profiles: an axis takes a pass over all values.
MOST_VALUES = 1 << 24


def has_profiles(variant: Variant) -> bool:
    """Whether a variant has ordered values, not too many, along some axis."""
    shape = variant.view.view_shape
    return variant.applicable and bool(shape) and 0 < math.prod(shape) <= MOST_VALUES


def profile_questions(variant: Variant) -> list[dict[str, Any]]:
    """Return the questions for profiles along all axes, first that which a view asks first."""
    asked = {"kind": "profile", **variant.asked, "points": POINTS}
    axes = axes_along(variant.view.view_shape, variant.view.axis_names)
    return [{**asked, "axis": axis} for axis in axes]
