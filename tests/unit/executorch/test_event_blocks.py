"""Blocks and events, against what the Inspector answered for the same files."""

from __future__ import annotations

from typing import Any

import pytest

from tests.executorch_cases import CASES, answers
from tests.unit.executorch.inspector_truth import (
    OPENED,
    ROUNDED,
    VARIANTS,
    check_values,
    opened,
    plain,
)
from tvmdbg_widgets.analysis.executorch.event_block import EventBlock
from tvmdbg_widgets.analysis.executorch.events import Event

FIELDS = (
    *("name", "instruction_id", "delegate_debug_identifier", "is_delegated_op"),
    *("delegate_backend_name", "debug_handles", "num_outputs", "op_types", "stack_traces"),
    *("module_hierarchy", "raw_delegate_debug_metadatas", "delegate_debug_metadatas"),
    "start_time",
)
STATISTICS = ("raw", "p10", "p50", "p90", "avg", "min", "max")


def check_event(case: str, event: Event, told: dict[str, Any]) -> None:
    for name in FIELDS:
        if name in told:
            assert plain(getattr(event, name)) == told[name], (event.name, name)
    if told["perf_data"] is None:
        assert event.perf_data is None
    else:
        found = {name: getattr(event.perf_data, name) for name in STATISTICS}
        assert found == told["perf_data"]
    if (case, event.name) in ROUNDED:
        assert event.debug_data == [ROUNDED[case, event.name]]
    else:
        check_values(case, event.debug_data, told["debug_data"])


def check_block(case: str, block: EventBlock, told: dict[str, Any]) -> None:
    assert block.name == told["name"]
    assert block.bundled_input_index == told["bundled_input_index"]
    assert block.source_time_scale.value == told["source_time_scale"]
    assert block.target_time_scale.value == told["target_time_scale"]
    check_values(case, block.run_output, told["run_output"])
    if told["reference_output"] is None:
        assert block.reference_output is None
    else:
        assert block.reference_output is not None
        check_values(case, block.reference_output, told["reference_output"])
    assert len(block.events) == len(told["events"])
    for event, expected in zip(block.events, told["events"], strict=True):
        check_event(case, event, expected)


@pytest.mark.parametrize("case", OPENED)
def test_every_block_matches_inspector(case: str) -> None:
    blocks, told = opened(case).event_blocks, answers(case)["inspector"]["blocks"]
    assert len(blocks) == len(told)
    for block, expected in zip(blocks, told, strict=True):
        check_block(case, block, expected)


@pytest.mark.parametrize(
    ("case", "variant"),
    [
        (case, variant)
        for case in CASES
        for variant, told in answers(case).get("variants", {}).items()
        if isinstance(told, list)
    ],
)
def test_every_variant_matches_inspector(case: str, variant: str) -> None:
    told = answers(case)["variants"][variant]
    given = {"record": False, "buffer": False, "delegate_metadata_parser": None}
    blocks = opened(case, **given | VARIANTS[variant]).event_blocks
    assert len(blocks) == len(told)
    for block, expected in zip(blocks, told, strict=True):
        check_block(case, block, expected)
