"""Run notebooks in place and keep their figures and texts, without widget state.

``python -m tests.make.notebooks`` from the project's root; followed by names, only these.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}
WIDGET = "application/vnd.jupyter.widget-view+json"


def client(notebook: nbformat.NotebookNode, folder: Path = NOTEBOOKS) -> NotebookClient:
    """Return what runs a notebook in a folder; all that a cell prints is one output."""
    from nbclient import NotebookClient  # imports jsonschema, which takes seconds

    return NotebookClient(
        notebook,
        timeout=600,
        store_widget_state=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )


def without_widgets(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Return the outputs that are seen without a kernel."""
    return [each for each in outputs if WIDGET not in each.get("data", {})]


def main(names: list[str]) -> None:
    """Execute and write the notebooks of these names, all where there are none."""
    import nbformat

    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        notebook = nbformat.read(path, as_version=4)
        client(notebook).execute()
        notebook.metadata = METADATA
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
            if "outputs" in cell:
                cell.outputs = without_widgets(cell.outputs)
        nbformat.write(notebook, path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
