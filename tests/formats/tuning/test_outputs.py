"""What a tuning prints, joined to its records or without them."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.make import tuning_cases as make
from tvmdbg_widgets import FormatError, TuningLog, open_tuning
from tvmdbg_widgets import open as open_any
from tvmdbg_widgets.formats.tuning.dag_text import key_hash

OLD_TABLE = """\
----------------------------------------------------------------------
------------------------------  [ Task Scheduler ]
----------------------------------------------------------------------
|  ID  | Latency (ms) | Speed (GFLOPS) | Trials |
-------------------------------------------------
|    0 |        0.005 |           0.88 |     64 |
|    1 |            - |              - |      0 |
-------------------------------------------------
Estimated total latency: - ms\tTrials: 64\tUsed time : 73 s\tNext ID: 1\t
"""
NEW_TABLE = """\
|  ID  |                       Task Description                        | Latency (ms) | Speed (GFLOPS) | Trials |
-----------------------------------------------------------------------------------------------------------------
|    0 |                        vm_mod_fused_nn_conv2d_add_nn_relu_2 |        0.022 |         184.55 |    128 |
|    1 |     vm_mod_fused_nn_dense_add,vm_mod_fused_nn_dense_add_1 |        1.500 |          -0.00 |     64 |
-----------------------------------------------------------------------------------------------------------------
Estimated total latency: 4.522 ms\tTrials: 192\tUsed time : 1131 s\tNext ID: -1\t
"""  # noqa: E501
DAG = "A = PLACEHOLDER [4, 8]\nB = PLACEHOLDER [8, 4]\nC(i, j) += (A[i, k]*B[k, j])\n"
KEY = '["05ea4bc9f4e3a2a1b0c9d8e7f6a5b4c3", [4, 8], [8, 4], [4, 4]]'


def line(result: list[object]) -> bytes:
    task = [make.KEYS[0], make.TARGETS[0], [8, 64, 64, 0, 0, 0, 0, 0], "", 1, []]
    return make.to_json({"i": [task, [[], []]], "r": result, "v": "v0.6"}).encode()


def printed(number: int, result: str) -> str:
    head = "=" * 50
    return f"{head}\nNo: {number}\tGFLOPS: 1.00 / 2.00\tresults: {result}\n{head}\nPlaceholder: A\n"


def good(costs: str, all_cost: str, stamp: str) -> str:
    return f"MeasureResult(cost:[{costs}], error_no:0, all_cost:{all_cost}, Tstamp:{stamp})"


def bad(error: str, text: str, all_cost: str, stamp: str) -> str:
    return (
        f"MeasureResult(error_type:{error}, error_msg:{text}, all_cost:{all_cost}, Tstamp:{stamp})"
    )


@pytest.mark.spec_only
def test_the_last_table_is_read_with_and_without_descriptions() -> None:
    old = open_tuning(OLD_TABLE.encode()).parts.console
    assert [(row.id, row.latency_ms, row.gflops, row.trials) for row in old.rows] == [
        *((0, 0.005, 0.88, 64), (1, None, None, 0))
    ]
    assert (old.total_ms, old.trials, old.used_s) == (None, 64, 73)
    new = open_tuning((OLD_TABLE + NEW_TABLE).encode()).parts.console
    assert [row.description for row in new.rows] == [
        "vm_mod_fused_nn_conv2d_add_nn_relu_2",
        "vm_mod_fused_nn_dense_add,vm_mod_fused_nn_dense_add_1",
    ]
    assert (new.total_ms, new.trials, new.used_s) == (4.522, 192, 1131)


def test_complete_table_is_preferred_to_truncated_one() -> None:
    text = OLD_TABLE + "\n".join(NEW_TABLE.splitlines()[:3])
    console = open_tuning(text.encode()).parts.console
    assert (len(console.rows), console.trials) == (2, 64)
    alone = open_tuning("\n".join(OLD_TABLE.splitlines()[:6]).encode()).parts.console
    assert len(alone.rows) == 1


@pytest.mark.spec_only
def test_latency_curve_has_a_gap_while_a_task_has_no_schedule() -> None:
    text = "ElapsedTime(s)\t10\tEstimatedLatency(ms)\tN/A\tTrials\t64\n"
    text += "ElapsedTime(s)\t24\tEstimatedLatency(ms)\t3.250\tTrials\t128\nElapsedTime(s)\t3"
    curve = open_tuning(text.encode()).parts.latency
    assert curve.elapsed_s.tolist() == [10, 24]
    assert np.isnan(curve.latency_ms[0])
    assert (curve.latency_ms[1], curve.trials.tolist()) == (3.25, [64, 128])


TRACEBACK = (
    'Traceback (most recent call last):\n  File "x.py", line 3\n    f(a, b)\nTVMError: no, all'
)


@pytest.mark.spec_only
def test_error_texts_reach_their_records() -> None:
    lines = [
        line([[0.0012], 0, 1.23456, 1600000000]),
        line([[1e10], 2, 0.5, 1600000001]),
        line([[1e10], 6, 15, 1600000015]),
        line([[0.5, 0.25], 0, 2.0, 1600000017]),
        line([[1e10], 4, 10.5, 1600000030]),
    ]
    text = "Get 4 programs to measure:\n...E.T.***E\n"
    text += printed(1, good("0.0012", "1.23", "1600000000.55"))
    text += printed(2, bad("CompileHostError", TRACEBACK, "0.50", "1600000002.00"))
    text += printed(3, bad("BuildTimeoutError", "", "15.00", "1600000015.10"))
    text += printed(4, good("0.5000,0.2500", "2.00", "1600000017.99"))
    text += printed(5, bad("RuntimeDeviceError", "a\n\nb", "10.50", "1600000030.00"))
    parts = open_tuning([b"\n".join(lines), text.encode()]).parts
    assert [each.row for each in parts.messages] == [0, 1, 2, 3, 4]
    assert [each.error for each in parts.messages] == [0, 2, 6, 0, 4]
    assert [each.message for each in parts.messages] == ["", TRACEBACK, "", "", "a\n\nb"]
    assert parts.glyphs == "...E.T.***E"
    assert not parts.issues.by_rule("messages-unjoined")


@pytest.mark.spec_only
def test_glyphs_are_assigned_to_the_messages_of_their_batch() -> None:
    results = [
        good("0.0010", "1.00", "1600000000.00"),
        bad("CompileHostError", "x", "1.00", "1600000001.00"),
        bad("BuildTimeoutError", "", "15.00", "1600000002.00"),
        bad("RuntimeDeviceError", "y", "1.00", "1600000003.00"),
        bad("RunTimeoutError", "", "11.00", "1600000004.00"),
    ]
    text = "Get 6 programs to measure:\n" + "..E.T..\n**E*T\n"
    text += "".join(printed(i + 1, result) for i, result in enumerate(results))
    text += "Get 1 programs to measure:\n.\n*\n" + printed(6, results[0])
    messages = open_tuning(text.encode()).parts.messages
    assert [each.glyphs for each in messages] == ["*", ".E", ".T", "*E", "*T", "*"]


def test_measurements_matching_several_records_are_not_joined() -> None:
    timeout = line([[1e10], 6, 15, 1600000015])
    said = printed(1, bad("BuildTimeoutError", "", "15.00", "1600000015.10"))
    log = open_tuning([b"\n".join([timeout] * 3), (said * 2).encode()])
    assert [each.row for each in log.parts.messages] == [-1, -1]
    (issue,) = log.issues.by_rule("messages-unjoined")
    assert "2 of 2" in issue.message
    every = open_tuning([b"\n".join([timeout] * 3), (said * 3).encode()])
    assert [each.row for each in every.parts.messages] == [0, 1, 2]
    (issue,) = open_tuning(said.encode()).issues.by_rule("messages-unjoined")
    assert "1 measurement in the output, and no record to join" in issue.message


LONG = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "No: 1\tGFLOPS: 0 / 0" + " " * LONG + "x",
        *("No: 1\tGFLOPS: " + "\tresults:" * (LONG // 9), "|    1 |" + " |" * (LONG // 2)),
        *("=" * LONG, "= Task 1 (workload key: " + ") =" * (LONG // 3), "." * LONG + "x"),
        printed(1, bad("X", ", all_cost:1" * (LONG // 11), "1", "1")),
        "A(" + "i, " * (LONG // 3) + ") = 1",
    ],
    ids=range(8),
)
def test_long_output_lines_are_read_in_bounded_time(text: str) -> None:
    head = "Get 3 programs to measure:\n|  ID  | Latency (ms) | Speed (GFLOPS) | Trials |\n"
    begin = time.process_time()
    for before in ("", head):
        assert len(open_tuning([line([[0.1], 0, 1, 1]), (before + text).encode()])) == 1
    assert time.process_time() - begin < 5


def test_overlong_numbers_in_output_are_ignored() -> None:
    digits = "1" * 10_000
    text = (
        "|  ID  | Latency (ms) | Speed (GFLOPS) | Trials |\n"
        f"|    1 | {digits} | {digits} |      1 |\n"
        "Estimated total latency: 1.5 ms\tTrials: 64\tUsed time : 9 s\t\n"
        f"ElapsedTime(s)\t1\tEstimatedLatency(ms)\t{digits}\tTrials\t{digits}\n"
    )
    parts = open_tuning(text.encode()).parts
    assert (parts.console.rows, parts.console.total_ms) == ((), 1.5)
    assert parts.latency is None


@given(st.integers(0, 2**32), st.data())
def test_measurements_are_joined_only_to_matching_records(seed: int, data: st.DataObject) -> None:
    """Of any part of the output, in order, none is joined to another's record."""
    count = data.draw(st.integers(1, 30))
    numbers = st.tuples(
        st.sampled_from([0, 0, 6, 4]), st.sampled_from([0.001, 0.0123]), st.integers(0, 3)
    )
    drawn = [data.draw(numbers) for _ in range(count)]
    lines, said, stamp = [], [], 1_600_000_000
    for number, (error, cost, later) in enumerate(drawn):
        stamp += later
        all_cost = 15.0 if error == 6 else 1.0 + cost
        lines.append(line([[1e10] if error else [cost], error, all_cost, stamp]))
        time = f"{stamp + 0.25 * (seed % 4):.2f}"
        text = str(number)
        names = {6: "BuildTimeoutError", 4: "RuntimeDeviceError"}
        said.append(
            bad(names[error], text, f"{all_cost:.2f}", time)
            if error
            else good(f"{cost:.4f}", f"{all_cost:.2f}", time)
        )
    first = data.draw(st.integers(0, count - 1))
    text = "".join(printed(i + 1, each) for i, each in enumerate(said) if i >= first)
    parts = open_tuning([b"\n".join(lines), text.encode()]).parts
    for message in parts.messages:
        if message.row >= 0:
            right, joined = message.number - 1, message.row
            assert drawn[right][:2] == drawn[joined][:2]
            if first == 0:
                assert right == joined


def test_dag_texts_are_kept_by_key_and_by_hash(tmp_path: Path) -> None:
    dump = json.dumps({KEY: DAG, "other": DAG + "\n"})
    for given_dump in (dump.encode(), ("\ufeff" + dump).encode()):
        assert open_tuning(given_dump).parts.dags[KEY] == DAG
    task = f"========== Task 0  (workload key: {KEY}) ==========\n{DAG}\nsomething else\n"
    printed_dags = open_tuning(task.encode()).parts.dags
    assert printed_dags[KEY] == DAG
    alone = open_tuning(DAG.encode()).parts.dags
    assert (alone[key_hash(DAG)], set(alone)) == (DAG, set(printed_dags) - {KEY})
    path = tmp_path / "dag.txt"
    path.write_text(DAG)
    log = line([[0.5], 0, 1, 2])
    for one in (DAG, path, str(path), [path], {KEY: DAG}, dump.encode()):
        assert DAG in open_tuning(log, dag=one).parts.dags.values()
    with pytest.raises(FormatError, match="no DAG text"):
        open_tuning(log, dag=b"hello")
    with pytest.raises(TypeError, match="texts by workload key"):
        open_tuning(log, dag={KEY: 1})


def test_dag_is_assigned_to_its_task_or_reported_as_unused() -> None:
    named = line([[0.5], 0, 1, 2])
    log = open_tuning(named, dag=DAG)
    assert log.parts.dags[make.KEYS[0]] == DAG
    assert not log.issues.by_rule("dags-unused")
    two = named + b"\n" + named.replace(b"1024, 1024, 1024", b"1, 2, 3")
    assert open_tuning(two, dag=DAG).issues.by_rule("dags-unused")
    assert open_tuning(named, dag={"other": DAG, "more": DAG + DAG}).issues.by_rule("dags-unused")
    hashed = named.replace(b"matmul_add", key_hash(DAG).encode())
    log = open_tuning(hashed, dag=DAG)
    assert not log.issues.by_rule("dags-unused")
    assert log.dag(0) is not None


def test_modules_are_kept_as_text_and_never_run(tmp_path: Path) -> None:
    module = tmp_path / "matmul.py"
    module.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    log = open_tuning(line([[0.5], 0, 1, 2]), register=[module, b"# nothing"])
    assert log.parts.registered == (module.read_text(), "# nothing")
    assert not (tmp_path / "ran").exists()


def test_tuning_output_opens_as_a_log() -> None:
    for text in (OLD_TABLE, DAG, printed(1, good("0.1", "1.0", "1600000000.0"))):
        log = open_any(text.encode())
        assert isinstance(log, TuningLog)
        assert len(log.trials) == 0


@given(st.text(st.characters(exclude_characters="\0"), max_size=300))
def test_surrounding_text_is_skipped(text: str) -> None:
    whole = f"{text}\n{OLD_TABLE}{text}\n{printed(7, good('0.1', '1.0', '5.0'))}{text}"
    parts = open_tuning(whole.encode(errors="replace")).parts
    assert parts.console is not None
    assert 7 in [each.number for each in parts.messages]


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


def test_measurements_beyond_any_number_fit_no_record() -> None:
    record = line([[0.5], 0, 1.0, 2])
    for costs, stamp in (("0.5", "1e999"), ("1e999", "2.0"), ("nan", "2.0"), ("0.5", "1e300")):
        log = open_tuning([record, printed(1, good(costs, "1.00", stamp)).encode()])
        assert [message.row for message in log.parts.messages] == [-1]
    log = open_tuning([record, printed(1, good("0.5", "1.00", "2.00")).encode()])
    assert [message.row for message in log.parts.messages] == [0]


def test_numbers_without_end_in_a_table_are_unknown() -> None:
    text = META.format(last="Done", end="").replace("1000.5000", "nan")
    log = opened(text.replace("trials: 64", "trials: 1e999"))
    assert (log.console.rows[0].latency_ms, log.console.trials) == (None, None)
    assert "task 0: fused_dense, no latency" in repr(log)
