from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.tuning.printed_states import dag, read_steps

from tvmdbg_widgets.analysis.tuning.schedules.nest import nest
from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.analysis.tuning.schedules.working import ReplayError
from tvmdbg_widgets.model.tuning.trials import ComputeDag

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
