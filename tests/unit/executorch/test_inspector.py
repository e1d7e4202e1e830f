"""Where the Inspector's default mode gives better answers than ExecuTorch's, and what it notes."""

import dataclasses
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import CASES, case_dir
from tests.formats.executorch.case_files import arrays_of
from tests.unit.executorch.dumps import Logged, dump_of, number
from tests.unit.executorch.gap_cases import Block, Event, record_of
from tests.unit.executorch.inspector_truth import OPENED, opened, plain
from tvmdbg_widgets.analysis.executorch.event_blocks import event_blocks
from tvmdbg_widgets.analysis.executorch.gap_rows import numeric_gap
from tvmdbg_widgets.analysis.executorch.record_links import link_record, link_record_as_inspector
from tvmdbg_widgets.analysis.executorch.time_scale import PerfData
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile
from tvmdbg_widgets.formats.executorch.etdump import read_etdump
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, EventKind, ValueType
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.recorders.etdump_writer import RecordedBlock, etdump_bytes
from tvmdbg_widgets.run.executorch.inspector import Inspector
from tvmdbg_widgets.sources.byte_source import BytesSource

#: Cases of which the default mode reads all and the Inspector nothing, or other values.
DIFFERENT = ("09a_all_values", "09f_duplicates", "09j_delegate_map_lookup", "12_channels_last")
DIFFERENT_VALUES = "05c_multirun_debug_different_inputs"
MLP = case_dir("01_mlp_portable")
DUMP = MLP / "etdump.etdp"


def named(block: Any, name: str) -> Any:
    return next(event for event in block.events if event.name == name)


def noted(inspector: Any, text: str) -> bool:
    return any(text in each for each in inspector.deviations)


@pytest.mark.parametrize("case", [case for case in OPENED if case not in DIFFERENT])
def test_both_modes_agree_except_for_framework_events(case: str) -> None:
    """Events of the framework have no handles, blocks without an index no reference output."""
    ours, theirs = opened(case, compat=False).event_blocks, opened(case).event_blocks
    for mine, its in zip(ours, theirs, strict=True):
        assert mine.reference_output is None or mine.bundled_input_index >= 0
        assert plain(mine.run_output) == plain(its.run_output)
        for one, other in zip(mine.events, its.events, strict=True):
            fields = {each.name for each in dataclasses.fields(one)} - {"logged", "metadata_parser"}
            if one.chain_index == -1:
                assert (one.debug_handles, one.num_outputs, one.op_types) == (None, 1, [])
                fields -= {"debug_handles", "num_outputs"}
            assert all(getattr(one, name) == getattr(other, name) for name in fields)
            assert plain(one.debug_data) == plain(other.debug_data)


def test_every_case_is_opened_without_deviations_or_refused() -> None:
    assert not any(opened(case).deviations for case in OPENED)
    broken = {case for case in CASES if case.startswith(("09l", "09n", "17a"))}
    assert {case for case in CASES if case not in OPENED} == {DIFFERENT_VALUES} | broken


def test_runs_with_different_inputs_keep_their_values() -> None:
    inspector = opened(DIFFERENT_VALUES, compat=False)
    block: Any = inspector.event_blocks[1]
    assert len(block.run_output_by_run) == len(block.runs) == 2
    for run, found in enumerate(block.run_output_by_run):
        expected = arrays_of(DIFFERENT_VALUES, "io.npz")[f"run{run}.out0"]
        assert np.array_equal(found[0], expected)
    gelu = named(block, "native_call_gelu.out")
    first, second = (values[0] for values in gelu.debug_data_by_run)
    assert not np.array_equal(first, second)
    assert gelu.debug_data[0] is not None
    assert plain(gelu.debug_data) == plain(gelu.debug_data_by_run[0])
    assert noted(inspector, "8 events differ between the 2 runs")


def test_event_keeps_all_its_occurrences() -> None:
    inspector, its = opened("09f_duplicates", compat=False), opened("09f_duplicates")
    event: Any = inspector.event_blocks[0].events[0]
    last: Any = its.event_blocks[0].events[0]
    raw = event.perf_data.raw
    assert (event.occurrences, len(raw), len(event.start_time)) == ((2, 2), 4, 4)
    assert (raw[1::2], event.total_a_run) == (last.perf_data.raw, sum(raw) / 2)
    assert noted(inspector, "up to 2 occurrences")


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
    assert noted(inspector, "any key that the identifier contains")
    its = named(opened("09j_delegate_map_lookup").event_blocks[0], "conv_12")
    assert (its.debug_handles, its.handle_trust) == ([5], "by name")


def test_tensors_without_a_buffer_have_no_values_and_others_a_gap() -> None:
    inspector = opened(MLP.name, compat=False, buffer=False)
    assert inspector.event_blocks[1].run_output == [None]
    assert noted(inspector, "no debug buffer is given")
    inspector = opened("12_channels_last", compat=False)
    (value,) = inspector.event_blocks[1].events[0].debug_data
    gap = inspector.calculate_numeric_gap("MSE", reference={1: value})
    assert [row.gap for row in gap.rows] == [[0.0]]


def test_reference_outputs_match_the_bundled_input() -> None:
    blocks, its = (opened("14_bundled", compat=c).event_blocks for c in (False, True))
    told = [(block.name, block.reference_output is None) for block in blocks]
    assert told == [("Default", True), *[("Execute", False)] * 3]
    for block, other in zip(blocks[1:], its[1:], strict=True):
        assert plain(block.reference_output) == plain(other.reference_output)


@pytest.mark.parametrize("missing", ["debug_handle_map", "num_outputs", "edge_programs"])
def test_etrecords_without_a_member(missing: str) -> None:
    """As the Inspector refuses every ETRecord from before 1.0; recorded as 09n."""
    empty: Any = {} if missing == "edge_programs" else None
    old = dataclasses.replace(record_of(MLP.name), **{missing: empty})
    inspector = Inspector(DUMP, etrecord=old)
    assert noted(inspector, "the ETRecord has no")
    event = named(inspector.event_blocks[1], "native_call_addmm.out")
    assert event.debug_handles == (None if missing == "debug_handle_map" else 1)
    error = (KeyError, "'edge_dialect_graph_module'") if empty == {} else (TypeError, "'NoneType'")
    with pytest.raises(error[0], match=error[1]):
        link_record_as_inspector(old, inspector.event_blocks)


def test_several_methods() -> None:
    """From the Inspector's code; no recorded file has several."""
    edge, maps = record_of(MLP.name).edge_programs["forward"], record_of(MLP.name).debug_handle_map
    several = ETRecord(
        "several",
        edge_programs={"prefill": edge, "decode": edge},
        debug_handle_map={"prefill": (maps or {})["forward"], "decode": {"1": 3}},
        num_outputs={"forward": {}},
    )
    with pytest.raises(ValueError, match="which method was run"):
        Inspector(DUMP, etrecord=several)
    with pytest.raises(ValueError, match="no method 'forward'; known: 'prefill', 'decode'"):
        Inspector(DUMP, etrecord=several, method="forward")
    found = Inspector(DUMP, etrecord=several, method="decode")
    assert named(found.event_blocks[1], "native_call_addmm.out").debug_handles == 3
    assert noted(found, "with several methods")
    with pytest.raises(KeyError, match="forward"):
        link_record_as_inspector(several, found.event_blocks)
    renamed = dataclasses.replace(several, debug_handle_map={"forward": {}})
    with pytest.raises(AttributeError, match="'dict' object has no attribute 'graph_module'"):
        link_record_as_inspector(renamed, found.event_blocks)


def test_etrecord_is_accepted_as_path_and_bytes() -> None:
    path = MLP / "etrecord.bin"
    for record in (path, str(path), path.read_bytes()):
        inspector = Inspector(DUMP, etrecord=record, buffer_path=MLP / "debug_buffer.bin")
        block = inspector.event_blocks[1]
        assert named(block, "native_call_gelu.out").op_types
        assert isinstance(block.run_output[0], np.ndarray)
    # What has no link is noted.
    blocks = opened(MLP.name, record=False).event_blocks
    notes = link_record(record_of(MLP.name), blocks)
    assert [note.partition(" ")[0] for note in notes] == ["3", "2"]


def test_metadata_parser_is_called_once_on_access() -> None:
    calls: list[Any] = []

    def parse(found: list[bytes | str]) -> list[str]:
        calls.append(found)
        raise LookupError("no such thing")

    inspector = opened("06a_demo_generated_ids", compat=False, delegate_metadata_parser=parse)
    inspector.to_dataframe()
    assert not calls
    with pytest.raises(LookupError):
        _ = named(inspector.event_blocks[1], "0").delegate_debug_metadatas
    assert calls == [[]]
    assert named(inspector.event_blocks[1], "DELEGATE_CALL").delegate_debug_metadatas == []


def test_notebook_html_is_escaped_and_may_be_empty() -> None:
    inspector = Inspector(DUMP)
    events = [Logged("<script>&", 0, 5), Logged("OPERATOR_CALL", 0, 5)]
    inspector.event_blocks = event_blocks(dump_of(events))
    text = inspector._repr_html_()
    assert "<td>&lt;script&gt;&amp;</td>" in text
    assert "OPERATOR_CALL" not in text
    assert repr(inspector).endswith("1 block with 2 events)")
    inspector.event_blocks = event_blocks(dump_of([]))
    assert len(inspector.to_dataframe()) == 0


def test_dumps_and_traces_without_events_are_reported() -> None:
    for count in (0, 2):
        run = tvmdbg.open(etdump_bytes([RecordedBlock("Execute")] * count))
        (issue,) = run.check().by_rule("no-events")
        assert f"{count} runs and no events" in issue.message
    for trace in (
        b'{"traceEvents": []}',
        b'[{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}}]',
        b'{"traceEvents": [{"ph": "C", "name": "x", "ts": 1, "pid": 1, "args": {"v": 3}}]}',
    ):
        assert [issue.rule for issue in tvmdbg.open(trace).check()] == ["no-events"]


# Dumps made by hand ------------------------------------------------------------------------------


def test_chains_are_kept_apart() -> None:
    """No recorded file has two chains; the Inspector's code takes the last of equal signatures."""
    events = [Logged("x", 0, 1, chain=0), Logged("x", 0, 2, chain=1)]
    (block,) = event_blocks(dump_of(events))
    assert [event.chain_index for event in block.events] == [0, 1]
    assert noted(block, "2 chains")
    (its,) = event_blocks(dump_of(events), compat=True)
    told = [(event.start_time, event.perf_data) for event in its.events]
    assert told == [([0], PerfData([2e-6]))]


@pytest.mark.parametrize("compat", [True, False])
def test_values_logged_by_framework_are_separate_events(compat: bool) -> None:
    """As the real Inspector answers: an unset chain is another number in debug events."""
    run = [Logged("Method::execute", 0, 5, chain=-1), Logged(chain=-1, value=number(1.0))]
    (block,) = event_blocks(dump_of(run), compat=compat)
    found = [(event.name, event.debug_data) for event in block.events]
    assert found == [("Method::execute", []), ("", [1.0])]


def test_empty_tensors_have_strides_of_c_order() -> None:
    value = DebugValue(ValueType.TENSOR, DebugTensor(6, (3, 0), (1, 1), -1))
    buffer = DebugBufferFile(BytesSource(b""))
    (block,) = event_blocks(dump_of([Logged("x", value=value)]), buffer=buffer)
    assert (block.events[0].debug_data[0].shape, block.deviations) == ((3, 0), ())


def test_clocks_that_wrap() -> None:
    """Recorded as 09d: with 32 bits the ticks are right but for one, a delegate's nonsense."""
    own = dump_of([Logged("x", 2**32 - 1000, 500)])
    delegate = dump_of([Logged("", 2**32 - 1000, 500, identifier=3)])
    for dump, compat in ((own, True), (own, False), (delegate, False)):
        (block,) = event_blocks(dump, compat=compat)
        assert block.events[0].perf_data == PerfData([1499 / 1e6])
    assert noted(block, "clock of 32 bits wrapped")
    its: Any = event_blocks(delegate, compat=True)[0].events[0]
    assert its.perf_data.avg == pytest.approx(4294963000.03, rel=1e-6)


ENDS = r"^Expected start_time \(1099511627776\) and end_time \(5\)"
NO_VALUE = r"^Invalid Buffer\. Received no value for field: debug_e"
BFLOAT16 = DebugValue(ValueType.TENSOR, DebugTensor(15, (1,), (1,), 0), None)
ALLOCATED, DEBUG = Logged(kind=EventKind.ALLOCATION), Logged("x", kind=EventKind.DEBUG)


def test_events_that_inspector_refuses_are_noted() -> None:
    """Recorded, but for the first one, as 09b, 09a2 and 09g."""
    firsts: list[Any] = []
    for event, note, error, told in (
        (Logged("x", 2**40, 5), "no duration (NaN)", ValueError, ENDS),
        (ALLOCATED, "1 allocation event left out", ValueError, "^Unable to find populated event$"),
        (Logged("x", value=BFLOAT16), "types such as bfloat16", RuntimeError, "type_size : 15"),
        (DEBUG, "1 debug event without a value", TypeError, NO_VALUE),
    ):
        dump = dump_of([event, Logged("y", 0, 5, 1)])
        (block,) = event_blocks(dump)
        assert noted(block, note)
        firsts.append(block.events[0])
        with pytest.raises(error, match=told):
            event_blocks(dump, compat=True)
    assert [each.name for each in firsts] == ["x", "y", "x", "x"]
    assert (np.isnan(firsts[0].perf_data.avg), firsts[3].debug_data) == (True, [])


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
    assert noted(block, "differ between the 2 runs")


def test_runs_of_one_signature_are_one_block() -> None:
    """Recorded as 09f3 and 09f4: another order is another block, interleaved or not."""
    one = [Logged("a", 0, 1, 1), Logged("b", 1, 2, 2)]
    blocks = event_blocks(dump_of(one, one[::-1], one))
    assert [block.runs for block in blocks] == [(0, 2), (1,)]
    blocks = event_blocks(dump_of(one, one, names=["Default", "Execute"]))
    assert [block.name for block in blocks] == ["Default", "Execute"]


def test_20_000_runs_and_calls_take_linear_time() -> None:
    start = time.process_time()
    (block,) = event_blocks(dump_of(*[[Logged("x", 0, 1)]] * 20_000))
    assert (len(block.runs), block.deviations) == (20_000, ())
    calls = [Event("DELEGATE_CALL", [99]) for _ in range(20_000)]
    assert not numeric_gap([Block(calls)], record_of(MLP.name), "L1", reference={}).rows
    dump = read_etdump(BytesSource(etdump_bytes([RecordedBlock("Execute")] * 20_000)))
    assert dump.run_names == ("Execute",) * 20_000
    assert time.process_time() - start < 6


@given(st.lists(st.lists(st.floats(0, 1e6), min_size=1, max_size=200), min_size=1, max_size=20))
def test_percentiles_are_numpys_to_the_last_bit(raws: list[list[float]]) -> None:
    for found, raw in zip(PerfData.of_events([*raws, *raws]), [*raws, *raws], strict=True):
        expected = [*np.percentile(raw, [10, 50, 90]), np.mean(raw), min(raw), max(raw)]
        assert [found.p10, found.p50, found.p90, found.avg, found.min, found.max] == expected
