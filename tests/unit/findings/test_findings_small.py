"""Many small tensors in one scan: what is read, who is asked, and what stands out all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, graph_json, params, plant
from tvmdbg_widgets.analysis import tensor_scan
from tvmdbg_widgets.analysis.findings import probes, screens
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.values import first_nonfinite
from tvmdbg_widgets.analysis.tensor_scan import Subject, TensorScan
from tvmdbg_widgets.model.health import HealthVerdict
from tvmdbg_widgets.model.statistics import batch
from tvmdbg_widgets.model.statistics.batch import ArrayPasses
from tvmdbg_widgets.sources.file_source import FileSource

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
    other = run.tensors[12, 0].statistics(bins=7)
    assert len(other.histogram.counts) == 7
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
