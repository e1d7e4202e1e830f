"""Operators against those at the same place in other instances of their block."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import found, graph_json, params, plant, table, trace
from tests.unit.findings.twin_network import F4, blocks, place_of
from tvmdbg_widgets.analysis.findings.twins import Twins
from tvmdbg_widgets.model.findings import Confidence, Finding
from tvmdbg_widgets.model.graph.graph import short_label
from tvmdbg_widgets.model.timeline.node_sets import NodeSets
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.samples import resnet20_cifar_fp16_overflow


def infinite(*shape: int) -> Any:
    values = np.linspace(0, 1, int(np.prod(shape)), dtype=F4).reshape(shape)
    values.reshape(-1)[3] = np.inf
    return values


def numbers(finding: Finding) -> tuple[list[str], ...]:
    """Return what a finding says without ids and block letters."""
    texts = [finding.title, *finding.evidence]
    return tuple(re.findall(r"(?<![#\d.,])[\d.,]+×?(?: [µm]?s| %)?", text) for text in texts)


def test_planted_weights_are_the_cause_with_the_numbers_of_numpy(corpus: Path) -> None:
    folder = corpus / "tvm/resnet20_cifar_fp16_overflow"
    run = tvmdbg.open(folder)
    (birth,) = found(run, "first-nonfinite")
    graph, tensors = run.graph, run.tensors
    assert graph is not None
    assert tensors is not None

    def largest(node: int) -> float:
        weights = int(graph.edge_source[graph.in_edges(node)[1]])
        return float(np.abs(tensors[weights].numpy().astype(float)).max())

    twins = [
        node
        for node in range(graph.num_nodes)
        if re.search(r"conv2d_add_add_nn_relu", graph.func_names[node]) and node != 38
    ]
    assert len(twins) == 6
    most = max(map(largest, twins))
    assert birth.title.endswith(f": weights reach {largest(38):,.0f} ({most:.3g} in 6 twins)")
    assert len(birth.title) <= 75, "a small panel shows the cause, too"
    assert birth.evidence[0].startswith("#36 p22 (weights) reaches 8,376, 20,000×")
    assert ", ".join(f"#{node}" for node in twins) in " ".join(birth.evidence)
    assert "#36 p22 and #37 p23" in birth.next_step
    # Batch norm's scale was multiplied by 32,768: the factor that the planted fault states.
    assert largest(38) / 32768 < most


def test_packaged_sample_names_the_weights_first() -> None:
    first = tvmdbg.open(resnet20_cifar_fp16_overflow).findings(progress=False)[0]
    assert "weights reach 8,376" in first.title


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("odd", range(5))
def test_cause_does_not_depend_on_the_place_of_its_block(odd: int, swapped: bool) -> None:
    def said(block: int) -> Finding:
        last = {(block, "conv2d"): infinite(1, 8, 4, 4)}
        ops = blocks(5, weights={block: 1000}, outputs=last, swapped=swapped)
        (finding,) = found(plant(*ops), "first-nonfinite")
        assert finding.nodes[0] == place_of(ops, f"conv2d_{block}")
        return finding

    one = said(odd)
    assert re.search(r": weights reach [\d,]+ \((0\.9\d+|1) in 4 twins\)$", one.title)
    assert re.match(r"#\d+ w\d \(weights\) reaches [\d,]+, 1,000× the maximum", one.evidence[0])
    assert one.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"count": 2}, "one twin does not say which of the two is unusual"),
        ({"weights": {}}, "weights of the usual size"),
        ({"weights": {1: 5}}, "a few times larger is within the spread of layers"),
    ],
)
def test_fault_without_an_unusual_operand_keeps_its_plain_title(
    more: dict[str, Any], why: str
) -> None:
    given: dict[str, Any] = {"count": 5, "weights": {1: 1000}} | more
    ops = blocks(**given, outputs={(1, "conv2d"): infinite(1, 8, 4, 4)})
    (finding,) = found(plant(*ops), "first-nonfinite")
    assert finding.title.endswith("1 of 128 values, all in channel 0 of 8"), why


def test_operands_missing_in_the_dump_are_not_compared() -> None:
    ops = blocks(5, weights={1: 1000}, outputs={(1, "conv2d"): infinite(1, 8, 4, 4)})
    lost = [(place_of(ops, f"w{block}"), 0) for block in (0, 2, 3)]
    run = tvmdbg.open(params(ops, leave_out=lost), graph=graph_json(ops).encode())
    (finding,) = found(run, "first-nonfinite")
    assert "twin" not in finding.title


def test_magnitudes_are_compared_across_sizes_and_times_are_not() -> None:
    sizes = [8, 8, 8, 16, 16, 16, 16]  # the first block of a size reads the other one
    ops = blocks(
        channels=sizes,
        weights={5: 1000},
        outputs={(5, "conv2d"): infinite(1, 16, 4, 4)},
    )
    run = plant(*ops)
    (finding,) = found(run, "first-nonfinite")
    assert "in 6 twins" in finding.title
    assert any(fact.endswith("(sizes differ)") for fact in finding.evidence)
    twins = Twins(run.graph, run.facts.groups)  # type: ignore[arg-type]
    node = place_of(ops, "conv2d_5")
    exact, similar = twins.exact(node), twins.similar(node)
    assert exact is not None
    assert similar is not None
    assert exact.nodes == tuple(place_of(ops, f"conv2d_{block}") for block in (4, 6))
    assert similar.nodes == tuple(place_of(ops, f"conv2d_{block}") for block in (0, 1, 2, 3, 4, 6))


@pytest.mark.parametrize(("weights", "odd"), [({1: 1000}, True), ({}, False)])
def test_huge_values_are_compared_as_faults_are(weights: dict[int, Any], odd: bool) -> None:
    large = np.linspace(-1e6, 1e6, 8 * 16, dtype=F4).reshape(1, 8, 4, 4)
    ops = blocks(5, weights=weights, outputs={(1, "conv2d"): large})
    (finding,) = found(plant(*ops), "dynamic-range")
    assert "has values beyond 65,504" in finding.title
    assert ("; weights reach " in finding.title) == odd
    assert any("(weights) reaches" in fact for fact in finding.evidence) == odd


@pytest.mark.parametrize("factor", [1.6, 3.0, 12.0])
@pytest.mark.parametrize("block", [0, 3, 5])
def test_slow_instance_is_found_with_its_ratio(block: int, factor: float) -> None:
    ops = blocks(6, factor={(block, "conv2d"): factor})
    (finding,) = found(plant(*ops), "slower-than-twins")
    assert finding.nodes == (place_of(ops, f"conv2d_{block}"),)
    ratio = f"{factor:.0f}" if factor >= 10 else f"{factor:.1f}"
    assert f" takes {ratio}× the time of its 5 twins: " in finding.title
    assert finding.evidence[1].startswith("its 5 twins: median 100.0 µs")
    assert "10 repeats" in finding.evidence[0]


def test_slow_finding_does_not_depend_on_the_place_of_its_block() -> None:
    said = [
        numbers(found(plant(*blocks(6, factor={(at, "conv2d"): 3.0})), "slower-than-twins")[0])[:4]
        for at in range(6)
    ]
    assert all(each == said[0] for each in said)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"channels": [8, 8, 8, 16, 16, 16]}, "an operator of 16 channels has two twins at most"),
        ({"funcs": {2: "x_"}}, "another function"),
        ({"attrs": {2: {"out_layout": "NHWC"}}}, "another layout"),
        ({"factor": {(2, "conv2d"): 1.3}}, "within the spread of equal operators"),
        ({"factor": {(at, "conv2d"): 3.0 for at in (1, 2, 4)}}, "half of the twins are as slow"),
        ({"factor": {(2, "relu"): 1.9}}, "less than a hundredth of the time"),
        ({"factor": {(2, "conv2d"): 1.8}, "repeats": 1}, "one measurement below twice the time"),
        ({"count": 2}, "a single twin"),
    ],
)
def test_slow_operators_without_enough_evidence_are_not_reported(
    more: dict[str, Any], why: str
) -> None:
    given: dict[str, Any] = {"factor": {(2, "conv2d"): 3.0}} | more
    if "channels" in more:
        given["factor"] = {(2, "conv2d"): 1.0, (3, "conv2d"): 1.0}
    if given.get("count") == 2:
        given["factor"] = {(1, "conv2d"): 3.0}
    assert not found(plant(*blocks(**given)), "slower-than-twins"), why


def test_single_measurement_is_a_hint_only() -> None:
    ops = blocks(6, factor={(2, "conv2d"): 3.0}, repeats=1)
    (finding,) = found(plant(*ops), "slower-than-twins")
    assert finding.confidence is Confidence.LOW
    assert "each was timed once" in finding.why


def test_noise_wider_than_the_difference_is_not_reported() -> None:
    ops = blocks(6)
    for op in ops:
        if op.name.startswith("conv2d_") and op.ns:
            op.ns = [100_000.0 * each for each in (1, 1, 1, 1, 1, 4, 4, 4, 4, 4)]
    slow = place_of(ops, "conv2d_2")
    ops[slow].ns = [100_000.0 * each for each in (1, 2.5, 4.5, 4.5, 4.5, 4.5, 4.5, 4.5, 4.5, 4.5)]
    assert not found(plant(*ops), "slower-than-twins")


def test_denormal_operands_of_a_slow_operator_are_named() -> None:
    ops = blocks(6, factor={(2, "conv2d"): 3.0})
    tiny = ops[place_of(ops, "w2")].values
    tiny.reshape(-1)[::2] = 1e-40
    (finding,) = found(plant(*ops), "slower-than-twins")
    fact = "denormal operands, slow on many CPUs: up to 50.0 % of its values, 0 % of its twins'"
    assert fact in finding.evidence


def saturated(share: float) -> Any:
    values = np.linspace(-100, 100, 1 * 8 * 4 * 4).astype(np.int8).reshape(1, 8, 4, 4)
    values.reshape(-1)[: round(share * values.size)] = 127
    return values


def test_saturated_output_is_compared_with_its_twins() -> None:
    outputs = {(at, "conv2d"): saturated(0.5 if at == 1 else 0.02) for at in range(5)}
    (finding,) = found(plant(*blocks(5, outputs=outputs)), "saturated")
    assert re.search(
        r"saturates 50\.0 % of its values at 127; its 4 twins at most 2\.34 %$", finding.title
    )
    assert finding.evidence[1] == "its 4 twins: 2.34 %"


def test_saturation_by_design_does_not_accuse_one_instance() -> None:
    outputs = {(at, "conv2d"): saturated(0.4 + at / 50) for at in range(5)}
    (finding,) = found(plant(*blocks(5, outputs=outputs)), "saturated")
    assert "twin" not in finding.title
    assert finding.evidence[1].startswith("its 4 twins: 3")


def test_twins_of_another_type_are_not_compared() -> None:
    outputs = {(at, "conv2d"): saturated(0.5 if at == 1 else 0.02) for at in (0, 1)}
    outputs |= {(at, "conv2d"): saturated(0.02).astype(np.int16) for at in (2, 3, 4)}
    (finding,) = found(plant(*blocks(5, outputs=outputs)), "saturated")
    assert not any("twin" in text for text in (finding.title, *finding.evidence))


def test_long_names_keep_the_first_and_the_last_operator() -> None:
    fused = "conv2d + add + relu + cast + multiply + round + clip + cast"
    short = short_label(fused)
    assert short == "conv2d + add + relu + … + clip + cast"
    assert len(short_label("a" * 30 + "b" * 30)) == 40
    assert short_label("conv2d + add") == "conv2d + add"


def test_times_without_a_graph_are_not_compared() -> None:
    ops = blocks(6, factor={(2, "conv2d"): 3.0})
    run = tvmdbg.open(trace(ops), table=table(ops))
    assert not found(run, "slower-than-twins")


def test_events_of_several_operators_are_compared_as_one() -> None:
    ops = blocks(6, repeats=1)
    run = plant(*ops)
    line = run.timeline
    assert line is not None
    pairs = [[place_of(ops, f"{name}_{at}") for name in ("conv2d", "relu")] for at in range(6)]
    own = np.full(6, 50_000.0)
    own[4] = 160_000.0
    of_node = {node: number for number, pair in enumerate(pairs) for node in pair}
    slice_set = np.array([of_node.get(node, -1) for node in line.slice_node.tolist()], np.int32)
    node_ns = line.node_ns.copy()
    node_ns[[*of_node]] = np.nan
    kept = ~np.isin(np.arange(line.num_nodes), [*of_node])
    counts = np.where(kept, np.diff(line.repeats_offsets), 0)
    sets = NodeSets(
        slice_set,
        np.arange(7) * 2,
        np.array(pairs, np.int32).ravel(),
        own,
        tuple(f"Convolution #{at}" for at in range(6)),
        ("convolution",) * 6,
    )
    together = replace(
        line,
        slice_node=np.where(slice_set >= 0, -1, line.slice_node).astype(np.int32),
        node_ns=node_ns,
        repeats_offsets=np.concatenate([[0], np.cumsum(counts)]),
        repeats_ns=line.repeats_ns[np.repeat(kept, np.diff(line.repeats_offsets))],
        shared=sets,
    )
    (finding,) = found(DebugRun(replace(run.parts, timeline=together)), "slower-than-twins")
    assert finding.nodes == (pairs[4][0],)
    assert (
        "(one event of 2 operators) takes 3.2× the time of its 5 twins: 160.0 µs" in finding.title
    )
