"""Schedules of two workloads of TVM's tutorials, as Ansor's sketches give them.

``matmul_add(N, L, M, dtype)`` and ``conv2d_layer(N, H, W, CO, CI, KH, KW, stride, padding)``, on a
CPU (tiles SSRSRS, fused and parallel outside) and on a GPU (tiles SSSRRSRS, cooperative fetching).
"""

import json
import math
import random
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

Step = list[Any]

UNROLLS = {"llvm": (0, 16, 64, 512), "cuda": (0, 16, 64, 512, 1024)}
_VECTORS = (1, 2, 3, 4)
LEVELS = {"llvm": (3, 1), "cuda": (4, 2)}  # factors of a spatial axis, and of a reduction


@dataclass(frozen=True)
class Workload:
    """What a task computes; the axes that the sketch tiles, in the order of the loops."""

    name: str
    args: tuple[Any, ...]
    spatial: tuple[int, ...]
    reduced: tuple[int, ...]
    weight: int

    @property
    def key(self) -> str:
        return json.dumps([self.name, *self.args])

    @cached_property
    def flop(self) -> int:
        return 2 * math.prod(self.spatial) * math.prod(self.reduced)

    @property
    def is_matmul(self) -> bool:
        return self.name == "matmul_add"


def matmul(n: int, l: int, m: int, weight: int) -> Workload:  # noqa: E741 (TVM's letters)
    return Workload("matmul_add", (n, l, m, "float32"), (n, m), (l,), weight)


def conv(size: int, out: int, given: int, weight: int) -> Workload:
    args = (1, size, size, out, given, 3, 3, [1, 1], [1, 1])
    return Workload("conv2d_layer", args, (1, out, size, size), (given, 3, 3), weight)


@dataclass(frozen=True)
class Schedule:
    """What distinguishes two schedules of a task."""

    tiles: tuple[tuple[int, ...], ...]  # of the spatial axes, then of the reductions
    unroll: int
    fused: int = 1  # levels of the output that are fused and parallel (CPU)
    padded_at: int = 7  # where the padding is computed (CPU convolution)
    fetch: tuple[int, int] = (0, 0)  # extents of cooperative fetching, as recorded
    vector: tuple[int, int] = (1, 1)  # floats that a thread fetches at once


@cache
def divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


def tiling(rng: random.Random, extent: int, levels: int, most: int = 64) -> tuple[int, ...]:
    """Factors whose product divides the extent; the innermost is at most `most`."""
    found: list[int] = []
    for level in range(levels):
        small = [each for each in divisors(extent) if level or each <= most]
        factor = rng.choice(small)
        found.insert(0, factor)
        extent //= factor
    return tuple(found)


class Space:
    """All schedules of a workload on a kind of target."""

    def __init__(self, work: Workload, kind: str) -> None:
        self.work, self.kind = work, kind
        spatial, reduced = LEVELS[kind]
        self.axes = [(each, spatial) for each in work.spatial]
        self.axes += [(each, reduced) for each in work.reduced]

    def sample(self, rng: random.Random) -> Schedule:
        while True:
            tiles = tuple(tiling(rng, extent, levels) for extent, levels in self.axes)
            made = Schedule(tiles, rng.choice(UNROLLS[self.kind]))
            if not self.legal(made):
                continue
            if self.kind == "llvm":
                padded = 7 if self.work.is_matmul else rng.choice((6, 7, 8, 9, 10))
                return replace(made, fused=rng.choice((1, 2)), padded_at=padded)
            fetch = self.fetched(made)
            first, second = (rng.choice([v for v in _VECTORS if not each % v]) for each in fetch)
            return replace(made, fetch=fetch, vector=(first, second))

    def mutate(self, rng: random.Random, parent: Schedule) -> Schedule:
        """Move a factor between two levels of an axis, or change the unrolling.

        As in TVM the extents that splits of inferred axes recorded stay those of the ancestor.
        """
        while True:
            if rng.random() < 0.15:
                made = replace(parent, unroll=rng.choice(UNROLLS[self.kind]))
            else:
                axis = rng.randrange(len(self.axes))
                tiles = list(parent.tiles)
                tiles[axis] = self._moved(rng, self.axes[axis][0], parent.tiles[axis])
                made = replace(parent, tiles=tuple(tiles))
            if self.legal(made):
                return made

    def _moved(self, rng: random.Random, extent: int, factors: tuple[int, ...]) -> tuple[int, ...]:
        all_levels = [extent // math.prod(factors), *factors]
        source = rng.choice([p for p, each in enumerate(all_levels) if each > 1] or [0])
        factor = rng.choice(divisors(all_levels[source])[1:] or [1])
        all_levels[source] //= factor
        all_levels[rng.randrange(len(all_levels))] *= factor
        return tuple(all_levels[1:])

    def legal(self, made: Schedule) -> bool:
        if any(tile[-1] > 64 for tile in made.tiles):
            return False
        if self.kind == "llvm":
            return True
        return (
            self.vthreads(made) <= 8 and self.threads(made) <= 1024 and self.shared(made) <= 49152
        )

    def spatial(self, made: Schedule) -> tuple[tuple[int, ...], ...]:
        return made.tiles[: len(self.work.spatial)]

    def reduced(self, made: Schedule) -> tuple[tuple[int, ...], ...]:
        return made.tiles[len(self.work.spatial) :]

    def outer(self, made: Schedule, levels: int = 1) -> int:
        """Iterations of the outermost levels of all spatial axes."""
        pairs = zip(self.work.spatial, self.spatial(made), strict=True)
        return math.prod(extent // math.prod(tile[levels - 1 :]) for extent, tile in pairs)

    def vthreads(self, made: Schedule) -> int:
        return math.prod(tile[0] for tile in self.spatial(made))

    def threads(self, made: Schedule) -> int:
        return math.prod(tile[1] for tile in self.spatial(made))

    def fetched(self, made: Schedule, first: int = 2) -> tuple[int, int]:
        """Elements of the two operands that belong to inner tiles, from a level on."""
        inner = [math.prod(tile[first:]) for tile in self.spatial(made)]
        reduced = [math.prod(tile) for tile in self.reduced(made)]
        if self.work.is_matmul:
            (rows, columns), (depth,) = inner, reduced
            return columns * depth, rows * depth
        batch, out, height, width = inner
        given, high, wide = reduced
        picture = batch * given * (height + high - 1) * (width + wide - 1)
        return out * given * high * wide, picture

    def shared(self, made: Schedule) -> int:
        """Bytes of shared memory."""
        return 4 * sum(self.fetched(made, first=0))

    def steps(self, made: Schedule) -> list[Step]:
        build = {
            (True, "llvm"): _matmul_cpu,
            (True, "cuda"): _matmul_gpu,
            (False, "llvm"): _conv_cpu,
            (False, "cuda"): _conv_gpu,
        }
        return build[self.work.is_matmul, self.kind](self.work, made)


def _unroll(stage: int, made: Schedule) -> Step:
    return ["PR", stage, 0, f"auto_unroll_max_step${made.unroll}"]


def _splits(stage: int, work: Workload, made: Schedule) -> list[Step]:
    found: list[Step] = []
    place = 0
    extents = (*work.spatial, *work.reduced)
    for extent, tile in zip(extents, made.tiles, strict=True):
        found.append(["SP", stage, place, extent, list(tile), 1])
        place += len(tile) + 1
    return found


def _matmul_cpu(work: Workload, made: Schedule) -> list[Step]:
    levels = made.fused
    orders = {1: [0, 2, 1, 3], 2: [0, 3, 1, 4, 2, 5]}
    steps = [
        *_splits(2, work, made),
        ["RE", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]],
        ["FSP", 4, 0, 0, levels],
        ["FSP", 4, levels + 1, 1, levels],
        ["RE", 4, orders[levels]],
        ["CA", 2, 4, 2 * levels - 1],
        ["FU", 4, list(range(2 * levels))],
        ["AN", 4, 0, 3],
        _unroll(2, made),
        ["AN", 2, 9, 2],
    ]
    if math.prod(made.tiles[1][levels - 1 :]) <= 64:
        steps.append(["AN", 4, 2, 2])
    return steps


def _conv_cpu(work: Workload, made: Schedule) -> list[Step]:
    levels = made.fused
    orders = {1: [0, 2, 4, 6, 1, 3, 5, 7], 2: [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]}
    order = [0, 4, 8, 12, 1, 5, 9, 13, 16, 18, 20, 2, 6, 10, 14, 17, 19, 21, 3, 7, 11, 15]
    follow = [["FSP", 6, axis * (levels + 1), axis + 1, levels] for axis in range(4)]
    return [
        ["CI", 5],
        *_splits(3, work, made),
        ["RE", 3, order],
        *follow,
        ["RE", 6, orders[levels]],
        ["CA", 3, 6, 4 * levels - 1],
        ["CA", 1, 3, made.padded_at],
        ["FU", 6, list(range(4 * levels))],
        ["AN", 6, 0, 3],
        _unroll(3, made),
        ["AN", 1, 3, 2],
        ["AN", 3, 21, 2],
        ["AN", 6, 4, 2],
    ]


def _bound(stage: int, axes: int) -> list[Step]:
    """Fuse one level of all axes after the other: blocks, virtual threads, threads."""
    found: list[Step] = []
    for level, annotation in enumerate((5, 4, 6)):
        found.append(["FU", stage, list(range(level, level + axes))])
        found.append(["AN", stage, level, annotation])
    return found


def _fetched(stage: int, axes: int, extent: int, vector: int, sources: list[int]) -> list[Step]:
    return [
        ["FU", stage, list(range(axes))],
        ["SP", stage, 0, extent, [vector], 1],
        ["AN", stage, 1, 2],
        ["FFSP", stage, 0, sources, 1, 1],
        ["AN", stage, 1, 6],
    ]


def _matmul_gpu(work: Workload, made: Schedule) -> list[Step]:
    return [
        *_splits(2, work, made),
        ["RE", 2, [0, 5, 1, 6, 2, 7, 10, 11, 3, 8, 12, 4, 9]],
        ["FSP", 4, 0, 0, 3],
        ["FSP", 4, 4, 1, 3],
        ["RE", 4, [0, 4, 1, 5, 2, 6, 3, 7]],
        ["CA", 2, 4, 5],
        ["CHR", 1, "shared", [2]],
        ["CA", 2, 3, 6],
        ["CHR", 0, "shared", [3]],
        ["CA", 1, 4, 6],
        *_bound(6, 2),
        *_fetched(3, 2, made.fetch[0], made.vector[0], [1, 0]),
        *_fetched(1, 2, made.fetch[1], made.vector[1], [1, 0]),
        _unroll(4, made),
    ]


def _conv_gpu(work: Workload, made: Schedule) -> list[Step]:
    order = [0, 5, 10, 15, 1, 6, 11, 16, 2, 7, 12, 17, 20, 23, 26, 21, 24, 27]
    order += [3, 8, 13, 18, 22, 25, 28, 4, 9, 14, 19]
    return [
        ["CI", 5],
        *_splits(3, work, made),
        ["RE", 3, order],
        *(["FSP", 6, axis * 4, axis + 1, 3] for axis in range(4)),
        ["RE", 6, [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]],
        ["CA", 3, 6, 11],
        ["CHR", 2, "shared", [3]],
        ["CA", 3, 4, 14],
        ["CHR", 1, "shared", [4]],
        ["CA", 2, 5, 14],
        ["CI", 1],
        *_bound(8, 4),
        *_fetched(4, 4, made.fetch[0], made.vector[0], [4, 3, 2, 1]),
        *_fetched(2, 4, made.fetch[1], made.vector[1], [4, 3, 2, 1]),
        _unroll(5, made),
    ]
