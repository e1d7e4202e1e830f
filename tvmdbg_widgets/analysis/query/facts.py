"""What queries look at, as columns that are made once a graph and only when they are asked for."""

from __future__ import annotations

import itertools
from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.layouts.entry_layouts import entry_layouts
from tvmdbg_widgets.analysis.memory.sizes import known_sizes
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.graph.devices import device_name
from tvmdbg_widgets.model.graph.labels import label
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind
from tvmdbg_widgets.model.graph.walk import Neighbors

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.graph.groups import Groups

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


class Facts:
    """One graph of N nodes and E entries, with the times of its nodes.

    Parameters
    ----------
    graph : Graph
    node_ns : float64 [N] or None
        Mean times in nanoseconds, NaN where unknown.
    groups : callable
        Gives the groups of the graph, once a query asks for them.
    """

    def __init__(
        self, graph: Graph, node_ns: Floats | None, groups: Callable[[], Groups | None]
    ) -> None:
        self.graph = graph
        self.node_ns = np.full(graph.num_nodes, np.nan) if node_ns is None else node_ns
        self._groups = groups
        self.lowered: dict[int, list[str]] = {}

    @cached_property
    def groups(self) -> Groups | None:
        """The groups, None where there are none."""
        return self._groups()

    @cached_property
    def labels(self) -> StringColumn:
        """What is written on each node: operators, or its name."""
        graph = self.graph
        shown = [label(text) for text in graph.func_names.unique]
        codes = graph.func_names.codes.tolist()
        return StringColumn.from_strings(
            shown[code] or name for code, name in zip(codes, graph.names, strict=True)
        )

    @cached_property
    def op_kinds(self) -> StringColumn:
        """The family of operators of each node."""
        graph = self.graph
        unique = graph.func_names.unique
        pairs = zip(graph.func_names.codes.tolist(), graph.kinds.tolist(), strict=True)
        return StringColumn.from_strings(op_kind(unique[code], kind) for code, kind in pairs)

    @cached_property
    def kinds(self) -> StringColumn:
        """What each node is: input, parameter, operator, nop, copy."""
        return StringColumn([kind.name.lower() for kind in NodeKind], self.graph.kinds)

    @cached_property
    def runs(self) -> npt.NDArray[np.bool_]:
        """Whether a node calls a function (bool [N])."""
        return self.graph.kinds >= NodeKind.OPERATOR

    @cached_property
    def devices(self) -> StringColumn:
        """The device of each entry, "" where unknown."""
        types = self.graph.device_types
        if types is None:
            return StringColumn([""], np.zeros(self.graph.num_entries, np.int32))
        return StringColumn.from_strings(
            device_name(number) if number >= 0 else "" for number in types.tolist()
        )

    @cached_property
    def layouts(self) -> StringColumn:
        """The layout of each entry, "" where none is stated."""
        return entry_layouts(self.graph)

    @cached_property
    def bytes(self) -> Floats:
        """The size of each entry, NaN where unknown."""
        return known_sizes(self.graph)

    @cached_property
    def shapes(self) -> tuple[Ints, list[tuple[int, ...]]]:
        """Which distinct shape each entry has (int32 [E]), and those; unknown ones count as ()."""
        graph = self.graph
        dims, offsets = graph.shape_dims.tolist(), graph.shape_offsets.tolist()
        found: dict[tuple[int, ...], int] = {}
        codes = [
            found.setdefault(tuple(dims[start:end]), len(found))
            for start, end in itertools.pairwise(offsets)
        ]
        return np.array(codes, np.int32), list(found)

    @cached_property
    def storage(self) -> Floats:
        """The storage of each entry, NaN where unknown."""
        ids = self.graph.storage_ids
        if ids is None:
            return np.full(self.graph.num_entries, np.nan)
        return np.where(ids < 0, np.nan, ids)

    @cached_property
    def ranks(self) -> Floats:
        """How many sizes the shape of each entry has, NaN where unknown."""
        graph = self.graph
        return np.where(graph.shape_known, np.diff(graph.shape_offsets), np.nan)

    @cached_property
    def shares(self) -> Floats:
        """Time of each node as a share of all, NaN where unknown (summed by node id)."""
        known = np.where(self.node_ns > 0, self.node_ns, 0.0)
        total = np.cumsum(known)[-1] if len(known) else 0.0
        return self.node_ns / total if total > 0 else np.full(len(known), np.nan)

    @cached_property
    def inputs(self) -> Floats:
        """How many operands each node reads."""
        return np.bincount(self.graph.edge_target, minlength=self.graph.num_nodes).astype(float)

    @cached_property
    def consumers(self) -> Floats:
        """How many nodes read from each node."""
        graph = self.graph
        known = graph.edge_source >= 0
        pairs = graph.edge_source[known].astype(np.int64) << 32 | graph.edge_target[known]
        return np.bincount(np.unique(pairs) >> 32, minlength=graph.num_nodes).astype(float)

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """Where each edge of data comes from and goes to, dangling ones left out."""
        known = self.graph.edge_source >= 0
        return self.graph.edge_source[known], self.graph.edge_target[known]

    @cached_property
    def readers(self) -> Neighbors:
        """The nodes that read from each node."""
        return Neighbors.of(*self.ends, self.graph.num_nodes)

    @cached_property
    def producers(self) -> Neighbors:
        """The nodes that each node reads from."""
        source, target = self.ends
        return Neighbors.of(target, source, self.graph.num_nodes)

    @cached_property
    def depths(self) -> Floats:
        """Edges on the longest way to each node; NaN on and behind cycles."""
        waiting: list[int] = np.bincount(self.ends[1], minlength=self.graph.num_nodes).tolist()
        depth = [0.0 if count == 0 else np.nan for count in waiting]
        most = [0] * len(waiting)
        ready = deque(node for node, count in enumerate(waiting) if count == 0)
        while ready:
            node = ready.popleft()
            for other in self.readers[node]:
                most[other] = max(most[other], most[node] + 1)
                waiting[other] -= 1
                if waiting[other] == 0:
                    depth[other] = float(most[other])
                    ready.append(other)
        return np.array(depth)

    @cached_property
    def attrs(self) -> tuple[Ints, Ints, list[str], list[str]]:
        """Which set of attributes each node has (int32 [N]), and the sets, each once.

        Set ``i`` has keys and values ``offsets[i]`` to ``offsets[i + 1] - 1`` (int32 [S + 1]).
        """
        sets: dict[tuple[tuple[str, str], ...], int] = {}
        codes = [sets.setdefault(tuple(each.items()), len(sets)) for each in self.graph.attrs]
        offsets = np.cumsum([0, *map(len, sets)]).astype(np.int32)
        keys = [key for each in sets for key, _ in each]
        values = [str(value) for each in sets for _, value in each]
        return np.array(codes, np.int32), offsets, keys, values
