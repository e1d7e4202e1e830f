"""Broken files of ExecuTorch: each opens as far as it can be read, or is refused by name."""

from __future__ import annotations

from functools import cache

import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import FOLDER, case_dir
from tests.formats.damages import damages
from tvmdbg_widgets import FormatError

FILES = {
    "etdump": case_dir("06a_demo_generated_ids") / "etdump.etdp",
    "etrecord": case_dir("06a_demo_generated_ids") / "etrecord.bin",
    "buffer": case_dir("06a_demo_generated_ids") / "debug_buffer.bin",
    "program": FOLDER / "pte" / "06a_demo_generated_ids.pte",
}


@cache
def content(part: str) -> bytes:
    return FILES[part].read_bytes()


def opened(**changed: bytes) -> None:
    """Open the files of a run and ask what a view asks; only a FormatError may come."""
    given_files = {part: content(part) for part in FILES} | changed
    buffer = given_files.pop("buffer")
    try:
        run = tvmdbg.open(*given_files.values(), debug_buffer=buffer)
    except FormatError:
        return
    assert run.summary()
    run.check()
    if run.graph is not None:
        assert len(run.groups.order) == run.graph.num_nodes
    for tensor in (run.tensors or {}).values():
        tensor.numpy()


@pytest.mark.parametrize("part", FILES)
def test_run_with_one_damaged_file_opens_or_is_rejected(part: str) -> None:
    for _, data in [*damages(content(part))][::8]:
        opened(**{part: data})


def test_files_of_different_runs_are_reported() -> None:
    other = (case_dir("01_mlp_portable") / "etdump.etdp").read_bytes()
    run = tvmdbg.open(other, content("etrecord"))
    assert run.check().by_rule("executorch-disagree")
