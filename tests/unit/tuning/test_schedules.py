import html
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from unit.tuning.elsewhere.rerun_cases import STAND_IN, record
from unit.tuning.printed_states import cases, dag, dag_with_bodies

from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.model.tuning.parts import Workload
from tvmdbg_widgets.model.tuning.steps import PragmaStep
from tvmdbg_widgets.tuning import open_tuning

MATMUL = '["matmul_auto_scheduler_test", 64, 48, 96]'
TILED = [["SP", 2, 0, 64, [4, 2], 1], ["AN", 2, 0, 3], ["PR", 2, 0, "auto_unroll_max_step$16"]]


def test_schedule_without_dag_shows_loops_and_factors() -> None:
    found = Schedule(record(TILED))
    assert found.state is None
    assert found.inferred is None
    assert found.dag_source.startswith("not known: open the log with dag=")
    assert found.print() == (
        "(names, inputs and stages without a step are not in the log)\n"
        "stage 2 auto_unroll: 16\n"
        "parallel axis0.0 (0,8)\n"
        "  for axis0.1 (0,4)\n"
        "    for axis0.2 (0,2)\n"
        "      (more loops may follow)\n"
        "      stage 2 = ...\n"
    )
    assert found.steps[0] == "stage 2: split axis0 into 3 parts, factors 4 · 2"
    assert [tile.factors for tile in found.structure.tiles] == [(8, 4, 2)]
    assert list(found.to_dataframe()["factors"]) == [(8, 4, 2)]


def test_factors_are_printed_after_unknown_extents() -> None:
    found = Schedule(record([["CA", 2, 4, 0], ["SP", 2, 0, 9, [4], 1], ["AN", 4, 0, 3]]))
    assert "for axis0.1 (0,?) factor 4" in found.print()
    assert "(0,?) factor 4" in repr(found)


def test_dag_that_does_not_fit_is_reported_and_steps_are_shown() -> None:
    found = Schedule(record([["SP", 2, 7, 64, [4], 1]]), dag_with_bodies(MATMUL))
    assert found.state is None
    assert "no loop 7 among the 3 of stage 2 ('C')" in found.refused
    assert found.notes[1].startswith("The steps cannot be applied: step 0 (SP)")
    assert "for axis7.1 (0,4)" in found.print(hide_ones=False)
    assert found.steps == ("stage 2: split axis7 into 2 parts, factor 4",)


def test_impossible_steps_are_reported() -> None:
    found = Schedule(record([["AN", 2, 0, 3], ["AN", 2, 0, 2]]))
    assert "parallel already" in found.refused
    assert (found.nest, found.print(), found.structure.tiles, len(found.steps)) == ([], "", (), 2)
    assert "cannot be applied" in repr(found)
    assert "cannot be applied" in found._repr_html_()


def test_html_for_a_cell_is_colored_and_escaped() -> None:
    steps = [["CHW", 2, "<b>&"], ["SP", 3, 0, 64, [4], 1], ["AN", 3, 1, 6]]
    for known in (None, dag_with_bodies(MATMUL)):
        found = Schedule(record(steps, key='["<script>", 1]'), known)
        shown = found._repr_html_()
        assert "<script>" not in shown
        assert "<b>&" not in shown
        assert html.escape("<b>&") in shown
        assert re.search(r'<b style="color: #\w{6}">threadIdx.x</b>', shown)
        assert 'title="step 2"' in shown


def test_repr_of_long_schedule_is_truncated() -> None:
    steps = [["SP", 2, 0, 64, [2] * 100, 1]]
    found = Schedule(record(steps))
    assert "more lines: print(schedule.print())" in repr(found)
    assert len(repr(found).splitlines()) < 80
    many = Schedule(record([["SP", 2, 0, 64, [2] * 900, 1], *TILED[2:]] + [["CR", 3]] * 900))
    assert "more" in many._repr_html_()


def test_python_applies_the_steps(tmp_path: Path) -> None:
    register = (
        "from tvm import auto_scheduler\n"
        "@auto_scheduler.register_workload\n"
        "def work(size, shape, dtype):\n"
        "    return [size]\n"
    )
    found = Schedule(record(TILED, target="llvm -keys=cpu -link-params=0"))
    path, calls = tmp_path / "apply.py", tmp_path / "calls"
    path.write_text(register + found.python, "utf-8")
    told = {"STAND_IN_TVM": "0.19", "STAND_IN_CALLS": str(calls), "PYTHONPATH": str(STAND_IN)}
    done = subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, **told},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "primfn of schedule of 3 steps" in done.stdout
    assert json.loads(calls.read_text().splitlines()[-1]) == ["lower", True]


def test_python_code_explains_how_to_register_workload() -> None:
    named = Schedule(record(TILED)).python
    assert "# First import what defines 'work'" in named
    assert "link-params" not in named
    hashed = '["d7b65649a4dd54becea0a52aabbc5af5", 1, 1000, 1, 1000]'
    assert "extract_tasks" in Schedule(record(TILED, key=hashed)).python
    odd = Schedule(record(TILED, key='["a\\nimport os", 1]')).python
    compile(odd, "odd", "exec")
    assert "\nimport os" not in odd


def other(tuner: str, config: Any) -> Schedule:
    made = record(TILED)
    workload = Workload.of("key", None)
    return Schedule(
        replace(
            made, steps=(), config=config, task=replace(made.task, tuner=tuner, workload=workload)
        )
    )


KNOBS = [
    ["tile_f", "sp", [-1, 2, 16]],
    ["order", "re", [0, 2, 1]],
    ["ann", "an", ["unroll", "none"]],
]


@pytest.mark.parametrize(
    "config",
    [
        {"index": 7, "code_hash": None, "entity": [*KNOBS, ["unroll", "ot", 512]]},
        {"i": 7, "e": [*KNOBS, ["unroll", "ot", 512]], "c": "null", "t": "direct"},
    ],
    ids=["0.2", "0.1"],
)
def test_knobs_of_autotvm_in_words(config: object) -> None:
    found = other("autotvm", config)
    assert found.steps == (
        *("config #7", "tile_f: split [-1, 2, 16]", "order: order 0, 2, 1"),
        *("ann: loops as unroll, none", "unroll: 512"),
    )
    assert (found.python, found.nest, found.notes, found.print()) == ("", [], (), "")
    assert "tile_f: split" in repr(found)
    assert "tile_f: split" in found._repr_html_()


def test_a_trace_of_metaschedule_in_words() -> None:
    instructions = [
        ["GetSBlock", [], ["C", "main"], ["b0"]],
        ["SamplePerfectTile", ["l1"], [2, 16], ["v4", "v5"]],
        ["SampleCategorical", [], [[32, 64], [0.5, 0.5]], ["v6"]],
        ["SampleComputeLocation", ["b0"], [], ["l9"]],
        ["EnterPostproc", [], [], []],
        ["Parallel", ["l6"], [], []],
    ]
    found = other("metaschedule", [instructions, [[1, [8, 8]], [2, 1], [3, -1]]])
    assert found.steps == (
        "b0 = GetSBlock(C, main)",
        "v4, v5 = SamplePerfectTile(l1, 2, 16): 8 · 8 chosen",
        "v6 = SampleCategorical([32, 64], [0.5, 0.5]): 64 chosen",
        "l9 = SampleComputeLocation(b0): on its own chosen",
        "postprocessing, which is no part of the search, from here on",
        "Parallel(l6)",
    )


ODD = [
    *(None, [], {}, 7, "x", [[]], [[1], 2], [[["a"]], [[0]]], {"entity": 3}),
    {"e": [[], [1, 2, 3]]},
]
ODD += [[[["SampleCategorical", 1, {}, None]], [[0, []], [[], 1], ["x", 1]]], {"i": "a\n<b>"}]
ODD += [[[["SampleComputeLocation", [], [], []]], [[0, {}]]]]


@pytest.mark.parametrize("tuner", ["autotvm", "metaschedule"])
def test_odd_configs_are_shown_and_escaped(tuner: str) -> None:
    for config in ODD:
        found = other(tuner, config)
        assert all(line.isprintable() for line in found.steps)
        assert "<b>" not in found._repr_html_().replace("<b style", "")
        repr(found)


def test_log_returns_schedules_of_its_records() -> None:
    found = [case for case in cases("policy") if "two_outputs" in case["workload"]]
    lines = "".join(f"{case['record']}\n" for case in found)
    key = found[0]["workload"]
    assert open_tuning(lines.encode(), progress=False).schedule(0).state is None
    log = open_tuning(lines.encode(), dag={key: dag_with_bodies(key).text}, progress=False)
    first = log.schedule(0)
    assert first.print() == found[0]["printed_state"]
    assert not first.dag_source.startswith("not known")
    assert log.schedule(log.record(1)).print() == found[1]["printed_state"]
    assert log.schedule(-1).record.row == len(found) - 1
    both = log.compare_schedules(0, log.record(1))
    assert (both.a.record.row, both.b.record.row) == (0, 1)
    assert any(each.change != "same" for each in both.steps)
    with pytest.raises(IndexError):
        log.schedule(len(found))


def test_every_record_of_the_corpus_is_shown(corpus: Path) -> None:
    seen = 0
    for folder in sorted((corpus / "tuning").iterdir()):
        for path in sorted(folder.iterdir()):
            if folder.name == "printed_states" or path.suffix not in (".json", ".log", ".tmp"):
                continue
            if path.name == "database_workload.json":
                continue
            log = open_tuning(path, progress=False)
            for row in range(0, len(log), 60):
                found = Schedule(log.record(row))
                assert found.refused == ""
                assert found.steps
                repr(found)
                found._repr_html_()
                compile(found.python, "python", "exec")
                seen += 1
                assert not any(
                    isinstance(each, PragmaStep) and each.auto_unroll is None
                    for each in found.record.steps
                )
    assert seen > 150


CONV = '["conv2d_layer", 1, 14, 14, 32, 16, 3, 3, [1, 1], [1, 1]]'


def known_loops(found: Schedule) -> dict[Any, int | None]:
    """Extents by stage, place and the steps that made the loop."""
    stages = () if found.shown is None else found.shown.stages
    return {
        (number, place, loop.made_by, loop.steps): loop.extent
        for number, stage in enumerate(stages)
        for place, loop in enumerate(stage.iterators)
    }


@pytest.mark.parametrize("name", ["synthetic", "policy", "random"])
def test_dag_removes_no_known_extent(name: str) -> None:
    """Neither its text, which lacks some, nor names and extents without what is read."""
    for case in cases(name):
        of = record(json.loads(case["record"])["i"][1][1], key=case["workload"])
        alone = known_loops(Schedule(of))
        given = dag(case["workload"], case.get("conv_name", "compute"))
        for each in (given, parse_dag(given.text), dag_with_bodies(case["workload"])):
            found = known_loops(Schedule(of, each))
            lost = [loop for loop, extent in alone.items() if extent and found.get(loop, 1) is None]
            assert lost == [], case["case"]


def test_extents_of_steps_replace_missing_dag_extents() -> None:
    axes = parse_dag("A = PLACEHOLDER [64]\nB(i) = A[i]\n")
    unknown = replace(axes.operations[1], axes=(replace(axes.operations[1].axes[0], extent=None),))
    found = Schedule(
        record([["SP", 1, 0, 64, [4], 1]]), replace(axes, operations=(axes.operations[0], unknown))
    )
    assert [line.extent for line in found.nest if line.kind == "loop"] == [16, 4]
    assert found.notes[-1].startswith("Extents of 2 loops are from the steps")


def test_dag_contradicting_steps_is_reported_with_both_numbers() -> None:
    found = Schedule(record([["SP", 2, 0, 128, [4], 1]]), dag_with_bodies(MATMUL))
    assert found.notes[-1] == (
        "The DAG contradicts the steps: loop i.0 of C: 16 by the DAG, 32 by the steps"
    )


def test_dag_text_is_completed_from_workload_name() -> None:
    line = record([["AN", 5, 1, 3]], key=CONV).line
    text = dag(CONV).text
    alone, given = open_tuning(line).schedule(0), open_tuning(line, dag={CONV: text}).schedule(0)
    assert alone.print() == given.print()
    assert "(None)" not in given.print()
    assert "(None)" in Schedule(record([["AN", 5, 1, 3]]), parse_dag(text)).print()
    assert any(each.startswith("Extents that it lacks are assumed") for each in given.notes)


def test_dag_that_fits_no_step_falls_back_to_workload_name() -> None:
    line = record([["AN", 5, 1, 3]], key=CONV).line
    found = open_tuning(line, dag={CONV: "A = PLACEHOLDER [4]\nB(i) = A[i]\n"}).schedule(0)
    assert found.print() == open_tuning(line).schedule(0).print()
    assert any(each.startswith("The given DAG does not fit: step 0") for each in found.notes)


def test_dag_of_another_size_is_reported() -> None:
    line = record([["AN", 2, 0, 3]], key=MATMUL).line
    other = dag_with_bodies(MATMUL).text.replace("[64, 96]", "[32, 96]")
    found = open_tuning(line, dag={MATMUL: other}).schedule(0)
    assert any("differs from TVM's workload of this name" in each for each in found.notes)
