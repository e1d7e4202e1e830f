"""Findings of recorded runs against what TVM and numpy say beside them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.model.findings import Confidence, Findings, Severity

CLEAN = [
    *("tvm/resnet20_cifar", "tvm/resnet20_cifar_nchw8c", "tvm/resnet20_cifar_unfused"),
    *("tvm/resnet20_cifar_fp16", "tvm/resnet20_cifar_int8", "tvm/transformer_encoder"),
    *("tvm/resnet20_two_devices", "tvm/resnet20_cifar_v0.8"),
    *("tvm/resnet20_cifar_own_storage_v0.6", "relax/convnet_cpu", "relax/mlp_cpu"),
    *("relax/onnx_small_default", "relax/transformer_default"),
]
# What may be said of them beside costs and notes: times are as noisy as they were.
MEASURED = {"noisy-times", "warm-up"}


def findings(folder: Path) -> Findings:
    return tvmdbg.open(folder).findings(progress=False)


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("case", CLEAN)
def test_clean_run_has_no_errors(corpus: Path, case: str) -> None:
    found = findings(corpus / case)
    assert list(found.errors) == []
    assert {each.rule for each in found.by_severity(Severity.WARNING)} <= MEASURED
    assert found.complete
    said = re.match(r"All ([\d,]+) tensors checked", found.by_rule("scanned")[0].title)
    assert int(said[1].replace(",", "")) == found.scanned == found.to_scan


@pytest.mark.parametrize("case", CLEAN)
def test_clean_run_names_its_slowest_operator(corpus: Path, case: str) -> None:
    run = tvmdbg.open(corpus / case)
    (slowest,) = run.findings(progress=False).by_rule("slowest-operators")
    assert slowest.nodes[0] == int(run.timeline.top(1).nodes[0])


def test_convolution_time_share_matches_recorded_times(corpus: Path) -> None:
    folder = corpus / "tvm/resnet20_cifar_nchw8c"
    (work,) = findings(folder).by_rule("time-by-work")
    times = read(folder / "time_list.json")
    names = [node["name"] for node in read(folder / "graph.json")["nodes"]]
    means = [sum(each) / len(each) for each in times]
    convolutions = sum(t for t, n in zip(means, names, strict=True) if "conv2d" in n)
    said = re.match(r"Convolution takes ([\d.]+) %", work.title)
    assert float(said[1]) == pytest.approx(100 * convolutions / sum(means), abs=0.06)


def test_casts_fused_into_convolutions_are_not_a_separate_cost(corpus: Path) -> None:
    found = findings(corpus / "tvm/resnet20_cifar_int8")
    assert not found.by_rule("data-movement")
    (work,) = found.by_rule("time-by-work")
    assert work.evidence[0].startswith("conv2d + add")
    assert any("cast/quantize" in fact for fact in work.evidence)


def test_planted_overflow_is_found_at_its_node(corpus: Path) -> None:
    folder = corpus / "tvm/resnet20_cifar_fp16_overflow"
    meta = read(folder / "meta.json")
    index = read(folder / "output_tensors.index.json").values()
    bad = {each["node"]: each for each in index if each["nan"] or each["inf"]}
    planted = meta["planted_fault"]["topo_index"]
    (birth,) = findings(folder).errors
    assert (birth.rule, birth.confidence) == ("first-nonfinite", Confidence.HIGH)
    assert birth.nodes[0] == planted == 38
    assert birth.title.startswith(f"First Inf in #{planted} ")
    assert any(f"{bad[planted]['inf']} +Inf, 0 -Inf in 8,192" in fact for fact in birth.evidence)
    assert set(birth.nodes) == set(bad)
    assert birth.entries == tuple((node, 0) for node in sorted(bad))
    first_nan = min(node for node, each in bad.items() if each["nan"])
    evidence = " | ".join(birth.evidence)
    assert f"first NaN appears in #{first_nan} conv2d + add + relu: " in evidence
    assert f": {bad[first_nan]['nan']:,} of 8,192" in evidence
    assert "#36 p22" in evidence
    assert "#37 p23" in evidence


def test_overwritten_tensors_match_recorded_replay(corpus: Path) -> None:
    folder = corpus / "tvm/resnet20_cifar_v0.6"
    (doubt,) = findings(folder).by_rule("overwritten")
    names = [node["name"] for node in read(folder / "graph.json")["nodes"]]
    lost = read(folder / "meta.json")["overwritten_tensors"]["nodes"]
    assert {names[node] for node in doubt.nodes} == set(lost)
    assert len(doubt.entries) == 22
    assert not findings(folder).errors


@pytest.mark.parametrize("version", ["v0.6", "v0.8", "v0.19"])
def test_nan_in_input_is_reported_as_the_origin(corpus: Path, version: str) -> None:
    folder = corpus / f"tvm/edge_cases/{version}/nan_inf"
    found = findings(folder)
    (birth,) = found.errors
    index = read(folder / "output_tensors.index.json")
    assert len(birth.entries) == sum(bool(e["nan"] or e["inf"]) for e in index.values())
    assert birth.title == "Input #0 x contains NaN and Inf: 3 of 12 values"
    assert (birth.confidence is Confidence.HIGH) == (version == "v0.19"), "keyed by node"
    assert not found.by_rule("scanned")


@pytest.mark.parametrize("version", ["v0.6", "v0.8", "v0.19"])
def test_module_run_twice_reports_stale_tensors(corpus: Path, version: str) -> None:
    found = findings(corpus / f"tvm/edge_cases/{version}/run_twice")
    assert (found[0].rule, found[0].severity) == ("stale-tensors", Severity.WARNING)
    assert not found.errors


@pytest.mark.parametrize("version", ["v0.6", "v0.8", "v0.19"])
def test_nodes_with_same_name_are_reported(corpus: Path, version: str) -> None:
    (each,) = findings(corpus / f"tvm/edge_cases/{version}/odd_names").by_rule("duplicate-names")
    lost = version == "v0.8"
    assert each.severity is (Severity.WARNING if lost else Severity.INFO)
    assert each.nodes == (1, 2)
    assert ("no tensor: #1 k_relu" in each.evidence) == lost


def test_vector_lanes_missing_from_dump_are_a_warning(corpus: Path) -> None:
    found = findings(corpus / "tvm/edge_cases/v0.19/vec4")
    (doubt,) = found.by_severity(Severity.WARNING)
    assert "stores 32 of 128 bytes" in doubt.evidence[0]
    assert not found.errors
    partly = "1 tensor only partly in the file"
    assert partly in found.by_rule("scanned")[0].evidence


def test_graph_file_resolves_ambiguous_joins(corpus: Path) -> None:
    folder = corpus / "tvm/edge_cases/v0.19/split_multi"
    assert not findings(folder).by_rule("ambiguous-joins")
    alone = findings(folder / "tvmdbg/_tvmdbg_device_CPU_0")
    (doubt,) = alone.by_rule("ambiguous-joins")
    assert doubt.nodes == (2, 3)
    assert not alone.errors


def test_edge_case_findings_are_complete_and_printable(corpus: Path) -> None:
    for folder in sorted((corpus / "tvm/edge_cases").glob("*/*")):
        if folder.name == "reports":
            continue
        found = findings(folder)
        assert found.complete, folder
        for each in found:
            assert all(text.isprintable() for text in (each.title, *each.evidence)), folder
