import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from unit.tuning.iterated import Nest, nests, windows
from unit.tuning.printed_states import COPIED, cases, dag, dag_with_bodies, read_steps, steps_of

from tvmdbg_widgets.analysis.tuning.schedules.nest import print_state
from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.analysis.tuning.schedules.schedule import infer_bounds, why_refused
from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.model.tuning.steps import State

CASES = [
    pytest.param(case, id=f"{name}: {case['case']}")
    for name in COPIED
    for case in cases(name)
    if "printed_state" in case
]
BOUNDED = [each for each in CASES if each.values[0]["printed_inferred"] is not None]
REFUSED = [each for each in CASES if each.values[0]["printed_inferred"] is None]


def state_of(case: dict[str, Any]) -> State:
    return replay(
        dag_with_bodies(case["workload"], case.get("conv_name", "compute")), steps_of(case)
    )


@pytest.mark.parametrize("case", BOUNDED)
def test_bounds_are_printed_as_tvm_prints_them(case: dict[str, Any]) -> None:
    state = infer_bounds(state_of(case))
    assert print_state(state) == case["printed_inferred"]
    everything = case["printed_inferred_all"] or case["printed_inferred"]
    assert print_state(state, hide_ones=False) == everything


@pytest.mark.parametrize("case", REFUSED)
def test_states_refused_by_tvm_keep_their_bounds(case: dict[str, Any]) -> None:
    state = state_of(case)
    assert case["infer_error"]
    assert infer_bounds(state) is state
    assert why_refused(state)


@pytest.mark.parametrize("file", ["records_known", "records_nnfusion"])
def test_bounds_of_real_records(corpus: Path, file: str) -> None:
    folder = corpus / "tuning"
    for text in (folder / "printed_states" / f"{file}.jsonl").read_text().splitlines():
        case = json.loads(text)
        line = (folder / case["source"]).read_bytes().split(b"\n")[int(case["line"]) - 1]
        steps = read_steps(json.loads(line)["i"][1][1])
        known = dag_with_bodies(case["workload"], case.get("conv_name") or "compute")
        state = infer_bounds(replay(known, steps))
        assert print_state(state) == case["printed_inferred"]
        everything = case["printed_inferred_all"] or case["printed_inferred"]
        assert print_state(state, hide_ones=False) == everything


def test_without_bodies_only_outputs_are_known() -> None:
    for case in cases("policy"):
        state = replay(dag(case["workload"]), steps_of(case))
        everything = case["printed_inferred_all"] or case["printed_inferred"]
        found = print_state(infer_bounds(state), hide_ones=False)
        for ours, true in zip(found.splitlines(), everything.splitlines(), strict=True):
            assert ours == true or ours.endswith("(None)") or why_refused(state)


@pytest.mark.parametrize(
    "step",
    [
        *(["SA", 2, 3, 8, 4], ["SA", 0, 0, 8, 4], ["PR", 0, 0, "auto_unroll_max_step$16"]),
        *(["PR", 2, 3, "debug_skip_region"], ["PR", 9, 0, "debug_skip_region"], ["FU", 0, []]),
        ["RE", 0, []],
    ],
    ids=lambda step: " ".join(map(str, step)),
)
def test_steps_that_name_no_loop_are_refused(step: list[Any]) -> None:
    """``ApplyToSchedule`` looks loops up by stage, and placeholders have none there."""
    known = dag_with_bodies('["matmul_auto_scheduler_test", 64, 48, 96]')
    state = replay(known, read_steps([step]))
    assert infer_bounds(state) is state
    assert "place" in why_refused(state) or "no loop 3" in why_refused(state) or step[1] == 9


def test_unroll_pragma_on_missing_loop_is_accepted() -> None:
    """Of a pragma to unroll only the stage must be there (PragmaStepNode::ApplyToSchedule)."""
    known = dag_with_bodies('["matmul_auto_scheduler_test", 64, 48, 96]')
    state = replay(known, read_steps([["PR", 2, 3, "auto_unroll_max_step$16"]]))
    assert why_refused(state) == ""


#: An uneven split whose parts run in another order, and one in three whose parts are fused.
UNEVEN = [
    Nest(windows((4, 4, 4)), [["SP", 2, 1, 0, [1, 3], 0], ["FU", 2, [0, 1]], ["RE", 2, order]], 1)
    for order in ([0, 2, 1, 3], [0, 2, 3, 1])
]
IN_THREE = Nest(windows((7, 1, 1)), [["SP", 2, 0, 0, [2, 3], 0], ["FU", 2, [1, 2]]], 0)


@given(nests())
@example(UNEVEN[0])
@example(UNEVEN[1])
@example(IN_THREE)
def test_inferred_regions_cover_reads_of_every_iteration(nest: Nest) -> None:
    """They reach as far as iterations beyond uneven splits, which ``PassUpDomain`` keeps."""
    state = infer_bounds(nest.state)
    found = [each.extent for each in state.stages[1].iterators]
    fused = any(item[0] == "FU" for item in nest.items)
    if None in found:  # where a part of a fused loop is no whole number of rows
        assert fused
        return
    inside = nest.place + 1
    boxes, reached = nest.boxes(inside), nest.boxes(0 if fused else inside, cut=False)
    for side in range(len(nest.shape)):
        widest, farthest = (max(box[side] for box in each) for each in (boxes, reached))
        assert widest <= found[side] <= farthest


FOLDED = 60


def test_exponential_inlining_leaves_extent_unknown() -> None:
    chain = "".join(f"P{at + 1}(x) = (P{at}[(x + x)] + P{at}[(x - x)])\n" for at in range(FOLDED))
    text = f"A = PLACEHOLDER [4]\nP0(x) = A[x]\n{chain}C(i) = P{FOLDED}[i]\n"
    steps = [["CI", at + 2] for at in range(FOLDED)]
    state = replay(parse_dag(text), read_steps([*steps, ["CA", 1, FOLDED + 2, 0]]))
    assert infer_bounds(state).stages[1].iterators[0].extent is None
