"""Delegates' own operators in place of their calls in the graph of a method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.executorch.event_nodes import call_titles
from tvmdbg_widgets.model.graph.columns import PlannedMemory
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind

#: Attributes of a call that its operators keep.
_KEPT: Final = (
    *("chain", "instruction", "kind"),
    *("delegate_index", "backend", "delegate", "stacktrace"),
)


class OpenedCall(NamedTuple):
    """A call to open: its delegate's graph, operators first, and edge counts of its arguments."""

    graph: Graph
    widths: tuple[int, ...]

    @property
    def operators(self) -> int:
        """Number of the delegate's operators."""
        return int(np.count_nonzero(self.graph.kinds == NodeKind.OPERATOR))

    @property
    def given(self) -> int:
        """Number of the delegate's inputs."""
        return int(np.count_nonzero(self.graph.kinds == NodeKind.INPUT))

    def fits(self, num_outputs: int) -> bool:
        """Whether the call has the delegate's arguments, and operators write all outputs."""
        heads = self.graph.heads[:, 0]
        sizes = (self.given, num_outputs) == (len(self.widths), len(heads))
        return sizes and bool((heads < self.operators).all())


@dataclass(frozen=True, eq=False)
class Opened:
    """A graph whose calls are opened."""

    graph: Graph
    nodes: Mapping[int, tuple[int, ...]]
    new_ids: npt.NDArray[np.int64]


def opened(graph: Graph, calls: Mapping[int, OpenedCall]) -> Opened:
    """Return a graph with delegates' operators and constants in place of their calls."""
    made = _Opening(graph, calls)
    nodes = {
        at: tuple(range(made.inner(at, 0), made.inner(at, call.operators)))
        for at, call in calls.items()
    }
    result = replace(graph, **made.edges(), **made.nodes(), **made.entries(), heads=made.heads())
    return Opened(result, MappingProxyType(nodes), made.first)


class _Opening:
    def __init__(self, graph: Graph, calls: Mapping[int, OpenedCall]) -> None:
        self._graph, self._calls = graph, calls
        self._operators = {at: call.operators for at, call in calls.items()}
        self._given = {at: call.given for at, call in calls.items()}
        sizes = np.ones(graph.num_nodes, np.int64)
        for at, call in calls.items():
            sizes[at] = call.graph.num_nodes - call.given
        self.first = np.concatenate(([0], np.cumsum(sizes)))[:-1]
        self._last = self.first + sizes - 1

    def inner(self, at: int, node: int) -> int:
        behind = node > self._operators[at]
        return int(self.first[at]) + node - (self._given[at] if behind else 0)

    def _entry(self, node: int, output: int) -> tuple[int, int]:
        if node in self._calls:
            head, place = self._calls[node].graph.heads[output].tolist()
            return self.inner(node, head), place
        return (int(self.first[node]) if node >= 0 else -1), output

    def heads(self) -> npt.NDArray[np.int32]:
        entries = [self._entry(*head) for head in self._graph.heads.tolist()]
        return np.array(entries, np.int32).reshape(-1, 2)

    def _candidates(self, edge: int) -> tuple[int, ...]:
        nodes: set[int] = set()
        for node in self._graph.edge_candidates[edge]:
            outputs = len(self._calls[node].graph.heads) if node in self._calls else 1
            nodes |= {self._entry(node, output)[0] for output in range(outputs)}
        return tuple(sorted(nodes))

    def edges(self) -> dict[str, Any]:
        """Return the columns of edges; reads of a call go to the operators that read them."""
        graph = self._graph
        read: list[list[int]] = [[] for _ in range(graph.num_nodes)]
        for edge, target in enumerate(graph.edge_target.tolist()):
            read[target].append(edge)
        rows: list[tuple[int, int, int, int, int]] = []
        candidates: dict[int, tuple[int, ...]] = {}
        position = defaultdict[int, int](int)

        def add(source: tuple[int, int], target: int, trust: int) -> None:
            rows.append((*source, target, position[target], trust))
            position[target] += 1

        def add_given(edges: list[int], target: int) -> None:
            for edge in edges:
                if edge in graph.edge_candidates:
                    candidates[len(rows)] = self._candidates(edge)
                source = self._entry(int(graph.edge_source[edge]), int(graph.edge_output[edge]))
                add(source, target, int(graph.edge_trust[edge]))

        for old in range(graph.num_nodes):
            if old not in self._calls:
                add_given(read[old], int(self.first[old]))
                continue
            own, first = self._calls[old].graph, self._operators[old]
            inputs = range(first, first + self._given[old])
            ends = np.cumsum((0, *self._calls[old].widths)).tolist()
            arguments = [read[old][start:end] for start, end in pairwise(ends)]
            columns = (own.edge_source, own.edge_output, own.edge_target, own.edge_trust)
            lists = (column.tolist() for column in columns)
            for source, output, target, trust in zip(*lists, strict=True):
                if source in inputs:
                    add_given(arguments[source - first], self.inner(old, target))
                else:
                    node = self.inner(old, source) if source >= 0 else -1
                    add((node, output), self.inner(old, target), trust)
        names = ("edge_source", "edge_output", "edge_target", "edge_position", "edge_trust")
        found = np.array(rows, np.int32).reshape(-1, 5).T
        return {**dict(zip(names, found, strict=True)), "edge_candidates": candidates}

    @cached_property
    def _parts(self) -> list[tuple[Graph, int, int, Mapping[str, str]]]:
        """Return stretches of nodes in order, those of delegates with their call's attributes."""
        stretches: list[tuple[Graph, int, int, Mapping[str, str]]] = []
        start = 0
        places = {
            at: (int(attrs.get("chain", 0)), int(attrs["instruction"]))
            for at, attrs in enumerate(self._graph.attrs)
            if "backend" in attrs
        }
        attrs_of = self._graph.attrs
        titles = call_titles({at: attrs_of[node]["backend"] for node, at in places.items()})
        for at in sorted(self._calls):
            own = self._calls[at].graph
            stretches.append((self._graph, start, at, {}))
            behind = self._operators[at] + self._given[at]
            call = {**self._graph.attrs[at], "delegate": titles[places[at]]}
            stretches.append((own, 0, self._operators[at], call))
            stretches.append((own, behind, own.num_nodes, call))
            start = at + 1
        return [*stretches, (self._graph, start, self._graph.num_nodes, {})]

    def nodes(self) -> dict[str, Any]:
        every = [
            (part, node, call) for part, low, high, call in self._parts for node in range(low, high)
        ]
        columns = {
            name: np.concatenate(
                [getattr(part, name)[low:high] for part, low, high, _ in self._parts]
            )
            for name in ("kinds", "parameter_trust")
        }
        # ``Conv2d_0_4`` is the operator ``Conv2d_4`` that instruction 0 calls.
        names = (
            f"_{call['instruction']}_".join(part.names[node].rsplit("_", 1))
            if call
            else part.names[node]
            for part, node, call in every
        )
        counts = [np.diff(part.entry_offsets[low : high + 1]) for part, low, high, _ in self._parts]
        return {
            **columns,
            "names": StringColumn.from_strings(names),
            "func_names": StringColumn.from_strings(p.func_names[n] for p, n, _ in every),
            "attrs": tuple(MappingProxyType(_attrs(p.attrs[n], call)) for p, n, call in every),
            "entry_offsets": np.concatenate(([0], np.cumsum(np.concatenate(counts)))),
            "arg_nodes": self.first[self._graph.arg_nodes].astype(np.int32),
        }

    def entries(self) -> dict[str, Any]:
        spans = [
            (part, int(part.entry_offsets[low]), int(part.entry_offsets[high]))
            for part, low, high, _ in self._parts
        ]
        widths = [np.diff(part.shape_offsets[low : high + 1]) for part, low, high in spans]
        dims = [
            part.shape_dims[part.shape_offsets[low] : part.shape_offsets[high]]
            for part, low, high in spans
        ]
        columns: dict[str, Any] = {
            "shape_offsets": np.concatenate(([0], np.cumsum(np.concatenate(widths)))),
            "shape_dims": np.concatenate(dims),
            "shape_known": np.concatenate(
                [part.shape_known[low:high] for part, low, high in spans]
            ),
            "dtypes": StringColumn.from_strings(
                part.dtypes[entry] for part, low, high in spans for entry in range(low, high)
            ),
        }
        for name in ("storage_ids", "device_types"):
            if (column := getattr(self._graph, name)) is not None:
                columns[name] = self._placed(column, -1)
        if (memory := self._graph.planned_memory) is not None:
            columns["planned_memory"] = self._planned(memory)
        return columns

    def _placed(self, column: npt.NDArray[Any], unknown: int) -> npt.NDArray[Any]:
        return np.concatenate(list(self._pieces(column, unknown))).astype(column.dtype)

    def _pieces(self, column: npt.NDArray[Any], unknown: int) -> Iterator[npt.NDArray[Any]]:
        start = 0
        for at in sorted(self._calls):
            first, end = self._graph.entry_offsets[at : at + 2].tolist()
            yield column[start:first]
            own = self._calls[at].graph
            piece = np.full(own.num_entries, unknown, column.dtype)
            piece[own.entry_offsets[own.heads[:, 0]] + own.heads[:, 1]] = column[first:end]
            yield piece[: own.entry_offsets[self._operators[at]]]
            yield piece[own.entry_offsets[self._operators[at] + self._given[at]] :]
            start = end
        yield column[start:]

    def _planned(self, memory: PlannedMemory) -> PlannedMemory:
        begin, end = memory.loops.T
        return replace(
            memory,
            buffers=self._placed(memory.buffers, -1),
            offsets=self._placed(memory.offsets, 0),
            kept=self.first[memory.kept].astype(np.int32),
            scratch=self.first[memory.scratch].astype(np.int32),
            loops=np.stack([self.first[begin], self._last[end]], axis=1).astype(np.int32),
        )


def _attrs(own: Mapping[str, str], call: Mapping[str, str]) -> dict[str, str]:
    if not call:
        return dict(own)
    if "delegate_node" not in own:
        return {**own, "instruction": call.get("instruction", "")}
    return {**own, **{name: call[name] for name in _KEPT if name in call}}
