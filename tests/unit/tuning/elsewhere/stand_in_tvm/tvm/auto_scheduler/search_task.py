import os

from tvm import Target, TVMError
from tvm.auto_scheduler.workload_registry import workload_key_to_tensors

NAMES = (
    *("num_cores", "vector_unit_bytes", "cache_line_bytes", "max_shared_memory_per_block"),
    *("max_local_memory_per_block", "max_threads_per_block", "max_vthread_extent", "warp_size"),
)


class HardwareParams:
    def __init__(
        self,
        num_cores,
        vector_unit_bytes,
        cache_line_bytes,
        max_shared_memory_per_block,
        max_local_memory_per_block,
        max_threads_per_block,
        max_vthread_extent,
        warp_size,
    ):
        for name in NAMES:
            setattr(self, name, locals()[name])

    @property
    def numbers(self):
        return [getattr(self, name) for name in NAMES]


def default_hardware(target):
    if target.kind.name == "llvm":
        return HardwareParams(4, 64, 64, 0, 0, 0, 0, 0)
    if target.kind.name == "metal":
        return HardwareParams(-1, 16, 64, 32768, 2147483647, 1024, 2, 8)
    if "STAND_IN_GPU" not in os.environ:
        raise TVMError("Traceback\n---\n  Check failed: Cannot find CUDA device_api in registry\n")
    return HardwareParams(-1, 16, 64, 49152, 2147483647, 512, 8, 32)


class _Extent:
    def __init__(self, value):
        self.value = value


class _Range:
    def __init__(self, value):
        self.extent = _Extent(value)


class _Iterator:
    def __init__(self, annotation, extent):
        self.annotation, self.range = annotation, _Range(extent)


class _Op:
    name = "C"


class _Stage:
    op = _Op()

    def __init__(self, iters):
        self.iters = iters


class StateObject:
    """Steps, and the stages once bounds are inferred."""

    def __init__(self, steps, stages=()):
        self.transform_steps, self.stages = steps, list(stages)


class State:
    def __init__(self, state_object):
        self.state_object = state_object


class ComputeDAG:
    def __init__(self, compute):
        self.tensors = workload_key_to_tensors(compute) if isinstance(compute, str) else compute

    def infer_bound_from_state(self, state):
        steps = state.transform_steps
        if any(step[1] > 9 for step in steps):
            raise TVMError("Traceback\n---\n  Check failed: IndexError: indexing 77 on an array\n")
        split = next((step[4] for step in steps if step[0] == "SP"), [1])
        threads = [_Iterator(step[3], split[0]) for step in steps if step[0] == "AN"]
        return State(StateObject(steps, [_Stage(threads)]))

    def apply_steps_from_state(self, state, layout_rewrite=0):
        if not isinstance(state, StateObject):
            raise TypeError(state)
        if any(step[0] == "CI" for step in state.transform_steps):
            raise TVMError("cannot inline")
        return f"schedule of {len(state.transform_steps)} steps", self.tensors


class SearchTask:
    def __init__(
        self,
        func=None,
        args=None,
        compute_dag=None,
        workload_key=None,
        target=None,
        target_host=None,
        hardware_params=None,
        layout_rewrite_option=None,
        task_inputs=None,
        task_inputs_overwrite=False,
        task_inputs_save_to_file=False,
        desc="",
    ):
        self.workload_key = workload_key
        self.compute_dag = compute_dag or ComputeDAG(workload_key)
        self.target = Target(target) if isinstance(target, str) else target
        self.target_host = Target(target_host) if isinstance(target_host, str) else target_host
        self.hardware_params = hardware_params or default_hardware(self.target)
        self.layout_rewrite_option = layout_rewrite_option or 0
        if task_inputs is not None and not isinstance(task_inputs, (list, dict)):
            raise ValueError("task_inputs should be a dict or a list.")
        self.task_input_names = list(task_inputs or [])
