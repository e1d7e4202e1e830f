"""Records made by hand, and scripts run against a stand-in for TVM."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from unit.tuning.printed_states import read_steps

from tvmdbg_widgets.export.rerun import Rerun, RerunOptions, rerun
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError, Record
from tvmdbg_widgets.model.tuning.parts import HardwareParams, Target, Task, Workload

STAND_IN = Path(__file__).parent / "stand_in_tvm"
CPU, GPU = (8, 64, 64, 0, 0, 0, 0, 0), (-1, 16, 64, 49152, 2**31 - 1, 1024, 8, 32)
KEY = '["work", 64, [1, 2], "float32"]'
WORK = """
from tvm import auto_scheduler

def helper(size):
    return [size]

@auto_scheduler.register_workload
def work(size, shape, dtype):
    return helper(size)

if __name__ == "__main__":
    raise SystemExit("this is no script")
"""


def schedule(*lengths: int, unroll: int = 0, stage: int = 1, bind: int = 3) -> list[list[Any]]:
    """Steps that split, annotate and unroll one stage."""
    found: list[list[Any]] = [["SP", stage, 0, 64, list(lengths), 1], ["AN", stage, 1, bind]]
    return [*found, ["PR", stage, 0, f"auto_unroll_max_step${unroll}"]]


def record(
    steps: list[list[Any]] | None = None,
    *,
    row: int = 0,
    key: str = KEY,
    target: str = "llvm -keys=cpu",
    hardware: tuple[int, ...] = CPU,
    cost: float | None = 1.5e-3,
    host: str = "",
    inputs: tuple[str, ...] = (),
    task: int = 0,
) -> Record:
    """One record with its line, as TVM writes it."""
    items = schedule(2, 4) if steps is None else steps
    error = 0 if cost is not None else 6
    told = [[1e10 if cost is None else cost], error, 0.5, 1_600_000_000]
    fields = [key, target, list(hardware), host, 0, list(inputs)]
    line = json.dumps({"i": [fields, [[], items]], "r": told, "v": "v0.6"}, ensure_ascii=False)
    try:
        workload = Workload.of(key, json.loads(key))
    except ValueError:
        workload = Workload.of(key, None)
    of = Task(
        *(task, "ansor", workload, Target.parse(target), HardwareParams(*hardware)),
        input_names=inputs,
        fields=6,
    )
    costs = () if cost is None else (cost,)
    return Record(
        *(row, of, line.encode(), costs, math.nan if cost is None else cost),
        *(MeasureError(error), 0.5, 1.6e9, "v0.6", read_steps(items), None, "log.json, line 1"),
    )


class Ran(NamedTuple):
    """What a script said, the calls it made, and the lines of its log."""

    status: int
    out: str
    error: str
    calls: list[list[Any]]
    log: list[dict[str, Any]]

    def of(self, name: str) -> list[list[Any]]:
        """Return the arguments of the calls of one function."""
        return [arguments for called, *arguments in self.calls if called == name]

    @property
    def errors(self) -> list[int]:
        return [line["r"][1] for line in self.log]

    @property
    def costs(self) -> list[float]:
        return [float(np.mean(line["r"][0])) for line in self.log]


def run(
    found: Rerun, folder: Path, *arguments: str, version: str = "0.19", **environment: str
) -> Ran:
    """Save a script and run it beside its records, against the stand-in."""
    path = found.save(folder / "rerun.py")
    calls, log = folder / "calls.jsonl", folder / "rerun.json"
    calls.write_text("")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    known = {"STAND_IN_TVM": version, "STAND_IN_CALLS": str(calls), "PYTHONPATH": str(STAND_IN)}
    done = subprocess.run(
        [sys.executable, str(path), *arguments],
        env={**kept, **known, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    made = map(json.loads, calls.read_text().splitlines())
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return Ran(done.returncode, done.stdout, done.stderr, [*made], [json.loads(e) for e in lines])


def script_of(*records: Record, folder: Path | None = None, **options: Any) -> Rerun:
    """Make a script; with a folder, one that registers the workload of these cases."""
    if folder is not None:
        module = folder / "workloads.py"
        module.write_text(WORK)
        options.setdefault("register", [module])
    return rerun(records, RerunOptions(**options))
