"""Runs of ExecuTorch with something to find in them, recorded and made."""

import itertools
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tests.formats.executorch.xnnpack_truth import FOLDER, INSIDE
from tests.unit.executorch.dumps import Logged, dump_of, number
from tvmdbg_widgets import samples
from tvmdbg_widgets.model.executorch.etdump import EventKind
from tvmdbg_widgets.model.executorch.event_nodes import EventNodes, ExecuTorchFiles
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.recorders.etdump_writer import RecordedBlock, RecordedEvent, etdump_bytes
from tvmdbg_widgets.recorders.event_tracer import EventTracer
from tvmdbg_widgets.run import DebugRun

TESTS = Path(__file__).parents[3]
BUFFER = (case_dir("01_mlp_portable") / "debug_buffer.bin").read_bytes()


def ticking(start: int = 10_000_000, step: int = 100_000) -> EventTracer:
    """Return a tracer whose clock goes on by so many nanoseconds each time it is read."""
    return EventTracer(clock=itertools.count(start, step).__next__)


def of_delegate(*events: tuple[int, int]) -> DebugRun:
    """Make a run of one call from 10.1 ms to 10.2 ms, in which a delegate logs such times."""
    tracer = ticking()
    call = tracer.instruction(0), tracer.profiling("DELEGATE_CALL")
    with tracer.event_block("Execute"), tracer.profiling("Method::execute"), call[0], call[1]:
        for identifier, times in enumerate(events):
            tracer.log_profiling_delegate(None, identifier, *times)
    return tvmdbg.open(tracer.to_bytes())


def of_ms(*events: tuple[int, int]) -> Callable[[], DebugRun]:
    """Make a run of such times after 10 ms in nanoseconds, when it is wanted."""
    return lambda: of_delegate(*((10_000_000 + first, 10_000_000 + last) for first, last in events))


def of_dump(*runs: Sequence[Logged]) -> DebugRun:
    dump = dump_of(*runs)
    nothing = np.full(dump.num_events, -1, np.int32)
    how = np.full(dump.num_events, 5, np.uint8)
    files = ExecuTorchFiles(dump, event_nodes=EventNodes(nothing, (), how, {}, {}))
    return DebugRun(RunParts("made", executorch=files))


def logged(name: str, **more: Any) -> DebugRun:
    """Open dump and ETRecord of a case, with another debug buffer or none."""
    folder = case_dir(name)
    return tvmdbg.open(folder / "etdump.etdp", folder / "etrecord.bin", **more)


def silent_kernel() -> DebugRun:
    """Make a run of the first two instructions of a case, the second of which logs nothing."""
    tracer = ticking()
    with tracer.event_block("Execute"):
        for instruction, kernel in enumerate(("permute_copy", "addmm")):
            event = tracer.profiling(f"native_call_{kernel}.out")
            with tracer.instruction(instruction), tracer.profiling("OPERATOR_CALL"), event:
                if kernel == "permute_copy":
                    tracer.log_evalue(np.ones((8, 16), np.float32))
    record = case_dir("01_mlp_portable") / "etrecord.bin"
    return tvmdbg.open(tracer.to_bytes(), record, debug_buffer=tracer.debug_buffer)


def xnnpack(name: str, *events: tuple[str, int], **more: Any) -> DebugRun:
    """Open a program with XNNPACK's delegate, with its dump or one call of these microseconds."""
    folder = INSIDE / name
    if not events:
        return tvmdbg.open(folder / "model.pte", folder / "etdump.etdp", **more)
    at, logged_ = 1_000_000, []
    for event, microseconds in events:
        logged_.append(RecordedEvent(0, 0, None, event, at, at + 1000 * microseconds))
        at += 1000 * microseconds
    logged_ += [RecordedEvent(0, 0, "DELEGATE_CALL", start=1_000_000, end=at)]
    logged_ += [RecordedEvent(-1, -1, "Method::execute", start=1_000_000, end=at)]
    dump = etdump_bytes([RecordedBlock("Execute", events=logged_)])
    return tvmdbg.open(folder / "model.pte", dump, **more)


RESIDUAL = (
    ("Transpose (ND, X32) #1", 842),
    ("Convolution (NHWC, F32) IGEMM #1", 44),
    ("Convolution (NHWC, F32) IGEMM #2", 42),
    ("Add (ND) #1", 25),
    ("Clamp (NC) #1", 8),
    ("Transpose (ND, X32) #2", 31),
    ("Multiply (ND) #1", 1),
)


SAMPLE = samples.executorch_xnnpack
ADD = [Logged("native_call_add.out", 1, 5), Logged("native_call_add.out", 6, 9)]
EMPTY = [Logged(kind=EventKind.DEBUG), Logged(kind=EventKind.DEBUG, chain=-1)]
OTHER_KERNEL = ("Convolution (NHWC, F32) GEMM #1", 40)
COUNTED = b"Total delegated subgraphs: 2\nNumber of delegated nodes: 203\n"
MADE: dict[str, Callable[[], DebugRun]] = {
    "counted": partial(tvmdbg.open, COUNTED + b"Number of non-delegated nodes: 7\n"),
    "sample": partial(tvmdbg.open, SAMPLE),
    "sample_without_record": partial(tvmdbg.open, SAMPLE / "model.pte", SAMPLE / "etdump.etdp"),
    "other_inputs": lambda: tvmdbg.open(
        case_dir("05c_multirun_debug_different_inputs"), execution=1
    ),
    "other_clock": partial(of_delegate, (0, 1), (0, 1), (1, 2)),
    "own_ticks": of_ms((100_000, 100_001), (100_001, 100_002)),
    "longer_than_call": of_ms((100_000, 89_000_000)),
    "unaccounted": of_ms((110_000, 130_000), (140_000, 150_000)),
    "accounted": of_ms((100_000, 150_000), (150_000, 190_000)),
    "overlapping": of_ms((100_000, 190_000), (105_000, 195_000)),
    "without_buffer": partial(logged, "01_mlp_portable"),
    "blank_buffer": lambda: logged("01_mlp_portable", debug_buffer=bytes(len(BUFFER))),
    "stray_buffer": partial(logged, "05_multirun", debug_buffer=b"\1" * 64),
    "silent_kernel": silent_kernel,
    "empty_events": partial(of_dump, [ADD[0], *EMPTY, Logged(value=number(1.0))]),
    "repeated": partial(of_dump, ADD, ADD, ADD),
    "residual": partial(xnnpack, "residual"),
    "conv_relu": partial(xnnpack, "conv_relu"),
    "merged_clamp": lambda: xnnpack("residual", *(e for e in RESIDUAL if "Clamp" not in e[0])),
    "stray_event": partial(xnnpack, "residual", *RESIDUAL, ("Softmax (NC, F32) #1", 5)),
    # Two convolutions of one window ran with two kernels.
    "another_kernel": partial(xnnpack, "residual", *RESIDUAL[:2], OTHER_KERNEL, *RESIDUAL[3:]),
}


def run_of(name: str) -> DebugRun:
    """Open a run by its name in ``tests/data/executorch_findings.toml``."""
    if name in MADE:
        return MADE[name]()
    folder = FOLDER / name.removeprefix("inside/")
    if folder.name == name:
        return tvmdbg.open(case_dir(name))
    if not folder.exists():
        pytest.skip("no corpus of recorded programs")
    return tvmdbg.open(folder / "model.pte", folder / "etdump.etdp")


TOLD = tomllib.loads((TESTS / "data" / "executorch_findings.toml").read_text("utf-8"))
Case = tuple[Callable[[], DebugRun], str, Callable[[], DebugRun]]
#: By rule: where it fires and the sentence it says, and where it stays silent.
CASES: dict[str, Case] = {
    rule: (partial(run_of, fires), sentence, partial(run_of, silent))
    for rule, (fires, sentence, silent) in TOLD["rule"].items()
}
