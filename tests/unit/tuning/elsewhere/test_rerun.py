"""The script that measures schedules again, run against a stand-in for TVM 0.8 and 0.19."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from unit.tuning.elsewhere.rerun_cases import (
    GPU,
    KEY,
    STAND_IN,
    WORK,
    record,
    run,
    schedule,
    script_of,
)

TILES = ((2, 4), (4, 4), (8, 2), (1, 16), (32, 2))
RECORDS = [record(schedule(*each), row=3 * row) for row, each in enumerate(TILES)]


def cost_of(steps: list[list[object]]) -> float:
    """What the stand-in says a schedule costs, as it is written to a log."""
    digest = hashlib.md5(json.dumps(steps).encode(), usedforsecurity=False).digest()
    return float(f"{1e-3 * (1 + digest[0] / 256):.6g}")


@pytest.mark.parametrize("version", ["0.8", "0.19"])
def test_every_record_is_measured_and_saved(version: str, tmp_path: Path) -> None:
    found = script_of(*RECORDS, folder=tmp_path, n_parallel=2, repeat=2, timeout=7)
    ran = run(found, tmp_path, version=version)
    assert (ran.status, ran.errors) == (0, [0] * 5), ran.error
    steps = [line["i"][1][1] for line in ran.log]
    assert steps == [schedule(*each) for each in TILES]
    assert [line["i"][0][:2] for line in ran.log] == [[KEY, "llvm -keys=cpu"]] * 5
    assert ran.costs == pytest.approx([cost_of(each) for each in steps])
    assert ran.of("local_builder_build") == [[size, 60, 2, "default", 1] for size in (2, 2, 1)]
    device = [] if version == "0.8" else [0]
    # One run more a call: each call starts a process, whose first run is slow.
    assert ran.of("local_run") == [
        [size, 7, 3, 2, 100, 0.0, False, 1, *device] for size in (3, 3, 2)
    ]
    assert "[5/5]" in ran.out
    assert "5 of 5 measured" in ran.out


def test_slow_first_measurement_is_kept_on_request(tmp_path: Path) -> None:
    ran = run(script_of(*RECORDS, folder=tmp_path, discard_first=False, n_parallel=5), tmp_path)
    assert [arguments[0] for arguments in ran.of("local_run")] == [5]
    expected = [cost_of(schedule(*each)) for each in TILES]
    assert ran.costs == pytest.approx([5 * expected[0], *expected[1:]], rel=1e-5)


def test_failing_schedules_do_not_stop_the_rest(tmp_path: Path) -> None:
    bad = [schedule(2, 4, unroll=unroll) for unroll in (1024, 512, 64)]
    bad.append(schedule(2, 4, stage=77))
    good = schedule(4, 4)
    records = [record(each, row=row) for row, each in enumerate([*bad, good])]
    ran = run(script_of(*records, folder=tmp_path, n_parallel=5), tmp_path)
    assert (ran.status, ran.errors) == (1, [6, 2, 7, 1, 0]), ran.error
    assert ran.costs == pytest.approx([1e10] * 4 + [cost_of(good)])
    assert "BuildTimeoutError (was 1.5 ms)" in ran.out
    assert "'RuntimeError: Did you forget to bind?'" in ran.out
    assert "1 of 5 measured" in ran.out


def test_failing_record_does_not_fail_its_batch(tmp_path: Path) -> None:
    sparse = record(schedule(8, 8), row=1, inputs=("W_data",), task=1)
    found = script_of(RECORDS[0], sparse, RECORDS[1], folder=tmp_path, n_parallel=3)
    ran = run(found, tmp_path)
    assert (ran.status, ran.errors) == (1, [0, 8, 0]), ran.error
    assert any("register_task_input_buffer" in each for each in found.warnings)


def test_a_record_that_tvm_refuses_is_left_out(tmp_path: Path) -> None:
    line = RECORDS[0].line.replace(b'"SP"', b'"XX"')
    broken = type(RECORDS[0])(**{**vars(RECORDS[0]), "line": line})
    ran = run(script_of(broken, RECORDS[1], folder=tmp_path), tmp_path)
    assert (ran.status, ran.errors) == (1, [0])
    assert (
        "[1/2] cannot be loaded: InternalError: Check failed: invalid transform step" in ran.error
    )


def test_workloads_that_are_not_registered_are_listed(tmp_path: Path) -> None:
    other = record(row=1, key='["other", "\\u2028\\"\'"]')
    model = record(row=2, key='["0123456789abcdef0123456789abcdef", [64, 64]]')
    ran = run(script_of(other, RECORDS[0], model, folder=tmp_path), tmp_path)
    assert (ran.status, ran.errors) == (1, [0])
    assert ascii(other.task.workload_key) in ran.error
    assert model.task.workload_key in ran.error
    assert "extract_tasks" in ran.error
    none = tmp_path / "none"
    none.mkdir()
    ran = run(script_of(*RECORDS), none)
    assert (ran.status, ran.log) == (2, [])
    assert "error: nothing could be measured" in ran.error


def test_functions_are_pickled_by_value_and_modules_by_name(tmp_path: Path) -> None:
    copied = run(script_of(RECORDS[0], folder=tmp_path), tmp_path)
    assert copied.of("serialized") == [["work", "value"]]
    (tmp_path / "there").mkdir()
    module = tmp_path / "there/my_workloads.py"
    module.write_text(WORK + "import os\nassert os.environ['MARK'] == 'yes'\n")
    for how in ("name", "option", "path"):
        folder = tmp_path / how
        folder.mkdir()
        name = str(module) if how == "path" else "my_workloads"
        register = [] if how != "name" else [name]
        arguments = [] if how == "name" else ["--register", name]
        where = os.pathsep.join([str(STAND_IN), *([str(module.parent)] if how != "path" else [])])
        found = script_of(RECORDS[0], register=register)
        ran = run(found, folder, *arguments, PYTHONPATH=where, MARK="yes")
        assert ran.status == 0, ran.error
        assert ran.of("serialized") == [["work", "value" if how == "path" else "name"]]


def test_failing_module_is_reported_with_traceback(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n")
    ran = run(script_of(RECORDS[0], register=[tmp_path / "broken.py"]), tmp_path)
    assert ran.status == 2
    assert 'File "broken.py", line 1' in ran.error
    assert "error: No module named 'nothing_of_this_name'" in ran.error


def test_another_target_brings_its_hardware_parameters(tmp_path: Path) -> None:
    gpu = record(schedule(1024, 2, bind=6), target="cuda -keys=cuda,gpu", hardware=GPU)
    options = {"target": "cuda -arch=sm_50", "hardware": {"warp_size": 16}}
    found = script_of(gpu, folder=tmp_path, target_host="llvm", **options)
    ran = run(found, tmp_path, STAND_IN_GPU="1")
    task = ran.log[0]["i"][0]
    assert task[1:4] == ["cuda -arch=sm_50", [-1, 16, 64, 49152, 2**31 - 1, 512, 8, 16], "llvm"]
    assert "max_threads_per_block: 1024 in the log, 512 here" in ran.error
    assert "[1] 'C': 1024 threads a block of at most 512" in ran.error
    (tmp_path / "rerun.json").unlink()
    ran = run(found, tmp_path)
    assert ran.log[0]["i"][0][2] == [*GPU[:7], 16]
    assert "those of the log are kept (--hardware sets them): Check failed: Cannot" in ran.error


def test_unknown_target_fails_with_clear_message(tmp_path: Path) -> None:
    ran = run(script_of(RECORDS[0], folder=tmp_path), tmp_path, "--target", "quantum")
    assert ran.status == 2
    assert 'cannot be loaded: ValueError: Target kind "quantum" is not defined' in ran.error


def test_targets_of_older_releases_are_read(tmp_path: Path) -> None:
    old = record(target="llvm -keys=cpu -link-params=0")
    for version, target in (("0.8", old.task.target.text), ("0.19", "llvm -keys=cpu")):
        folder = tmp_path / version
        folder.mkdir()
        ran = run(script_of(old, folder=folder), folder, version=version)
        assert (ran.status, ran.log[0]["i"][0][1]) == (0, target), ran.error


@pytest.mark.parametrize("version", ["0.8", "0.19"])
def test_rpc_tracker_device_runs_the_records(version: str, tmp_path: Path) -> None:
    found = script_of(*RECORDS[:2], folder=tmp_path, rpc=("pi", "10.0.0.1", 9190), n_parallel=4)
    ran = run(found, tmp_path, version=version)
    assert (ran.status, ran.errors) == (0, [0, 0]), ran.error
    assert ran.of("check_remote") == [["pi", "10.0.0.1", 9190, 1, 30]]
    how = ["pi", "10.0.0.1", 9190, 1, 1, 30, 3, 3, 100, 0.0, False, 1]
    assert ran.of("rpc_runner_run") == [[3, *how]]
    assert ran.of("device") == ([] if version == "0.8" else [[0]])
    assert not ran.of("local_run")
    ran = run(found, tmp_path, "--append", STAND_IN_NO_DEVICE="1")
    assert ran.status == 2
    assert "error: the tracker 10.0.0.1:9190 has no free 'pi'" in ran.error


def test_device_number_requires_tvm_with_device_support(tmp_path: Path) -> None:
    ran = run(script_of(RECORDS[0], folder=tmp_path, device=1), tmp_path, version="0.8")
    assert ran.status == 2
    assert "leave out --device" in ran.error
    ran = run(script_of(RECORDS[0], folder=tmp_path, device=1), tmp_path)
    assert ran.of("local_run")[0][-1] == 1


def test_sources_are_saved(tmp_path: Path) -> None:
    gpu = record(schedule(4, 2), target="cuda -keys=cuda,gpu", hardware=GPU, row=1)
    uninlinable = record([["CI", 2]], row=2)
    found = script_of(RECORDS[0], gpu, uninlinable, folder=tmp_path, emit_source="kernels")
    ran = run(found, tmp_path)
    saved = {path.name: path.read_text() for path in (tmp_path / "kernels").iterdir()}
    assert saved == {
        "0001.tir.txt": "primfn of schedule of 3 steps",
        "0001.llvm.txt": "; ModuleID",
        "0002.tir.txt": "primfn of schedule of 3 steps",
        "0002.cuda.txt": "__global__ void kernel() {}",
    }
    assert "[3] source not saved: cannot inline" in ran.error


def test_options_are_defaults_that_the_script_can_change(tmp_path: Path) -> None:
    found = script_of(RECORDS[0], folder=tmp_path, cpu_cache_flush=True)
    changed = ("--build-timeout", "90", "--repeat", "5", "--n-parallel", "0")
    ran = run(found, tmp_path, *changed, "--hardware", "num_cores=2")
    assert ran.of("local_builder_build")[0][1] == 90
    assert ran.of("local_run")[0][1:7] == [30, 1, 5, 0, 0.0, True]  # number, min_repeat_ms
    assert ran.log[0]["i"][0][2][0] == 2
    for wrong in ("cores=2", "num_cores=two", "num_cores"):
        ran = run(found, tmp_path, "--append", "--hardware", wrong)
        assert ran.status == 2
        assert "expected NAME=NUMBER" in ran.error


def test_a_log_that_exists_is_not_touched_unless_asked(tmp_path: Path) -> None:
    found = script_of(RECORDS[0], folder=tmp_path)
    assert run(found, tmp_path).status == 0
    again = run(found, tmp_path)
    assert (again.status, len(again.log)) == (2, 1)
    assert "--append" in again.error
    assert len(run(found, tmp_path, "--append").log) == 2


def test_missing_tvm_error_names_needed_versions(tmp_path: Path) -> None:
    path = script_of(RECORDS[0]).save(tmp_path / "rerun.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", path],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: this needs TVM 0.8 to 0.19")


def test_many_records_are_written_beside_script(tmp_path: Path) -> None:
    count = 1200
    records = [record(schedule(2, 1 + row), row=row) for row in range(count)]
    found = script_of(*records, folder=tmp_path, n_parallel=500)
    assert found.records.splitlines() == [each.line.decode() for each in records]
    assert len(found.script) < 20_000
    ran = run(found, tmp_path)
    assert (ran.status, len(ran.log)) == (0, count)
    assert [line["i"][1][1] for line in ran.log] == [
        json.loads(each.line)["i"][1][1] for each in records
    ]
    (tmp_path / "rerun.records.json").rename(tmp_path / "elsewhere.json")
    done = subprocess.run(
        [sys.executable, tmp_path / "rerun.py", "--output", "new.json"],
        env={**os.environ, "PYTHONPATH": str(STAND_IN), "STAND_IN_CALLS": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "rerun.records.json" in done.stderr.splitlines()[-1]
