"""Times that XNNPACK counts in whole microseconds: 0 is less than one, wherever it is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tests.unit.executorch.dumps import Logged, dump_of
from tvmdbg_widgets.analysis.view_columns import graph_columns
from tvmdbg_widgets.model.executorch.etdump import DelegateCalls, rounding_ns

ADD, CLAMP = "Add (ND) #1", "Clamp (NC) #1"
HERE = {(0, 3): "XnnpackBackend"}


def call(*inner: tuple[str | int, int, int], end: int = 5_700) -> list[Logged]:
    return [
        *(Logged("", start, stop, 3, identifier=name) for name, start, stop in inner),
        Logged("DELEGATE_CALL", 100, end, 3),
    ]


@pytest.mark.parametrize(
    ("inner", "backends", "expected"),
    [
        ([(ADD, 100, 2100), (CLAMP, 2100, 2100)], HERE, 1000),
        ([(ADD, 100, 2100), (CLAMP, 2100, 2100)], {}, 1000),
        ([("any", 100, 2100)], HERE, 1000),
        ([("any", 100, 2100)], {}, 0),
        ([(ADD, 100, 2100)], {(0, 3): "CoreMLBackend"}, 0),
        ([(ADD, 100, 2101), (CLAMP, 2101, 2101)], HERE, 0),
        ([(ADD, 2100, 100)], HERE, 0),
        ([(7, 100, 2100)], {}, 0),
        ([], HERE, 0),
    ],
)
def test_rounding_is_detected_from_event_times_and_backend(
    inner: list[tuple[str | int, int, int]], backends: dict[tuple[int, int], str], expected: float
) -> None:
    dump = dump_of(call(*inner))
    assert rounding_ns(dump, DelegateCalls.of(dump), backends) == expected


def short() -> tvmdbg.DebugRun:
    """A run of XNNPACK with an event of 0 µs."""
    run = tvmdbg.open(case_dir("08_conv_xnnpack_quant"))
    assert isinstance(run, tvmdbg.DebugRun)
    assert run.timeline is not None
    assert run.timeline.rounding_ns == 1000
    return run


def test_zero_durations_print_as_less_than_one_microsecond() -> None:
    run = short()
    timeline = run.timeline
    assert timeline is not None
    zero = np.flatnonzero(timeline.slice_duration_ns == 0)
    assert len(zero)
    first = int(zero[0])
    assert "< 1 µs" in repr(timeline.slice(first))
    name = timeline.slice_names[first]
    (row,) = (each for each in run.times("name") if each.label == name)
    assert (row.ns, row.share) == (0, 0)
    assert "< 1 µs" in repr(row)
    assert "< 1 µs" in repr(run.delegate_calls()[0].events) + repr(run.delegate_calls()[1].events)
    assert 0 in run.delegate_calls().events()["duration_ns"].tolist()
    assert "rounding_ns" not in run.delegate_calls().events()
    for text in (repr(run.times("name")), run.figure("timeline", table_by="name").text):
        assert "< 1 µs" in text
        assert "0 ns" not in text.replace("00 ns", "")
    assert run.graph is not None
    assert graph_columns(run.graph, timeline)["timeRounding"].tolist() == [1000]
    assert graph_columns(run.graph, replace(timeline, rounding_ns=0.0))["timeRounding"] == [0]
    assert "rounding_ns" not in run.table().to_dataframe()
