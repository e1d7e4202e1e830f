"""The samples: each opens whole, and those of ExecuTorch are the recorded cases."""

from __future__ import annotations

import re

import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import FOLDER
from tvmdbg_widgets import samples

MOST_BYTES_OF_EXECUTORCH = 300_000


@pytest.mark.parametrize("name", samples.__all__)
def test_a_sample_has_graph_tensors_and_times(name: str) -> None:
    run = tvmdbg.open(getattr(samples, name))
    assert run.graph is not None
    assert run.tensors is not None
    assert run.timeline is not None
    assert {issue.severity.value for issue in run.check()} <= {"note"}


def test_samples_of_executorch_are_recorded_cases() -> None:
    """So what ExecuTorch's own tools said of the cases is said of the samples."""
    cases = {
        samples.executorch_demo_delegate: FOLDER / "06b_demo_manual_ids",
        samples.executorch_xnnpack: FOLDER / "08_conv_xnnpack_quant",
    }
    program = FOLDER / "pte/08_conv_xnnpack_quant.pte"
    paths = [path for sample in cases for path in sample.iterdir()]
    for path in paths:
        recorded = program if path.name == "model.pte" else cases[path.parent] / path.name
        assert path.read_bytes() == recorded.read_bytes(), path
    assert sum(path.stat().st_size for path in paths) <= MOST_BYTES_OF_EXECUTORCH


def test_samples_name_no_folder_of_whoever_recorded_them() -> None:
    for folder in (samples.executorch_demo_delegate, samples.executorch_xnnpack):
        content = b"".join(path.read_bytes() for path in folder.iterdir())
        assert not re.search(rb"/(?:home|root|tmp|Users)/", content)
