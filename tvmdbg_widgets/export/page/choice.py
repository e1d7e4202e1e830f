"""Which values of which tensors go along, by priority, until the budget is spent."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.engine import STATIC
from tvmdbg_widgets.export.page import pack
from tvmdbg_widgets.export.page.facts import Variant, WholeTensor, whole
from tvmdbg_widgets.export.page.pack import compressed, shuffled_floats
from tvmdbg_widgets.figures.options import MOST_EXACT, Axes, plane_of
from tvmdbg_widgets.model.pictures import Picture, picture, profile
from tvmdbg_widgets.model.tensors.planes import Plane, default_axes, is_complex
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
            variant.found.applicable and math.prod(variant.view.view_shape)
            for variant in self.variants.values()
        )

    @property
    def has_profiles(self) -> bool:
        """Whether there are profiles that could go along."""
        return any(map(has_profiles, self.variants.values()))

    @property
    def planes(self) -> int:
        """Planes of all variants, of which there may be pictures."""
        shapes = [variant.view.view_shape for variant in self.variants.values()]
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
    for candidate in candidates:
        step(candidate.tensor.nbytes)
        if not candidate.has_picture or candidate.trouble:
            continue
        for variant, plane in candidate.first_planes():
            _try_picture(candidate, variant, plane, budget)


def choose_profiles(candidates: Sequence[TensorCandidate], budget: ByteBudget) -> None:
    """Give the candidates with pictures the profiles along their axes, while the budget lasts."""
    failures = 0
    for candidate in candidates:
        if not candidate.pictures or candidate.trouble or failures == _TRIES:
            continue
        for variant, found in candidate.variants.items():
            if has_profiles(found) and not _try_profiles(candidate, variant, budget):
                failures += 1


def choose_planes(candidates: Sequence[TensorCandidate], budget: ByteBudget) -> None:
    """Give the candidates with pictures their other planes in turn, while the budget lasts."""
    queues = [
        (candidate, candidate.later_planes()) for candidate in candidates if candidate.pictures
    ]
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
    for candidate in candidates:
        if candidate.tensor.nbytes > budget.raw or not candidate.variants or candidate.trouble:
            continue
        if is_complex(candidate.tensor.dtype) and candidate.tensor.size > _MOST_COMPLEX:
            continue
        refund = (
            [sum(part) for part in zip(*candidate.spent, strict=True)]
            if candidate.spent
            else [0, 0]
        )
        budget.give_back(*refund)
        if candidate.tensor.nbytes > 64 * max(1, budget.left) or not _try_whole(candidate, budget):
            budget.take(*refund)


def _try_whole(each: TensorCandidate, budget: ByteBudget) -> bool:
    try:
        found = whole(each.tensor, list(each.variants.values()))
    except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
        each.trouble = pack.unread(problem)
        return False
    cost = sum(map(compressed, found.data)) + _ROW * len(found.forms)
    cost += sum(compressed("\n".join(text.unique).encode()) for text in found.texts.values())
    size = sum(map(len, found.data))
    if not budget.take(cost, size):
        return False
    each.whole, each.spent, each.pictures = found, [(cost, size)], []
    return True


def _try_profiles(each: TensorCandidate, variant: int, budget: ByteBudget) -> bool:
    try:
        made = stored_profiles(variant, each.variants[variant])
    except Exception as problem:  # noqa: BLE001 (one tensor must not hide the others)
        each.trouble = pack.unread(problem)
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
        each.trouble = pack.unread(problem)
        return True  # the budget is not to blame
    cost = (compressed(made.data) + _ROW, len(made.data))
    if not budget.take(*cost):
        return False
    each.pictures.append(made)
    each.spent.append(cost)
    return True


#: Figure, text and markup of a page, about.
_MARKUP = 60_000


def frame_bytes(budget: int) -> int:
    """Return about how many bytes of a page are not its data; at most half of the budget."""
    script, style = (
        path.stat().st_size if path.exists() else 0
        for path in (STATIC / "page.js", STATIC / "page.css")
    )
    return min(budget // 2, _MARKUP + (script + style) // 2)


class ByteBudget:
    """Compressed bytes that may still be taken."""

    def __init__(self, budget: int, frame: int) -> None:
        self.total = max(0, budget - frame)
        self.left = self.total * 3 // 4
        #: Bytes that may still be taken before compression: a page unpacks them into memory.
        self.raw = max(1 << 20, 16 * self.total)

    def take(self, compressed: int, raw: int) -> bool:
        """Take so many bytes if they are there."""
        if compressed > self.left or raw > self.raw:
            return False
        self.left -= compressed
        self.raw -= raw
        return True

    def give_back(self, compressed: int, raw: int) -> None:
        """Put back what was taken before."""
        self.left += compressed
        self.raw += raw

    def holds(self, packed: int) -> bool:
        """Whether data of so many bytes in base64 fit the page."""
        return packed <= self.total


#: Most cells of a picture down and across.
CELLS = 64


@dataclass(frozen=True)
class StoredPicture:
    """One picture of one variant, its cells as they are stored."""

    variant: int
    plane: Plane
    shown: Picture
    single: bool
    data: bytes


def planes(shape: tuple[int, ...]) -> Iterator[Plane]:
    """Yield the plane that the inspector shows first, then those at the other indices."""
    axes = default_axes(shape)
    ranges = [range(1) if axis in axes else range(size) for axis, size in enumerate(shape)]
    for index in itertools.product(*ranges):
        yield Plane(shape, axes, index)


def number_of_planes(shape: tuple[int, ...]) -> int:
    """Return how many planes :func:`planes` yields."""
    axes = default_axes(shape)
    return math.prod(size for axis, size in enumerate(shape) if axis not in axes)


def stored_picture(row: int, variant: Variant, plane: Plane) -> StoredPicture:
    """Reduce a plane to at most ``CELLS`` x ``CELLS`` cells; a huge one by a sample of it."""
    sample = plane.rows * plane.cols > MOST_EXACT
    shown = picture(variant.view, plane, CELLS, CELLS, sample=sample)
    numbers = [shown.minimum, shown.maximum, shown.mean]
    single = all(np.array_equal(number, shown.mean, equal_nan=True) for number in numbers)
    data = shuffled_floats([shown.mean] if single else numbers)
    flags = shown.flags.tobytes() if shown.flags.any() else b""
    return StoredPicture(row, plane, shown, single, data + flags)


def picture_columns(found: Sequence[StoredPicture], places: Sequence[int]) -> dict[str, Any]:
    """Return where and what the pictures are (P rows); ``places`` as given by the binary."""

    def whole(get: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
        return np.array([get(each) for each in found], np.int32)

    indices = [each.plane.index for each in found]
    return {
        "variant": whole(lambda each: each.variant),
        "down": whole(lambda each: -1 if each.plane.axes[0] is None else each.plane.axes[0]),
        "across": whole(lambda each: -1 if each.plane.axes[1] is None else each.plane.axes[1]),
        "indexOffsets": np.cumsum([0, *map(len, indices)]).astype(np.int32),
        "index": np.array([at for index in indices for at in index], np.float64),
        "rows": whole(lambda each: each.shown.rows),
        "cols": whole(lambda each: each.shown.cols),
        "rowStep": np.array([each.shown.row_step for each in found], np.float64),
        "colStep": np.array([each.shown.col_step for each in found], np.float64),
        "single": np.array([each.single for each in found], np.bool_),
        "wide": np.array([each.shown.mean.itemsize == 8 for each in found], np.bool_),
        "sampled": np.array([not each.shown.exact for each in found], np.bool_),
        "flagged": np.array([bool(each.shown.flags.any()) for each in found], np.bool_),
        "at": np.array(places, np.float64),
    }


#: Most points of a profile, as many as the views ask for.
POINTS = 4096
#: Values of a tensor from which on it gets none: each axis takes a pass over all of them.
MOST_VALUES = 1 << 24


@dataclass(frozen=True)
class StoredProfiles:
    """The profiles of one variant along all axes of its view, as they are stored."""

    variant: int
    wide: bool
    flagged: bool
    data: bytes


def has_profiles(variant: Variant) -> bool:
    """Whether a variant has any: values of an ordered type, not too many, along an axis."""
    shape = variant.view.view_shape
    return variant.found.applicable and bool(shape) and 0 < math.prod(shape) <= MOST_VALUES


def stored_profiles(row: int, variant: Variant) -> StoredProfiles:
    """Reduce a tensor along each of its axes to at most ``POINTS`` points."""
    axes = range(len(variant.view.view_shape))
    found = [profile(variant.view, axis, POINTS) for axis in axes]
    parts = [getattr(each, name) for name in ("minimum", "maximum", "mean") for each in found]
    flags = np.concatenate([each.flags for each in found])
    flagged = bool(flags.any())
    data = shuffled_floats(parts) + (flags.tobytes() if flagged else b"")
    return StoredProfiles(row, parts[0].itemsize == 8, flagged, data)


def profile_columns(found: Sequence[StoredProfiles], places: Sequence[int]) -> dict[str, Any]:
    """Return where and what the profiles are (a row a variant)."""
    return {
        "variant": np.array([each.variant for each in found], np.int32),
        "wide": np.array([each.wide for each in found], np.bool_),
        "flagged": np.array([each.flagged for each in found], np.bool_),
        "at": np.array(places, np.float64),
    }
