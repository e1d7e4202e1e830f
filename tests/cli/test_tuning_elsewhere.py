"""tvmdbg tuning reuse and compare: schedules on another machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.start import Run, refused

from tests.unit.tuning.ansor_lines import CPU, line, log_of

STAND_IN = Path(__file__).parents[1] / "unit/tuning/elsewhere/stand_in_tvm"
OLD = [line('["a", 1]', costs=[1e-3 * split], split=split) for split in (5, 1, 2, 3, 4)]
OLD += [line('["b", 1]', error=6, split=9), line('["b", 1]', costs=[7e-3])]
WORK = """
from tvm import auto_scheduler

@auto_scheduler.register_workload
def a(n):
    return [n]

@auto_scheduler.register_workload
def b(n):
    return [n]
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "ansor.json"
    path.write_bytes(log_of(OLD))
    (tmp_path / "work.py").write_text(WORK)
    return path


def rows_of(script: Path) -> list[int]:
    """Rows as the comments of the script name them."""
    notes = [each for each in script.read_text().splitlines() if each.startswith("    # ")]
    return [int(each.split("row ")[1].split(",")[0]) for each in notes if ": row " in each]


def test_reuse_script_runs_and_its_log_can_be_compared(
    tvmdbg: Run, log: Path, tmp_path: Path
) -> None:
    script = tmp_path / "again.py"
    done = tvmdbg(
        *("tuning", "reuse", log, "-o", script, "--rows", "0:6", "--target", "llvm -mcpu=znver3"),
        *("--register", tmp_path / "work.py", "--new-log", tmp_path / "there.json"),
        *("--hardware", "num_cores=4,warp_size=0", "--repeat", "2"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{script}\n"
    assert "warning: num_cores: 8 → 4" in done.stderr
    calls = {"STAND_IN_CALLS": os.devnull, "PYTHONPATH": str(STAND_IN)}
    ran = subprocess.run(
        [sys.executable, script], env={**os.environ, **calls}, check=False, capture_output=True
    )
    assert ran.returncode == 0, ran.stderr
    done = tvmdbg("tuning", "compare", log, tmp_path / "there.json")
    assert done.returncode == 0, done.stderr
    assert "6 schedules of 2 workloads in both logs, 5 of them valid in both" in done.stdout
    assert "failing in the old log and valid in the new one: 1" in done.stdout


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ([], [1, 6]),
        (["--best"], [1, 6]),
        (["--rows", "5,0:2"], [5, 0, 1]),
        (["--select", "cost<2.5ms"], [1, 2]),
    ],
)
def test_records_are_chosen(
    tvmdbg: Run, log: Path, tmp_path: Path, options: list[str], rows: list[int]
) -> None:
    done = tvmdbg("tuning", "reuse", log, "-o", tmp_path / "x.py", *options)
    assert done.returncode == 0, done.stderr
    assert rows_of(tmp_path / "x.py") == rows
    assert "warning: no module is given that registers a" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rows", "7"], "--rows 7: there are rows 0 to 6"),
        (["--rows", "0:999999999"], "--rows 0:999999999: there are rows 0 to 6"),
        (["--rows", "3:3"], "--rows 3:3"),
        (["--rows", "x"], "expected rows and ranges"),
        (["--rows", "1", "--best"], "--rows, --select and --best exclude each other"),
        (["--select", "cost<1ns"], "no trial fits"),
        (["--hardware", "num_cores"], "expected NAME=NUMBER"),
        (["--hardware", "cores=3"], "no hardware parameter 'cores'"),
        (["--timeout", "0"], "timeout is at least 1"),
        (["--register", "no such.py"], "neither a Python file here nor a module's name"),
        (["--target-host", "llvm"], "target_host needs target"),
    ],
)
def test_reuse_refuses_invalid_options(
    tvmdbg: Run, log: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    assert said in refused(tvmdbg("tuning", "reuse", log, "-o", tmp_path / "x.py", *options))
    assert not (tmp_path / "x.py").exists()


def test_a_log_is_never_overwritten(tvmdbg: Run, log: Path, tmp_path: Path) -> None:
    before = log.read_bytes()
    done = tvmdbg("tuning", "reuse", log, "-o", log)
    assert done.returncode == 2
    assert log.read_bytes() == before
    assert tvmdbg("tuning", "reuse", log, "-o", tmp_path / "x.json").returncode == 2


def test_compare_exit_status_reflects_regressions(tvmdbg: Run, log: Path, tmp_path: Path) -> None:
    def status(*lines: bytes, fail_on: str, margin: str = "5") -> tuple[int, str]:
        new = tmp_path / "new.json"
        new.write_bytes(log_of(lines))
        options = ("--fail-on", fail_on, "--margin", margin)
        done = tvmdbg("tuning", "compare", log, new, *options)
        return done.returncode, done.stderr

    same = line('["a", 1]', costs=[1e-3], split=1)
    slower = line('["a", 1]', costs=[1.2e-3], split=1)
    failing = line('["a", 1]', error=4, split=1)
    for fail_on in ("any", "slower", "failing"):
        assert status(same, fail_on=fail_on)[0] == 0
    assert status(slower, fail_on="slower") == (1, "slower: task 0, best 1.000 ms → 1.200 ms\n")
    assert status(slower, fail_on="slower", margin="25")[0] == 0
    assert status(slower, fail_on="failing")[0] == 0
    code, told = status(failing, fail_on="any")
    assert code == 1
    assert "slower: task 0, best 1.000 ms → none" in told
    assert "failing: 1 of the schedules that ran" in told
    assert status(failing, same, fail_on="failing")[0] == 0
    other = line('["c", 1]', CPU)
    assert status(other, fail_on="any") == (1, "the logs have no schedule in common\n")
    assert status(other, fail_on="slower")[0] == 0


def test_a_comparison_as_json(tvmdbg: Run, log: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.json"
    new.write_bytes(log_of([line('["a", 1]', costs=[s * 2e-3], split=s) for s in (1, 2, 3, 4)]))
    done = tvmdbg("tuning", "compare", log, new, "--json")
    body = json.loads(done.stdout)
    assert (body["old"], body["new"], body["schedules"]) == ("ansor.json", "new.json", 4)
    (task,) = body["tasks"]
    assert task["correlation"]["rho"] == 1
    assert task["correlation"]["pairs"] == 4
    assert task["ratio"] == pytest.approx(2)
    assert task["regret"] == pytest.approx(0)
    assert task["same_of_top"] == [2, 2]
    few = json.loads(tvmdbg("tuning", "compare", new, log, "--json").stdout)
    assert few["tasks"][0]["failing"] == {}
