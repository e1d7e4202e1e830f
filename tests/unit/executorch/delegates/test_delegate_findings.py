"""What findings say of the operators inside of delegates, against what the runtime really did."""

from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.formats.executorch.xnnpack_truth import FOLDER, recorded, truth
from tests.unit.executorch.delegates.finding_cases import run_of, xnnpack
from tests.unit.findings.findings_dump import Op, found, plant
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.executorch.not_delegated import compared, unusual
from tvmdbg_widgets.model.base.numbers import duration_text, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity

BOTH = pytest.mark.parametrize("record", [False, True], ids=["program", "edge"])
CORPUS_CASES = ("attention", "depthwise", "pooling", "clamp_chain", "linear_qs8", "conv1d")


@cache
def opened(case: str, *, record: bool = False) -> Any:
    names = ["model.pte", "etdump.etdp", *(["etrecord.bin"] if record else [])]
    return tvmdbg.open(*(FOLDER / case / name for name in names))


def operators(run: Any, told: dict[str, Any]) -> Iterator[tuple[str, int, bool, float]]:
    """Yield type, main node and time of each event by truth and ticks, and if it was inserted."""
    dump = run.parts.executorch.dump
    for call in told["calls"]:
        nodes = told["delegates"][call["delegate"]]["nodes"]
        first = dump.events_of(call["block"]).start
        for event, name, covered in zip(call["events"], call["names"], call["xnodes"], strict=True):
            ticks = int(dump.end[first + event]) - int(dump.start[first + event])
            base = name.partition(" (")[0].replace(" ", "")
            main = ([i for i in covered if base in nodes[i]["type"]] or covered)[0]
            yield nodes[main]["type"], main, nodes[main]["debug_handle"] is None, float(ticks)


def said(finding: Finding) -> str:
    return " ".join((finding.title, *finding.evidence, finding.why, finding.next_step))


@recorded
@BOTH
def test_slowest_operator_matches_ground_truth(record: bool) -> None:
    run = opened("attention", record=record)
    rows = sorted(operators(run, truth("attention")), key=lambda row: -row[3])
    (each,) = found(run, "delegate-events")
    kind, main, _, ns = rows[0]
    assert (kind, main, ns) == ("BatchMatrixMultiply", 5, 61_000.0)
    assert each.title.startswith(f"{kind}_{main} (Batch Matrix Multiply (NC, F32) GEMM #1) is the")
    names = [text.partition(" ")[0] for text in each.evidence]
    assert names == [f"{row[0]}_{row[1]}" for row in rows[:5]]
    (node,) = each.nodes
    assert run.graph.func_names[node] == ("aten.bmm.default" if record else "BatchMatrixMultiply")
    assert run.timeline.node_ns[node] == ns


@recorded
@BOTH
@pytest.mark.parametrize("case", CORPUS_CASES)
def test_conversions_match_the_delegate_graph(case: str, record: bool) -> None:
    run = opened(case, record=record)
    kinds = ("StaticTranspose", "StaticReshape", "Convert", "Copy")
    rows = [row for row in operators(run, truth(case)) if row[0] in kinds]
    ns, inserted = sum(row[3] for row in rows), sum(row[3] for row in rows if row[2])
    findings = found(run, "delegate-conversions")
    took = sum(call.duration_ns for call in run.delegate_calls())
    assert bool(findings) == (ns >= 0.05 * took and ns > 0)
    for each in findings:
        assert f"spends {duration_text(ns)} on layout" in each.title
        assert ("lowering inserted" in each.title) == bool(inserted)
        assert ("; all of it in" in each.title) == (inserted == ns)


@pytest.mark.parametrize("name", ["sample", "sample_without_record"])
def test_split_cost_includes_native_operator_and_conversions(name: str) -> None:
    run: Any = run_of(name)
    (each,) = found(run, "delegate-splits")
    (native,) = each.nodes
    cost = run.timeline.node_ns[native] + 3000
    assert f"into 2 calls: {duration_text(cost)}, 10.5" in each.title.replace("\u00a0", " ")
    assert each.title.endswith("of the time with the conversions around")
    (reason,) = found(run, "not-delegated")
    why = "likely reason: it drops dimensions: XNNPACK's partitioner takes mean only with keepdim="
    assert why in reason.evidence[0]
    assert reason.confidence is Confidence.MEDIUM
    assert "no file records the partitioner's reason" in reason.why


@recorded
def test_kernels_and_events_as_they_should_be_are_not_reported() -> None:
    for case in ("conv_relu", "depthwise", "same_ops", "conv1d"):
        assert not found(opened(case), "delegate-algorithms"), case
    for case in CORPUS_CASES:
        for record in (False, True):
            assert not found(opened(case, record=record), "unmapped-events"), case


def test_dump_of_another_program_is_first_finding_without_operators() -> None:
    events = [(f"Softmax (NC, F32) #{k}", 10) for k in range(1, 7)]
    run = xnnpack("residual", *events)
    first = run.findings()[0]
    assert (first.rule, first.severity) == ("files", Severity.WARNING)
    assert "not of the same export" in said(first)
    assert run.check()[0].rule == "executorch-disagree"
    for each in run.findings():
        if each.rule.startswith("delegate-") or each.rule == "slowest-operators":
            assert not each.nodes
            assert "Conv2d" not in said(each)
    assert not found(run, "unmapped-events")


@pytest.mark.parametrize(
    ("operator", "reads", "writes", "told"),
    [
        ("add", ("int64", (2, 3)), ("int64", (2, 3)), "it has values of int64: XNNPACK's partit"),
        ("add", ("float32", (0, 3)), ("float32", (0, 3)), "an input is empty"),
        ("add", ("float32", (2, 3)), ("float32", (2, 3)), ""),
        ("mean", ("float32", (2, 3)), ("float32", (2, 1)), "its input has 2 dimensions"),
        ("convolution", ("float16", (1, 2, 3, 4, 5)), ("float16", (1, 2, 3, 4, 5)), "of 3 or 4"),
        ("view_copy", ("float32", (2, 3)), ("float32", None), "its shape is dynamic"),
        ("eq", ("float32", (2, 3)), ("bool", (2, 3)), "XNNPACK's partitioner has no rule for eq"),
    ],
)
def test_unusual_operator_is_explained_by_the_partitioner_rule(
    operator: str, reads: Any, writes: Any, told: str
) -> None:
    nodes = [SimpleNamespace(dtypes=(each[0],), shapes=(each[1],)) for each in (reads, writes)]
    names = ["", f"aten.{operator}.default"]
    graph: Any = SimpleNamespace(nodes=nodes, func_names=names, attrs=[{}, {}])
    source = SimpleNamespace(entry=(0, 0), sure=True)
    evidence: Any = SimpleNamespace(reads=lambda node: [source] * node)
    found_ = "; ".join(unusual(evidence, graph, 1))
    assert told in found_
    assert bool(found_) == bool(told)


@recorded
@BOTH
def test_time_by_work_includes_operators_that_ran_together(record: bool) -> None:
    run = opened("qkv_dq8", record=record)
    (each,) = found(run, "time-by-work")
    (row,) = (row for row in run.times("kind") if row.label == "matmul")
    assert each.title.startswith(f"Matmul takes {percent(row.share)} of the time: Fully Connected")
    (slowest,) = found(run, "delegate-events")
    assert "(Fully Connected (NC, QDU8, F32, QC8W) GEMM #1)" in slowest.title


@pytest.mark.parametrize(
    ("dtype", "shape", "told"),
    [
        (np.int64, (2, 3), "constraint on its dtype (int64; delegated #1 add: float32)"),
        (np.float32, (2, 3, 4), "constraint on its rank (3-d; delegated #1 add: 2-d)"),
        (np.float32, (4, 5), "delegated elsewhere with these dtypes and ranks (#1 add)"),
    ],
)
def test_operator_is_compared_with_delegated_ones_of_its_name(
    dtype: Any, shape: tuple[int, ...], told: str
) -> None:
    made = plant(
        Op("x", np.ones((2, 3), np.float32)),
        Op("a", np.ones((2, 3), np.float32), "fused_add", [(0, 0)]),
        Op("y", np.ones(shape, dtype)),
        Op("b", np.ones(shape, dtype), "fused_add", [(2, 0)]),
    )
    evidence = RunEvidence(made.parts, made.facts.search.scan.scanned())
    graph = made.graph
    assert graph is not None
    taken = {graph.func_names[1]: [1]}
    (why,) = compared(evidence, graph, 3, taken, in_xnnpack=False)
    assert why.text.endswith(told)
    assert ("possible reason: " in why.text) == ("constraint" in told)
    assert why.confidence is Confidence.LOW
    (nowhere,) = compared(evidence, graph, 3, {"mul": [1]}, in_xnnpack=True)
    assert nowhere.text.startswith("XNNPACK supports ")
