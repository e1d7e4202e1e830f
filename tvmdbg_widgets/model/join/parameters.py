"""A model's parameters joined to the null nodes of its graph."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.join.agreement import Declared, agreeing
from tvmdbg_widgets.model.join.placement import KeyedArray, Placed
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.tensors import Tensor, Tensors


def join_parameters(graph: Graph | None, records: Iterable[ArrayRecord]) -> tuple[Tensors, Issues]:
    """Join a model's parameters to the graph's null nodes by name.

    Of several with one name the last counts, as for TVM. Without a graph all parameters are
    numbered in the order given.
    """
    if graph is None:
        numbered = enumerate(records)
        return Tensors(
            Tensor(record, i, 0, name=record.key, trust=Trust.BY_ORDER) for i, record in numbered
        ), Issues()
    null: dict[str, list[int]] = defaultdict(list)
    for node in np.flatnonzero(graph.kinds <= NodeKind.PARAMETER).tolist():
        null[graph.names[node]].append(node)
    declared = Declared(graph)
    found = []
    unknown = []
    reshaped: list[Placed] = []
    issues: list[Issue] = []
    for record in {record.key: record for record in records}.values():
        nodes = null.get(record.key, [])
        if len(nodes) != 1 or not len(graph.entry_range(nodes[0])):
            unknown.append(record)
            continue
        array = KeyedArray(record, record.key, None, 0)
        placed = Placed(array, nodes[0], 0, Trust.BY_NAME)
        found_issues: list[Issue] = []
        settled, notes = agreeing(declared, placed, found_issues, record.file)
        shape = graph.shape(nodes[0])
        if (
            len(found_issues) == 1
            and shape != record.shape
            and math.prod(shape or ()) == record.size
        ):
            reshaped.append(placed._replace(notes=notes))
        else:
            issues += found_issues
        found.append(
            Tensor(settled, nodes[0], 0, name=record.key, trust=Trust.BY_NAME, notes=notes)
        )
    if unknown:
        issues.append(
            Issue(
                "parameter-names",
                IssueSeverity.WARNING,
                f"{counted(len(unknown), 'parameter')} {agree(len(unknown), 'has')} no input of "
                f"{agree(len(unknown), 'its')} name in the graph, or "
                f"several{agree(len(unknown), ':', '; the first is')} {unknown[0].key!r}",
                file=unknown[0].file,
            )
        )
    if reshaped:
        first = reshaped[0]
        issues.append(
            Issue(
                "parameter-reshaped",
                IssueSeverity.NOTE,
                f"{counted(len(reshaped), 'parameter')} {agree(len(reshaped), 'has')} another "
                "shape of as many elements than in the "
                f"graph, which TVM accepts{agree(len(reshaped), ':', '; the first is')} "
                f"{first.array.name!r}, {first.notes[0]}",
                nodes=tuple(each.node for each in reshaped),
                entries=tuple(each.entry for each in reshaped),
                file=first.array.record.file,
            )
        )
    return Tensors(found), Issues(issues)
