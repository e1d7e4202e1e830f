"""The graph that a delegate was compiled from, as its payload in a program holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.program import FileSpan

#: Permutation of a layout transpose back from channels last.
_TO_NCHW: Final = (0, 3, 1, 2)
#: What a field of a payload holds.
Field: TypeAlias = "int | float | str | tuple[int | float, ...]"


@dataclass(frozen=True, slots=True)
class DelegateConstant:
    """Where the bytes of a constant lie."""

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
        """Whether lowering made it; not known of backends that tell operators by ids of a map."""
        return self.handle is None and "node_id" not in self.fields

    @property
    def reads(self) -> tuple[int, ...]:
        """Ids of the values that it reads."""
        return tuple(value for _, value in self.inputs)

    @property
    def writes(self) -> tuple[int, ...]:
        """Ids of the values that it writes."""
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
        """The first node that writes each value, by value id."""
        found: dict[int, int] = {}
        for node in self.nodes:
            for value in node.writes:
                found.setdefault(value, node.index)
        return found

    @cached_property
    def readers(self) -> Mapping[int, tuple[int, ...]]:
        """The nodes that read each value, by value id, ascending; a node once for each use."""
        found: dict[int, list[int]] = {}
        for node in self.nodes:
            for value in node.reads:
                found.setdefault(value, []).append(node.index)
        return {value: tuple(nodes) for value, nodes in found.items()}

    @cached_property
    def inserted_for(self) -> Mapping[int, int]:
        """The node that each node without a handle serves, where there is one.

        Lowering puts layout transposes, reshapes and conversions around operators. Each serves the
        nearest one behind it that has a handle, else the nearest before it; a transpose back from
        channels last serves the one before it, if any.
        """
        behind = _nearest(
            reversed(self.nodes),
            lambda node: (each for value in node.writes for each in self.readers.get(value, ())),
        )
        before = _nearest(
            self.nodes,
            lambda node: (self.producers[value] for value in node.reads if value in self.producers),
        )
        found: dict[int, int] = {}
        for node in self.nodes:
            if node.handle is None:
                back = node.type == "StaticTranspose" and node.fields.get("perm") == _TO_NCHW
                first, second = (before, behind) if back else (behind, before)
                _, served = first.get(node.index) or second.get(node.index) or (0, None)
                if served is not None:
                    found[node.index] = served
        return found

    @property
    def externals(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Positions in the call's arguments of the inputs and of the outputs, -1 where unknown."""

        def positions(ids: tuple[int, ...]) -> tuple[int, ...]:
            told = [self.values[each].external_id if each in self.values else None for each in ids]
            return tuple(-1 if each is None else each for each in told)

        return positions(self.inputs), positions(self.outputs)

    def __repr__(self) -> str:
        return (
            f"<DelegateGraph of {self.backend}: {counted(len(self.nodes), 'node')}, "
            f"{counted(len(self.values), 'value')}, {counted(len(self.inputs), 'input')}, "
            f"{counted(len(self.outputs), 'output')}>"
        )


def _nearest(
    nodes: Iterable[DelegateNode], neighbors: Callable[[DelegateNode], Iterable[int]]
) -> dict[int, tuple[int, int]]:
    """Return how far the nearest node with a handle is, and which, by node.

    Only neighbors that come before a node in `nodes` count: real graphs have no others.
    """
    found: dict[int, tuple[int, int]] = {}
    for node in nodes:
        if node.handle is not None:
            found[node.index] = (0, node.index)
            continue
        reached = [found[each] for each in neighbors(node) if each in found]
        if reached:
            steps, served = min(reached)
            found[node.index] = (steps + 1, served)
    return found
