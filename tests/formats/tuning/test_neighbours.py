"""AutoTVM logs and MetaSchedule databases."""

import base64
import json
import pickle
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.make import tuning_cases as make
from tvmdbg_widgets import open_tuning
from tvmdbg_widgets.formats.tuning.record import read_record

SEEDS = st.integers(0, 2**32)


@given(SEEDS)
def test_autotvm_records_of_both_versions_are_read(seed: int) -> None:
    random = Random(seed)
    cases = [make.autotvm(random) for _ in range(4)]
    log = open_tuning(b"\n".join([b"# pre-tuned parameters", *(case.line for case in cases)]))
    assert (log.parts.tuner, log.parts.num_refused) == ("autotvm", 0)
    for row, case in enumerate(cases):
        record = read_record(log.parts, row)
        target, name, args, _ = case.task
        assert record.line == case.line
        assert (record.error, record.all_cost, record.timestamp) == (
            *(case.error, case.all_cost, case.timestamp),
        )
        assert list(record.costs) == ([] if case.error else case.costs)
        assert (record.version, record.task.target.text) == (case.version, target)
        assert (record.task.workload.name, list(record.task.workload.args)) == (name, args)
        assert (record.config, record.steps) == (find(json.loads(case.line)), ())
    identities = {json.dumps(case.task) for case in cases}
    assert len(log.tasks) == len(identities)


def test_indented_records_are_comments_of_ansor_alone() -> None:
    random = Random(0)
    made = make.ansor(random), make.autotvm(random, version=0.2), make.metaschedule(random, 0)
    lines = [b" " + case.line for case in made]
    log = open_tuning(b"\n".join([make.ansor(random).line, *lines]), progress=False)
    assert [log[row].line for row in range(1, len(log))] == lines[1:]


def test_autotvm_tasks_are_named_by_their_shapes() -> None:
    args = [["TENSOR", [1, 64], "float32"], ["TENSOR", [], "float32"], [2, 2], None]
    line = {
        "input": ["llvm", "dense.x86", args, {}],
        "config": {"index": 1, "code_hash": None, "entity": []},
        "result": [[1e-3], 0, 0.5, 1_700_000_000.0],
        "version": 0.2,
        "tvm_version": "0.8",
    }
    (task,) = open_tuning(json.dumps(line).encode()).tasks
    assert task.name == "dense.x86 1×64 scalar 2×2 None"


def find(document: dict) -> object:
    return document["config"] if "config" in document else document["i"][5]


def test_unroll_limit_is_read_from_its_knob() -> None:
    line = make.autotvm(Random(1), version=0.2).line
    knob = b'["auto_unroll_max_step", "ot", 1500]'
    log = open_tuning(line + b"\n" + line.replace(b'["unroll", "ot", true]', knob))
    assert log.trials.unroll.tolist() == [-1, 1500]
    assert log.trials.schedule[0] != log.trials.schedule[1]


class Trap:
    """Pickled, it would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (open, (str(self.path), "w"))


def test_pickle_lines_are_counted_and_never_decoded(tmp_path: Path) -> None:
    trap = base64.b64encode(pickle.dumps(Trap(tmp_path / "trapped"))).decode()
    new = f"cuda -model=t4\t{trap}\t{trap}\t{trap}\t0.2\t0.8.dev0"
    old = f"llvm\t{trap}\t{trap}\t{trap}"
    log = open_tuning(f"{new}\n{new}\n{old}\n".encode())
    assert (len(log.trials), log.parts.num_refused) == (0, 0)
    assert log.parts.undecoded == {
        "AutoTVM pickle line 0.2 for cuda -model=t4": 2,
        "AutoTVM pickle line 0.1 for llvm": 1,
    }
    (issue,) = log.issues.by_rule("not-decoded")
    assert "cuda -model=t4 (2)" in issue.message
    assert not (tmp_path / "trapped").exists()


def workload(name: str, number: int, *, old: bool) -> bytes:
    """A line of database_workload.json; the graph is cut to what names a block."""
    if old:
        nodes = [
            {"type_key": ""},
            {"type_key": "tir.Block", "attrs": {"name_hint": "3", "body": "0"}},
            {"type_key": "tir.Block", "attrs": {"name_hint": "2"}},
            {"type_key": "runtime.String", "repr_str": name},
            {"type_key": "runtime.String", "repr_str": "global"},
        ]
        graph: dict = {"root": 1, "nodes": nodes, "attrs": {"tvm_version": "0.13"}}
    else:
        nodes = [
            {"type": "None"},
            {"type": "tirx.SBlock", "data": {"name_hint": 3}},
            {"type": "ffi.String", "data": "root"},
            {"type": "ffi.String", "data": name},
            {"type": "tirx.SBlock", "data": {"name_hint": 2}},
        ]
        graph = {"root_index": 1, "nodes": nodes, "metadata": {"tvm_version": "0.25"}}
    text = json.dumps(graph).encode()
    content = len(text).to_bytes(8, "little") + text
    return json.dumps([str(number), base64.b64encode(content).decode()]).encode()


@pytest.mark.parametrize("old", [True, False])
def test_a_database_is_read_with_the_names_of_its_blocks(tmp_path: Path, *, old: bool) -> None:
    cases = [make.metaschedule(Random(seed), seed % 2) for seed in range(12)]
    records = tmp_path / "database_tuning_record.json"
    records.write_bytes(b"\n".join(case.line for case in cases))
    lines = [workload("matmul", 2**63 + 5, old=old), workload("conv", 7, old=old)]
    (tmp_path / "database_workload.json").write_bytes(b"\n".join(lines) + b"\n")
    log = open_tuning(tmp_path)
    assert log.parts.tuner == "metaschedule"
    assert [task.workload.name for task in log.tasks] == ["matmul", "conv"]
    assert [task.workload_key for task in log.tasks] == [str(2**63 + 5), "7"]
    assert [task.workload.shapes for task in log.tasks] == [((16, 1), ()), ((16, 2), ())]
    assert (log.tasks[0].target.kind, log.tasks[0].target.keys) == ("llvm", ("cpu",))
    assert log.tasks[0].target.attrs["num-cores"] == "4"
    assert log.trials.error.tolist() == [case.error for case in cases]
    assert -1 in log.trials.error
    assert np.isnan(log.trials.all_cost).all()
    for row, case in enumerate(cases):
        record = read_record(log.parts, row)
        assert list(record.costs) == ([] if case.error else case.costs)
        assert record.config == json.loads(case.line)[1][0]
    assert not log.issues.by_rule("workload-missing")


def test_workloads_that_are_missing_are_named_by_number() -> None:
    records = b"\n".join(make.metaschedule(Random(seed), 7).line for seed in range(3))
    log = open_tuning(records)
    assert [task.workload.name for task in log.tasks] == ["workload 7 (not in the files)"]
    assert len(log.issues.by_rule("workload-missing")) == 1
    few = open_tuning([records, workload("matmul", 1, old=True)])
    assert [task.workload.name for task in few.tasks] == ["workload 7 (not in the files)"]


def test_unreadable_graph_falls_back_to_hash_as_name() -> None:
    record = make.metaschedule(Random(1), 0).line
    for graph in (b"", b"{}", b"[" * 10**5, b'{"nodes": [{"type": "x.Block", "data": {}}]}'):
        content = base64.b64encode(len(graph).to_bytes(8, "little") + graph).decode()
        log = open_tuning([record, json.dumps(["12", content]).encode()])
        assert (log.parts.num_refused, log.tasks[0].workload.name) == (0, "12")


@pytest.mark.parametrize(
    "costs", [[1e10, 2e-3], [2e-3, 1e10]], ids=["first run failed", "last run failed"]
)
def test_a_record_is_valid_if_one_run_is(costs: list[float]) -> None:
    record = json.loads(make.metaschedule(Random(1), 0).line)
    record[1][1] = costs
    log = open_tuning(json.dumps(record).encode())
    assert (log.trials.error.tolist(), log.trials.run_costs.tolist()) == ([0], costs)


def test_a_record_whose_mean_is_not_finite_is_refused() -> None:
    record = json.loads(make.metaschedule(Random(1), 0).line)
    record[1][1] = [1.0, 1.7e308, 1.7e308]
    log = open_tuning([b"[\n" + json.dumps(record).encode()], progress=False)
    assert (len(log), log.parts.refused[-1].why.partition(";")[0]) == (
        *(0, "field [1][1][0]: expected costs whose mean is finite"),
    )
