"""Tree of frames merged by path from the top: equal paths become one place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.ranges import flat_ranges, group_sums, whole_numbers

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Bytes per frame that a table of (path, key) pairs may take; larger ones are sorted.
_TABLE: Final = 8
#: Levels above which sums of fractions are rounded at every level.
_DEEP: Final = 1_000


@dataclass(frozen=True, eq=False)
class Frames:
    """F frames, nested or at the top."""

    parent: Ints
    key: Ints
    self_ns: Floats
    count: Ints


@dataclass(frozen=True, eq=False)
class Places:
    """Merged tree of P places, level by level; siblings are sorted, the heaviest first."""

    parent: Ints
    key: Ints
    count: Ints
    depth: Ints
    self_ns: Floats
    total_ns: Floats
    start_ns: Floats
    of: Ints


def merge(frames: Frames, keys: int) -> Places:
    """Merge frames by path; of equal totals the smaller key comes first."""
    path, parent, key, levels = _paths_and_levels(frames, keys)
    size = len(key)
    own = group_sums(path, frames.self_ns, size)
    count = np.bincount(path, weights=frames.count, minlength=size).astype(np.int64)
    totals = _inclusive_totals(frames, path, parent, levels, own)
    place = np.zeros(size, np.int64)
    start = np.zeros(size)
    depth = np.zeros(size, np.int64)
    order: list[Ints] = []
    done = 0
    for level, (first, last) in enumerate(levels):
        each = np.arange(first, last)
        outer = place[parent[each]] if level else np.full(len(each), -1)
        each = each[np.lexsort((key[each], -totals[each], outer))]
        outer = place[parent[each]] if level else np.full(len(each), -1)
        place[each] = done + np.arange(len(each))
        before = np.cumsum(totals[each]) - totals[each]
        opens = np.flatnonzero(np.diff(outer, prepend=-2))
        before -= np.repeat(before[opens], np.diff(opens, append=len(each)))
        start[each] = before + (start[parent[each]] if level else 0.0)
        depth[each] = level
        order.append(each)
        done += len(each)
    by_place = np.concatenate(order) if order else np.zeros(0, np.int64)
    around = parent[by_place]
    return Places(
        parent=np.where(around >= 0, place[np.maximum(around, 0)], -1) if size else around,
        key=key[by_place],
        count=count[by_place],
        depth=depth[by_place],
        self_ns=own[by_place],
        total_ns=totals[by_place],
        start_ns=start[by_place],
        of=place[path] if size else path,
    )


def _paths_and_levels(frames: Frames, keys: int) -> tuple[Ints, Ints, Ints, list[tuple[int, int]]]:
    path = np.full(len(frames.parent), -1, np.int64)
    parents: list[Ints] = []
    own: list[Ints] = []
    levels: list[tuple[int, int]] = []
    size = first = 0
    for level in levels_of(frames.parent):
        around = path[frames.parent[level]] - first if size else np.zeros(len(level), np.int64)
        pair = around * keys + frames.key[level]
        room = (size - first if size else 1) * keys
        if room <= _TABLE * len(level) + 65_536:
            seen = np.zeros(room, np.bool_)
            seen[pair] = True
            pairs = np.flatnonzero(seen)
            path[level] = size + (np.cumsum(seen) - 1)[pair]
        else:
            pairs, inverse = np.unique(pair, return_inverse=True)
            path[level] = size + inverse
        parents.append(pairs // keys + first if size else np.full(len(pairs), -1))
        own.append(pairs % keys)
        levels.append((size, size + len(pairs)))
        first, size = size, size + len(pairs)
    nothing = np.zeros(0, np.int64)
    return (
        path,
        np.concatenate(parents) if parents else nothing,
        np.concatenate(own) if own else nothing,
        levels,
    )


def levels_of(parent: Ints) -> Iterator[Ints]:
    """Return frames by depth, the outermost first."""
    rest = np.flatnonzero(parent >= 0)
    level = np.flatnonzero(parent < 0)
    if not len(rest):
        if len(level):
            yield level
        return
    narrow = parent[rest].astype(np.int32)
    by_parent = rest[np.argsort(narrow, kind="stable")]
    first = np.searchsorted(parent[by_parent], np.arange(len(parent) + 1))
    while len(level):
        yield level
        level = by_parent[flat_ranges(first[level], first[level + 1] - first[level])]


def _inclusive_totals(
    frames: Frames, path: Ints, parent: Ints, levels: list[tuple[int, int]], own: Floats
) -> Floats:
    if whole_numbers(frames.self_ns) or len(levels) > _DEEP:
        totals = own.copy()
        for first, last in reversed(levels[1:]):
            inner = np.arange(first, last)
            low = int(parent[inner].min())
            added = np.bincount(parent[inner] - low, weights=totals[inner])
            totals[low : low + len(added)] += added
        return totals
    codes, values, at = [path], [frames.self_ns], path
    kept = np.arange(len(path))
    for _ in levels[1:]:
        outer = parent[at]
        kept, at = kept[outer >= 0], outer[outer >= 0]
        codes.append(at)
        values.append(frames.self_ns[kept])
    return group_sums(np.concatenate(codes), np.concatenate(values), len(own))
