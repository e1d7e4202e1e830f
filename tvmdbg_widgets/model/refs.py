"""References to nodes by id, name or group, and joins of trace and table rows to nodes."""

from __future__ import annotations

import itertools
import operator
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.slips import fields_of, one_of
from tvmdbg_widgets.model.base.text import IssueLog, Issues
from tvmdbg_widgets.model.graph.graph import Graph, device_name
from tvmdbg_widgets.model.graph.groups import Group
from tvmdbg_widgets.model.graph.nodes import Node, NodeKind, Subgraph
from tvmdbg_widgets.model.tensors.tensors import Tensor, Tensors
from tvmdbg_widgets.model.timeline.timeline import Timeline


def node_ref(given: Any, graph: Graph | None, tensors: Tensors | None = None) -> int:
    """Return the id of the referenced node."""
    if isinstance(given, str):
        return _named(given, graph, tensors)
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"pass a node's id or name, not {given!r:.200}")
    node = operator.index(given)
    if node < 0 and graph is None:
        raise IndexError(f"no node {node}; node ids start at 0")
    if graph is not None and not 0 <= node < graph.num_nodes:
        raise IndexError(f"no node {node}; ids are 0 to {graph.num_nodes - 1}")
    return node


def entry_ref(
    given: Any, graph: Graph | None, tensors: Tensors | None = None, *, only_tensors: bool = False
) -> tuple[int, int]:
    """Return the referenced entry, by default the first output; without a graph one of tensors."""
    if isinstance(given, Tensor):
        given = (given.node, given.output)
    named, output = given if isinstance(given, list | tuple) and len(given) == 2 else (given, 0)
    numbers = (output,) if isinstance(named, str) else (named, output)
    if any(isinstance(number, bool) or not hasattr(number, "__index__") for number in numbers):
        raise TypeError(f"an entry is a node or (node, output), not {given!r:.200}")
    node, output = node_ref(named, graph, tensors), operator.index(output)
    if graph is None:
        if output < 0:
            raise IndexError(f"no output {output} of node {node}; outputs start at 0")
        if only_tensors and tensors is not None:
            held = tensors[node, output]
            return held.node, held.output
        return node, output
    outputs = int(graph.entry_offsets[node + 1] - graph.entry_offsets[node])
    # A node without outputs is allowed.
    if not 0 <= output < max(1, outputs):
        known = f"its outputs are 0 to {outputs - 1}" if outputs > 1 else "it has one, 0"
        raise IndexError(f"no output {output} of node {node}; {known}")
    return node, output


ISOLATIONS = ("upstream", "downstream", "around", "path")


def checked_isolation(graph: Graph | None, given: object) -> dict[str, Any] | None:
    """Return the wanted part of a graph as ``{"kind", "nodes", "hops"}``, nodes by id."""
    if given is None:
        return None
    if graph is None:
        raise ValueError("no graph to show a part of")
    fields = fields_of(given, "isolate", ("kind", "nodes", "hops"))
    kind = one_of("kind", fields.get("kind"), ISOLATIONS)
    named = fields.get("nodes")
    several = named if isinstance(named, list | tuple) else [named]
    nodes = list(dict.fromkeys(node_ref(node, graph) for node in several))
    if not nodes or (kind == "path" and len(nodes) != 2):
        wanted = "two nodes" if kind == "path" else "at least one node"
        raise ValueError(f"{kind} takes {wanted}, found {len(nodes)}")
    hops = fields.get("hops")
    if kind == "around":
        hops = 1 if hops is None else hops
        if isinstance(hops, bool) or not isinstance(hops, int) or hops < 0:
            raise ValueError(f"hops is an integer from 0, found {hops!r}")
    elif hops is not None:
        raise ValueError(f"only around takes hops, not {kind}")
    if kind == "path" and not any(
        end in graph.descendants(start, include_ambiguous=True)
        for start, end in itertools.permutations(nodes)
    ):
        first, second = (f"#{node} {graph.names[node]!r}" for node in nodes)
        raise ValueError(f"no path between {first} and {second}, in either direction")
    return {"kind": kind, "nodes": nodes, "hops": hops}


def listed(given: Any) -> Any:
    """Return references of nodes as a list; other values stay."""
    if isinstance(given, Group):
        return given.nodes.tolist()
    if isinstance(given, Subgraph):
        return given.node_ids.tolist()
    if isinstance(given, np.ndarray):
        return given.tolist()
    if isinstance(given, list | tuple | set | frozenset | range):
        return [_id(item) for item in given]
    return [_id(given)] if isinstance(given, int | np.integer | Node) else given


def _named(name: str, graph: Graph | None, tensors: Tensors | None) -> int:
    if graph is not None:
        return int(graph.node(name).id)
    if tensors is None:
        raise KeyError(f"no graph to look up {name!r:.200} in; name nodes by id")
    return int(tensors[name].node)


def _id(given: Any) -> Any:
    if isinstance(given, Node):
        return given.id
    return int(given) if isinstance(given, np.integer) else given


Shape = tuple[int, ...] | None


@dataclass(frozen=True)
class NodeJoin:
    """Node ids (-1 unknown) and trust of items, and issues."""

    nodes: npt.NDArray[np.int32]
    trust: npt.NDArray[np.uint8]
    issues: Issues


@dataclass(frozen=True)
class KnownTimes:
    """Node times of a trace of the same run, which tell rows of one name apart."""

    node_ns: npt.NDArray[np.float64]
    row_ns: npt.NDArray[np.float64]
    rounding_ns: float

    def agreeing(self, nodes: list[int], row: int) -> list[int]:
        """Return the nodes with a row's time, within the table's digits."""
        apart = np.abs(self.node_ns[nodes] - self.row_ns[row])
        return [nodes[i] for i in np.flatnonzero(apart <= self.rounding_ns * 1.001).tolist()]


def by_position(
    node_names: StringColumn, names: Sequence[str]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8], list[int]]:
    """Join names to nodes by position; differing ones by name if unique."""
    known, given = list(node_names), list(names)
    nodes = np.arange(len(given), dtype=np.int32)
    trust = np.full(len(given), Trust.BY_ORDER, np.uint8)
    differing = [i for i, name in enumerate(given) if i >= len(known) or name != known[i]]
    named: dict[str, list[int]] = defaultdict(list)
    for node, name in enumerate(known if differing else ()):
        named[name].append(node)
    for i in differing:
        fitting = named.get(given[i], [])
        nodes[i] = fitting[0] if len(fitting) == 1 else -1
        trust[i] = Trust.BY_NAME if len(fitting) == 1 else Trust.ABSENT
    return nodes, trust, differing


def join_pairs(node_names: StringColumn, pair_names: StringColumn, *, file: str) -> NodeJoin:
    """Join the pairs of an execution trace to nodes by position; names only confirm it."""
    count = len(pair_names)
    nodes, trust, differing = by_position(node_names, pair_names)
    issues = IssueLog(file)
    if count != len(node_names):
        message = (
            f"the trace has {counted(count, 'pair')} for {counted(len(node_names), 'node')}; "
            "it may be from another graph, or the run was stopped"
        )
        issues.warning("trace-length", message)
    if differing:
        first = differing[0]
        expected = repr(node_names[first]) if first < len(node_names) else "no more pairs"
        message = (
            f"{counted(len(differing), 'pair')} of the trace {agree(len(differing), 'does')} "
            f"not name the node at {agree(len(differing), 'its')} position: pair {first} is "
            f"{pair_names[first]!r}, expected {expected}; matched by name where the name is "
            "unique, else left without a node"
        )
        issues.warning("trace-names", message, (int(nodes[i]) for i in differing if nodes[i] >= 0))
    return NodeJoin(nodes, trust, Issues(issues))


def join_rows(
    node_names: StringColumn,
    entry_shapes: Sequence[Sequence[Shape]],
    row_names: Sequence[str],
    row_shapes: Sequence[Shape],
    *,
    in_node_order: bool,
    times: KnownTimes | None = None,
    file: str,
) -> NodeJoin:
    """Join rows of a printed table to nodes by position, else by name, shape and time."""
    counts = np.fromiter(map(len, entry_shapes), np.int64, len(entry_shapes))
    if in_node_order and len(row_names) == counts.sum():
        nodes = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        if all(map(operator.eq, map(list(node_names).__getitem__, nodes.tolist()), row_names)):
            return NodeJoin(nodes, np.full(len(nodes), Trust.BY_ORDER, np.uint8), Issues())
    code_of = {name: code for code, name in enumerate(dict.fromkeys(node_names.unique))}
    own = np.array([code_of[name] for name in node_names.unique], np.int64)
    has = np.flatnonzero(counts)
    codes = own[node_names.codes[has]] if len(has) else has
    alike = np.append(np.bincount(codes, minlength=len(code_of)), 0)
    only = np.full(len(alike), -1, np.int32)
    only[codes] = has
    row_codes = np.fromiter(
        (code_of.get(row_name, -1) for row_name in row_names), np.int64, len(row_names)
    )
    alone = alike[row_codes] == 1
    nodes = np.where(alone, only[row_codes], -1).astype(np.int32)
    trust = np.where(alone, Trust.BY_NAME, Trust.ABSENT).astype(np.uint8)
    named: dict[int, list[int]] = defaultdict(list)
    for node, code in zip(has.tolist(), codes.tolist(), strict=True):
        if alike[code] > 1:
            named[code].append(node)
    rows_named: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(alike[row_codes] > 1).tolist():
        rows_named[int(row_codes[row])].append(row)
    for code, rows in rows_named.items():
        _spread(_fitting(named[code], rows, entry_shapes, row_shapes, times), nodes, trust)
    return NodeJoin(nodes, trust, _row_issues(row_names, nodes, trust, file))


def _fitting(
    candidates: list[int],
    rows: list[int],
    entry_shapes: Sequence[Sequence[Shape]],
    row_shapes: Sequence[Shape],
    times: KnownTimes | None,
) -> dict[int, list[int]]:
    """Return the nodes of a row's name with its shape and, where known, its time."""
    shaped: dict[Shape, list[int]] = {}
    fitting: dict[tuple[Shape, float | None], list[int]] = {}
    fits = {}
    for row in rows:
        shape = row_shapes[row]
        if shape not in shaped:
            same = [n for n in candidates if shape in entry_shapes[n] or None in entry_shapes[n]]
            shaped[shape] = same or candidates
        key = shape, None if times is None else float(times.row_ns[row])
        if key not in fitting:
            timely = [] if times is None else times.agreeing(shaped[shape], row)
            fitting[key] = timely or shaped[shape]
        fits[row] = fitting[key]
    return fits


def _spread(
    fits: dict[int, list[int]], nodes: npt.NDArray[np.int32], trust: npt.NDArray[np.uint8]
) -> None:
    """Give rows distinct fitting nodes; rows with few choices first."""
    taken: set[int] = set()
    positions: dict[int, int] = defaultdict(int)  # rows with equal fits share one list
    for row, fitting in sorted(fits.items(), key=lambda item: len(item[1])):
        position = positions[id(fitting)]
        while position < len(fitting) and fitting[position] in taken:
            position += 1
        positions[id(fitting)] = position
        nodes[row] = fitting[position] if position < len(fitting) else fitting[0]
        trust[row] = Trust.BY_NAME if len(fitting) == 1 else Trust.AMBIGUOUS
        if len(fitting) > 1:
            taken.add(int(nodes[row]))


def _row_issues(
    row_names: Sequence[str], nodes: npt.NDArray[np.int32], trust: npt.NDArray[np.uint8], file: str
) -> Issues:
    issues = IssueLog(file)
    lost = np.flatnonzero(nodes < 0)
    if len(lost):
        message = (
            f"{len(lost)} of {counted(len(row_names), 'row')} of the table "
            f"{agree(len(lost), 'names')} no node of the "
            f"graph{agree(len(lost), ':', ', the first is')} {row_names[lost[0]]!r}; the "
            "table may be from another run"
        )
        issues.warning("table-names", message)
    unsure = nodes[trust == Trust.AMBIGUOUS]
    if len(unsure):
        message = (
            f"{counted(len(unsure), 'row')} of the table {agree(len(unsure), 'has')} a name "
            "and shape that several "
            "nodes share; a sorted table does not say which row belongs to which"
        )
        issues.warning("table-rows-ambiguous", message, unsure)
    return Issues(issues)


def shapes_with_rows(graph: Graph) -> list[list[Shape]]:
    """Return the shapes of the outputs that a printed table has rows for, by node."""
    shapes, ends = graph.entry_shapes, graph.entry_offsets.tolist()
    runs = (graph.kinds > NodeKind.PARAMETER).tolist()
    return [
        list(shapes[start:end]) if run else []
        for run, (start, end) in zip(runs, itertools.pairwise(ends), strict=True)
    ]


def by_device(timeline: Timeline, graph: Graph, default: str) -> Timeline:
    """Put the slices on one track a device: that of their node, or ``default``."""
    if graph.device_types is None or not graph.num_entries or not len(timeline.slice_node):
        tracks = (default,) if timeline.tracks else ()
        return on_devices(timeline, timeline.slice_track, tracks)
    first = np.minimum(graph.entry_offsets[:-1], graph.num_entries - 1)
    types = np.where(np.diff(graph.entry_offsets) > 0, graph.device_types[first], -1)
    of_slice = np.where(timeline.slice_node >= 0, types[timeline.slice_node], -1)
    distinct, track = np.unique(of_slice, return_inverse=True)
    if len(distinct) == 1:
        return on_devices(timeline, timeline.slice_track, (default,))
    names = tuple(device_name(int(number)) for number in distinct)
    return on_devices(timeline, track.astype(np.int32), names)


def on_devices(
    timeline: Timeline, track: npt.NDArray[np.int32], devices: tuple[str, ...]
) -> Timeline:
    """Put the slices on one track a device."""
    return replace(
        timeline,
        slice_track=track,
        tracks=devices,
        track_run=np.zeros(len(devices), np.int32),
        track_device=devices,
        track_thread=("",) * len(devices),
    )
