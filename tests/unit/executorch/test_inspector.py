"""The Inspector: the rest of its answers, and where the default mode gives better ones."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import CASES, answers, case_dir
from tests.unit.executorch.dumps import Logged, dump_of, number
from tests.unit.executorch.inspector_truth import OPENED, opened, plain
from tvmdbg_widgets.analysis.executorch.event_block import EventBlock
from tvmdbg_widgets.analysis.executorch.event_blocks import event_blocks
from tvmdbg_widgets.analysis.executorch.events import Event
from tvmdbg_widgets.analysis.executorch.record_links import link_record, link_record_as_inspector
from tvmdbg_widgets.analysis.executorch.time_scale import PerfData
from tvmdbg_widgets.formats.executorch.etrecord import read_etrecord
from tvmdbg_widgets.model.executorch.etdump import (
    DebugTensor,
    DebugValue,
    EventKind,
    ValueType,
)
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.recorders.etdump_writer import RecordedBlock, etdump_bytes
from tvmdbg_widgets.run.executorch.inspector import Inspector
from tvmdbg_widgets.sources.file_source import FileSource

#: Cases of which the default mode reads all and the Inspector nothing, or other values.
DIFFERENT = ("09a_all_values", "09f_duplicates", "09j_delegate_map_lookup", "12_channels_last")
DIFFERENT_VALUES = "05c_multirun_debug_different_inputs"


def named(block: EventBlock, name: str) -> Event:
    return next(event for event in block.events if event.name == name)


@pytest.mark.parametrize("case", OPENED)
def test_total_of_a_module(case: str) -> None:
    told = answers(case)["inspector"]["find_total_for_module"]
    for compat in (True, False):
        inspector = opened(case, compat=compat)
        assert {name: inspector.find_total_for_module(name) for name in told} == told


@pytest.mark.parametrize("case", OPENED)
def test_programs(case: str) -> None:
    inspector, told = opened(case), answers(case)["inspector"]
    program = inspector.get_exported_program()
    assert type(program).__name__ == told["get_exported_program"]
    if program is None:
        return
    nodes = [
        node["name"] for node in told["etrecord"]["edge_nodes"] if node["op"] == "call_function"
    ]
    known = {value.name for node in program.nodes for value in node.outputs}
    assert set(nodes) <= known | {node.name for node in program.nodes}
    assert inspector.get_exported_program("no such graph") is None


@pytest.mark.parametrize("case", [case for case in OPENED if case not in DIFFERENT])
def test_both_modes_agree_except_for_framework_events(case: str) -> None:
    """Events of the framework have no handles, blocks without an index no reference output."""
    for mine, its in zip(
        opened(case, compat=False).event_blocks, opened(case).event_blocks, strict=True
    ):
        assert mine.reference_output is None or mine.bundled_input_index >= 0
        assert plain(mine.run_output) == plain(its.run_output)
        for one, other in zip(mine.events, its.events, strict=True):
            fields = {each.name for each in dataclasses.fields(one)} - {"logged", "metadata_parser"}
            if one.chain_index == -1:
                assert (one.debug_handles, one.num_outputs, one.op_types) == (None, 1, [])
                fields -= {"debug_handles", "num_outputs"}
            assert all(getattr(one, name) == getattr(other, name) for name in fields)
            assert plain(one.debug_data) == plain(other.debug_data)


def test_compat_mode_notes_no_deviations() -> None:
    assert not any(opened(case).deviations for case in OPENED)


def test_runs_with_different_inputs_keep_their_values() -> None:
    inspector = opened(DIFFERENT_VALUES, compat=False)
    block = inspector.event_blocks[1]
    outputs = np.load(case_dir(DIFFERENT_VALUES) / "io.npz")
    assert len(block.run_output_by_run) == len(block.runs) == 2
    returned: list[list[Any]] = block.run_output_by_run
    for run, found in enumerate(returned):
        assert np.array_equal(found[0], outputs[f"run{run}.out0"])
    gelu = named(block, "native_call_gelu.out")
    logged: list[list[Any]] = gelu.debug_data_by_run
    first, second = (values[0] for values in logged)
    assert not np.array_equal(first, second)
    assert gelu.debug_data[0] is not None
    assert plain(gelu.debug_data) == plain(logged[0])
    assert any("8 events differ between the 2 runs" in each for each in inspector.deviations)


def test_event_keeps_all_its_occurrences() -> None:
    inspector, its = opened("09f_duplicates", compat=False), opened("09f_duplicates")
    event, last = (each.event_blocks[0].events[0] for each in (inspector, its))
    assert event.occurrences == (2, 2)
    assert event.perf_data is not None
    assert last.perf_data is not None
    assert len(event.perf_data.raw) == len(event.start_time or ()) == 4
    assert event.perf_data.raw[1::2] == last.perf_data.raw
    assert event.total_a_run == sum(event.perf_data.raw) / 2
    assert any("up to 2 occurrences" in each for each in inspector.deviations)


def test_identifiers_match_as_a_whole_or_not_at_all() -> None:
    inspector = opened("09j_delegate_map_lookup", compat=False)
    found = {
        (event.name, event.instruction_id): (event.debug_handles, event.handle_trust)
        for event in inspector.event_blocks[0].events
    }
    assert found["10", 2] == ([5], "exact identifier")
    assert found["12", 2] == found["conv_12", 3] == found["zzz", 3] == (None, "unmapped")
    assert found["0", 4] == ([6], "whole instruction")
    assert found["DELEGATE_CALL", 2] == ([2, 3, 4, 5], "whole instruction")
    assert any("any key that the identifier contains" in each for each in inspector.deviations)
    its = named(opened("09j_delegate_map_lookup").event_blocks[0], "conv_12")
    assert (its.debug_handles, its.handle_trust) == ([5], "by name")


def test_strides_are_honored() -> None:
    mine, its = (
        opened("12_channels_last", compat=c).event_blocks[1].events[0] for c in (False, True)
    )
    (right,), (wrong,) = mine.debug_data, its.debug_data
    assert isinstance(right, np.ndarray)
    assert isinstance(wrong, np.ndarray)
    assert np.array_equal(right.transpose(0, 2, 3, 1).ravel(), wrong.ravel())


def test_reference_outputs_match_the_bundled_input() -> None:
    blocks = opened("14_bundled", compat=False).event_blocks
    assert [(block.name, block.reference_output is None) for block in blocks] == [
        ("Default", True),
        *[("Execute", False)] * 3,
    ]
    its = opened("14_bundled").event_blocks
    for block, told in zip(blocks[1:], its[1:], strict=True):
        assert plain(block.reference_output) == plain(told.reference_output)


def test_doubles_are_read_to_the_last_bit() -> None:
    assert named(opened("09a_all_values", compat=False).event_blocks[0], "double").debug_data == [
        1e-300
    ]


def test_tensors_without_a_buffer_have_no_values() -> None:
    inspector = opened("01_mlp_portable", compat=False, buffer=False)
    assert inspector.event_blocks[1].run_output == [None]
    assert any("no debug buffer is given" in each for each in inspector.deviations)


@pytest.mark.parametrize("missing", ["debug_handle_map", "num_outputs", "edge_programs"])
def test_etrecords_without_a_member(missing: str) -> None:
    """As the Inspector refuses every ETRecord from before 1.0; recorded as 09n."""
    record = read_etrecord(FileSource(case_dir("01_mlp_portable") / "etrecord.bin"))
    empty: Any = {} if missing == "edge_programs" else None
    old = dataclasses.replace(record, **{missing: empty})
    inspector = Inspector(case_dir("01_mlp_portable") / "etdump.etdp", etrecord=old)
    assert any("the ETRecord has no" in each for each in inspector.deviations)
    event = named(inspector.event_blocks[1], "native_call_addmm.out")
    assert event.debug_handles == (None if missing == "debug_handle_map" else 1)
    error = (KeyError, "'edge_dialect_graph_module'") if empty == {} else (TypeError, "'NoneType'")
    with pytest.raises(error[0], match=error[1]):
        link_record_as_inspector(old, inspector.event_blocks)


def test_several_methods() -> None:
    """From the Inspector's code; no recorded file has several."""
    record = read_etrecord(FileSource(case_dir("01_mlp_portable") / "etrecord.bin"))
    edge, maps = record.edge_programs["forward"], record.debug_handle_map
    assert maps is not None
    several = ETRecord(
        "several",
        edge_programs={"prefill": edge, "decode": edge},
        debug_handle_map={"prefill": maps["forward"], "decode": {"1": 3}},
        num_outputs={"forward": {}},
    )
    dump = case_dir("01_mlp_portable") / "etdump.etdp"
    with pytest.raises(ValueError, match="which method was run"):
        Inspector(dump, etrecord=several)
    with pytest.raises(ValueError, match="no method 'forward'; known: 'prefill', 'decode'"):
        Inspector(dump, etrecord=several, method="forward")
    found = Inspector(dump, etrecord=several, method="decode")
    assert named(found.event_blocks[1], "native_call_addmm.out").debug_handles == 3
    assert any("with several methods" in each for each in found.deviations)
    with pytest.raises(KeyError, match="forward"):
        link_record_as_inspector(several, found.event_blocks)
    renamed = dataclasses.replace(several, debug_handle_map={"forward": {}})
    with pytest.raises(AttributeError, match="'dict' object has no attribute 'graph_module'"):
        link_record_as_inspector(renamed, found.event_blocks)


def test_etrecord_is_accepted_as_path_and_bytes() -> None:
    folder = case_dir("01_mlp_portable")
    path = folder / "etrecord.bin"
    for given_record in (path, str(path), path.read_bytes()):
        inspector = Inspector(
            folder / "etdump.etdp",
            etrecord=given_record,
            buffer_path=folder / "debug_buffer.bin",
        )
        assert named(inspector.event_blocks[1], "native_call_gelu.out").op_types
        assert isinstance(inspector.event_blocks[1].run_output[0], np.ndarray)


def test_metadata_parser_is_called_once_on_access() -> None:
    calls: list[Any] = []

    def parse(found: list[bytes | str]) -> list[str]:
        calls.append(found)
        raise LookupError("no such thing")

    inspector = opened("06a_demo_generated_ids", compat=False, delegate_metadata_parser=parse)
    inspector.to_dataframe()
    assert not calls
    event = named(inspector.event_blocks[1], "0")
    with pytest.raises(LookupError):
        _ = event.delegate_debug_metadatas
    assert calls == [[]]
    assert named(inspector.event_blocks[1], "DELEGATE_CALL").delegate_debug_metadatas == []


def test_notebook_html_is_escaped() -> None:
    dump = dump_of([Logged("<script>&", 0, 5), Logged("OPERATOR_CALL", 0, 5)])
    inspector = Inspector(case_dir("01_mlp_portable") / "etdump.etdp")
    inspector.event_blocks = event_blocks(dump)
    text = inspector._repr_html_()
    assert "<td>&lt;script&gt;&amp;</td>" in text
    assert "OPERATOR_CALL" not in text
    assert repr(inspector).endswith("1 block with 2 events)")


def test_an_empty_dump() -> None:
    inspector = Inspector(case_dir("01_mlp_portable") / "etdump.etdp")
    inspector.event_blocks = event_blocks(dump_of([]))
    assert len(inspector.to_dataframe()) == 0


@pytest.mark.parametrize("blocks", [[], [RecordedBlock("Execute")] * 2], ids=["none", "empty"])
def test_dump_without_events_is_reported(blocks: list[RecordedBlock]) -> None:
    run = tvmdbg.open(etdump_bytes(blocks))
    (issue,) = run.check().by_rule("no-events")
    assert f"{len(blocks)} runs and no events" in issue.message


@pytest.mark.parametrize(
    "trace",
    [
        b'{"traceEvents": []}',
        b'[{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}}]',
        b'{"traceEvents": [{"ph": "C", "name": "x", "ts": 1, "pid": 1, "args": {"v": 3}}]}',
    ],
)
def test_trace_without_events_is_reported(trace: bytes) -> None:
    run = tvmdbg.open(trace)
    assert [issue.rule for issue in run.check()] == ["no-events"]


def test_calculating_a_gap() -> None:
    inspector = opened("12_channels_last", compat=False)
    event = inspector.event_blocks[1].events[0]
    gap = inspector.calculate_numeric_gap("MSE", reference={1: event.debug_data[0]})
    assert [row.gap for row in gap.rows] == [[0.0]]


def test_chains_are_kept_apart() -> None:
    """No recorded file has two chains; the Inspector's code takes the last of equal signatures."""
    events = [Logged("x", 0, 1, chain=0), Logged("x", 0, 2, chain=1)]
    (block,) = event_blocks(dump_of(events))
    assert [event.chain_index for event in block.events] == [0, 1]
    assert any("2 chains" in each for each in block.deviations)
    (its,) = event_blocks(dump_of(events), compat=True)
    assert [event.start_time for event in its.events] == [[0]]
    assert its.events[0].perf_data == PerfData([2e-6])


@pytest.mark.parametrize("compat", [True, False])
def test_values_logged_by_framework_are_separate_events(compat: bool) -> None:
    """As the real Inspector answers: an unset chain is another number in debug events."""
    run = [
        Logged("Method::execute", 0, 5, chain=-1),
        Logged(chain=-1, value=number(1.0)),
    ]
    (block,) = event_blocks(dump_of(run), compat=compat)
    assert [(event.name, event.debug_data) for event in block.events] == [
        ("Method::execute", []),
        ("", [1.0]),
    ]


def test_clocks_that_wrap() -> None:
    """Recorded as 09d: with 32 bits the ticks are right but for one, a delegate's nonsense."""
    own = [Logged("x", 2**32 - 1000, 500)]
    delegate = [Logged("", 2**32 - 1000, 500, identifier=3)]
    for compat in (True, False):
        (block,) = event_blocks(dump_of(own), compat=compat)
        assert block.events[0].perf_data == PerfData([1499 / 1e6])
    (block,) = event_blocks(dump_of(delegate))
    assert block.events[0].perf_data == PerfData([1499 / 1e6])
    assert any("clock of 32 bits wrapped" in each for each in block.deviations)
    (its,) = event_blocks(dump_of(delegate), compat=True)
    assert its.events[0].perf_data is not None
    assert its.events[0].perf_data.avg == pytest.approx(4294963000.03, rel=1e-6)


def test_event_ending_before_its_start_has_nan_duration() -> None:
    dump = dump_of([Logged("x", 2**40, 5)])
    (block,) = event_blocks(dump)
    assert block.events[0].perf_data is not None
    assert np.isnan(block.events[0].perf_data.avg)
    assert any("no duration (NaN)" in each for each in block.deviations)
    with pytest.raises(
        ValueError, match=r"^Expected start_time \(1099511627776\) and end_time \(5\)"
    ):
        event_blocks(dump, compat=True)


def test_allocations() -> None:
    """Recorded as 09b."""
    dump = dump_of([Logged(kind=EventKind.ALLOCATION), Logged("x", 0, 5)])
    (block,) = event_blocks(dump)
    assert [event.name for event in block.events] == ["x"]
    assert any("1 allocation event left out" in each for each in block.deviations)
    with pytest.raises(ValueError, match=r"^Unable to find populated event$"):
        event_blocks(dump, compat=True)


def test_tensors_of_a_type_that_the_inspector_does_not_know() -> None:
    """Recorded as 09a2: bfloat16 is type 15."""
    tensor = DebugTensor(15, (1,), (1,), 0)
    dump = dump_of([Logged("x", value=DebugValue(ValueType.TENSOR, tensor, None))])
    (block,) = event_blocks(dump)
    assert any("types such as bfloat16" in each for each in block.deviations)
    with pytest.raises(RuntimeError, match="get_scalar_type_size : 15"):
        event_blocks(dump, compat=True)


def test_debug_events_without_a_value() -> None:
    """Recorded as 09g."""
    dump = dump_of([Logged("x", kind=EventKind.DEBUG)])
    (block,) = event_blocks(dump)
    assert block.events[0].debug_data == []
    assert any("1 debug event without a value" in each for each in block.deviations)
    with pytest.raises(TypeError, match=r"^Invalid Buffer\. Received no value for field: debug_e"):
        event_blocks(dump, compat=True)


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ([[number(1.0, output=True)], []], "Unequal debug data length encountered"),
        ([[number(1.0, output=True)], [number(2.0, output=True)]], "Scalar Debug Data is diff"),
        ([[number(1.0)], [number(2.0)]], "must have the same debug entry values"),
        ([[number(float("nan"))], [number(float("nan"))]], "\n {20}must have the same debug entry"),
    ],
)
def test_runs_that_the_inspector_refuses(outputs: list[Any], text: str) -> None:
    runs = [[Logged("x"), *(Logged("y", instruction=1, value=v) for v in each)] for each in outputs]
    dump = dump_of(*runs)
    with pytest.raises(AssertionError, match=text):
        event_blocks(dump, compat=True)
    (block,) = event_blocks(dump)
    assert any("differ between the 2 runs" in each for each in block.deviations)


def test_runs_of_one_signature_are_one_block() -> None:
    """Recorded as 09f3 and 09f4: another order is another block, interleaved or not."""
    one = [Logged("a", 0, 1, 1), Logged("b", 1, 2, 2)]
    other = list(reversed(one))
    blocks = event_blocks(dump_of(one, other, one))
    assert [block.runs for block in blocks] == [(0, 2), (1,)]
    named_blocks = event_blocks(dump_of(one, one, names=["Default", "Execute"]))
    assert [block.name for block in named_blocks] == ["Default", "Execute"]


@given(st.lists(st.lists(st.floats(0, 1e6), min_size=1, max_size=200), min_size=1, max_size=20))
def test_percentiles_are_numpys_to_the_last_bit(raws: list[list[float]]) -> None:
    for found, raw in zip(PerfData.of_events([*raws, *raws]), [*raws, *raws], strict=True):
        expected = [*np.percentile(raw, [10, 50, 90]), np.mean(raw), min(raw), max(raw)]
        assert [found.p10, found.p50, found.p90, found.avg, found.min, found.max] == expected


def test_link_record_notes_unlinked_items() -> None:
    record = read_etrecord(FileSource(case_dir("01_mlp_portable") / "etrecord.bin"))
    notes = link_record(record, opened("01_mlp_portable", record=False).event_blocks)
    assert [note.partition(" ")[0] for note in notes] == ["3", "2"]


def test_every_case_is_opened_or_refused() -> None:
    refused = {case for case in CASES if case not in OPENED}
    assert refused == {DIFFERENT_VALUES} | {
        case for case in CASES if Path(case).name[:3] in ("09l", "09n", "17a")
    }
