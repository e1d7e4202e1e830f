"""What calls of delegates took, against the times that flatc reads of the dumps."""

from __future__ import annotations

import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import answers, case_dir

CASES = (
    "03b_mixed_xnnpack",
    "03d_xnnpack_two_outputs",
    "06a_demo_generated_ids",
    "08_conv_xnnpack_quant",
)


@pytest.mark.parametrize("name", CASES)
def test_events_and_gaps_make_up_each_call(name: str) -> None:
    calls = tvmdbg.open(case_dir(name)).delegate_calls()
    (execute,) = answers(name)["etdump_raw_flatc_json"]["run_data"][1:]
    events = [each["profile_event"] for each in execute["events"] if each.get("profile_event")]
    told = [each for each in events if each.get("name") == "DELEGATE_CALL"]
    assert len(calls) == len(told)
    for call, expected in zip(calls, told, strict=True):
        assert call.instruction == expected["instruction_id"]
        assert call.duration_ns == expected["end_time"] - expected["start_time"]
        inner = [
            each
            for each in events
            if each["instruction_id"] == call.instruction
            and (each["delegate_debug_id_int"] != -1 or each.get("delegate_debug_id_str"))
        ]
        assert len(call.events) == len(inner)
        # These delegates log one event after the other.
        assert call.inside_ns == sum(each["end_time"] - each["start_time"] for each in inner)
        assert call.inside_ns + sum(length for _, length in call.gaps) == call.duration_ns


def test_a_table_and_a_list_of_them() -> None:
    calls = tvmdbg.open(case_dir("08_conv_xnnpack_quant")).delegate_calls()
    assert list(calls.to_dataframe()["backend"]) == ["XnnpackBackend"] * 2
    assert "9 events that cover 68.8 %" in repr(calls)
    with pytest.raises(ValueError, match="neither an ETDump nor a program"):
        tvmdbg.open(tvmdbg.samples.resnet20_cifar).delegate_calls()
