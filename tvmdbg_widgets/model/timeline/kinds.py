"""Op kinds of slices by name, and joins of traces, tables and lists of times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import Issue, IssueLog, Issues, IssueSeverity
from tvmdbg_widgets.model.graph.graph import Graph, node_op_kinds
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind
from tvmdbg_widgets.model.refs import NodeJoin, by_position
from tvmdbg_widgets.model.timeline.builders import from_table
from tvmdbg_widgets.model.timeline.node_sets import by_count
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.int64]

#: Generated names of nodes of which only times are known.
_NUMBERED = re.compile(r"node \d+")
_OTHER = "other"
_UNKNOWN = 0
_known: WeakKeyDictionary[Timeline, tuple[Graph | None, list[str]]] = WeakKeyDictionary()


def name_kinds(timeline: Timeline, graph: Graph | None) -> list[str]:
    """Return the op kinds of the distinct slice names."""
    known = _known.get(timeline)
    if known is None or known[0] is not graph:
        known = _known[timeline] = (graph, _name_kinds(timeline, graph))
    return known[1].copy()


def _name_kinds(timeline: Timeline, graph: Graph | None) -> list[str]:
    result = [
        _OTHER if _NUMBERED.fullmatch(name) else op_kind(name, NodeKind.OPERATOR)
        for name in timeline.slice_names.unique
    ]
    table = {_OTHER: _UNKNOWN}
    codes = timeline.slice_names.codes.astype(np.int64)
    kinds = np.array([table.setdefault(kind, len(table)) for kind in result], np.int64)[codes]
    if graph is not None and graph.num_nodes:
        of_node = node_op_kinds(graph)
        node = timeline.slice_node
        known = (node >= 0) & (node < graph.num_nodes)
        own = np.array([table.setdefault(kind, len(table)) for kind in of_node.unique], np.int64)
        kinds = np.where(known, own[of_node.codes[np.where(known, node, 0)]], kinds)
    if not kinds.any() or _OTHER not in result:
        return result
    return _agreed(result, codes, _inherited(kinds, timeline), list(table))


def _inherited(kinds: Ints, timeline: Timeline) -> Ints:
    """Return the kind of each slice: its own, else its outer slice's, else its cause's."""
    parent = timeline.rows.parent.astype(np.int64)
    inherited = _of_outer(kinds, parent)
    flows = timeline.flows
    if not len(flows):
        return inherited
    led = inherited[flows.flow_from]
    kept = np.flatnonzero((inherited[flows.flow_to] == _UNKNOWN) & (led != _UNKNOWN))[::-1]
    inherited[flows.flow_to[kept]] = led[kept]
    return _of_outer(inherited, parent)


def _of_outer(kinds: Ints, parent: Ints) -> Ints:
    """Give slices without a kind that of the nearest slice around them."""
    filled, outer = kinds.copy(), parent.copy()
    while len(open_ := np.flatnonzero((filled == _UNKNOWN) & (outer >= 0))):
        around = outer[open_]
        filled[open_], outer[open_] = filled[around], outer[around]
    return filled


def _agreed(own: list[str], codes: Ints, kinds: Ints, words: list[str]) -> list[str]:
    """Return the kinds of names; a missing one is the unanimous kind of most of its slices."""
    size = len(own)
    count = np.bincount(codes, minlength=size)
    known = kinds != _UNKNOWN
    with_kind = np.bincount(codes[known], minlength=size)
    least, most = np.full(size, len(words)), np.zeros(size, np.int64)
    np.minimum.at(least, codes[known], kinds[known])
    np.maximum.at(most, codes[known], kinds[known])
    one = (least == most) & (2 * with_kind >= count)
    return [
        words[kind] if name == _OTHER and sure else name
        for name, kind, sure in zip(own, least.tolist(), one.tolist(), strict=True)
    ]


def combine(trace: Timeline, table: Timeline, *, rounding_ns: float) -> Timeline:
    """Join the full precision of a trace with the repeats of a table of the same run."""
    if trace.num_nodes != table.num_nodes:
        raise ValueError(
            f"the trace's timeline is for {counted(trace.num_nodes, 'node')}, the table's for "
            f"{table.num_nodes}"
        )
    slack = rounding_ns + 16 * float(np.spacing(max(trace.span_ns, 1.0)))
    with np.errstate(invalid="ignore"):
        apart = np.flatnonzero(np.abs(trace.node_ns - table.node_ns) > slack)
    row_issues = IssueLog("")
    if len(apart):
        first = int(apart[0])
        both = int(np.count_nonzero(np.isfinite(trace.node_ns) & np.isfinite(table.node_ns)))
        message = (
            f"{len(apart)} of {counted(both, 'node time')} {agree(len(apart), 'differs')} by "
            f"more than the table's rounding: node {first} takes "
            f"{trace.node_ns[first] / 1e3:.9g} µs in {', '.join(trace.sources)} and "
            f"{table.node_ns[first] / 1e3:.9g} µs in {', '.join(table.sources)}; the files "
            "may come from different runs. The trace's times are shown"
        )
        row_issues.warning("times-disagree", message, apart)
    unknown = np.isnan(trace.node_ns)
    return replace(
        trace,
        repeats_offsets=table.repeats_offsets,
        repeats_ns=table.repeats_ns,
        node_ns=np.where(unknown, table.node_ns, trace.node_ns),
        node_trust=np.where(unknown, table.node_trust, trace.node_trust),
        sources=trace.sources + table.sources,
        issues=Issues((*trace.issues, *table.issues, *row_issues)),
    )


Floats = npt.NDArray[np.float64]


def join_list(
    node_names: StringColumn, names: Sequence[str] | None, count: int, *, file: str
) -> NodeJoin:
    """Join the items of a list of node times to nodes by position, or by name if they differ."""
    issues: list[Issue] = []
    differing: list[int] = []
    if names is not None:
        nodes, trust, differing = by_position(node_names, names)
    else:
        fits = count == len(node_names)
        nodes = np.arange(count, dtype=np.int32) if fits else np.full(count, -1, np.int32)
        trust = np.full(count, Trust.BY_ORDER if fits else Trust.ABSENT, np.uint8)
    if count != len(node_names) or differing:
        text = (
            f"the list has times of {counted(count, 'node')}, the run "
            f"{counted(len(node_names), 'node')}"
        )
        if differing and names is not None:
            text += (
                f"; {counted(len(differing), 'name')} {agree(len(differing), 'differs')} at "
                f"{agree(len(differing), 'its')} "
                f"position{agree(len(differing), ':', ', the first is')} {names[differing[0]]!r} "
                f"at {differing[0]}. Nodes are matched by name where it is unique"
            )
        elif names is None:
            text += ", and it names none: it is not used"
        issues.append(Issue("times-length", IssueSeverity.WARNING, text, file=file))
    return NodeJoin(nodes, trust, Issues(issues))


def from_list(
    node_names: StringColumn,
    offsets: Ints,
    repeats_ns: Floats,
    join: NodeJoin,
    *,
    source: str,
    issues: Iterable[Issue] = (),
) -> Timeline:
    """Make the timeline of a list of repeats: means back to back in node order."""
    counts = np.diff(offsets)
    kept = np.flatnonzero((join.nodes >= 0) & (counts > 0))
    means = np.full(len(counts), np.nan)
    finite = np.isfinite(repeats_ns)
    known = np.concatenate(([0], np.cumsum(finite)))[offsets]
    for _, items, own in by_count(known, repeats_ns[finite]):
        means[items] = own.mean(axis=1)
    nodes = join.nodes[kept]
    names = type(node_names)(node_names.unique, node_names.codes[nodes])
    return from_table(
        names,
        means[kept],
        np.concatenate(([0], np.cumsum(counts[kept]))),
        repeats_ns[np.repeat(np.isin(np.arange(len(counts)), kept), counts)],
        nodes=nodes,
        trust=join.trust[kept],
        num_nodes=len(node_names),
        source=source,
        issues=(*issues, *join.issues),
    )


def with_list(
    timeline: Timeline,
    exact: Timeline,
    *,
    rounding_ns: float,
    table: Timeline | None = None,
    table_rounding_ns: float = 0.0,
) -> Timeline:
    """Give a timeline of a trace or a table the exact repeats of a list."""
    list_issues = IssueLog("")
    _check_times(timeline, exact, rounding_ns, list_issues)
    if table is not None:
        _check_repeats(table, exact, table_rounding_ns, list_issues)
    unknown = np.isnan(timeline.node_ns)
    counts = np.diff(exact.repeats_offsets)
    offsets, repeats = exact.repeats_offsets, exact.repeats_ns
    if (counts == 0).any() and len(timeline.repeats_ns):
        both = [
            exact.repeats(node) if counts[node] else timeline.repeats(node)
            for node in range(timeline.num_nodes)
        ]
        offsets = np.concatenate(([0], np.cumsum([len(own) for own in both]))).astype(np.int64)
        repeats = np.concatenate(both) if both else np.zeros(0)
    return replace(
        timeline,
        repeats_offsets=offsets,
        repeats_ns=repeats,
        node_ns=np.where(unknown, exact.node_ns, timeline.node_ns),
        node_trust=np.where(unknown, exact.node_trust, timeline.node_trust),
        sources=timeline.sources + exact.sources,
        issues=Issues((*timeline.issues, *exact.issues, *list_issues)),
    )


def apart(timeline: Timeline, exact: Timeline, rounding_ns: float) -> Ints:
    """Return nodes whose time is not the mean of their exact repeats; none for other averages."""
    statistics = exact.statistics()
    first = np.full(exact.num_nodes, np.nan)
    filled = np.flatnonzero(np.diff(exact.repeats_offsets))
    first[filled] = exact.repeats_ns[exact.repeats_offsets[filled]]
    slack = 1.001 * rounding_ns + 16 * float(np.spacing(max(timeline.span_ns, 1.0)))
    differing: list[Ints] = []
    for times in (exact.node_ns, statistics.p50, first):
        with np.errstate(invalid="ignore"):
            differing.append(np.flatnonzero(np.abs(timeline.node_ns - times) > slack))
        if not len(differing[-1]):
            break
    return differing[0] if len(differing[-1]) else differing[-1]


def _check_times(timeline: Timeline, exact: Timeline, rounding_ns: float, issues: IssueLog) -> None:
    differing = apart(timeline, exact, rounding_ns)
    if not len(differing):
        return
    node = int(differing[0])
    both = int(np.count_nonzero(np.isfinite(timeline.node_ns) & np.isfinite(exact.node_ns)))
    message = (
        f"{len(differing)} of {counted(both, 'node time')} {agree(len(differing), 'is')} not the "
        f"mean of {agree(len(differing), 'its')} repeats: node "
        f"{node} takes {timeline.node_ns[node] / 1e3:.9g} µs in {', '.join(timeline.sources)} and "
        f"{exact.node_ns[node] / 1e3:.9g} µs in {', '.join(exact.sources)}; the files may come "
        "from different runs. The former are shown, the repeats are the latter's"
    )
    issues.warning("times-disagree", message, differing)


def _check_repeats(table: Timeline, exact: Timeline, rounding_ns: float, issues: IssueLog) -> None:
    counts, known = np.diff(table.repeats_offsets), np.diff(exact.repeats_offsets)
    differ = (counts > 0) & (known > 0) & (counts != known)
    both = np.flatnonzero((counts > 0) & (counts == known))
    node = np.repeat(both, counts[both])
    printed, own = (
        source.repeats_ns[np.repeat(np.isin(np.arange(len(n)), both), n)]
        for source, n in ((table, counts), (exact, known))
    )
    differ[node[~(np.abs(own - printed) <= 1.001 * rounding_ns)]] = True
    lost = np.flatnonzero(differ).tolist()
    if not lost:
        return
    printed, own = table.repeats(lost[0]) / 1e3, exact.repeats(lost[0]) / 1e3
    message = (
        f"the repeats of {counted(len(lost), 'node')} {agree(len(lost), 'is')} not those of the "
        f"table: node {lost[0]} has {_list(printed)} µs in {', '.join(table.sources)} and "
        f"{_list(own)} µs in {', '.join(exact.sources)}; the latter are used"
    )
    issues.warning("repeats-disagree", message, lost)


def _list(values: Floats) -> str:
    shown = ", ".join(f"{value:.9g}" for value in values[:4].tolist())
    return f"[{shown}{', …' if len(values) > 4 else ''}]"
