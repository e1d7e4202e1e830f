"""Lines of tuning logs with every step code and every field, and what each of them says.

Written from the format alone (``measure_record.cc``, ``transform_step.cc``, ``measure.h``,
``python/tvm/autotvm/record.py``, ``json_database.cc``), by hand down to the JSON: nothing here is
the reader's, so that the two can disagree. Steps are legal by themselves; no DAG is behind them.
"""

from dataclasses import dataclass
from random import Random
from typing import Any

#: Names of steps, and of their fields behind the code.
STEP_FIELDS = {
    "AN": ("AnnotationStep", "stage_id", "iter_id", "annotation"),
    "FU": ("FuseStep", "stage_id", "fused_ids"),
    "PR": ("PragmaStep", "stage_id", "iter_id", "pragma_type"),
    "RE": ("ReorderStep", "stage_id", "after_ids"),
    "SP": ("SplitStep", "stage_id", "iter_id", "extent", "lengths", "inner_to_outer"),
    "FSP": ("FollowSplitStep", "stage_id", "iter_id", "src_step_id", "n_split"),
    "FFSP": (
        *("FollowFusedSplitStep", "stage_id", "iter_id", "src_step_ids", "level"),
        "factor_or_nparts",
    ),
    "SA": ("StorageAlignStep", "stage_id", "iter_id", "factor", "offset"),
    "CA": ("ComputeAtStep", "stage_id", "target_stage_id", "target_iter_id"),
    "CI": ("ComputeInlineStep", "stage_id"),
    "CR": ("ComputeRootStep", "stage_id"),
    "CHR": ("CacheReadStep", "stage_id", "scope_name", "reader_stage_ids"),
    "CHW": ("CacheWriteStep", "stage_id", "scope_name"),
    "RF": ("RfactorStep", "stage_id", "iter_id", "factor_iter_id"),
}
#: Fields of a task by version; the host of v0.4 is there only where it was given.
TASK_LENGTHS = {"v0.1": 2, "v0.2": 2, "v0.3": 3, "v0.4": 4, "v0.5": 5, "v0.6": 6}
ERRORS = range(9)
TARGETS = (
    "llvm -keys=cpu -link-params=0 -mcpu=core-avx2",
    "cuda -keys=cuda,gpu -arch=sm_86 -max_num_threads=1024 -thread_warp_size=32",
    "opencl -keys=mali,opencl,gpu -device=mali -model=rk3399",
)
KEYS = (
    '["matmul_add", 1024, 1024, 1024, "float32"]',
    '["05ea4bc9f4e3a2a1b0c9d8e7f6a5b4c3", [64, 16, 512, 512], [64, 16, 512, 512], []]',
    '["d7b65649a4dd54becea0a52aabbc5af5", 1, 1000, 1, 1000]',
    '["55cbf5c2a1b0c9d8e7f6a5b4c3d2e1f0"]',
    "a key that is no JSON: äé\u4e2d",
)

#: What is printed while a task is tuned, of each kind something.
OUTPUT = b"""\
Get 3 programs to measure:
..E.**E
==================================================
No: 1\tGFLOPS: 1.50 / 1.50\tresults: MeasureResult(cost:[0.0012], error_no:0, all_cost:1.20, Tstamp:1600000000.55)
==================================================
Placeholder: A, B
==================================================
No: 2\tGFLOPS: 0.00 / 1.50\tresults: MeasureResult(error_type:CompileHostError, error_msg:Traceback:
  File "x.py"
, all_cost:0.50, Tstamp:1600000001.99)
==================================================
|  ID  |                       Task Description                        | Latency (ms) | Speed (GFLOPS) | Trials |
-----------------------------------------------------------------------------------------------------------------
|    0 |                                 vm_mod_fused_nn_dense_add |        0.022 |         184.55 |     30 |
-----------------------------------------------------------------------------------------------------------------
Estimated total latency: 0.022 ms\tTrials: 64\tUsed time : 73 s\tNext ID: 1\t
ElapsedTime(s)\t12\tEstimatedLatency(ms)\tN/A\tTrials\t64
========== Task 0  (workload key: ["matmul_add", 4, 4, 8, "float32"]) ==========
A = PLACEHOLDER [4, 8]
B = PLACEHOLDER [8, 4]
C(i, j) += (A[i, k]*B[k, j])
"""  # noqa: E501


@dataclass(frozen=True)
class Case:
    """A line, and what it says."""

    line: bytes
    task: list[Any]
    steps: list[list[Any]]
    costs: list[float]
    error: int
    all_cost: float
    timestamp: int
    version: str


def ansor(random: Random, *, version: str = "", error: int = -1, usual: bool = False) -> Case:
    """One Ansor record."""
    version = version or random.choice(list(TASK_LENGTHS))
    error = error if error >= 0 else random.choice([0, 0, 0, *ERRORS])
    task = _task(random, version)
    steps = [["SP", 1, 0, 64, [4, 2], 1]] if random.random() < 0.2 else []
    for _ in range(random.randint(0, 12)):
        steps.append(step(random, steps))
    costs = [1e10] if error else [_seconds(random) for _ in range(random.choice([1, 1, 3, 10]))]
    all_cost, timestamp = _seconds(random) * 100, random.randint(0, 2**31 - 1)
    fields = {"i": [task, [[], steps]], "r": [costs, error, all_cost, timestamp], "v": version}
    names = list(fields)
    spaced = ", ", ": "
    if not usual and random.random() < 0.5:
        random.shuffle(names)
        spaced = random.choice([(",", ":"), (" ,  ", " : "), spaced])
    line = to_json({name: fields[name] for name in names}, *spaced).encode()
    return Case(line, task, steps, costs, error, all_cost, timestamp, version)


def _task(random: Random, version: str) -> list[Any]:
    hardware = [random.choice([-1, 0, 1, 8, 32, 64, 65536, 2**31 - 1]) for _ in range(8)]
    host = random.choice(["", TARGETS[0]])
    names = random.choice([[], ["W_data", "W_indices"]])
    length = TASK_LENGTHS[version]
    if version == "v0.4" and not host:
        length = 3
    rewrite = random.randint(0, 2)
    return [random.choice(KEYS), random.choice(TARGETS), hardware, host, rewrite, names][:length]


def step(random: Random, earlier: list[list[Any]], code: str = "") -> list[Any]:
    """One step of a code, or of any that the earlier steps allow."""
    splits = [i for i, each in enumerate(earlier) if each[0] == "SP" and len(each[4]) > 0]
    codes = [each for each in STEP_FIELDS if splits or each not in ("FSP", "FFSP")]
    code = code or random.choice(codes)
    stage, loop = random.randint(0, 40), random.randint(0, 12)
    if code == "SP":
        factors = [random.choice([1, 2, 3, 7, 16, 2**31 - 1]) for _ in range(random.randint(0, 4))]
        return [code, stage, loop, random.choice([0, 1, 64, 2**40]), factors, random.randint(0, 1)]
    if code == "FSP":
        return [code, stage, loop, random.choice(splits), random.randint(0, 4)]
    if code == "FFSP":
        sources = random.choices(splits, k=random.randint(0, 3))
        return [code, stage, loop, sources, random.randint(0, 3), random.randint(0, 1)]
    if code == "RE":
        return [code, stage, random.sample(range(loop + 1), loop + 1)]
    first = random.randint(0, 5)
    rest: dict[str, list[Any]] = {
        "AN": [loop, random.randint(0, 11)],
        "FU": [list(range(first, first + random.randint(0, 4)))],
        "PR": [loop, random.choice([f"auto_unroll_max_step${loop * 64}", "debug_skip_region"])],
        "SA": [loop, random.choice([-1, 1, 32]), random.randint(-8, 8)],
        "CA": [random.randint(0, 40), random.randint(0, 12)],
        "CI": [],
        "CR": [],
        "CHR": ["shared", random.sample(range(20), random.randint(0, 3))],
        "CHW": [random.choice(["local", "shared"])],
        "RF": [loop, random.randint(-3, 3)],
    }
    return [code, stage, *rest[code]]


def unroll(steps: list[list[Any]]) -> int:
    """Largest N of ``auto_unroll_max_step$N``, -1 for none."""
    texts = [each[3] for each in steps if each[0] == "PR"]
    return max((int(text.split("$")[1]) for text in texts if "$" in text), default=-1)


def autotvm(random: Random, *, version: float = 0.0) -> Case:
    """One AutoTVM record."""
    version = version or random.choice([0.1, 0.2])
    error = random.choice([0, 0, *ERRORS])
    costs = [1000000000.0] if error else [_seconds(random) for _ in range(random.randint(1, 3))]
    result = [costs, error, _seconds(random), random.randint(0, 2**31) + 0.25]
    args = [["TENSOR", [1, 3, random.choice([7, 224]), 224], "float32"], [1, 1], "NCHW", None]
    task = [random.choice(TARGETS), random.choice(["dense.x86", "conv2d_nchw.cuda"]), args, {}]
    entity = [["tile_x", "sp", [-1, 4]], ["reorder", "re", [1, 0]], ["unroll", "ot", True]]
    fields: dict[str, Any]
    if version == 0.1:
        config = {"i": 3, "t": "direct", "c": None, "e": entity}
        fields = {"i": [*task, ["conv2d", [1, 3]], config], "r": result, "v": version}
    else:
        config = {"index": 3, "code_hash": None, "entity": entity}
        fields = {"input": task, "config": config, "result": result, "version": version}
        fields |= {"tvm_version": "0.8.dev0"}
    names = list(fields)
    random.shuffle(names)
    line = to_json({name: fields[name] for name in names}).encode()
    return Case(line, task, [], costs, error, result[2], result[3], str(version))


def metaschedule(random: Random, workload: int) -> Case:
    """One tuning record of a MetaSchedule database; an error of -1 says that it failed."""
    failed = random.random() < 0.3
    costs = [1e10] if failed else [_seconds(random) for _ in range(random.randint(1, 3))]
    seconds = random.choice([costs, None]) if failed else costs
    block = random.choice(["GetBlock", "GetSBlock"])
    instructions = [
        [block, [], ["C", "main"], ["b0"]],
        ["GetLoops", ["b0"], [], ["l1", "l2"]],
        ["SamplePerfectTile", ["l1"], [2, 16], ["v3", "v4"]],
        ["EnterPostproc", [], [], []],
    ]
    decisions = [[2, [random.choice([2, 4]), 8]]]
    target = {"kind": "llvm", "keys": ["cpu"], "tag": "", "num-cores": 4, "host": {"kind": "llvm"}}
    shapes = [["TENSOR", "float32", [16, workload + 1]], ["TENSOR", "float32", []]]
    record = [workload, [[instructions, decisions], seconds, target, shapes]]
    line = to_json(record, ",", ":").encode()
    return Case(line, [workload], [], costs, -1 if failed else 0, 0.0, 0, "")


def _seconds(random: Random) -> float:
    return float(f"{random.choice([1e-6, 1e-4, 1e-2, 1.0]) * random.randint(1, 10**6) / 1e5:.6g}")


def to_json(value: Any, comma: str = ", ", colon: str = ": ") -> str:
    """JSON as TVM's writer spaces it; numbers as C++ prints them where they have 6 digits."""
    if isinstance(value, dict):
        inner = comma.join(
            f"{to_json(k)}{colon}{to_json(v, comma, colon)}" for k, v in value.items()
        )
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + comma.join(to_json(each, comma, colon) for each in value) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)
