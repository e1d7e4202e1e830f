"""What the rules say of runs of ExecuTorch beside their first sentence."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import CASES, case_dir
from tests.unit.executorch.delegates import finding_cases as cases
from tests.unit.executorch.delegates.finding_cases import MANY, MIXED, other_clock, own_ticks
from tests.unit.executorch.dumps import Logged, dump_of, number
from tests.unit.findings.findings_dump import found
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind
from tvmdbg_widgets.model.executorch.event_nodes import EventNodes, ExecuTorchFiles
from tvmdbg_widgets.model.findings import Confidence, Severity
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.run import DebugRun

#: Advice on TVM, which is no use here.
OF_TVM = re.compile(r"TVM|\brun\((?!\))|debugger|GraphModule|Relay|EliminateCommon|DeadCode")


def of_dump(dump: ETDump) -> DebugRun:
    nothing = np.full(dump.num_events, -1, np.int32)
    how = np.full(dump.num_events, 5, np.uint8)
    files = ExecuTorchFiles(dump, event_nodes=EventNodes(nothing, (), how, {}, {}))
    return DebugRun(RunParts("made", executorch=files))


@pytest.mark.parametrize("name", CASES)
def test_findings_do_not_mention_other_tools(name: str) -> None:
    try:
        run = tvmdbg.open(case_dir(name))
    except FormatError:
        return
    for each in run.findings(progress=False):
        said = " ".join((each.title, *each.evidence, each.why, each.next_step))
        assert not OF_TVM.search(said), said
    assert not OF_TVM.search(" ".join(map(str, run.check())))


def test_operators_of_a_backend_are_listed_by_call() -> None:
    run: Any = MIXED()
    (each,) = found(run, "delegate-time")
    assert (each.nodes, each.confidence) == ((5, 6, 8, 9), Confidence.MEDIUM)
    first = "XnnpackBackend, instruction 0 (linear #5, relu #6): 19.50 µs, 29.1 %"
    assert each.evidence[0] == first
    assert "takes 36.3 % of the time" in each.title
    assert "also logged values" in each.why
    # Shares of delegates and of operators are those of the same time.
    (slowest,) = found(run, "slowest-operators")
    assert slowest.title == "cumsum #7 takes 60.6 % of the time"
    assert slowest.evidence[1:] == (
        "XNNPACK, instruction 0 · 2 operators: 19.50 µs, 29.1 %",
        "XNNPACK, instruction 2 · 2 operators: 4.897 µs, 7.30 %",
        "3.08 % of the time is spent outside of instructions",
    )
    assert run.timeline.node_ns[7] / run.timeline.total_ns == pytest.approx(0.606, abs=5e-4)
    (each,) = found(cases.recorded("03d_xnnpack_two_outputs")(), "delegate-time")
    said = "takes 96.4 % of the time in 1 call; 3.61 % runs outside of delegates"
    assert each.title.endswith(said)


def test_unmapped_events_of_backends_without_and_with_a_map() -> None:
    (each,) = found(MIXED(), "unmapped-events")
    assert each.severity is Severity.INFO
    assert each.title.startswith("XnnpackBackend has no map from identifiers to operators: 2 ")
    assert each.next_step.startswith("Open the program (.pte) too: it has the graph of Xnnpack")
    first, _ = found(cases.LOOKUP(), "unmapped-events")
    told = tuple(f"{identifier}: 1 event in instruction 2 (Demo)" for identifier in (3, 12))
    assert first.evidence[:2] == told


def test_times_of_another_clock_are_detected_and_not_summed_up() -> None:
    (each,) = found(other_clock(), "delegate-clock")
    said = "instruction 0: 3 of 3 events outside of the call, each takes 0 or 1 ticks"
    assert each.evidence == (said,)
    (longer,) = found(cases.of_delegate((10_100_000, 99_000_000)), "delegate-clock")
    said = "instruction 0: 1 of 1 event outside of the call, 1 longer than the call"
    assert longer.evidence == (said,)
    (ticks,) = found(own_ticks(), "delegate-clock")
    assert ticks.title.endswith("its 2 events take 0 or 1 ticks")
    for make in (other_clock, own_ticks, MIXED):  # the last one spent the time on logging
        assert not found(make(), "delegate-sums")


def test_event_sum_above_call_time_is_reported() -> None:
    (each,) = found(cases.overlapping(), "delegate-sums")
    assert each.title == "Events of a delegate add up to 1.80× the time of its calls: they overlap"
    assert each.evidence == ("instruction 0: 180.0 µs in its events, 100.0 µs in all",)


def test_debug_buffers_and_events_without_values_are_reported() -> None:
    run = cases.blank_buffer()
    (each,) = found(run, "debug-values")
    assert each.title == "All values of 6 tensors in the debug buffer are zero"
    assert each.severity is Severity.WARNING
    assert not found(run, "constant-values")
    (each,) = found(cases.logged("05_multirun", debug_buffer=b"\1" * 64), "debug-values")
    assert each.title.startswith("The dump logged no tensors: nothing in the debug buffer")
    events = [Logged("native_call_add.out", 1, 5), Logged(kind=EventKind.DEBUG)]
    events += [Logged(kind=EventKind.DEBUG, chain=-1), Logged(value=number(1.0))]
    (each,) = found(of_dump(dump_of(events)), "debug-values")
    assert each.title == "2 debug events have no value"
    assert each.evidence == ("instruction 0", "a program output")


def test_operators_without_a_value_are_counted() -> None:
    run = MIXED()
    (each,) = found(run, "unlogged-values")
    assert (each.severity, each.nodes) == (Severity.INFO, (5, 8))
    assert each.title == "2 operators inside of delegates have no value in this dump"
    assert not found(run, "missing-tensors")
    (each,) = found(cases.recorded("04_transformer_portable")(), "unlogged-values")
    assert each.title == "19 operators without an instruction have no value in this dump"
    titles = [each.title for each in found(cases.silent_kernel(), "unlogged-values")]
    assert "No output of the program was logged" in titles


def test_repeated_events_are_counted_per_run() -> None:
    once = [Logged("native_call_add.out", 1, 5), Logged("native_call_add.out", 6, 9)]
    (each,) = found(of_dump(dump_of(once, once, once)), "repeated-events")
    assert each.title.startswith("The Inspector would leave out 3 of 6 events: native_call_add.out")
    assert each.evidence == ("native_call_add.out in instruction 0: 2 times",)


def test_next_step_is_specific_to_executorch() -> None:
    varies = "To see how its time varies, execute the method several times."
    spread = "run.timeline.node(6) shows the spread of its repeats."
    for make, said in ((MIXED, varies), (MANY, spread)):
        assert said in found(make(), "slowest-operators")[0].next_step


def test_names_from_files_stay_on_one_line() -> None:
    parts: Any = cases.of_delegate((10_110_000, 10_150_000)).parts
    files = parts.executorch
    named = dataclasses.replace(files.event_nodes, backends={(0, 0): "evil\nname" * 20})
    files = dataclasses.replace(files, event_nodes=named)
    evil = DebugRun(dataclasses.replace(parts, executorch=files))
    for each in evil.findings(progress=False):
        assert "\n" not in "".join((each.title, *each.evidence, each.why, each.next_step))
        assert len(each.title) < 200
