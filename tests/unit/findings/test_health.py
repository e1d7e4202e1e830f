"""The health of a run: what numpy counts, what the findings say, and the order of suspicion."""

import re
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.conftest import corpus_path
from tests.unit.findings.findings_dump import Op, graph_json, params, plant
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.findings import Severity
from tvmdbg_widgets.model.health import VERDICTS, EntryHealth, Health, HealthVerdict
from tvmdbg_widgets.run import DebugRun

RELU = "tvmgen_default_fused_nn_relu"
RUNS = ("tvm/*", "tvm/edge_cases/*/*", "relax/*")
#: Rules of which an entry may be OK: they name those with a single dead channel, too.
MILD = {"dead-channels"}


def folders() -> list[str]:
    corpus = corpus_path()
    if corpus is None:
        return []
    found = (path for each in RUNS for path in corpus.glob(each) if path.is_dir())
    return sorted(str(path.relative_to(corpus)) for path in found)


def opened(folder: Path) -> DebugRun:
    try:
        run = tvmdbg.open(folder)
    except (FormatError, ValueError, OSError) as problem:
        pytest.skip(f"does not open: {type(problem).__name__}")
    if not run.tensors:
        pytest.skip("holds no tensors")
    return run


def values(count: int = 64, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.linspace(1, 2, count).astype(dtype)


def op(
    array: np.ndarray[Any, Any], name: str, reads: list[tuple[int, int]], func: str = RELU
) -> Op:
    return Op(name, array, func, reads)


def with_at(array: np.ndarray[Any, Any], *special: float) -> np.ndarray[Any, Any]:
    found = array.copy()
    found[: len(special)] = special
    return found


@pytest.mark.parametrize("folder", folders())
def test_health_agrees_with_findings(corpus: Path, folder: str) -> None:
    run = opened(corpus / folder)
    findings, health = run.findings(progress=False), run.health(progress=False)
    assert run.tensors is not None
    assert [each.entry for each in health] == list(run.tensors)
    assert sorted(each.rank for each in health) == list(range(len(health)))
    by_entry = {each.entry: each for each in health}
    first = [f for f in findings.by_rule("first-nonfinite") if f.severity is Severity.ERROR]
    if first:
        assert health.first_nonfinite.entry == first[0].entries[0]
        nan = [entry for f in first for entry in f.entries if by_entry[entry].nan]
        assert (health.first_nan is not None) == bool(nan)
    else:
        assert health.first_nonfinite is None
    if not findings.errors:
        assert not health.counts[HealthVerdict.FAULTY]
    for finding in findings:
        for entry in finding.entries:
            each = by_entry.get(entry)
            if each is None:
                assert finding.rule == "missing-tensors"
            elif finding.severity is Severity.ERROR:
                unread = each.verdict is HealthVerdict.UNKNOWN and "could not be read" in each.words
                assert each.verdict is HealthVerdict.FAULTY or unread
            elif finding.severity is Severity.WARNING and finding.rule not in MILD:
                assert each.verdict is not HealthVerdict.OK


@pytest.mark.parametrize("name", ["resnet20_cifar", "transformer_encoder", "resnet20_two_devices"])
def test_a_clean_run_is_sound(corpus: Path, name: str) -> None:
    health = tvmdbg.open(corpus / "tvm" / name).health(progress=False)
    assert health.complete
    assert set(health.counts) == set(HealthVerdict)
    assert (health.counts[HealthVerdict.OK], health.suspicious) == (len(health), ())
    assert repr(health) == f"Health of {len(health)} tensors: {len(health)} OK"


def test_int8_ends_are_counted_as_numpy_counts_them(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar_int8")
    judged = 0
    for each in run.health(progress=False):
        if each.dtype != "int8" or np.isnan(each.saturated):
            continue
        array = run.tensors[each.entry].numpy()
        low = (array <= -127).sum() if each.low <= -127 else 0
        counts = {(low + (array == 127).sum()) / array.size, (array == 127).mean()}
        assert any(each.saturated == pytest.approx(share) for share in counts)
        judged += 1
    assert judged > 10


def test_nonfinite_origin_ranks_first_and_nan_before_inf() -> None:
    run = plant(
        Op("x", values()),
        op(with_at(values(), np.inf), "inf", [(0, 0)], "fused_exp"),
        op(with_at(values(), np.nan), "came", [(1, 0)], "fused_subtract"),
        op(with_at(values(), np.nan), "nan", [(0, 0)], "fused_log"),
        op(np.zeros(64, np.float32), "zero", [(0, 0)]),
    )
    health = run.health(progress=False)
    assert [each.name for each in health.suspicious] == ["nan", "inf", "came", "zero"]
    assert [each.name for each in health] == ["x", "inf", "came", "nan", "zero"]
    assert health.first_nonfinite is health[1]
    assert health.first_nan is health[2]
    assert "from #1 exp" in health[2].words
    assert health.of(4).brief == "all zero"
    with pytest.raises(KeyError, match="no tensor for node 9"):
        health.of(9)


def test_saturated_and_dead_tensors_rank_before_constant_ones() -> None:
    sticking = values(1000, np.int8)
    sticking[:400] = 127
    dead = np.ones((1, 4, 8, 8), np.float32) * np.arange(1, 65, dtype=np.float32).reshape(8, 8)
    dead[:, 1:] = 0
    some = dead.copy()
    some[:, 1:3] = 1
    conv = "fused_nn_conv2d_nn_relu"
    run = plant(
        Op("x", values()),
        op(np.full(64, 7, np.float32), "constant", [(0, 0)]),
        op(dead, "dead", [(0, 0)], conv),
        op(some, "some", [(0, 0)], conv),
        op(sticking, "sticks", [(0, 0)], "fused_nn_conv2d_cast"),
    )
    health = run.health(progress=False)
    assert [each.name for each in health.ranked] == ["sticks", "dead", "constant", "some", "x"]
    sticks, dead_one = health[4], health[2]
    assert sticks.saturated == pytest.approx(0.4)
    assert dead_one.dead == (3, 4)
    assert (health[3].dead, health[3].verdict) == ((1, 4), HealthVerdict.OK)
    assert "1 of 4 channels is zero" in health[3].words
    assert health[1].constant
    assert (health[1].brief, health[1].verdict) == ("all 7", HealthVerdict.SUSPICIOUS)


def test_unreadable_tensor_is_unknown() -> None:
    ops = [Op("x", values()), op(values(), "a", [(0, 0)])]
    run = tvmdbg.open(params(ops), graph=graph_json(ops).encode())
    tensor = run.tensors[1, 0]

    def broken(*_: object, **__: object) -> None:
        raise OSError("the file changed")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(tensor), "statistics", broken)
        health = run.health(progress=False)
    assert [each.verdict for each in health] == [HealthVerdict.UNKNOWN] * 2
    assert "the file changed" in health[0].words
    assert health.complete


def test_interrupted_health_is_partial_and_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    run = plant(Op("x", values()), op(with_at(values(), np.nan), "a", [(0, 0)]), Op("p", values()))
    cls = type(run.tensors[0, 0])
    real, seen = cls.statistics, []

    def interrupted(self: Any, *args: Any, **more: Any) -> Any:
        seen.append(self.node)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return real(self, *args, **more)

    monkeypatch.setattr(cls, "statistics", interrupted)
    health = run.health(progress=False)
    assert not health.complete
    assert [each.verdict for each in health] == [
        HealthVerdict.OK,
        HealthVerdict.NOT_SCANNED,
        HealthVerdict.NOT_SCANNED,
    ]
    assert "interrupted" in repr(health)
    health = run.health(progress=False)
    assert health.complete
    assert seen == [0, 1, 1, 2]
    assert run.facts.search.health() is health
    assert health[1].verdict is HealthVerdict.FAULTY


def test_findings_and_health_read_the_tensors_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = plant(Op("x", values()), op(values(), "a", [(0, 0)]))
    cls = type(run.tensors[0, 0])
    real, seen = cls.statistics, []
    monkeypatch.setattr(
        cls, "statistics", lambda s, *a, **k: seen.append(s.node) or real(s, *a, **k)
    )
    threads = [
        threading.Thread(target=each, kwargs={"progress": False})
        for each in (run.findings, run.health, run.health)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [0, 1]


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executor_does_not_change_health_results(tmp_path: Path, make: Any) -> None:
    large = with_at(np.linspace(-3, 5, 3_000_000, dtype=np.float32), np.nan, np.inf)
    ops = [Op("x", values())] + [op(values(), f"n{at}", [(at, 0)]) for at in range(30)]
    ops.append(op(large, "large", [(30, 0)]))
    file = tmp_path / "output_tensors.params"
    file.write_bytes(params(ops))
    alone, spread = (tvmdbg.open(file, graph=graph_json(ops).encode()) for _ in range(2))
    with make(2) as executor:
        found = spread.health(progress=False, executor=executor)
    assert found.complete
    assert found[31].verdict is HealthVerdict.FAULTY
    for one, two in zip(alone.health(progress=False), found, strict=True):
        assert repr(one) == repr(two)
        assert one.mean == pytest.approx(two.mean, rel=1e-12)


def test_scan_on_an_executor_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    run = plant(*(Op(f"p{at}", values(1000)) for at in range(50)))
    cls = type(run.tensors[0, 0])
    real, seen = cls.statistics, []

    def stopping(self: Any, *args: Any, **more: Any) -> Any:
        seen.append(self.node)
        if len(seen) == 10:
            run.facts.search.scan.cancel()
        return real(self, *args, **more)

    monkeypatch.setattr(cls, "statistics", stopping)
    with ThreadPoolExecutor(2) as executor:
        health = run.health(progress=False, executor=executor)
        assert not health.complete
        assert 5 <= health.looked_at < 20
        assert run.health(progress=False, executor=executor).complete
    assert health[49].verdict is HealthVerdict.NOT_SCANNED


def test_columns_and_dataframe_match_health() -> None:
    run = plant(Op("x", values()), op(with_at(values(), np.nan, np.inf), "a", [(0, 0)]))
    health = run.health(progress=False)
    columns = health.columns()
    assert columns["verdict"].tolist() == [1, 3]
    assert [VERDICTS[each] for each in columns["verdict"]] == [each.verdict for each in health]
    assert (columns["nan"].tolist(), columns["inf"].tolist()) == ([0, 1], [0, 1])
    assert columns["rank"].tolist() == [1, 0]
    assert np.isnan(columns["saturated"]).all()
    dtypes = {name: str(array.dtype) for name, array in columns.items()}
    assert dtypes["node"] == dtypes["output"] == dtypes["rank"] == "int32"
    frame = health.to_dataframe()
    assert (frame["verdict"].tolist(), frame["name"].tolist()) == (["OK", "faulty"], ["x", "a"])
    assert frame["node"].tolist() == [0, 1]


def test_html_escapes_names_and_draws_worst_verdict() -> None:
    name = "<script>alert(1)</script>\"'&"
    run = plant(Op("x", values()), op(with_at(values(), np.nan), name, [(0, 0)]))
    shown = run.health(progress=False)._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert shown.count("<rect") == 2
    assert re.search(r'<rect x="24" y="0" width="24" height="24" fill="#d1242f"', shown)


def test_single_faulty_entry_among_many_is_visible_in_html() -> None:
    items = [
        EntryHealth((i, 0), "", "", "float32", (1,), HealthVerdict.OK, rank=i) for i in range(9999)
    ]
    for at in (0, 5000, 9998):
        some = [*items]
        some[at] = items[at]._replace(verdict=HealthVerdict.FAULTY, words="1 NaN")
        assert Health(some)._repr_html_().count("#d1242f") == 1
    assert Health()._repr_html_() == "<div>Health of 0 tensors: no tensors</div>"


@settings(max_examples=60)
@given(
    marks=st.lists(
        st.sampled_from(["finite", "nan", "inf", "minus", "zero"]), min_size=1, max_size=7
    ),
    chained=st.lists(st.booleans(), min_size=7, max_size=7),
)
def test_health_agrees_with_findings_for_random_faults(
    marks: list[str], chained: list[bool]
) -> None:
    special = {"nan": [np.nan], "inf": [np.inf], "minus": [-np.inf]}
    ops = [Op("x", values(20))]
    for at, mark in enumerate(marks):
        array = with_at(values(20), *special.get(mark, []))
        array = np.zeros_like(array) if mark == "zero" else array
        ops.append(op(array, f"n{at}", [(at if chained[at] else 0, 0)], "fused_divide"))
    run = plant(*ops)
    findings, health = run.findings(progress=False), run.health(progress=False)
    faults = [f for f in findings.by_rule("first-nonfinite") if f.severity is Severity.ERROR]
    faulty = {each.entry for each in health if each.verdict is HealthVerdict.FAULTY}
    assert {entry for f in faults for entry in f.entries} <= faulty
    assert bool(faults) == bool(faulty)
    if faults:
        assert health.first_nonfinite.entry == faults[0].entries[0]
    for each in health:
        array = ops[each.entry[0]].outputs[0]
        assert each.nan == np.isnan(array).sum()
        if each.nan or np.isposinf(array).any():
            assert each.verdict is HealthVerdict.FAULTY
    ranks = [each.verdict for each in health.ranked]
    bad = [HealthVerdict.FAULTY, HealthVerdict.SUSPICIOUS]
    order = [(*bad, HealthVerdict.OK).index(each) for each in ranks]
    assert order == sorted(order)


def test_untrusted_names_are_made_printable_on_one_line() -> None:
    names = ["a\nb\tc", "\x1b[31mred\x1b[0m", "\u202eevil", "\r", "x" * 5000]
    told = Health(
        EntryHealth(
            (at, 0), name, "", "float32", (1,), HealthVerdict.FAULTY, f"like {name}", rank=at
        )
        for at, name in enumerate(names)
    )
    assert repr(told).count("\n") == len(names)
    for text in (*repr(told).split("\n"), *map(str, told), *map(repr, told)):
        assert text.isprintable()
    assert len(str(told[4]).partition(": ")[0]) < 120
    assert "a\\nb\\tc" in str(told[0])


def test_minus_inf_masks_are_suspicious_but_not_faulty() -> None:
    run = plant(
        Op("x", values()),
        op(with_at(values(), -np.inf), "mask", [(0, 0)], "fused_where"),
        op(values(), "softmax", [(1, 0)], "fused_nn_softmax"),
    )
    health = run.health(progress=False)
    assert health.first_nonfinite is None
    assert (health[1].verdict, health[1].inf) == (HealthVerdict.SUSPICIOUS, 1)
