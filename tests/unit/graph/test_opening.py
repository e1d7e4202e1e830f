"""A params file opens on a tensor that has something to say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HERE

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.opening import opening_tensor
from tvmdbg_widgets.formats.tvm.params.survey import write_params

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
    opening = opening_tensor(zoo.facts)
    assert opening.size


def test_run_opens_on_slowest_operator_or_first_fault_once_scanned() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    slowest = opening_tensor(run.facts)
    assert slowest.node == int(np.nanargmax(run.timeline.node_ns))
    run.findings()
    fault = opening_tensor(run.facts)
    assert fault.node == FIRST_INF
