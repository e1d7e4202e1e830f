r"""What to do, as code that is ready to run. Code stands on lines of its own.

``LocalBuilder`` takes ``n_parallel=multiprocessing.cpu_count()`` as it is defined
(python/tvm/auto_scheduler/measure.py), AutoTVM's ``Builder`` where it is given None
(python/tvm/autotvm/measure/measure.py), ``PopenPoolExecutor`` likewise ``os.cpu_count()``
(python/tvm/contrib/popen_pool.py): all cores of the machine, whatever the process may use of them.
"""

from __future__ import annotations

from typing import Final

#: Seconds that are enough for all but the longest builds on a machine that is not overloaded.
_LONGER = 60

_USABLE = "len(os.sched_getaffinity(0))"

PATCH: Final = r"""find "$(python3 -c 'import os, tvm; print(os.path.dirname(tvm.__file__))')" \
  -name '*.py' -exec grep -lZE '\bcpu_count\(\)' {} + | xargs -0 -r sed -E -i.orig \
  -e 's/\b(multiprocessing|mp|os)\.cpu_count\(\)/len(os.sched_getaffinity(0))/g' \
  -e '/def cpu_count/!s/(^|[^A-Za-z0-9_.])cpu_count\(\)/\1len(os.sched_getaffinity(0))/g' \
  -e 's/^( *)((import|from) multiprocessing\b)/\1import os; \2/'"""
"""Makes TVM's Python sources (0.7 to 0.19) count usable cores; keeps ``.orig`` files.

Covers ``multiprocessing.cpu_count()``, ``mp.cpu_count()``, ``os.cpu_count()`` and the bare
``cpu_count()``; ``import os`` is put before the import of multiprocessing. MetaSchedule counts
with psutil and stays as it is. Run twice it changes nothing more.
"""

LIMITS: Final = (
    "sched_getaffinity exists on Linux only. It sees cpusets (docker --cpuset-cpus, taskset, "
    "Slurm), not CPU quotas of cgroups (docker --cpus): there, write the number by hand."
)


def imports(tuner: str, *, os: bool = True) -> str:
    """Return the imports the lines below need."""
    package = "autotvm" if tuner == "autotvm" else "auto_scheduler"
    return ("import os\n" if os else "") + f"from tvm import {package}"


def builder(tuner: str, timeout: float, *, cores: str | None = _USABLE) -> str:
    """Return the line that makes the builder.

    Parameters
    ----------
    tuner : str
        ``"autotvm"``, else Ansor's.
    timeout : float
        Seconds it had: the new one is longer.
    cores : str or None
        Expression for ``n_parallel``; None leaves it out.
    """
    longer = max(_LONGER, 2 * int(timeout)) if timeout == timeout else _LONGER  # noqa: PLR0124
    package = "autotvm" if tuner == "autotvm" else "auto_scheduler"
    given = f"n_parallel={cores}, timeout={longer}" if cores else f"timeout={longer}"
    return f"builder = {package}.LocalBuilder({given})"


def use_builder(tuner: str) -> str:
    """Return the line that uses it, beside whatever other options there are."""
    if tuner == "autotvm":
        return "measure_option = autotvm.measure_option(builder, autotvm.LocalRunner())"
    return "tune_option = auto_scheduler.TuningOptions(num_measure_trials=1000, builder=builder)"


def fewer_builds(tuner: str, timeout: float) -> str:
    """Return what to do where more builds run than there are cores for them."""
    return "\n".join(
        [
            "Build no more programs at once than there are usable cores, and give each more time:",
            imports(tuner),
            builder(tuner, timeout),
            use_builder(tuner),
            "Run one tuning at a time on a host, or divide its cores between them:",
            "taskset -c 0-27 python tune_a.py & taskset -c 28-55 python tune_b.py",
            "Where the tuning script cannot be changed, let TVM count usable cores:",
            PATCH,
            LIMITS,
        ]
    )


def longer_builds(tuner: str, timeout: float) -> str:
    """Return what to do where builds need more time than they have."""
    return "\n".join(
        [
            "Give builds more time:",
            imports(tuner, os=False),
            builder(tuner, timeout, cores=None),
            use_builder(tuner),
        ]
    )
