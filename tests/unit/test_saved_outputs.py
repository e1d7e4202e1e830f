"""What a cell keeps of a view, and what pages without a kernel make of that."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

import nbformat
import pytest
from make.notebooks import ROOT, WIDGET, client
from nbconvert import HTMLExporter

if TYPE_CHECKING:
    from pathlib import Path

CELLS = [
    """import tvmdbg_widgets as tvmdbg
run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
plain = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
view = tvmdbg.MemoryView(run)""",
    "run",
    "tvmdbg.ComparisonView(run, plain)",
    "view",
    "for each in (run, view, view):\n    display(each)",
]
VIEWS = [0, 1, 1, 1, 3]
MOST_BYTES = 100_000
STRAY = re.compile(r"&lt;[A-Z]\w+ of|model not found|Loading widget|alive in a notebook")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    folder: Path = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        client(notebook, folder).execute()
    return notebook


def test_a_view_and_its_figure_are_outputs_of_their_own(saved: nbformat.NotebookNode) -> None:
    for cell, count in zip(saved.cells, VIEWS, strict=True):
        bundles = [each.data for each in cell.outputs]
        live, figures = bundles[::2], bundles[1::2]
        assert len(live) == len(figures) == count
        for view, figure in zip(live, figures, strict=True):
            assert set(view) == {WIDGET, "text/html"}
            assert view["text/html"] == ""
            assert set(figure) == {"text/plain", "text/html", "image/svg+xml"}
            assert sum(len(str(each)) for each in (*view.values(), *figure.values())) <= MOST_BYTES
        ids = {re.findall(r"tvmdbg-saved-(\w+)", figure["text/html"])[0] for figure in figures}
        assert len(ids) == len({view[WIDGET]["model_id"] for view in live})


@pytest.mark.parametrize("with_state", [False, True])
def test_a_converted_notebook_shows_each_figure_once(
    saved: nbformat.NotebookNode, with_state: bool
) -> None:
    notebook = nbformat.from_dict(saved)
    if with_state:
        ids = [each.data[WIDGET]["model_id"] for cell in saved.cells for each in cell.outputs[::2]]
        state = {"version_major": 2, "version_minor": 0, "state": {each: {} for each in ids}}
        kept = "application/vnd.jupyter.widget-state+json"
        notebook = nbformat.from_dict({**saved, "metadata": {"widgets": {kept: state}}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page, _ = HTMLExporter().from_notebook_node(notebook)
    assert len(re.findall(r'<img alt="[^"]*" src="data:image/svg', page)) == sum(VIEWS)
    assert "<svg" not in page
    assert not STRAY.search(page)
