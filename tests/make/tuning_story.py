"""Writes an Ansor log of a tuning that never ran, as one of several things would have gone.

``python -m tests.make.tuning_story starved -o story.json`` from the repository's root. The records
are legal schedules of workloads of TVM's tutorials in the format of TVM 0.8 to 0.19; costs follow
the tiles, build times the unrolling. It shares no constant with the reader.
"""

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.make.story.machine import build_seconds, predicted_seconds, run_seconds
from tests.make.story.schedules import Schedule, Space, conv, matmul

START = 1_718_000_400  # 2024-06-10 06:20 UTC
ROUND = 64
BUILD_TIMEOUT, RUN_TIMEOUT = 15.0, 10.0
WORKERS = 56  # builds at once: cpu_count() of the machine
TARGETS = {
    "llvm": ("llvm -keys=cpu -mcpu=cascadelake", [16, 64, 64, 0, 0, 0, 0, 0], 1),
    "cuda": (
        "cuda -keys=cuda,gpu -arch=sm_75 -max_num_threads=1024 -thread_warp_size=32",
        [-1, 16, 64, 49152, 2147483647, 1024, 8, 32],
        0,
    ),
}
TASKS = (
    matmul(128, 768, 2304, 12),
    matmul(128, 768, 768, 12),
    matmul(128, 768, 3072, 12),
    matmul(128, 3072, 768, 12),
    conv(28, 128, 128, 4),
    conv(14, 256, 256, 6),
)
WEIGHTS = [each.weight for each in TASKS]


@dataclass(frozen=True)
class Trouble:
    """What goes wrong, and when: rounds are counted from 0."""

    slowed: float = 1.0  # factor on build times
    slowed_rounds: tuple[float, float] = (0.0, 1.0)  # from and to, as parts of all rounds
    slow_task: int | None = None  # a task that takes as long as the largest programs of others
    bloat: float = 1.0  # factor on build times where unrolled by 512 or more
    dying: float = 0.0  # share of builds whose worker dies
    rpc: bool = False  # run timeouts are written as RuntimeDeviceError
    slow_runs: float = 0.0  # share of schedules that run until the timeout
    broken_task: int | None = None  # a task whose programs fail on the device
    pause_after: float | None = None  # part of the rounds after which tuning stopped for a night
    forgetful: bool = False  # the second session knows nothing of the first
    copied: int = 0  # records that are appended again


SCENARIOS = {
    "fine": Trouble(),
    "starved": Trouble(slowed=20.0, slowed_rounds=(0.0, 0.45)),
    "slow_task": Trouble(slow_task=4),
    "unroll": Trouble(bloat=5.5),
    "dead_workers": Trouble(dying=0.06),
    "burst": Trouble(slowed=16.0, slowed_rounds=(0.55, 0.62)),
    "run_timeouts": Trouble(rpc=True, slow_runs=0.16),
    "no_schedule": Trouble(broken_task=3),
    "resumed": Trouble(pause_after=0.5),
    "measured_again": Trouble(pause_after=0.5, forgetful=True),
    "copied": Trouble(copied=40),
}


@dataclass
class Outcome:
    """One trial as the log has it."""

    costs: list[float]
    error: int
    all_cost: float
    wall: float  # seconds between the trial before and this one


class Tuning:
    """A search: rounds of 64 for the task that promises most, better ones mutated."""

    def __init__(self, kind: str, trouble: Trouble, rounds: int, seed: int) -> None:
        self.kind, self.trouble, self.num_rounds = kind, trouble, rounds
        self.seed = seed
        self.rng = random.Random(seed + 1)
        self.spaces = [Space(work, kind) for work in TASKS]
        self.now = float(START)
        self.forget()

    def forget(self) -> None:
        self.search = random.Random(self.seed)
        self.known: list[dict[Schedule, float]] = [{} for _ in TASKS]
        self.tuned = [0] * len(TASKS)

    def records(self) -> Iterator[str]:
        pause = self.trouble.pause_after
        stop = None if pause is None else int(pause * self.num_rounds)
        for number in range(self.num_rounds):
            if number == stop:
                self.now += 9.5 * 3600
                if self.trouble.forgetful:
                    self.forget()
            yield from self.round(number, self.next_task())

    def next_task(self) -> int:
        if 0 in self.tuned:
            return self.tuned.index(0)
        promise = [
            work.weight * min(known.values(), default=0.0) / tuned
            for work, known, tuned in zip(TASKS, self.known, self.tuned, strict=True)
        ]
        return max(range(len(TASKS)), key=promise.__getitem__)

    def round(self, number: int, task: int) -> Iterator[str]:
        chosen = self.candidates(task)
        self.now += self.rng.uniform(8, 30)  # searching, and training the cost model
        self.tuned[task] += 1
        begin, end = self.trouble.slowed_rounds
        slowed = begin <= number / self.num_rounds < end
        for place, made in enumerate(chosen):
            outcome = self.measure(task, made, self.trouble.slowed if slowed else 1.0)
            if place % (2 * WORKERS) == 0:
                self.now += BUILD_TIMEOUT if slowed else 6
            self.now += outcome.wall
            self.known[task][made] = outcome.costs[0] if not outcome.error else 1e10
            yield record(self.spaces[task], made, outcome, int(self.now))

    def candidates(self, task: int) -> list[Schedule]:
        """64 new ones: what a cost model that errs would choose of many, and a few others."""
        space, known, rng = self.spaces[task], self.known[task], self.search
        good = sorted((cost, place) for place, cost in enumerate(known.values()) if cost < 1e9)[:24]
        measured = list(known)
        error = 0.9 / (1 + self.tuned[task])
        found: dict[Schedule, float] = {}
        while len(found) < (4 if good else 1) * ROUND:
            if good and rng.random() < 0.8:
                made = space.mutate(rng, measured[rng.choice(good)[1]])
            else:
                made = space.sample(rng)
            if made not in known:
                found[made] = predicted_seconds(space, made) * rng.lognormvariate(0, error)
        ranked = sorted(found, key=found.__getitem__)
        best = ROUND - 6
        return [*ranked[:best], *rng.sample(ranked[best:], 6)]

    def measure(self, task: int, made: Schedule, slowed: float) -> Outcome:
        space, trouble, rng = self.spaces[task], self.trouble, self.rng
        build = build_seconds(space, made, rng)
        if made.unroll >= 512:
            build *= trouble.bloat
        if task == trouble.slow_task:
            build = rng.uniform(13, 30)
        if slowed > 1:
            build *= slowed * rng.lognormvariate(0, 0.6)
        elif rng.random() < 0.004:
            build *= 20
        if build > BUILD_TIMEOUT:
            return Outcome([1e10], 6, BUILD_TIMEOUT, 0.0)
        if rng.random() < trouble.dying:
            return Outcome([1e10], 2, BUILD_TIMEOUT, 0.0)
        seconds = run_seconds(space, made)
        if task == trouble.broken_task:
            return Outcome([1e10], 4, build + rng.uniform(0.05, 0.2), 0.2)
        if rng.random() < trouble.slow_runs:
            spent = RUN_TIMEOUT + rng.uniform(0.25, 0.5)
            return Outcome([1e10], 4 if trouble.rpc else 7, build + spent, spent)
        repeats = 3 if self.kind == "llvm" else 1
        costs = [seconds * rng.lognormvariate(0, 0.012) for _ in range(repeats)]
        ran = rng.uniform(0.15, 0.3) + sum(max(0.1, 3 * cost) for cost in costs)
        return Outcome(costs, 0, build + ran, ran)


def number(value: float) -> str:
    """Six significant digits, as C++ prints them."""
    return f"{value:.6g}"


def record(space: Space, made: Schedule, outcome: Outcome, timestamp: int) -> str:
    target, hardware, rewrite = TARGETS[space.kind]
    task = [space.work.key, target, hardware, "", rewrite, []]
    state = [[], space.steps(made)]
    costs = ", ".join(number(each) for each in outcome.costs)
    result = f"[[{costs}], {outcome.error}, {number(outcome.all_cost)}, {timestamp}]"
    return f'{{"i": {json.dumps([task, state])}, "r": {result}, "v": "v0.6"}}\n'


def story(
    scenario: str, *, kind: str = "llvm", rounds: int = 36, seed: int = 7, **changes: Any
) -> list[str]:
    """Return the lines of a log."""
    trouble = replace(SCENARIOS[scenario], **changes)
    lines = list(Tuning(kind, trouble, rounds, seed).records())
    return lines + lines[: trouble.copied]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--kind", choices=TARGETS, default="llvm")
    parser.add_argument("--rounds", type=int, default=36)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    lines = story(given.scenario, kind=given.kind, rounds=given.rounds, seed=given.seed)
    given.output.write_text("".join(lines), "utf-8")
    print(f"{len(lines):,} records in {given.output}")


if __name__ == "__main__":
    main()
