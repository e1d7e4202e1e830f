import json

from tvm import Target, TVMError
from tvm.auto_scheduler.measure import MeasureInput, MeasureResult
from tvm.auto_scheduler.search_task import HardwareParams, StateObject

CODES = ("AN", "FU", "PR", "RE", "SP", "FSP", "FFSP", "SA", "CA", "CI", "CR", "CHR", "CHW", "RF")


class _Task:
    """A task as it is read: without its compute DAG."""

    def __init__(self, fields):
        key, target, *rest = fields
        self.workload_key, self.target = key, Target(target)
        self.hardware_params = HardwareParams(*rest[0]) if rest else None
        self.target_host = Target(rest[1]) if rest[1:] and rest[1] else None
        self.layout_rewrite_option = rest[2] if rest[2:] else 0
        self.task_input_names = rest[3] if rest[3:] else []


def load_record_from_string(record):
    if "\\u" in record:
        raise TVMError("Unknown string escape \\u")  # dmlc's JSON reader knows none
    parsed = json.loads(record)
    if set(parsed) != {"i", "r", "v"}:
        raise TVMError("invalid key")
    task, (stages, steps) = parsed["i"]
    if stages or any(step[0] not in CODES for step in steps):
        raise TVMError("Traceback\n---\nInternalError: Check failed: invalid transform step\n")
    costs, error, all_cost, timestamp = parsed["r"]
    result = MeasureResult(costs, error, "", all_cost, timestamp)
    return MeasureInput(_Task(task), StateObject(steps)), result


def save_records(filename, inputs, results):
    with open(filename, "a", encoding="utf-8") as file:
        for inp, result in zip(inputs, results):
            task = inp.task
            fields = [
                *(task.workload_key, str(task.target), task.hardware_params.numbers),
                *(str(task.target_host or ""), task.layout_rewrite_option),
                list(task.task_input_names),
            ]
            costs = [float(f"{each.value:.6g}") for each in result.costs]
            state = [[], inp.state.transform_steps]
            told = [costs, result.error_no, float(f"{result.all_cost:.6g}"), int(result.timestamp)]
            line = {"i": [fields, state], "r": told, "v": "v0.6"}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
