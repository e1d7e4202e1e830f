"""Measure schedules of a tuning log on this machine, and write a new log.

Needs TVM 0.8 to 0.19 (tvm.auto_scheduler) and nothing else. Every schedule is built and run as
TVM's own measurer does it: in processes of their own, with time limits. The first measurement of a
runner process is slow, so that one is made once more and discarded. Each finished batch is saved
at once. Exit status: 0 all were measured, 1 some failed, 2 nothing could be measured.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
import types
from typing import Any

# <data>
DEFAULTS: dict[str, Any] = {}
WARNINGS: list[str] = []
MODULES: list[str] = []
SOURCES: list[tuple[str, str]] = []
RECORDS: list[str] | None = []  # None: in a file beside this one
# </data>

FAILED_COST = 1e10
INSTANTIATION_ERROR, UNKNOWN_ERROR = 1, 8
ERRORS = (
    *("NoError", "InstantiationError", "CompileHostError", "CompileDeviceError"),
    *("RuntimeDeviceError", "WrongAnswerError", "BuildTimeoutError", "RunTimeoutError"),
    "UnknownError",
)
THREADS = (6, 8, 10)  # annotations of iterators: threadIdx.x, .y and .z
HARDWARE = (
    *("num_cores", "vector_unit_bytes", "cache_line_bytes", "max_shared_memory_per_block"),
    *("max_local_memory_per_block", "max_threads_per_block", "max_vthread_extent", "warp_size"),
)
UNREGISTERED = """\
TVM must know what these workloads compute; give a Python module with --register FILE (or NAME):
  a function's name   the module defines it, with @auto_scheduler.register_workload
  a hash (32 digits)  the module runs auto_scheduler.extract_tasks(mod["main"], params, target) on
                      the model, which registers its workloads; model, shapes and TVM version must
                      be those of the tuning, or the hashes differ"""


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--output", metavar="LOG", help="the new log")
    add("--append", action="store_true", help="add to a log that exists")
    add("--register", metavar="MODULE", action="append", default=[], help="registers workloads")
    add("--target", metavar="TEXT", help="instead of each record's own")
    add("--target-host", metavar="TEXT", help="for --target")
    add("--hardware", metavar="NAME=N", nargs="+", help="of " + ", ".join(HARDWARE))
    add("--rpc", metavar="KEY", help="run on a device of an RPC tracker")
    add("--host", help="of the tracker")
    add("--port", type=int, help="of the tracker")
    add("--build-func", choices=("default", "ndk"), help="ndk: for Android")
    add("--build-timeout", type=int, metavar="S", help="seconds for each build")
    add("--timeout", type=int, metavar="S", help="seconds for each run")
    add("--n-parallel", type=int, metavar="N", help="builds at a time; None: usable cores")
    add("--number", type=int, metavar="N", help="runs that are averaged")
    add("--repeat", type=int, metavar="N", help="averages that are taken")
    add("--min-repeat-ms", type=int, metavar="MS", help="more runs until this long")
    add("--cooldown", type=float, metavar="S", help="seconds between measurements")
    add("--cpu-cache-flush", action="store_true", help="flush caches before each run")
    add("--device", type=int, metavar="N", help="which of several devices")
    add("--keep-first", action="store_true", help="do not discard the first measurement")
    add("--emit-source", metavar="FOLDER", help="also save TIR and generated code")
    parser.set_defaults(**DEFAULTS)
    args = parser.parse_args()
    pairs = [each.partition("=") for each in args.hardware or []]
    wrong = [name + sign for name, sign, n in pairs if name not in HARDWARE or not _is_int(n)]
    if wrong:
        parser.error(f"--hardware {wrong[0]}: expected NAME=NUMBER, NAME of {', '.join(HARDWARE)}")
    args.hardware = {name: int(number) for name, _, number in pairs}
    if args.cpu_cache_flush:  # as LocalRunner has it
        args.number, args.min_repeat_ms = 1, 0
    return args


def main() -> int:
    """Measure all."""
    args = arguments()
    if os.path.exists(args.output) and not args.append:
        return stop(f"{args.output} exists: choose another --output, or --append to it")
    for warning in WARNINGS:
        note(f"warning: {warning}")
    try:
        import tvm
        from tvm import auto_scheduler
    except ImportError as error:
        return stop(f"this needs TVM 0.8 to 0.19 with tvm.auto_scheduler: {error}")
    try:
        register(args.register)
        lines = read_lines() if RECORDS is None else RECORDS
        measurer = Measurer(tvm, auto_scheduler, args)
    except Exception as error:  # of the user's module, or of files that are not there
        traceback.print_exc()
        return stop(reason(str(error)) or repr(error))
    return measurer.measure(lines)


def register(more: list[str]) -> None:
    """Run the modules that register workloads."""
    for name, source in SOURCES:
        run_source(name, source)
    for name in MODULES + more:
        if os.path.isfile(name):
            sys.path.insert(0, os.path.dirname(os.path.abspath(name)))
            with open(name, encoding="utf-8") as file:
                run_source(name, file.read())
        else:
            importlib.import_module(name)
    # Builds and runs happen in other processes, which look for modules in the same places.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))


def run_source(name: str, source: str) -> None:
    """Run a module's source; its functions travel to other processes by value."""
    module = types.ModuleType("registered_workloads")
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, name, "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]


def read_lines() -> list[str]:
    """Read the records that lie beside this script: x.records.json beside x.py."""
    path = os.path.splitext(os.path.abspath(__file__))[0] + ".records.json"
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


class Measurer:
    """Builds and runs schedules, and saves what they cost."""

    def __init__(self, tvm: Any, auto_scheduler: Any, args: argparse.Namespace) -> None:
        self.tvm, self.auto_scheduler, self.args = tvm, auto_scheduler, args
        self.api = auto_scheduler.measure
        self.noted: set[str] = set()
        if args.n_parallel is None or args.n_parallel < 1:
            usable = getattr(os, "sched_getaffinity", None)
            args.n_parallel = len(usable(0)) if usable else os.cpu_count() or 1
        auto_scheduler.LocalBuilder(args.build_timeout, args.n_parallel, args.build_func)
        # These functions of TVM take arguments by position only and have no signature of their own.
        runner = inspect.signature(auto_scheduler.LocalRunner.__init__).parameters
        self.devices = [args.device] if "device" in runner else []
        if args.device and not self.devices:
            raise ValueError("this TVM always runs on device 0: leave out --device")
        if args.rpc:
            check = auto_scheduler.utils.check_remote
            if not check(args.rpc, args.host, args.port, 1, args.timeout):
                raise ValueError(f"the tracker {args.host}:{args.port} has no free {args.rpc!r}")

    def measure(self, lines: list[str]) -> int:
        """Measure records, batch by batch; return the exit status."""
        loaded, failed = self.load(lines)
        done: list[Any] = []
        for start in range(0, len(loaded), self.args.n_parallel):
            batch = loaded[start : start + self.args.n_parallel]
            inputs = [inp for _, inp, _, _ in batch]
            good = [inp for _, inp, _, error in batch if not error]
            measured = iter(self.batch(good) if good else [])
            results = [
                self.failure(INSTANTIATION_ERROR, error) if error else next(measured)
                for *_, error in batch
            ]
            self.auto_scheduler.save_records(self.args.output, inputs, results)
            for (number, inp, old, _), result in zip(batch, results):
                print(f"[{number}/{len(lines)}] {outcome(inp, old, result)}", flush=True)
                failed += result.error_no != 0
            done += inputs
        if self.args.emit_source:
            for (number, *_), inp in zip(loaded, done):
                self.emit(number, inp)
        if not loaded:
            return stop("nothing could be measured")
        print(f"{len(lines) - failed} of {len(lines)} measured, log: {self.args.output}")
        return 1 if failed else 0

    def load(self, lines: list[str]) -> tuple[list[Any], int]:
        """Return number, input, old result and error text of each record; how many are lost."""
        found, lost, missing = [], 0, []
        for number, line in enumerate(lines, 1):
            key = json.loads(line)["i"][0][0]
            if not self.is_registered(key):
                missing.append(key)
                continue
            try:
                inp, old = self.read(line)
                task = self.task(self.api.recover_measure_input(inp).task)
            except Exception as error:
                lost += 1
                note(f"[{number}/{len(lines)}] cannot be loaded: {reason(str(error))}")
                continue
            state, failure = inp.state, ""
            try:
                state = task.compute_dag.infer_bound_from_state(state).state_object
            except Exception:
                failure = traceback.format_exc()
            self.check_limits(number, state, task.hardware_params)
            found.append((number, self.api.MeasureInput(task, state), old, failure))
        if missing:
            note(f"not registered, left out: the workloads of {len(missing)} of the records")
            for key in dict.fromkeys(missing):
                note(f"  {key!a}")
            note(UNREGISTERED)
        return found, lost + len(missing)

    def is_registered(self, key: str) -> bool:
        """Whether TVM knows what a workload key stands for."""
        registry = self.auto_scheduler.workload_registry.WORKLOAD_FUNC_REGISTRY
        try:
            return key in registry or json.loads(key)[0] in registry
        except (ValueError, TypeError, LookupError):
            return False

    def read(self, line: str) -> Any:
        """Read input and result of a record, with its target replaced where asked for."""
        read = self.auto_scheduler.measure_record.load_record_from_string
        record = json.loads(line)
        task = record["i"][0]
        if not self.args.target:
            try:
                return read(line)
            except Exception:
                if "-link-params" not in task[1]:  # an option that targets had before TVM 0.10
                    raise
        words = [each for each in task[1].split(" ") if not each.startswith("-link-params")]
        task[1] = self.args.target or " ".join(words)
        if self.args.target and len(task) > 3:
            task[3] = ""  # the host, of the old target
        return read(json.dumps(record, ensure_ascii=False))

    def task(self, task: Any) -> Any:
        """Return the task with target and hardware parameters as asked for."""
        args = self.args
        if not args.target and not args.hardware:
            return task
        target, host = args.target or task.target, args.target_host
        params = task.hardware_params
        make = self.auto_scheduler.SearchTask
        if args.target:
            try:
                params = make(
                    workload_key=task.workload_key, target=target, target_host=host
                ).hardware_params
            except Exception as error:
                self.note_once(
                    "TVM cannot tell this target's hardware parameters here, so those of the log "
                    f"are kept (--hardware sets them): {reason(str(error))}"
                )
        values = {name: int(getattr(params, name)) for name in HARDWARE}
        values.update(args.hardware)
        for name in HARDWARE:
            before = int(getattr(task.hardware_params, name))
            if before != values[name]:
                self.note_once(f"{name}: {before} in the log, {values[name]} here")
        return make(
            workload_key=task.workload_key,
            target=target,
            target_host=host,
            hardware_params=self.auto_scheduler.HardwareParams(**values),
            layout_rewrite_option=task.layout_rewrite_option,
            task_inputs=list(task.task_input_names),
        )

    def check_limits(self, number: int, state: Any, params: Any) -> None:
        """Note a schedule with more threads than a block may have; it is measured anyway."""
        most = int(params.max_threads_per_block)
        for stage in state.stages:
            threads = 1
            for each in stage.iters:
                if int(each.annotation) in THREADS and each.range is not None:
                    threads *= getattr(each.range.extent, "value", 1)  # 1: symbolic
            if threads > most > 0:
                note(f"[{number}] {stage.op.name!a}: {threads} threads a block of at most {most}")

    def batch(self, inputs: list[Any]) -> list[Any]:
        """Build and run some; where that raises for them together, one by one."""
        args = self.args
        try:
            builds = list(
                self.api.local_builder_build(
                    inputs, args.build_timeout, args.n_parallel, args.build_func, 1
                )
            )
            warm_up = [] if args.keep_first else self.copies(inputs, builds)
            results = self.run(
                [inp for inp, _ in warm_up] + inputs, [build for _, build in warm_up] + builds
            )
            return list(results)[len(warm_up) :]
        except Exception:
            if len(inputs) > 1:
                return [result for each in inputs for result in self.batch([each])]
            return [self.failure(UNKNOWN_ERROR, traceback.format_exc())]

    def copies(self, inputs: list[Any], builds: list[Any]) -> list[tuple[Any, Any]]:
        """Return the first schedule that was built once more: running deletes what was built."""
        for inp, build in zip(inputs, builds):
            if build.error_no == 0:
                folder = tempfile.mkdtemp()
                path = shutil.copy(build.filename, folder)
                copy = self.api.BuildResult(path, build.args, 0, "", build.time_cost)
                return [(inp, copy)]
        return []

    def run(self, inputs: list[Any], builds: list[Any]) -> Any:
        """Run what was built, here or on a device of the tracker."""
        args = self.args
        how = (args.timeout, args.number, args.repeat, args.min_repeat_ms, args.cooldown)
        rest = (*how, args.cpu_cache_flush, 1, *self.devices)
        if args.rpc:
            where = (args.rpc, args.host, args.port, 1, 1)  # priority, n_parallel
            return self.api.rpc_runner_run(inputs, builds, *where, *rest)
        return self.api.local_run(inputs, builds, *rest)

    def failure(self, error_no: int, message: str) -> Any:
        """Return the result of a schedule that could not be measured."""
        return self.api.MeasureResult([FAILED_COST], error_no, message, 0.0, time.time())

    def emit(self, number: int, inp: Any) -> None:
        """Save the lowered program and the generated code of one schedule."""
        start = os.path.join(self.args.emit_source, f"{number:04d}")
        os.makedirs(self.args.emit_source, exist_ok=True)
        task = inp.task
        try:
            schedule, tensors = task.compute_dag.apply_steps_from_state(
                inp.state, layout_rewrite=task.layout_rewrite_option
            )
            lowered = self.tvm.lower(schedule, tensors, simple_mode=True)
            write(start + ".tir.txt", str(lowered))
            module = self.tvm.build(schedule, tensors, target=task.target)
            for each in list(module.imported_modules) or [module]:
                write(f"{start}.{each.type_key}.txt", each.get_source())
        except Exception as error:
            note(f"[{number}] source not saved: {reason(str(error))}")

    def note_once(self, text: str) -> None:
        """Say a thing the first time."""
        if text not in self.noted:
            self.noted.add(text)
            note(text)


def outcome(inp: Any, old: Any, new: Any) -> str:
    """Return one line on a measurement."""
    before, after = mean(old), mean(new)
    was = "failed" if before is None else f"{before * 1e3:.4g} ms"
    name = ascii(inp.task.workload_key[:60])
    if after is None:
        why = reason(new.error_msg)
        return f"{ERRORS[new.error_no]} (was {was}) {name} {ascii(why) if why else ''}".rstrip()
    return f"{after * 1e3:.4g} ms (was {was}) {name}"


def mean(result: Any) -> float | None:
    """Return the mean cost in seconds; None for a failure."""
    costs = [each.value for each in result.costs]
    return None if result.error_no or not costs else sum(costs) / len(costs)


def reason(text: str) -> str:
    """Return the line of an error's text that says most."""
    lines = [each.strip() for each in text.split("\n") if each.strip()]
    telling = [each for each in lines if re.search(r"Error: *\\S|Check failed|Did you", each)]
    return (telling or lines or [""])[-1]


def write(path: str, text: str) -> None:
    """Write a text file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def note(text: str) -> None:
    """Say something that is no result."""
    print(text, file=sys.stderr, flush=True)


def stop(text: str) -> int:
    """Say why nothing is measured; return the exit status."""
    note(f"error: {text}")
    return 2


def _is_int(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
