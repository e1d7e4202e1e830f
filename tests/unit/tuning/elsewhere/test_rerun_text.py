"""What goes into the script, whatever a log holds; and what is said before it runs."""

import ast
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.tuning.elsewhere.rerun_cases import CPU, GPU, STAND_IN, record, schedule, script_of

from tvmdbg_widgets.export.rerun import RerunOptions, rerun
from tvmdbg_widgets.export.rerun_script_text import template, with_data
from tvmdbg_widgets.model.tuning.parts import HARDWARE_NAMES

HOSTILE = (
    *('"""', "'''", "\\", "\\N", "\n", "\r\n", "\u2028", "\u2029", "\x85", "\x0c", "\0", "\ufeff"),
    *("# </data>", "# <data>", "\n# </data>\nraise SystemExit(7)", "{x}", "%(default)s", "\ud800"),
    *("');import os;('", '"); import os; ("', "𝒳", "\u202e"),
)
DATA = ("DEFAULTS", "WARNINGS", "MODULES", "SOURCES", "RECORDS")
texts = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text()), max_size=6).map("".join)
values = st.recursive(
    st.one_of(texts, st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(texts, inner)),
)


def parsed(script: str) -> list[ast.stmt]:
    return ast.parse(script, feature_version=(3, 7)).body


def data_of(statements: list[ast.stmt]) -> dict[str, Any]:
    """Return what a script assigns to names, as literals."""
    found = {}
    for node in statements:
        if isinstance(node, ast.Assign) and (name := ast.unparse(node.targets[0])) in DATA:
            assert name not in found
            found[name] = ast.literal_eval(node.value)
    return found


def around_data() -> tuple[str, str]:
    return template().split("# <data>\n")[0], template().split("# </data>\n")[1]


@cache
def statements_around_data() -> int:
    return len(parsed("".join(around_data())))


@given(values, st.lists(texts, max_size=4))
def test_any_text_stays_a_literal(value: Any, notes: list[str]) -> None:
    lines = [note + "x" for note in notes]
    script = with_data(template(), {"DEFAULTS": value, "RECORDS": lines}, {"RECORDS": notes})
    assert script.isascii()
    statements = parsed(script)
    found = data_of(statements)
    assert (found["DEFAULTS"], found["RECORDS"]) == (value, lines)
    before, after = around_data()
    assert script.startswith(before)
    assert script.endswith(after)
    assert len(statements) == statements_around_data() + 2


@given(texts, texts)
def test_any_key_and_target_of_a_record_stay_data(name: str, target: str) -> None:
    paired = [each.encode("utf-8", "replace").decode() for each in (name, target)]
    found = rerun([record(key=json.dumps([paired[0], 1]), target=paired[1])])
    assert found.script.isascii()
    (line,) = data_of(parsed(found.script))["RECORDS"]
    task = json.loads(line)["i"][0]
    assert [json.loads(task[0])[0], task[1]] == paired
    assert "<script" not in found._repr_html_()


def test_script_text_is_deterministic() -> None:
    records = [record(schedule(2, 4)), record(schedule(4, 4), row=1, cost=None)]
    options = RerunOptions(target="llvm", hardware={"num_cores": 4})
    assert rerun(records, options) == rerun(records, options)
    notes = re.findall(r"^    # (.*)$", rerun(records, options).script, re.MULTILINE)
    assert notes[:2] == [
        "1: row 0, task 0, was 1.500 ms",
        "2: row 1, task 0, was BuildTimeoutError",
    ]


def test_script_is_python_3_7_and_prints_help(tmp_path: Path) -> None:
    path = script_of(record()).save(tmp_path / "rerun.py")
    ast.parse(path.read_text(), feature_version=(3, 7))
    done = subprocess.run(
        [sys.executable, path, "--help"], capture_output=True, text=True, check=True
    )
    for option in ("--target", "--register", "--rpc", "--emit-source", "--n-parallel"):
        assert option in done.stdout
    assert str(STAND_IN) not in path.read_text()


def test_script_is_saved_whole_and_requires_py_suffix(tmp_path: Path) -> None:
    found = script_of(record())
    assert found.save(tmp_path / "again.py").read_text() == found.script
    assert [each.name for each in tmp_path.iterdir()] == ["again.py"]
    with pytest.raises(ValueError, match=r"must end in \.py"):
        found.save(tmp_path / "again.txt")


def test_records_that_cannot_be_measured_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no record to measure"):
        rerun([])
    one = record()
    with pytest.raises(ValueError, match=r"line 1 is no record of .*but of autotvm"):
        rerun([replace(one, task=replace(one.task, tuner="autotvm"))])
    with pytest.raises(ValueError, match=r"log.json, line 1 is no UTF-8 at byte 3"):
        rerun([replace(one, line=b'{"i\xff')])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"timeout": 0}, "timeout is at least 1, found 0"),
        ({"n_parallel": 0}, "n_parallel is at least 1"),
        ({"build_func": "clang"}, "no build_func 'clang'; known: 'default', 'ndk'"),
        ({"target_host": "llvm"}, "target_host needs target"),
        ({"target": " "}, "target is empty"),
        ({"hardware": {"cores": 1}}, "no hardware parameter 'cores'; did you mean 'num_cores'"),
        ({"rpc": ("pi", "host", 0)}, "port is 1 to 65535, found 0"),
        ({"register": ["no such"]}, "'no such' is neither a Python file here nor a module's name"),
        ({"register": ["missing.py"]}, "'missing.py' is neither a Python file"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        script_of(record(), **options)


def test_module_with_invalid_python_is_refused(tmp_path: Path) -> None:
    module = tmp_path / "work.py"
    for source in (b"def f(:\n", b"\0", b"# coding: none\n", b"\xff\xfe"):
        module.write_bytes(source)
        with pytest.raises(ValueError, match="is no Python module"):
            script_of(record(), register=[module])


def test_smaller_hardware_limits_warn_of_affected_schedules() -> None:
    wide, narrow = schedule(2, 512, bind=6), schedule(2, 64, bind=6)
    wide[1][2] = narrow[1][2] = 2  # the innermost loop
    unknown = schedule(2, 4, bind=6)
    unknown[1][2] = 0
    records = [
        record(steps, row=row, target="cuda -keys=cuda,gpu", hardware=GPU)
        for row, steps in enumerate([wide, narrow, unknown, wide])
    ]
    found = script_of(*records, target="metal -keys=metal,gpu", register=["work"])
    assert "max_shared_memory_per_block: 49,152 → 32,768; how much" in "\n".join(found.warnings)
    smaller = script_of(*records, hardware={"max_threads_per_block": 256}, register=["work"])
    (said,) = smaller.warnings
    assert said == (
        "max_threads_per_block: 1,024 → 256; exceeded by 2 schedules (rows 0, 3), with up to 512 "
        "threads; unknown for 1 schedule"
    )
    larger = script_of(*records, hardware={"max_threads_per_block": 2048}, register=["work"])
    assert not larger.warnings
    assert data_of(parsed(smaller.script))["WARNINGS"] == list(smaller.warnings)
    assert "unknown for 1 schedule" in repr(smaller)
    assert "unknown for 1 schedule" in smaller._repr_html_()


def test_target_of_another_kind_is_warned_about() -> None:
    gpu = record(schedule(4, 2, bind=6), row=5, target="cuda -keys=cuda,gpu", hardware=GPU)
    cpu = record(schedule(4, 2), row=6)
    (first, *_) = script_of(gpu, cpu, target="llvm", register=["work"]).warnings
    assert first == "loops are bound to GPU threads, so llvm cannot build: 1 schedule (row 5)"
    told = script_of(gpu, cpu, target="cuda", register=["work"]).warnings
    assert told[0].startswith("no loop is bound to GPU threads, so cuda cannot build: 1 sch")
    assert told[1].startswith("the limits of the target are known there only")
    for unknown in ("nvidia/geforce-rtx-3070", '{"kind": "cuda", "arch": "sm_86"}'):
        (said,) = script_of(gpu, cpu, target=unknown, register=["work"]).warnings
        assert said == told[1]
    assert not script_of(cpu, target="llvm -mcpu=znver3", register=["work"]).warnings


def test_fewer_cores_only_cause_a_warning() -> None:
    found = script_of(record(), hardware={"num_cores": 2}, register=["work"])
    assert found.warnings == (
        "num_cores: 8 → 2; schedules still run, but were chosen for the larger value",
    )
    assert CPU[HARDWARE_NAMES.index("num_cores")] == 8


def test_workloads_that_need_registering_are_named() -> None:
    old = record(key='["0123456789abcdef0123456789abcdef"]', task=1)
    told = script_of(record(), old, record(cost=None)).warnings
    assert told[0] == "1 record failed in the log"
    assert told[1].startswith("1 workload of a model, known by hash alone: only a module that")
    assert told[2].startswith("1 key of a hash without shapes, as TVM wrote before 2021")
    assert (
        told[3] == "no module is given that registers work: register=…, or --register of the script"
    )


def test_a_source_that_mentions_no_workload_is_not_copied(tmp_path: Path) -> None:
    texts = ["def network(): pass", "@register_workload\ndef work(n): pass"]
    found = script_of(record(), sources=texts)
    assert data_of(parsed(found.script))["SOURCES"] == [("workloads_2.py", texts[1])]
    assert not found.warnings
    named = tmp_path / "other.py"
    named.write_text(texts[0])
    (said,) = script_of(record(), register=[named]).warnings
    assert said == "no module is given that registers work: register=…, or --register of the script"
