"""Ansor records against a generator that knows the format and not the reader."""

from dataclasses import fields
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.make import tuning_cases as make
from tvmdbg_widgets import TuningLog, open_tuning
from tvmdbg_widgets.formats.tuning.record import read_record
from tvmdbg_widgets.model.tuning.measure_errors import Record
from tvmdbg_widgets.model.tuning.parts import HardwareParams

SEEDS = st.integers(0, 2**32)


def check_record(record: Record, case: make.Case) -> None:
    """Every field of a record is what its line says."""
    assert (record.line, record.error) == (case.line, case.error)
    assert list(record.costs) == ([] if case.error else case.costs)
    assert (record.all_cost, record.timestamp) == (case.all_cost, case.timestamp)
    assert record.version == case.version
    check_task(record.task, case.task)
    assert len(record.steps) == len(case.steps)
    for step, written in zip(record.steps, case.steps, strict=True):
        name, *names = make.STEP_FIELDS[written[0]]
        assert type(step).__name__ == name
        assert [each.name for each in fields(step)] == names
        found = [getattr(step, each) for each in names]
        assert [list(each) if isinstance(each, tuple) else each for each in found] == written[1:]


def check_task(task: Any, written: list[Any]) -> None:
    assert (task.tuner, task.workload_key, task.target.text) == ("ansor", written[0], written[1])
    assert task.fields == len(written)
    hardware = None if task.hardware is None else task.hardware.to_list()
    host = "" if task.target_host is None else task.target_host.text
    names = None if task.input_names is None else list(task.input_names)
    found = [hardware, host, task.layout_rewrite, names][: len(written) - 2]
    assert found == written[2:]


def log_of(*cases: make.Case) -> TuningLog:
    return open_tuning(b"".join(case.line + b"\n" for case in cases))


@given(SEEDS)
def test_every_field_of_a_record_is_read(seed: int) -> None:
    case = make.ansor(Random(seed))
    log = log_of(case)
    assert log.parts.num_refused == 0, log.parts.refused
    check_record(read_record(log.parts, 0), case)


@given(SEEDS, st.booleans())
def test_columns_match_the_generated_records(seed: int, usual: bool) -> None:
    """Records follow each other, so that parts of them are known from those before."""
    random = Random(seed)
    cases = [make.ansor(random, usual=usual) for _ in range(8)]
    cases += [make.ansor(Random(seed), usual=usual), cases[0]]
    log = log_of(*cases)
    trials = log.trials
    assert len(trials) == len(cases), log.parts.refused
    assert trials.error.tolist() == [case.error for case in cases]
    assert trials.all_cost.tolist() == [case.all_cost for case in cases]
    assert trials.timestamp.tolist() == [case.timestamp for case in cases]
    assert list(trials.version) == [case.version for case in cases]
    assert trials.unroll.tolist() == [make.unroll(case.steps) for case in cases]
    assert trials.line.tolist() == list(range(1, len(cases) + 1))
    assert trials.length.tolist() == [len(case.line) for case in cases]
    for row, case in enumerate(cases):
        begin, end = trials.run_offsets[row : row + 2]
        costs = [] if case.error else case.costs
        assert trials.run_costs[begin:end].tolist() == costs
        mean = pytest.approx(sum(costs) / len(costs), rel=1e-14) if costs else None
        assert np.isnan(trials.cost[row]) if mean is None else trials.cost[row] == mean
        identity = log.tasks[trials.task[row]]
        assert [identity.workload_key, identity.target.text] == case.task[:2]
        assert read_record(log.parts, row).line == case.line
    assert trials.schedule[-1] == trials.schedule[0]


@given(SEEDS)
def test_equal_schedules_have_equal_numbers(seed: int) -> None:
    random = Random(seed)
    first, other = (make.ansor(random, version="v0.6", usual=True) for _ in range(2))
    again = first.line.partition(b'"r": ')[0] + b'"r": [[0.5], 0, 1, 2], "v": "v0.6"}'
    log = open_tuning(first.line + b"\n" + other.line + b"\n" + again)
    same = (first.task, first.steps) == (other.task, other.steps)
    numbers = log.trials.schedule
    assert numbers[0] == numbers[2]
    assert (numbers[0] == numbers[1]) == same


def test_records_with_one_key_and_target_share_a_task() -> None:
    old, new = (make.ansor(Random(4), version=version, usual=True) for version in ("v0.2", "v0.6"))
    assert old.task[:2] == new.task[:2]
    log = log_of(old, new)
    assert (len(log.tasks), log.tasks[0].fields) == (1, 2)
    assert not log.issues.by_rule("task-differs")


def test_differing_hardware_parameters_are_reported_once() -> None:
    line = make.ansor(Random(1), version="v0.6", usual=True).line
    other = line.replace(b'", [', b'", [77', 1)
    log = open_tuning(b"\n".join([line, other, other, line]))
    assert (len(log.tasks), len(log.trials)) == (1, 4)
    (issue,) = log.issues.by_rule("task-differs")
    assert "hardware parameters" in issue.message


@pytest.mark.parametrize(
    ("result", "rule"),
    [
        (b"[[0.5], 4, 1, 2]", "error-with-costs"),
        (b"[[], 6, 15, 2]", "error-with-costs"),
        (b"[[1e+10, 1e+10], 6, 15, 2]", "error-with-costs"),
        (b"[[1e+10], 0, 1, 2]", "cost-without-error"),
    ],
)
def test_trials_with_contradictory_costs_are_kept_and_reported(result: bytes, rule: str) -> None:
    line = make.ansor(Random(1), usual=True).line
    odd = line.partition(b'"r": ')[0] + b'"r": ' + result + b', "v": "v0.6"}'
    log = open_tuning(b"\n".join([line, odd, odd]))
    assert len(log.trials) == 3
    (issue,) = log.issues.by_rule(rule)
    assert "line 2" in issue.message
    assert np.isnan(log.trials.cost[1]) == (rule == "error-with-costs")


@pytest.mark.parametrize(
    ("slot", "registers", "told"),
    [
        (65536, 65536, "max_registers_per_block=65536"),
        (2147483647, None, "max_local_memory_per_block=2147483647"),
    ],
)
def test_fifth_hardware_parameter_is_named_by_its_meaning(
    slot: int, registers: int | None, told: str
) -> None:
    hardware = HardwareParams(-1, 16, 64, 49152, slot, 1024, 8, 32)
    assert told in repr(hardware)
    meanings = hardware.max_registers_per_block, hardware.max_local_memory_per_block
    assert meanings == (registers, slot if registers is None else None)
    assert repr(hardware).startswith("HardwareParams(num_cores=-1, vector_unit_bytes=16")
