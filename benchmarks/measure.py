"""What every benchmark shares: repeats, CPU and wall time, medians, one way to print them."""

from __future__ import annotations

import os
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

#: ``TVMDBG_SMALLEST=1`` for a run that only shows that a script works; its times say nothing.
SMALLEST = bool(os.environ.get("TVMDBG_SMALLEST"))

Size = TypeVar("Size")


def sized(usual: Size, smallest: Size) -> Size:
    """Return a size, or the smallest at which a script still does all that it does."""
    return smallest if SMALLEST else usual


@dataclass(frozen=True)
class Times:
    """CPU and wall seconds of several repeats of one thing."""

    what: str
    cpu: tuple[float, ...]
    wall: tuple[float, ...]

    @property
    def cpu_median(self) -> float:
        """Median CPU seconds (user and system, child processes included)."""
        return statistics.median(self.cpu)

    @property
    def wall_median(self) -> float:
        """Median wall seconds."""
        return statistics.median(self.wall)

    def __str__(self) -> str:
        return (
            f"{self.what:<44} CPU {self.cpu_median:9.4f} s "
            f"({min(self.cpu):.4f} … {max(self.cpu):.4f})   wall {self.wall_median:9.4f} s "
            f"({min(self.wall):.4f} … {max(self.wall):.4f})   n={len(self.cpu)}"
        )


def measure(what: str, task: Callable[[], Any], repeats: int = 5) -> Times:
    """Run a task several times and print what it took."""
    cpu, wall = [], []
    for _ in range(sized(repeats, 1)):
        begin_cpu, begin_wall = cpu_seconds(), time.perf_counter()
        task()
        cpu.append(cpu_seconds() - begin_cpu)
        wall.append(time.perf_counter() - begin_wall)
    times = Times(what, tuple(cpu), tuple(wall))
    print(times, flush=True)
    return times


def cpu_seconds() -> float:
    """User and system time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def ratio(slow: Times, fast: Times, promise: float) -> None:
    """Print how many times less CPU the second took, beside what is promised."""
    found = slow.cpu_median / max(fast.cpu_median, 1e-9)
    verdict = "kept" if found >= promise else "MISSED"
    told = f"{fast.what}: {found:,.0f} x less CPU than {slow.what}"
    print(f"  {told}; promised {promise:g} x: {verdict}")


def limit(times: Times, seconds: float) -> None:
    """Print the CPU time beside what is promised."""
    verdict = "kept" if times.cpu_median <= seconds else "MISSED"
    print(f"  {times.what}: {times.cpu_median:.3f} s CPU; promised {seconds:g} s: {verdict}")


def machine() -> None:
    """Print what the figures depend on."""
    loads = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{os.cpu_count()} cores, load average {loads}")


def load() -> str:
    """Return the load of the last minute."""
    return f"load {os.getloadavg()[0]:.1f}"
