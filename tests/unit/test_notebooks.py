"""Every notebook runs, says what was committed, and carries figures but no widget state.

`python -m tests.make.notebooks` runs them anew.
"""

from pathlib import Path

import nbformat
import pytest
from make.notebooks import ROOT, WIDGET, client, without_widgets

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_BYTES = 100_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_outputs_match_committed_outputs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat

    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # of the kernel, which starts elsewhere
    committed = nbformat.read(path, as_version=4)
    fresh = nbformat.from_dict(committed)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client(fresh, tmp_path).execute()
    assert not list(tmp_path.iterdir())
    for old, new in zip(committed.cells, fresh.cells, strict=True):
        if old.cell_type == "code":
            assert _texts(new) == _texts(old), old.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_has_figures_and_no_widget_state(path: Path) -> None:
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    assert "widgets" not in notebook.metadata
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", [])]
    bundles = [each.data for each in outputs if "data" in each]
    assert not any(WIDGET in data for data in bundles)
    assert sum("image/svg+xml" in data for data in bundles) >= 4
    for data in bundles:
        assert sum(len(str(value)) for value in data.values()) <= MOST_BYTES
        assert "<script" not in data.get("text/html", "")


def _texts(cell: nbformat.NotebookNode) -> list[str]:
    """What a cell says, but for progress bars, which a busy machine shows."""
    found = []
    for output in without_widgets(cell.outputs):
        assert output.output_type != "error", output
        if output.get("name") == "stderr":
            continue
        found.append(output.text if output.output_type == "stream" else output.data["text/plain"])
    return found
