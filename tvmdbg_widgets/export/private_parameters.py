"""Which tensors are parameters, so that their values stay where they are."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensor

#: A parameter of fewer values is told by counts alone: bounds and mean would give values away.
FEWEST = 32
_INPUT = re.compile(
    r"[xyz]\d*|.*(?:data|input|image|img|pixel|ids|mask|token|query|frame|audio|feature).*",
    re.IGNORECASE | re.DOTALL,
)
_COMPUTED = re.compile(r"(?:tvmgen_|fused_)\w+(?::\d+)?")
_WEIGHT = re.compile(
    r"weight|bias|gamma|beta|kernel|filter|embed|norm|scale|mean|var|const|param|proj|dense|conv",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PrivateParameters:
    """Entries whose values are parameters, each kind for its own reason."""

    parameters: frozenset[tuple[int, int]]
    doubtful: frozenset[tuple[int, int]]
    derived: frozenset[tuple[int, int]]

    def __contains__(self, entry: tuple[int, int]) -> bool:
        return entry in self.parameters or entry in self.doubtful or entry in self.derived

    def counts_only(self, tensor: Tensor) -> bool:
        """Whether of a tensor not even the bounds are told."""
        return (tensor.node, tensor.output) in self and math.prod(tensor.view_shape) < FEWEST


def private_parameters(run: RunParts, *, doubt: bool = True) -> PrivateParameters:
    """Tell the parameters of a run from its activations and inputs.

    Without a graph every tensor may be one. Where no params file was given, a null node is an
    input only if its name says so.
    """
    entries = list(run.tensors or ())
    if run.graph is None:
        return PrivateParameters(frozenset(), frozenset(entries), frozenset())
    graph = run.graph
    null = graph.kinds <= NodeKind.PARAMETER
    known = null & (graph.kinds == NodeKind.PARAMETER)
    told = bool((graph.parameter_trust[known] == Trust.EXACT).any())
    doubtful = np.zeros(graph.num_nodes, np.bool_)
    if doubt and not told:
        for node in np.flatnonzero(null & ~known).tolist():
            doubtful[node] = not _is_input(graph.names[node])
    derived = _derived(graph, known | doubtful)
    return PrivateParameters(
        *(
            frozenset(entry for entry in entries if entry[0] >= graph.num_nodes or grade[entry[0]])
            for grade in (known, doubtful, derived)
        )
    )


def _is_input(name: str) -> bool:
    """Whether a name is an input's and no weight's: ``query``, but not ``query.weight``.

    In a part of a run an input may have the name of the operator that computed it.
    """
    if _COMPUTED.fullmatch(name):
        return True
    return _INPUT.fullmatch(name) is not None and _WEIGHT.search(name) is None


def _derived(
    graph: Graph, private: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Nodes that read something, and nothing but what is private or so derived."""
    reads = np.zeros(graph.num_nodes, np.int64)
    np.add.at(reads, graph.edge_target, 1)
    open_reads = reads.copy()
    waiting = np.flatnonzero(private).tolist()
    derived = np.zeros(graph.num_nodes, np.bool_)
    while waiting:
        node = waiting.pop()
        for target in graph.edge_target[graph.out_edges(node)].tolist():
            open_reads[target] -= 1
            if open_reads[target] == 0 and not private[target] and not derived[target]:
                derived[target] = True
                waiting.append(target)
    return derived
