from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from unit.tuning.dags_with_bodies import dag_with_bodies
from unit.tuning.printed_states import COPIED, cases, dag, dag_rows, read_steps, steps_of

from tvmdbg_widgets.analysis.tuning.schedules.nest import nest, print_state
from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.analysis.tuning.schedules.working import ReplayError
from tvmdbg_widgets.formats.tuning.ansor import parse_steps
from tvmdbg_widgets.formats.tuning.lines import LineProblem
from tvmdbg_widgets.model.tuning.steps import State

PRINTED = [
    pytest.param(case, id=f"{name}: {case['case']}")
    for name in COPIED
    for case in cases(name)
    if "printed_state" in case
]


def state_of(case: dict[str, Any], release: tuple[int, int] = (0, 8)) -> State:
    return replay(dag(case["workload"], case.get("conv_name", "compute")), steps_of(case), release)


@pytest.mark.parametrize("case", PRINTED)
def test_states_are_printed_as_tvm_prints_them(case: dict[str, Any]) -> None:
    state = state_of(case)
    assert print_state(state) == case["printed_state"]
    everything = case["printed_state_all"] or case["printed_state"]
    assert print_state(state, hide_ones=False) == everything


@pytest.mark.parametrize("row", dag_rows(), ids=lambda row: f"{row['workload']} {row['conv_name']}")
def test_initial_states_are_printed_as_tvm_prints_them(row: dict[str, Any]) -> None:
    state = replay(dag(row["workload"], row["conv_name"]), ())
    assert print_state(state) == row["printed_initial"]
    everything = row["printed_initial_all"] or row["printed_initial"]
    assert print_state(state, hide_ones=False) == everything


def test_products_beyond_32_bits_wrap_in_later_releases() -> None:
    found = [case for case in cases("edge") if "printed_state_v0.19" in case]
    assert found
    for case in found:
        assert print_state(state_of(case, (0, 19))) == case["printed_state_v0.19"]


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


@pytest.mark.parametrize("name", ["synthetic", "random", "policy"])
def test_schedules_accepted_by_tvm_replay_with_known_bodies(name: str) -> None:
    for case in cases(name):
        known = dag_with_bodies(case["workload"])
        assert print_state(replay(known, steps_of(case))) == case["printed_state"]


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
    assert found["for i.1 (0,8)"] == (0, (0,))
    assert found["matmul auto_unroll: 16"] == (5, (5,))
    assert found["matmul = ..."] == (4, (4, 5))
    assert found["out = ..."] == (-1, (1,))
