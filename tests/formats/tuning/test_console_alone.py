"""The output of a tuning without its log: what it tells, and what is missing."""

from __future__ import annotations

import pytest

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.tuning import TuningLog

_LINE = "-" * 108 + "\n"
META = (
    " ID |          Name |   FLOP | Weight | Speed (GFLOPS) | Latency (us) "
    "| Weighted Latency (us) | Trials | {last}\n"
    + _LINE
    + "  0 |   fused_dense | 4194304 |      2 "
    "|         1.0500 |    1000.5000 |             2001.0000 |     64 |{end}\n"
    " 11 | fused_conv2d7 | 1048576 |      1 |            N/A |          N/A "
    "|                   N/A |      0 |{end}\n"
    + _LINE
    + "Total trials: 64\nTotal latency (us): 2001\n"
)
NAME = "vm_mod_fused_nn_contrib_conv2d_NCHWc_add_sigmoid_multiply"
ANSOR = f"""\
|  ID  |                 Task Description | Latency (ms) | Speed (GFLOPS) | Trials |
--------------------------------------------------------------------------------
|    0 |  {NAME}_17 |        0.005 |           0.88 |     64 |
|    1 |  {NAME}_25 |            - |              - |      0 |
--------------------------------------------------------------------------------
Estimated total latency: - ms\tTrials: 64\tUsed time : 12 s\tNext ID: 1\t
"""
BAR = "[Task  {0}/12]  Current/Best:   10.00/{1:7.2f} GFLOPS | Progress: ({2}/20) | {3:.2f} s"
AUTOTVM = (
    "Tuning...\n"
    + BAR.format(1, 20.5, 4, 3.2)
    + "\r"
    + BAR.format(1, 22.5, 20, 13.2)
    + " Done.\n"
    + BAR.format(2, 0, 20, 9)
    + " Done.\n"
)
MEASURED = (
    "DEBUG:autotvm:No: 1\tGFLOPS: 0.00/0.00\tresult: MeasureResult(costs=(InstantiationError("
    "'Skipped because of invalid gpu kernel'),), error_no=1, all_cost=0.05, "
    "timestamp=1600000000.5)\t[('tile_f', [-1, 2])],None,12\n"
)


def opened(text: str) -> TuningLog:
    log = tvmdbg.open(text.encode())
    assert isinstance(log, TuningLog)
    assert len(log) == 0
    return log


@pytest.mark.parametrize(("last", "end"), [("Terminated ", "            "), ("Done", "")])
def test_metaschedule_table_is_read(last: str, end: str) -> None:
    log = opened(META.format(last=last, end=end))
    first, second = log.console.rows
    assert (first.id, first.description, first.trials) == (0, "fused_dense", 64)
    assert (first.latency_ms, first.gflops) == (1.0005, 1.05)
    assert (first.flop, first.weight) == (4194304, 2)
    assert (second.id, second.latency_ms, second.gflops, second.trials) == (11, None, None, 0)
    assert (log.console.trials, log.console.total_ms) == (64, None)
    assert [each.name for each in log.tasks] == ["fused_dense", "fused_conv2d7"]
    assert "MetaSchedule" in repr(log)
    assert "task 11: fused_conv2d7, no latency, 0 trials" in repr(log)


def test_ansor_table_gives_tasks_distinct_names() -> None:
    log = opened(ANSOR)
    assert [each.workload.name for each in log.tasks] == [f"{NAME}_17", f"{NAME}_25"]
    assert len({each.name for each in log.tasks}) == 2
    assert f"task 0: {NAME}_17, 5.000 µs, 0.88 GFLOPS, 64 trials" in repr(log)
    assert "are missing" in repr(log)


def test_autotvm_progress_bars_are_read() -> None:
    log = opened(AUTOTVM)
    assert log.console.tuner == "autotvm"
    told = [(each.id, each.gflops, each.trials) for each in log.console.rows]
    assert told == [(0, 22.5, 20), (1, None, 20)]
    assert (log.console.trials, log.console.used_s) == (40, 22.2)


def test_autotvm_measurement_error_is_read() -> None:
    (told,) = opened(MEASURED).parts.messages
    assert (told.number, told.error) == (1, 1)
    assert "Skipped because of invalid gpu kernel" in told.message


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Get 4 programs to measure:\n....\n**E*T*\n", {".": 4, "*": 2, "*E": 1, "*T": 1}),
        ("Get 3 programs to measure:\n...\n*E*E*E==========\nNo: 1", {".": 3, "*E": 3}),
        ("........*T*T*T*T*T*T*T*T\n======\n", {".": 8, "*T": 8}),
        ("..T......E.\n*******\n", {".": 7, ".T": 1, ".E": 1, "*": 7}),
        ("........\n********\n", {".": 8, "*": 8}),
    ],
)
def test_glyphs_are_counted(text: str, counts: dict[str, int]) -> None:
    log = opened(text)
    assert {glyph: count for glyph, count in log.glyph_counts.items() if count} == counts
    assert f"{counts['.']} × . (built)" in repr(log)


@pytest.mark.parametrize("text", [META.format(last="Done", end=""), ANSOR, AUTOTVM, MEASURED])
def test_console_only_log_supports_all_queries(text: str) -> None:
    log = opened(text)
    assert not log.findings()
    assert not log.best()
    assert (len(log.select("task:0")), log.errors_by("task").trials.sum()) == (0, 0)
    assert len(log.to_dataframe()) == 0
    repr(log.curve())


def test_totals_of_the_first_releases_are_read() -> None:
    rows = "|  ID  | Latency (ms) | Speed (GFLOPS) | Trials |\n" + "-" * 49 + "\n"
    rows += "|   11 |        0.077 |        3003.22 |     64 |\n" + "-" * 49 + "\n"
    last = "Total latency: 1.649 ms  Trials: 1920  Used time : 3598 s  Next ID: 9\n"
    log = tvmdbg.open((rows + last).encode())
    assert isinstance(log, TuningLog)
    assert (log.console.total_ms, log.console.trials, log.console.used_s) == (1.649, 1920, 3598)
