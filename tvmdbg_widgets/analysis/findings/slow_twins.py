"""Rule on operators that take longer than their twins: equal operators in equal blocks.

Twins have the same function, attributes, shapes and dtypes, and run on the same device. An operator
counts if its median is at least 1.5 times that of its twins, 1.25 times that of three quarters of
them, and one percent of the whole time longer; and if its fastest repeats (p10) are slower than the
slowest (p90) of three quarters of its twins. Where no repeats are known it takes twice as long, and
five times the spread of the twins. Operators whose work depends on their values are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.rule import Basis, edge_doubts, rule
from tvmdbg_widgets.analysis.findings.twins import LEAST, TwinSet
from tvmdbg_widgets.analysis.findings.values.twin_ranges import ratio_text, twins_text
from tvmdbg_widgets.analysis.view_columns import entry_signatures, mixed
from tvmdbg_widgets.model.base.numbers import Trust, counted, duration_text, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Premise, Severity
from tvmdbg_widgets.model.graph.graph import Graph

Floats: TypeAlias = npt.NDArray[np.float64]

_RATIO: Final = 1.5
_RATIO_ONCE: Final = 2.0  # without repeats
_ABOVE_MOST: Final = 1.25
_SPREADS: Final = 5 * 1.4826  # of a normal distribution's standard deviation, from its MAD
_LEAST_SHARE: Final = 0.01
_FEW: Final = 3
_MANY: Final = 10
_DENORMAL: Final = 0.01
_BY_DATA: Final = frozenset(
    {
        *("non_max_suppression", "all_class_non_max_suppression", "get_valid_counts", "nonzero"),
        *("argwhere", "unique", "masked_select", "nms", "if", "while", "loop", "cond"),
    }
)


class _Times(NamedTuple):
    """Times by node, of the event that it shares with others where it has no time of its own."""

    median: Floats
    low: Floats
    high: Floats
    repeats: npt.NDArray[np.int64]
    together: npt.NDArray[np.int64]


class _Slow(NamedTuple):
    """An operator that is slower than its twins."""

    node: int
    twins: TwinSet
    ns: float
    usual_ns: float
    bounds: tuple[float, float]
    repeats: int

    @property
    def ratio(self) -> float:
        return self.ns / self.usual_ns


@rule("slower-than-twins", Basis.TIMES | Basis.EDGES)
def find_slow_twins(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all such operators, the one that loses most time first."""
    timeline, graph = evidence.parts.timeline, evidence.parts.graph
    if timeline is None or graph is None or not timeline.total_ns > 0:
        return
    if timeline.num_nodes != graph.num_nodes:
        return
    times = _times(evidence)
    least = _LEAST_SHARE * timeline.total_ns
    if not _slowest_of_class(graph, times, least).any():
        return
    slow = sorted(
        _slow(evidence, graph, times, least), key=lambda each: (each.usual_ns - each.ns, each.node)
    )
    if not slow:
        return
    worst = slow[0]
    name, number = evidence.name(worst.node), counted(len(worst.twins.nodes), "twin")
    together = int(times.together[worst.node])
    name += f" (one event of {counted(together, 'operator')})" if together > 1 else ""
    lost = sum(each.ns - each.usual_ns for each in slow) / timeline.total_ns
    more = f", and {counted(len(slow) - 1, 'more operator')}" if slow[1:] else ""
    facts = [*_rows(evidence, times, worst), *_denormals(evidence, worst)]
    facts += [
        f"{evidence.name(each.node)}: {duration_text(each.ns)}, {ratio_text(each.ratio)} its "
        f"{counted(len(each.twins.nodes), 'twin')} ({duration_text(each.usual_ns)})"
        for each in slow[1:]
    ]
    few = min(each.repeats for each in slow)
    sure = few >= _MANY and min(len(each.twins.nodes) for each in slow) >= _FEW
    yield Finding(
        Severity.HOTSPOT,
        f"{name} takes {ratio_text(worst.ratio)} the time of its {number}: "
        f"{duration_text(worst.ns)} against {duration_text(worst.usual_ns)}{more}",
        cut(facts),
        Confidence.HIGH if sure else Confidence.MEDIUM if few >= _FEW else Confidence.LOW,
        "twins have the same function, attributes, shapes and dtypes; "
        + (f"medians of {counted(few, 'repeat')}" if few > 1 else "each was timed once"),
        tuple(each.node for each in slow),
        next_step=_next_step(evidence, worst, few),
        weight=lost,
    ).resting_on(_doubts(evidence, slow))


def _times(evidence: RunEvidence) -> _Times:
    timeline = evidence.parts.timeline
    if timeline is None:
        raise ValueError("a run without times has no slow operators")
    stats = timeline.steady()
    median = np.where(stats.n > 0, stats.p50, timeline.node_ns)
    low, high = (np.where(stats.n > 0, each, median) for each in (stats.p10, stats.p90))
    repeats, together = stats.n.copy(), np.ones(len(median), np.int64)
    sets = timeline.shared
    if sets is not None:
        of_sets, sizes = sets.statistics(), np.diff(sets.offsets)
        for number in np.argsort(-sizes, kind="stable").tolist():
            nodes = sets.of(number)
            if sets.apart[number] or not nodes or not sets.own_ns[number] > 0:
                continue
            first = min(nodes)
            if np.isnan(timeline.node_ns[first]):
                known = of_sets.n[number] > 0
                median[first] = of_sets.p50[number] if known else sets.own_ns[number]
                low[first] = of_sets.p10[number] if known else median[first]
                high[first] = of_sets.p90[number] if known else median[first]
                repeats[first], together[first] = of_sets.n[number], len(nodes)
    return _Times(median, low, high, repeats, together)


def _slowest_of_class(graph: Graph, times: _Times, least: float) -> npt.NDArray[np.bool_]:
    """Return the nodes that are slow for their function and output, before blocks are sought."""
    first = np.minimum(graph.entry_offsets[:-1], max(graph.num_entries - 1, 0))
    outputs = np.diff(graph.entry_offsets) > 0
    signature = np.zeros(graph.num_nodes, np.uint64)
    if graph.num_entries:
        signature[outputs] = entry_signatures(graph)[first[outputs]]
    keys = mixed(graph.func_names.codes, signature)
    _, of_class = np.unique(keys, return_inverse=True)
    known = times.median > 0
    fastest = np.full(int(of_class.max(initial=-1)) + 1, np.inf)
    np.minimum.at(fastest, of_class[known], times.median[known])
    usual = fastest[of_class]
    slow: npt.NDArray[np.bool_] = (
        known & (times.median >= _RATIO * usual) & (times.median - usual >= least)
    )
    return slow


def _slow(evidence: RunEvidence, graph: Graph, times: _Times, least: float) -> Iterator[_Slow]:
    twins = evidence.twins
    if twins is None:
        return
    columns: dict[int, npt.NDArray[np.int64]] = {}
    for structure in twins.structures():
        own = times.median[structure.nodes]
        known = own > 0
        usual = np.where(known, own, np.inf).min(axis=0)
        late = known & (own >= _RATIO * usual) & (own - usual >= least)
        for at in np.flatnonzero(late.any(axis=0)).tolist():
            column = structure.nodes[known[:, at], at]
            for node in structure.nodes[late[:, at], at].tolist():
                columns[node] = column
    for node, column in sorted(columns.items()):
        if _comparable(evidence, graph, times, node, column):
            yield from _judged(evidence, times, node, column[column != node], least)


def _comparable(
    evidence: RunEvidence, graph: Graph, times: _Times, node: int, column: npt.NDArray[np.int64]
) -> bool:
    """Return whether equal times are to be expected of a node and its twins."""
    devices = graph.device_types
    same: list[npt.NDArray[Any]] = [graph.func_names.codes, times.together]
    same += [] if devices is None else [devices]
    if any((each[column] != each[node]).any() for each in same):
        return False
    edges = graph.in_edges(node)
    entries = [*graph.entry_range(node)]
    for source, output in zip(
        graph.edge_source[edges].tolist(), graph.edge_output[edges].tolist(), strict=True
    ):
        outputs = graph.entry_range(source) if source >= 0 else range(0)
        if not 0 <= output < len(outputs):
            return False
        entries.append(outputs[output])
    known = graph.shape_known[entries].all()
    return bool(known) and not _BY_DATA & set(evidence.operator_parts(node))


def _judged(
    evidence: RunEvidence,
    times: _Times,
    node: int,
    others: npt.NDArray[np.int64],
    least: float,
) -> Iterator[_Slow]:
    if len(others) < LEAST or evidence.twins is None:
        return
    own, all_of = float(times.median[node]), times.median[others]
    usual = float(np.median(all_of))
    repeats = int(min(times.repeats[node], times.repeats[others].min()))
    if repeats >= _FEW:
        apart = times.low[node] > np.percentile(times.high[others], 75)
        slower = own >= _RATIO * usual and bool(apart)
    else:
        spread = float(np.median(np.abs(all_of - usual)))
        slower = own >= _RATIO_ONCE * usual and own - usual > _SPREADS * spread
    if slower and own >= _ABOVE_MOST * np.percentile(all_of, 75) and own - usual >= least:
        found = evidence.twins.exact(node)
        if found is not None:
            bounds = float(all_of.min()), float(all_of.max())
            near = found._replace(nodes=tuple(sorted(others.tolist())))
            yield _Slow(node, near, own, usual, bounds, repeats)


def _rows(evidence: RunEvidence, times: _Times, slow: _Slow) -> list[str]:
    own, number = slow.node, counted(len(slow.twins.nodes), "twin")
    spread = ""
    if slow.repeats > 1:
        low, high = duration_text(float(times.low[own])), duration_text(float(times.high[own]))
        count = counted(int(times.repeats[own]), "repeat")
        spread = f" (p10 … p90 {low} … {high}, {count})"
    between = " … ".join(map(duration_text, slow.bounds))
    share = (slow.ns - slow.usual_ns) / evidence.total_ns
    return [
        f"{evidence.name(own)}: median {duration_text(slow.ns)}{spread}",
        f"its {number}: median {duration_text(slow.usual_ns)} ({between})",
        f"difference: {duration_text(slow.ns - slow.usual_ns)}, {percent(share)} of the time",
        f"{twins_text(slow.twins)}: same function, attributes, shapes and dtypes",
    ]


def _denormals(evidence: RunEvidence, slow: _Slow) -> list[str]:
    """Return a line where the operator reads denormal values and its twins do not."""

    def share(node: int) -> float:
        stats = [evidence.statistics.get(read.entry) for read in evidence.reads(node)]
        known = [each for each in stats if each is not None and each.size]
        return max((each.denormal / each.size for each in known), default=0.0)

    own = share(slow.node)
    if own < _DENORMAL:
        return []
    most = max(map(share, slow.twins.nodes))
    if most * 4 > own:
        return []
    much, little = percent(own), percent(most)
    return [
        f"denormal operands, slow on many CPUs: up to {much} of its values, {little} of its twins'"
    ]


def _next_step(evidence: RunEvidence, slow: _Slow, repeats: int) -> str:
    if repeats < _FEW:
        again = "execute the method several times" if evidence.of_executorch else "set repeat=10"
        return f"Measure again ({again}): a single measurement may be an outlier."
    return (
        f"Measure again. If #{slow.node} stays slow, its code is not the cause: its twins share "
        "it. Compare its data (denormals), its memory and what runs beside it."
    )


def _doubts(evidence: RunEvidence, slow: list[_Slow]) -> Iterator[Premise]:
    timeline = evidence.parts.timeline
    twins: tuple[int, ...] = tuple({node: None for each in slow for node in each.twins.nodes})
    yield from edge_doubts(evidence, twins)
    trust: Any = timeline.node_trust[list(twins)] if timeline is not None else np.zeros(0)
    if (trust == Trust.AMBIGUOUS).any():
        yield Premise(Confidence.MEDIUM, "some of these times are matched ambiguously")
    for grade in (Trust.BY_ORDER, Trust.BY_NAME):
        if (trust == grade).any():
            why = f"times are matched to the twins {grade.label}"
            yield Premise(Confidence.MEDIUM, why)
