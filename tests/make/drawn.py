"""Writes tests/data/groups/drawn.json: what figures draw of a run with some groups open.

``python -m tests.make.drawn``; the live view draws the same (js/tests/graph_drawn.test.ts), from
the columns in tests/data/query/resnet20_cifar.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tvmdbg_widgets as tvmdbg

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
]


def cases() -> list[dict[str, Any]]:
    """Return what is drawn in each case."""
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    found = []
    for opened, options in CASES:
        case = {"color_by": "kind", "open_groups": opened, **options}
        figure = run.figure("graph", **case, width=2000)
        facts = {key: figure.description[key] for key in ("boxes", "frames", "lines")}
        found.append({"options": case, **facts})
    return found


if __name__ == "__main__":
    PATH.write_text("[\n" + ",\n".join(json.dumps(each) for each in cases()) + "\n]\n")
