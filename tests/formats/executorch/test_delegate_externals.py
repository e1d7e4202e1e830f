"""Inputs and outputs of delegates' calls, as the payload of the program tells them."""

from __future__ import annotations

from typing import Any

import pytest
from executorch_cases import FOLDER as SHIPPED
from executorch_cases import answers

from tests.formats.executorch.xnnpack_truth import CASES, FOLDER, truth
from tests.formats.executorch.xnnpack_truth import graph_of as truth_graph
from tvmdbg_widgets.formats.executorch.etrecord import read_etrecord
from tvmdbg_widgets.formats.executorch.program.instruction_graph import graph_of
from tvmdbg_widgets.formats.executorch.program.instruction_steps import Fresh, arguments, steps_of
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.model.executorch.program import Plan
from tvmdbg_widgets.model.executorch.program_instructions import CallDelegate
from tvmdbg_widgets.sources.file_source import FileSource

GUESSED = "outputs by the order of values"
#: Shipped programs with delegates, and the outputs of each call.
WITH_DELEGATES = ("03b_mixed_xnnpack", "06a_demo_generated_ids", "08_conv_xnnpack_quant")


@pytest.mark.skipif(not CASES, reason="set TVMDBG_CORPUS to the folder of recorded runs")
@pytest.mark.parametrize("case", CASES or ("none",))
def test_delegate_calls_are_certain_and_match_the_record(case: str) -> None:
    program = read_program(FileSource(FOLDER / case / "model.pte"))
    record = read_etrecord(FileSource(FOLDER / case / "etrecord.bin"))
    for plan in program.plans:
        externals = {
            each["delegate_index"]: truth_graph(each["graph"]).externals
            for each in truth(case)["delegates"]
            if each["method"] == plan.name
        }
        counts = (record.num_outputs or {})[plan.name]
        known = graph_of(plan, externals=externals)
        assert not known.uncertain
        assert {
            instruction: known.graph.nodes[known.node_of[0, int(instruction)]].num_outputs
            for instruction in counts
        } == counts
        told = steps_of(plan, counts, "")
        assert steps_of(plan, None, "", externals) == steps_of(plan, counts, "", externals) == told


def shipped(name: str) -> tuple[Plan, CallDelegate, int]:
    """Return a plan, its first call of a delegate, and how many outputs that has."""
    plan = read_program(FileSource(SHIPPED / "pte" / f"{name}.pte")).plans[0]
    told: dict[str, Any] = answers(name)["inspector"]["etrecord"]["instruction_id_to_num_outs_map"]
    at, count = next(iter(told["forward"].items()))
    call = plan.chains[0].instructions[int(at)]
    assert isinstance(call, CallDelegate)
    return plan, call, count


@pytest.mark.parametrize("name", WITH_DELEGATES)
def test_valid_argument_positions_are_used(name: str) -> None:
    plan, call, count = shipped(name)
    split = len(call.args) - count
    externals = {call.delegate_index: (tuple(range(split)), tuple(range(split, len(call.args))))}
    for told in (None, count):
        found = arguments(plan, call, Fresh(plan), told, externals)
        assert found == (call.args[:split], call.args[split:], "")
    found = arguments(plan, call, Fresh(plan), count + 1, externals)
    assert found[:2] == (call.args[:split], call.args[split:])
    assert found.doubt.endswith(f" in the delegate's payload, {count + 1} in the ETRecord")
    assert arguments(plan, call, Fresh(plan), None).doubt == GUESSED


@pytest.mark.parametrize("name", WITH_DELEGATES)
def test_invalid_argument_positions_are_ignored(name: str) -> None:
    plan, call, count = shipped(name)
    all_ = tuple(range(len(call.args)))
    assert len(all_) > 1
    wrong = (
        ((), ()),
        (all_, ()),
        (all_[:-1], ()),
        (all_[:-1], (len(all_),)),
        (all_[:-1], (-1,)),
        (all_[1:-1], (all_[-1],)),
        (all_, (all_[-1],)),
        (all_[1:], (0,)),
        (all_[:-1], (2**32,)),
    )
    for positions in wrong:
        for delegate in (call.delegate_index, call.delegate_index + 1):
            externals = {delegate: positions}
            guessed = arguments(plan, call, Fresh(plan), None, externals)
            assert guessed == arguments(plan, call, Fresh(plan), None)
            assert guessed.doubt == GUESSED
            told = arguments(plan, call, Fresh(plan), count, externals)
            assert told == arguments(plan, call, Fresh(plan), count)
