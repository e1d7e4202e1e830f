r"""Remedies as code that is ready to run, on lines of its own.

``LocalBuilder`` takes ``n_parallel=multiprocessing.cpu_count()`` as it is defined
(python/tvm/auto_scheduler/measure.py), AutoTVM's ``Builder`` where it is given None
(python/tvm/autotvm/measure/measure.py), ``PopenPoolExecutor`` likewise ``os.cpu_count()``
(python/tvm/contrib/popen_pool.py): all cores of the machine, whatever the process may use of them.
MetaSchedule's builder counts with psutil (python/tvm/meta_schedule/builder/local_builder.py).
Every remedy names its tuner; a log of several tuners gets one per tuner concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

_LONGER = 60  # seconds that suffice for nearly all builds on a machine that is not overloaded

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

_UNCHANGED = "Where the tuning script cannot be changed, let TVM count usable cores:"


@dataclass(frozen=True)
class _TunerWords:
    name: str
    imports: str
    builder: str
    cores: str
    timeout: str
    use_builder: str
    longer_runs: str
    longer_measuring: str
    texts: str
    no_schedule: str
    goes_on: str


_TUNERS: Final = {
    "ansor": _TunerWords(
        "Ansor",
        "from tvm import auto_scheduler",
        "auto_scheduler.LocalBuilder",
        "n_parallel",
        "timeout",
        "tune_option = auto_scheduler.TuningOptions(num_measure_trials=1000, builder=builder)",
        "runner = auto_scheduler.LocalRunner(timeout=30)\n"
        "measure_ctx = auto_scheduler.LocalRPCMeasureContext(timeout=30)  # instead, on a GPU",
        "runner = auto_scheduler.LocalRunner(repeat=10, min_repeat_ms=300)",
        "prints them with auto_scheduler.TuningOptions(verbose=2): open that output together "
        "with the log",
        "task.apply_best(log_file) raises 'Cannot find any valid schedule', and compiling a model "
        "falls back to a default schedule",
        "auto_scheduler.TaskScheduler(tasks, load_log_file=log_file)",
    ),
    "autotvm": _TunerWords(
        "AutoTVM",
        "from tvm import autotvm",
        "autotvm.LocalBuilder",
        "n_parallel",
        "timeout",
        "measure_option = autotvm.measure_option(builder, autotvm.LocalRunner())",
        "runner = autotvm.LocalRunner(timeout=30)\n"
        "measure_option = autotvm.measure_option(autotvm.LocalBuilder(), runner)",
        "runner = autotvm.LocalRunner(repeat=10, min_repeat_ms=300)\n"
        "measure_option = autotvm.measure_option(autotvm.LocalBuilder(), runner)",
        "logs them at the level DEBUG: logging.basicConfig() and "
        'logging.getLogger("autotvm").setLevel(logging.DEBUG)',
        "compiling under autotvm.apply_history_best(log_file) warns of a missing config and takes "
        "a fallback configuration",
        "tuner.load_history(autotvm.record.load_from_file(log_file)) for each task",
    ),
    "metaschedule": _TunerWords(
        "MetaSchedule",
        "from tvm import meta_schedule as ms  # TVM 0.24 and later: from tvm.s_tir",
        "ms.builder.LocalBuilder",
        "max_workers",
        "timeout_sec",
        "ms.tune_tir(mod, target, work_dir, max_trials_global=1000, builder=builder)",
        "runner = ms.runner.LocalRunner(timeout_sec=60)\n"
        "ms.tune_tir(mod, target, work_dir, max_trials_global=1000, runner=runner)",
        "config = ms.runner.EvaluatorConfig(repeat=10, min_repeat_ms=300)\n"
        "runner = ms.runner.LocalRunner(timeout_sec=60, evaluator_config=config)\n"
        "ms.tune_tir(mod, target, work_dir, max_trials_global=1000, runner=runner)",
        "writes them into the logs of its tasks, work_dir/logs, as 'Error in building' or "
        "'Error in running'",
        "its database has no record to apply, and the function is compiled without a schedule",
        "the same work_dir, whose database it reads",
    ),
}


def for_each(tuners: Iterable[str], make: Callable[[str], str]) -> str:
    """Return the remedies of several tuners, one below the other."""
    return "\n".join(make(tuner) for tuner in tuners if tuner in _TUNERS)


def _lines(tuner: str, what: str, *code: str) -> str:
    known = _TUNERS[tuner]
    return "\n".join([f"For {known.name}: {what}", known.imports, *code])


def _builder_lines(tuner: str, timeout: float, cores: str | None = None) -> str:
    known = _TUNERS[tuner]
    longer = max(_LONGER, 2 * int(timeout)) if timeout == timeout else _LONGER  # noqa: PLR0124
    given = f"{known.cores}={cores}, " if cores else ""
    made = f"builder = {known.builder}({given}{known.timeout}={longer})"
    return "\n".join([*(["import os"] if cores else []), made, known.use_builder])


def fewer_builds(tuner: str, timeout: float) -> str:
    """Return the remedy where more builds run than there are cores."""
    patch = [] if tuner == "metaschedule" else [_UNCHANGED, PATCH]
    return "\n".join(
        [
            _lines(
                tuner,
                "build no more programs at once than there are usable cores, and give each more "
                "time.",
                _builder_lines(tuner, timeout, _USABLE),
            ),
            "Run one tuning at a time on a host, or divide its cores between them:",
            "taskset -c 0-27 python tune_a.py & taskset -c 28-55 python tune_b.py",
            *patch,
            LIMITS,
        ]
    )


def half_the_builds(tuner: str, timeout: float) -> str:
    """Return the remedy where builds run out of memory."""
    what = "run fewer builds at once, each with more memory."
    return "\n".join(
        [_lines(tuner, what, _builder_lines(tuner, timeout, f"max(1, {_USABLE} // 2)")), LIMITS]
    )


def longer_builds(tuner: str, timeout: float) -> str:
    """Return the remedy where builds need more time."""
    return _lines(tuner, "give builds more time.", _builder_lines(tuner, timeout))


def longer_runs(tuner: str) -> str:
    """Return the remedy where runs need more time."""
    return _lines(tuner, "give runs more time.", _TUNERS[tuner].longer_runs)


def longer_measuring(tuner: str) -> str:
    """Return the remedy for noisy costs."""
    what = "measure longer, and on a machine that does nothing else."
    return _lines(tuner, what, _TUNERS[tuner].longer_measuring)


def error_texts(tuner: str) -> str:
    """Return where the tuner prints the texts of errors."""
    return f"Error texts are not in the log. {_TUNERS[tuner].name} {_TUNERS[tuner].texts}."


def no_schedule(tuner: str) -> str:
    """Return what a task without a valid trial means for compilation."""
    return f"With {_TUNERS[tuner].name}, {_TUNERS[tuner].no_schedule}."


def going_on(tuner: str) -> str:
    """Return how to resume a search with the measured records."""
    return f"{_TUNERS[tuner].name} goes on with {_TUNERS[tuner].goes_on}."
