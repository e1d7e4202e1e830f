"""The difference of times as a color of the nodes of one of both graphs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.compared_times import ComparedTimes
from tvmdbg_widgets.analysis.compare_times.sentences import untested
from tvmdbg_widgets.analysis.compare_times.verdicts import TimeVerdict
from tvmdbg_widgets.analysis.matching import Certainty
from tvmdbg_widgets.model.graph.node_columns import NodeColumn

Floats = npt.NDArray[np.float64]

#: What graphs call these colors.
NAME = "time change"
SPEED = "speed"
#: Ratios of times beyond it have the colors of its ends, as a binary logarithm.
_MOST = 3.0


def change_column(comparison: ComparedTimes, side: int) -> NodeColumn:
    """Return by how much `b` is slower at each node; noise and what is unknown have no value.

    The difference of a function that stands for several nodes is at the last of them as they run,
    so that sums over groups count it once.
    """
    columns = comparison.columns
    aligned, told = columns.aligned, columns.verdicts.shown
    graph = (comparison.matching.graph_a, comparison.matching.graph_b)[side]
    offsets = (aligned.offsets_a, aligned.offsets_b)[side]
    nodes = (aligned.nodes_a, aligned.nodes_b)[side]
    places = np.empty(graph.num_nodes, np.int64)
    places[graph.topological_order] = np.arange(graph.num_nodes)
    row = np.repeat(np.arange(len(aligned)), np.diff(offsets))
    order = np.lexsort((places[nodes], row))
    last = order[np.append(np.diff(row[order]) > 0, [True][: len(order)])]
    values = np.full(graph.num_nodes, np.nan)
    kept = last[told[row[last]]]
    values[nodes[kept]] = columns.change_ns[row[kept]]
    return NodeColumn(
        NAME,
        "nodes",
        values,
        unit="ns",
        scale="diverging",
        together="sum",
        note=". ".join(filter(None, ("B minus A", _note(comparison, len(nodes) - len(last))))),
    )


def speed_column(comparison: ComparedTimes, side: int) -> NodeColumn:
    """Return how much slower `b` is at each node, as the binary logarithm of the ratio of times.

    All parts of a function have the value of the whole; noise, what is unknown and what has no
    match have none.
    """
    columns = comparison.columns
    aligned, verdict = columns.aligned, columns.verdicts.verdict
    alone = (verdict == TimeVerdict.ONLY_A) | (verdict == TimeVerdict.ONLY_B)
    offsets = (aligned.offsets_a, aligned.offsets_b)[side]
    nodes = (aligned.nodes_a, aligned.nodes_b)[side]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log2(columns.b.ns / columns.a.ns)
    ratios[~(columns.verdicts.shown & ~alone & np.isfinite(ratios))] = np.nan
    graph = (comparison.matching.graph_a, comparison.matching.graph_b)[side]
    values = np.full(graph.num_nodes, np.nan)
    values[nodes] = np.repeat(ratios, np.diff(offsets))
    most = float(np.nanmax(np.abs(ratios), initial=0))
    ends = min(most, _MOST)
    return NodeColumn(
        SPEED,
        "nodes",
        values,
        unit="×",
        scale="diverging",
        range=(-ends, ends) if ends > 0 else None,
        together="ratio",
        note=_note(comparison),
        terms=_terms(comparison, side),
    )


def _terms(comparison: ComparedTimes, side: int) -> tuple[Floats, Floats]:
    """Return the times of `a` and of `b` at each node of one side, whatever is noise.

    The time of what stands for several nodes is shared out among them as theirs are, that of a
    call evenly: any of its nodes together have the ratio of the call.
    """
    columns, graphs = comparison.columns, (comparison.matching.graph_a, comparison.matching.graph_b)
    offsets = (columns.aligned.offsets_a, columns.aligned.offsets_b)[side]
    nodes = (columns.aligned.nodes_a, columns.aligned.nodes_b)[side]
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    own = comparison.node_ns(side)[nodes]
    whole = np.bincount(row, np.nan_to_num(own), minlength=len(offsets) - 1)[row]
    count = np.diff(offsets)[row]
    found = []
    for ns in (columns.a.ns, columns.b.ns):
        terms = np.full(graphs[side].num_nodes, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms[nodes] = ns[row] * np.where(whole > 0, own / whole, 1 / count)
        found.append(terms)
    unsure = np.zeros(graphs[side].num_nodes, np.bool_)
    unsure[nodes] = (columns.aligned.certainty > Certainty.LIKELY)[row]
    missing = np.isnan(found[0]) | np.isnan(found[1]) | unsure
    for terms in found:
        terms[missing] = np.nan
    return found[0], found[1]


def _note(comparison: ComparedTimes, parts: int = 0) -> str:
    """What has no color, and what has one that no test confirms."""
    verdicts = comparison.columns.verdicts
    unknown = (verdicts.verdict == TimeVerdict.UNKNOWN) & ~verdicts.shown
    counts = (
        (int((verdicts.verdict == TimeVerdict.NOISE).sum()), "within noise"),
        (int(unknown.sum()), "unknown"),
        (parts, "counted at the last part of a function"),
    )
    told = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    without = f"without color: {told}" if told else ""
    return ". ".join(filter(None, (without, untested(comparison.columns))))
