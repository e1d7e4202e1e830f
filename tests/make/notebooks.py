"""Run every notebook in place and keep its figures and texts, without widget state.

``python -m tests.make.notebooks`` from the project's root.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}
WIDGET = "application/vnd.jupyter.widget-view+json"


def main() -> None:
    """Execute and write all notebooks."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=120, store_widget_state=False).execute()
        notebook.metadata = METADATA
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
            for output in cell.get("outputs", []):
                output.get("data", {}).pop(WIDGET, None)
        nbformat.write(notebook, path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
