"""Each rule on a run with the thing planted, and on runs without it."""

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.executorch.delegates.finding_cases import CASES as EXECUTORCH
from tests.unit.findings.findings_dump import Op, found, graph_json, params, plant, table, trace
from tests.unit.findings.twin_network import blocks
from tvmdbg_widgets.analysis.findings import RULES
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.findings import Confidence, Severity
from tvmdbg_widgets.run import DebugRun

Values = np.ndarray[Any, Any]
F4 = np.float32
STEADY = (1000.0, 1010.0, 990.0, 1005.0, 995.0)


def ramp(*shape: int, dtype: Any = F4) -> Values:
    return (np.arange(np.prod(shape), dtype=np.float64).reshape(shape) % 97 + 1).astype(dtype)


def relu(
    values: Any, name: str = "a", reads: Any = ((0, 0),), func: str = "fused_nn_relu", **more: Any
) -> Op:
    return Op(name, values, f"tvmgen_default_{func}", reads, **more)


def timed(
    *funcs: tuple[str, float], repeats: tuple[float, ...] = (1, 1.01, 0.99, 1, 1)
) -> DebugRun:
    """A chain of functions of so many nanoseconds."""
    ops = [Op("x", ramp(8))]
    for node, (func, ns) in enumerate(funcs):
        own = [ns * each for each in repeats]
        ops.append(Op(f"n{node}", ramp(8), func, [(node, 0)], ns=own))
    return plant(*ops)


def clean() -> DebugRun:
    return plant(Op("x", ramp(1, 4, 8, 8)), relu(ramp(1, 4, 8, 8), ns=STEADY))


def nan_born() -> DebugRun:
    bad = ramp(2, 8)
    bad[1, 3] = np.nan
    return plant(
        Op("x", ramp(2, 8)),
        relu(ramp(2, 8)),
        relu(bad, "divides", [(1, 0)], "fused_divide"),
        relu(bad, "after", [(2, 0)], "fused_add"),
        relu(ramp(2, 8), "beside", [(1, 0)], "fused_exp"),
        heads=[(3, 0), (4, 0)],
    )


def truncated() -> DebugRun:
    ops = [Op("x", ramp(8)), relu(ramp(8))]
    return tvmdbg.open(params(ops)[:-9], graph=graph_json(ops).encode())


def disagreeing() -> DebugRun:
    return plant(Op("x", ramp(8)), relu(ramp(8), shape=[4, 4]))


def run_twice() -> DebugRun:
    ops = [Op("x", ramp(8)), relu(ramp(8), ns=STEADY)]
    return plant(*ops, table=table(ops) + table(ops))


def reused() -> DebugRun:
    return plant(
        Op("x", ramp(8), storage=0),
        relu(ramp(8), "a", storage=1),
        relu(ramp(8), "b", [(1, 0)], storage=2),
        relu(ramp(8), "c", [(2, 0)], storage=1),
        old=True,
        trace=trace([Op(name, ramp(8)) for name in "xabc"]),
    )


def overlapping() -> DebugRun:
    return plant(
        Op("x", ramp(8), storage=0),
        relu(ramp(8), "a", storage=1),
        relu(ramp(8), "b", [(1, 0)], storage=1),
        relu(ramp(8), "c", [(1, 0), (2, 0)], storage=2),
    )


def one_slot() -> DebugRun:
    """All outputs in one slot, and each read by the next node and the one behind it."""
    reads = [[(max(0, node - 1), 0), (max(0, node - 2), 0)] for node in range(1, 9)]
    ops = [relu(ramp(8), f"n{at}", each, storage=1) for at, each in enumerate(reads)]
    return plant(Op("x", ramp(8), storage=0), *ops)


def lost() -> DebugRun:
    ops = [Op("x", ramp(8)), relu(ramp(8)), relu(ramp(8), "b", [(1, 0)])]
    return tvmdbg.open(params(ops, leave_out=[(2, 0)]), graph=graph_json(ops).encode())


def mutated_split() -> DebugRun:
    """What v0.7 and later write: inputs by the producer's name alone."""
    from pathlib import Path

    folder = Path(__file__).parents[2] / "data/graph/split_multi_v0.19"
    return tvmdbg.open(folder / "_tvmdbg_graph_dump.json")


def same_names() -> DebugRun:
    return plant(Op("x", ramp(8)), relu(ramp(8), "same"), relu(ramp(8), "same", [(1, 0)]))


def odd_bools() -> DebugRun:
    values = np.tile(np.arange(4, dtype=np.uint8) % 2, (3, 1))
    values[1, 2:] = 7, 255
    return plant(Op("x", ramp(3, 4)), Op("b", values.view(np.bool_), "fused_greater", [(0, 0)]))


def sound_bools() -> DebugRun:
    values = np.tile([True, False], (3, 2))
    return plant(Op("x", ramp(3, 4)), Op("b", values, "fused_greater", [(0, 0)]))


def constant() -> DebugRun:
    return plant(Op("x", ramp(8)), relu(np.zeros(8, F4)), relu(np.ones(8, F4), "b", [(1, 0)]))


def sticking() -> DebugRun:
    values = ramp(1000, dtype=np.int8)
    values[:80] = 127
    return plant(Op("x", ramp(1000)), relu(values, func="fused_nn_conv2d_add_round_clip_cast"))


def wrong_scale() -> DebugRun:
    values = [(ramp(1, 4, 8, 8) * 2.5 - 120).astype(np.int8) for _ in range(5)]
    values[3] //= 16
    reads = [[(0, 0)], *([(node, 0)] for node in range(1, 5))]
    func = "fused_nn_conv2d_add_cast_multiply_round_clip_cast"
    return plant(
        Op("x", ramp(1, 4, 8, 8)),
        *(relu(each, f"c{at}", reads[at], func) for at, each in enumerate(values)),
    )


def wrong_scale_of_a_channel() -> DebugRun:
    func = "fused_nn_conv2d_add_cast_multiply_round_clip_cast"
    layout = {"data_layout": "NCHW", "out_layout": ""}
    ops = [Op("x", ramp(1, 4, 8, 8))]
    for at in range(4):
        values = np.tile(ramp(1, 1, 8, 8) * 3 - 100, (1, 4, 1, 1)).astype(np.int8)
        multipliers = np.full((4, 1, 1), 0.01, F4)
        if at == 3:
            values[:, 2] //= 16
            multipliers[2] /= 16
        ops.append(Op(f"m{at}", multipliers))
        ops.append(Op(f"c{at}", values, func, [(0, 0), (len(ops) - 1, 0)], layout))
    return plant(*ops)


def dead() -> DebugRun:
    values = ramp(1, 4, 8, 8)
    values[:, 2] = 0
    layout = {"data_layout": "NCHW", "out_layout": ""}
    return plant(
        Op("x", ramp(1, 4, 8, 8)), relu(values, func="fused_nn_conv2d_nn_relu", attrs=layout)
    )


def near_float16() -> DebugRun:
    return plant(Op("x", ramp(200)), relu(np.full(200, 40000, np.float16) - ramp(200, dtype="f2")))


def warming() -> DebugRun:
    return timed(("fused_exp", 1e4), ("fused_log", 2e4), repeats=(1.6, 1, 1.01, 0.99, 1))


def noisy() -> DebugRun:
    return timed(("fused_exp", 1e4), ("fused_log", 2e4), repeats=(1, 1.6, 0.8, 1.7, 0.9))


def unused() -> DebugRun:
    return plant(
        Op("x", ramp(8)),
        relu(ramp(8), ns=STEADY),
        relu(ramp(8), "idle", [(0, 0)], "fused_exp", ns=STEADY),
        heads=[(1, 0)],
    )


def repeated() -> DebugRun:
    return plant(
        Op("x", ramp(8)),
        relu(ramp(8), ns=STEADY),
        relu(ramp(8), "again", [(0, 0)], ns=STEADY),
        relu(ramp(8), "sum", [(1, 0), (2, 0)], "fused_add", ns=STEADY),
    )


def moving() -> DebugRun:
    return timed(("fused_layout_transform", 91), ("fused_nn_conv2d_add", 909))


# rule: where it fires and the sentence it says, and where it stays silent
CASES: dict[str, tuple[Callable[[], DebugRun], str, Callable[[], DebugRun]]] = {
    "first-nonfinite": (nan_born, "First NaN appears in #2 divide: 1 of 16 values", clean),
    "files": (truncated, "1 of 2 arrays could be read", clean),
    "tensor-disagrees": (
        disagreeing,
        "The tensor of #1 relu does not match the graph's shape or dtype",
        clean,
    ),
    "stale-tensors": (run_twice, "run() was called more than once", clean),
    "overwritten": (reused, "1 tensor is overwritten: 1 of 3 outputs was captured after", clean),
    "lost-values": (overlapping, "1 output is overwritten before its last consumer ran: ", reused),
    "storage-ids": (one_slot, "storage_id says nothing about memory here: by it 6 of 8", clean),
    "missing-tensors": (lost, "#2 relu has no tensor in this dump", clean),
    "ambiguous-joins": (mutated_split, "2 edges are ambiguous: these files do not say", clean),
    "duplicate-names": (same_names, "2 nodes share 1 name; refer to them by id", clean),
    "odd-bools": (
        odd_bools,
        "#1 greater: 2 of 12 bools are stored as a byte other than 0 or 1",
        sound_bools,
    ),
    "constant-values": (constant, "#1 relu outputs only zeros (8 values)", clean),
    "saturated": (sticking, "cast saturates 8.00 % of its values at 127", clean),
    "narrow-range": (
        wrong_scale,
        "cast uses only -8 … 7 of int8 (5.88 % of the range); the 4 other convolution outputs",
        sticking,
    ),
    "narrow-channels": (
        wrong_scale_of_a_channel,
        "cast: channel 2 of 4 uses at most",
        wrong_scale,
    ),
    "dead-channels": (dead, "#1 conv2d + relu: 1 of 4 channels is dead (all zero)", clean),
    "dynamic-range": (near_float16, "#1 relu is within a factor of 2 of the float16 max", clean),
    "warm-up": (warming, "The first repeat takes 1.60× as long as the rest", clean),
    "noisy-times": (noisy, "2 operators have noisy timings", clean),
    "slowest-operators": (moving, "#2 conv2d + add takes 90.9 % of the time", constant),
    "slower-than-twins": (
        lambda: plant(*blocks(factor={(3, "conv2d"): 3.0})),
        "conv2d takes 3.0× the time of its 5 twins: 300.0 µs against 100.0 µs",
        lambda: plant(*blocks()),
    ),
    "time-by-work": (moving, "Convolution takes 90.9 % of the time: #2 conv2d + add", dead),
    "data-movement": (moving, "Data movement (layout_transform) takes 9.10 % of the time", clean),
    "unused-work": (unused, "1 operator is unused: no graph output depends on it (50", clean),
    "repeated-work": (repeated, "1 operator repeats the work of an earlier one", unused),
    "scanned": (clean, "All 2 tensors checked: no NaN or Inf", nan_born),
}


def test_every_rule_has_test_cases() -> None:
    assert [*CASES, *EXECUTORCH] == [rule.name for rule in RULES]


@pytest.mark.parametrize("rule", [*CASES, *EXECUTORCH])
def test_a_rule_fires(rule: str) -> None:
    make, sentence, _ = (CASES | EXECUTORCH)[rule]
    first = found(make(), rule)[0]
    assert sentence in first.title
    assert first.why
    assert re.search(r"\d", first.title + "".join(first.evidence)), "numbers"


@pytest.mark.parametrize("rule", [*CASES, *EXECUTORCH])
def test_a_rule_stays_silent(rule: str) -> None:
    assert found((CASES | EXECUTORCH)[rule][2](), rule) == []


@pytest.mark.parametrize("rule", EXECUTORCH)
def test_executorch_rules_ignore_other_runs(rule: str) -> None:
    assert found(moving(), rule) == []


def test_nonfinite_origin_lists_affected_entries() -> None:
    birth = found(nan_born(), "first-nonfinite")
    assert (len(birth), birth[0].confidence) == (1, Confidence.HIGH)
    assert birth[0].entries == ((2, 0), (3, 0))
    assert any("graph output 0" in fact for fact in birth[0].evidence)
    assert any("input #1 relu: 1 … 16, all values finite" in fact for fact in birth[0].evidence)


def test_second_nonfinite_origin_is_reported_separately() -> None:
    bad = ramp(8)
    bad[0] = np.inf
    run = plant(
        Op("x", ramp(8)),
        relu(bad, "one"),
        relu(bad, "two", [(0, 0)], "fused_exp"),
        relu(bad, "both", [(1, 0), (2, 0)], "fused_add"),
    )
    first, others = found(run, "first-nonfinite")
    assert first.entries == ((1, 0), (3, 0))
    assert first.title == "First Inf appears in #1 relu: 1 of 8 values"
    assert others.entries == ((2, 0),)
    assert others.title == "NaN or Inf also appears independently in #2 exp"


def test_parameter_with_nan_is_reported_as_origin() -> None:
    bad = ramp(4, 4)
    bad[0, 0] = np.nan
    run = plant(Op("x", ramp(4, 4)), Op("p0", bad), relu(bad, reads=[(0, 0), (1, 0)]))
    (birth,) = found(run, "first-nonfinite")
    assert birth.title == "Parameter #1 p0 contains NaN: 1 of 16 values"
    assert birth.nodes == (1, 2)


def test_minus_inf_alone_may_be_a_mask() -> None:
    mask = np.where(np.tri(4) > 0, 0, -np.inf).astype(F4)
    run = plant(Op("mask", mask), relu(mask, func="fused_add"), relu(ramp(4, 4), "s", [(1, 0)]))
    (doubt,) = found(run, "first-nonfinite")
    assert (doubt.severity, doubt.confidence) == (Severity.WARNING, Confidence.LOW)
    assert doubt.title == "#0 mask contains -Inf: 6 of 16 values"


def test_minus_inf_that_turns_to_nan_is_a_fault() -> None:
    mask = np.full((4, 4), -np.inf, F4)
    nan = np.full((4, 4), np.nan, F4)
    run = plant(Op("mask", mask), relu(nan, func="fused_nn_softmax"))
    assert found(run, "first-nonfinite")[0].severity is Severity.ERROR


def test_unrecorded_input_lowers_confidence() -> None:
    bad = ramp(8)
    bad[0] = np.nan
    ops = [Op("x", ramp(8)), relu(bad)]
    run = tvmdbg.open(params(ops, leave_out=[(0, 0)]), graph=graph_json(ops).encode())
    (birth,) = found(run, "first-nonfinite")
    assert birth.confidence is Confidence.LOW
    assert "may come from there" in birth.why


def test_overwritten_values_are_not_used_as_evidence() -> None:
    bad = np.full(8, np.nan, F4)
    run = plant(
        Op("x", ramp(8), storage=0),
        relu(bad, "a", storage=1),
        relu(ramp(8), "b", [(1, 0)], storage=2),
        relu(bad, "c", [(2, 0)], storage=1),
        old=True,
        trace=trace([Op(name, ramp(8)) for name in "xabc"]),
    )
    (birth,) = found(run, "first-nonfinite")
    assert birth.nodes == (3,), "node 1 holds what node 3 wrote"


def test_first_nan_without_graph_has_low_confidence() -> None:
    bad = ramp(8)
    bad[0] = np.nan
    (first,) = found(tvmdbg.open(params([Op("a", bad, "f")])), "first-nonfinite")
    assert first.title == "#0 a is the first tensor with NaN: 1 of 8 values"
    assert first.confidence is Confidence.LOW


def test_issues_without_a_file_are_counted_separately() -> None:
    parts = clean().parts
    issues = [
        Issue("a", IssueSeverity.WARNING, "one", file="graph.json"),
        Issue("b", IssueSeverity.WARNING, "two", file="graph.json"),
        Issue("c", IssueSeverity.WARNING, "they contradict each other"),
    ]
    for some, title in (
        (issues, "graph.json has 2 warnings, and 1 more warning"),
        (issues[1:], "graph.json: two, and 1 more warning"),
        (issues[:2], "graph.json has 2 warnings"),
        (issues[2:] * 3, "They contradict each other, and 2 more warnings"),
    ):
        run = DebugRun(dataclasses.replace(parts, issues=Issues(some)))
        assert found(run, "files")[0].title == title


def test_constants_that_follow_from_constants_are_counted_once() -> None:
    (own,) = found(constant(), "constant-values")
    assert (own.nodes, own.evidence[0]) == ((1,), "1 more operator with constant inputs only")


@pytest.mark.parametrize(
    ("ops", "sentence"),
    [
        (
            (Op("x", np.tile([0.0, -0.0], 4).astype(F4)), relu(np.ones(8, F4), func="fused_exp")),
            "Input #0 x is all zero",
        ),
        (
            (
                Op("x", ramp(8)),
                Op("p0", np.zeros((8, 8), F4)),
                relu(ramp(8), reads=[(0, 0), (1, 0)]),
            ),
            "Weight #1 p0 is all zero",
        ),
    ],
)
def test_all_zero_inputs_and_weights_are_found(ops: tuple[Op, ...], sentence: str) -> None:
    assert [each.title for each in found(plant(*ops), "constant-values")] == [sentence]


@pytest.mark.parametrize(
    "op",
    [
        relu(np.ones(8, np.bool_), func="fused_equal"),
        relu(np.zeros(8, np.int64), func="fused_take"),
        relu(np.zeros(8, F4), func="fused_zeros_like"),
        relu(np.zeros(1, F4)),
    ],
)
def test_intended_constants_are_not_reported(op: Op) -> None:
    assert found(plant(Op("x", ramp(8)), op), "constant-values") == []


def at(values: Values, share: float, value: float) -> Values:
    values.reshape(-1)[: int(share * values.size)] = value
    return values


@pytest.mark.parametrize(
    ("values", "func", "fires"),
    [
        (at(ramp(1000, dtype=np.int8), 0.05, 127), "fused_nn_dense", True),
        (at(ramp(1000, dtype=np.int8), 0.03, 127), "fused_nn_dense", False),
        (at(ramp(1000, dtype=np.int8), 0.1, -128), "fused_nn_dense", True),
        (at(ramp(1000, dtype=np.int8), 0.1, -127), "fused_nn_dense", True),
        (at(ramp(1000, dtype=np.int8), 0.9, -128), "fused_nn_dense_clip", False),
        (at(ramp(1000, dtype=np.uint8), 0.9, 0), "fused_nn_dense", False),
        (at(ramp(1000, dtype=np.uint8), 0.1, 255), "fused_nn_dense", True),
        (at(ramp(1000, dtype=np.int32), 0.9, 2**31 - 1), "fused_nn_dense", False),
        (at(ramp(1000, dtype=np.float16), 0.001, 65504), "fused_nn_dense", True),
        (at(ramp(1000) / 99, 0.6, 1), "fused_sigmoid", True),
        (at(ramp(1000) / 99, 0.6, 0), "fused_nn_dense_sigmoid", True),
        (at(ramp(1000) / 99, 0.4, 1), "fused_sigmoid", False),
        (at(ramp(1000) / 99, 0.6, -1), "fused_tanh", True),
        (at(ramp(1000) / 99, 0.6, 1), "fused_sigmoid_multiply", False),
        (at(ramp(20, dtype=np.int8), 0.9, 127), "fused_nn_dense", False),
    ],
)
def test_saturation_is_found_by_type_and_function(values: Values, func: str, fires: bool) -> None:
    run = plant(Op("x", ramp(1000)), relu(values, func=func))
    assert bool(found(run, "saturated")) == fires


@pytest.mark.parametrize(
    ("shape", "attrs", "func", "cut", "fires"),
    [
        ((1, 4, 8, 8), {"out_layout": "NCHW"}, "fused_nn_conv2d_add", np.s_[:, 1], True),
        ((1, 8, 8, 4), {"data_layout": "NHWC"}, "fused_nn_conv2d_add", np.s_[..., 1], True),
        ((1, 2, 8, 8, 4), {"out_layout": "NCHW4c"}, "fused_nn_conv2d", np.s_[:, 1, ..., 3], True),
        ((1, 2, 8, 8, 4), {"out_layout": "NCHW4c"}, "fused_nn_conv2d", np.s_[:, 1, :, 3, 3], False),
        ((1, 4, 8, 8), {}, "fused_nn_conv2d", np.s_[:, 1], True),
        ((1, 8, 8, 4), {}, "fused_conv2d_nhwc", np.s_[..., 1], True),
        ((1, 8, 8, 4), {}, "fused_nn_conv2d", np.s_[..., 1], False),
        ((1, 4, 8, 8), {}, "fused_nn_softmax", np.s_[:, 1], False),
        ((1, 4, 3, 3), {}, "fused_nn_conv2d", np.s_[:, 1], False),
    ],
)
def test_dead_channels_by_layout(
    shape: tuple[int, ...], attrs: dict[str, str], func: str, cut: Any, fires: bool
) -> None:
    values = ramp(*shape)
    values[cut] = 0
    run = plant(Op("x", ramp(*shape)), relu(values, func=func, attrs=attrs))
    dead = found(run, "dead-channels")
    assert bool(dead) == fires
    if dead:
        assert (dead[0].confidence is Confidence.HIGH) == bool(attrs)
        assert "channels (1);" in dead[0].evidence[0] or "channels (7);" in dead[0].evidence[0]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (at(ramp(1000) * 600, 0.001, 70000), "which would be Inf in float16"),
        (at(ramp(1000) / 1e4, 0.001, 100), "one int8 scale: most values would round to zero"),
        (at(ramp(1000, dtype=np.float16), 0.2, 3e-5), "too small for full float16 precision"),
        (at(ramp(1000, dtype=np.float16), 0.05, 3e-5), ""),
        (ramp(1000), ""),
    ],
)
def test_dynamic_range_problems_are_found(values: Values, sentence: str) -> None:
    titles = [each.title for each in found(plant(Op("x", ramp(8)), relu(values)), "dynamic-range")]
    assert [sentence in title for title in titles] == [True] * bool(sentence), titles


def test_values_rounded_to_zero_by_int8_scale_are_counted() -> None:
    generator = np.random.default_rng(5)
    for spread in (1.0, 30.0, 300.0, 3000.0):
        values = generator.standard_normal(5000).astype(F4)
        values[0] = spread
        values[1:1000] = 0
        scale = float(np.abs(values).max()) / 127
        lost = int(np.count_nonzero((np.rint(values / scale) == 0) & (values != 0)))
        said = [each.evidence[0] for each in found(plant(Op("x", values)), "dynamic-range")]
        assert bool(said) == (lost >= 2000)
        assert all(f"{lost:,} of 4,001 nonzero" in fact for fact in said)


def test_fused_layout_transform_has_no_separate_share() -> None:
    run = timed(("fused_layout_transform_add", 50), ("fused_nn_conv2d", 50))
    assert found(run, "data-movement") == []
    assert any("layout/copy: 50.0 %" in fact for fact in found(run, "time-by-work")[0].evidence)
    both = timed(("fused_layout_transform_add", 50), ("fused_layout_transform", 50))
    (cost,) = found(both, "data-movement")
    assert (
        cost.title
        == "Data movement (layout_transform) takes 50.0 % of the time: #2 layout_transform"
    )
    assert (cost.confidence, cost.nodes) == (Confidence.HIGH, (2,))
    assert "also fused into 1 node with 50.0 %" in cost.evidence[1]


@pytest.mark.parametrize(
    ("funcs", "first"),
    [
        ((("fused_nn_conv2d", 60), ("fused_add_nn_relu", 40)), "convolution"),
        ((("fused_nn_conv2d_add_nn_relu", 60), ("fused_add_nn_relu", 40)), "convolution"),
        ((("fused_nn_conv2d", 40), ("fused_nn_relu", 60)), "activation"),
        ((("fused_nn_dense", 10), ("fused_nn_conv2d_nn_relu", 90)), "convolution"),
    ],
)
def test_main_operator_kind_is_listed_before_fused_kinds(
    funcs: tuple[tuple[str, float], ...], first: str
) -> None:
    (work,) = found(timed(*funcs), "time-by-work")
    assert work.title.startswith(f"{first.capitalize()} takes ")
    kinds = [fact for fact in work.evidence if ": " in fact]
    assert kinds[0].startswith(f"{first}: ")
    others = [float(fact.split(": ")[1].split(" %")[0]) for fact in kinds[1:]]
    assert others == sorted(others, reverse=True)


def test_noisy_times_of_fast_operator_are_only_a_note() -> None:
    quiet = Op("big", ramp(8), "fused_exp", [(0, 0)], ns=[1e6 * each for each in STEADY])
    loud = Op("tiny", ramp(8), "fused_log", [(1, 0)], ns=[10, 30, 10, 40, 10])
    (note,) = found(plant(Op("x", ramp(8)), quiet, loud), "noisy-times")
    assert note.severity is Severity.INFO


def test_slow_middle_repeat_or_few_repeats_are_not_warm_up() -> None:
    assert not found(timed(("fused_exp", 1e4), repeats=(1, 1.6, 1, 1, 1)), "warm-up")
    assert not found(timed(("fused_exp", 1e4), repeats=(1.6, 1, 1)), "warm-up")


def test_same_call_with_different_values_is_not_repeated_work() -> None:
    run = plant(
        Op("x", ramp(8)),
        relu(ramp(8)),
        relu(ramp(8) + 1, "other", [(0, 0)]),
        relu(ramp(8), "sum", [(1, 0), (2, 0)], "fused_add"),
    )
    assert not found(run, "repeated-work")


def test_repeated_work_is_sure_where_all_outputs_were_read() -> None:
    halves = [ramp(8), ramp(8)]
    ops = [Op("x", ramp(8)), *(Op(name, halves, "fused_split", [(0, 0)]) for name in ("a", "b"))]
    for left_out, sure in (((), Confidence.HIGH), ([(1, 1), (2, 1)], Confidence.MEDIUM)):
        values = params(ops, leave_out=left_out)
        (again,) = found(tvmdbg.open(values, graph=graph_json(ops).encode()), "repeated-work")
        assert again.confidence is sure


def test_names_from_files_are_made_printable_on_one_line() -> None:
    bad = ramp(8)
    bad[0] = np.nan
    name = "a\n<script>\x1b[31m\u202e" + "x" * 500
    run = plant(Op("x", ramp(8)), relu(bad, name))
    findings = run.findings(progress=False)
    for each in findings:
        assert all(text.isprintable() for text in (each.title, *each.evidence, each.why))
        assert len(each.title) < 300
    assert "<script>" not in findings._repr_html_()


def test_times_without_node_are_reported_first() -> None:
    ops = [Op("x", ramp(8)), relu(ramp(8), ns=STEADY)]
    other = trace([Op("x", ramp(8)), relu(ramp(8), "other", ns=[9e5]), relu(ramp(8), ns=[1e3])])
    first = found(tvmdbg.open(other, graph=graph_json(ops).encode()), "slowest-operators")[0]
    assert first.title == "99.9 % of the time matches no node; #1 relu takes 0.11 % of the time"
    assert first.evidence[0] == "1 slice (900.0 µs in all) matches no node of the graph"
    assert first.confidence is Confidence.LOW


def test_nodes_without_a_graph_are_named_by_their_slices() -> None:
    calls = [
        {
            "Name": {"string": name},
            "Duration (us)": {"microseconds": us},
            "Device": {"string": "cpu0"},
            "Count": {"count": 1},
        }
        for name, us in (("fused_a", 1.0), ("fused_b", 3.0))
    ]
    report = json.dumps({"calls": calls, "device_metrics": {}, "configuration": {}}).encode()
    first = found(tvmdbg.open(report), "slowest-operators")[0]
    assert first.title == "#1 b takes 75.0 % of the time"


def test_single_pass_times_do_not_mention_repeats(corpus: Path) -> None:
    report = corpus / "tvm/resnet20_cifar/report.json"
    assert repr(tvmdbg.open(report).timeline.node(20)).endswith("2.372 ms, measured once")
    for run, item, row in (
        (tvmdbg.open(report), "call", "calls"),
        (tvmdbg.open(corpus / "tvm/resnet20_cifar/graph.json", report), "node", "operators"),
    ):
        (first,) = found(run, "slowest-operators")
        assert f"the 5 slowest of 27 {row} take" in first.title
        assert first.title.startswith(f"#{first.nodes[0]} ")
        assert f"summed over {item}s" in first.why
        assert "run.timeline.node" not in first.next_step
        assert "One call of one pass was measured" in first.next_step
    (several,) = found(timed(("fused_exp", 1e4)), "slowest-operators")
    assert several.next_step.endswith("run.timeline.node(1) shows the spread of its repeats.")


def test_summed_rows_are_described_as_sums_over_calls(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/edge_cases/v0.19/reports/two_devices.json")
    (first,) = found(run, "slowest-operators")
    assert first.title == "#2 other takes 100.0 % of the time"
    assert "A sum over calls" in first.next_step


def test_nodes_without_names_are_not_named_twice(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar/time_list.json")
    assert found(run, "slowest-operators")[0].title.startswith("node 62 takes ")


def test_slowest_of_few_operators_is_reported_alone() -> None:
    three = timed(("fused_exp", 1e4), ("fused_log", 2e4), ("fused_tanh", 1e4))
    assert found(three, "slowest-operators")[0].title == "#2 log takes 50.0 % of the time"


def test_unknown_operators_are_not_assigned_a_kind() -> None:
    assert found(timed(("mine", 1e4), ("yours", 2e4)), "time-by-work") == []
    mixed = found(timed(("mine", 3e4), ("fused_nn_conv2d", 1e4)), "time-by-work")[0]
    assert mixed.title == "Convolution takes 25.0 % of the time: #2 conv2d 25.0 %"
    assert mixed.evidence[-1] == ("unknown operators: 75.0 % (1 node)")


@pytest.mark.parametrize(
    ("func", "severity"),
    [
        ("fused_nn_conv2d_add", Severity.ERROR),
        ("fused_nn_batch_matmul", Severity.ERROR),
        ("fused_nn_batch_matmul_where", Severity.WARNING),
        ("fused_log", Severity.WARNING),
    ],
)
def test_minus_inf_severity_depends_on_the_function(func: str, severity: Severity) -> None:
    values = ramp(2, 8)
    values[0, 0] = -np.inf
    run = plant(Op("x", ramp(2, 8)), relu(values, func=func), relu(ramp(2, 8), "b", [(1, 0)]))
    assert found(run, "first-nonfinite")[0].severity is severity


def test_warm_up_is_not_reported_again_as_noise() -> None:
    slow_start = timed(("fused_exp", 1e4), repeats=(3, 1, 1.01, 0.99, 1, 1.02, 1))
    assert found(slow_start, "warm-up")
    assert found(slow_start, "noisy-times") == []
    both = timed(("fused_exp", 1e4), repeats=(9, 1, 2, 0.8, 1.9, 1, 2))
    assert found(both, "warm-up")
    assert "without the first (warm-up)" in found(both, "noisy-times")[0].why


def test_duplicate_key_is_reported() -> None:
    ops = [Op("x", ramp(8)), relu(ramp(8))]
    twice = params([*ops, ops[1]]).replace(b"topo-index:2", b"topo-index:1")
    first = found(tvmdbg.open(twice, graph=graph_json(ops).encode()), "files")[0]
    assert "occurs more than once" in first.title + first.evidence[0]


def test_tensor_with_unknown_name_is_ambiguous() -> None:
    ops = [Op("x", ramp(8)), relu(ramp(8), "bb")]
    renamed = params(ops).replace(b"bb____topo", b"cc____topo")
    first = found(tvmdbg.open(renamed, graph=graph_json(ops).encode()), "ambiguous-joins")[0]
    assert first.title == "1 tensor is ambiguous: these files do not say where it belongs"
    assert first.next_step.startswith("Make sure that all files come from the same run")


def test_control_characters_in_types_are_not_printed() -> None:
    ops = [Op("x", ramp(8)), relu(ramp(8), ns=STEADY)]
    graph = json.loads(graph_json(ops))
    graph["attrs"]["dltype"][1][1] = "\x1b[31mred"
    run = tvmdbg.open(params(ops), graph=json.dumps(graph).encode())
    said = f"{run.check()}{run.check()!r}{run.table()!r}{run.summary()}"
    said += repr(run.findings(progress=False))
    assert "red" in said
    assert "\x1b" not in said


def test_half_dead_channels_are_a_warning() -> None:
    values = ramp(1, 4, 8, 8)
    values[:, :2] = 0
    run = plant(Op("x", ramp(8)), relu(values, func="fused_nn_conv2d_nn_relu"))
    assert found(run, "dead-channels")[0].severity is Severity.WARNING
