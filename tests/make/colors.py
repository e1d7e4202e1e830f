"""Writes tests/data/color/columns.json: colors and words of columns, as figures give them.

``python -m tests.make.colors``; the live view gives the same (js/tests/graph/colors.test.ts).
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from tvmdbg_widgets.figures.graph.colors import colors_of
from tvmdbg_widgets.figures.theme import theme_of
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, classed

FILE = Path(__file__).parents[1] / "data" / "color" / "columns.json"
NAN = math.nan
#: Entries of each node: none, one, two …
OFFSETS = [0, 1, 2, 4, 4, 5, 6, 7, 8]
#: Boxes: nodes, and closed groups of several.
BOXES = [[0], [1], [2], [3], [4], [5], [6], [7], [0, 1, 2], [3, 4], [2, 3, 4, 5, 6, 7]]


def _numbers(values: list[float], **more: Any) -> NodeColumn:
    of = (
        "nodes" if len(values) == len(OFFSETS) - 1 and not more.pop("entries", False) else "entries"
    )
    return NodeColumn("column", cast("Any", of), np.array(values), **more)


def columns() -> list[tuple[NodeColumn, tuple[float, float] | None]]:
    """Columns of every scale, with limits or without."""
    plain = [0.0, 1.0, 2.5, NAN, 4.0, 8.0, 16.0, 0.125]
    small = [1e-9, 3e-7, 0.0, NAN, 2e-4, 0.5, 3.25, math.inf]
    both = [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0, NAN, -7.5]
    texts = ["b", "a", "b", None, "c", "a", "b", "c"]
    many = [f"class {i}" for i in range(OFFSETS[-1])]
    return [
        (_numbers(plain), None),
        (_numbers(plain, together="sum", unit="B"), None),
        (_numbers(plain, together="mean", unit="dB"), (1.0, 8.0)),
        (_numbers([1e6 * each for each in plain], together="sum", unit="ns"), None),
        (_numbers(small, scale="log"), None),
        (_numbers(small, scale="log"), (1e-6, 0.1)),
        (_numbers(both), None),
        (_numbers(both, scale="symlog"), None),
        (_numbers([abs(each) for each in both], scale="diverging"), None),
        (_numbers([3.0] * 8), None),
        (_numbers([NAN] * 8), None),
        (_numbers([*plain[:4], 7.0, 7.5, NAN, -1.0], range=(0.5, 7.0), entries=True), None),
        (classed("dtype", "nodes", cast("Any", texts)), None),
        (classed("layout", "entries", cast("Any", texts)), None),
        (classed("storage", "entries", cast("Any", many[:6] + many[:2])), None),
        (classed("kinds", "entries", cast("Any", many)), None),
    ]


def vectors() -> dict[str, Any]:
    """What figures say of the columns."""
    graph = cast(
        "Any",
        SimpleNamespace(num_nodes=len(OFFSETS) - 1, entry_offsets=np.array(OFFSETS)),
    )
    found = []
    for column, limits in columns():
        colors = colors_of(graph, column, limits, BOXES)
        wire = column.to_wire()
        rows = wire.pop("data")
        wire["rows"] = [
            None if math.isnan(each) else "inf" if each == math.inf else each
            for each in np.frombuffer(rows, "<f8" if wire["classes"] is None else "<i4").tolist()
        ]
        fills = {
            theme: [colors.fill(theme_of(theme), nodes) for nodes in BOXES]
            for theme in ("light", "dark")
        }
        legend = colors.describe()
        found.append(
            {
                "column": wire,
                "limits": limits,
                "fills": fills,
                "said": [colors.said(nodes) for nodes in BOXES],
                "legend": legend,
            }
        )
    return {"offsets": OFFSETS, "boxes": BOXES, "columns": found}


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
