"""Times of two runs compared: sums that are exact, verdicts that claim no more than is known."""

import math
import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets import DebugRun, samples
from tvmdbg_widgets.analysis.compare_times import TimeChange, TimeComparison, TimeVerdict
from tvmdbg_widgets.analysis.matching import Certainty, Matching, Reason
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.widgets.timeline import Flamechart

SWAPPED = {
    TimeVerdict.FASTER: TimeVerdict.SLOWER,
    TimeVerdict.SLOWER: TimeVerdict.FASTER,
    TimeVerdict.ONLY_A: TimeVerdict.ONLY_B,
    TimeVerdict.ONLY_B: TimeVerdict.ONLY_A,
}


@cache
def sample() -> DebugRun:
    return tvmdbg.open(samples.resnet20_cifar)


def timed(repeats: dict[int, list[float]], issues: tuple[Issue, ...] = ()) -> RunParts:
    """The sample with other repeats; a node's time is their mean, unknown where not given."""
    parts = sample().parts
    count = parts.timeline.num_nodes
    own = [repeats.get(node, []) for node in range(count)]
    return replace(
        parts,
        timeline=replace(
            parts.timeline,
            repeats_offsets=np.cumsum([0, *map(len, own)]),
            repeats_ns=np.array([each for some in own for each in some], float),
            node_ns=np.array([np.mean(each) if each else np.nan for each in own]),
            issues=Issues(issues),
        ),
    )


def operators() -> list[int]:
    graph = sample().graph
    return [int(node) for node in np.flatnonzero(graph.kinds >= NodeKind.OPERATOR)]


def matching(pairs: dict[tuple[int, int], Certainty]) -> Matching:
    graph = sample().graph
    return Matching(
        graph,
        graph,
        np.array(list(pairs), np.int32).reshape(-1, 2),
        np.array(list(pairs.values()), np.uint8),
        np.full(len(pairs), Reason.PARTS, np.uint8),
    )


def compared(
    a: RunParts, b: RunParts, pairs: dict[tuple[int, int], Certainty], **more: Any
) -> TimeComparison:
    return TimeComparison(a, b, matching(pairs), ("a", "b"), **more)


def known(comparison: TimeComparison) -> list[TimeChange]:
    """The rows whose times are known; the sample's other operators have none here."""
    return [row for row in comparison if not math.isnan(row.change_ns)]


def exactly(pairs: list[tuple[int, int]]) -> dict[tuple[int, int], Certainty]:
    return dict.fromkeys(pairs, Certainty.EXACT)


def facts(comparison: TimeComparison, *, swapped: bool = False) -> dict[Any, Any]:
    found = {}
    for row in comparison:
        if swapped:
            verdict = SWAPPED.get(row.verdict, row.verdict)
            said = (-row.change_ns, -row.shift_ns, -row.high_ns, -row.low_ns, row.p, row.q, verdict)
            found[row.b, row.a] = said
        else:
            said = (row.change_ns, row.shift_ns, row.low_ns, row.high_ns, row.p, row.q, row.verdict)
            found[row.a, row.b] = said
    return {key: tuple(map(repr, (each or 0.0 for each in said))) for key, said in found.items()}


nodes = st.sampled_from(operators())
whole = st.integers(0, 40).map(float)
times = st.dictionaries(nodes, st.lists(whole, min_size=1, max_size=6), max_size=12)
some_pairs = st.dictionaries(st.tuples(nodes, nodes), st.sampled_from(list(Certainty)), max_size=20)


@settings(deadline=None, max_examples=60)
@given(times, times, some_pairs)
def test_rows_contain_every_timed_node_once_and_add_up_exactly(
    a: dict[int, list[float]], b: dict[int, list[float]], pairs: dict[tuple[int, int], Certainty]
) -> None:
    found = compared(timed(a), timed(b), pairs)
    for side, given_times in (("a", a), ("b", b)):
        held = [node for row in found for node in getattr(row, side)]
        assert len(held) == len(set(held))
        assert set(given_times) <= set(held)
    exact = [
        sum((Fraction(float(np.mean(each))) for each in side.values()), Fraction(0))
        for side in (a, b)
    ]
    assert found.total_a == float(exact[0])
    assert found.total_b == float(exact[1])
    lost = found.uncompared_ns
    changes = [row.change_ns for row in found if not math.isnan(row.change_ns)]
    assert math.fsum([*changes, lost[1], -lost[0]]) == pytest.approx(
        found.total_b - found.total_a, abs=1e-9
    )


@settings(deadline=None, max_examples=100)
@given(times, times, some_pairs)
def test_swapped_runs_negate_change(
    a: dict[int, list[float]], b: dict[int, list[float]], pairs: dict[tuple[int, int], Certainty]
) -> None:
    one = compared(timed(a), timed(b), pairs)
    back = {(y, x): certainty for (x, y), certainty in pairs.items()}
    other = compared(timed(b), timed(a), back)
    assert facts(one) == facts(other, swapped=True)
    assert one.change_ns == -other.change_ns


@settings(deadline=None, max_examples=60)
@given(times, st.randoms(use_true_random=False))
def test_the_order_of_repeats_does_not_matter(a: dict[int, list[float]], random: Any) -> None:
    pairs = exactly([(node, node) for node in a])
    other = {node: [each + 1 for each in own] for node, own in a.items()}
    mixed = {node: random.sample(own, len(own)) for node, own in other.items()}
    one = facts(compared(timed(a), timed(other), pairs))
    assert facts(compared(timed(a), timed(mixed), pairs)) == one


def test_run_compared_with_itself_is_all_noise() -> None:
    run = sample()
    found = tvmdbg.compare_times(run, run)
    assert len(found) == 27
    assert {row.verdict for row in found} == {TimeVerdict.NOISE}
    assert {row.ratio for row in found} == {1.0}
    assert {row.change_ns for row in found} == {0.0}
    assert found.sentence.startswith("B takes as long as A: total 39.88 ms → 39.88 ms")
    assert np.isnan(found.change.values).all()
    assert "27 within noise" in found.change.note


def test_parts_are_summed_repeat_by_repeat() -> None:
    one, two, three = operators()[:3]
    a = timed({one: [100, 200, 300, 400, 500]})
    b = timed({one: [10, 20, 30, 40, 50], two: [1, 2, 3, 4, 5], three: [1000] * 5})
    (row,) = known(compared(a, b, exactly([(one, one), (one, two), (one, three)])))
    assert (row.a, row.b) == ((one,), (one, two, three))
    np.testing.assert_array_equal(row.repeats_b, [1011, 1022, 1033, 1044, 1055])
    assert row.change_ns == 1033 - 300
    assert row.p == pytest.approx(2 / 252)
    assert row.verdict is TimeVerdict.SLOWER


def test_parts_of_unequal_numbers_of_repeats_are_not_tested() -> None:
    one, two = operators()[:2]
    a, b = timed({one: [100.0] * 5}), timed({one: [900.0] * 5, two: [900.0] * 4})
    (row,) = known(compared(a, b, exactly([(one, one), (one, two)])))
    assert row.verdict is TimeVerdict.UNKNOWN
    assert "different numbers of repeats" in row.why
    assert row.change_ns == 1700
    assert math.isnan(row.p)


def test_difference_below_clock_resolution_is_noise() -> None:
    one = operators()[0]
    a, b = timed({one: [100.0] * 9}), timed({one: [101.0] * 9})
    (row,) = known(compared(a, b, exactly([(one, one)])))
    assert row.p < 0.001
    assert row.verdict is TimeVerdict.NOISE
    assert "printed times" in row.why


def test_too_few_samples_give_unknown_verdict() -> None:
    one = operators()[0]
    for n, m, least in ((3, 3, "0.1"), (1, 5, "0.33"), (1, 1, "1")):
        a, b = timed({one: [1.0] * n}), timed({one: [1e9] * m})
        found = compared(a, b, exactly([(one, one)]))
        assert found[0].verdict is TimeVerdict.UNKNOWN
        assert f"least possible p is {least}" in found[0].why
        assert "no difference can be distinguished from noise" in found.power[0]
        assert "whether that is more than noise is unknown" in found.sentence


def test_single_repeat_difference_is_colored_without_evidence() -> None:
    one, two = operators()[:2]
    a, b = timed({one: [1.0], two: [4.0]}), timed({one: [1e9], two: [2.0]})
    found = compared(a, b, exactly([(one, one), (two, two)]))
    assert {row.verdict for row in known(found)} == {TimeVerdict.UNKNOWN}
    speed, change = found.speed_of(found.matching.graph_a), found.change
    assert speed.values[two] == -1
    assert change.values[[one, two]].tolist() == [1e9 - 1, -2]
    for told in (speed.note, change.note, found[0].why, found.power[0]):
        assert "one repeat is no evidence of spread" in told
    assert "perhaps noise: 2 measured once" in speed.note
    shown = found.columns.verdicts.shown[found.columns.order]
    assert shown[: len(known(found))].all()
    noisy = compared(*(timed({one: [1.0, 2.0, 3.0, 4.0, 5.0]}),) * 2, exactly([(one, one)]))
    assert not noisy.columns.verdicts.shown[noisy.columns.order][0]
    assert not noisy.speed_of(noisy.matching.graph_a).note.count("perhaps")


def test_time_of_call_is_divided_among_its_nodes() -> None:
    run = tvmdbg.open(samples.executorch_xnnpack)
    found = tvmdbg.compare_times(run, run)
    speed = found.speed_of(run.graph)
    for row in found[:3]:
        sums = [float(terms[list(row.a)].sum()) for terms in speed.terms]
        assert sums == pytest.approx([row.ns_a, row.ns_b])
        assert all((terms[list(row.a)] > 0).all() for terms in speed.terms)


def test_single_time_of_report_is_never_significant() -> None:
    one = operators()[0]
    once = (Issue("report-one-pass", IssueSeverity.NOTE, ""),)
    a, b = timed({one: [1.0]}, once), timed({one: [1e9]}, once)
    found = compared(a, b, exactly([(one, one)]))
    assert found[0].verdict is TimeVerdict.UNKNOWN
    assert "one time of each call" in found[0].why
    assert TimeVerdict.SLOWER not in {row.verdict for row in found}


def test_a_possible_match_is_marked_and_not_trusted() -> None:
    one = operators()[0]
    a, b = timed({one: [1.0] * 5}), timed({one: [1e6] * 5})
    found = compared(a, b, {(one, one): Certainty.POSSIBLE})
    assert found[0].certainty is Certainty.POSSIBLE
    assert found[0].verdict is TimeVerdict.UNKNOWN
    assert "only possible" in found[0].why
    assert found[0].change_ns == 1e6 - 1
    assert (found.timeline.slice_node[sample().parts.timeline.num_slices :] == -1).all()  # type: ignore[union-attr]


def test_nodes_missing_from_one_run_are_listed_and_counted() -> None:
    one, two = operators()[:2]
    found = compared(timed({one: [7.0] * 5}), timed({two: [9.0] * 5}), {})
    told = {row.verdict: (row.a, row.b, row.change_ns) for row in known(found)}
    assert told == {TimeVerdict.ONLY_A: ((one,), (), -7.0), TimeVerdict.ONLY_B: ((), (two,), 9.0)}
    assert found.change_ns == 2


def test_many_comparisons_raise_significance_threshold() -> None:
    pool = operators()[:20]
    pairs = exactly([(node, node) for node in pool])
    a = {node: [10.0, 20.0, 30.0, 40.0, 50.0] for node in pool}
    b = a | {pool[0]: [60.0, 70.0, 80.0, 90.0, 100.0]}
    found = compared(timed(a), timed(b), pairs)
    assert found[0].p == pytest.approx(2 / 252)
    assert found[0].q == pytest.approx(20 * 2 / 252)
    assert found[0].verdict is TimeVerdict.NOISE
    assert "at least 4 operators" in found.power[0]
    b |= {node: [60.0, 70.0, 80.0, 90.0, 100.0] for node in pool[:4]}
    found = compared(timed(a), timed(b), pairs)
    assert Counter(row.verdict for row in known(found)) == {
        TimeVerdict.SLOWER: 4,
        TimeVerdict.NOISE: 16,
    }


def test_warm_up_is_excluded_only_on_request() -> None:
    one = operators()[0]
    a, b = timed({one: [900.0, 10.0, 20.0]}), timed({one: [30.0, 10.0, 20.0]})
    pairs = exactly([(one, one)])
    assert compared(a, b, pairs)[0].ns_a == 310
    found = compared(a, b, pairs, warm_up=1)
    assert found[0].ns_a == found[0].ns_b == 15
    assert len(found[0].repeats_a) == 2
    assert any("first 1 repeat of each node left out" in line for line in found.caption)


def test_time_without_the_left_out_repeats_is_unknown_if_none_is_left() -> None:
    one, other = operators()[:2]
    long, short = {one: [9.0, 1.0, 2.0]}, {one: [9.0, 1.0, 2.0], other: [7.0]}
    pairs = exactly([(one, one), (other, other)])
    found = compared(timed(long | {other: [5.0]}), timed(short), pairs, warm_up=1)
    assert [row.ns_a for row in known(found)] == [1.5]
    assert (found.total_a, found.total_b) == (1.5, 1.5)
    found = compared(timed(long), timed(short), pairs, warm_up=3)
    assert found.sentence == "No time of A and B is known, so how they compare is unknown"


def test_unknown_times_are_not_faster_than_known_ones() -> None:
    one = operators()[0]
    found = compared(timed({}), timed({one: [9.0]}), exactly([(one, one)]))
    assert found.sentence == "No time of A is known, so how they compare is unknown"


def test_included_warm_up_is_noted_in_the_caption() -> None:
    pool = operators()
    cold = {node: [90.0, 10.0, 11.0, 10.0, 11.0, 10.0] for node in pool}
    warm = {node: [10.0, 11.0, 10.0, 11.0, 10.0, 11.0] for node in pool}
    pairs = exactly([(node, node) for node in pool])
    found = compared(timed(cold), timed(warm), pairs)
    said = "Warm-up included: the first 1 repeat of A; compare_times(…, warm_up=1) excludes it"
    assert said in found.caption
    assert said not in compared(timed(cold), timed(warm), pairs, warm_up=1).caption
    assert said not in compared(timed(warm), timed(warm), pairs).caption


def test_kinds_add_up_to_the_total() -> None:
    run = sample()
    found = tvmdbg.compare_times(run, run)
    kinds = found.by("kind")
    assert math.fsum(row.ns_a for row in kinds) == pytest.approx(found.total_a)
    assert sorted(node for row in kinds for node in row.a) == sorted(
        node for row in found for node in row.a
    )
    assert found.by("node") is found
    with pytest.raises(ValueError, match="no rows by 'part'; known: 'kind', 'node'"):
        found.by("part")


def test_names_are_escaped_in_texts() -> None:
    found = tvmdbg.compare_times(sample(), sample(), ("<b>x</b>", "y\n"))
    assert "<b>x" not in found._repr_html_()
    assert "&lt;b&gt;x" in found._repr_html_()
    assert "B: y\\n" in repr(found)
    assert "faster" not in repr(found)
    pytest.importorskip("pandas")
    frame = found.to_dataframe()
    assert list(frame["verdict"]) == ["noise"] * 27
    assert frame["change_ns"].abs().sum() == 0


def test_invalid_comparison_error_suggests_next_step() -> None:
    run = sample()
    bare = DebugRun(replace(run.parts, timeline=None))
    with pytest.raises(ValueError, match=r"_tvmdbg_execution_trace\.json"):
        tvmdbg.compare_times(run, bare)
    with pytest.raises(ValueError, match="titles are two texts"):
        tvmdbg.compare_times(run, run, ("only one",))
    with pytest.raises(ValueError, match="number of repeats"):
        tvmdbg.compare_times(run, run, warm_up=-1)
    with pytest.raises(TypeError, match=r"tvmdbg_widgets\.open"):
        tvmdbg.compare_times(run, "dump")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="titles name two runs"):
        Flamechart(run, titles=("a", "b"))


def pair(corpus: Path, other: str) -> tuple[DebugRun, DebugRun]:
    tvm = corpus / "tvm"
    return tvmdbg.open(tvm / "resnet20_cifar"), tvmdbg.open(tvm / other)


@pytest.mark.parametrize(
    "other", ["unfused", "nchw8c", "fp16", "int8", "v0.8", "v0.6", "two_devices"]
)
def test_changes_of_real_runs_add_up_and_swap(corpus: Path, other: str) -> None:
    name = "resnet20_two_devices" if other == "two_devices" else f"resnet20_cifar_{other}"
    a, b = pair(corpus, name)
    found, back = tvmdbg.compare_times(a, b), tvmdbg.compare_times(b, a)
    assert facts(found) == facts(back, swapped=True)
    assert math.fsum(row.change_ns for row in found) == pytest.approx(found.change_ns, abs=1e-6)
    assert found.change_ns == pytest.approx(b.timeline.total_ns - a.timeline.total_ns, abs=1e-6)
    kinds = math.fsum(row.change_ns for row in found.by("kind"))
    assert kinds == pytest.approx(found.change_ns, abs=1e-6)
    if other in ("v0.8", "v0.6"):
        assert found.counts() == {"unknown": 27}
    else:
        assert found.total.verdict in (TimeVerdict.SLOWER, TimeVerdict.FASTER)


def test_fused_against_unfused(corpus: Path) -> None:
    a, b = pair(corpus, "resnet20_cifar_unfused")
    found = tvmdbg.compare_times(a, b, ("fused", "unfused"))
    row = found.row_of(6)
    assert (row.a, row.b, row.certainty) == ((6,), (7, 9, 10), Certainty.LIKELY)
    # ground truth: the repeats of the printed tables, summed by hand
    sums = sum(b.timeline.repeats(node) for node in row.b)
    np.testing.assert_array_equal(row.repeats_b, sums)
    np.testing.assert_array_equal(row.repeats_a, a.timeline.repeats(6))
    assert row.repeats_a.max() < row.repeats_b.min()
    assert row.p == pytest.approx(2 / 252)
    assert row.verdict is TimeVerdict.SLOWER
    assert found.row_of(0) is None
    assert found.sentence.startswith(
        "B is 1.32× slower (+12.58 ms): total 39.88 ms → 52.46 ms; 14 operators account"
    )


def test_combined_run_is_run_a_with_slices_of_both(corpus: Path) -> None:
    a, b = pair(corpus, "resnet20_cifar_unfused")
    found = tvmdbg.compare_times(a, b, ("fused", "unfused"))
    run = found.run
    assert b.timeline is not None
    both = found.timeline
    assert run is found.run
    assert run.timeline is both
    assert run.graph is a.graph
    assert run.tensors is a.tensors
    assert run.session is a.session
    assert both.tracks == ("A: fused · CPU:0", "B: unfused · CPU:0")
    assert both.track_run.tolist() == [0, 1]
    assert both.num_slices == 72 + 120
    names = [both.slice(int(each)).name for each in both.slices_of(6)]
    assert names == [a.graph.names[6], *(b.graph.names[node] for node in (7, 9, 10))]
    for node in range(both.num_nodes):
        slices = both.slices_of(node)
        assert both.slice_occurrence[slices].tolist() == list(range(len(slices)))
        runs = both.track_run[both.slice_track[slices]].tolist()
        assert runs == sorted(runs)
    for track in (0, 1):
        assert both.slice_start_ns[both.slice_track == track].min() == 0
    assert both.node_ns.tolist() == a.timeline.node_ns.tolist()
    assert both.synthetic
    assert any(issue.rule == "two-runs" for issue in both.issues)
    again = pickle.loads(pickle.dumps(run))  # noqa: S301 (our own)
    assert again.timeline.tracks == both.tracks


def test_views_receive_all_time_comparison_columns(corpus: Path) -> None:
    a, b = pair(corpus, "resnet20_cifar_fp16")
    found = tvmdbg.compare_times(a, b)
    assert answer(a.facts, {"id": 1, "client": "x", "kind": "change"}).result is None
    reply = answer(found.run, {"id": 1, "client": "x", "kind": "change"})
    columns = {each["name"]: each for each in reply.result["columns"]}
    assert columns["nsA"]["length"] == len(found)
    assert columns["kindNsA"]["length"] == len(found.by("kind"))
    assert reply.result["info"]["sentence"] == found.sentence
    view = Flamechart(a, against=b)
    assert view.table_by == "change"
    assert view.session is a.session
    graph = tvmdbg.GraphView(a)
    graph.color_by(found)
    assert str(graph.color_by) == "time change"
    beside = tvmdbg.GraphView(b, color_by=found)
    values = beside.color_by.column.values
    only = [row.b[0] for row in found if row.verdict is TimeVerdict.ONLY_B]
    assert len(only) == 2
    assert all(values[node] > 0 for node in only)
    with pytest.raises(ValueError, match="neither run"):
        found.column_of(sample().graph)  # type: ignore[arg-type]


def test_a_sum_over_groups_counts_a_function_once(corpus: Path) -> None:
    a, b = pair(corpus, "resnet20_cifar_unfused")
    found = tvmdbg.compare_times(b, a)  # parts, then the fused function
    values = found.change.values
    assert values is not None
    told = [row for row in found if row.verdict in (TimeVerdict.FASTER, TimeVerdict.SLOWER)]
    assert np.nansum(values) == pytest.approx(math.fsum(row.change_ns for row in told))
    assert np.count_nonzero(~np.isnan(values)) == len(told)
    assert (found.columns.aligned.a.sizes > 0).all()
