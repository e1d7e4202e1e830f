"""Ansor logs of a given size, as two long tunings append them to one file.

Their records are those of :mod:`tests.make.tuning_story`, of a CPU and of a GPU, again and again:
each time with the factors of their splits in another order, other costs and later times, so that
hardly two lines have the same steps. A line takes 0.6 kB for the CPU and 1 kB for the GPU.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.make.tuning_story import START, TASKS, story

KINDS = ("llvm", "cuda")
#: How often each task is called, in the order of the log's tasks.
WEIGHTS = [task.weight for task in TASKS] * len(KINDS)
_FACTORS = re.compile(r"\[((?:\d+, )+\d+)\](?=, 1\])")
_RESULT = re.compile(r'"r": \[\[(.*)\], (\d), (.*), (\d+)\]')
_NOISE, _IMPROVES = 0.08, 0.002
_APART = 600


class _Line:
    """A line taken apart: what stays, the factors of its splits, and its result."""

    def __init__(self, line: str) -> None:
        schedule, costs, error, all_cost, timestamp, self._tail = _RESULT.split(line)
        parts = _FACTORS.split(schedule)
        self._texts, self._factors = parts[::2], [each.split(", ") for each in parts[1::2]]
        self._costs = [float(each) for each in costs.split(", ")]
        self._error, self._all_cost, self.timestamp = error, float(all_cost), int(timestamp)

    def again(self, chance: random.Random, times: int, later: int) -> str:
        """Return the line as a trial of another schedule gives it."""
        for each in self._factors:
            chance.shuffle(each)
        factor = chance.lognormvariate(0, _NOISE) * (1 - _IMPROVES) ** times
        costs = self._costs if self._error != "0" else [each * factor for each in self._costs]
        result = ", ".join(f"{each:.6g}" for each in costs)
        texts = itertools.zip_longest(self._texts, map(", ".join, self._factors), fillvalue="")
        return (
            "".join(f"{text}[{factors}]" if factors else text for text, factors in texts)
            + f'"r": [[{result}], {self._error}, {self._all_cost * factor:.6g}, '
            + f"{self.timestamp + later}]{self._tail}"
        )


@cache
def _lines(kind: str) -> tuple[list[_Line], int]:
    """Return a tuning's lines, and the seconds it took."""
    lines = [_Line(each) for each in story("burst", kind=kind)]
    return lines, lines[-1].timestamp - START + _APART


def records(count: int, seed: int = 1) -> Iterator[str]:
    """Yield the lines of a log of so many records."""
    chance = random.Random(seed)
    later = 0
    for times in itertools.count():
        for kind in KINDS:
            lines, took = _lines(kind)
            for line in lines[:count]:
                yield line.again(chance, times, later)
            later += took
            count -= len(lines)
            if count <= 0:
                return


def write_log(path: Path, count: int, seed: int = 1) -> None:
    """Write a log of so many records."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(records(count, seed))
