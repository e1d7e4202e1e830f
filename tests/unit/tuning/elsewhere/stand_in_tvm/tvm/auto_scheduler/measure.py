import hashlib
import json
import os
import shutil
import tempfile
import time

from tvm import VERSION, called
from tvm.auto_scheduler.search_task import SearchTask, StateObject
from tvm.auto_scheduler.workload_registry import serialized

MAX_FLOAT = 1e10


class Number:
    def __init__(self, value):
        self.value = value


class MeasureInput:
    def __init__(self, task, state):
        self.task = task
        self.state = state if isinstance(state, StateObject) else state.state_object


class BuildResult:
    def __init__(self, filename, args, error_no, error_msg, time_cost):
        self.filename, self.args, self.error_no = filename or "", args, error_no
        self.error_msg, self.time_cost = error_msg or "", time_cost


class MeasureResult:
    def __init__(self, costs, error_no, error_msg, all_cost, timestamp):
        self.costs, self.error_no = [Number(each) for each in costs], error_no
        self.error_msg, self.all_cost, self.timestamp = error_msg or "", all_cost, timestamp


class PackedFunc:
    """What TVM makes of a Python function that it registers: no names, no signature."""

    def __init__(self, function):
        self._function = function

    def __call__(self, *args):
        return self._function(*args)

    @property
    def __signature__(self):
        raise ValueError("callable is not supported by signature")


class LocalBuilder:
    def __init__(self, timeout=15, n_parallel=1, build_func="default"):
        BuildFunc.name = build_func


class BuildFunc:
    name = "default"


if VERSION == "0.8":

    class LocalRunner:
        def __init__(
            self,
            timeout=10,
            number=3,
            repeat=1,
            min_repeat_ms=100,
            cooldown_interval=0.0,
            enable_cpu_cache_flush=False,
        ):
            pass

else:

    class LocalRunner:
        def __init__(
            self,
            timeout=10,
            number=3,
            repeat=1,
            min_repeat_ms=100,
            cooldown_interval=0.0,
            enable_cpu_cache_flush=False,
            device=0,
        ):
            pass


def recover_measure_input(inp, rebuild_state=False):
    task = inp.task
    full = SearchTask(
        workload_key=task.workload_key,
        target=task.target,
        target_host=task.target_host,
        hardware_params=task.hardware_params,
        layout_rewrite_option=task.layout_rewrite_option,
        task_inputs=list(task.task_input_names),
    )
    state = full.compute_dag.infer_bound_from_state(inp.state) if rebuild_state else inp.state
    return MeasureInput(full, state)


def _unroll(inp):
    texts = [step[3] for step in inp.state.transform_steps if step[0] == "PR"]
    return max([int(each.partition("$")[2]) for each in texts], default=0)


@PackedFunc
def local_builder_build(inputs, timeout, n_parallel, build_func="default", verbose=1):
    called("local_builder_build", len(inputs), timeout, n_parallel, build_func, verbose)
    assert build_func == BuildFunc.name
    results = []
    for inp in inputs:
        serialized(inp.task.workload_key)
        unroll = _unroll(inp)
        if unroll == 1024:
            results.append(BuildResult(None, [], 6, None, timeout))
        elif unroll == 512:
            message = "Traceback\n...\nRuntimeError: Did you forget to bind?\n  }\n}\n"
            results.append(BuildResult(None, [], 2, message, 0.5))
        else:
            path = os.path.join(tempfile.mkdtemp(), "tmp_func.tar")
            with open(path, "w", encoding="utf-8") as file:
                file.write("built")
            results.append(BuildResult(path, inp.task.compute_dag.tensors, 0, None, 0.25))
    return results


def cost_of(steps):
    """Return the seconds a schedule takes here: some number between 1 and 2 ms, always the same."""
    digest = hashlib.md5(json.dumps(steps).encode()).digest()
    return 1e-3 * (1 + digest[0] / 256)


def _run(inputs, builds, timeout, repeat):
    assert len(inputs) == len(builds)
    results = []
    for place, (inp, build) in enumerate(zip(inputs, builds)):
        if build.error_no:
            found = ((MAX_FLOAT,), build.error_no, build.error_msg, build.time_cost)
        else:
            if inp.task.task_input_names:
                raise ValueError("W_data not found in TASK_INPUT_BUFFER_TABLE")
            with open(build.filename, encoding="utf-8") as file:
                assert file.read() == "built"
            shutil.rmtree(os.path.dirname(build.filename))
            cost = cost_of(inp.state.transform_steps) * (5 if place == 0 else 1)
            found = ((cost,) * repeat, 0, None, build.time_cost + 1)
            if _unroll(inp) == 64:
                found = ((MAX_FLOAT,), 7, None, build.time_cost + timeout)
        results.append(MeasureResult(*found, time.time()))
    return results


def _local_v08(
    inputs,
    build_results,
    timeout=10,
    number=3,
    repeat=1,
    min_repeat_ms=0,
    cooldown_interval=0,
    enable_cpu_cache_flush=False,
    verbose=1,
):
    how = (timeout, number, repeat, min_repeat_ms, cooldown_interval, enable_cpu_cache_flush)
    called("local_run", len(inputs), *how, verbose)
    return _run(inputs, build_results, timeout, repeat)


def _local_v19(
    inputs,
    build_results,
    timeout=10,
    number=3,
    repeat=1,
    min_repeat_ms=0,
    cooldown_interval=0,
    enable_cpu_cache_flush=False,
    verbose=1,
    device=0,
):
    how = (timeout, number, repeat, min_repeat_ms, cooldown_interval, enable_cpu_cache_flush)
    called("local_run", len(inputs), *how, verbose, device)
    return _run(inputs, build_results, timeout, repeat)


def _rpc_v08(
    inputs,
    build_results,
    key,
    host,
    port,
    priority=1,
    n_parallel=1,
    timeout=10,
    number=3,
    repeat=1,
    min_repeat_ms=0,
    cooldown_interval=0.0,
    enable_cpu_cache_flush=False,
    verbose=1,
):
    how = (timeout, number, repeat, min_repeat_ms, cooldown_interval, enable_cpu_cache_flush)
    called("rpc_runner_run", len(inputs), key, host, port, priority, n_parallel, *how, verbose)
    return _run(inputs, build_results, timeout, repeat)


def _rpc_v19(
    inputs,
    build_results,
    key,
    host,
    port,
    priority=1,
    n_parallel=1,
    timeout=10,
    number=3,
    repeat=1,
    min_repeat_ms=0,
    cooldown_interval=0.0,
    enable_cpu_cache_flush=False,
    verbose=1,
    device=0,
):
    called("device", device)
    how = (timeout, number, repeat, min_repeat_ms, cooldown_interval, enable_cpu_cache_flush)
    called("rpc_runner_run", len(inputs), key, host, port, priority, n_parallel, *how, verbose)
    return _run(inputs, build_results, timeout, repeat)


local_run = PackedFunc(_local_v08 if VERSION == "0.8" else _local_v19)
rpc_runner_run = PackedFunc(_rpc_v08 if VERSION == "0.8" else _rpc_v19)
