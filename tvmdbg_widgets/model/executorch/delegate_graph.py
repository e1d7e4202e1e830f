"""The graph that a delegate was compiled from, and its events, matches and edge nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias, TypeVar

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import Issues, listed
from tvmdbg_widgets.model.executorch.program import Delegate, FileSpan

#: Permutation of a layout transpose back from channels last.
_TO_NCHW: Final = (0, 3, 1, 2)
Field: TypeAlias = "int | float | str | tuple[int | float, ...]"


@dataclass(frozen=True, slots=True)
class DelegateConstant:
    """The byte range of a constant."""

    offset: int
    size: int
    key: str
    span: FileSpan | None = None


@dataclass(frozen=True, slots=True)
class DelegateValue:
    """A tensor of a delegate's graph."""

    id: int
    dtype: str
    shape: tuple[int, ...]
    constant: int = 0
    external_id: int | None = None
    quantization: Mapping[str, Field] = field(default_factory=dict)
    fields: Mapping[str, Field] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DelegateNode:
    """An operator of a delegate's graph."""

    index: int
    type: str
    type_number: int
    handle: int | None
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    bounds: tuple[float, float] | None = None
    fields: Mapping[str, Field] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its type and number: ``"Conv2d_4"``."""
        return f"{self.type.replace(' ', '_')}_{self.index}"

    @property
    def inserted(self) -> bool:
        """Whether lowering made it; unknown for backends with ids of a map."""
        return self.handle is None and "node_id" not in self.fields

    @property
    def reads(self) -> tuple[int, ...]:
        """Ids of the read values."""
        return tuple(value for _, value in self.inputs)

    @property
    def writes(self) -> tuple[int, ...]:
        """Ids of the written values."""
        return tuple(value for _, value in self.outputs)


@dataclass(frozen=True, eq=False)
class DelegateGraph:
    """The graph in a delegate's payload."""

    backend: str
    file: str
    identifier: str
    version: str
    header: Mapping[str, int]
    nodes: tuple[DelegateNode, ...]
    values: Mapping[int, DelegateValue]
    num_externs: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    constants: tuple[DelegateConstant, ...] = ()
    issues: Issues = field(default_factory=Issues)

    @cached_property
    def producers(self) -> Mapping[int, int]:
        """The first writer of every value, by value id."""
        producers: dict[int, int] = {}
        for node in self.nodes:
            for value in node.writes:
                producers.setdefault(value, node.index)
        return producers

    @cached_property
    def readers(self) -> Mapping[int, tuple[int, ...]]:
        """The readers of every value, by value id, ascending, one per use."""
        return _grouped((value, node.index) for node in self.nodes for value in node.reads)

    @cached_property
    def inserted_for(self) -> Mapping[int, int]:
        """The nodes that inserted ones serve: the nearest with a handle behind, else before."""
        behind = _nearest(
            reversed(self.nodes),
            lambda node: (user for value in node.writes for user in self.readers.get(value, ())),
        )
        before = _nearest(
            self.nodes,
            lambda node: (self.producers[value] for value in node.reads if value in self.producers),
        )
        served_by: dict[int, int] = {}
        for node in self.nodes:
            if node.handle is None:
                back = node.type == "StaticTranspose" and node.fields.get("perm") == _TO_NCHW
                first, second = (before, behind) if back else (behind, before)
                _, served = first.get(node.index) or second.get(node.index) or (0, None)
                if served is not None:
                    served_by[node.index] = served
        return served_by

    @property
    def externals(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Positions of inputs and outputs in the call's arguments, -1 where unknown."""
        of = {id_: -1 if v.external_id is None else v.external_id for id_, v in self.values.items()}
        inputs, outputs = ([of.get(id_, -1) for id_ in ids] for ids in (self.inputs, self.outputs))
        return tuple(inputs), tuple(outputs)

    def __repr__(self) -> str:
        return (
            f"<DelegateGraph of {self.backend}: {counted(len(self.nodes), 'node')}, "
            f"{counted(len(self.values), 'value')}, {counted(len(self.inputs), 'input')}, "
            f"{counted(len(self.outputs), 'output')}>"
        )


_Key = TypeVar("_Key", bound=Hashable)


def _grouped(pairs: Iterable[tuple[_Key, int]]) -> dict[_Key, tuple[int, ...]]:
    """Group numbers by key, in order."""
    groups: dict[_Key, list[int]] = {}
    for key, number in pairs:
        groups.setdefault(key, []).append(number)
    return {key: tuple(numbers) for key, numbers in groups.items()}


def _nearest(
    nodes: Iterable[DelegateNode], neighbors: Callable[[DelegateNode], Iterable[int]]
) -> dict[int, tuple[int, int]]:
    """Return distance and number of the nearest earlier neighbor with a handle, by node."""
    nearest: dict[int, tuple[int, int]] = {}
    for node in nodes:
        if node.handle is not None:
            nearest[node.index] = (0, node.index)
            continue
        reached = [nearest[neighbor] for neighbor in neighbors(node) if neighbor in nearest]
        if reached:
            steps, served = min(reached)
            nearest[node.index] = (steps + 1, served)
    return nearest


@dataclass(frozen=True, eq=False)
class Inside:
    """A call of a delegate in a program, and the graph in the delegate's payload."""

    method: str
    chain: int
    instruction: int
    index: int
    delegate: Delegate
    payload: str
    graph: DelegateGraph | None

    @property
    def at(self) -> tuple[int, int]:
        """Chain and instruction of the call in an ETDump."""
        return self.chain, self.instruction


@dataclass(frozen=True, eq=False)
class CallEvents:
    """The events that a delegate logged in one call."""

    events: tuple[int, ...]
    inside: Inside | None = None
    alignment: Alignment | None = None
    candidates: tuple[tuple[Inside, Alignment | None], ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the events may be those of the delegate's graph; True without one."""
        return self.alignment is None or not self.events or self.alignment.fits

    @property
    def unsure_of(self) -> str:
        """Why the delegate of the events is ambiguous; empty if it is not."""
        if len(self.candidates) < 2:
            return ""
        methods = listed([repr(inside.method) for inside, _ in self.candidates])
        return f"the methods {methods} have the same operators"


@dataclass(frozen=True, eq=False)
class Insides:
    """The delegates of a program with their graphs."""

    insides: tuple[Inside, ...] = ()
    calls: Mapping[int, CallEvents] = field(default_factory=dict)
    methods: tuple[tuple[str, ...], ...] = ()
    edges: DelegateEdges | None = None
    placed: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def first_calls(self) -> Mapping[tuple[str, int, int], CallEvents]:
        """The first aligned calls of delegates, by method and instruction."""
        first: dict[tuple[str, int, int], CallEvents] = {}
        for call in self.calls.values():
            if call.inside is not None and call.alignment is not None and call.events:
                first.setdefault((call.inside.method, *call.inside.at), call)
        return first

    @cached_property
    def beside(self) -> Mapping[tuple[int, int], tuple[int, ...]]:
        """Further edge nodes fused into an operator, by instruction and number."""
        beside = self.edges.beside if self.edges is not None else {}
        return _grouped((owner, node) for node, owners in beside.items() for owner in owners)

    def of(self, method: str) -> dict[tuple[int, int], Inside]:
        """Return the delegate calls of a method, by chain and instruction."""
        return self._by_method.get(method, {})

    @cached_property
    def _by_method(self) -> dict[str, dict[tuple[int, int], Inside]]:
        by_method: dict[str, dict[tuple[int, int], Inside]] = {}
        for inside in self.insides:
            by_method.setdefault(inside.method, {})[inside.at] = inside
        return by_method

    @property
    def fit_one_method(self) -> bool:
        """Whether the calls of every run fit exactly one method."""
        ran = [names for names in self.methods if names]
        aligned = [item.alignment for item in self.calls.values()]
        exact = all(item is None or not item.cost for item in aligned)
        return bool(ran) and exact and all(len(names) == 1 for names in ran)

    def runs_of_others(self, method: str) -> frozenset[int]:
        """Return the runs of the dump that fit another method better."""
        return frozenset(
            run for run, names in enumerate(self.methods) if names and method not in names
        )


EXACT: Final = "exact"
ORDER: Final = "order"
AMBIGUOUS: Final = "ambiguous"
NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class EventMatch:
    """The nodes of one event."""

    nodes: tuple[int, ...]
    main: int | None
    match: str
    reason: str
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Alignment:
    """The events of one call of a delegate beside the nodes of its graph."""

    events: tuple[EventMatch, ...]
    cost: int
    taken_in: Mapping[int, tuple[int, ...]]
    idle: tuple[int, ...]
    missing: tuple[int, ...]
    fits: bool
    events_of: Mapping[int, tuple[int, ...]]
    left_over: int = 0

    @classmethod
    def unknown(cls, events: int, reason: str, cost: int = 0, *, fits: bool = True) -> Alignment:
        """Return the alignment of events without known nodes."""
        return cls((EventMatch((), None, NONE, reason),) * events, cost, {}, (), (), fits, {})


#: Instruction of a delegate's call, and index of a node in that delegate's graph.
DelegateNodeId: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class EdgeNode:
    """The operator of the edge program that a delegate's node comes from."""

    node: int
    alternatives: int = 1


@dataclass(frozen=True, eq=False)
class DelegateEdges:
    """The operators of the edge program that delegates' nodes come from."""

    of: Mapping[DelegateNodeId, EdgeNode]
    part_of: Mapping[int, tuple[DelegateNodeId, ...]]
    beside: Mapping[int, tuple[DelegateNodeId, ...]]
    contradicted: frozenset[int] = frozenset()

    @cached_property
    def _parts(self) -> Mapping[DelegateNodeId, tuple[int, ...]]:
        return _grouped((owner, node) for node, owners in self.part_of.items() for owner in owners)

    def nodes_of(self, instruction: int, index: int) -> tuple[int, ...]:
        """Return the edge nodes that a delegate's node computes: its own and its parts."""
        own, parts = self.of.get((instruction, index)), self._parts.get((instruction, index), ())
        return tuple(sorted({*parts, own.node} if own is not None else parts))
