"""Least-cost alignment of events with the nodes of a graph; Vulkan's events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.executorch.delegate_graph import (
    AMBIGUOUS,
    EXACT,
    NONE,
    ORDER,
    Alignment,
    DelegateGraph,
    EventMatch,
)
from tvmdbg_widgets.model.executorch.vulkan_names import PHASES, Dispatch, is_shader, read_name

_Ints: TypeAlias = npt.NDArray[np.int32]

#: Cost of a node without an event that must have one, and of an event without a node.
SKIP: Final = 5
#: Cost of what cannot be; sums of it fit in 32 bits.
NEVER: Final = 10**8
#: Why an event is of no operator.
FOREIGN: Final = "the events are not those of this graph"
NOWHERE: Final = "no operator of the graph fits here"
TOO_LONG: Final = "not aligned: too many events and operators to compare each with each"

# Where something must be skipped, every node is compared with every event: 4 M cells take 0.2 s.
_MOST_CELLS: Final = 5_000_000
# Without skipping, a cell is a bit.
_MOST_BITS: Final = 500_000_000


@dataclass(frozen=True, slots=True)
class OrderStep:
    """Costs of the events that a node may log, by kind of event: none, one, or two."""

    nothing: int
    one: tuple[int, ...]
    two: tuple[tuple[int, ...], tuple[int, ...]] | None = None


@dataclass(frozen=True, slots=True)
class EventOrder:
    """All alignments of the least cost.

    ``given`` has the events of each node in some alignment as bits, ``free`` those without a node;
    ``bad`` counts skipped nodes and events.
    """

    cost: int
    given: tuple[int, ...]
    free: int
    bad: int


def in_order(
    steps: Sequence[OrderStep], kinds: Sequence[int], skips: Sequence[int]
) -> EventOrder | None:
    """Return the alignments of least cost, or None if the lists are too long."""
    cells = (len(steps) + 1) * (len(kinds) + 1)
    if cells > _MOST_BITS:
        return None
    if (exact := _as_foretold(steps, kinds)) is not None:
        return exact
    return _cheapest(steps, kinds, skips) if cells <= _MOST_CELLS else None


def ones(bits: int) -> Iterator[int]:
    """Return the positions of the bits that are set, ascending."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _as_foretold(steps: Sequence[OrderStep], kinds: Sequence[int]) -> EventOrder | None:
    """All alignments that cost nothing: bit j of a state says that j events can be behind."""
    of_kind: dict[int, int] = {}
    for at, kind in enumerate(kinds):
        of_kind[kind] = of_kind.get(kind, 0) | 1 << at

    def free_of_charge(costs: tuple[int, ...]) -> int:
        return reduce(or_, (bits for kind, bits in of_kind.items() if not costs[kind]), 0)

    def masks(step: OrderStep) -> tuple[bool, int, int]:
        two = 0
        if step.two is not None:
            two = free_of_charge(step.two[0]) & free_of_charge(step.two[1]) >> 1
        return step.nothing == 0, free_of_charge(step.one), two

    known = {key: masks(step) for key, step in {id(step): step for step in steps}.items()}
    behind = [1]
    for step in steps:
        nothing, one, two = known[id(step)]
        state = behind[-1]
        state = (state if nothing else 0) | (state & one) << 1 | (state & two) << 2
        if not state:
            return None
        behind.append(state)
    ahead = 1 << len(kinds)
    if not behind[-1] & ahead:
        return None
    given = [0] * len(steps)
    for index in range(len(steps) - 1, -1, -1):
        nothing, one, two = known[id(steps[index])]
        one &= ahead >> 1
        two &= ahead >> 2
        here = behind[index]
        given[index] = here & one | here & two | (here & two) << 1
        ahead = (ahead if nothing else 0) | one | two
    return EventOrder(0, tuple(given), 0, 0)


def _cheapest(steps: Sequence[OrderStep], kinds: Sequence[int], skips: Sequence[int]) -> EventOrder:
    """All alignments of least cost, by minima from the front and from the back."""
    kind = np.asarray(kinds, np.intp)
    skip = np.asarray(skips, np.int32)[kind]
    behind_skips = np.concatenate([np.zeros(1, np.int32), np.cumsum(skip, dtype=np.int32)])
    known = {key: _costs(step, kind) for key, step in {id(step): step for step in steps}.items()}

    front = np.empty((len(steps) + 1, len(kinds) + 1), np.int32)
    front[0] = behind_skips
    for index, step in enumerate(steps):
        one, two = known[id(step)]
        before, here = front[index], front[index + 1]
        np.add(before, step.nothing, out=here)
        np.minimum(here[1:], before[:-1] + one, out=here[1:])
        if two is not None:
            np.minimum(here[2:], before[:-2] + two, out=here[2:])
        here -= behind_skips
        np.minimum.accumulate(here, out=here)
        here += behind_skips
    cost = int(front[-1, -1])

    back = behind_skips[-1] - behind_skips
    given = [0] * len(steps)
    free = front[-1, :-1] + skip + back[1:] == cost
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        one, two = known[id(step)]
        before = front[index]
        here = back + step.nothing
        by_one = back[1:] + one
        gives = before[:-1] + by_one == cost
        np.minimum(here[:-1], by_one, out=here[:-1])
        if two is not None:
            by_two = back[2:] + two
            both = before[:-2] + by_two == cost
            gives[:-1] |= both
            gives[1:] |= both
            np.minimum(here[:-2], by_two, out=here[:-2])
        given[index] = _bits(gives)
        here += behind_skips
        back = np.minimum.accumulate(here[::-1])[::-1] - behind_skips
        free |= before[:-1] + skip + back[1:] == cost
    return EventOrder(cost, tuple(given), _bits(free), _skipped(steps, known, front, skip))


def _costs(step: OrderStep, kind: npt.NDArray[np.intp]) -> tuple[_Ints, _Ints | None]:
    one = np.asarray(step.one, np.int32)[kind]
    if step.two is None or len(kind) < 2:
        return one, None
    first, second = (np.asarray(costs, np.int32)[kind] for costs in step.two)
    return one, first[:-1] + second[1:]


def _bits(flags: npt.NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _skipped(
    steps: Sequence[OrderStep],
    known: dict[int, tuple[_Ints, _Ints | None]],
    front: npt.NDArray[np.int32],
    skip: _Ints,
) -> int:
    index, at, skipped = len(steps), len(skip), 0
    while index or at:
        cost = front[index, at]
        if at and cost == front[index, at - 1] + skip[at - 1]:
            at -= 1
            skipped += int(skip[at] == SKIP)
            continue
        index -= 1
        one, two = known[id(steps[index])]
        if at and cost == front[index, at - 1] + one[at - 1]:
            at -= 1
        elif at > 1 and two is not None and cost == front[index, at - 2] + two[at - 2]:
            at -= 2
        else:
            skipped += int(steps[index].nothing == SKIP)
    return skipped


_PHASE: Final = "a phase of the call, of no operator"
_STAGING: Final = "a copy of an input or output, of no operator of the graph"
_SHADER: Final = "this release names the shader, not the operator"
_UNREAD: Final = "its name is none that Vulkan's runtime writes"
_BY_NUMBER: Final = "by the numbers and names of operators: this release logs no ids of them"
_ORDER: Final = "by order: the numbers of operators do not run on as in known releases"
_SEVERAL: Final = "the same names at another place of the graph fit as well"
#: Places to try times numbers to compare, 0.1 s.
_MOST_TRIES: Final = 20_000_000


def align(graph: DelegateGraph, names: Sequence[str]) -> Alignment:
    """Match the events of one call with nodes."""
    read = [None if name in PHASES else read_name(name) for name in names]
    numbered = {
        at: dispatch
        for at, dispatch in enumerate(read)
        if dispatch is not None and dispatch.operator_id is not None
    }
    matches, cost, fits = _dispatches(graph, numbered)
    events = tuple(
        matches.get(at)
        or EventMatch(
            (), None, NONE, _PHASE if name in PHASES else _SHADER if is_shader(name) else _UNREAD
        )
        for at, name in enumerate(names)
    )
    events_of: dict[int, tuple[int, ...]] = {}
    for at, match in enumerate(events):
        if match.main is not None:
            events_of[match.main] = (*events_of.get(match.main, ()), at)
    idle = [node.index for node in graph.nodes if events_of and node.index not in events_of]
    return Alignment(events, cost, {}, tuple(idle), (), fits, events_of)


def _dispatches(
    graph: DelegateGraph, read: Mapping[int, Dispatch]
) -> tuple[dict[int, EventMatch], int, bool]:
    """Return the matches of dispatches by event, their cost, and whether they fit the graph."""
    if all(dispatch.stages for dispatch in read.values()):
        return dict.fromkeys(read, EventMatch((), None, NONE, _STAGING)), 0, True
    numbers = {dispatch.operator_id for dispatch in read.values()}
    first = min(number for number in numbers if number is not None)
    places = _places(graph, list(read.values()))
    if places is None:
        return dict.fromkeys(read, EventMatch((), None, NONE, TOO_LONG)), 0, True
    if not places:
        return _by_name(graph, read)
    # Before August 2026 the events had no id of the graph's operators.
    sure = any(dispatch.node_id is not None for dispatch in read.values())
    how = (EXACT, "") if sure else (ORDER, _BY_NUMBER)
    matches: dict[int, EventMatch] = {}
    for at, dispatch in read.items():
        number = first if dispatch.operator_id is None else dispatch.operator_id
        may_be = [number - place for place in places]
        inside = tuple(index for index in may_be if 0 <= index < len(graph.nodes))
        if len(places) == 1 and inside:
            matches[at] = EventMatch(inside, inside[0], *how)
        elif inside:
            matches[at] = EventMatch((), None, AMBIGUOUS, _SEVERAL, tuple(sorted(inside)))
        else:
            matches[at] = EventMatch((), None, NONE, _STAGING)
    return matches, 0, True


def _places(graph: DelegateGraph, read: Sequence[Dispatch]) -> list[int] | None:
    """Return the possible numbers of the first operator, or None if there are too many to try."""
    count, outputs = len(graph.nodes), len(graph.outputs)
    codes = {type_: at for at, type_ in enumerate(dict.fromkeys(n.type for n in graph.nodes))}
    rows = sorted(
        {
            (
                item.operator_id or 0,
                codes.get(item.operator or "", -1),
                -1 if item.node_id is None else item.node_id,
                item.operator is not None,
                item.stages,
            )
            for item in read
        }
    )
    numbers, kinds, ids, named, stages = np.array(rows, np.int64).T
    # One number less than the first operator's stages inputs, those behind the last one outputs.
    tries = range(int(numbers[-1]) - count - outputs + 1, int(numbers[0]) + 2)
    if len(tries) * len(rows) > _MOST_TRIES:
        return None
    of_node = np.array([codes[node.type] for node in graph.nodes], np.int64)
    id_of_node = np.array([node.fields.get("node_id") for node in graph.nodes], np.int64)
    fits = []
    for place in tries:
        index = numbers - place
        inside = (index >= 0) & (index < count)
        behind = index >= count
        at = index[inside]
        if not inside.any() or stages[inside].any():
            continue
        if not np.array_equal(of_node[at], kinds[inside]):
            continue
        if not np.all((ids[inside] < 0) | (ids[inside] == id_of_node[at])):
            continue
        # Copies of outputs have the text of the last operator.
        last = (kinds[behind] == of_node[-1]) & (named[behind] > 0)
        if last.all() and np.all((ids[behind] < 0) | (ids[behind] == id_of_node[-1])):
            fits.append((place, len(set(index[behind].tolist()))))
    exactly = [place for place, staged in fits if staged == outputs]
    return exactly if len(fits) > 1 and exactly else [place for place, _ in fits]


def _by_name(
    graph: DelegateGraph, read: Mapping[int, Dispatch]
) -> tuple[dict[int, EventMatch], int, bool]:
    """Lay operators along the nodes by their names, where their numbers tell nothing."""
    groups: dict[tuple[int | None, str | None], list[int]] = {}
    for at, dispatch in sorted(read.items(), key=lambda item: (item[1].operator_id or 0, item[0])):
        groups.setdefault((dispatch.operator_id, dispatch.operator), []).append(at)
    kinds = {name: at for at, name in enumerate(dict.fromkeys(name for _, name in groups))}
    steps = {
        type_: OrderStep(0, tuple(0 if name == type_ else NEVER for name in kinds))
        for type_ in {node.type for node in graph.nodes}
    }
    order = in_order(
        [steps[node.type] for node in graph.nodes],
        [kinds[name] for _, name in groups],
        [SKIP] * len(kinds),
    )
    if order is None:
        return dict.fromkeys(read, EventMatch((), None, NONE, TOO_LONG)), 0, True
    if order.bad * 3 > max(1, len(groups)):
        return dict.fromkeys(read, EventMatch((), None, NONE, FOREIGN)), order.cost, False
    matches: dict[int, EventMatch] = {}
    may_be: dict[int, list[int]] = {}
    for index, given in enumerate(order.given):
        for at in ones(given):
            may_be.setdefault(at, []).append(index)
    for at, events in enumerate(groups.values()):
        nodes = tuple(may_be.get(at, ()))
        if len(nodes) == 1 and not order.free >> at & 1:
            match = EventMatch(nodes, nodes[0], ORDER, _ORDER)
        elif nodes:
            match = EventMatch((), None, AMBIGUOUS, _SEVERAL, nodes)
        else:
            match = EventMatch((), None, NONE, NOWHERE)
        matches.update(dict.fromkeys(events, match))
    return matches, order.cost, True
