"""Constants of programs, against the weights that torch saved of the same models."""

from __future__ import annotations

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import FOLDER, case_dir
from tvmdbg_widgets.formats import limits
from tvmdbg_widgets.formats.executorch.torch_file import read_torch_file
from tvmdbg_widgets.sources.file_source import FileSource
from tvmdbg_widgets.sources.unpacking import read_directory

OVERLAP = "constants-overlap"
REBUILT = ("01_mlp_portable", "04_transformer_portable", "06a_demo_generated_ids")


@pytest.mark.parametrize("name", REBUILT)
def test_constants_match_the_model_weights(name: str) -> None:
    run = tvmdbg.open(FOLDER / "pte" / f"{name}.pte")
    directory = read_directory(FileSource(case_dir(name) / "etrecord.bin"))
    member = directory.members["edge_dialect_exported_program/forward_state_dict"]
    weights = [np.asarray(each) for each in read_torch_file(member.source).values()]
    assert len(run.tensors) == len(weights)
    for tensor in run.tensors.values():
        values = tensor.numpy()
        assert any(
            values.shape == each.shape and np.array_equal(values, each) for each in weights
        ), tensor


def test_external_constants_are_in_the_named_data() -> None:
    program, data = (FOLDER / "pte" / f"zoo_external.{ext}" for ext in ("pte", "ptd"))
    assert tvmdbg.open(program).tensors is None
    names = {tensor.name for tensor in tvmdbg.open(data, program).tensors.values()}
    assert names == {"linear.weight", "linear.bias", "scale"}


def test_a_program_in_a_bundle_has_its_constants() -> None:
    bundled = tvmdbg.open(case_dir("14_bundled") / "model.bpte").tensors
    alone = tvmdbg.open(FOLDER / "pte" / "14_bundled.pte").tensors
    assert bundled.keys() == alone.keys()
    for entry, tensor in bundled.items():
        np.testing.assert_array_equal(tensor.numpy(), alone[entry].numpy())


def test_uncertain_nodes_are_reported() -> None:
    run = tvmdbg.open(FOLDER / "pte" / "06a_demo_generated_ids.pte")
    (note,) = run.check().by_rule("program-uncertain")
    assert all("uncertain" in run.graph.attrs[node] for node in note.nodes)


def test_shared_bytes_of_constants_and_logged_values_are_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a limit, thousands of tensors of one segment take terabytes to look at."""
    assert not tvmdbg.open(FOLDER / "pte" / f"{REBUILT[0]}.pte").check().by_rule(OVERLAP)
    logged = tvmdbg.open(case_dir(REBUILT[0]))
    assert logged.tensors
    assert not logged.check().by_rule("debug-value")
    monkeypatch.setattr(limits, "SHARES", 0)
    monkeypatch.setattr(limits, "FEW_BYTES", 100)
    run = tvmdbg.open(FOLDER / "pte" / f"{REBUILT[0]}.pte")
    (issue,) = run.check().by_rule(OVERLAP)
    assert "again and again" in issue.message
    again = tvmdbg.open(case_dir(REBUILT[0]))
    assert again.check().by_rule("debug-value")
    assert len(again.tensors or ()) < len(logged.tensors)
