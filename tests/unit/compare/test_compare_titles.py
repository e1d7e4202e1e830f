"""What two compared runs are called."""

import shutil
from pathlib import Path

import pytest

import tvmdbg_widgets as tvmdbg


def test_folders_distinguish_runs_of_the_same_name(corpus: Path, tmp_path: Path) -> None:
    for name, case in (("before", "resnet20_cifar"), ("after", "resnet20_two_devices")):
        folder = tmp_path / name / "tvmdbg"
        folder.mkdir(parents=True)
        shutil.copy(corpus / "tvm" / case / "graph.json", folder / "_tvmdbg_graph_dump.json")
    a, b = (tvmdbg.open(tmp_path / name / "tvmdbg") for name in ("before", "after"))
    assert a.title == b.title == "tvmdbg"
    found = tvmdbg.compare(a, b)
    assert found.titles == ("before/tvmdbg", "after/tvmdbg")
    assert found.title == "A: before/tvmdbg, B: after/tvmdbg"
    assert tvmdbg.compare(a, a).titles == ("tvmdbg", "tvmdbg")
    view = tvmdbg.ComparisonView(a, b, titles=["O2", "O3"])
    assert view.comparison.titles == ("O2", "O3")
    for wrong in ("ab", ["one"], ["", "x"]):
        with pytest.raises(ValueError, match="two texts"):
            tvmdbg.compare(a, b, titles=wrong)
