"""What a run opens on: a tensor that has something to say, and its extremes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HERE

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tvmdbg_widgets.analysis.opening import Highlight, highlights, opening_tensor
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.findings import Confidence, Finding, Findings, Severity
from tvmdbg_widgets.model.graph.nodes import NodeKind

EMPTY, ZEROS = np.zeros((0, 3), np.float32), np.zeros(9, np.float32)
FIRST_INF = 38  # of resnet20_cifar_fp16_overflow, as its producer recorded
RAMP, BAD = np.arange(9, dtype=np.float32), np.array([1, np.nan], np.float32)


@pytest.mark.parametrize(
    ("arrays", "name"),
    [
        ({"empty": EMPTY, "zeros": ZEROS, "ramp": RAMP, "later": RAMP}, "ramp"),
        ({"empty": EMPTY, "ramp": RAMP, "bad": BAD}, "bad"),
        ({"empty": EMPTY, "zeros": ZEROS}, "zeros"),
        ({"ones": np.ones(3, np.int8), "word": np.array([3, 4], np.int64)}, "word"),
    ],
)
def test_opening_tensor_prefers_nonfinite_then_varying_values(
    tmp_path: Path, arrays: dict[str, Any], name: str
) -> None:
    write_params(tmp_path / "a.params", arrays)
    run = tvmdbg.open(tmp_path / "a.params")
    opening = opening_tensor(run.facts)
    assert opening.name == name
    assert run.figure("tensor").description["entry"] == [opening.node, opening.output]


def test_file_of_empty_tensors_has_no_opening_tensor(tmp_path: Path) -> None:
    write_params(tmp_path / "a.params", {"empty": EMPTY})
    assert opening_tensor(tvmdbg.open(tmp_path / "a.params").facts) is None


def test_zoo_file_opens_on_nonempty_tensor() -> None:
    zoo = tvmdbg.open(HERE / "data/params/zoo/zoo.params")
    assert opening_tensor(zoo.facts).size


def test_run_opens_on_slowest_operator_or_first_fault_once_scanned() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    assert opening_tensor(run.facts).node == int(np.nanargmax(run.timeline.node_ns))
    run.findings()
    assert opening_tensor(run.facts).node == FIRST_INF


DEVICE = "_tvmdbg_device_CPU_0"


def found(run: tvmdbg.DebugRun) -> dict[str, Highlight]:
    return {each.label: each for each in highlights(run.facts)}


def test_the_slowest_operator_has_the_largest_mean_time(run: tvmdbg.DebugRun) -> None:
    slowest = found(run)["Slowest operator"]
    ns = run.timeline.node_ns
    assert slowest.nodes == (int(np.nanargmax(ns)),)
    assert slowest.value.endswith(f"{100 * np.nanmax(ns) / np.nansum(ns):.2f} %")
    assert slowest.name == f"#{slowest.nodes[0]} conv2d + add + relu"


def test_largest_tensors_match_dump_sizes(run: tvmdbg.DebugRun) -> None:
    graph = run.graph
    dumped = {
        entry: each.nbytes
        for entry, each in run.tensors.items()
        if graph.kinds[entry[0]] == NodeKind.OPERATOR
    }
    largest = found(run)["Largest activation"]
    assert largest.entry is not None
    assert dumped[largest.entry] == max(dumped.values())
    count = sum(size == max(dumped.values()) for size in dumped.values())
    assert largest.value == f"64.0 KiB (65,536), {count} of this size"
    for label, kind in (
        ("Largest parameter", NodeKind.PARAMETER),
        ("Largest input", NodeKind.INPUT),
    ):
        entry = found(run)[label].entry
        assert graph.kinds[entry.node] == kind


def test_peak_memory_highlight_matches_memory_plan(run: tvmdbg.DebugRun) -> None:
    peak = run.memory_plan().peak
    said = found(run)["Peak memory"]
    assert said.nodes == peak.nodes
    assert said.name == f"#{peak.nodes[0]} conv2d + add + add + relu and {len(peak.nodes) - 1} more"


def test_unknown_highlights_are_omitted(run: tvmdbg.DebugRun) -> None:
    assert list(
        found(tvmdbg.open(tvmdbg.samples.resnet20_cifar / DEVICE / "_tvmdbg_graph_dump.json"))
    ) == ["Largest activation", "Largest parameter", "Largest input", "Peak memory"]


def test_run_without_graph_shows_largest_tensor() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar / DEVICE / "output_tensors.params")
    (largest,) = highlights(run.facts)
    assert largest.value.startswith(f"{max(t.nbytes for t in run.tensors.values()) / 1024:.1f} KiB")


def test_views_receive_same_highlights(run: tvmdbg.DebugRun) -> None:
    told = answer(run.facts, {"kind": "highlights"}).result
    assert [each["label"] for each in told] == list(found(run))
    assert told[0]["entry"] is None
    assert told[1]["entry"] == [told[1]["nodes"][0], 0]


def finding(severity: Severity, *nodes: int, entries: tuple[tuple[int, int], ...] = ()) -> Finding:
    return Finding(severity, "x", (), Confidence.HIGH, "", nodes, entries)


@pytest.mark.parametrize(
    ("findings", "node"),
    [
        ([finding(Severity.WARNING), finding(Severity.WARNING, 7, 4)], 7),
        ([finding(Severity.WARNING, 3, 7, entries=((3, 9), (7, 0)))], 7),
        ([finding(Severity.WARNING, 4), finding(Severity.ERROR, 10)], 10),
        ([finding(Severity.HOTSPOT, 4), finding(Severity.INFO, 7)], None),
    ],
)
def test_first_error_or_warning_with_nodes_opens_every_view(
    findings: list[Finding], node: int | None
) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    run.findings()
    search, known = run.facts.search, Findings(findings)
    search.known = lambda **_: known  # type: ignore[method-assign]
    slowest = int(np.nanargmax(run.timeline.node_ns))
    assert opening_tensor(run.facts).node == (slowest if node is None else node)
    told = answer(run.facts, {"kind": "health"}).result["opens"]
    assert told == (None if node is None else [node, 0])
    assert run.figure("tensor").description["entry"] == [slowest if node is None else node, 0]
