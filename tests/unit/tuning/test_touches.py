from dataclasses import replace
from math import prod
from typing import Any

import pytest
from hypothesis import given
from unit.tuning.iterated import Nest, nests
from unit.tuning.printed_states import cases, dag, dag_with_bodies, read_steps, steps_of

from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.analysis.tuning.schedules.schedule import why_refused
from tvmdbg_widgets.analysis.tuning.touches import touches
from tvmdbg_widgets.analysis.tuning.workloads import assumed_dag
from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.model.tuning.steps import State

MATMUL = '["matmul_auto_scheduler_test", 64, 48, 96]'


def touched(state: State, loop: str) -> dict[tuple[str, bool], tuple[int | None, int | None]]:
    """Return elements and bytes by buffer and whether it is written, for one loop's name."""
    found = {}
    for each in touches(state):
        if state.stages[each.stage].iterators[each.iterator].name == loop:
            found[each.name, each.is_written] = (each.elements, each.nbytes)
    return found


def tiled(*more: list[Any]) -> State:
    """Return a product of tiles: 8 rows, 12 columns, 16 steps of k."""
    known = assumed_dag("matmul_auto_scheduler_test", [64, 48, 96])
    assert known is not None
    steps: list[list[Any]] = [
        ["SP", 2, 0, 64, [8], 1],
        ["SP", 2, 2, 48, [12], 1],
        ["SP", 2, 4, 96, [16], 1],
        ["RE", 2, [0, 2, 4, 1, 3, 5]],
    ]
    return replay(known, read_steps([*steps, *more]))


def test_tiles_of_a_product() -> None:
    state = tiled()
    a, b, c = ("A", False), ("B", False), ("C", True)
    whole = {a: (64 * 96, 64 * 96 * 4), b: (96 * 48, 96 * 48 * 4), c: (64 * 48, 64 * 48 * 4)}
    assert touched(state, "i.0") == whole
    assert touched(state, "j.0") == {**whole, a: (8 * 96, 3072), c: (8 * 48, 1536)}
    assert touched(state, "k.0") == {a: (8 * 96, 3072), b: (96 * 12, 4608), c: (96, 384)}
    assert touched(state, "i.1") == {a: (8 * 16, 512), b: (16 * 12, 768), c: (96, 384)}
    assert touched(state, "j.1") == {a: (16, 64), b: (16 * 12, 768), c: (12, 48)}
    assert touched(state, "k.1") == {a: (16, 64), b: (16, 64), c: (1, 4)}


def test_stages_inside_a_loop_touch_within_it() -> None:
    state = tiled(["CHR", 0, "shared", [2]], ["CA", 1, 3, 2])
    assert touched(state, "k.0") == {
        ("A", False): (8 * 96, 3072),
        ("A.shared", True): (8 * 96, 3072),
        ("A.shared", False): (8 * 96, 3072),
        ("B", False): (96 * 12, 4608),
        ("C", True): (96, 384),
    }
    assert touched(state, "ax1") == {("A", False): (16, 64), ("A.shared", True): (16, 64)}
    assert ("A", False) not in touched(state, "i.1")
    assert touched(state, "i.1")["A.shared", False] == (8 * 16, 512)


@given(nests())
def test_touched_elements_cover_boxes_of_all_iterations(nest: Nest) -> None:
    found = {
        each.iterator: each.elements
        for each in touches(nest.state)
        if each.stage == 2 and each.name == "P" and not each.is_written
    }
    aligned = all(
        _is_whole(item, sizes) for item, sizes in zip(nest.items, nest.sizes, strict=False)
    )
    for place, elements in found.items():
        widest = max(map(prod, nest.boxes(place)))
        assert elements is None or elements >= min(widest, prod(nest.shape))
        if aligned and not any(item[0] == "FU" for item in nest.items):
            assert elements == widest


def _is_whole(item: list[Any], sizes: list[int]) -> bool:
    return item[0] != "SP" or sizes[item[2]] % prod(item[4]) == 0


def test_inner_loops_touch_no_more_than_outer_loops() -> None:
    for case in cases("policy"):
        sizes: dict[tuple[int, int, bool], int] = {}
        for each in touches(replay(dag_with_bodies(case["workload"]), steps_of(case))):
            if each.elements is not None:
                key = (each.stage, each.buffer, each.is_written)
                assert each.elements <= sizes.get(key, each.elements)
                sizes[key] = each.elements


@pytest.mark.parametrize("name", ["CHW of an inlined stage", "CI of a reduction"])
def test_state_without_bounds_touches_nothing(name: str) -> None:
    case = next(each for each in cases("edge") if each["case"] == name)
    state = replay(dag_with_bodies(case["workload"]), steps_of(case))
    assert why_refused(state)
    assert touches(state) == ()


def test_reads_are_unknown_without_bodies() -> None:
    state = replay(dag(MATMUL), ())
    assert {(each.name, each.elements) for each in touches(state)} == {
        ("C", 64 * 48),
        ("C", 48),
        ("C", 1),
    }
    unknown = replace(state.dag.operations[2].axes[0], extent=None)
    open_dag = replace(state.dag.operations[2], axes=(unknown, state.dag.operations[2].axes[1]))
    operations = (*state.dag.operations[:2], open_dag)
    state = replay(replace(state.dag, operations=operations), ())
    assert touches(state)[0].elements is None


@pytest.mark.parametrize("index", ["1e400", 'T.float32("nan")'])
def test_an_index_that_is_no_number_may_read_everything(index: str) -> None:
    text = f"A = PLACEHOLDER [4]\nB(i) = A[{index}]\n"
    state = replay(parse_dag(text, shapes=[[4], [8]]), ())
    assert touched(state, "i") == {("A", False): (4, None), ("B", True): (8, None)}
