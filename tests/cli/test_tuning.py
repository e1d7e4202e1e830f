"""tvmdbg tuning: what its verbs tell, write and return."""

import ast
import json
import re
import subprocess
from pathlib import Path

import pytest
from cli.start import Run, refused

from tests.unit.tuning.ansor_lines import CPU, T4, line, log_of

LINES = [
    line('["a", 1]', costs=[2e-3], stamp=1_600_000_000),
    line('["a", 1]', costs=[1e-3], split=4, stamp=1_600_000_010),
    line('["b", 1]', T4, costs=[5e-3], stamp=1_600_000_020),
    line('["b", 1]', T4, error=6, split=4, stamp=1_600_000_030),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "ansor.json"
    path.write_bytes(log_of(LINES))
    return path


def told(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join(done.stdout.split())


def test_summary_shows_findings_latency_counts_and_refused_lines(tvmdbg: Run, log: Path) -> None:
    log.write_bytes(log_of([*LINES, b'{"i": [], "r": [], "v": "v0.6"}']))
    done = tvmdbg("tuning", "summary", log)
    assert done.returncode == 0, done.stderr
    said = told(done)
    assert said.index("Findings") < said.index("Tuning") < said.index("Errors")
    assert "6.000 ms estimated in total (unweighted sum: the log has no weights)" in said
    assert "reached after 3 of 4 trials" in said
    assert "2 tasks, 4 trials, 1 failed (25.0 %)" in said
    assert "1 line skipped: line 5" in said
    assert "1 BuildTimeoutError 25.0 %" in said


def test_summary_json_has_totals_and_findings(tvmdbg: Run, log: Path) -> None:
    body = json.loads(tvmdbg("tuning", "summary", log, "--json").stdout)
    assert body["total_s"] == pytest.approx(6e-3)
    assert (body["trials"], body["failed"], body["refused"]) == (4, 1, 0)
    assert body["errors"] == {"BuildTimeoutError": 1}
    log.write_bytes(log_of([line(error=6)]))
    body = json.loads(tvmdbg("tuning", "summary", log, "--json").stdout)
    assert body["total_s"] is None
    assert {"rule", "severity", "tasks", "trials", "next"} <= set(body["findings"][0])
    assert "unknown: 1 task without a valid trial" in told(tvmdbg("tuning", "summary", log))


@pytest.mark.parametrize(
    ("limit", "status"), [("25%", 0), ("24.9%", 1), ("1", 0), ("0", 1), ("0%", 1)]
)
def test_max_errors_sets_the_status(tvmdbg: Run, log: Path, limit: str, status: int) -> None:
    assert tvmdbg("tuning", "summary", log, "--max-errors", limit).returncode == status


def test_fail_on_sets_the_status(tvmdbg: Run, log: Path, corpus: Path) -> None:
    starved = next(corpus.glob("tuning/tlcbench_fork_platinum8358/*.json"))
    assert tvmdbg("tuning", "summary", starved, "--fail-on", "error").returncode == 1
    assert tvmdbg("tuning", "summary", log, "--fail-on", "error").returncode == 0
    assert tvmdbg("tuning", "summary", log, "--fail-on", "nonsense").returncode == 2
    assert "--max-errors 10%" in refused(tvmdbg("tuning", "summary", log, "--max-errors", "many"))


def test_tasks_are_sorted_and_cut(tvmdbg: Run, log: Path) -> None:
    def order(*arguments: str) -> list[int]:
        done = tvmdbg("tuning", "tasks", log, "--json", *arguments)
        return [row["task"] for row in json.loads(done.stdout)["tasks"]]

    assert order() == [1, 0]  # 5 ms, 1 ms
    assert order("--sort", "task") == [0, 1]
    assert order("--sort", "errors") == [1, 0]
    assert order("--sort", "gain", "--top", "1") in ([0], [1])
    rows = tvmdbg("tuning", "tasks", log).stdout.splitlines()
    assert rows[0].split()[:6] == ["task", "name", "trials", "failed", "best", "share"]
    assert rows[1].split()[:7] == ["1", "b", "1", "2", "1", "5.000", "ms"]


def test_weights_come_from_a_file(tvmdbg: Run, log: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights.json"
    weights.write_text(json.dumps({'["a", 1]': 10}))
    done = tvmdbg("tuning", "tasks", log, "--weights", weights, "--json")
    body = json.loads(done.stdout)
    assert body["total_s"] == pytest.approx(15e-3)
    assert [row["task"] for row in body["tasks"]] == [0, 1]
    for wrong in ("[1]", "[", '{"x": 1}', '["a", "b"]'):
        weights.write_text(wrong)
        assert "weight" in refused(tvmdbg("tuning", "tasks", log, "--weights", weights))


def test_errors_are_counted_by_task_round_and_unroll(tvmdbg: Run, log: Path) -> None:
    body = json.loads(tvmdbg("tuning", "errors", log, "--json").stdout)
    assert [(row["trials"], row["failed"]) for row in body["groups"]] == [(2, 0), (2, 1)]
    assert body["groups"][1]["errors"] == {"BuildTimeoutError": 1}
    for by in ("task", "round", "session", "unroll", "threads"):
        done = tvmdbg("tuning", "errors", log, "--by", by)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[:3] == [by, "trials", "failed"]
        assert "1 of 4 trials failed (25.0 %)" in done.stderr


def test_errors_show_the_last_line_of_their_message(tvmdbg: Run, log: Path, tmp_path: Path) -> None:
    output = tmp_path / "stdout.txt"
    output.write_text(
        "No: 4\tGFLOPS: 0.00 / 1.00\tresults: MeasureResult(error_type:BuildTimeoutError, "
        "error_msg:Traceback:\n  a call\nTVMError: no \x07\n, all_cost:2.50, "
        "Tstamp:1600000030.20)\n"
    )
    said = tvmdbg("tuning", "errors", log, output).stdout
    assert re.search(r"^  row 3 +TVMError: no \\x07$", said, re.MULTILINE)


def test_best_lists_one_trial_per_task(tvmdbg: Run, log: Path) -> None:
    body = json.loads(tvmdbg("tuning", "best", log, "--json").stdout)
    assert [(row["task"], row["row"], row["cost_s"]) for row in body["best"]] == [
        (0, 1, 1e-3),
        (1, 2, 5e-3),
    ]
    assert body["best"][0]["line"].encode() == LINES[1]
    assert "1.000 ms" in tvmdbg("tuning", "best", log).stdout


def test_best_shows_the_record_that_tvm_applies_and_why(tvmdbg: Run, log: Path) -> None:
    done = tvmdbg("tuning", "best", log, "--task", "1")
    assert done.returncode == 0
    assert done.stdout.startswith("row 2  5.000 ms")
    assert "Model t4 finds row 2" in told(done)
    named = tvmdbg("tuning", "best", log, "--task", '["b", 1]', "--target", CPU)
    assert named.returncode == 1
    assert named.stdout.startswith("no record")
    body = json.loads(tvmdbg("tuning", "best", log, "--task", "b", "--json").stdout)
    assert body["applied"]["row"] == 2
    assert [each["found_by"] for each in body["candidates"]] == ["model t4", "key cuda", "key gpu"]
    for wrong in (["--task", "7"], ["--task", "x"], ["--target", CPU], ["--compatible"]):
        assert tvmdbg("tuning", "best", log, *wrong).returncode == 2
    bigger = ["--task", '["a", 3]', "--target", CPU]
    assert tvmdbg("tuning", "best", log, *bigger).returncode == 1
    assert tvmdbg("tuning", "best", log, *bigger, "--compatible").returncode == 0


def test_show_prints_a_schedule_in_every_form(tvmdbg: Run, log: Path) -> None:
    nest = tvmdbg("tuning", "show", log, "--task", "0")
    assert nest.returncode == 0, nest.stderr
    assert nest.stdout.startswith("Schedule of trial 1 (a 1): 1.000 ms")
    assert "give a DAG text along" in nest.stdout
    assert "for axis0.1 (0,4)" in nest.stdout
    state = tvmdbg("tuning", "show", log, "--row", "1", "--as", "state").stdout
    assert "for axis0.1 (0,4)" in state
    assert "Schedule of" not in state
    steps = tvmdbg("tuning", "show", log, "--row", "1", "--as", "steps").stdout
    assert "0  stage 2: split" in steps
    assert "128 · 4" in tvmdbg("tuning", "show", log, "--row", "1", "--as", "tiles").stdout
    code = tvmdbg("tuning", "show", log, "--row", "1", "--as", "python").stdout
    texts = [each.value for each in ast.walk(ast.parse(code)) if isinstance(each, ast.Constant)]
    assert LINES[1].decode() in texts
    body = json.loads(tvmdbg("tuning", "show", log, "--row", "-1", "--json").stdout)
    assert (body["row"], body["error"], body["cost_s"]) == (3, 6, None)
    assert len(body["steps"]) == 1


def test_show_asks_for_a_choice_between_tasks(tvmdbg: Run, log: Path) -> None:
    assert "--task 0" in refused(tvmdbg("tuning", "show", log))
    for wrong in (["--row", "9"], ["--task", "x"], ["--row", "1", "--task", "0"]):
        assert tvmdbg("tuning", "show", log, *wrong).returncode == 2
    log.write_bytes(log_of(LINES[:2]))
    assert tvmdbg("tuning", "show", log).stdout.startswith("Schedule of trial 1")
    log.write_bytes(log_of([line(error=6)]))
    assert "no valid trial" in refused(tvmdbg("tuning", "show", log))
    log.write_bytes(b"")
    assert "no trial to show" in refused(tvmdbg("tuning", "show", log))
    assert "the log has no rows" in refused(tvmdbg("tuning", "reuse", log, "--rows", "0"))


def test_distill_writes_the_best_lines(tvmdbg: Run, log: Path, tmp_path: Path) -> None:
    done = tvmdbg("tuning", "distill", log)
    written = tmp_path / "ansor.json.best.json"
    assert done.stdout == f"{written}\n"
    assert written.read_bytes() == log_of([LINES[1], LINES[2]])
    tvmdbg("tuning", "distill", log, written, "-k", "2", "-o", tmp_path / "two.json")
    assert (tmp_path / "two.json").read_bytes() == log_of([LINES[1], LINES[0], LINES[2]])


def test_input_log_is_never_overwritten(tvmdbg: Run, log: Path, tmp_path: Path) -> None:
    for verb in ("distill", "merge"):
        assert "never overwritten" in refused(tvmdbg("tuning", verb, log, "-o", log))
        assert tvmdbg("tuning", verb, log, "-o", tmp_path).returncode == 2
    assert log.read_bytes() == log_of(LINES)
    assert tvmdbg("tuning", "distill", log, log).returncode == 2
    assert tvmdbg("tuning", "distill", "-", input=log_of(LINES)).returncode == 2


def test_merge_joins_logs_and_keeps_selected_records(
    tvmdbg: Run, log: Path, tmp_path: Path
) -> None:
    other, out = tmp_path / "other.log", tmp_path / "out.json"
    other.write_bytes(log_of([line('["c", 1]'), b"nonsense"]))
    done = tvmdbg("tuning", "merge", log, other, "-o", out)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == log_of([*LINES, line('["c", 1]')])
    assert "1 line could not be read" in done.stderr
    tvmdbg("tuning", "merge", log, other, "--select", "is:failed or task:2", "-o", out)
    assert out.read_bytes() == log_of([LINES[3], line('["c", 1]')])
    assert "did you mean cost?" in refused(
        tvmdbg("tuning", "merge", log, "--select", "cots<1ms", "-o", out)
    )


def test_merge_refuses_records_of_several_tuners(tvmdbg: Run, log: Path, tmp_path: Path) -> None:
    autotvm = {
        "input": ["llvm", "dense", [1], {}],
        "config": {},
        "result": [[1e-3], 0, 1.0, 1.5],
        "version": 0.2,
        "tvm_version": "0.8",
    }
    log.write_bytes(log_of([*LINES, json.dumps(autotvm).encode()]))
    done = tvmdbg("tuning", "merge", log, "-o", tmp_path / "all.json")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "as tvmdbg tuning merge LOG --select tuner:ansor -o FILE" in said


def test_standard_input_is_read_as_a_log(tvmdbg: Run) -> None:
    done = tvmdbg("tuning", "summary", "-", input=log_of(LINES))
    assert done.returncode == 0, done.stderr
    assert "4 trials" in done.stdout
    assert tvmdbg("tuning", "summary", "-", "-", input=log_of(LINES)).returncode == 2


@pytest.mark.parametrize("verb", ["summary", "findings", "check", "table", "memory", "html"])
def test_run_commands_suggest_the_tuning_command(tvmdbg: Run, log: Path, verb: str) -> None:
    more = ["-o", str(log.parent / "x.html")] if verb == "html" else []
    done = tvmdbg(verb, log, *more)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "ansor.json is a tuning log, not a run" in said
    assert f"tvmdbg tuning summary {log}" in said


def test_file_that_is_not_a_log_is_refused_without_traceback(tvmdbg: Run, tmp_path: Path) -> None:
    path = tmp_path / "nothing.json"
    path.write_text("hello\n")
    done = tvmdbg("tuning", "summary", path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert tvmdbg("tuning", "summary", tmp_path / "nowhere").returncode == 2


def test_control_characters_in_names_are_escaped(tvmdbg: Run, log: Path) -> None:
    odd = "a\x1b[31mred\x07[bold]\u202e"
    log.write_bytes(log_of([line(json.dumps([odd, 1]), f"llvm -keys=cpu -model={odd}")]))
    for verb in (["summary"], ["tasks"], ["errors"], ["best"], ["best", "--task", "0"]):
        done = tvmdbg("tuning", verb[0], log, *verb[1:])
        assert done.returncode == 0, done.stderr
        for stream in (done.stdout, done.stderr):
            assert not [each for each in stream if not each.isprintable() and each != "\n"]


def test_every_real_log_is_summarized(tvmdbg: Run, corpus: Path) -> None:
    folders = [path for path in sorted((corpus / "tuning").iterdir()) if path.is_dir()]
    for path in folders:
        if path.name == "printed_states":
            continue
        done = tvmdbg("tuning", "summary", path)
        assert done.returncode == 0, (path, done.stderr)
        for verb in ("tasks", "errors", "best"):
            assert tvmdbg("tuning", verb, path, "--json").returncode == 0, (path, verb)
