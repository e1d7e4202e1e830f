"""Turning round the edges that close cycles, and naming the nodes so that edges run forward."""

from __future__ import annotations

from dataclasses import dataclass

from tvmdbg_widgets.figures.layout.adjacency import group_by


@dataclass(slots=True)
class Acyclic:
    """The same graph without cycles, its nodes renamed so that edges run to higher names."""

    source: list[int]
    target: list[int]
    node_of: list[int]
    flipped: list[bool]
    reversed: list[int]
    loop: dict[int, int]


def _kahn(count: int, source: list[int], target: list[int]) -> list[int]:
    """First in, first out over nodes whose inputs are all out; shorter if there is a cycle."""
    out = group_by(count, source)
    missing = [0] * count
    for s, t in zip(source, target, strict=True):
        if s >= 0:
            missing[t] += 1
    queue = [v for v in range(count) if missing[v] == 0]
    for v in queue:
        for k in range(out.start[v], out.start[v + 1]):
            w = target[out.item[k]]
            missing[w] -= 1
            if missing[w] == 0:
                queue.append(w)
    return queue


def _feedback(count: int, source: list[int], target: list[int]) -> list[bool]:
    """Mark the edges that lead back onto the path of a depth-first walk."""
    flipped = [False] * len(source)
    out = group_by(count, source)
    following = out.start[:count]
    state = [0] * count
    has_input = [False] * count
    for s, t in zip(source, target, strict=True):
        if s >= 0:
            has_input[t] = True
    roots = [v for v in range(count) if not has_input[v]]
    for root in [*roots, *range(count)]:
        if state[root] != 0:
            continue
        path = [root]
        state[root] = 1
        while path:
            v = path[-1]
            if following[v] == out.start[v + 1]:
                state[v] = 2
                path.pop()
                continue
            e = out.item[following[v]]
            following[v] += 1
            w = target[e]
            if state[w] == 1:
                flipped[e] = True
            elif state[w] == 0:
                state[w] = 1
                path.append(w)
    return flipped


def make_acyclic(
    count: int, source: list[int], target: list[int], level: list[int] | None = None
) -> Acyclic:
    """Turn round the edges that close cycles and sort the nodes so that edges run forward.

    Nodes of one level, which no edge leaves, stay together.
    """
    flipped = [False] * len(source)
    if all(s < t for s, t in zip(source, target, strict=True)):
        return Acyclic(source, target, list(range(count)), flipped, [], {})
    old_source = source
    loops = [s == t for s, t in zip(source, target, strict=True)]
    source = [-1 if loop else s for s, loop in zip(source, loops, strict=True)]
    target = [-1 if loop else t for t, loop in zip(target, loops, strict=True)]
    node_of = _kahn(count, source, target)
    if len(node_of) < count:
        flipped = _feedback(count, source, target)
        for e, flip in enumerate(flipped):
            if flip:
                source[e], target[e] = target[e], source[e]
        node_of = _kahn(count, source, target)
    if level is not None:
        node_of.sort(key=level.__getitem__)
    name = [0] * count
    for i, v in enumerate(node_of):
        name[v] = i
    turned: list[int] = []
    loop_at: dict[int, int] = {}
    for e, loop in enumerate(loops):
        if loop or flipped[e]:
            turned.append(e)
        if loop:
            loop_at[e] = name[old_source[e]]
        else:
            source[e] = name[source[e]]
            target[e] = name[target[e]]
    return Acyclic(source, target, node_of, flipped, turned, loop_at)
