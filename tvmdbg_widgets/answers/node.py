"""Details of one node: attributes, inputs, outputs, times and warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.ranges import area, find, paths, sums, window
from tvmdbg_widgets.answers.tensor import Context, Reply
from tvmdbg_widgets.model.base.numbers import Trust, counted, duration_text, exact_ns, percent
from tvmdbg_widgets.model.graph.graph import Graph, device_name, shape_text
from tvmdbg_widgets.model.graph.nodes import given_text
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.timeline.measured import TimeMeaning
from tvmdbg_widgets.model.timeline.words import timeline_words

_CONSUMERS = 200
_CANDIDATES = 20
_REPEATS = 20
_LISTED = 500  # inputs, and outputs


def node_details(
    run: RunFacts, node: int, notes: Mapping[int, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Return attributes, inputs, outputs with consumers, times and warnings of a node.

    ``notes`` are those of all nodes, for a caller that asks about many.
    """
    if run.graph is None:
        raise KeyError("this run has no graph")
    view = run.graph.nodes[node]
    return {
        "id": view.id,
        "name": view.name,
        "funcName": view.func_name,
        "kind": view.role or view.kind.name.lower(),
        "opKind": view.op_kind,
        "attrs": [[name, str(value)] for name, value in view.attrs.items()],
        "inputs": _inputs(run.graph, node),
        "inputCount": len(run.graph.in_edges(node)),
        "outputs": [
            _output(run.graph, node, output) for output in range(min(view.num_outputs, _LISTED))
        ],
        "outputCount": view.num_outputs,
        "times": _times(run, node),
        "notes": list((notes_by_node(run) if notes is None else notes).get(node, ())),
    }


def entry_text(graph: Graph, node: int, output: int) -> str:
    """Return dtype and shape of an entry as text, ``?`` for unknown ones."""
    if node < 0 or output >= len(graph.entry_range(node)):
        return "unknown"
    shape = graph.shape(node, output)
    size = "?" if shape is None else shape_text(shape)
    return f"{graph.dtype(node, output) or '?'} {size}"


def _inputs(graph: Graph, node: int) -> list[dict[str, Any]]:
    inputs = []
    for edge in graph.in_edges(node)[:_LISTED]:
        source, output = int(graph.edge_source[edge]), int(graph.edge_output[edge])
        inputs.append(
            {
                "node": source,
                "output": output,
                "name": graph.names[source] if source >= 0 else "not in the graph",
                "text": entry_text(graph, source, output) + _candidates_text(graph, int(edge)),
                "trust": Trust(int(graph.edge_trust[edge])).label,
            }
        )
    return inputs


def _candidates_text(graph: Graph, edge: int) -> str:
    """Return a suffix with other possible sources of an ambiguous edge."""
    nodes = graph.edge_candidates.get(edge, ())
    if not nodes:
        return ""
    if nodes == (int(graph.edge_source[edge]),):
        return f" · any output of #{nodes[0]}"
    shown = ", ".join(f"#{node}" for node in nodes[:_CANDIDATES])
    more = f" and {len(nodes) - _CANDIDATES} more" if len(nodes) > _CANDIDATES else ""
    return f" · one of {shown}{more}"


def _output(graph: Graph, node: int, output: int) -> dict[str, Any]:
    targets = graph.edge_target[graph.readers(node, output)]
    entry = graph.entry_id(node, output)
    text = entry_text(graph, node, output)
    planned = graph.planned_memory
    if planned is not None and planned.buffers[entry] >= 0:
        text += f", buffer {planned.buffers[entry]} from byte {planned.offsets[entry]:,}"
    elif planned is None and graph.storage_ids is not None and graph.storage_ids[entry] >= 0:
        text += f", storage {graph.storage_ids[entry]}"
    if graph.device_types is not None and graph.device_types[entry] >= 0:
        text += f", {device_name(int(graph.device_types[entry]))}"
    if graph.storage_scopes is not None and graph.storage_scopes[entry]:
        text += f", scope {graph.storage_scopes[entry]}"
    heads = np.flatnonzero((graph.heads == (node, output)).all(axis=1)).tolist()
    if heads:
        text += f", graph output {', '.join(map(str, heads))}"
    if len(targets) > _CONSUMERS:
        text += f", first {_CONSUMERS} of {counted(len(targets), 'use')} listed"
    consumers = dict.fromkeys(targets[:_CONSUMERS].tolist())
    return {
        "output": output,
        "text": text,
        "consumers": [{"node": consumer, "name": graph.names[consumer]} for consumer in consumers],
    }


def _times(run: RunFacts, node: int) -> list[tuple[str, str]]:
    timeline, graph = run.timeline, run.graph
    mean = float(timeline.node_ns[node]) if timeline is not None else np.nan
    given = given_text(graph.roles[node]) if graph is not None else ""
    if given and not mean > 0:
        return [("time", given)]
    if timeline is None or np.isnan(mean):
        return []
    measured = timeline.measured
    text = partial(duration_text, rounding_ns=timeline.rounding_ns)
    heads = {
        TimeMeaning.MEAN: "mean",
        TimeMeaning.CALL: "one call",
        TimeMeaning.SUM: "sum of all calls",
    }
    times_text = [(heads[measured], text(mean))]
    short = mean == 0 < timeline.rounding_ns
    if not short:
        times_text.append(("in nanoseconds", exact_ns(mean)))
    if timeline.total_ns > 0 and not short:
        share = float(timeline.account.node_shares(timeline.num_nodes)[node])
        whole = timeline_words(timeline, graph is not None).shares
        times_text.append((f"share {whole}", percent(share)))
    repeats = timeline.repeats(node)
    if len(repeats) and measured is TimeMeaning.MEAN:
        times = timeline.node(node)
        told = ", ".join(text(float(ns)) for ns in repeats[:_REPEATS])
        more = f" and {len(repeats) - _REPEATS:,} more" if len(repeats) > _REPEATS else ""
        times_text.append(("repeats", told + more))
        if times.p10 != times.p90:
            times_text.append(("p10 … p90", f"{text(times.p10)} … {text(times.p90)}"))
    times_text.append(("match", Trust(int(timeline.node_trust[node])).label))
    return times_text


def notes_by_node(run: RunFacts) -> dict[int, list[str]]:
    """Return distinct warnings about each node that has some."""
    found: dict[int, dict[str, None]] = {}
    for issue in run.issues:
        for node in issue.nodes:
            found.setdefault(node, {})[issue.message] = None
    tensors: Mapping[tuple[int, int], Tensor] = run.tensors or {}
    for (node, _), tensor in tensors.items():
        if tensor.notes:
            found.setdefault(node, {}).update(dict.fromkeys(tensor.notes))
    return {node: list(notes) for node, notes in found.items()}


RANGE_ANSWERS: dict[str, Callable[[Context, Question], Reply]] = {
    "window": window,
    "area": area,
    "sums": sums,
    "paths": paths,
    "find": find,
}
