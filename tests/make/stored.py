"""Writes tests/data/stored: the data of small pages, and what the kernel answers to some questions.

``python tests/make/stored.py`` from the repository's root; js/tests/page/stored.test.ts asks them.
"""

import base64
import json
from pathlib import Path
from typing import Any

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.export.page.stored_page import store

DATA = Path(__file__).parents[1] / "data"
WINDOW = {"axes": [None, 0], "index": [0], "row": 0, "col": 0, "rows": 1, "cols": 3}
KINDS = ("values", "tensor", "statistics", "data")


def written(source: Any, asked: list[dict[str, Any]]) -> str:
    """Content of one file: a page's data, and questions with the kernel's results."""
    run = tvmdbg.open(source)
    stored = store(run.facts, budget=5_000_000, share="tensors", parameters=True)
    answers = [[each, answer(run.facts, each).result] for each in asked]
    page = base64.b64encode(stored.data).decode()
    return json.dumps({"page": page, "answers": answers}, indent=0, ensure_ascii=False) + "\n"


def main() -> None:
    """Write graph.json and zoo.json."""
    folder = DATA / "stored"
    folder.mkdir(exist_ok=True)
    graph = (DATA / "graph/split_multi_v0.19/_tvmdbg_graph_dump.json").read_bytes()
    zoo = (DATA / "params/zoo/zoo.params").read_bytes()
    nodes = tvmdbg.open(graph).graph.num_nodes
    asked = [{"kind": "node", "node": node} for node in range(nodes)]
    (folder / "graph.json").write_text(written(graph, asked), encoding="utf-8")
    asked = []
    for (node, output), tensor in tvmdbg.open(zoo).tensors.items():
        if len(tensor.view_shape) == 1 and tensor.view_shape[0]:
            window = {"entry": [node, output], **WINDOW, "format": "hex", "exact": True}
            asked += [{"kind": kind, **window} for kind in KINDS]
    (folder / "zoo.json").write_text(written(zoo, asked), encoding="utf-8")


if __name__ == "__main__":
    main()
