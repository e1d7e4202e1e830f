"""What a page needs of each node beyond the columns of graph and timeline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.graph.view_columns import fact_columns
from tvmdbg_widgets.answers.node import candidates_text
from tvmdbg_widgets.export.page.stored.paths import PathEraser
from tvmdbg_widgets.model.base.strings import StringColumn


def node_columns(run: Derived, eraser: PathEraser) -> dict[str, Any]:
    """Return attributes, notes, storage scopes and the producers an edge may have instead.

    Those of :func:`fact_columns`; ``noteNode`` and ``notes``; ``scopes`` (E, or empty); ``edge``
    and ``candidates``: what follows the text of an input that comes over an ambiguous edge.
    """
    graph = run.graph
    if graph is None:
        raise KeyError("this run has no graph")
    notes = _notes(run)
    edges = sorted(graph.edge_candidates)
    return {
        **fact_columns(graph, eraser.text),
        "noteNode": np.array([node for node, _ in notes], np.int32),
        "notes": _strings(eraser.text(note) for _, note in notes),
        "scopes": graph.storage_scopes if graph.storage_scopes is not None else _strings(()),
        "edge": np.array(edges, np.int32),
        "candidates": _strings(candidates_text(graph, edge) for edge in edges),
    }


def _strings(texts: Iterable[str]) -> StringColumn:
    return StringColumn.from_strings(texts)


def _notes(run: Derived) -> list[tuple[int, str]]:
    """Notes by node, in the order and without the repetitions of ``answers_node``."""
    found: dict[int, dict[str, None]] = {}
    for issue in run.check():
        for node in issue.nodes:
            found.setdefault(node, {})[issue.message] = None
    for (node, _), tensor in (run.tensors or {}).items():
        for note in tensor.notes:
            found.setdefault(node, {})[note] = None
    return [(node, note) for node, notes in found.items() for note in notes]
