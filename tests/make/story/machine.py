"""How long a made-up machine takes to build and to run a schedule: a few formulas and noise."""

import math
import random
import zlib
from statistics import NormalDist

from tests.make.story.schedules import Schedule, Space

CORES = 16
PEAK = {"llvm": 0.9e12, "cuda": 9e12}  # FLOP/s
_UNROLLED = {0: 0.86, 16: 0.95, 64: 1.0, 512: 0.98, 1024: 0.96}


def _near(value: float, best: float, slope: float) -> float:
    """1 where a value is best, less by its distance in octaves."""
    return math.exp(-slope * abs(math.log2(value / best)))


def predicted_seconds(space: Space, made: Schedule) -> float:
    """What one execution would take by what a cost model can know."""
    efficiency = _on_cpu(space, made) if space.kind == "llvm" else _on_gpu(space, made)
    return space.work.flop / (PEAK[space.kind] * efficiency) + 1e-6


def run_seconds(space: Space, made: Schedule) -> float:
    """What one execution takes: some schedules are better than they look, most are worse."""
    chance = (zlib.crc32(repr(made).encode()) + 0.5) / 2**32
    return predicted_seconds(space, made) * math.exp(0.35 + NormalDist(0, 0.22).inv_cdf(chance))


def _on_cpu(space: Space, made: Schedule) -> float:
    tiles = space.spatial(made)
    vector = tiles[-1][-1]
    lanes = vector / (16 * math.ceil(vector / 16))
    registers = math.prod(tile[-1] for tile in tiles)
    cached = 4 * sum(space.fetched(made, first=1))
    spilled = max(0.0, math.log2(cached / 32_768))
    chunks = space.outer(made, made.fused)
    busy = chunks / (CORES * math.ceil(chunks / CORES))
    return (
        0.62
        * (0.25 + 0.75 * lanes)
        * _near(registers, 96, 0.22)
        * busy
        / (1 + 0.22 * spilled)
        * _UNROLLED[made.unroll]
    )


def _on_gpu(space: Space, made: Schedule) -> float:
    threads = space.threads(made)
    warps = threads / (32 * math.ceil(threads / 32))
    registers = space.vthreads(made) * math.prod(math.prod(t[2:]) for t in space.spatial(made))
    blocks = space.outer(made)
    waves = blocks / (68 * math.ceil(blocks / 68))
    loads = sum(_near(each, 4, 0.06) for each in made.vector) / 2
    room = 1 / (1 + max(0.0, math.log2(space.shared(made) / 16_384)) * 0.25)
    return (
        0.7 * warps * _near(threads, 192, 0.25) * _near(registers, 48, 0.22)
        * (0.3 + 0.7 * waves) * loads * room * _UNROLLED[made.unroll]
    )  # fmt: skip


def build_seconds(space: Space, made: Schedule, rng: random.Random) -> float:
    """What building takes on a core of its own: longer for code that is unrolled further."""
    body = math.prod(math.prod(tile[-2:]) for tile in made.tiles)
    unrolled = min(made.unroll, body)
    base = 0.55 if space.work.is_matmul else 0.9
    return base * (1 + unrolled / 160) * rng.lognormvariate(0, 0.25)
