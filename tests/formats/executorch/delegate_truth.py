"""Graphs of delegates as flatc decoded their payloads, from the recorded programs' truth."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.formats.executorch.xnnpack_truth import graph_of

if TYPE_CHECKING:
    from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph

FOLDER = Path(os.environ.get("TVMDBG_CORPUS", "")) / "executorch" / "xnnpack_inside"
CASES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/truth.json")))


def truth(case: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / case / "truth.json").read_bytes())
    return found


def graph_of_truth(told: dict[str, Any]) -> DelegateGraph:
    """Return the graph of an item of ``delegates``, as flatc decoded its payload."""
    return graph_of(told["graph"])
