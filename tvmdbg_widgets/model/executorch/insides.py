"""The delegates of a program from inside, and which of their operators each event is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.delegate_alignment import Alignment
from tvmdbg_widgets.model.executorch.delegate_edges import DelegateEdges
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph
from tvmdbg_widgets.model.executorch.program import Delegate


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
        """Chain and instruction, as an ETDump names the call."""
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
        """Whether the events may be those of the delegate's graph; True where there is none."""
        return self.alignment is None or not self.events or self.alignment.fits

    @property
    def unsure_of(self) -> str:
        """Why nobody knows which delegate logged the events; empty where that is known."""
        if len(self.candidates) < 2:
            return ""
        methods = listed([repr(inside.method) for inside, _ in self.candidates])
        return f"the methods {methods} have the same operators"


@dataclass(frozen=True, eq=False)
class Insides:
    """The delegates of a program, from inside."""

    insides: tuple[Inside, ...] = ()
    calls: Mapping[int, CallEvents] = field(default_factory=dict)
    methods: tuple[tuple[str, ...], ...] = ()
    edges: DelegateEdges | None = None
    placed: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def first_calls(self) -> Mapping[tuple[str, int, int], CallEvents]:
        """The first call of each delegate whose events are aligned, by method and instruction."""
        found: dict[tuple[str, int, int], CallEvents] = {}
        for each in self.calls.values():
            if each.inside is not None and each.alignment is not None and each.events:
                found.setdefault((each.inside.method, *each.inside.at), each)
        return found

    @cached_property
    def beside(self) -> Mapping[tuple[int, int], tuple[int, ...]]:
        """Further edge nodes that an operator took in, by instruction and number."""
        found: dict[tuple[int, int], list[int]] = {}
        for node, owners in self.edges.beside.items() if self.edges is not None else ():
            for owner in owners:
                found.setdefault(owner, []).append(node)
        return {owner: tuple(nodes) for owner, nodes in found.items()}

    def of(self, method: str) -> dict[tuple[int, int], Inside]:
        """Return the delegate calls of a method, by chain and instruction."""
        return self._by_method.get(method, {})

    @cached_property
    def _by_method(self) -> dict[str, dict[tuple[int, int], Inside]]:
        found: dict[str, dict[tuple[int, int], Inside]] = {}
        for each in self.insides:
            found.setdefault(each.method, {})[each.at] = each
        return found

    @property
    def tell_the_method(self) -> bool:
        """Whether all that each run called is just what one method calls, and no other one."""
        ran = [names for names in self.methods if names]
        aligned = [each.alignment for each in self.calls.values()]
        exact = all(each is None or not each.cost for each in aligned)
        return bool(ran) and exact and all(len(names) == 1 for names in ran)

    def runs_of_others(self, method: str) -> frozenset[int]:
        """Return the runs of the dump that another method fits better."""
        return frozenset(
            run for run, names in enumerate(self.methods) if names and method not in names
        )
