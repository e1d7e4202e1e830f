"""Writes tests/data/groups/drawn.json: what figures draw of a run with some groups open.

``python -m tests.make.drawn``; the live view draws the same (js/tests/graph/drawn.test.ts), from
the columns in tests/data/query/resnet20_cifar.json.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.figures.request import graph_request
from tvmdbg_widgets.figures.shown_part import GraphFigureOptions
from tvmdbg_widgets.model.health import VERDICTS, HealthVerdict

PATH = Path(__file__).parents[1] / "data/groups/drawn.json"
#: Open groups, and options of the figure: none, all, a run but none of its blocks, some of all.
CASES: list[tuple[list[int], dict[str, Any]]] = [
    ([], {}),
    ([], {"color_by": "time"}),
    (list(range(12)), {"color_by": "time"}),
    ([0], {"fold_parameters": False}),
    ([0, 2, 4, 9], {"color_by": "time"}),
    ([0, 2, 4, 9], {"isolate": {"kind": "upstream", "nodes": [15]}}),
    ([9, 10], {"hidden": ["#31"], "color_by": "dtype"}),
    ([0, 2], {"faults": {"2": 2, "6": 2, "9": 9, "12": 9, "70": -1}}),
]


def health(sources: dict[str, int], nodes: int) -> Reply:
    """Return what a run answers where these nodes are faulty, each with where that came from."""
    columns = {
        "node": np.arange(nodes, dtype=np.int32),
        "output": np.zeros(nodes, np.int32),
        "verdict": np.full(nodes, VERDICTS.index(HealthVerdict.OK), np.uint8),
        "rank": np.arange(nodes, dtype=np.int32),
        "source": np.full(nodes, -1, np.int32),
    }
    for node, source in sources.items():
        columns["verdict"][int(node)] = VERDICTS.index(HealthVerdict.FAULTY)
        columns["source"][int(node)] = source
    packed, buffer = pack(columns)
    told = dict.fromkeys(("words", "brief"), [""] * nodes)
    return Reply({"state": "done", "total": nodes, **told, "columns": packed}, (buffer,))


def cases() -> list[dict[str, Any]]:
    """Return what is drawn in each case."""
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    assert run.graph is not None
    found = []
    for opened, options in CASES:
        case = {"color_by": "kind", "open_groups": opened, **options}
        asked = {name: value for name, value in case.items() if name != "faults"}
        request = graph_request(run.facts, GraphFigureOptions(**asked))
        marked = health(case.get("faults", {}), run.graph.num_nodes)
        figure = replace(request, replies=partial(dict, health=marked)).figure(
            width=2000, theme="light"
        )
        facts = {key: figure.description[key] for key in ("boxes", "frames", "lines")}
        found.append({"options": case, **facts})
    return found


if __name__ == "__main__":
    PATH.write_text("[\n" + ",\n".join(json.dumps(each) for each in cases()) + "\n]\n")
