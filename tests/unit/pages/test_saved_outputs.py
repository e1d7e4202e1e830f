"""What a cell keeps of a view, and what pages without a kernel make of that."""

import re
import warnings
from pathlib import Path

import nbformat
import pytest
from make.notebooks import ROOT, WIDGET, client

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
STRAY = re.compile(r"&lt;[A-Z]\w+ of|model not found|Loading widget|live in a notebook")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    return executed(tmp_path_factory.mktemp("saved"), *CELLS)


def test_view_and_its_figure_are_separate_outputs(saved: nbformat.NotebookNode) -> None:
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
def test_converted_notebook_shows_every_figure_once(
    saved: nbformat.NotebookNode, with_state: bool
) -> None:
    import nbformat
    from nbconvert import HTMLExporter

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


SLOW = """import time
from tvmdbg_widgets.analysis.tensor_scan import TensorScan
look = TensorScan._scan_batches
def late(self, tensors):
    time.sleep(1.5)
    return look(self, tensors)
TensorScan._scan_batches = late
import tvmdbg_widgets as tvmdbg
run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)"""


def executed(folder: Path, *cells: str) -> nbformat.NotebookNode:
    """A notebook of these cells, run."""
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        client(notebook, folder).execute()
    return notebook


def test_figure_output_is_updated_in_place(tmp_path: Path) -> None:
    _, shown, after = executed(tmp_path, SLOW, "run", "time.sleep(4)").cells
    assert [WIDGET in each.data for each in shown.outputs] == [True, False]
    assert "First Inf in #38 conv2d" in shown.outputs[1].data["text/plain"]
    assert after.outputs == []


def test_kernel_that_ends_before_the_scan_keeps_the_first_figure(tmp_path: Path) -> None:
    _, shown = executed(tmp_path, SLOW, "run").cells
    assert len(shown.outputs) == 2
    assert "First Inf" not in shown.outputs[1].data["text/plain"]
    assert "#60 conv2d + add + add + relu; float16" in shown.outputs[1].data["text/plain"]
