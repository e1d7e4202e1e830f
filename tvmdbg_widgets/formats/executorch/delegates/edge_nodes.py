"""Edge-program operators that the nodes of delegates' graphs come from.

Debug handles are not unique, and kernels outside of delegates share them: an exported operator and
its decomposition have one handle. So the operator must fit the node's type, then equal sizes go
before the order of the graph (``backends/xnnpack/operators/op_*.py`` @ v1.4.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from tvmdbg_widgets.formats.executorch.delegates.xnnpack import EDGE_OPERATORS
from tvmdbg_widgets.formats.limits import WorkBudget
from tvmdbg_widgets.model.executorch.delegate_graph import (
    DelegateEdges,
    DelegateGraph,
    DelegateNode,
    DelegateNodeId,
    EdgeNode,
)
from tvmdbg_widgets.model.executorch.etrecord import ExportedProgram, ProgramNode, Size

_OPERATORS: Final = frozenset(each for operators in EDGE_OPERATORS.values() for each in operators)
#: Of a tensor in PyTorch.
_MOST_DIMENSIONS = 64
#: Visits per operator, whatever the number of nodes that share its handle.
_LOOKS = 200


def is_taken(operator: str) -> bool:
    """Whether an operator, without name space and overload, can become part of XNNPACK's graph."""
    return operator in _OPERATORS or goes_up(operator) is not None


def edge_nodes(
    graphs: Mapping[int, DelegateGraph],
    program: ExportedProgram,
    handles: Mapping[int, int | Sequence[int]],
    maps: Mapping[int, Mapping[str, Sequence[int]]] = MappingProxyType({}),
) -> DelegateEdges:
    """Find the edge operators that delegates' nodes come from."""
    listed, foreign = _listed(graphs, program, handles)
    natives = {handle for handle in handles.values() if isinstance(handle, int)}
    candidates = _Candidates(program, natives)
    of: dict[DelegateNodeId, EdgeNode] = {}
    fused: dict[int, Owners] = {}
    for instruction, own in listed.items():
        graph = graphs[instruction]
        if not any(node.inserted or node.handle is not None for node in graph.nodes):
            inside = candidates.free(own)
            places = _places(graph, program, inside, maps.get(instruction, {}))
            mapped, taken_in = (
                _by_names(graph, program, inside)
                if places is None
                else _by_map(graph, program, places)
            )
            for index, edge in mapped.items():
                of[instruction, index] = edge
                candidates.give(instruction, edge.node)
            fused.update((at, ((instruction, index),)) for at, index in taken_in.items())
            continue
        for node in graph.nodes:
            if node.handle is None:
                continue
            match = candidates.take(instruction, node, graph)
            if match is not None:
                of[instruction, node.index] = match
    part_of, beside = taken_in_by(graphs, program, listed, of)
    return DelegateEdges(of, {**part_of, **fused}, beside, frozenset(foreign))


def _listed(
    graphs: Mapping[int, DelegateGraph],
    program: ExportedProgram,
    handles: Mapping[int, int | Sequence[int]],
) -> tuple[dict[int, Counter[int]], set[int]]:
    """Return the handles of the calls by instruction, and the calls of another export."""
    listed: dict[int, Counter[int]] = {}
    foreign: set[int] = set()
    for instruction, graph in sorted(graphs.items()):
        own = handles.get(instruction, () if not handles else None)
        if not isinstance(own, Sequence):
            wrong = any(node.handle is not None for node in graph.nodes)
        elif not (wrong := _contradicted(graph, program, own)):
            listed[instruction] = Counter(own)
        if wrong:
            foreign.add(instruction)
    return listed, foreign


def _contradicted(graph: DelegateGraph, program: ExportedProgram, own: Sequence[int]) -> bool:
    """Return whether a delegate's graph is of another export; lowering may change half of it."""
    call = {None, *own}
    if own and any(node.handle not in call for node in graph.nodes):
        return True
    known = wrong = 0
    operators: dict[int, dict[str, set[tuple[int, ...] | None]]] = {}
    for node in graph.nodes:
        fits = EDGE_OPERATORS.get(node.type)
        if node.handle is None or fits is None:
            continue
        if node.handle not in operators:
            there = operators[node.handle] = {}
            for at in program.by_handle.get(node.handle, ()):
                sizes = _without_ones(_sizes(program.nodes[at]))
                there.setdefault(program.nodes[at].operator, set()).add(sizes)
        there = operators[node.handle]
        sizes_there = {sizes for operator in fits for sizes in there.get(operator, ())}
        written = graph.values.get(node.writes[0]) if node.writes else None
        wanted = None if written is None else _without_ones(_sorted(written.shape))
        # A concatenation of many values has become several.
        sure = wanted is not None and None not in sizes_there and fits != ("cat",)
        known += 1
        wrong += not sizes_there or (sure and wanted not in sizes_there)
    return 0 < known <= 2 * wrong


def _without_ones(sizes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    return None if sizes is None else tuple(size for size in sizes if size != 1)


class _EdgeNodeQueue:
    """Edge nodes in graph order; those that are taken are dropped once they come first."""

    def __init__(self) -> None:
        self._nodes: list[int] = []
        self._at = 0
        self.left = 0

    def add(self, node: int) -> None:
        self._nodes.append(node)
        self.left += 1

    def first(self, taken: set[int]) -> int:
        while self._nodes[self._at] in taken:
            self._at += 1
        return self._nodes[self._at]


class _Candidates:
    """Operators that no delegate's node has taken, by handle, operator and sorted sizes."""

    def __init__(self, program: ExportedProgram, natives: set[int]) -> None:
        self._program = program
        self._natives = natives
        most = 10_000 + _LOOKS * len(program.nodes)
        self._budget = WorkBudget(most, program.name, "nodes for the handles of all calls")
        #: By handle and operator, then by sorted sizes; None holds all sizes.
        self._queues: dict[tuple[int, str], dict[tuple[int, ...] | None, _EdgeNodeQueue]] = {}
        self._ready: set[int] = set()
        self._taken: set[int] = set()
        #: How many a delegate has taken, and the last one, by its instruction, handle, operator.
        self._given: dict[tuple[int, int, str], tuple[int, int]] = {}

    def take(self, instruction: int, node: DelegateNode, graph: DelegateGraph) -> EdgeNode | None:
        handle = node.handle
        if handle is None:
            return None
        self._prepare(handle)
        fits = EDGE_OPERATORS.get(node.type)
        if fits is None:
            # A type that is not known: only where no doubt is possible.
            sole = self._program.by_handle.get(handle, ())
            if len(sole) != 1 or handle in self._natives or sole[0] in self._taken:
                return None
            fits = (self._program.nodes[sole[0]].operator,)
        written = graph.values.get(node.writes[0]) if node.writes else None
        wanted = None if written is None else _sorted(written.shape)
        for sizes in dict.fromkeys((wanted, None)):
            queues = [self._queues.get((handle, name), {}).get(sizes) for name in fits]
            held = [queue for queue in queues if queue is not None and queue.left]
            if held:
                alternatives = sum(queue.left for queue in held)
                chosen = min(queue.first(self._taken) for queue in held)
                self.give(instruction, chosen)
                return EdgeNode(chosen, alternatives)
        # One operator that lowering has split: a concatenation of many values.
        shared = [self._given.get((instruction, handle, name)) for name in fits]
        given = [name for name in shared if name is not None]
        return EdgeNode(given[-1][1], sum(count for count, _ in given)) if given else None

    def _prepare(self, handle: int) -> None:
        if handle in self._ready:
            return
        self._ready.add(handle)
        for at in sorted({*self._program.by_handle.get(handle, ())} - self._taken):
            node = self._program.nodes[at]
            queues = self._queues.setdefault((handle, node.operator), {})
            for sizes in {_sizes(node), None}:
                queues.setdefault(sizes, _EdgeNodeQueue()).add(at)

    def free(self, handles: Iterable[int]) -> list[int]:
        """Return the nodes with some handles that no kernel and no other delegate has."""
        own = {handle for handle in handles if handle not in self._natives}
        held = [self._program.by_handle.get(handle, ()) for handle in own]
        self._budget.spend(sum(map(len, held)), "debug_handle_map")
        return sorted({at for nodes in held for at in nodes} - self._taken)

    def give(self, instruction: int, at: int) -> None:
        fresh = at not in self._taken
        self._taken.add(at)
        node = self._program.nodes[at]
        sizes = _sizes(node)
        for handle in node.handles:
            count, _ = self._given.get((instruction, handle, node.operator), (0, at))
            self._given[instruction, handle, node.operator] = (count + 1, at)
            if fresh and handle in self._ready:
                for key in {sizes, None}:
                    self._queues[handle, node.operator][key].left -= 1


def _sizes(node: ProgramNode) -> tuple[int, ...] | None:
    """Return the sorted sizes of a node's first output, or None."""
    return _sorted(node.outputs[0].sizes) if node.outputs else None


def _sorted(sizes: Sequence[Size] | None) -> tuple[int, ...] | None:
    if sizes is None or len(sizes) > _MOST_DIMENSIONS:
        return None
    known = [size for size in sizes if isinstance(size, int)]
    return tuple(sorted(known)) if len(known) == len(sizes) else None


Owners = tuple[DelegateNodeId, ...]

#: Starts of the operators that a neighbor takes in, by whether that is a producer or a user.
_TAKEN_IN: Final = {
    "relu": True,
    "hardtanh": True,
    "clamp": True,
    "_native_batch_norm": True,
    "native_batch_norm": True,
    "clone": True,
    "_clone_dim_order": True,
    "quantize_": True,
    "dequantize_": False,
    "choose_qparams": False,
}
#: Budget of steps between neighbors per operator and read value.
_STEPS = 20


@lru_cache(maxsize=1024)
def goes_up(operator: str) -> bool | None:
    """Whether a producer takes an operator in; False for a user, None for neither."""
    return next((up for start, up in _TAKEN_IN.items() if operator.startswith(start)), None)


class _DelegateNeighbors:
    """The delegates' nodes nearest to operators without a node, before and behind them."""

    def __init__(
        self,
        program: ExportedProgram,
        owners: Mapping[int, Sequence[DelegateNodeId]],
        inside: set[int],
    ) -> None:
        self._program = program
        producers = program.producers
        self._reads: dict[int, list[int]] = {}
        self._users: dict[int, list[int]] = {}
        for at, node in enumerate(program.nodes):
            for name in dict.fromkeys(name for _, name in node.inputs):
                source = producers[name][0] if name in producers else at
                if source < at and (source in inside or at in inside):
                    self._reads.setdefault(at, []).append(source)
                    self._users.setdefault(source, []).append(at)
        links = sum(map(len, self._reads.values())) + len(owners) + len(inside)
        self._budget = WorkBudget(10_000 + _STEPS * links, program.name, "steps between operators")
        on = {at: (0, tuple(sorted(ids))) for at, ids in owners.items()}
        self._before = self._walked(sorted(inside), self._reads, on)
        self._behind = self._walked(sorted(inside, reverse=True), self._users, on)

    def owners_of(self, at: int, calls: set[int]) -> Owners:
        """Return the nearest nodes in these calls, first on the side that takes such nodes in."""
        sides = [self._before, self._behind]
        if not goes_up(self._program.nodes[at].operator):
            sides.reverse()
        for near in sides:
            _, owners = near.get(at, (0, ()))
            self._budget.spend(len(owners))
            called = tuple(owner for owner in owners if owner[0] in calls)
            if called:
                return called
        return ()

    def _walked(
        self,
        order: Iterable[int],
        neighbors: Mapping[int, Sequence[int]],
        on: Mapping[int, tuple[int, Owners]],
    ) -> dict[int, tuple[int, Owners]]:
        nearest = dict(on)
        for at in order:
            reached = [nearest[node] for node in neighbors.get(at, ()) if node in nearest]
            if not reached:
                continue
            steps = min(far for far, _ in reached)
            owners = list({id(own): own for far, own in reached if far == steps}.values())
            if len(owners) > 1:
                self._budget.spend(sum(map(len, owners)))
                owners = [tuple(sorted({node for own in owners for node in own}))]
            nearest[at] = (steps + 1, owners[0])
        return nearest


def taken_in_by(
    graphs: Mapping[int, DelegateGraph],
    program: ExportedProgram,
    listed: Mapping[int, Counter[int]],
    of: Mapping[DelegateNodeId, EdgeNode],
) -> tuple[dict[int, Owners], dict[int, Owners]]:
    """Return the nodes that took in operators without a node of their own."""
    calls: dict[int, list[int]] = {}
    left: Counter[int] = Counter()
    for instruction, own in listed.items():
        left.update(own)
        for handle in own:
            calls.setdefault(handle, []).append(instruction)
    named = {
        (instruction, node.handle) for instruction in listed for node in graphs[instruction].nodes
    }
    owners: dict[int, list[DelegateNodeId]] = {}
    for owner, edge in of.items():
        owners.setdefault(edge.node, []).append(owner)
    for at in owners:
        left.subtract(program.nodes[at].handles)
    # By handle, the operators that a neighbor may have taken in.
    inside = {
        handle: [
            at
            for at in dict.fromkeys(program.by_handle.get(handle, ()))
            if at not in owners and goes_up(program.nodes[at].operator) is not None
        ]
        for handle in calls
    }
    near = _DelegateNeighbors(program, owners, {at for nodes in inside.values() for at in nodes})
    part_of: dict[int, Owners] = {}
    beside: dict[int, Owners] = {}
    for handle, nodes in inside.items():
        # More of them than the calls have nodes: some are of kernels, and none knows which.
        if len(nodes) > left[handle]:
            continue
        within = set(calls[handle])
        alone = all((instruction, handle) not in named for instruction in within)
        for nth, at in enumerate(nodes):
            nearest = near.owners_of(at, within)
            if nearest:
                (part_of if alone and nth == 0 else beside)[at] = nearest
    return part_of, beside


#: The edge nodes by the operator's number, and the operators that took in the other nodes.
Mapped = tuple[dict[int, EdgeNode], dict[int, int]]


def _type(node: DelegateNode) -> str:
    return node.type.split(".")[1] if "." in node.type else node.type


def _places(
    graph: DelegateGraph,
    program: ExportedProgram,
    inside: Sequence[int],
    handles_of: Mapping[str, Sequence[int]],
) -> dict[int, tuple[int, ...]] | None:
    """Return the edge nodes of each operator by the map, or None if it contradicts the graph."""
    ids = Counter(str(node.fields.get("node_id")) for node in graph.nodes)
    own = set(inside)
    operators = {program.nodes[at].operator for at in inside}
    places_of: dict[int, tuple[int, ...]] = {}
    for node in graph.nodes:
        identifier = str(node.fields.get("node_id"))
        handles = handles_of.get(identifier, ())
        if not handles:
            continue
        held = [[at for at in program.by_handle.get(handle, ()) if at in own] for handle in handles]
        places = tuple(sorted({at for group in held for at in group}))
        named = {program.nodes[at].operator for at in places}
        operator = _type(node)
        fits = operator in named or operator not in operators
        if ids[identifier] > 1 or not all(held) or not fits:
            return None
        places_of[node.index] = places
    return places_of or None


def _by_map(
    graph: DelegateGraph, program: ExportedProgram, places: Mapping[int, tuple[int, ...]]
) -> Mapped:
    of: dict[int, EdgeNode] = {}
    taken_in: dict[int, int] = {}
    for index, own in places.items():
        operator = _type(graph.nodes[index])
        fitting = [at for at in own if program.nodes[at].operator == operator] or list(own)
        free = [at for at in fitting if at not in taken_in] or fitting
        of[index] = EdgeNode(free[0], len(free))
        taken_in.update(dict.fromkeys((at for at in own if at not in taken_in), index))
    for edge in of.values():
        taken_in.pop(edge.node, None)
    return of, taken_in


def _by_names(graph: DelegateGraph, program: ExportedProgram, inside: Sequence[int]) -> Mapped:
    edges: dict[str, list[int]] = {}
    for at in inside:
        edges.setdefault(program.nodes[at].operator, []).append(at)
    nodes: dict[str, list[int]] = {}
    for node in graph.nodes:
        nodes.setdefault(_type(node), []).append(node.index)
    of: dict[int, EdgeNode] = {}
    for operator, own in nodes.items():
        held = edges.get(operator, [])
        if len(held) == len(own):
            of.update((index, EdgeNode(at, len(own))) for index, at in zip(own, held, strict=True))
    return of, {}
