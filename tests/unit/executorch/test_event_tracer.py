"""EventTracer: what it records, read back by our reader and by ExecuTorch's Inspector."""

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tests.executorch_cases import answers, case_dir
from tests.formats.executorch.case_files import dump_of
from tvmdbg_widgets.formats.executorch.etdump import read_etdump
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ETDump
from tvmdbg_widgets.model.executorch.etdump import EventKind as Kind
from tvmdbg_widgets.model.executorch.etdump import ValueType as Type
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME, runtime_dtype
from tvmdbg_widgets.recorders.event_tracer import EventTracer
from tvmdbg_widgets.sources.byte_source import BytesSource

COLUMNS = (
    "chain_index",
    "instruction_id",
    "delegate_id_int",
    "start",
    "end",
    "kind",
    "run_offsets",
)
PYTHON = "TVMDBG_EXECUTORCH_PYTHON"


def tracer() -> EventTracer:
    """A tracer whose clock tells 0, 10, 20 …"""
    return EventTracer(clock=itertools.count(0, 10).__next__)


def read(found: EventTracer) -> ETDump:
    dump = read_etdump(BytesSource(found.to_bytes()), strict=True)
    assert not dump.issues
    return dump


def tensor_of(buffer: bytes, tensor: DebugTensor) -> np.ndarray[Any, Any]:
    dtype = runtime_dtype(tensor.scalar_type).numpy_dtype
    if tensor.offset == -1:
        return np.zeros(tensor.sizes, dtype)
    steps = [stride * dtype.itemsize for stride in tensor.strides]
    return np.ndarray(tensor.sizes, dtype, buffer, tensor.offset, steps)


def value_of(found: EventTracer, value: DebugValue) -> Any:
    assert all(each.offset == -1 or each.offset % 64 == 0 for each in tensors(value))
    held = [tensor_of(found.debug_buffer, each) for each in tensors(value)]
    if value.type == Type.TENSOR_LIST:
        return held
    return held[0] if held else value.value


def tensors(value: DebugValue) -> list[DebugTensor]:
    each = value.value if isinstance(value.value, tuple) else [value.value]
    return [tensor for tensor in each if isinstance(tensor, DebugTensor)]


def a_run() -> EventTracer:
    """One of everything."""
    found = tracer()
    with found.event_block("Default"), found.profiling("Method::init"):
        pass
    with found.event_block("Execute"), found.profiling("Method::execute"):
        with found.instruction(0), found.profiling("OPERATOR_CALL"):
            with found.profiling("native_call_add.out"):
                pass
            found.log_evalue(np.arange(6, dtype=np.float16).reshape(2, 3))
        with found.instruction(1), found.profiling("DELEGATE_CALL"):
            with found.profiling_delegate("conv", metadata=b"\0\xffhi"):
                pass
            found.log_profiling_delegate(None, 3, 5, 9)
            found.log_output_delegate("conv", None, np.ones((2, 2), np.float32))
            both = [np.arange(3, dtype=np.int64), np.zeros((0, 2), np.int32)]
            found.log_output_delegate(None, 3, both)
            for number, scalar in enumerate((7, True, 2.5, np.array(4.5))):
                found.log_output_delegate(None, 10 + number, scalar)
        found.log_evalue_output(np.full(1, 4, np.uint16))
    return found


def test_events_are_recorded_in_runtime_order() -> None:
    dump = read(a_run())
    assert dump.run_names == ("Default", "Execute")
    chains, instructions = dump.chain_index.tolist(), dump.instruction_id.tolist()
    rows = list(zip(dump.names, chains, instructions, strict=True))
    # A value is logged before its scope ends.
    assert rows[:3] == [("Method::init", -1, 0), ("native_call_add.out", 0, 0), ("", 0, 0)]
    assert rows[3] == ("OPERATOR_CALL", 0, 0)
    assert rows[-3:] == [("DELEGATE_CALL", 0, 1), ("", -1, 0), ("Method::execute", -1, 0)]
    conv = list(dump.delegate_id_str).index("conv")
    assert dump.metadata == {conv: b"\0\xffhi"}
    assert (dump.start[conv + 1], dump.end[conv + 1], dump.delegate_id_int[conv + 1]) == (5, 9, 3)
    outputs = [row for row, value in dump.values.items() if value.output]
    assert outputs == [dump.num_events - 2]


@pytest.mark.parametrize("case", ["05_multirun", "06a_demo_generated_ids", "06b_demo_manual_ids"])
def test_rerecorded_run_gives_same_dump(case: str) -> None:
    buffer = case_dir(case) / "debug_buffer.bin"
    memory = buffer.read_bytes() if buffer.exists() else b""
    times: list[int] = []
    found = EventTracer(clock=lambda: times.pop(0))
    for run in answers(case)["etdump_raw_flatc_json"]["run_data"]:
        with found.event_block(run["name"], run["bundled_input_index"]):
            for event in run["events"]:
                again(found, event, memory, times)
    ours, real = read(found), dump_of(case)
    for name in COLUMNS:
        assert getattr(ours, name).tolist() == getattr(real, name).tolist(), name
    for name in ("names", "delegate_id_str"):
        assert list(getattr(ours, name)) == list(getattr(real, name))
    assert (ours.metadata, ours.run_names) == (real.metadata, real.run_names)
    assert ours.values.keys() == real.values.keys()
    for row, value in real.values.items():
        mine = ours.values[row]
        assert (mine.type, mine.output) == (value.type, value.output)
        for one, other in zip(tensors(mine), tensors(value), strict=True):
            assert (one.sizes, one.strides) == (other.sizes, other.strides)
            held = tensor_of(memory, other).tobytes()
            assert tensor_of(found.debug_buffer, one).tobytes() == held
        assert tensors(value) or mine.value == value.value


def again(found: EventTracer, event: dict[str, Any], memory: bytes, times: list[int]) -> None:
    told = event.get("profile_event") or event["debug_event"]
    chain = told["chain_index"]
    name, number = told.get("delegate_debug_id_str"), told["delegate_debug_id_int"]
    with found.instruction(told["instruction_id"], -1 if chain == 2**64 - 1 else chain):
        if "debug_event" in event:
            value = logged(told["debug_entry"], memory)
            if told["debug_entry"].get("output"):
                found.log_evalue_output(value)
            elif name is None and number == -1:
                found.log_evalue(value)
            else:
                found.log_output_delegate(name, number, value)
        elif "name" in told:
            times += [told["start_time"], told["end_time"]]
            with found.profiling(told["name"]):
                pass
        else:
            metadata = bytes(told["delegate_debug_metadata"])
            span = told["start_time"], told["end_time"]
            found.log_profiling_delegate(name, number, *span, metadata)


def logged(entry: dict[str, Any], memory: bytes) -> Any:
    if "tensor_list" in entry:
        return [logged({"tensor": each}, memory) for each in entry["tensor_list"]["tensors"]]
    if "tensor" in entry:
        told = entry["tensor"]
        number = {name: number for number, (name, _) in RUNTIME.items()}[told["scalar_type"]]
        shape = tuple(told["sizes"]), tuple(told["strides"])
        return tensor_of(memory, DebugTensor(number, *shape, told["offset"]))
    (scalar,) = (held for name, held in entry.items() if name.endswith("_value"))
    return next(iter(scalar.values()))


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
INT32 = st.integers(-(2**31), 2**31 - 1)
TICKS = st.integers(0, 2**64 - 1)
IDS = st.one_of(
    st.tuples(NAMES, st.sampled_from([None, -1])),
    st.tuples(st.none(), INT32.filter(lambda number: number != -1)),
)
DTYPES = [np.dtype(name) for name in ("u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?")]
DTYPES += [np.dtype(name) for name in ("u2", "u4", "u8", ">f4", ">i8")]
ARRAYS = npst.arrays(st.sampled_from(DTYPES), npst.array_shapes(min_dims=0, min_side=0, max_side=3))
VALUES = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | ARRAYS
VALUES |= st.lists(ARRAYS, max_size=3)
EVENTS = st.one_of(
    st.tuples(st.just("profile"), NAMES, TICKS, TICKS),
    st.tuples(st.just("delegate"), IDS, TICKS, TICKS, st.binary(max_size=9)),
    st.tuples(st.just("output"), IDS, VALUES),
    st.tuples(st.sampled_from(["value", "result"]), VALUES),
)
ROWS = st.lists(st.tuples(INT32, INT32, EVENTS), max_size=6)


@given(st.lists(st.tuples(NAMES, INT32, ROWS), min_size=1, max_size=4))
def test_every_field_reads_back(runs: Any) -> None:
    times: list[int] = []
    found = EventTracer(clock=lambda: times.pop(0))
    for name, index, events in runs:
        with found.event_block(name, index):
            for instruction, chain, event in events:
                with found.instruction(instruction, chain):
                    record(found, event, times)
    dump = read(found)
    assert list(dump.run_names) == [name for name, _, _ in runs]
    assert dump.bundled_input_index.tolist() == [index for _, index, _ in runs]
    assert dump.has_events.tolist() == [bool(events) for _, _, events in runs]
    assert np.diff(dump.run_offsets).tolist() == [len(events) for _, _, events in runs]
    for row, (instruction, chain, event) in enumerate(each for run in runs for each in run[2]):
        assert (dump.instruction_id[row], dump.chain_index[row]) == (instruction, chain)
        check(found, dump, row, event)


def record(found: EventTracer, event: Any, times: list[int]) -> None:
    match event:
        case "profile", name, start, end:
            times += [start, end]
            found.end_profiling(found.start_profiling(name))
        case "delegate", identifier, start, end, metadata:
            times += [start, end]
            entry = found.start_profiling_delegate(*identifier)
            found.end_profiling_delegate(entry, bytearray(metadata))
        case "output", identifier, value:
            found.log_output_delegate(*identifier, value)
        case "value", value:
            found.log_evalue(value)
        case "result", value:
            found.log_evalue_output(value)


def check(found: EventTracer, dump: ETDump, row: int, event: Any) -> None:
    what, *rest = event
    name, number = rest[0] if what in ("delegate", "output") else (None, None)
    own = dump.delegate_id_str[row], dump.delegate_id_int[row]
    assert own == (name or "", -1 if number is None else number)
    if what in ("profile", "delegate"):
        own = dump.kind[row], dump.names[row], int(dump.start[row]), int(dump.end[row])
        assert own == (Kind.PROFILE, rest[0] if what == "profile" else "", *rest[1:3])
        assert dump.metadata.get(row, b"") == (rest[3] if what == "delegate" else b"")
        return
    own = dump.kind[row], dump.values[row].output
    assert own == (Kind.DEBUG, True if what == "result" else None)
    assert_same(value_of(found, dump.values[row]), rest[-1])


def assert_same(ours: Any, given: Any) -> None:
    if isinstance(given, list):
        for one, other in zip(ours, given, strict=True):
            assert_same(one, other)
    elif isinstance(given, np.ndarray):
        assert (ours.shape, ours.dtype) == (given.shape, given.dtype.newbyteorder("<"))
        assert ours.tobytes() == given.astype(ours.dtype).tobytes()
    else:
        assert type(ours) is type(given)
        np.testing.assert_equal(ours, given)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e4m3fn", "float16"])
def test_small_float_types_round_trip(name: str) -> None:
    values = np.array([1.5, -2.0], getattr(ml_dtypes, name, np.float16))
    found = tracer()
    with found.event_block("Execute"):
        found.log_evalue(values)
    value = read(found).values[0]
    assert RUNTIME[value.value.scalar_type][1] == name
    assert_same(value_of(found, value), values)


@pytest.mark.parametrize("both", [(None, None), (None, -1), ("conv", 3)])
def test_event_needs_exactly_one_of_name_and_id(both: Any) -> None:
    found = tracer()
    found.create_event_block("Execute")
    calls = (found.start_profiling_delegate, ()), (found.log_profiling_delegate, (0, 1))
    for call, more in (*calls, (found.log_output_delegate, (1,))):
        with pytest.raises(ValueError, match="Only name or delegate_debug_index can be valid"):
            call(*both, *more)
    assert read(found).num_events == 0


def test_unsupported_value_raises_and_logs_nothing() -> None:
    found = tracer()
    found.create_event_block("Execute")
    wrong: list[Any] = ["text", None, 1j, np.array(["a"]), [np.ones(2), np.array([None])]]
    cases = [(2**63, ValueError), ([[1, 2], [3]], ValueError), *((v, TypeError) for v in wrong)]
    for value, error in cases:
        with pytest.raises(error):
            found.log_evalue(value)
    assert (read(found).num_events, found.debug_buffer) == (0, b"")


def test_invalid_recording_calls_raise() -> None:
    found: Any = tracer()

    def refused(told: str, call: Any, *given: Any, error: Any = ValueError) -> None:
        with pytest.raises(error, match=told):
            call(*given)

    refused("nothing was recorded", found.to_bytes)
    refused("begin with", found.log_evalue, 1, error=RuntimeError)
    found.create_event_block("Execute")
    log, start = found.log_profiling_delegate, found.start_profiling_delegate
    refused("bytes-like", log, "a", None, 0, 1, "text", error=TypeError)
    refused("delegate_debug_id", start, None, 2**31)
    refused("a time", log, "a", None, -1, 1)
    refused("a name", start, 3, None, error=TypeError)
    refused("end_profiling_delegate", found.end_profiling, start("a"))
    refused("end_profiling", found.end_profiling_delegate, found.start_profiling("a"))
    with found.event_block("Execute"):
        pass
    refused("begin with", found.log_evalue, 1, error=RuntimeError)


def test_threads_lose_no_event() -> None:
    found = EventTracer()
    with found.event_block("Execute"), found.instruction(4), ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: found.log_output_delegate(None, at, np.full(3, at)), range(400)))
    dump = read(found)
    assert sorted(dump.delegate_id_int.tolist()) == list(range(400))
    for row, value in dump.values.items():
        assert value_of(found, value).tolist() == [dump.delegate_id_int[row]] * 3


def test_dump_and_debug_buffer_are_saved_together(tmp_path: Path) -> None:
    found = a_run()
    path = found.save(tmp_path / "etdump.etdp")
    assert path.read_bytes() == found.to_bytes()
    assert int.from_bytes(path.read_bytes()[:4], "little") == path.stat().st_size - 4
    assert (tmp_path / "debug_buffer.bin").read_bytes() == found.debug_buffer
    told = "2 event blocks, 7 profile events, 8 debug events, 258 bytes of tensors"
    assert repr(found) == f"EventTracer: {told}"
    with pytest.raises(ValueError, match="two files"):
        found.save(tmp_path / "a", tmp_path / "a")
    times = tracer()
    with times.event_block("Execute"), times.profiling("Method::execute"):
        pass
    times.save(tmp_path / "times.etdp", tmp_path / "none.bin")
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["debug_buffer.bin", "etdump.etdp", "times.etdp"]


INSPECT = """
import json, sys
from executorch.devtools import Inspector

def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value

inspector = Inspector(etdump_path=sys.argv[1], debug_buffer_path=sys.argv[2])
found = [
    [block.name, event.name, event.is_delegated_op, event.perf_data and event.perf_data.raw,
     plain(event.debug_data), [each.hex() for each in event.delegate_debug_metadatas if each]]
    for block in inspector.event_blocks for event in block.events
]
outputs = [plain(block.run_output) for block in inspector.event_blocks]
print("\\n" + json.dumps([found, outputs, inspector.to_dataframe().shape[0]]))
"""


@pytest.mark.slow
def test_executorch_inspector_reads_saved_dump(tmp_path: Path) -> None:
    python = os.environ.get(PYTHON)
    if python is None and importlib.util.find_spec("executorch") is not None:
        python = sys.executable
    if python is None:
        pytest.skip(f"no executorch; set {PYTHON} to a Python that has it to run this")
    path = a_run().save(tmp_path / "etdump.etdp")
    # The Inspector starts flatc, which is installed beside its Python.
    folders = os.pathsep.join([str(Path(python).parent), os.environ.get("PATH", "")])
    given = [python, "-c", INSPECT, path, tmp_path / "debug_buffer.bin"]
    env = {**os.environ, "PATH": folders}
    result = subprocess.run(given, capture_output=True, text=True, check=False, env=env)
    assert result.returncode == 0, result.stderr
    events, outputs, rows = json.loads(result.stdout.splitlines()[-1])
    half = [[[0, 1, 2], [3, 4, 5]]]
    assert events == [
        ["Default", "Method::init", False, [1e-5], [], []],
        ["Execute", "native_call_add.out", False, [1e-5], half, []],
        ["Execute", "OPERATOR_CALL", False, [3e-5], half, []],
        ["Execute", "conv", True, [pytest.approx(1e-5)], [[[1, 1], [1, 1]]], ["00ff6869"]],
        ["Execute", "3", True, [pytest.approx(4e-6)], [[[0, 1, 2], []]], []],
        ["Execute", "10", True, None, [7], []],
        ["Execute", "11", True, None, [True], []],
        ["Execute", "12", True, None, [2.5], []],
        ["Execute", "13", True, None, [4.5], []],
        ["Execute", "DELEGATE_CALL", False, [3e-5], [], []],
        ["Execute", "Method::execute", False, [9e-5], [], []],
    ]
    assert (outputs, rows) == ([[], [[4]]], 11)
