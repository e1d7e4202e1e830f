"""Join Vulkan's events with the nodes of its graph.

The runtime counts the operators that it builds, one by one in the order of the graph and one more
for each output, on through all delegates of a process. Each dispatch has that number and the name
of its operator, so all dispatches of a call lie by one offset from the graph's nodes. What stages
inputs comes before the first operator and what stages outputs behind the last, both with the name
of an operator that was built before (``backends/vulkan/runtime/VulkanBackend.cpp``,
``graph/ops/ExecuteNode.cpp``; read in the source, no dump was at hand).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.event_order import (
    FOREIGN,
    NEVER,
    NOWHERE,
    SKIP,
    TOO_LONG,
    OrderStep,
    in_order,
    ones,
)
from tvmdbg_widgets.model.executorch.delegate_alignment import (
    AMBIGUOUS,
    EXACT,
    NONE,
    ORDER,
    Alignment,
    EventMatch,
)
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph
from tvmdbg_widgets.model.executorch.vulkan_names import PHASES, Dispatch, is_shader, read_name

_PHASE: Final = "a phase of the call, of no operator"
_STAGING: Final = "a copy of an input or output, of no operator of the graph"
_SHADER: Final = "this release names the shader, not the operator"
_UNREAD: Final = "its name is none that Vulkan's runtime writes"
_BY_NUMBER: Final = "by the numbers and names of operators: this release logs no ids of them"
_ORDER: Final = "by order: the numbers of operators do not run on as in known releases"
_SEVERAL: Final = "the same names at another place of the graph fit as well"
#: Places to try times numbers to compare, 0.1 s.
_MOST_CELLS: Final = 20_000_000


def align(graph: DelegateGraph, names: Sequence[str]) -> Alignment:
    """Return which nodes the events of one call are of."""
    read = [None if name in PHASES else read_name(name) for name in names]
    numbered = {
        at: each
        for at, each in enumerate(read)
        if each is not None and each.operator_id is not None
    }
    matches, cost, fits = _dispatches(graph, numbered)
    own = list(map(_without_operator, names))
    events = tuple(matches.get(at) or own[at] for at in range(len(names)))
    events_of: dict[int, tuple[int, ...]] = {}
    for at, match in enumerate(events):
        if match.main is not None:
            events_of[match.main] = (*events_of.get(match.main, ()), at)
    idle = [node.index for node in graph.nodes if events_of and node.index not in events_of]
    return Alignment(events, cost, {}, tuple(idle), (), fits, events_of)


def _without_operator(name: str) -> EventMatch:
    if name in PHASES:
        return EventMatch((), None, NONE, _PHASE)
    return EventMatch((), None, NONE, _SHADER if is_shader(name) else _UNREAD)


def _dispatches(
    graph: DelegateGraph, read: Mapping[int, Dispatch]
) -> tuple[dict[int, EventMatch], int, bool]:
    """Return the matches of dispatches by event, their cost, and whether they are of the graph."""
    if all(each.stages for each in read.values()):
        return dict.fromkeys(read, EventMatch((), None, NONE, _STAGING)), 0, True
    numbers = {each.operator_id for each in read.values()}
    first = min(number for number in numbers if number is not None)
    places = _places(graph, list(read.values()))
    if places is None:
        return dict.fromkeys(read, EventMatch((), None, NONE, TOO_LONG)), 0, True
    if not places:
        return _by_name(graph, read)
    # Before August 2026 the events had no id of the graph's operators.
    sure = any(each.node_id is not None for each in read.values())
    told = (EXACT, "") if sure else (ORDER, _BY_NUMBER)
    found: dict[int, EventMatch] = {}
    for at, each in read.items():
        number = first if each.operator_id is None else each.operator_id
        may_be = [number - place for place in places]
        inside = tuple(index for index in may_be if 0 <= index < len(graph.nodes))
        if len(places) == 1 and inside:
            found[at] = EventMatch(inside, inside[0], *told)
        elif inside:
            found[at] = EventMatch((), None, AMBIGUOUS, _SEVERAL, tuple(sorted(inside)))
        else:
            found[at] = EventMatch((), None, NONE, _STAGING)
    return found, 0, True


def _places(graph: DelegateGraph, read: Sequence[Dispatch]) -> list[int] | None:
    """Return the numbers that the first operator may have, None where that is too much to try.

    Of several, those where as many numbers stage outputs as there are, if any.
    """
    count, outputs = len(graph.nodes), len(graph.outputs)
    codes: dict[object, int] = {}
    nodes = [
        (codes.setdefault(node.type, len(codes)), node.fields.get("node_id"))
        for node in graph.nodes
    ]
    told = sorted(
        {
            (
                each.operator_id or 0,
                codes.get(each.operator, -1),
                -1 if each.node_id is None else each.node_id,
                each.operator is not None,
                each.stages,
            )
            for each in read
        }
    )
    numbers, kinds, ids, named, stages = np.array(told, np.int64).T
    # One number less than the first operator's stages inputs, those behind the last one outputs.
    tries = range(int(numbers[-1]) - count - outputs + 1, int(numbers[0]) + 2)
    if len(tries) * len(told) > _MOST_CELLS:
        return None
    of_node = np.array([kind for kind, _ in nodes], np.int64)
    id_of_node = np.array([each for _, each in nodes], np.int64)
    found = []
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
            found.append((place, len(set(index[behind].tolist()))))
    exactly = [place for place, staged in found if staged == outputs]
    return exactly if len(found) > 1 and exactly else [place for place, _ in found]


def _by_name(
    graph: DelegateGraph, read: Mapping[int, Dispatch]
) -> tuple[dict[int, EventMatch], int, bool]:
    """Lay operators along the nodes by their names, where their numbers tell nothing."""
    groups: dict[tuple[int | None, str | None], list[int]] = {}
    for at, each in sorted(read.items(), key=lambda item: (item[1].operator_id or 0, item[0])):
        groups.setdefault((each.operator_id, each.operator), []).append(at)
    kinds = {name: at for at, name in enumerate(dict.fromkeys(name for _, name in groups))}
    steps: dict[str, OrderStep] = {}
    for node in graph.nodes:
        one = tuple(0 if name == node.type else NEVER for name in kinds)
        steps.setdefault(node.type, OrderStep(0, one))
    order = in_order(
        [steps[node.type] for node in graph.nodes],
        [kinds[name] for _, name in groups],
        [SKIP] * len(kinds),
    )
    if order is None:
        return dict.fromkeys(read, EventMatch((), None, NONE, TOO_LONG)), 0, True
    if order.bad * 3 > max(1, len(groups)):
        return dict.fromkeys(read, EventMatch((), None, NONE, FOREIGN)), order.cost, False
    found: dict[int, EventMatch] = {}
    may_be: dict[int, list[int]] = {}
    for index, given in enumerate(order.given):
        for at in ones(given):
            may_be.setdefault(at, []).append(index)
    for at, events in enumerate(groups.values()):
        nodes = tuple(may_be.get(at, ()))
        match = EventMatch((), None, NONE, NOWHERE)
        if len(nodes) == 1 and not order.free >> at & 1:
            match = EventMatch(nodes, nodes[0], ORDER, _ORDER)
        elif nodes:
            match = EventMatch((), None, AMBIGUOUS, _SEVERAL, nodes)
        found.update(dict.fromkeys(events, match))
    return found, order.cost, True
