"""Steps replayed as TVM does, and hostile ones."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.tuning.printed_states import (
    COPIED,
    cases,
    dag,
    dag_rows,
    dag_with_bodies,
    read_steps,
    steps_of,
)

from tvmdbg_widgets.analysis.tuning.schedules.nest import nest, print_state
from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.analysis.tuning.schedules.working import ReplayError
from tvmdbg_widgets.formats.tuning.ansor import parse_steps
from tvmdbg_widgets.formats.tuning.lines import LineProblem
from tvmdbg_widgets.model.tuning.steps import State
from tvmdbg_widgets.model.tuning.trials import ComputeDag

PRINTED = [
    pytest.param(case, id=f"{name}: {case['case']}")
    for name in COPIED
    for case in cases(name)
    if "printed_state" in case
]


def state_of(case: dict[str, Any]) -> State:
    return replay(dag(case["workload"], case.get("conv_name", "compute")), steps_of(case))


@pytest.mark.parametrize("case", PRINTED)
def test_states_are_printed_as_tvm_prints_them(case: dict[str, Any]) -> None:
    state = state_of(case)
    known = dag_with_bodies(case["workload"], case.get("conv_name", "compute"))
    with_bodies = replay(known, steps_of(case))
    assert print_state(state) == print_state(with_bodies) == case["printed_state"]
    everything = case["printed_state_all"] or case["printed_state"]
    assert print_state(state, hide_ones=False) == everything


@pytest.mark.parametrize("row", dag_rows(), ids=lambda row: f"{row['workload']} {row['conv_name']}")
def test_initial_states_are_printed_as_tvm_prints_them(row: dict[str, Any]) -> None:
    state = replay(dag(row["workload"], row["conv_name"]), ())
    assert print_state(state) == row["printed_initial"]
    everything = row["printed_initial_all"] or row["printed_initial"]
    assert print_state(state, hide_ones=False) == everything


@pytest.mark.parametrize("file", ["records_known", "records_nnfusion"])
def test_real_records_are_printed_as_tvm_prints_them(corpus: Path, file: str) -> None:
    folder = corpus / "tuning"
    for text in (folder / "printed_states" / f"{file}.jsonl").read_text().splitlines():
        case = json.loads(text)
        line = (folder / case["source"]).read_bytes().split(b"\n")[int(case["line"]) - 1]
        steps = read_steps(json.loads(line)["i"][1][1])
        state = replay(dag(case["workload"], case.get("conv_name") or "compute"), steps)
        assert print_state(state) == case["printed_state"]
        everything = case["printed_state_all"] or case["printed_state"]
        assert print_state(state, hide_ones=False) == everything


REFUSED = {
    "AN iterator out of range": (0, "AN", "iter_id", "no loop 3 among the 3 of stage 2 ('C')"),
    "FU not consecutive": (0, "FU", "fused_ids", "must follow each other"),
    "FU of a carrying loop that is not the last": (1, "FU", "fused_ids", "attached to loop 'i'"),
    "PR without $": (0, "PR", "pragma_type", "needs a number"),
    "SP length 0": (0, "SP", "lengths", "factors must be 1 to"),
    "SP iterator out of range": (0, "SP", "iter_id", "no loop 3"),
    "SP on a 0-d stage": (0, "SP", "iter_id", "no loop 0 among the 0 of stage 1 ('B')"),
    "CHR of the final stage": (0, "CHR", "reader_stage_ids", "does not read stage 2"),
    "CHW of a placeholder": (0, "CHW", "", "placeholder"),
    "RF after RE of the stage": (2, "RF", "iter_id", "no reduction axis"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_steps_refused_by_tvm_raise_replay_error_with_reason(name: str) -> None:
    case = next(case for case in cases("edge") if case["case"] == name)
    assert "error" in case
    step, code, field, words = REFUSED[name]
    with pytest.raises(ReplayError) as refused:
        state_of(case)
    problem = refused.value
    assert (problem.step, problem.code, problem.field) == (step, code, field)
    assert words in str(problem)
    assert str(problem).startswith(f"step {step} ({code})")


def test_odd_schedules_are_printed_or_refused_like_tvm() -> None:
    """As a log has it: what is no step at all, reading refuses."""
    for case in cases("edge"):
        known = dag_with_bodies(case["workload"])
        if "error" in case:
            with pytest.raises((LineProblem, ReplayError)):
                replay(known, parse_steps(case["steps"]))
        else:
            printed = print_state(replay(known, parse_steps(case["steps"])))
            assert printed == case["printed_state"]


def test_cache_read_for_stage_that_does_not_read_is_refused() -> None:
    known = dag_with_bodies('["matmul_add", 64, 96, 48, "float32"]')
    with pytest.raises(ReplayError, match=r"stage 4 does not read stage 0 \('A'\)"):
        replay(known, read_steps([["CHR", 0, "shared", [4]]]))
    twice = read_steps([["CHR", 0, "shared", [2]], ["CHR", 0, "local", [3]]])
    with pytest.raises(ReplayError, match="stage 3 does not read stage 0"):
        replay(known, twice)


@pytest.mark.parametrize("code", ["FSP", "FFSP"])
def test_follow_split_can_refer_to_a_later_split(code: str) -> None:
    """TVM looks among all steps of the record (``ExtractSplitLengths``)."""
    follow = ["FSP", 4, 0, 1, 1] if code == "FSP" else ["FFSP", 4, 0, [1], 0, 1]
    items = [follow, ["SP", 2, 0, 64, [4], 1]]
    state = replay(dag('["matmul_add", 64, 96, 48, "float32"]'), parse_steps(items))
    assert [each.extent for each in state.stages[4].iterators] == [16, 4, 48]
    assert replay(None, parse_steps(items)).stages[4].iterators[1].extent == 4


def test_nest_lines_name_their_steps() -> None:
    steps = read_steps(
        [
            *(["SP", 4, 0, 64, [8], 1], ["RE", 4, [0, 2, 1]], ["FU", 4, [0, 1]], ["AN", 4, 0, 3]),
            *(["CA", 2, 4, 0], ["PR", 2, 0, "auto_unroll_max_step$16"]),
        ]
    )
    state = replay(dag('["matmul_add", 64, 96, 48, "float32"]'), steps)
    found = {line.text: (line.step, line.steps) for line in nest(state)}
    assert found["parallel i.0@j@ (0,384)"] == (3, (0, 2, 3))
    assert (found["for i.1 (0,8)"], found["matmul auto_unroll: 16"]) == ((0, (0,)), (5, (5,)))
    assert (found["matmul = ..."], found["out = ..."]) == ((4, (4, 5)), (-1, (1,)))


DAGS = (
    '["matmul_add", 64, 96, 48, "float32"]',
    '["two_outputs_test", 24]',
    '["conv2d_layer", 1, 14, 14, 32, 16, 3, 3, [1, 1], [1, 1]]',
    '["zero_rank_reduce_auto_scheduler_test", 128]',
)
small = st.integers(0, 8)
number = st.one_of(
    small, small, small, st.integers(-3, 40), st.sampled_from([2**31, 2**63, -(2**70)])
)
numbers = st.lists(number, max_size=6)
runs = st.builds(lambda start, length: list(range(start, start + length)), small, st.integers(0, 4))
orders = st.integers(0, 6).flatmap(lambda length: st.permutations(range(length)))
lengths = st.lists(st.one_of(st.integers(1, 9), number), max_size=4)
scopes = st.sampled_from(["shared", "local", "", "a" * 900])
pragmas = st.sampled_from(
    ["auto_unroll_max_step$16", "auto_unroll_max_step$" + "9" * 30, "debug_skip_region", "x", "$"]
)
step = st.one_of(
    st.tuples(st.just("AN"), number, number, st.integers(0, 11)),
    st.tuples(st.just("FU"), number, st.one_of(runs, numbers)),
    st.tuples(st.just("PR"), number, number, pragmas),
    st.tuples(st.just("RE"), number, st.one_of(orders.map(list), numbers)),
    st.tuples(st.just("SP"), number, number, number, lengths, st.integers(0, 1)),
    st.tuples(st.just("FSP"), number, number, number, number),
    st.tuples(st.just("FFSP"), number, number, numbers, number, st.integers(0, 1)),
    st.tuples(st.just("SA"), number, number, number, number),
    st.tuples(st.just("CA"), number, number, number),
    st.tuples(st.just("CI"), number),
    st.tuples(st.just("CR"), number),
    st.tuples(st.just("CHR"), number, scopes, numbers),
    st.tuples(st.just("CHW"), number, scopes),
    st.tuples(st.just("RF"), number, number, number),
).map(list)


def outcome(known: ComputeDag | None, items: list[list[Any]]) -> bool:
    """Whether the steps are replayed; all but a ReplayError is a failure."""
    try:
        nest(replay(known, read_steps(items)))
    except ReplayError:
        return False
    return True


@given(st.sampled_from(DAGS), st.lists(step, max_size=24))
def test_any_steps_are_replayed_or_refused(workload: str, items: list[list[Any]]) -> None:
    outcome(dag(workload), items)
    outcome(None, items)


@given(st.sampled_from(DAGS), st.lists(step, max_size=60))
def test_applicable_steps_are_replayed(workload: str, items: list[list[Any]]) -> None:
    """Sequences grow by what is not refused, so that they come far."""
    legal: list[list[Any]] = []
    for each in items:
        if outcome(dag(workload), [*legal, each]):
            legal.append(each)
    assert outcome(dag(workload), legal)
    outcome(None, legal)


HUGE = {
    "splits that double a stage's loops": [["SP", 2, 0, 0, [1] * 12, 1]] * 200,
    "names that grow fourfold": [["SP", 2, 0, 0, [1, 1, 1], 1], ["FU", 2, [0, 1, 2, 3]]] * 40,
    "extents that grow by 31 bits": [
        *[["SP", 2, 0, 0, [2**31 - 1] * 3, 1]],
        *[["FU", 2, [1, 2, 3]]],
    ],
    "many factors": [["SP", 2, 0, 0, [2] * 100_000, 1]],
    "many followed factors": [["FSP", 2, 0, 1, 1], ["SP", 2, 0, 0, [2**31 - 1] * 1_000_000, 1]],
    "many followed steps": [["SP", 2, 0, 0, [2**30], 1], ["FFSP", 2, 0, [0] * 1_000_000, 0, 1]],
    "many loops in an order": [["RE", 2, [0] * 1_000_000]],
    "many stages": [["CHW", 2, "local"]] * 2_000,
    "long scopes": [["CHW", 2, "x" * 100_000]],
    "many steps": [["CR", 2]] * 20_000,
    "a number of 10^6 digits": [["SA", 2, 0, 1, 10**1_000_000]],
    "an unroll of 10^6 digits": [["PR", 2, 0, "auto_unroll_max_step$" + "9" * 1_000_000]],
    "stages attached to each other": [
        *[["CA", 2, 4, 0], ["CA", 4, 2, 0], ["CHW", 2, "local"], ["AN", 3, 0, 1]]
    ],
    "a stage far away": [["CI", 2**62]],
}


@pytest.mark.parametrize("case", HUGE)
@pytest.mark.parametrize("known", [True, False], ids=["with a DAG", "without"])
def test_exploding_steps_are_refused_quickly(case: str, known: bool) -> None:
    steps = read_steps(HUGE[case])
    begin = time.process_time()
    with pytest.raises(ReplayError):
        replay(dag(DAGS[0]) if known else None, steps)
    assert time.process_time() - begin < 5
