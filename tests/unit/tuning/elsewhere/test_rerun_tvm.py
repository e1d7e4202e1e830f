"""The script against a real TVM 0.8 to 0.19, where one is: states of its own sketch policy."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from unit.tuning.elsewhere.rerun_cases import record
from unit.tuning.printed_states import cases

from tvmdbg_widgets.export.rerun import RerunOptions, rerun
from tvmdbg_widgets.model.tuning.measure_errors import Record

#: PyPI has no such TVM for the Python these tests run in; another one may have it.
PYTHON = os.environ.get("TVMDBG_TVM_PYTHON", sys.executable)
TARGET = f"llvm -mtriple={platform.machine()}-linux-gnu"
WORKLOADS = """
from tvm import auto_scheduler, te

def product(rows, columns, inner):
    a = te.placeholder((rows, inner), name="A")
    b = te.placeholder((inner, columns), name="B")
    k = te.reduce_axis((0, inner), name="k")
    return a, b, te.compute((rows, columns), lambda i, j: te.sum(a[i, k] * b[k, j], [k]), name="C")

@auto_scheduler.register_workload
def matmul_auto_scheduler_test(N, M, K):
    return [*product(N, M, K)]

@auto_scheduler.register_workload
def matmul_add(N, L, M, dtype):
    a, b, product_of = product(N, M, L)
    c = te.placeholder((N, M), name="D")
    return [a, b, c, te.compute((N, M), lambda i, j: product_of[i, j] + c[i, j], name="out")]
"""
MATMUL, MATMUL_ADD = (
    '["matmul_auto_scheduler_test", 64, 48, 96]',
    '["matmul_add", 64, 96, 48, "float32"]',
)


def has_tvm() -> bool:
    code = "from tvm import auto_scheduler"
    return not subprocess.run([PYTHON, "-c", code], capture_output=True, check=False).returncode


pytestmark = pytest.mark.skipif(
    not has_tvm(), reason="set TVMDBG_TVM_PYTHON to a Python that has TVM 0.8 to 0.19"
)


def policy_records(key: str, kind: str) -> list[Record]:
    """Records of states that TVM's sketch policy made, by workload key and kind of target."""
    found: list[Record] = []
    for case in cases("policy"):
        if case["workload"] == key and f" {kind} " in case["case"]:
            steps = json.loads(case["record"])["i"][1][1]
            found.append(record(steps, row=len(found), key=key, target=TARGET))
    return found


def run(found: Any, folder: Path, *arguments: str) -> tuple[Any, list[Any]]:
    path, log = found.save(folder / "rerun.py"), folder / "rerun.json"
    done = subprocess.run(
        [PYTHON, path, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done, [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_states_of_the_sketch_policy_are_measured(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORKLOADS)
    records = policy_records(MATMUL, "llvm") + policy_records(MATMUL_ADD, "llvm")
    assert len(records) > 4
    options = RerunOptions(
        register=[tmp_path / "work.py"], repeat=2, min_repeat_ms=5, emit_source="code"
    )
    done, log = run(rerun(records, options), tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line["i"][1] for line in log] == [json.loads(each.line)["i"][1] for each in records]
    assert all(len(line["r"][0]) == 2 and 0 < line["r"][0][0] < 1 for line in log)
    names = sorted(path.name for path in (tmp_path / "code").iterdir())
    assert (names[:2], len(names)) == (["0001.llvm.txt", "0001.tir.txt"], 2 * len(records))


def test_schedules_refused_by_tvm_do_not_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORKLOADS)
    good = [json.loads(each.line)["i"][1][1] for each in policy_records(MATMUL, "llvm")]
    bound = [json.loads(each.line)["i"][1][1] for each in policy_records(MATMUL_ADD, "cuda")]
    records = [
        record(steps, row=row, key=key)
        for row, (key, steps) in enumerate(
            [
                *((MATMUL, good[0]), (MATMUL, [["SP", 77, 0, 64, [2, 2], 1]])),
                *((MATMUL, [["AN", 2, 0, 6]]), (MATMUL_ADD, bound[0]), (MATMUL, good[1])),
            ]
        )
    ]
    options = RerunOptions(register=[tmp_path / "work.py"], min_repeat_ms=5, target=TARGET)
    found = rerun(records, options)
    assert "loops are bound to GPU threads, so llvm cannot build" in found.warnings[0]
    done, log = run(found, tmp_path)
    errors = [line["r"][1] for line in log]
    assert (errors[0], errors[1], errors[4]) == (0, 1, 0), done.stderr
    assert all(each in (1, 2, 4) for each in errors[2:4]), done.stdout
    assert done.returncode == 1


def test_keys_of_a_model_must_be_registered(tmp_path: Path) -> None:
    key = '["0123456789abcdef0123456789abcdef", [64, 64], [64, 64]]'
    done, log = run(rerun([record(key=key)]), tmp_path)
    assert (done.returncode, log) == (2, [])
    assert key in done.stderr
