"""Errors against a run of another graph, whose nodes are found by matching."""

import json
from pathlib import Path

import numpy as np

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.node_columns import OutputErrors


def test_run_with_copies_is_reference_by_matched_nodes(corpus: Path) -> None:
    a, b = (tvmdbg.open(corpus / f"tvm/resnet20_{name}") for name in ("cifar", "two_devices"))
    found, notes = [], []
    for run, other in ((a, b), (b, a)):
        errors = OutputErrors(run.parts, other)
        errors.run()
        found.append(errors.values)
        notes.append(errors.column().note)
    assert np.all(found[0] == 0)  # by the checksums of both dumps
    nodes = json.loads((corpus / "tvm/resnet20_two_devices/graph.json").read_text())["nodes"]
    copies = [i for i, node in enumerate(nodes) if node["name"].startswith("__copy")]
    assert np.flatnonzero(np.isnan(found[1])).tolist() == copies
    of = len(tvmdbg.open(corpus / "tvm/resnet20_two_devices").tensors or {})
    assert notes == ["", f"{len(copies)} of {of} outputs without a sure counterpart"]
