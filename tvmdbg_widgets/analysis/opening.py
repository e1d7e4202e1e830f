"""Initial state of a run's views: the first tensor, hidden nodes, and highlights."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.memory.planned import why_not
from tvmdbg_widgets.analysis.memory.sizes import UNKNOWN, entry_sizes
from tvmdbg_widgets.analysis.query import parse
from tvmdbg_widgets.model.base.numbers import Trust, bytes_text, time_share
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.findings import Severity
from tvmdbg_widgets.model.graph.columns import ROLES
from tvmdbg_widgets.model.graph.graph import Graph, node_label, node_title, tensor_title
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.tensors import Tensor

_TENSORS, _SAMPLE = 128, 1024  # most tensors inspected, and values sampled from an uncounted one


def named_entry(run: RunFacts) -> Entry | None:
    """Return the entry that the first error or warning with nodes names, once all is scanned."""
    search = run.search
    tensors: Container[tuple[int, int]] = run.tensors or ()
    if search.scan.state != "done":
        return None
    for finding in search.known():
        if finding.severity not in (Severity.ERROR, Severity.WARNING):
            return None
        entries = [Entry(*each) for each in finding.entries or [(n, 0) for n in finding.nodes]]
        if entries:
            return next((entry for entry in entries if entry in tensors), entries[0])
    return None


def opening_tensor(run: RunFacts) -> Tensor | None:
    """Return the tensor findings name first, or the slowest; of a params file a telling one."""
    if not run.tensors:
        return None
    if run.graph is not None:
        named = named_entry(run)
        stored = None if named is None else run.tensors.get(named)
        return stored or _slowest_output(run)
    tensors = list(run.tensors.values())
    if any(tensor.trust is Trust.EXACT for tensor in tensors):
        return None  # outputs of nodes
    looked = [
        (tensor, _known_or_sampled(tensor, sample=at < _TENSORS))
        for at, tensor in enumerate(tensors)
    ]
    known = [(tensor, stats) for tensor, stats in looked if stats is not None]
    ranks: tuple[Callable[[Statistics], object], ...] = (
        lambda stats: stats.finite < stats.size,
        lambda stats: stats.finite and stats.minimum != stats.maximum,
        lambda stats: stats.size,
    )
    return next((tensor for fits in ranks for tensor, stats in known if fits(stats)), None)


def opening_entry(run: RunFacts) -> tuple[int, int] | None:
    """Return the entry shown without a choice: :func:`opening_tensor`, or a late output."""
    opening = opening_tensor(run)
    if opening is not None:
        return opening.node, opening.output
    tensors, graph = run.tensors, run.graph
    if not tensors:
        return None
    entries = list(tensors)
    if graph is not None:
        kinds = graph.kinds
        own = [e for e in entries if e[0] < len(kinds) and kinds[e[0]] >= NodeKind.OPERATOR]
        entries = own or entries
    last = entries[-1][0]
    return next(entry for entry in entries if entry[0] == last)


def _slowest_output(run: RunFacts) -> Tensor | None:
    if run.tensors is None or run.timeline is None:
        return None
    top = run.timeline.top(None)
    members = (nodes for nodes, ns in zip(top.members, top.ns.tolist(), strict=True) if ns > 0)
    outputs = (run.tensors.get((node, 0)) for nodes in members for node in nodes[::-1])
    return next((tensor for tensor in outputs if tensor is not None), None)


def _known_or_sampled(tensor: Tensor, *, sample: bool) -> Statistics | None:
    try:
        stats = tensor.known_statistics()
        if stats is None and sample:
            stats = tensor.statistics(sample=_SAMPLE)
    except (FormatError, OSError):
        return None
    return stats if stats is not None and stats.applicable else None


def checked_query(query: Any) -> str:
    """Return a stripped query, checked by the parser."""
    try:
        tree = parse(query)
    except (RuntimeError, MemoryError):  # of the engine: the view reports that nothing is hidden
        return str(query).strip()
    if tree is None:
        raise ValueError("a query of nothing hides nothing; write kind=parameter")
    return str(query).strip()


@dataclass(frozen=True)
class Highlight:
    """An extreme of a run in words, and its nodes."""

    label: str
    about: str
    name: str
    value: str
    nodes: tuple[int, ...]
    entry: Entry | None = None


def highlights(run: RunFacts) -> tuple[Highlight, ...]:
    """Return the extremes of a run that graph, times and tensors give."""
    return (*_slowest_highlights(run), *_largest(run), *_peak(run))


def _slowest_highlights(run: RunFacts) -> Iterator[Highlight]:
    if run.graph is None or run.timeline is None:
        return
    top = run.timeline.top(1)
    if not len(top) or not top.ns[0] > 0 or not top.members[0]:
        return
    value = time_share(float(top.ns[0]), float(top.share[0]), top.rounding_ns)
    node, nodes = int(top.nodes[0]), top.members[0]
    if node >= 0:
        yield Highlight("Slowest operator", "time", _name(run.graph, node), value, nodes)
    else:
        shared = run.timeline.shared
        call = int(run.timeline.account.call[run.timeline.account.ranked[0]])
        inserted = shared is not None and call >= 0 and bool(shared.apart[call])
        label = "Slowest operators" if inserted else "Slowest call"
        yield Highlight(label, "time", top.names[0], value, nodes)


def _largest(run: RunFacts) -> Iterator[Highlight]:
    graph = run.graph
    if graph is None:
        tensors = tuple((run.tensors or {}).values())
        if tensors:
            largest = max(tensors, key=lambda each: each.nbytes)
            entry = Entry(largest.node, largest.output)
            value = bytes_text(largest.nbytes)
            name = tensor_title(largest, None)
            yield Highlight("Largest tensor", "tensor", name, value, (entry.node,), entry)
        return
    sizes = entry_sizes(graph)
    counts = np.diff(graph.entry_offsets)
    owner = np.repeat(np.arange(graph.num_nodes), counts)
    roles = graph.roles.codes[owner]
    labels = {"": "activation", "parameter": "parameter", "input": "input"}
    for role, noun in labels.items():
        own = np.where(roles == ROLES.index(role), sizes, UNKNOWN)
        yield from _largest_of(graph, f"Largest {noun}", own, owner)


def _largest_of(
    graph: Graph, label: str, sizes: npt.NDArray[np.int64], owner: npt.NDArray[np.int64]
) -> Iterator[Highlight]:
    if not len(sizes) or sizes.max() <= 0:
        return
    at = int(sizes.argmax())
    node = int(owner[at])
    entry = Entry(node, at - int(graph.entry_offsets[node]))
    alike = int((sizes == sizes[at]).sum())
    value = bytes_text(int(sizes[at])) + (f", {alike} of this size" if alike > 1 else "")
    name = node_title(node_label(graph, node), *entry)
    yield Highlight(label, "tensor", name, value, (node,), entry)


def _peak(run: RunFacts) -> Iterator[Highlight]:
    if run.graph is None or why_not(run.parts):
        return
    peak = run.memory_plan.peak
    if not peak.nodes:
        return
    name = _name(run.graph, peak.nodes[0])
    more = f" and {len(peak.nodes) - 1} more" if len(peak.nodes) > 1 else ""
    yield Highlight("Peak memory", "memory", name + more, bytes_text(peak.bytes), peak.nodes)


def _name(graph: Graph, node: int) -> str:
    return node_title(node_label(graph, node), node)
