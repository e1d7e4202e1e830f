"""The scan: what it reads, how it stops, who waits for whom, and what broken tensors do."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, graph_json, params, plant
from tvmdbg_widgets.analysis.findings import probes
from tvmdbg_widgets.analysis.tensor_scan import Subject, TensorScan
from tvmdbg_widgets.model.findings import Confidence, Finding, Findings, Severity
from tvmdbg_widgets.model.statistics.batch import ArrayPasses
from tvmdbg_widgets.run import DebugRun

if TYPE_CHECKING:
    import pytest


DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bfloat16"]


@st.composite
def some_values(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    name = draw(st.sampled_from(DTYPES))
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=40))
    kind = "float32" if name == "bfloat16" else name
    values = draw(arrays.arrays(kind, shape))
    return values.astype(ml_dtypes.bfloat16) if name == "bfloat16" else values


@given(some_values())
@settings(max_examples=60)
def test_scan_statistics_match_numpy(values: np.ndarray[Any, Any]) -> None:
    run = plant(Op("x", values))
    scan = TensorScan(run.parts, probes())
    assert scan.run()
    found = scan.scanned().statistics[0, 0]
    wide = values.reshape(-1).astype(np.float64) if values.dtype.kind != "i" else values.reshape(-1)
    assert found.size == values.size
    assert found.nan == np.count_nonzero(wide != wide)  # noqa: PLR0124 (NaN alone differs)
    assert found.pos_inf == np.count_nonzero(wide == math.inf)
    assert found.neg_inf == np.count_nonzero(wide == -math.inf)
    finite = wide[np.isfinite(wide)]
    assert found.zero == np.count_nonzero(finite == 0)
    if finite.size:
        assert (float(found.minimum), float(found.maximum)) == (finite.min(), finite.max())
    assert run.tensors[0, 0].statistics() is found, "others find it there"


@given(st.lists(st.integers(0, 3), min_size=64, max_size=64), st.integers(0, 4), st.booleans())
@settings(max_examples=60)
def test_dead_channels_match_numpy(cells: list[int], scale: int, packed: bool) -> None:
    shape, layout = ((1, 2, 2, 4, 4), "NCHW4c") if packed else ((1, 4, 4, 4), "NCHW")
    values = np.zeros(math.prod(shape), np.float32)
    values[:64] = np.array(cells) * scale
    values = values.reshape(shape)
    values = np.repeat(np.repeat(values, 4, axis=2), 4, axis=3)
    run = plant(Op("x", values), Op("a", values, "fused_nn_relu", [(0, 0)], {"out_layout": layout}))
    scan = TensorScan(run.parts, probes())
    scan.run()
    found = scan.scanned().probed["dead-channels"].get((1, 0))
    dead = np.flatnonzero((values == 0).all(axis=(0, 2, 3)).reshape(-1))
    expected = tuple(dead.tolist()) if values.any() else ()
    assert (found.dead if found else ()) == expected


def many(count: int = 6) -> DebugRun:
    ops = [Op("x", np.arange(300_000, dtype=np.float32))]
    ops += [
        Op(f"a{node}", np.arange(300_000, dtype=np.float32), "fused_exp", [(node, 0)])
        for node in range(count - 1)
    ]
    return plant(*ops)


class Gate:
    """Holds the scan before its n-th tensor until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self.reached, self.free, self.scans = threading.Event(), threading.Event(), 0
        real = ArrayPasses.tallied

        def held(*args: Any, **named: Any) -> Any:
            self.scans += 1
            if self.scans == at + 1:
                self.reached.set()
                assert self.free.wait(120)
            return real(*args, **named)

        monkeypatch.setattr(ArrayPasses, "tallied", held)


def in_thread(task: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(task()))
    thread.start()
    return thread, got


def test_two_callers_share_one_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    run, gate = many(), Gate(monkeypatch, 2)
    first, one = in_thread(lambda: run.findings(progress=False))
    assert gate.reached.wait(120)
    second, two = in_thread(lambda: run.findings(progress=False))
    time.sleep(0.05)
    assert run.facts.search.scan.state == "scanning"
    assert run.facts.search.known().scanned == 2, "what is known is told meanwhile"
    gate.free.set()
    first.join(120)
    second.join(120)
    assert one[0].complete
    assert two[0].complete
    assert gate.scans == 6, "each tensor once"
    assert run.findings(progress=False) is one[0]


def test_cancelled_scan_keeps_results_and_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    run, gate = many(), Gate(monkeypatch, 3)
    thread, got = in_thread(lambda: run.findings(progress=False))
    assert gate.reached.wait(120)
    run.facts.search.scan.cancel()
    gate.free.set()
    thread.join(120)
    assert (got[0].complete, got[0].scanned, got[0].to_scan) == (False, 3, 6)
    assert run.facts.search.scan.state == "cancelled"
    assert "3 of 6 tensors were scanned" in repr(got[0])
    (note,) = got[0].by_rule("scanned")
    assert "3 tensors of 6 not scanned yet" in note.evidence
    whole = run.findings(progress=False)
    assert whole.complete
    assert gate.scans == 7, "the tensor that was stopped in is read again, no other"


def test_cancel_stops_inside_a_tensor() -> None:
    run = plant(Op("x", np.zeros(3_000_000, np.float32)))
    scan = TensorScan(run.parts, {})
    seen = []

    def watched() -> None:
        seen.append(1)
        scan.cancel()

    real = scan._watch
    scan._watch = lambda: (watched() if len(seen) < 1 else None, real())[1]  # type: ignore[method-assign]
    assert not scan.run()
    assert scan.state == "cancelled"
    assert not any(kept._tallied for kept in run.tensors[0, 0]._statistics.values())
    assert len(seen) == 1


def test_waiting_for_a_scan_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    run, gate = many(), Gate(monkeypatch, 1)
    assert run.facts.search.scan.start()
    assert not run.facts.search.scan.start(), "once"
    assert gate.reached.wait(120)

    def interrupt(*_: Any) -> None:
        monkeypatch.delattr(run.facts.search.scan._changed, "wait")
        raise KeyboardInterrupt

    monkeypatch.setattr(run.facts.search.scan._changed, "wait", interrupt)
    found = run.findings(progress=False)
    assert not found.complete
    gate.free.set()
    assert run.findings(progress=False).complete


def test_scan_without_threads_runs_in_slices() -> None:
    run = many()
    states = []
    while run.facts.search.scan.state != "done":
        assert run.facts.search.scan.run(seconds=0.0)
        states.append(run.facts.search.scan.state)
    assert states == ["scanning"] * 5 + ["done"]


def test_file_truncated_before_the_scan_is_reported(tmp_path: Path) -> None:
    ops = [Op("x", np.arange(8, dtype=np.float32)), Op("a", np.ones(9, np.float32), "f", [(0, 0)])]
    path = tmp_path / "output_tensors.params"
    path.write_bytes(params(ops))
    run = tvmdbg.open(path, graph=graph_json(ops).encode())
    path.write_bytes(params(ops)[:-40])
    found = run.findings(progress=False)
    assert found.complete, "every tensor was tried"
    (fault,) = found.errors
    why = "the file changed after it was opened (output_tensors.params)"
    assert fault.title == f"2 of 2 tensors could not be read: {why}"
    assert fault.evidence == (f"x #0, f #1: {why}",)
    assert not found.by_rule("scanned")
    health = run.health(progress=False)
    assert [each.words for each in health.unread] == [f"could not be read: {why}"] * 2
    assert repr(health) == (
        f"Health of 2 tensors: 2 unknown; 2 of 2 tensors could not be read: {why}"
    )


def test_file_deleted_during_the_scan_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ops = [Op("x", np.arange(8, dtype=np.float32)), Op("a", np.ones(9, np.float32), "f", [(0, 0)])]
    path = tmp_path / "output_tensors.params"
    path.write_bytes(params(ops))
    run = tvmdbg.open(path, graph=graph_json(ops).encode())
    gate = Gate(monkeypatch, 1)
    thread, got = in_thread(lambda: run.findings(progress=False))
    assert gate.reached.wait(120)
    path.write_bytes(b"")
    path.unlink()
    gate.free.set()
    thread.join(120)
    (fault,) = got[0].errors
    assert fault.entries == ((1, 0),)
    assert fault.title.startswith("1 of 2 tensors could not be read: the file is gone; it was")
    (note,) = got[0].by_rule("scanned")
    assert note.title.startswith("1 of 2 tensors checked: no NaN or Inf")
    assert (1, 0) not in run.facts.search.scan.scanned().statistics


def test_failing_probe_marks_only_its_tensor() -> None:
    run = many(3)

    def fails(look: Subject) -> None:
        if look.entry == (1, 0):
            raise RuntimeError("no")

    scan = TensorScan(run.parts, {"fails": fails})
    scan.run()
    assert (scan.scanned().broken, scan.state) == ({(1, 0): "RuntimeError('no')"}, "done")


def test_findings_of_run_without_tensors_are_complete_at_once(data: Path) -> None:
    run = tvmdbg.open(data / "graph/split_multi_v0.19/graph.json")
    assert run.facts.search.scan.state == "done"
    assert run.findings().complete


def test_findings_are_ranked() -> None:
    def make(severity: Severity, confidence: Confidence, node: int, weight: float) -> Finding:
        return Finding(
            "r", severity, f"{severity} {node}", (), confidence, "", (node,), weight=weight
        )

    mixed = [
        make(Severity.INFO, Confidence.HIGH, 0, 1),
        make(Severity.HOTSPOT, Confidence.HIGH, 1, 0.1),
        make(Severity.HOTSPOT, Confidence.LOW, 2, 0.5),
        make(Severity.ERROR, Confidence.LOW, 3, 1),
        make(Severity.WARNING, Confidence.HIGH, 4, 0.2),
        make(Severity.ERROR, Confidence.HIGH, 9, 0),
        make(Severity.ERROR, Confidence.HIGH, 5, 0),
    ]
    found = Findings(mixed, scanned=1, to_scan=1)
    assert [each.nodes[0] for each in found] == [5, 9, 3, 4, 2, 1, 0]
    assert [each.nodes[0] for each in found[1:3]] == [9, 3]
    assert len(found.errors) == 3
    assert [each.severity for each in found.by_node(4)] == [Severity.WARNING]
    assert found.summary() == "3 errors, 1 warning, 2 hotspots, 1 info"
    frame = found.to_dataframe()
    assert list(frame["severity"])[:1] == ["error"]
    assert (
        "<"
        not in Findings([make(Severity.INFO, Confidence.HIGH, 0, 1)])
        ._repr_html_()
        .split("info 0")[1]
        .split("<details>")[0]
    )
