"""Floating-point operations of a DAG and threads of a block, against what TVM prints."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from unit.tuning.printed_states import dag, dag_with_bodies

from tests.formats.tuning.test_dag_text import PADDED
from tests.unit.tuning.printed_states import cases, read_steps, steps_of
from tvmdbg_widgets.analysis.tuning.hardware_limits import UNKNOWN, threads_per_block
from tvmdbg_widgets.analysis.tuning.step_words import flop_count
from tvmdbg_widgets.analysis.tuning.workloads import assumed_dag
from tvmdbg_widgets.formats.tuning.dag_text import parse_dag

# What TVM's own test says of FlopEstimator (tests/python/auto_scheduler/
# test_auto_scheduler_compute_dag.py), for n = 512, and what the README of TenSet prints.
N = 512
OF_TVM = {
    "": 2 * N**3,
    "compute(i0, i1) = max(C[i0, i1], 0f)\n": 2 * N**3 + N * N,
    "PadInput(i0, i1) = tir.if_then_else(((((i0 >= 1) && (i0 < 513)) && (i1 >= 1)) && (i1 < 513)), "
    "C[(i0 - 1), (i1 - 1)], 0f)\n": 2 * N**3,
}


@pytest.mark.parametrize("more", OF_TVM)
def test_flop_counts_match_tvm_test(more: str) -> None:
    inputs = f"A = PLACEHOLDER [{N}, {N}]\nB = PLACEHOLDER [{N}, {N}]\n"
    found = parse_dag(f"{inputs}C(i, j) += (A[i, k]*B[k, j])\n{more}")
    *others, last = found.operations
    axes = tuple(replace(axis, extent=axis.extent or N + 2) for axis in last.axes)
    whole = replace(found, operations=(*others, replace(last, axes=axes)))
    assert flop_count(whole) == OF_TVM[more]


def test_flop_count_of_network_layer() -> None:
    shapes = [[1, 56, 56, 64], [3, 3, 64, 128], [1, 1, 1, 128], [1, 28, 28, 128]]
    found = parse_dag(PADDED, shapes=shapes)
    assert flop_count(found) is None  # how far the padding goes is not in the text
    operations = list(found.operations)
    axes = [replace(axis, extent=axis.extent or 58) for axis in operations[1].axes]
    operations[1] = replace(operations[1], axes=tuple(axes))
    assert flop_count(replace(found, operations=tuple(operations))) == 115806208.0


def test_integer_operations_count_in_integer_stages() -> None:
    text = (
        "A = PLACEHOLDER [8]\n"
        "P(i) = tir.if_then_else(((i >= 1) && (i < 9)), A[(i - 1)], (int8)0)\n"
        "B(j) = (int32(P[j])*2)\n"
        "C(j) = max((float32(B[j]) + 0.5f), (float32(j)*2f))\n"
    )
    found = parse_dag(text)
    sized = [
        replace(each, axes=tuple(replace(axis, extent=10) for axis in each.axes))
        for each in found.operations
    ]
    # TVM takes the comparisons of indices for arithmetic of the integers that are computed.
    assert flop_count(replace(found, operations=tuple(sized))) == 10 * 2 + 10 + 10 * 3


def test_flop_count_is_none_when_work_is_unknown() -> None:
    assert flop_count(dag('["matmul_auto_scheduler_test", 64, 48, 96]')) is None
    sparse = '["sparse_dense", 512, 512, 512, [9831, 16, 1], [9831], [33], "float32"]'
    assert flop_count(dag_with_bodies(sparse)) is None
    assert assumed_dag(*json.loads(json.dumps(["sparse_dense", []]))) is None
    select = "select((lhs_1 >= rhs_1), lhs_{0}, rhs_{0})= (k,A[i, k])"
    text = f"A = PLACEHOLDER [4, 6]\nB(i).v0 {select.format(0)}\nB(i).v1 {select.format(1)}\n"
    assert flop_count(parse_dag(text)) is None
    assert flop_count(parse_dag('A = PLACEHOLDER [4]\nB(i) = tir.call("f", A[i])\n')) is None


ON_GPU = [each for each in cases("policy") if "cuda" in each["case"] and each["printed_inferred"]]


def printed_threads(case: dict[str, Any]) -> int:
    text = case["printed_inferred_all"] or case["printed_inferred"]
    return max(map(int, re.findall(r"threadIdx\.x \S+ \(0,(\d+)\)", text)), default=0)


def test_thread_count_matches_printed_loops_or_is_unknown() -> None:
    assert len({printed_threads(case) for case in ON_GPU}) > 10
    found = {case["case"]: threads_per_block(steps_of(case)) for case in ON_GPU}
    wrong = {
        case["case"]: (found[case["case"]], printed_threads(case))
        for case in ON_GPU
        if found[case["case"]] not in (printed_threads(case), UNKNOWN)
    }
    assert not wrong
    # Loops of less than a warp are bound whole: their extents are the DAG's.
    assert sum(each == UNKNOWN for each in found.values()) <= len(found) / 3


@pytest.mark.parametrize(
    ("items", "threads"),
    [
        ([["SP", 1, 0, 64, [32], 1], ["AN", 1, 1, 6]], 32),
        ([["SP", 1, 0, 64, [32], 0], ["AN", 1, 0, 6]], 32),
        ([["SP", 1, 0, 64, [32], 1], ["AN", 1, 0, 6]], UNKNOWN),
        ([["AN", 1, 0, 6]], UNKNOWN),
        ([["SP", 1, 0, 64, [4, 8], 1], ["AN", 1, 1, 8], ["AN", 1, 2, 6]], 32),
        ([["SP", 1, 0, 64, [4, 8], 1], ["FU", 1, [1, 2]], ["AN", 1, 1, 6]], 32),
        ([["SP", 1, 0, 64, [8], 1], ["RE", 1, [1, 0]], ["AN", 1, 0, 6]], 8),
        ([["SP", 1, 0, 64, [8], 1], ["CHW", 1, "local"], ["AN", 2, 1, 6]], UNKNOWN),
        ([["SP", 1, 0, 64, [8], 1], ["CHR", 0, "shared", [1]], ["AN", 2, 1, 6]], 8),
        ([["SP", 1, 0, 8, [2, 3, 4], 1], ["FSP", 2, 0, 0, 2], ["AN", 2, 2, 6]], 12),
        ([["SP", 1, 0, 8, [2], 1], ["FFSP", 2, 0, [0], 3, 1], ["AN", 2, 1, 6]], UNKNOWN),
        ([["SP", 1, 0, 8, [2], 1]], 0),
        ([], 0),
    ],
)
def test_thread_count_is_known_only_when_steps_determine_it(
    items: Sequence[list[Any]], threads: int
) -> None:
    assert threads_per_block(read_steps(list(items))) == threads


@pytest.mark.parametrize(
    "items",
    [
        *([["AN", 2**31 - 1, 0, 6]], [["AN", 0, 2**31 - 1, 6]], [["RE", 0, [2**31 - 1, 0]]]),
        *([["FU", 0, [0, 2**31 - 1]]], [["SP", 0, 2**31 - 1, 4, [2], 1]]),
        [["SP", 0, 0, 4, [2**31 - 1] * 9, 1], ["FU", 0, list(range(1, 10))], ["AN", 0, 1, 6]],
        [["SP", 0, 0, 4, [2] * 5000, 1], ["FSP", 0, 0, 0, 1], ["AN", 0, 1, 6]],
    ],
)
def test_threads_are_unknown_for_hostile_numbers(items: list[list[Any]]) -> None:
    assert threads_per_block(read_steps(items)) == UNKNOWN
