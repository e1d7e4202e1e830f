"""XNNPACK's events matched with the nodes of its graph.

A call has one event per operator in the order of execution, which is the order of the graph's nodes
without fused ones, plus those that became two. Events are aligned with nodes at the least cost; a
match counts only if every cheapest alignment has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.event_order import (
    FOREIGN,
    NEVER,
    NOWHERE,
    SKIP,
    TOO_LONG,
    EventOrder,
    OrderStep,
    in_order,
    ones,
)
from tvmdbg_widgets.formats.executorch.delegates.xnnpack import BINARY, NAMES, UNARY
from tvmdbg_widgets.formats.executorch.delegates.xnnpack_operators import (
    ANY_BINARY,
    ANY_UNARY,
    XnnpackOperator,
    XnnpackOperators,
    is_half,
    operators_of,
)
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.delegate_graph import (
    AMBIGUOUS,
    EXACT,
    NONE,
    ORDER,
    Alignment,
    DelegateGraph,
    DelegateNode,
    EventMatch,
)
from tvmdbg_widgets.model.executorch.etdump import NameParts, explain_name, split_name

__all__ = ["align", "explain_name", "split_name"]

_OWN: Final = "made by XNNPACK itself, of no operator of the graph"
_NUMBERS: Final = "by order: the numbers in the names say that events are missing"
_SKIPPED: Final = "by order: an event is missing or the runtime is of another release"
_OTHERWISE: Final = "by order: names or number of events are those of another release"
_MOST_NAMED: Final = 4

_ANY_COST: Final = 3
_OWN_COST: Final = 1
_DYNAMIC: Final = {"QD8", "QDU8", "QP8"}
_FAMILIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("F32", "PF32", "fp32"), "fp32"),
    **dict.fromkeys(("F16", "PF16", "fp16"), "fp16"),
    **dict.fromkeys(("BF16", "bf16"), "bf16"),
    **dict.fromkeys(("QS8", "QU8", "QC8", "S8", "U8", "PQS8", "qint8", "quint8"), "integer"),
    **dict.fromkeys((*_DYNAMIC, "qdint8", "qpint8"), "dynamic"),
}
_MOVED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("fp32", "int32", "qint32"), "X32"),
    **dict.fromkeys(("fp16", "bf16"), "X16"),
    **dict.fromkeys(("qint8", "quint8"), "X8"),
}
_WIDTHS: Final = {"X8", "X16", "X32", "X64"}


def align(graph: DelegateGraph, names: Sequence[str]) -> Alignment:
    """Match the events of one call with nodes."""
    parts = [split_name(name) for name in names]
    places = _by_number(parts)
    kinds = list(dict.fromkeys(item[:3] for item in parts))
    kind_of = {kind: at for at, kind in enumerate(kinds)}
    made = operators_of(graph)
    steps = _Steps(graph, [NameParts(*kind, None) for kind in kinds]).of_nodes(made)
    own = {"Pack LH", "Convert"} if is_half(graph) else {"Pack LH"}
    skips = [_OWN_COST if base in own else SKIP for base, *_ in kinds]
    worst = max(len(steps), len(names))
    # A node has two events at most, so many are left over in any order.
    silent = sum(step.nothing >= SKIP for step in steps) - len(names)
    if names and 3 * max(silent, len(names) - 2 * len(steps)) > worst:
        return Alignment.unknown(len(names), FOREIGN, SKIP * worst, fits=False)
    order = in_order(steps, [kind_of[parts[at][:3]] for at in places], skips)
    if order is None:
        return Alignment.unknown(len(names), TOO_LONG, SKIP * (len(steps) + len(names)))
    aligned = _AlignedEvents(graph, order, steps, made, [parts[at] for at in places])
    if names and (order.bad * 3 > worst or not any(order.given)):
        return Alignment.unknown(len(names), FOREIGN, order.cost, fits=False)
    # Each name has the numbers 1, 2, 3 and so on where no event is missing.
    seen: Counter[tuple[object, ...]] = Counter()
    for part in parts:
        seen[part[:3]] += part.k == seen[part[:3]] + 1
    return aligned.alignment(places, numbered=seen.total() == len(parts))


def _by_number(parts: Sequence[NameParts]) -> list[int]:
    """Return event positions; equal names in the order of their numbers, if unique."""
    places = list(range(len(parts)))
    of_name: dict[tuple[object, ...], list[int]] = {}
    for at, part in enumerate(parts):
        of_name.setdefault(part[:3], []).append(at)
    for own in of_name.values():
        numbered = {k: at for at in own if (k := parts[at].k) is not None}
        if len(numbered) == len(own):
            for at, (_, place) in zip(own, sorted(numbered.items()), strict=True):
                places[at] = place
    return places


class _ExpectedOperator(NamedTuple):
    """The expected name of an operator's event."""

    names: tuple[tuple[str, int], ...]
    family: str | None
    moved: str | None
    four_bits: bool | None
    dynamic: bool
    depthwise: bool

    def cost(self, parts: NameParts) -> int:
        """Return 0 for the expected name, 1 and more for others."""
        cost = dict(self.names).get(parts.base, NEVER)
        # The first type behind the layout is that of the first input.
        kind = parts.types[1] if len(parts.types) > 1 else ""
        if kind in _WIDTHS:
            cost += self.moved not in {None, kind}
        elif kind in _FAMILIES:
            cost += self.family not in {None, _FAMILIES[kind]}
        if self.four_bits is not None and any(kind.endswith("W") for kind in parts.types):
            cost += self.four_bits != any(kind.endswith("4W") for kind in parts.types)
        if parts.base == "Convert":
            cost += self.dynamic != (parts.types[-1] in _DYNAMIC if parts.types else False)
        if parts.kernel.endswith("DWConv"):
            cost += not self.depthwise
        return cost


class _Steps:
    """The events that each node may log, in terms of the existing kinds of events."""

    def __init__(self, graph: DelegateGraph, kinds: Sequence[NameParts]) -> None:
        self.graph = graph
        self.kinds = kinds
        self.costs: dict[_ExpectedOperator, tuple[int, ...]] = {}
        self.steps: dict[OrderStep, OrderStep] = {}
        bases = {kind.base for kind in kinds}
        # Releases that use a name use it for all.
        self.reshapes = "Static Reshape" in bases
        known = [name for names in (*UNARY.values(), *BINARY.values()) for name in names]
        self.summary = int(self.reshapes or not bases.isdisjoint(known))

    def of_nodes(self, made: XnnpackOperators) -> list[OrderStep]:
        own: list[list[XnnpackOperator]] = [[] for _ in self.graph.nodes]
        for operator in made.all:
            own[operator.node].append(operator)
        steps = (self.step(*operators) for operators in own)
        return [self.steps.setdefault(step, step) for step in steps]

    def step(self, first: XnnpackOperator, bounds: XnnpackOperator | None = None) -> OrderStep:
        node = self.graph.nodes[first.node]
        if node.type not in NAMES:
            return OrderStep(SKIP, (_ANY_COST,) * len(self.kinds))
        one = self.wanted(node, first)
        if bounds is None:
            nothing = SKIP if first.may_stay and not first.may_vanish else 0
            two = None
            if node.type == "FullyConnected" and self.dtype(node.writes, 0) == "bf16":
                convert = _ExpectedOperator((("Convert", 0),), None, None, None, False, False)
                two = one, self.cost(convert)
            return OrderStep(nothing, one if first.may_stay else _dearer(one), two)
        clamp = self.wanted(node, bounds)
        if first.may_stay:
            two = one, clamp
            if bounds.may_stay:
                return OrderStep(SKIP, _dearer(one), two)
            return OrderStep(SKIP, one, (_dearer(one), clamp))
        two = _dearer(one), clamp
        if bounds.may_stay:
            return OrderStep(SKIP, tuple(map(min, clamp, _dearer(one))), two)
        return OrderStep(0, _dearer(one), two)

    def wanted(self, node: DelegateNode, operator: XnnpackOperator) -> tuple[int, ...]:
        names = dict(operator.names)
        if operator.kind == "StaticReshape" and self.reshapes:
            names["Copy"] = 1
        dynamic = operator.kind == "Convert" and self.dtype(node.writes, 0) == "qdint8"
        if (operator.kind in UNARY or node.type in UNARY) and not dynamic:
            names.setdefault(ANY_UNARY, self.summary)
        if operator.kind in BINARY:
            names.setdefault(ANY_BINARY, self.summary)
        elif node.type in BINARY and node.type in operator.names:
            names.setdefault(ANY_BINARY, 1)
        source = self.dtype(node.reads, 0)
        weights = self.dtype(node.reads, 1)
        return self.cost(
            _ExpectedOperator(
                tuple(names.items()),
                _FAMILIES.get(source),
                _MOVED.get(source),
                weights in {"qcint4", "qbint4"} if weights.startswith("q") else None,
                dynamic,
                node.type == "DepthwiseConv2d" or node.fields.get("group_input_channels") == 1,
            )
        )

    def cost(self, wanted: _ExpectedOperator) -> tuple[int, ...]:
        if wanted not in self.costs:
            costs = (min(wanted.cost(kind), NEVER) for kind in self.kinds)
            self.costs[wanted] = tuple(costs)
        return self.costs[wanted]

    def dtype(self, values: Sequence[int], at: int) -> str:
        value = self.graph.values.get(values[at]) if at < len(values) else None
        return "" if value is None else value.dtype


def _dearer(costs: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(min(cost + 1, NEVER) for cost in costs)


class _AlignedEvents:
    def __init__(
        self,
        graph: DelegateGraph,
        order: EventOrder,
        steps: Sequence[OrderStep],
        made: XnnpackOperators,
        parts: Sequence[NameParts],
    ) -> None:
        self.graph, self.order, self.steps = graph, order, steps
        self.made, self.parts = made, parts
        once = twice = 0
        for given in order.given:
            twice |= once & given
            once |= given
        sure = once & ~twice & ~order.free
        self.unsure = once & ~sure
        #: Position of an event → its node.
        self.main: dict[int, int] = {}
        self.events_of: dict[int, tuple[int, ...]] = {}
        for index, given in enumerate(order.given):
            if mine := tuple(ones(given & sure)):
                self.events_of[index] = mine
                self.main.update(dict.fromkeys(mine, index))

    def alignment(self, places: Sequence[int], *, numbered: bool) -> Alignment:
        parents = self.parents()
        covered: dict[int, set[int]] = {at: {node} for at, node in self.main.items()}
        for index, into in [*parents.items(), *self.also()]:
            for node, from_behind in into.items():
                if events := self.events_of.get(node):
                    covered[events[-1 if from_behind else 0]].add(index)
        reason = self.reason() if numbered else _NUMBERS
        candidates = self.candidates()
        matches: dict[int, EventMatch] = {}
        for at, part in enumerate(self.parts):
            if at in covered:
                match = ORDER if reason else EXACT
                result = EventMatch(tuple(sorted(covered[at])), self.main[at], match, reason)
            elif at in candidates:
                own = tuple(candidates[at])
                called = [self.graph.nodes[index].name for index in own]
                text = ("one of " if len(own) > 1 else "") + listed(called, most=_MOST_NAMED)
                text += " or none" if self.order.free >> at & 1 else ""
                result = EventMatch((), None, AMBIGUOUS, text, own)
            else:
                result = EventMatch((), None, NONE, _OWN if part.base == "Pack LH" else NOWHERE)
            matches[places[at]] = result
        silent = [index for index, given in enumerate(self.order.given) if not given]
        return Alignment(
            tuple(matches[at] for at in range(len(matches))),
            self.order.cost,
            {index: tuple(sorted(into)) for index, into in sorted(parents.items()) if into},
            tuple(index for index, into in sorted(parents.items()) if not into),
            tuple(index for index in silent if index not in parents),
            fits=True,
            events_of={
                index: tuple(sorted(places[at] for at in mine))
                for index, mine in self.events_of.items()
            },
            left_over=self.order.bad,
        )

    def reason(self) -> str:
        if self.order.bad:
            return _SKIPPED
        return "" if self.order.cost == 0 and self.conversions_agree() else _OTHERWISE

    def conversions_agree(self) -> bool:
        """Return whether all inputs are converted ahead or none, to the types then read."""
        pure = [op for op in self.made.all if op.taken_by and op.may_stay and op.may_vanish]
        own = [op for op in pure if op.node in self.events_of]
        if own and len(own) < len(pure):
            return False
        for op in own:
            made = self.parts[self.events_of[op.node][0]].types[-1:]
            for into in op.taken_by:
                events = self.events_of.get(self.made.all[into].node)
                read = self.parts[events[0]].types if events else ()
                if made and not {*read}.isdisjoint(_DYNAMIC) and made[0] not in read:
                    return False
        return True

    def parents(self) -> dict[int, dict[int, bool]]:
        """Return the nodes that a node without an event is part of; True if it follows them."""
        parents: dict[int, dict[int, bool]] = {
            index: {}
            for index, (step, given) in enumerate(zip(self.steps, self.order.given, strict=True))
            if not given and step.nothing == 0
        }
        # What took something in can itself have been taken in only later.
        for at in reversed(self.made.taken):
            operator = self.made.all[at]
            if operator.node not in parents:
                continue
            for taker in operator.taken_by:
                node = self.made.all[taker].node
                if node in parents:
                    parents[operator.node].update(parents[node])
                else:
                    parents[operator.node][node] = operator.from_behind
        return parents

    def also(self) -> Iterator[tuple[int, dict[int, bool]]]:
        """Conversions with an event of their own that are repeated in others."""
        repeated = [
            operator for operator in self.made.all if operator.taken_by and operator.may_stay
        ]
        if any(operator.may_vanish and self.order.given[operator.node] for operator in repeated):
            # A runtime that repeats them would not have these.
            return
        for operator in repeated:
            if not operator.may_vanish:
                yield operator.node, {self.made.all[into].node: False for into in operator.taken_by}

    def candidates(self) -> dict[int, list[int]]:
        events: dict[int, list[int]] = {}
        for index, given in enumerate(self.order.given):
            if mine := given & self.unsure:
                size = (mine.bit_length() + 7) // 8
                flags = np.frombuffer(mine.to_bytes(size, "little"), np.uint8)
                for at in np.flatnonzero(np.unpackbits(flags, bitorder="little")).tolist():
                    events.setdefault(at, []).append(index)
        return events
