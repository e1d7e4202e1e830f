"""Rule on NaN and Inf: where they first appear in execution order, and how far they spread.

A birth is an entry with NaN or Inf whose operands are all finite; parameters and inputs are not
computed, so theirs are births too. -Inf alone, as in attention masks, is only a doubt while nothing
behind it holds NaN or +Inf; but not from a convolution or a matrix product of finite values whose
function neither chooses nor masks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut, nodes_of
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.analysis.findings.values.channels import ChannelsWithin, within
from tvmdbg_widgets.analysis.findings.values.twin_ranges import (
    OperandContrast,
    contrast,
    grouped_text,
)
from tvmdbg_widgets.analysis.scan_results import Entry
from tvmdbg_widgets.analysis.tensor_scan import Flags, Subject
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import family
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.batch import Batch, comparable

_FLOAT16_MAX = 65504.0
_SHORT = 20  # letters of a name in a title that also says the cause
_MASKING = ("where", "mask", "select", "tri", "log", "full", "attention", "maximum", "minimum")


class Birth(NamedTuple):
    """An entry where non-finite values first appear, and how surely."""

    entry: Entry
    confidence: Confidence
    why: str


def probe_first_nonfinite(subject: Subject) -> ChannelsWithin | None:
    """Find the channels that hold all NaN and Inf of an output, if these are only some."""
    stats = subject.statistics
    if not stats.applicable or not 0 < stats.size - stats.finite <= stats.size // 4:
        return None
    return within(subject, lambda chunk: ~np.isfinite(comparable(chunk)))


def screen_first_nonfinite(batch: Batch) -> Flags:
    """Return which rows have NaN or Inf."""
    odd: Flags = batch.finite != batch.size
    return odd


class Origins(NamedTuple):
    """Entries with NaN or Inf, by origin."""

    carriers: Mapping[Entry, Statistics]
    wrong: list[Birth]
    meant: list[Birth]


def origins(evidence: RunEvidence) -> Origins:
    """Find the origins of all non-finite values."""
    columns = evidence.columns
    carriers = {
        entry: evidence.statistics[entry] for entry in columns.where(columns.finite != columns.size)
    }
    births = [birth for entry in carriers if (birth := _birth(evidence, carriers, entry))]
    wrong_behind = _carriers_before_wrong(evidence, carriers)
    meant = {
        birth.entry: birth
        for birth in births
        if birth.entry not in wrong_behind and not _overflows(evidence, birth.entry[0])
    }
    wrong = [birth for birth in births if birth.entry not in meant]
    return Origins(carriers, wrong, list(meant.values()))


@rule(
    "first-nonfinite",
    Basis.TENSORS | Basis.EDGES | Basis.ROLES,
    probe_first_nonfinite,
    screen_first_nonfinite,
)
def find_first_nonfinite(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield findings of the first birth, of the others, and of -Inf alone."""
    carriers, wrong, meant = origins(evidence)
    if wrong:
        yield _first(evidence, carriers, wrong[0])
    if wrong[1:]:
        yield _others(evidence, carriers, wrong[1:])
    if meant:
        yield _minus(evidence, carriers, meant)


def _birth(
    evidence: RunEvidence, carriers: Mapping[Entry, Statistics], entry: Entry
) -> Birth | None:
    node = entry[0]
    role = evidence.role(node)
    confidence, why = evidence.joined([entry])
    if role is None:
        why = "without the graph the order of execution is unknown"
        return Birth(entry, Confidence.LOW, why)
    if role:
        return Birth(entry, confidence, f"{why}, and no node computes this tensor")
    reads = evidence.reads(node)
    sure = [read.entry for read in reads if read.sure]
    if any(operand in carriers for operand in sure):
        return None
    unknown = sum(not read.sure or read.entry not in evidence.statistics for read in reads)
    if unknown:
        why = (
            f"the values of {unknown} of {counted(len(reads), 'input')} {agree(unknown, 'is')} "
            "unknown (ambiguous edges, overwritten or missing tensors): it may come from there"
        )
        return Birth(entry, Confidence.LOW, why)
    confidence, why = evidence.joined([entry, *sure])
    return Birth(entry, confidence, f"{why}, and all inputs of the node are finite")


def carried(
    evidence: RunEvidence, carriers: Mapping[Entry, Statistics], births: Iterable[Entry]
) -> dict[Entry, Entry]:
    """Return the carriers of NaN or Inf reachable through carriers, with the nearest birth."""
    graph = evidence.parts.graph
    source = {birth: birth for birth in births}
    waiting = deque(source)
    came: dict[Entry, Entry] = {}
    while waiting and graph is not None:
        here = waiting.popleft()
        for reached in readers(graph, here):
            if reached in carriers and reached not in source:
                source[reached] = came[reached] = source[here]
                waiting.append(reached)
    return came


def readers(graph: Graph, entry: Entry) -> Iterator[Entry]:
    """Yield all outputs of the nodes that read an entry."""
    node, output = entry
    if not 0 <= node < graph.num_nodes:
        return
    for target in dict.fromkeys(graph.edge_target[graph.readers(node, output)].tolist()):
        for each in range(len(graph.entry_range(target))):
            yield target, each


def _carriers_before_wrong(
    evidence: RunEvidence, carriers: Mapping[Entry, Statistics]
) -> set[Entry]:
    graph = evidence.parts.graph
    before = {
        entry for entry, statistics in carriers.items() if statistics.nan or statistics.pos_inf
    }
    if graph is None:
        return before
    waiting = list(before)
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()[0]
        if node not in seen:
            seen.add(node)
            read = {read.entry for read in evidence.reads(node)}
            new = [entry for entry in read if entry in carriers and entry not in before]
            before.update(new)
            waiting.extend(new)
    return before


def _overflows(evidence: RunEvidence, node: int) -> bool:
    if not evidence.is_operator(node):
        return False
    operators = evidence.operator_parts(node)
    return bool({"convolution", "matmul"} & set(map(family, operators))) and not any(
        word in part for part in operators for word in _MASKING
    )


def _first(evidence: RunEvidence, carriers: Mapping[Entry, Statistics], birth: Birth) -> Finding:
    entry, stats = birth.entry, carriers[birth.entry]
    spread = tuple(sorted(carried(evidence, carriers, [entry])))
    node = entry[0]
    what, count = _what(stats)
    name = evidence.entry_name(entry)
    role = evidence.role(node)
    cause = contrast(evidence, node) if role == "" else None
    channels = "".join(f", {channel}" for channel in _channels(evidence, entry))
    if role is None:
        title = f"{name} is the first tensor with {what}: {_of(count, stats)}{channels}"
    elif role:
        title = f"{role.capitalize()} {name} contains {what}: {_of(count, stats)}{channels}"
    elif cause is not None and cause.operands:
        title = f"First {what} in {evidence.entry_name(entry, _SHORT)}: {cause.clause}"
    else:
        title = f"First {what} appears in {name}: {_of(count, stats)}{channels}"
    facts = [] if cause is None else cause.facts(evidence)
    size = counted(stats.size, "value")
    counts = f"{stats.nan:,} NaN, {stats.pos_inf:,} +Inf, {stats.neg_inf:,} -Inf in {size}"
    facts.append(counts + _largest(evidence, entry, stats) + channels)
    facts += _inputs(evidence, node, () if cause is None else cause.operands)
    if spread:
        nodes = nodes_of(spread)
        facts.append(
            f"spread to {counted(len(spread), 'downstream output')}: {evidence.list(nodes)}"
        )
    elif role is not None:
        facts.append("did not spread: no consumer contains NaN or Inf")
    if not stats.nan:
        turned = next((entry for entry in spread if carriers[entry].nan), None)
        if turned is not None:
            facts.append(
                f"first NaN appears in {evidence.entry_name(turned)}: "
                f"{_of(carriers[turned].nan, carriers[turned])}"
            )
    facts += _outputs(evidence, carriers, (entry, *spread))
    full_name = evidence.short_name(node)
    if full_name not in ("", evidence.label(node)):
        facts.append(f"full name: {full_name}")
    finding = Finding(
        Severity.ERROR,
        title,
        tuple(facts),
        birth.confidence,
        birth.why,
        nodes_of((entry, *spread)),
        (entry, *spread),
        _next_step(evidence, node) if cause is None or not cause.operands else cause.step(evidence),
        1.0,
    )
    return finding if cause is None else finding.resting_on(cause.doubts(evidence))


def _channels(evidence: RunEvidence, entry: Entry) -> list[str]:
    channels = evidence.scanned.probed.get("first-nonfinite", {}).get(entry)
    return [f"all in {channels}"] if channels is not None else []


def _next_step(evidence: RunEvidence, node: int) -> str:
    role = evidence.role(node)
    if role is None:
        return "Open the dump with its graph to see where the values come from."
    if role:
        return f"Check this {role} against what the model was given."
    graph = evidence.parts.graph
    read = (
        [] if graph is None else [graph.nodes[n] for (n, _), sure in evidence.reads(node) if sure]
    )
    weights = [operand.id for operand in read if operand.kind is NodeKind.PARAMETER]
    first = f"its parameters ({evidence.list(weights)})" if weights else "its inputs"
    return (
        f"Check {first} against the model, then recompute this node in a wider type from its "
        "inputs in the dump."
    )


def _inputs(evidence: RunEvidence, node: int, stated: tuple[OperandContrast, ...]) -> list[str]:
    if not evidence.is_operator(node):
        return []
    words = []
    left_out = {operand.entry for operand in stated}
    for entry in dict.fromkeys(read.entry for read in evidence.reads(node) if read.sure):
        if entry in left_out:
            continue
        stats = evidence.statistics.get(entry)
        if stats is not None and stats.finite and stats.finite == stats.size:
            bounds = f"{grouped_text(stats.minimum)} … {grouped_text(stats.maximum)}"
            words.append(f"input {evidence.entry_name(entry)}: {bounds}, all values finite")
    return list(cut(words, 5))


def _largest(evidence: RunEvidence, entry: Entry, stats: Statistics) -> str:
    tensors = evidence.parts.tensors
    if not stats.finite or tensors is None:
        return ""
    largest = max(abs(stats.minimum), abs(stats.maximum))
    is_half = tensors[entry].dtype.name == "float16"
    limit = f" (float16 max: {_FLOAT16_MAX:,.0f})" if is_half else ""
    return f"; largest finite magnitude: {grouped_text(largest)}{limit}"


def _outputs(
    evidence: RunEvidence, carriers: Mapping[Entry, Statistics], entries: tuple[Entry, ...]
) -> list[str]:
    graph = evidence.parts.graph
    if graph is None:
        return []
    reached = set(entries)
    words = []
    for place, head in enumerate(map(tuple, graph.heads.tolist())):
        if head in reached:
            stats = carriers[head]
            bad = stats.size - stats.finite
            words.append(f"graph output {place}, {evidence.entry_name(head)}: {_of(bad, stats)}")
    return list(cut(words, 3))


def _others(
    evidence: RunEvidence, carriers: Mapping[Entry, Statistics], births: list[Birth]
) -> Finding:
    entries = tuple(birth.entry for birth in births)
    facts = []
    for entry in entries:
        bad = _of(carriers[entry].size - carriers[entry].finite, carriers[entry])
        facts.append(
            "; ".join([f"{evidence.entry_name(entry)}: {bad}", *_channels(evidence, entry)])
        )
    worst = max(births, key=lambda birth: list(Confidence).index(birth.confidence))
    known = evidence.parts.graph is not None
    origin = " independently" if known else ""
    return Finding(
        Severity.ERROR,
        f"NaN or Inf also appears{origin} in {evidence.list_entries(entries, 2)}",
        cut(facts),
        worst.confidence,
        worst.why,
        nodes_of(entries),
        entries,
        "Check them in this order: each is a separate origin.",
        0.9,
    )


def _minus(
    evidence: RunEvidence, carriers: Mapping[Entry, Statistics], births: list[Birth]
) -> Finding:
    entries = tuple(birth.entry for birth in births)
    first = carriers[entries[0]]
    return Finding(
        Severity.WARNING,
        f"{evidence.entry_name(entries[0])} contains -Inf: {_of(first.neg_inf, first)}"
        f"{and_more(len(entries) - 1)}",
        cut(
            [f"{evidence.entry_name(e)}: {_of(carriers[e].neg_inf, carriers[e])}" for e in entries]
        ),
        Confidence.LOW,
        "attention masks contain -Inf on purpose, and nothing downstream has NaN or +Inf",
        nodes_of(entries),
        entries,
        "If this is not a mask, check the logarithms and divisions of the node.",
        0.5,
    )


def _what(stats: Statistics) -> tuple[str, int]:
    infinite = stats.pos_inf + stats.neg_inf
    what = "NaN and Inf" if stats.nan and infinite else "NaN" if stats.nan else "Inf"
    return what, stats.nan + infinite


def _of(count: int, stats: Statistics) -> str:
    return f"{count:,} of {counted(stats.size, 'value')}"
