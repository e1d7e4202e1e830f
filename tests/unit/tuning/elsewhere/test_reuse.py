"""From a log to the script, and back from its log to a comparison."""

from pathlib import Path
from random import Random

import pytest
from unit.tuning.elsewhere.rerun_cases import WORK, record, run, schedule

from tests.make import tuning_cases as make
from tvmdbg_widgets.tuning import TuningLog, open_tuning

KEY = '["work", 64, [1, 2], "float32"]'
OTHER = '["work", 32, [1, 2], "float32"]'


def log_in(folder: Path, **how: object) -> TuningLog:
    """A log of two workloads, with one trial that failed."""
    costs = (3e-3, 1e-3, None, 2e-3, 5e-3, 4e-3)
    records = [
        record(schedule(2, 1 + row), key=OTHER if row > 3 else KEY, cost=cost)
        for row, cost in enumerate(costs)
    ]
    path = folder / "ansor.json"
    path.write_bytes(b"\n".join(each.line for each in records) + b"\n")
    (folder / "work.py").write_text(WORK)
    return open_tuning(path, **how)  # type: ignore[arg-type]


def test_reuse_takes_best_of_every_task_by_default(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    assert (log.reuse().rows, log.reuse(log.select("cost<4.5ms")).rows) == ((1, 5), (0, 1, 3, 5))
    assert (log.reuse(log.best()).rows, log.reuse([-1, log.record(0)]).rows) == ((1, 5), (5, 0))
    with pytest.raises(IndexError):
        log.reuse([6])
    with pytest.raises(
        TypeError, match=r"reuse\(\) has no argument 'numbr'; did you mean 'number'"
    ):
        log.reuse(numbr=3)
    with pytest.raises(ValueError, match="there is no record to measure"):
        log.reuse([])
    with pytest.raises(TypeError, match="speed"):
        log.reuse(speed=3)


def test_sources_the_log_was_opened_with_are_copied(tmp_path: Path) -> None:
    assert not log_in(tmp_path, register=tmp_path / "work.py").reuse().warnings
    assert "no module is given that registers work" in log_in(tmp_path).reuse().warnings[-1]
    assert not log_in(tmp_path).reuse(register=tmp_path / "work.py").warnings


def test_rerun_log_is_compared_with_original(tmp_path: Path) -> None:
    log = log_in(tmp_path, register=tmp_path / "work.py")
    found = log.reuse(range(len(log)), target="llvm -mcpu=znver3", hardware={"num_cores": 2})
    ran = run(found, tmp_path)
    assert ran.status == 0, ran.error
    there = open_tuning(tmp_path / "rerun.json")
    assert [each.target.text for each in there.tasks] == ["llvm -mcpu=znver3"] * 2
    assert {each.hardware.num_cores for each in there.tasks if each.hardware} == {2}
    compared = log.compare(there)
    assert [len(each.pairs) for each in compared.tasks] == [4, 2]
    assert compared.pairs.new_cost.tolist() == pytest.approx(ran.costs)
    assert sum(each.rescued for each in compared.tasks) == 1
    assert not compared.failing


def test_a_log_of_another_tuner_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "autotvm.log"
    path.write_bytes(make.autotvm(Random(1)).line + b"\n")
    with pytest.raises(ValueError, match=r"autotvm.log, line 1 is no record of"):
        open_tuning(path).reuse([0])
