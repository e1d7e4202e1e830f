"""Which values of which tensors go along, by priority, until the budget is spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tvmdbg_widgets.export.page.stored import sentences
from tvmdbg_widgets.export.page.stored.budget import ByteBudget
from tvmdbg_widgets.export.page.stored.facts import Variant
from tvmdbg_widgets.export.page.stored.pack import compressed
from tvmdbg_widgets.export.page.stored.pictures import (
    StoredPicture,
    number_of_planes,
    planes,
    stored_picture,
)
from tvmdbg_widgets.export.page.stored.profiles import (
    StoredProfiles,
    has_profiles,
    stored_profiles,
)
from tvmdbg_widgets.export.page.stored.values import WholeTensor, whole
from tvmdbg_widgets.figures.tensor.options import Axes
from tvmdbg_widgets.figures.tensor.shown import plane_of
from tvmdbg_widgets.model.tensors.planes import Plane, default_axes
from tvmdbg_widgets.model.tensors.readings import is_complex
from tvmdbg_widgets.model.tensors.tensors import Tensor

#: Axes down and across, and one index an axis, each as far as it was chosen.
Seen: TypeAlias = "tuple[Axes | None, Sequence[int] | None]"
#: What the row of a picture or tensor adds to the tables, compressed, about.
_ROW = 24
#: Texts of complex values are made in Python, one by one.
_MOST_COMPLEX = 1 << 16
#: Planes that are tried after one that no longer fits.
_TRIES = 24


@dataclass
class TensorCandidate:
    """One tensor whose values may go along."""

    row: int
    tensor: Tensor
    variants: dict[int, Variant]
    seen: Seen = (None, None)
    pictures: list[StoredPicture] = field(default_factory=list)
    profiles: list[StoredProfiles] = field(default_factory=list)
    spent: list[tuple[int, int]] = field(default_factory=list)
    whole: WholeTensor | None = None
    trouble: str = ""

    def clear(self) -> None:
        """Forget what was chosen."""
        self.pictures, self.profiles, self.spent, self.whole = [], [], [], None

    @property
    def has_picture(self) -> bool:
        """Whether there is anything to show: values, of a type with an order."""
        return any(
            each.found.applicable and math.prod(each.view.view_shape)
            for each in self.variants.values()
        )

    @property
    def has_profiles(self) -> bool:
        """Whether there are profiles that could go along."""
        return any(map(has_profiles, self.variants.values()))

    @property
    def planes(self) -> int:
        """Planes of all variants, of which there may be pictures."""
        shapes = [each.view.view_shape for each in self.variants.values()]
        beside = sum(self._seen_plane(shape).axes != default_axes(shape) for shape in shapes)
        return sum(map(number_of_planes, shapes)) + beside

    def first_planes(self) -> Iterator[tuple[int, Plane]]:
        """Yield the plane that each variant opens with, and the one that is in sight."""
        for variant, each in self.variants.items():
            opened = next(planes(each.view.view_shape), None)
            if opened is None:
                continue
            yield variant, opened
            seen = self._seen_plane(opened.shape)
            if seen != opened:
                yield variant, seen

    def later_planes(self) -> Iterator[tuple[int, Plane]]:
        """Yield the other planes of each variant, the same index of all in turn."""
        for variant, each in self.variants.items():
            rest = planes(each.view.view_shape)
            next(rest, None)
            seen = self._seen_plane(each.view.view_shape)
            for plane in rest:
                if plane != seen:
                    yield variant, plane

    def _seen_plane(self, shape: tuple[int, ...]) -> Plane:
        plane = plane_of(shape, *self.seen)
        index = (0 if axis in plane.axes else at for axis, at in enumerate(plane.index))
        return replace(plane, index=tuple(index))


def choose_pictures(
    candidates: Sequence[TensorCandidate], budget: ByteBudget, step: Callable[[int], object]
) -> None:
    """Give every candidate the pictures of its first planes, while the budget lasts."""
    for each in candidates:
        step(each.tensor.nbytes)
        if not each.has_picture or each.trouble:
            continue
        for variant, plane in each.first_planes():
            _try_picture(each, variant, plane, budget)


def choose_profiles(candidates: Sequence[TensorCandidate], budget: ByteBudget) -> None:
    """Give the candidates with pictures the profiles along their axes, while the budget lasts."""
    failures = 0
    for each in candidates:
        if not each.pictures or each.trouble or failures == _TRIES:
            continue
        for variant, found in each.variants.items():
            if has_profiles(found) and not _try_profiles(each, variant, budget):
                failures += 1


def choose_planes(candidates: Sequence[TensorCandidate], budget: ByteBudget) -> None:
    """Give the candidates with pictures their other planes in turn, while the budget lasts."""
    queues = [(each, each.later_planes()) for each in candidates if each.pictures]
    failures = 0
    while queues and failures < _TRIES:
        left = []
        for each, rest in queues:
            at = next(rest, None)
            if at is None:
                continue
            if not _try_picture(each, *at, budget):
                failures += 1
            elif not each.trouble:
                left.append((each, rest))
        queues = left


def choose_wholes(candidates: Sequence[TensorCandidate], budget: ByteBudget) -> None:
    """Replace pictures by the whole values, by priority, where the budget allows."""
    for each in candidates:
        if each.tensor.nbytes > budget.raw or not each.variants or each.trouble:
            continue
        if is_complex(each.tensor.dtype) and each.tensor.size > _MOST_COMPLEX:
            continue
        refund = [sum(part) for part in zip(*each.spent, strict=True)] if each.spent else [0, 0]
        budget.give_back(*refund)
        if each.tensor.nbytes > 64 * max(1, budget.left) or not _try_whole(each, budget):
            budget.take(*refund)


def _try_whole(each: TensorCandidate, budget: ByteBudget) -> bool:
    try:
        found = whole(each.tensor, list(each.variants.values()))
    except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
        each.trouble = sentences.unread(problem)
        return False
    cost = sum(map(compressed, found.data)) + _ROW * len(found.forms)
    cost += sum(compressed("\n".join(each.unique).encode()) for each in found.texts.values())
    size = sum(map(len, found.data))
    if not budget.take(cost, size):
        return False
    each.whole, each.spent, each.pictures = found, [(cost, size)], []
    return True


def _try_profiles(each: TensorCandidate, variant: int, budget: ByteBudget) -> bool:
    try:
        made = stored_profiles(variant, each.variants[variant])
    except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
        each.trouble = sentences.unread(problem)
        return True  # the budget is not to blame
    if not budget.take(compressed(made.data) + _ROW, len(made.data)):
        return False
    each.profiles.append(made)
    return True


def _try_picture(each: TensorCandidate, variant: int, plane: Plane, budget: ByteBudget) -> bool:
    found = each.variants[variant]
    if not found.found.applicable or not math.prod(found.view.view_shape):
        return True
    try:
        made = stored_picture(variant, found, plane)
    except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
        each.trouble = sentences.unread(problem)
        return True  # the budget is not to blame
    cost = (compressed(made.data) + _ROW, len(made.data))
    if not budget.take(*cost):
        return False
    each.pictures.append(made)
    each.spent.append(cost)
    return True
