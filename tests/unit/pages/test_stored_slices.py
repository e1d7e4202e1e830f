"""The slices of a long timeline in a page without a kernel."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.pages.stored_questions import ROOT
from unit.timeline.slices_truth import timeline

from tvmdbg_widgets.export.page.stored_page import StoredPage, store
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.run import DebugRun

COUNT = 12_000


@pytest.fixture(scope="module")
def run() -> DebugRun:
    """12,000 slices one inside another, of more names than the first answer has room for."""
    rng = np.random.default_rng(3)
    start = np.cumsum(rng.integers(50, 90, COUNT // 2)).astype(float)
    spans = [
        each
        for at in start.tolist()
        for each in ((at, 40.0, 0), (at + 7, float(rng.integers(1, 30)), 0))
    ]
    names = tuple(f"name {i} of something that takes time" for i in range(3000))
    return DebugRun(RunParts("long", timeline=timeline(spans, names, tracks=1)))


def shown(folder: Path, stored: StoredPage) -> dict[str, Any]:
    """What a view in a page gets: its first answer, and all slices."""
    (folder / "page.bin").write_bytes(stored.data)
    done = subprocess.run(
        ["node", "js/tests/stored_slices.mjs", str(folder / "page.bin")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def test_page_with_room_stores_all_slices(run: DebugRun, tmp_path: Path) -> None:
    stored = store(run.facts, budget=2_000_000, tensors=False, times=True)
    assert stored.left_out == ()
    found = shown(tmp_path, stored)
    own = run.timeline
    order = own.rows.order
    assert (found["info"]["whole"], found["info"]["binsOnly"]) == (True, None)
    assert found["start"] == own.slice_start_ns[order].tolist()
    assert found["duration"] == own.slice_duration_ns[order].tolist()
    assert found["self"] == own.rows.self_ns[order].tolist()
    assert found["names"] == [own.slice_names[each] for each in order.tolist()]


def test_page_without_room_stores_bins_and_reports_it(run: DebugRun, tmp_path: Path) -> None:
    stored = store(run.facts, budget=40_000, frame=0, tensors=False, times=True)
    (said,) = stored.left_out
    assert "12,000 slices" in said
    found = shown(tmp_path, stored)
    assert found["info"]["whole"] is False
    assert "12,000 slices" in found["info"]["binsOnly"]
    assert found["start"] is None
    assert found["bins"] == found["info"]["bins"] > 100


def test_page_without_tensors_stores_no_slices(run: DebugRun, tmp_path: Path) -> None:
    stored = store(run.facts, budget=2_000_000, tensors=False)
    assert stored.left_out == ()
    assert shown(tmp_path, stored)["start"] is None
