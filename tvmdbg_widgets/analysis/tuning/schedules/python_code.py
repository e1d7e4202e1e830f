"""One record as Python that applies its schedule, for TVM 0.8 to 0.19."""

from __future__ import annotations

from tvmdbg_widgets.model.tuning.record import Record
from tvmdbg_widgets.model.tuning.workload import Workload

_OLD_OPTION = " -link-params=0"
_APPLY = """
measured, _ = load_record_from_string(RECORD)
task = auto_scheduler.SearchTask(
    workload_key=measured.task.workload_key,
    target=measured.task.target,
    hardware_params=measured.task.hardware_params,
)
print(task.compute_dag.infer_bound_from_state(measured.state))
schedule, args = task.compute_dag.apply_steps_from_state(
    measured.state, layout_rewrite=measured.task.layout_rewrite_option
)
print(tvm.lower(schedule, args, simple_mode=True))
# module = tvm.build(schedule, args, task.target)
"""


def python_code(record: Record) -> str:
    """Return a program that makes the record's task, applies its steps and prints the lowered code.

    It needs ``tvm.auto_scheduler`` (python/tvm/auto_scheduler/{measure_record,search_task}.py):
    ``load_record_from_string``, ``SearchTask`` and ``ComputeDAG.apply_steps_from_state`` are the
    same from v0.8 to v0.19. Empty for records of other tuners.
    """
    if record.task.tuner != "ansor":
        return ""
    line = record.line.decode("utf-8", "surrogateescape")
    lines = [
        "import tvm",
        "from tvm import auto_scheduler",
        "from tvm.auto_scheduler.measure_record import load_record_from_string",
        "",
        *_registration(record.task.workload),
        "",
        f"RECORD = {line!a}",
    ]
    if _OLD_OPTION in line:
        lines.append("# TVM 0.10 and later know no option -link-params.")
        lines.append(f'RECORD = RECORD.replace("{_OLD_OPTION}", "")')
    return "\n".join(lines) + _APPLY


def _registration(workload: Workload) -> list[str]:
    if workload.is_hash:
        return [
            f"# {workload.name} is the hash of a compute DAG. Extracting the tasks of the model",
            "# that was tuned registers it, with the TVM that tuned it:",
            '# auto_scheduler.extract_tasks(mod["main"], params, target)',
        ]
    return [
        f"# First import what defines {ascii(workload.name)[:200]}",
        "# and registers it with @auto_scheduler.register_workload.",
    ]
