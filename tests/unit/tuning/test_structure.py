import json
from collections.abc import Iterator
from itertools import islice
from math import prod
from pathlib import Path

import pytest
from unit.tuning.printed_states import cases, dag, dag_rows, read_steps, steps_of

from tvmdbg_widgets.analysis.tuning.schedules.nest import nest
from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.analysis.tuning.structure import TileRow, tile_structure
from tvmdbg_widgets.model.tuning.steps import AnyStep, ComputeAt, State
from tvmdbg_widgets.model.tuning.trials import ComputeDag

MATMUL = '["matmul_auto_scheduler_test", 64, 48, 96]'
#: The sketch for GPUs as tuning writes it: tiles, a local cache, cooperative fetching. The extents
#: of the two shared copies' splits are stale: 768 and 96 were those of another program.
GPU = [
    *(["CHW", 2, "local"], ["SP", 2, 0, 64, [2, 8, 1, 2], 1], ["SP", 2, 5, 48, [1, 4, 3, 1], 1]),
    *(["SP", 2, 10, 96, [4, 2], 1], ["RE", 2, [0, 5, 1, 6, 2, 7, 10, 11, 3, 8, 12, 4, 9]]),
    *(["FSP", 3, 0, 1, 3], ["FSP", 3, 4, 2, 3], ["RE", 3, [0, 4, 1, 5, 2, 6, 3, 7]]),
    *(["CA", 2, 3, 5], ["CHR", 1, "shared", [2]], ["CA", 2, 3, 6], ["CHR", 0, "shared", [3]]),
    *(["CA", 1, 4, 6], ["FU", 5, [0, 1]], ["AN", 5, 0, 5], ["FU", 5, [1, 2]], ["AN", 5, 1, 4]),
    *(["FU", 5, [2, 3]], ["AN", 5, 2, 6], ["FU", 3, [0, 1]], ["SP", 3, 0, 768, [2], 1]),
    *(["AN", 3, 1, 2], ["FFSP", 3, 0, [1, 2], 1, 1], ["AN", 3, 1, 6]),
    ["PR", 4, 0, "auto_unroll_max_step$512"],
]


def real_records(corpus: Path) -> Iterator[tuple[str, tuple[AnyStep, ...]]]:
    for path in sorted((corpus / "tuning").glob("*/*")):
        if path.parent.name == "printed_states":
            continue
        for line in path.read_bytes().splitlines():
            record = json.loads(line) if line.startswith(b'{"i"') else {}
            if isinstance(record.get("v"), str):
                yield record["i"][0][0], read_steps(record["i"][1][1])


def test_tiles_of_a_gpu_schedule() -> None:
    found = tile_structure(read_steps(GPU))
    threads = ("blockIdx.x", "vthread", "threadIdx.x", "")
    assert found.tiles == (
        TileRow(3, "axis0@axis1@", -1, None, (None, 2), ("threadIdx.x", "vectorize"), 20),
        TileRow(3, "axis0@axis1@.0", -1, None, (None, 32), ("", "threadIdx.x"), 22),
        TileRow(4, "axis0", 0, 64, (2, 2, 8, 1, 2), ("",) * 5, 1),
        TileRow(4, "axis1", 1, 48, (4, 1, 4, 3, 1), ("",) * 5, 2),
        TileRow(4, "axis2", 2, 96, (12, 4, 2), ("",) * 3, 3),
        TileRow(5, "axis0", 0, 64, (2, 2, 8, 2), threads, 5),
        TileRow(5, "axis1", 1, 48, (4, 1, 4, 3), threads, 6),
    )
    stages = {each.stage: each for each in found.stages}
    assert stages[5].numbers == ((-1, 2), (0, 3), (9, 4), (11, 5))
    assert (stages[4].numbers, stages[0].numbers) == (((0, 2), (9, 3), (11, 4)), ((-1, 0),))
    assert stages[4].where == "in axis0.2@axis1.2@ of stage 5"
    assert (stages[0].where, stages[5].where) == ("", "on its own")
    assert (stages[4].loops, stages[4].is_open) == (13, False)
    assert (stages[3].loops, stages[3].is_open) == (3, True)
    assert (stages[1].scope, stages[4].scope, stages[5].scope) == ("shared", "local", "")
    assert [stages[each].operation for each in range(6)] == [0, 0, 1, 1, 2, 2]


def test_tile_structure_uses_names_of_known_dag() -> None:
    found = tile_structure(read_steps(GPU), dag(MATMUL))
    assert [tile.loop for tile in found.tiles] == [
        *("ax0", "ax1", "ax0@ax1@", "ax0@ax1@.0", "i_c", "j_c", "k", "i", "j")
    ]
    assert [each.name for each in found.stages] == [
        *("A", "A.shared", "B", "B.shared", "C.local", "C")
    ]
    assert (found.stages[0].where, found.stages[5].where) == ("input", "on its own")


def test_split_part_has_all_marks_of_its_subparts() -> None:
    steps = [["SP", 2, 0, 64, [4, 2], 1], ["SP", 2, 1, 8, [2], 1], ["AN", 2, 1, 4], ["AN", 2, 2, 6]]
    assert [tile.marks for tile in tile_structure(read_steps(steps)).tiles] == [
        ("", "vthread, threadIdx.x", ""),
        ("vthread", "threadIdx.x"),
    ]


def test_split_with_rebuilt_loops_is_marked() -> None:
    steps = [["SP", 2, 2, 96, [16], 1], ["RF", 2, 3, 2]]
    gone = [tile for tile in tile_structure(read_steps(steps)).tiles if tile.rebuilt_by >= 0]
    assert gone == [TileRow(3, "axis2", 2, 96, (6, 16), ("", ""), 0, 1)]


@pytest.mark.parametrize(
    "steps",
    [
        [["CA", 2, 4, 0], ["SP", 2, 0, 17, [4], 1]],
        [["CA", 2, 4, 0], ["CR", 2], ["SP", 2, 0, 17, [4], 1]],
        [["SP", 2, 0, 64, [4], 1], ["SP", 2, 1, 17, [4], 1]],
        [["FU", 2, [0, 1]], ["SP", 2, 0, 17, [4], 1]],
        [["SP", 2, 2, 96, [16], 1], ["RF", 2, 3, 0], ["SP", 2, 0, 17, [4], 1]],
    ],
    ids=["computed inside another", "was inside", "split before", "fused", "of the split"],
)
def test_possibly_stale_extent_is_not_shown(steps: list[list[object]]) -> None:
    found = tile_structure(read_steps(steps))
    assert 17 not in [tile.extent for tile in found.tiles]
    assert not any("17" in str(line) for line in nest(replay(None, read_steps(steps))))


def test_the_table_becomes_a_data_frame() -> None:
    frame = tile_structure(read_steps(GPU)).to_dataframe()
    assert list(frame["extent"].isna()) == [True, True, *[False] * 5]
    assert frame.loc[2, "factors"] == (2, 2, 8, 1, 2)
    assert tile_structure(()).to_dataframe().empty


def agree(steps: tuple[AnyStep, ...], known: ComputeDag) -> tuple[State, State]:
    """Check that nothing told without the DAG is otherwise with it; return both states."""
    full, alone = replay(known, steps), replay(None, steps)
    assert len(alone.stages) <= len(full.stages)
    assert dict(alone.attached) == dict(full.attached)
    for told, true in zip(alone.stages, full.stages, strict=False):
        assert (told.compute_at, told.auto_unroll) == (true.compute_at, true.auto_unroll)
        assert (told.role, told.scope, told.operation) == (true.role, true.scope, true.operation)
        assert told.is_open or len(told.iterators) == len(true.iterators)
        assert len(told.iterators) <= len(true.iterators)
        for loop, real in zip(told.iterators, true.iterators, strict=False):
            assert (loop.annotation, loop.steps) == (real.annotation, real.steps)
            assert loop.factor in (None, real.factor)
            assert loop.extent in (None, real.extent)
    return alone, full


def check_nest(state: State) -> None:
    """Every stage that is computed has its line, and its loops cover its axes."""
    computed = [each for each in state.stages if not each.is_placeholder]
    printed = [each.text for each in nest(state) if each.kind == "compute"]
    here = [each for each in computed if each.compute_at is not ComputeAt.INLINED]
    assert sorted(printed) == sorted(f"{each.name} = ..." for each in here)
    for stage in here:
        operation = state.dag.operations[stage.operation]
        axes = [each.extent for each in operation.axes]
        loops = [each.extent for each in stage.iterators]
        if None not in loops and None not in axes and not operation.is_placeholder:
            assert prod(filter(None, loops)) >= prod(filter(None, axes))


@pytest.mark.parametrize("name", ["synthetic", "random", "policy"])
def test_structure_without_dag_agrees_with_dag(name: str) -> None:
    for case in cases(name):
        agree(steps_of(case), dag(case["workload"]))
        tile_structure(steps_of(case))
        tile_structure(steps_of(case), dag(case["workload"]))


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_real_records_have_most_extents_without_dag(corpus: Path, every: int) -> None:
    known = {row["workload"]: dag(row["workload"], row["conv_name"]) for row in dag_rows()}
    told = total = records = 0
    for workload, steps in islice(real_records(corpus), 0, None, every):
        records += 1
        if workload not in known:
            nest(replay(None, steps))
            continue
        alone, full = agree(steps, known[workload])
        check_nest(full)
        for stage, true in zip(alone.stages, full.stages, strict=False):
            for loop, real in zip(stage.iterators, true.iterators, strict=False):
                total += real.extent is not None
                told += loop.extent is not None
    assert told / total > 0.99
    assert records == -(-7_989 // every)


def test_the_structure_of_real_records_agrees_with_their_dag(corpus: Path) -> None:
    known = {row["workload"]: dag(row["workload"], row["conv_name"]) for row in dag_rows()}
    for workload, steps in islice(real_records(corpus), 0, None, 40):
        alone = tile_structure(steps).tiles
        if workload not in known:
            continue
        full = {each.step: each for each in tile_structure(steps, known[workload]).tiles}
        for tile in alone:
            if tile.step >= 0:
                true = full[tile.step]
                assert (tile.stage, tile.axis, tile.marks) == (true.stage, true.axis, true.marks)
                assert tile.factors[1:] == true.factors[1:]
                assert tile.factors[0] in (None, true.factors[0])
                assert tile.extent in (None, true.extent)
