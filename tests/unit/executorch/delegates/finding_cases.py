"""Runs of ExecuTorch with something to find in them, recorded and made."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tests.formats.executorch.xnnpack_truth import INSIDE
from tvmdbg_widgets import samples
from tvmdbg_widgets.recorders.etdump_writer import RecordedBlock, RecordedEvent, etdump_bytes
from tvmdbg_widgets.recorders.event_tracer import EventTracer
from tvmdbg_widgets.run import DebugRun


def recorded(name: str) -> Callable[[], DebugRun]:
    """Open a recorded case when it is wanted."""
    return lambda: tvmdbg.open(case_dir(name))


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


other_clock = partial(of_delegate, (0, 1), (0, 1), (1, 2))
own_ticks = of_ms((100_000, 100_001), (100_001, 100_002))
unaccounted = of_ms((110_000, 130_000), (140_000, 150_000))
accounted = of_ms((100_000, 150_000), (150_000, 190_000))
overlapping = of_ms((100_000, 190_000), (105_000, 195_000))


def logged(name: str, **more: Any) -> DebugRun:
    """Open dump and ETRecord of a case, with another debug buffer or none."""
    folder = case_dir(name)
    return tvmdbg.open(folder / "etdump.etdp", folder / "etrecord.bin", **more)


def blank_buffer() -> DebugRun:
    size = (case_dir("01_mlp_portable") / "debug_buffer.bin").stat().st_size
    return logged("01_mlp_portable", debug_buffer=bytes(size))


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


def another_kernel() -> DebugRun:
    """Return a run whose two convolutions of one window ran with two kernels."""
    events = [*RESIDUAL]
    events[2] = ("Convolution (NHWC, F32) GEMM #1", 40)
    return xnnpack("residual", *events)


def counted() -> DebugRun:
    text = b"Total delegated subgraphs: 2\nNumber of delegated nodes: 203\n"
    return tvmdbg.open(text + b"Number of non-delegated nodes: 7\n")


MLP, MIXED = recorded("01_mlp_portable"), recorded("03b_mixed_xnnpack")
MANUAL = recorded("06b_demo_manual_ids")
LOOKUP, MANY = recorded("09j_delegate_map_lookup"), recorded("05_multirun")
SAMPLE = partial(tvmdbg.open, samples.executorch_xnnpack)
OTHER_INPUTS = partial(tvmdbg.open, case_dir("05c_multirun_debug_different_inputs"), execution=1)
Case = tuple[Callable[[], DebugRun], str, Callable[[], DebugRun]]
#: By rule: where it fires and the sentence it says, and where it stays silent.
CASES: dict[str, Case] = {
    "delegation": (counted, "203 of 210 nodes delegated (96.7 %) in 2 subgraphs", MLP),
    "delegate-time": (
        MIXED,
        "XnnpackBackend takes 36.3 % of the time in 2 calls; 63.7 % runs outside of delegates",
        MLP,
    ),
    "delegate-events": (
        SAMPLE,
        "StaticTranspose_1 (Transpose (ND, X8) #1) is the slowest operator of XnnpackBackend: 38",
        other_clock,
    ),
    "delegate-conversions": (
        SAMPLE,
        "XnnpackBackend spends 42.00 µs on layout and type conversions: 26.1 % of its calls",
        MANUAL,
    ),
    "delegate-algorithms": (
        another_kernel,
        "Conv2d_1 (Convolution (NHWC, F32) IGEMM #1) ran as IGEMM, not as GEMM like its siblings",
        partial(xnnpack, "residual"),
    ),
    "delegate-splits": (
        MIXED,
        "cumsum #7 splits XnnpackBackend into 2 calls",
        recorded("03d_xnnpack_two_outputs"),
    ),
    "unmapped-events": (
        LOOKUP,
        "6 identifiers are not in the delegate's map: their 6 events match no operator",
        MANUAL,
    ),
    "unseen-identifiers": (
        LOOKUP,
        "2 of 5 identifiers in the map of DemoStr were never logged: 'op', ''",
        MANUAL,
    ),
    "delegate-clock": (
        other_clock,
        "Times of a delegate are not in the runtime's unit: its 3 events lie outside",
        recorded("06a_demo_generated_ids"),
    ),
    "delegate-sums": (
        unaccounted,
        "A delegate does not account for 70.0 % of its calls: 70.00 µs per execution",
        accounted,
    ),
    "repeated-events": (
        recorded("09f_duplicates"),
        "The Inspector would leave out 4 of 8 events: native_call_add.out occurs 2 times in a run",
        MANY,
    ),
    "debug-values": (
        partial(logged, "01_mlp_portable"),
        "7 tensors were logged, but there is no debug buffer",
        MLP,
    ),
    "unlogged-values": (silent_kernel, "addmm #6 ran but logged no value", MLP),
    "reference-outputs": (
        OTHER_INPUTS,
        "Output _softmax #10 is far from its reference: SNR",
        MANY,
    ),
    "load-time": (MANY, "Loading the method took 44.20 µs, 3.6× one execution", MLP),
}
