import html
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.tuning.elsewhere.rerun_cases import record
from unit.tuning.printed_states import cases, dag_with_bodies, steps_of

from tvmdbg_widgets.analysis.tuning.schedules.comparison import (
    ScheduleComparison,
    align,
    compare_schedules,
)
from tvmdbg_widgets.analysis.tuning.schedules.nest import nest
from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule

MATMUL = '["matmul_auto_scheduler_test", 64, 48, 96]'
A = [
    *(["SP", 2, 0, 64, [4], 1], ["SP", 2, 2, 48, [6], 1], ["RE", 2, [0, 2, 1, 3, 4]]),
    *(["FU", 2, [0, 1]], ["AN", 2, 0, 3], ["PR", 2, 0, "auto_unroll_max_step$16"]),
]
B = [
    *(["SP", 2, 0, 64, [8], 1], ["SP", 2, 2, 48, [6], 1], ["RE", 2, [0, 2, 1, 3, 4]]),
    *(["FU", 2, [0, 1]], ["AN", 2, 0, 3], ["AN", 2, 2, 2]),
]


def compared(a: list[list[Any]], b: list[list[Any]], key: str = MATMUL) -> ScheduleComparison:
    known = dag_with_bodies(key)
    return compare_schedules(Schedule(record(a), known), Schedule(record(b, row=1), known))


def test_steps_are_compared_field_by_field() -> None:
    found = compared(A, B).steps
    assert [(each.change, each.a, each.b, each.fields) for each in found] == [
        *(("changed", 0, 0, ("lengths",)), ("same", 1, 1, ()), ("same", 2, 2, ())),
        *(("same", 3, 3, ()), ("same", 4, 4, ()), ("only A", 5, -1, ()), ("only B", -1, 5, ())),
    ]
    assert found[0].text_a == "stage 2 (C): split i into 2 parts, factor 4"
    assert found[0].text_b == "stage 2 (C): split i into 2 parts, factor 8"
    assert (found[5].text_b, found[6].text_a) == ("", "")


def test_loops_are_compared_by_stage_and_name() -> None:
    found = [each for each in compared(A, B).lines if each.change != "same"]
    texts = [(each.change, each.text_a.strip(), each.text_b.strip()) for each in found]
    assert texts == [
        ("only A", "C auto_unroll: 16", ""),
        ("changed", "parallel i.0@j.0@ (0,128)", "parallel i.0@j.0@ (0,64)"),
        ("changed", "for i.1 (0,4)", "for i.1 (0,8)"),
        ("changed", "for j.1 (0,6)", "vectorize j.1 (0,6)"),
    ]
    differing = [(), ("extent",), ("extent", "factor"), ("annotation",)]
    assert [each.fields for each in found] == differing


def test_attribute_with_another_value_is_marked_changed() -> None:
    found = compared([A[5]], [["PR", 2, 0, "auto_unroll_max_step$512"]])
    (line,) = (each for each in found.lines if each.change != "same")
    assert (line.text_a, line.text_b) == ("C auto_unroll: 16", "C auto_unroll: 512")
    (step,) = found.steps
    assert step.fields == ("pragma_type",)


def test_equal_schedules_have_no_difference() -> None:
    for case in cases("policy")[::9]:
        items = [each.encode() for each in steps_of(case)]
        found = compared(items, items, case["workload"])
        assert {each.change for each in (*found.steps, *found.lines)} <= {"same"}
        assert found.caption == "0 steps and 0 lines of the loop nest differ"
        assert len(found.steps) == len(items)


@pytest.mark.parametrize("gap", [1, 3])
def test_comparison_keeps_every_step_and_line_in_order(gap: int) -> None:
    of_one = [case for case in cases("policy") if "matmul_add" in case["workload"]]
    for a, b in zip(of_one, of_one[gap:], strict=False):
        steps = [[each.encode() for each in steps_of(case)] for case in (a, b)]
        found = compared(*steps, a["workload"])
        for side, items in (("a", steps[0]), ("b", steps[1])):
            assert [getattr(x, side) for x in found.steps if getattr(x, side) >= 0] == [
                *range(len(items))
            ]
        shown = found.a.shown
        assert shown is not None
        lines = nest(shown, hide_ones=False)
        assert [each.a for each in found.lines if each.a >= 0] == [*range(len(lines))]


def test_texts_of_files_are_escaped() -> None:
    found = compared([["CHW", 2, "<b>"]], [["CHW", 2, "<i>\n"]])
    assert "<i>" not in found._repr_html_()
    assert "\n" not in "".join(each.text_b for each in found.steps)
    assert all(line.isprintable() for line in repr(found).splitlines())


@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 5), max_size=12))
def test_alignment_keeps_both_orders(a: list[int], b: list[int]) -> None:
    pairs = align(a, b, lambda value: value, lambda value: value // 2)
    assert [left for left, _ in pairs if left is not None] == [*range(len(a))]
    assert [right for _, right in pairs if right is not None] == [*range(len(b))]
    matched = [(x, y) for x, y in pairs if x is not None and y is not None]
    assert all(a[x] // 2 == b[y] // 2 for x, y in matched)
    assert all(x < z and y < w for (x, y), (z, w) in pairwise(matched))


def test_long_sequences_are_paired_by_position() -> None:
    assert align([0] * 5_000, [0] * 5_001, lambda value: value)[-1] == (None, 5_000)


def test_loops_that_print_alike_are_not_marked_and_keep_their_indent() -> None:
    # An inner split of an outermost part of 1 has a factor that is not printed.
    a = [["SP", 2, 0, 64, [1, 8], 1], ["SP", 2, 2, 48, [6], 1]]
    found = compared(a, [["SP", 2, 0, 64, [4, 8], 1], ["SP", 2, 2, 48, [6], 1]])
    for line in found.lines:
        assert (line.change == "same") == (line.text_a == line.text_b)
    changed = [line.text_a for line in found.lines if line.change == "changed"]
    assert changed
    assert all(f"A {text}" in repr(found) for text in changed)
    page = found._repr_html_()
    assert "white-space: pre" in page
    assert all(html.escape(line.text_a) in page for line in found.lines)
