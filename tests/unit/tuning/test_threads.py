"""Threads of a block by the steps, against the loops TVM prints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.tuning.printed_states import cases, read_steps, steps_of
from tvmdbg_widgets.analysis.tuning.hardware_limits import UNKNOWN, threads_per_block

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
