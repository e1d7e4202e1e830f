"""The graph of a run: its nodes, and what is reached from where."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.choice import meant
from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph import tables as graph_tables
from tvmdbg_widgets.model.graph.columns import GraphColumns
from tvmdbg_widgets.model.graph.nodes import Entry, Node, NodeKind, Nodes, held_texts, roles_text
from tvmdbg_widgets.model.graph.parameters import parameters_by_file
from tvmdbg_widgets.model.graph.short_names import module_prefix, without_prefix
from tvmdbg_widgets.model.graph.subgraph import Subgraph
from tvmdbg_widgets.model.graph.walk import Neighbors, TopologicalOrder, topological

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


__all__ = ["Entry", "Graph", "Node", "NodeKind", "Nodes", "Subgraph"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph(GraphColumns):
    """A computational graph as columns, those of :class:`GraphColumns`."""

    @property
    def nodes(self) -> Nodes:
        """All nodes, by node id."""
        return Nodes(self)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Nodes of kind ``INPUT`` that are fed.

        Null nodes that are not known or inferred to be parameters, without the memory that a
        program plans for itself.
        """
        return tuple(Node(self, int(i)) for i in np.flatnonzero(self.is_fed))

    @property
    def parameters(self) -> tuple[Node, ...]:
        """Nodes of kind ``PARAMETER``."""
        return tuple(Node(self, int(i)) for i in np.flatnonzero(self.kinds == NodeKind.PARAMETER))

    @property
    def outputs(self) -> tuple[Entry, ...]:
        """Outputs of the graph in order; an entry may appear twice."""
        return tuple(Entry(node, output) for node, output in self.heads.tolist())

    def nodes_named(self, name: str) -> tuple[Node, ...]:
        """Return every node of that name, by node id."""
        return tuple(Node(self, int(row)) for row in self.names.rows(name))

    def node(self, name: str) -> Node:
        """Return the one node of that name.

        Where no node has it, a name may leave out what stands before it for the module
        (``tvmgen_default_``), ``fused_`` or both, as findings print it.

        Raises
        ------
        KeyError
            Where no node or more than one has that name; tells close names, or the ids.
        """
        found = self.nodes_named(name)
        if not found:
            modules = self.module_prefixes
            full = (
                each
                for each in self.names.unique
                if each.endswith(name)
                and name
                in (without_prefix(each, modules), each[len(module_prefix(each, modules)) :])
            )
            found = tuple(node for each in full for node in self.nodes_named(each))
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(node.id) for node in found[:10])
            more = f" and {len(found) - 10} more" if len(found) > 10 else ""
            raise KeyError(
                f"{counted(len(found), 'node')} are named {name!r} (ids {ids}{more}); "
                "take one by its id, graph.nodes[id], or all of one name by graph.nodes_named(name)"
            )
        raise KeyError(f"no node is named {name!r:.200}{meant(name, self.names.unique)}")

    def _neighbors(self, upwards: bool, include_ambiguous: bool) -> Neighbors:
        keep = self.edge_source >= 0
        if not include_ambiguous:
            keep &= self.edge_trust != Trust.AMBIGUOUS
        source, target = self.edge_source[keep], self.edge_target[keep]
        near, far = (target, source) if upwards else (source, target)
        return Neighbors.of(near, far, self.num_nodes)

    @cached_property
    def _neighbors_cache(self) -> dict[tuple[bool, bool], Neighbors]:
        return {}

    def _reach(self, nodes: int | Iterable[int], upwards: bool, ambiguous: bool) -> frozenset[int]:
        starts = [nodes] if isinstance(nodes, int | np.integer) else list(nodes)
        for node in starts:
            self.entry_range(node)
        key = (upwards, ambiguous)
        if key not in self._neighbors_cache:
            self._neighbors_cache[key] = self._neighbors(*key)
        return self._neighbors_cache[key].reach(starts)

    def ancestors(
        self, nodes: int | Iterable[int], *, include_ambiguous: bool = False
    ) -> frozenset[int]:
        """Return all nodes that `nodes` depend on, themselves only where they lie on a cycle."""
        return self._reach(nodes, True, include_ambiguous)

    def descendants(
        self, nodes: int | Iterable[int], *, include_ambiguous: bool = False
    ) -> frozenset[int]:
        """Return all nodes that depend on `nodes`, themselves only where they lie on a cycle."""
        return self._reach(nodes, False, include_ambiguous)

    @cached_property
    def order(self) -> TopologicalOrder:
        """Topological order over edges and control dependencies, with any cycles."""
        known = self.edge_source >= 0
        source = np.concatenate([self.edge_source[known], self.control_source])
        target = np.concatenate([self.edge_target[known], self.control_target])
        return topological(source, target, self.num_nodes)

    @property
    def topological_order(self) -> npt.NDArray[np.int32]:
        """Every node once, producers first (int32 [N]); nodes on or behind a cycle come last."""
        return self.order.nodes

    def subgraph(self, nodes: Iterable[int]) -> Subgraph:
        """Return a view of some nodes and the edges among them; node ids stay as they are."""
        return Subgraph(self, nodes)

    def with_parameters(self, names: Collection[str]) -> Graph:
        """Return the graph with its null nodes told apart by the names in a params file.

        A null node named there becomes a parameter (``EXACT``), any other an input. Names of
        which the graph has none tell nothing of it: the file is another model's.
        """
        if names and set(names).isdisjoint(self.names.unique):
            return self
        kinds, trust = parameters_by_file(self.names, self.kinds, names)
        return dataclasses.replace(self, kinds=kinds, parameter_trust=trust)

    def with_issues(self, issues: Issues) -> Graph:
        """Return the graph with other issues."""
        return dataclasses.replace(self, issues=issues)

    def __reduce__(self) -> tuple[Any, ...]:
        columns = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        columns["edge_candidates"] = dict(self.edge_candidates)
        columns["attrs"] = tuple(map(dict, self.attrs))
        return _rebuild, (columns,)

    def to_networkx(self, *, control: bool = False) -> nx.MultiDiGraph[int]:
        """Return a ``networkx.MultiDiGraph`` of node ids; an edge's key is its operand position.

        ``add(x, x)`` has two edges, keys 0 and 1. Edges have ``output``, ``trust`` and, where they
        are ambiguous, ``candidates``. Nodes have ``name``, ``func_name``, ``kind``, ``op_kind``
        and ``attrs``; of each output, as tuples, ``shapes``, ``dtypes``, ``storage_ids``,
        ``device_types`` and ``storage_scopes``, with None for what is unknown, or None in place
        of the tuple where the file has no such list; and ``dangling``, the positions of the
        operands whose producer is not in the graph: these have no edge. The graph has ``file``,
        ``form`` and ``heads``. ``DebugRun.to_networkx`` adds times and groups.

        Parameters
        ----------
        control : bool
            Also control dependencies, as edges of key ``"control"``.
        """
        nodes, edges = range(self.num_nodes), np.arange(self.num_edges)
        return graph_tables.to_networkx(self, nodes, edges, control=control)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per node (needs pandas)."""
        return graph_tables.to_dataframe(self)

    def __repr__(self) -> str:
        told = "; ".join(filter(None, (", ".join(held_texts(self)), roles_text(self))))
        return (
            f"Graph: {counted(self.num_nodes, 'node')} ({told}), "
            f"{counted(self.num_edges, 'edge')}, "
            f"{counted(self.num_entries, 'entry')}; {self.issues.summary()}"
        )


def _rebuild(columns: dict[str, Any]) -> Graph:
    columns["attrs"] = tuple(map(MappingProxyType, columns["attrs"]))
    return Graph(**columns)
