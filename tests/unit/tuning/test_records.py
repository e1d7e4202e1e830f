"""Records of a log: one by one, as tables, merged, weighed and written again."""

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.make import tuning_cases as make
from tests.unit.tuning.ansor_lines import CPU, T4, line, log_of
from tvmdbg_widgets.answers.tuning import TuningAnswers
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

LINES = [
    line('["a", 1]', costs=[2e-3, 4e-3], stamp=1_600_000_000),
    line('["b", 1]', T4, error=6, stamp=1_600_000_060),
    line('["a", 1]', costs=[1e-3], split=4, stamp=1_600_003_600),
    line('["b", 1]', T4, costs=[5e-3], stamp=1_600_003_660),
    line('["c", 1]', error=4, stamp=1_600_003_661, version="v0.5"),
]


def opened(lines: list[bytes] = LINES) -> tvmdbg.TuningLog:
    return tvmdbg.open_tuning(log_of(lines), progress=False)


def test_a_record_is_read_by_row() -> None:
    log = opened()
    record = log.record(0)
    assert record.line == LINES[0]
    assert (record.costs, record.cost, record.error) == ((2e-3, 4e-3), 3e-3, MeasureError.NO_ERROR)
    assert log[-1].line == LINES[-1]
    assert math.isnan(log[-1].cost)
    assert log[1].error is MeasureError.BUILD_TIMEOUT
    assert [each.row for each in log] == [0, 1, 2, 3, 4]
    assert repr(log[0]).startswith("Record 0: task 0 (a 1), 3.000 ms, 1 step; ")
    assert "BuildTimeoutError" in repr(log[1])
    assert log.schedule(np.int64(2)).record == log[2] == log[np.int64(2)]
    for row in (5, -6):
        with pytest.raises(IndexError, match="5 records"):
            log.record(row)


def test_slice_of_a_log_is_a_log() -> None:
    log = opened()[3:0:-1]
    assert [each.line for each in log] == LINES[3:0:-1]
    assert [(task.index, task.workload.name) for task in log.tasks] == [(0, "b"), (1, "a")]
    assert log.trials.task.tolist() == [0, 1, 0]
    assert len(opened()[:0]) == 0
    assert "3 of 5 records" in repr(log)


def test_best_is_the_first_record_with_lowest_mean() -> None:
    log = opened([*LINES, line('["a", 1]', costs=[5e-4, 1.5e-3])])
    assert [each.row for each in log.best()] == [2, 3]
    assert log.best(0) == log.best(log.tasks[0]) == log.best('["a", 1]') == log.best("a") == log[2]
    assert log.best(-1) is None
    assert log.best(np.int64(1)) == log[3]


@pytest.mark.parametrize(
    ("task", "error", "told"),
    [
        (3, IndexError, r"no task 3; the log has 3 tasks: 0 \(a 1\), 1 \(b 1\), 2 \(c 1\)"),
        ('["a", 2]', KeyError, "no task is called"),
        (1.5, TypeError, "an index, a Task or a workload key, not float"),
    ],
)
def test_unknown_task_is_refused_with_explanation(
    task: object, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        opened().best(task)  # type: ignore[call-overload]


def test_ambiguous_key_and_foreign_task_are_refused() -> None:
    log = opened([line(target=CPU), line(target=T4)])
    with pytest.raises(KeyError, match=r"2 tasks are called .* give the index of one: 0 on llvm"):
        log.best('["work", 1]')
    with pytest.raises(KeyError, match="is not of this log"):
        log.best(opened().tasks[0])


def test_the_frame_has_seconds_and_names() -> None:
    pytest.importorskip("pandas")
    frame = opened().to_dataframe()
    assert (frame.index.name, frame["task"].tolist()) == ("row", [0, 1, 0, 1, 2])
    assert frame["name"].tolist() == ["a 1", "b 1", "a 1", "b 1", "c 1"]
    assert frame["trial"].tolist() == [0, 0, 1, 1, 0]
    assert frame["cost_s"].fillna(0).tolist() == [3e-3, 0, 1e-3, 5e-3, 0]
    assert frame["min_cost_s"].fillna(0).tolist() == [2e-3, 0, 1e-3, 5e-3, 0]
    assert frame["max_cost_s"].fillna(0).tolist() == [4e-3, 0, 1e-3, 5e-3, 0]
    assert frame["repeats"].fillna(0).tolist() == [2, 0, 1, 1, 0]
    assert frame["best_s"].fillna(0).tolist() == [3e-3, 0, 1e-3, 5e-3, 0]
    assert frame["error"].tolist() == [0, 6, 0, 0, 4]
    assert frame["error_name"].tolist()[1] == "BuildTimeoutError"
    assert frame["timestamp_s"].tolist()[1] == 1_600_000_060
    assert frame["elapsed_s"].tolist()[:2] == [0, 60]
    assert frame["version"].tolist() == ["v0.6"] * 4 + ["v0.5"]
    assert frame["line"].tolist() == [1, 2, 3, 4, 5]
    assert (frame["all_cost_s"] == 2.5).all()
    assert opened().select("is:failed").to_dataframe().index.tolist() == [1, 4]
    assert [each.row for each in opened().select("is:failed").records] == [1, 4]


def test_logs_merge_and_nothing_is_lost(tmp_path: Path) -> None:
    more = [line('["d", 1]'), LINES[0]]
    merged = opened().merge(opened(more), opened([line('["b", 1]', T4)]))
    assert [each.line for each in merged] == [*LINES, *more, line('["b", 1]', T4)]
    assert [task.workload.name for task in merged.tasks] == ["a", "b", "c", "d"]
    assert list(merged.select("is:repeated")) == [3, 6, 7]  # 3 repeats what timed out
    assert merged.write(tmp_path / "all.json").read_bytes() == log_of(
        [*LINES, *more, line('["b", 1]', T4)]
    )


def test_a_written_log_has_the_bytes_of_its_records(tmp_path: Path) -> None:
    odd = b'{"v":"v0.6",  "r": [[1e-3],0,2,3],"i":[["[\\"a\\"]","llvm -keys=cpu"],[[],[]]]}'
    source = tmp_path / "in.json"
    source.write_bytes(b"# a comment\n\n" + log_of([*LINES, odd]) + b'{"i": [["cut')
    log = tvmdbg.open_tuning(source, progress=False)
    path = log.write(tmp_path / "out.json")
    assert (path, path.read_bytes()) == (tmp_path / "out.json", log_of([*LINES, odd]))
    log.write(path, log.select("is:failed"))
    assert path.read_bytes() == log_of([LINES[1], LINES[4]])
    log.write(path, [-1, 0])
    assert path.read_bytes() == log_of([odd, LINES[0]])
    with pytest.raises(IndexError, match="row 99: the log has 6 records, numbered from 0"):
        log.write(path, [99])
    assert path.read_bytes() == log_of([odd, LINES[0]])
    assert "the last line ends too early" in repr(log)


def test_records_of_several_tuners_are_not_written_to_one_file(tmp_path: Path) -> None:
    autotvm = make.autotvm(Random(2)).line
    log = opened().merge(tvmdbg.open_tuning(log_of([autotvm]), progress=False))
    assert "several tuners" in repr(log)
    with pytest.raises(ValueError, match=r"several tuners \(Ansor, AutoTVM\).*select\(.tuner:"):
        log.write(tmp_path / "all.json")
    assert not (tmp_path / "all.json").exists()
    log.write(tmp_path / "autotvm.json", log.select("tuner:autotvm"))
    assert (tmp_path / "autotvm.json").read_bytes() == autotvm + b"\n"


def test_merged_databases_cannot_be_written_to_one_file(corpus: Path, tmp_path: Path) -> None:
    one, other = (
        tvmdbg.open_tuning(corpus / "tuning" / name, progress=False)
        for name in ("ms_tvm_0.25_handmade", "ms_web_llm")
    )
    with pytest.raises(ValueError, match="2 databases of MetaSchedule"):
        one.merge(other).write(tmp_path / "all.json")
    source = corpus / "tuning/ms_tvm_0.25_handmade/database_tuning_record.json"
    assert one.write(tmp_path / "all.json").read_bytes() == source.read_bytes()


@pytest.mark.parametrize(
    "weights", [[3, 2, 0], {'["a", 1]': 3, '["b", 1]': 2, '["c", 1]': 0}, {0: 3, 1: 2, -1: 0}]
)
def test_weights_are_a_list_or_by_task(weights: list[float]) -> None:
    log = opened().weighted(weights)
    assert (log.weights, log[3:].weights, log.distill().weights) == ((3, 2, 0), (2, 0), (3, 2))
    assert opened().weights is None
    assert opened().weighted({1: 5}).weights == (1, 5, 1)
    with pytest.raises(KeyError, match="no task of the log has the key 'b'"):
        opened().weighted({"b": 1})


@pytest.mark.parametrize(
    "wrong",
    [
        *([1, 2], [1, 2, -3], [1, 2, math.nan], ["1", "2", "3"], [[1], [2], [3]]),
        *(5, [10**400, 1, 1], "123"),
    ],
)
def test_invalid_weights_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="weight"):
        opened().weighted(wrong)


def test_log_repr_shows_tables_printed_by_tvm() -> None:
    table = (
        b"|  ID  | Latency (ms) | Speed (GFLOPS) | Trials |\n"
        b"|    0 |        0.005 |           0.88 |     64 |\n"
        b"Estimated total latency: - ms\tTrials: 64\tUsed time : 73 s\tNext ID: 1\t\n"
    )
    curve = b"ElapsedTime(s)\t9\tEstimatedLatency(ms)\t3.250\tTrials\t64\n"
    told = repr(tvmdbg.open_tuning([log_of(LINES), table, curve], progress=False)).splitlines()
    assert "  printed by TVM: 1 task, total latency unknown after 64 trials and 73 s" in told
    assert "  total_latency.tsv: 1 round, total latency 3.250 ms after 64 trials" in told


def test_log_repr_summarizes_records() -> None:
    lines = [*LINES, b'{"i": 1, "r": 2, "v": "v0.6"}']
    told = repr(opened(lines)).splitlines()
    assert told[1:5] == [
        "  Ansor v0.5 v0.6",
        "  3 tasks, 5 trials, 2 failed (40.0 %)",
        "  61.0 min from 2020-09-13 12:26 to 2020-09-13 13:27 UTC",
        told[4],
    ]
    assert told[4].startswith("  1 line skipped: line 6, ")
    assert "  0 lines skipped" in repr(opened()).splitlines()
    told = repr(opened([LINES[0].replace(b'"v0.6"', b'"\\u001b[31m"')]))
    assert told.replace("\n", "").isprintable()


@pytest.mark.parametrize("rows", [[True, False], np.array([1, 0], bool), [0.0, 1.5]])
def test_masks_and_fractions_are_no_rows(tmp_path: Path, rows: Any) -> None:
    log = opened()
    for ask in (lambda: log.write(tmp_path / "a", rows), lambda: log.errors_by("task", rows)):
        with pytest.raises(TypeError, match=r"integers.*np.flatnonzero\(mask\)"):
            ask()
    assert not (tmp_path / "a").exists()
    with pytest.raises(TypeError, match="by its row"):
        log.record(np.True_)


def test_a_log_whose_lines_changed_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "ansor.json"
    path.write_bytes(log_of(LINES))
    log = tvmdbg.open_tuning(path, progress=False)
    path.write_bytes(log_of([b" " * len(each) for each in LINES] + LINES))
    with pytest.raises(tvmdbg.FormatError, match=r"changed|not the record"):
        log.compare(opened(), progress=False)


@pytest.mark.parametrize(
    ("costs", "error", "all_cost"),
    [([0.0] * 3, 0, 0.0), ([5e-324], 0, 1.7e308), ([1.7e308], 0, 1.0), ([1e10], 6, 1.7e308)],
)
def test_numbers_at_the_limits_answer_every_question(
    costs: list[float], error: int, all_cost: float
) -> None:
    lines = []
    for split in range(1, 31):
        record = json.loads(line(split=split // 2 + 1))
        record["r"][:3] = costs, error, all_cost
        lines.append(json.dumps(record).encode())
    log = opened(lines)
    for answer in (log, log.findings(), log.task_table(), log.curve(), log.errors_by("round")):
        assert repr(answer)
    assert TuningAnswers(log.facts).overview
    assert len(log.select("spread>1%")) == 0
    repr(log.compare(log, progress=False))
