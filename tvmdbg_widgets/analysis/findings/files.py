"""Rules on files: unreadable or missing tensors, contradictions, ambiguous joins, names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut, nodes_of
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.analysis.scan_results import Entry
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import Issue, IssueSeverity, listed, one_line
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.graph.nodes import NodeKind

_LONGEST = 100
#: Issues with a finding of their own.
_WITH_OWN_FINDING = frozenset(
    {
        "buffer-reused",
        "edge-ambiguous",
        "stale-tensors",
        "table-rows-ambiguous",
        "tables-disagree",
        "tensor-disagrees",
        "tensor-overwritten",
    }
)

_FIRST = frozenset({"executorch-disagree"})  # most important warnings: the files are not of one run


@rule("files", Basis.FILES)
def find_files(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield findings of unreadable tensors, of errors and of warnings."""
    if evidence.scanned.broken:
        yield _unread(evidence)
    others = [issue for issue in evidence.issues if issue.rule not in _WITH_OWN_FINDING]
    errors = [issue for issue in others if issue.severity is IssueSeverity.ERROR]
    if errors:
        yield _of(errors, Severity.ERROR)
    warnings = [issue for issue in others if issue.severity is IssueSeverity.WARNING]
    foreign = [issue for issue in warnings if issue.rule in _FIRST]
    if foreign:
        yield replace(_of(foreign, Severity.WARNING), weight=1.0)
    warnings = [issue for issue in warnings if issue.rule not in _FIRST]
    if warnings:
        yield _of(warnings, Severity.WARNING)


def _unread(evidence: RunEvidence) -> Finding:
    broken, total = evidence.scanned.broken, evidence.scanned.total
    entries = tuple(sorted(broken))
    reasons: dict[str, list[Entry]] = {}
    for entry in entries:
        reasons.setdefault(one_line(broken[entry]), []).append(entry)
    return Finding(
        Severity.ERROR,
        f"{len(entries):,} of {counted(total, 'tensor')} could not be read: "
        f"{next(iter(reasons))}{and_more(len(reasons) - 1, 'reason')}",
        cut([f"{evidence.list_entries(some)}: {reason}" for reason, some in reasons.items()]),
        Confidence.HIGH,
        "reading failed" + ("; the other tensors were read" if len(entries) < total else ""),
        nodes_of(entries),
        entries,
        "Open the dump again once it is fully written, or copy it again from its source.",
        1.0,
    )


def _of(issues: list[Issue], severity: Severity) -> Finding:
    files = dict.fromkeys(one_line(issue.file) for issue in issues if issue.file)
    placed = [issue for issue in issues if issue.file]
    first = next(iter(files)).rpartition("/")[2] if files else ""
    if len(placed) <= 1:
        message = one_line((placed or issues)[0].message)
        message = (
            message if len(message) <= _LONGEST else message[:_LONGEST].rpartition(" ")[0] + " …"
        )
        title = f"{first}: {message}" if files else message[:1].upper() + message[1:]
    else:
        which = f"{counted(len(files), 'file')} have" if len(files) > 1 else f"{first} has"
        title = f"{which} {counted(len(placed), severity)}"
    title += and_more(len(issues) - max(1, len(placed)), severity)
    return Finding(
        severity,
        title,
        cut([one_line(str(issue)) for issue in issues]),
        Confidence.HIGH,
        "files were read as far as possible; run.check() lists every issue",
        tuple(dict.fromkeys(node for issue in issues for node in issue.nodes)),
        tuple(dict.fromkeys(entry for issue in issues for entry in issue.entries)),
        "See run.check(). If a file is truncated or from another run, copy or write it again.",
        0.85,
    )


@rule("tensor-disagrees", Basis.TENSORS)
def find_disagreements(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all contradictions."""
    issues = sorted(
        evidence.of_rules("tensor-disagrees"), key=lambda issue: (issue.entries, issue.nodes)
    )
    if not issues:
        return
    entries = tuple(dict.fromkeys(entry for issue in issues for entry in issue.entries))
    nodes = tuple(dict.fromkeys(node for issue in issues for node in issue.nodes))
    tensors = evidence.tensors
    exact = all(tensors[entry].trust is Trust.EXACT for entry in entries if entry in tensors)
    first = evidence.entry_name(entries[0]) if entries else "a tensor"
    yield Finding(
        Severity.ERROR,
        f"The tensor of {first} does not match the graph's shape or dtype"
        f"{and_more(len(entries) - 1)}",
        cut([one_line(issue.message) for issue in issues]),
        Confidence.HIGH if exact else Confidence.MEDIUM,
        "both files were read, and the key in the params file names the entry"
        if exact
        else "both files were read; tensors are matched to nodes by order or name",
        nodes,
        entries,
        "Make sure that graph and tensors come from the same run, and check the input shapes the "
        "module was compiled for.",
        1.0,
    )


_NEXT_EDGES = (
    "Open the dump with the graph that was given to TVM: open(…, graph=lib.get_graph_json())."
)
_OUTPUTS = "the dump names the producer, not which of its outputs"
_BRANCHES = "what was written last depends on the branches taken"
_ALIKE = "which of identical operators a delegate's operator came from is not recorded"
_NEXT_ALIKE = "Each time is that of one of the identical operators; which one is not recorded."
_NEXT = "Make sure that all files come from the same run; run.check() lists what does not match."


@rule("ambiguous-joins", Basis.FILES)
def find_joins(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all ambiguities."""
    facts, doubts = [], []
    several, edges, alike = 0, False, False
    nodes: dict[int, None] = {}
    graph, timeline = evidence.parts.graph, evidence.parts.timeline
    if graph is not None:
        unsure = np.flatnonzero(graph.edge_trust == Trust.AMBIGUOUS)
        if len(unsure):
            targets = list(dict.fromkeys(graph.edge_target[unsure].tolist()))
            doubts.append(counted(len(unsure), "edge"))
            several, edges = len(unsure), True
            facts.append(
                f"{counted(len(unsure), 'edge')} of {graph.num_edges:,} into "
                f"{evidence.list(targets)}: {_BRANCHES if evidence.of_executorch else _OUTPUTS}"
            )
            nodes |= dict.fromkeys(targets)
    entries = tuple(
        entry for entry, tensor in evidence.tensors.items() if tensor.trust is Trust.AMBIGUOUS
    )
    if entries:
        doubts.append(counted(len(entries), "tensor"))
        several += len(entries)
        facts.append(f"{counted(len(entries), 'tensor')}: {evidence.list(nodes_of(entries))}")
        nodes |= dict.fromkeys(nodes_of(entries))
    if timeline is not None and graph is not None:
        timed = np.flatnonzero(timeline.node_trust == Trust.AMBIGUOUS).tolist()
        if timed:
            doubts.append(counted(len(timed), "node time"))
            several += len(timed)
            alike = all("came from" in graph.attrs[node] for node in timed)
            why = f": {_ALIKE}" if alike else ""
            facts.append(f"times of {counted(len(timed), 'node')}: {evidence.list(timed)}{why}")
            nodes |= dict.fromkeys(timed)
    if not facts:
        return
    alike = alike and len(facts) == 1
    verb, place = agree(several, "is"), agree(several, "it belongs", "they belong")
    yield Finding(
        Severity.INFO if alike else Severity.WARNING,
        f"{' and '.join(doubts)} {verb} ambiguous: these files do not say where {place}",
        tuple(facts),
        Confidence.HIGH,
        "names and order fit several places; none of these is used to trace NaN or Inf",
        tuple(nodes),
        entries,
        _NEXT_ALIKE if alike else _NEXT_EDGES if edges and not evidence.of_executorch else _NEXT,
        0.8,
    )


@rule("missing-tensors", Basis.ALL_TENSORS)
def find_missing(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all outputs of operators without a tensor."""
    graph, tensors = evidence.parts.graph, evidence.parts.tensors
    if graph is None or tensors is None or evidence.recorded is not None:
        return
    overwritten = {
        node for issue in evidence.of_rules("tensor-overwritten") for node in issue.nodes
    }
    computed = np.flatnonzero(graph.kinds >= NodeKind.OPERATOR)
    widths = np.diff(graph.entry_offsets)[computed]
    outputs = [
        (node, output)
        for node, width in zip(computed.tolist(), widths.tolist(), strict=True)
        if node not in overwritten
        for output in range(width)
    ]
    stored = set(tensors)
    entries = [entry for entry in outputs if entry not in stored]
    if not entries or (len(entries) == len(outputs) and len(tensors)):
        return
    first = evidence.entry_name(entries[0])
    counted_of = f"{len(entries):,} of {counted(len(outputs), 'operator output')}"
    yield Finding(
        Severity.WARNING,
        f"{first} has no tensor in this dump{and_more(len(entries) - 1)}",
        cut([counted_of, *(evidence.entry_name(entry) for entry in entries[1:])]),
        Confidence.HIGH,
        "TVM's debugger stores every output; these are missing",
        nodes_of(entries),
        tuple(entries),
        "Copy the dump again; if the run was interrupted, let it finish.",
        0.65,
    )


@rule("duplicate-names", Basis.FILES)
def find_names(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding: a doubt where tensors were lost, else a note."""
    graph = evidence.parts.graph
    if graph is None or len(set(graph.names.unique)) == graph.num_nodes:
        return
    named: dict[str, list[int]] = {}
    for node, name in enumerate(graph.names):
        named.setdefault(name, []).append(node)
    groups = [nodes for nodes in named.values() if len(nodes) > 1]
    if not groups:
        return
    lost = tuple(node for i in evidence.of_rules("tensor-overwritten") for node in i.nodes)
    facts = [
        f"{evidence.short_name(nodes[0])}: {listed([f'#{node}' for node in nodes], most=5)}"
        for nodes in groups
    ]
    shared = sum(map(len, groups))
    if lost:
        names = f"; so {counted(len(lost), 'node')} {agree(len(lost), 'has')} no tensor"
        facts.insert(0, f"no tensor: {evidence.list(lost)}")
    else:
        names = "; refer to them by id"
    yield Finding(
        Severity.WARNING if lost else Severity.INFO,
        f"{counted(shared, 'node')} share {counted(len(groups), 'name')}{names}",
        cut(facts),
        Confidence.HIGH,
        "the graph file lists every name"
        + (", and TVM v0.8 keeps the last tensor of a name" if lost else ""),
        tuple(node for nodes in groups for node in nodes),
        next_step="Give each layer of the model a unique name. Until then, use node ids.",
        weight=0.8 if lost else 0.5,
    )


@rule("scanned", Basis.FILES)
def find_scanned(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a note, unless something is not finite."""
    scanned, tensors = evidence.scanned, evidence.parts.tensors
    read, columns = evidence.statistics, evidence.columns
    if tensors is None or not read or (columns.finite != columns.size).any():
        return
    records = [tensor.record for entry, tensor in tensors.items() if entry in read]
    nbytes = sum(record.nbytes for record in records)
    values = int(columns.size.sum())
    given = "" if evidence.of_executorch else ", including parameters"
    facts = [f"{counted(values, 'value')}, {counted(nbytes, 'byte')}{given}"]
    left = scanned.total - scanned.done
    lost = len(scanned.statistics.keys() & evidence.overwritten.keys())
    without = (
        (left, f"of {scanned.total:,} not scanned yet"),
        (lost, "skipped: overwritten by later nodes"),
        (len(scanned.statistics) - lost - len(read), "skipped: complex or unknown type"),
        (sum(not record.complete for record in records), "only partly in the file"),
        (len(scanned.broken), "could not be read"),
    )
    facts += [f"{counted(count, 'tensor')} {why}" for count, why in without if count]
    subject = f"All {counted(len(read), 'tensor')}" if len(read) > 1 else "1 tensor"
    if len(read) < scanned.total:
        subject = f"{len(read):,} of {counted(scanned.total, 'tensor')}"
    yield Finding(
        Severity.INFO,
        f"{subject} checked: no NaN or Inf",
        tuple(facts),
        Confidence.HIGH,
        "every stored value was read",
        next_step="Let the scan finish: run.findings()." if left else "",
        weight=0.9,
    )
