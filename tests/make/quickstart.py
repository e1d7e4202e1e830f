"""Write notebooks/quickstart.ipynb from its cells, executed, without widget state.

Run from the project's root: ``python -m tests.make.quickstart``.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "quickstart.ipynb"

MARKDOWN, CODE = new_markdown_cell, new_code_cell


def cells() -> list[nbformat.NotebookNode]:
    """The manual's first page."""
    return [
        MARKDOWN(
            "# One run, three linked views\n\n"
            "TVM's debugger leaves a graph, a file of tensors, a trace and a printed table. None of "
            "them knows the others. Opened together they are one run: select a slow slice, and the "
            "graph moves to its node and the inspector to its output.\n\n"
            "A saved notebook shows figures; for the live views choose *Run ▸ Run All Cells*."
        ),
        MARKDOWN(
            "## Open\n\n"
            "Two real dumps ride with the package. Yours opens the same way: "
            '`tvmdbg.open("/tmp/tvmdbg")` takes the folder the debugger wrote, one of its files, or '
            "several."
        ),
        CODE(
            "import tvmdbg_widgets as tvmdbg\n\n"
            "run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)\n"
            "run"
        ),
        MARKDOWN(
            "**Find the slowest operator, in three steps.**\n\n"
            "1. Look at the first row of the table on the lower right: `#62`, 6.4 % of the time. "
            "Its repeats are the dots in the row.\n"
            "2. Click it. The graph moves to the node, and the tensor view shows what it computed.\n"
            "3. Read the node's details: a `conv2d + add + relu` in the last stage, with 64 channels.\n\n"
            "By keyboard: <kbd>Tab</kbd> to the graph, <kbd>s</kbd> goes to the slowest node, the arrow "
            "keys walk along edges, <kbd>?</kbd> lists all keys."
        ),
        MARKDOWN("The same in Python, for a bug report or a script:"),
        CODE("run.top(5)"),
        CODE("run.session.select(run.top(1)[0].node)\nrun.session.node"),
        MARKDOWN(
            "What is a number on this screen worth? `check()` lists all that disagrees or is "
            "uncertain. This dump is sound; two notes say what no dump of this kind can tell."
        ),
        CODE("run.check()"),
        MARKDOWN(
            "## A model that answers NaN\n\n"
            "The same network in float16, with weights that are too large in one place. Its output is "
            "NaN throughout."
        ),
        CODE(
            "broken = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)\n"
            "broken.tensors[broken.graph.outputs[0]].numpy()"
        ),
        MARKDOWN(
            "**Find where the first inf is born, in three steps.** The three views stand in cells of "
            "their own this time; they are linked all the same.\n\n"
            "1. Walk through the tensors in the order of execution: <kbd>]</kbd> in the tensor view "
            "goes to the next, and the pill under its name turns red where something is not finite.\n"
            "2. Stop at `#38`: 59 values are +Inf, none is NaN. The next operator already holds NaN.\n"
            "3. The graph is at that node now. Its inputs are finite: this operator made them."
        ),
        CODE("tvmdbg.TensorInspector(broken, entry=(38, 0))"),
        CODE("tvmdbg.GraphView(broken, focus=38, height=380)"),
        CODE("tvmdbg.Flamechart(broken)"),
        MARKDOWN("Or ask for it, in execution order:"),
        CODE(
            "for tensor in broken.tensors.values():\n"
            "    health = tensor.statistics()\n"
            "    if health.finite < health.size:\n"
            '        print(f"{tensor.node}:{tensor.output} {tensor.name}")\n'
            '        print(f"  {health.pos_inf} +Inf, {health.neg_inf} -Inf, {health.nan} NaN, '
            'largest finite {health.maximum}")\n'
            "        break"
        ),
        CODE(
            "[\n"
            "    (source, output, bool(broken.tensors[source, output].statistics().finite == "
            "broken.tensors[source, output].size))\n"
            "    for source, output in broken.graph.nodes[tensor.node].inputs\n"
            "]"
        ),
        MARKDOWN(
            "Every input is finite, and the largest float16 is 65504: the sum in this convolution went "
            "over it. `tensor.numpy()` gives the values, `tensor[0, 3]` a part without reading the rest."
        ),
        CODE("broken.tensors[38].numpy()[0, :2, :3, :3]"),
    ]


def main() -> None:
    """Execute the cells and write the notebook: figures and text, no widget state."""
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    notebook = new_notebook(cells=cells(), metadata=metadata)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    NotebookClient(notebook, timeout=120, store_widget_state=False).execute()
    notebook.metadata = metadata
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
