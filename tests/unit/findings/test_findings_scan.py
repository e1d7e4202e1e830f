"""The scan: what it reads, how it stops, who waits for whom, broken and many small tensors."""

import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, graph_json, params, plant
from tvmdbg_widgets.analysis import tensor_scan
from tvmdbg_widgets.analysis.findings import probes, screens
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.values import first_nonfinite
from tvmdbg_widgets.analysis.tensor_scan import Subject, TensorScan
from tvmdbg_widgets.model.findings import Confidence, Finding, Findings, Severity
from tvmdbg_widgets.model.health import HealthVerdict
from tvmdbg_widgets.model.statistics import batch
from tvmdbg_widgets.model.statistics.batch import ArrayPasses
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.sources.file_source import FileSource

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
    assert run.findings(progress=False).complete
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
    assert not run.findings(progress=False).complete
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
    assert fault.evidence == (f"#0 x, #1 f: {why}",)
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
        return Finding(severity, f"{severity} {node}", (), confidence, "", (node,), weight=weight)

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
    assert list(found.to_dataframe()["severity"])[:1] == ["error"]
    assert (
        "<"
        not in Findings([make(Severity.INFO, Confidence.HIGH, 0, 1)])
        ._repr_html_()
        .split("info 0")[1]
        .split("<details>")[0]
    )


KINDS = [np.float32, np.int64, np.bool_, ml_dtypes.bfloat16, np.float16, np.int8, np.float64]
SHAPES: list[tuple[int, ...]] = [(), (1,), (4,), (16,)]


def small(count: int) -> list[Op]:
    """Return so many small tensors of several types and shapes, a chain of operators."""
    random = np.random.default_rng(0)
    arrays = [
        (random.standard_normal(SHAPES[at // len(KINDS) % len(SHAPES)]) * 20).astype(kind)
        for at, kind in ((at, KINDS[at % len(KINDS)]) for at in range(count))
    ]
    return [
        Op(f"n{at}", np.asarray(each), *([f"fused_add_{at}", [(at - 1, 0)]] if at else []))
        for at, each in enumerate(arrays)
    ]


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """Return a list that grows by each call of a method."""
    calls: list[Any] = []
    real = getattr(owner, name)

    def counting(*args: Any, **named: Any) -> Any:
        calls.append(args)
        return real(*args, **named)

    monkeypatch.setattr(owner, name, counting)
    return calls


def test_small_tensors_are_scanned_in_few_reads_without_separate_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ops = small(2000)
    path = tmp_path / "output_tensors.params"
    path.write_bytes(params(ops))
    run = tvmdbg.open(path, graph=graph_json(ops).encode())
    reads = counted(monkeypatch, FileSource, "_fill")
    passes = counted(monkeypatch, ArrayPasses, "tallied")
    found, health = run.findings(progress=False), run.health(progress=False)
    assert (found.complete, found.scanned) == (True, 2000)
    assert len(health.columns()["rank"]) == 2000
    assert len(reads) <= 2
    assert not passes
    for at in range(0, 2000, 37):
        array = ops[at].outputs[0].astype(np.float64)
        told = run.tensors[at, 0].statistics()
        assert (float(told.minimum), float(told.maximum)) == (array.min(), array.max())
        assert health[at].low == told.minimum
    assert not passes, "nothing but facts of the columns was asked for"


def test_probes_run_only_on_relevant_tensors() -> None:
    asked: dict[str, list[Any]] = {}

    def noting(name: str, probe: Any) -> Any:
        return lambda subject: asked.setdefault(name, []).append(subject.entry) or probe(subject)

    ops = small(700)
    ops[40] = Op("full", np.full(4, 65504, np.float16), "fused_cast", [(39, 0)])
    ops[41:45] = [
        Op(f"dead{at}", np.zeros((1, 2, 4, 4), np.float32), "fused_nn_relu", [(at - 1, 0)])
        for at in range(41, 45)
    ]
    run = plant(*ops)
    scan = TensorScan(run.parts, {n: noting(n, p) for n, p in probes().items()}, screens())
    scan.run()
    assert asked["saturated"] == [(40, 0)]
    assert asked["dead-channels"] == [(at, 0) for at in range(41, 45)]
    assert scan.scanned().probed["saturated"].keys() == {(40, 0)}


@pytest.mark.parametrize("probe", probes())
def test_screens_do_not_change_probe_results(probe: str) -> None:
    random = np.random.default_rng(3)
    ops = [Op("x", np.ones(3, np.float32)), Op("m", np.ones((8, 1, 1), np.float32))]
    for at in range(120):
        kind = KINDS[at % len(KINDS)]
        values = random.standard_normal((1, 8, 4, 4)) * 10.0 ** random.integers(-6, 6)
        values[..., 0] *= random.choice([1.0, 1e5])
        values *= random.random(values.shape) < random.choice([0.0, 0.3, 1.0])
        with np.errstate(all="ignore"):
            info = np.iinfo(kind) if np.dtype(kind).kind == "i" else None
            array = (values if info is None else values.clip(info.min, info.max)).astype(kind)
        if at % 7 == 0 and info is None:
            array[0, 1, 0, 0] = np.nan
        if at % 11 == 0:
            array = np.arange(4, dtype=np.uint8).view(np.bool_)
        func = ("fused_nn_relu", "fused_sigmoid", "fused_nn_conv2d")[at % 3]
        ops.append(Op(f"n{at}", array, func, [(0, 0), (1, 0)]))
    run = plant(*ops)
    found = [TensorScan(run.parts, {probe: probes()[probe]}, each) for each in (screens(), None)]
    for scan in found:
        scan.run()
    assert found[0].scanned().probed == found[1].scanned().probed
    assert found[1].scanned().probed[probe], "there is something to tell"


def test_one_bad_value_among_many_small_tensors_is_found() -> None:
    ops = small(300)
    at = 17 * len(KINDS)
    ops[at] = Op("bad", np.array([1, np.nan, 2, 3], np.float32), "fused_divide", [(at - 1, 0)])
    run = plant(*ops)
    (fault,) = run.findings(progress=False).errors
    assert fault.entries == ((at, 0),)
    health = run.health(progress=False)
    assert [each.entry for each in health.suspicious if each.verdict is HealthVerdict.FAULTY] == [
        (at, 0)
    ]
    assert health.first_nan is health[at]
    assert (health[at].nan, health[at].low, health[at].high, health[at].mean) == (1, 1, 3, 2)
    assert sorted(health.columns()["rank"].tolist()) == list(range(300))


def test_failing_probe_marks_only_its_small_tensor() -> None:
    def fails(look: Subject) -> None:
        if look.entry == (56, 0):
            raise RuntimeError("no")

    scan = TensorScan(plant(*small(300)).parts, {"fails": fails})
    scan.run()
    scanned = scan.scanned()
    assert scanned.broken == {(56, 0): "RuntimeError('no')"}
    assert (scan.state, len(scanned.columns().entries)) == ("done", 299)


def test_small_tensors_are_scanned_in_slices_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_scan, "TOGETHER", 50)
    monkeypatch.setattr("tvmdbg_widgets.analysis.tensor_scan.TOGETHER", 50)
    run = plant(*small(300))
    rounds = 0
    while run.facts.search.scan.state != "done":
        assert run.facts.search.scan.run(seconds=0.0)
        rounds += 1
    assert 6 <= rounds <= 300
    assert run.findings(progress=False).scanned == 300


def test_statistics_asked_for_before_the_scan_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    run = plant(*small(300))
    before = run.tensors[5, 0].statistics()
    calls = counted(monkeypatch, batch.ArrayPasses, "tallied")
    run.findings(progress=False)
    assert run.facts.search.scan.scanned().statistics[5, 0] is before
    assert not calls
    assert len(run.tensors[12, 0].statistics(bins=7).histogram.counts) == 7
    assert run.tensors[12, 0].known_statistics() is run.tensors[12, 0].statistics()


def test_spread_of_minus_infinity_is_found_in_linear_time() -> None:
    minus = np.array([-np.inf, 1, 2], np.float32)

    def steps(count: int) -> int:
        """Births, and a chain of which each node reads another one of them."""
        ops = [Op("x", np.ones(3, np.float32))]
        ops += [Op(f"b{at}", minus, "fused_log", [(0, 0)]) for at in range(count)]
        ops += [
            Op(f"a{at}", minus, "fused_add", [(at + 1, 0), (count + at - 1, 0)])
            for at in range(1, count)
        ]
        run = plant(*ops)
        with pytest.MonkeyPatch.context() as patch:
            read = counted(patch, RunEvidence, "reads")
            reached = counted(patch, first_nonfinite, "readers")
            (doubt,) = run.findings(progress=False).by_rule("first-nonfinite")
        assert len(doubt.entries) == count
        return len(read) + len(reached)

    assert steps(80) <= 2 * steps(40) + 10


def test_unreadable_small_tensors_are_all_listed(tmp_path: Path) -> None:
    ops = small(60)
    path = tmp_path / "output_tensors.params"
    path.write_bytes(params(ops))
    run = tvmdbg.open(path, graph=graph_json(ops).encode())
    path.write_bytes(params(ops)[:-3])
    found = run.findings(progress=False)
    assert found.complete
    (fault,) = found.errors
    assert len(fault.entries) == 60
    assert run.health(progress=False).counts[HealthVerdict.UNKNOWN] == 60
