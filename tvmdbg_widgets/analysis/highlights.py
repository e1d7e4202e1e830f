"""The extremes of a run: its slowest operator, its largest tensors, its peak of memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.memory.planned import why_not
from tvmdbg_widgets.analysis.memory.sizes import UNKNOWN, entry_sizes
from tvmdbg_widgets.model.base.numbers import bytes_text, time_share
from tvmdbg_widgets.model.graph.columns import ROLES
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_words import node_label, node_title, tensor_title
from tvmdbg_widgets.model.graph.nodes import Entry


@dataclass(frozen=True)
class Highlight:
    """What is largest in a run, in words, and the nodes it belongs to."""

    label: str
    about: str
    name: str
    value: str
    nodes: tuple[int, ...]
    entry: Entry | None = None


def highlights(run: Derived) -> tuple[Highlight, ...]:
    """Return the extremes of a run, as far as its graph, times and tensors tell them."""
    return (*_slowest(run), *_largest(run), *_peak(run))


def _slowest(run: Derived) -> Iterator[Highlight]:
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


def _largest(run: Derived) -> Iterator[Highlight]:
    graph = run.graph
    if graph is None:
        tensors = tuple((run.tensors or {}).values())
        if tensors:
            found = max(tensors, key=lambda each: each.nbytes)
            entry = Entry(found.node, found.output)
            value = bytes_text(found.nbytes)
            name = tensor_title(found, None)
            yield Highlight("Largest tensor", "tensor", name, value, (entry.node,), entry)
        return
    sizes = entry_sizes(graph)
    counts = np.diff(graph.entry_offsets)
    owner = np.repeat(np.arange(graph.num_nodes), counts)
    roles = graph.roles.codes[owner]
    labels = {
        "Largest activation": roles == ROLES.index(""),
        "Largest parameter": roles == ROLES.index("parameter"),
        "Largest input": roles == ROLES.index("input"),
    }
    for label, those in labels.items():
        yield from _largest_of(graph, label, np.where(those, sizes, UNKNOWN), owner)


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


def _peak(run: Derived) -> Iterator[Highlight]:
    if run.graph is None or why_not(run.parts):
        return
    peak = run.memory_plan().peak
    if not peak.nodes:
        return
    name = _name(run.graph, peak.nodes[0])
    more = f" and {len(peak.nodes) - 1} more" if len(peak.nodes) > 1 else ""
    yield Highlight("Peak memory", "memory", name + more, bytes_text(peak.bytes), peak.nodes)


def _name(graph: Graph, node: int) -> str:
    return node_title(node_label(graph, node), node)
